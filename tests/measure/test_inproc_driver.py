"""Does the C driver notice damage to its messages? A false libzmq causes it."""

import ctypes
import errno
import subprocess

import pytest

FALSE_LIBZMQ = """
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned char *data; size_t size; unsigned char rest[48]; } msg;

/* Requests and what is pushed go through the first queue, replies through the second. */
static struct { msg entries[1000]; long first, last; } queues[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
int misdeed, sent, ended;
static int types[16], context;
static __thread int told = ECONNREFUSED;

void *zmq_init(int threads) { (void)threads; memset(queues, 0, sizeof queues); sent = ended = 0; return &context; }
void *zmq_socket(void *c, int type) { (void)c; types[type] = type; return &types[type]; }
int zmq_close(void *s) { (void)s; return 0; }
int zmq_bind(void *s, const char *a) { (void)s; (void)a; return 0; }
int zmq_connect(void *s, const char *a) { (void)s; (void)a; return misdeed == 4 ? -1 : 0; }
int zmq_setsockopt(void *s, int o, const void *v, size_t n) { (void)s; (void)o; (void)v; (void)n; return 0; }
int zmq_errno(void) { return told; }
int zmq_msg_init(msg *m) { m->data = NULL; m->size = 0; return 0; }
int zmq_msg_init_size(msg *m, size_t n) { m->data = malloc(n); m->size = n; return 0; }
int zmq_msg_close(msg *m) { free(m->data); m->data = NULL; return 0; }
void *zmq_msg_data(msg *m) { return m->data; }
size_t zmq_msg_size(msg *m) { return m->size; }
unsigned long crossover_struct_bytes(void) { return sizeof(msg); }

int zmq_term(void *c)
{
    (void)c;
    pthread_mutex_lock(&lock);
    ended = 1;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
    return 0;
}

int zmq_send(void *socket, msg *m, int flags)
{
    const int type = *(int *)socket, back = type == 4;
    (void)flags;
    if (misdeed == 5 + (type == 4) && sent >= 2) {
        told = ECONNREFUSED;
        return -1;
    }
    pthread_mutex_lock(&lock);
    msg copy = *m;
    copy.data = malloc(m->size + 1);
    memcpy(copy.data, m->data, m->size);
    if (++sent == 3) {
        if (misdeed == 1)
            copy.data[m->size / 2] ^= 1;
        if (misdeed == 2)
            copy.size++;
    }
    queues[back].entries[queues[back].last++] = copy;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
    return 0;
}

int zmq_recv(void *socket, msg *m, int flags)
{
    const int type = *(int *)socket, back = type == 3;
    (void)flags;
    if (misdeed == 3)
        return -1;
    pthread_mutex_lock(&lock);
    while (queues[back].first == queues[back].last && !ended)
        pthread_cond_wait(&news, &lock);
    if (queues[back].first == queues[back].last) {
        pthread_mutex_unlock(&lock);
        told = ESHUTDOWN;
        return -1;
    }
    free(m->data);
    *m = queues[back].entries[queues[back].first++];
    pthread_mutex_unlock(&lock);
    return 0;
}
"""
SIZE_BYTES = 32
PATTERN = bytes(range(SIZE_BYTES))
DAMAGED, REFUSED = -1, errno.ECONNREFUSED


@pytest.fixture(scope="module")
def false_libzmq(tmp_path_factory):
    folder = tmp_path_factory.mktemp("false")
    (folder / "libzmq.c").write_text(FALSE_LIBZMQ)
    command = ["cc", "-O1", "-fPIC", "-shared", "-pthread", "libzmq.c", "-o", "libzmq.so"]
    subprocess.run(command, cwd=folder, check=True, timeout=60)
    return ctypes.CDLL(str(folder / "libzmq.so"))


@pytest.fixture(scope="module")
def driver(libraries):
    found = ctypes.CDLL(str(libraries / "zmq_inproc.so"))
    found.inproc_open.restype = ctypes.c_void_p
    return found


@pytest.fixture
def exchange(driver, false_libzmq):
    opened = ctypes.c_void_p(driver.inproc_open(ctypes.c_void_p(false_libzmq._handle)))
    assert opened

    def run(misdeed, pattern, round_trips, n=100):
        ctypes.c_int.in_dll(false_libzmq, "misdeed").value = misdeed
        took = ctypes.c_int64()
        size = ctypes.c_size_t(SIZE_BYTES)
        return driver.inproc_exchange(opened, size, ctypes.c_long(n), pattern, int(round_trips), ctypes.byref(took))

    return run


@pytest.mark.parametrize("round_trips", [False, True])
@pytest.mark.parametrize("pattern", [None, PATTERN])
def test_a_correct_library_is_accepted(exchange, pattern, round_trips):
    assert exchange(0, pattern, round_trips) == 0


@pytest.mark.parametrize("round_trips", [False, True])
def test_one_flipped_bit_in_one_touched_message_is_noticed(exchange, round_trips):
    assert exchange(1, PATTERN, round_trips) == DAMAGED
    assert exchange(1, None, round_trips) == 0


@pytest.mark.parametrize("round_trips", [False, True])
@pytest.mark.parametrize("pattern", [None, PATTERN])
def test_one_message_of_another_length_is_noticed(exchange, pattern, round_trips):
    assert exchange(2, pattern, round_trips) == DAMAGED


@pytest.mark.parametrize(
    ("misdeed", "round_trips"), [(3, False), (3, True), (4, False), (4, True), (5, False), (5, True), (6, True)]
)
def test_an_end_that_fails_gives_its_error_and_does_not_hang(exchange, misdeed, round_trips):
    assert exchange(misdeed, None, round_trips) == REFUSED
