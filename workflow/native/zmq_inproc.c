/* Two threads of one process exchange messages over inproc, by any given libzmq: 2.x, or 3.2 and later. */
#include <pthread.h>
#include <stdint.h>

#include "any_libzmq.h"
#include "clock.h"

static const char ADDRESS[] = "inproc://crossover";

/* The library of a handle; NULL if it lacks a function. It stays for the life of the process. */
void *inproc_open(void *handle)
{
    return library_open(handle);
}

/* The compiled size of the message struct; -1 if the library itself reports another. */
long inproc_struct_bytes(const void *library)
{
    const library_t *z = library;
    const long compiled = (long)z->struct_bytes();
    long reported = compiled;
    if (z->ctx_get) {
        void *context = z->init(1);
        reported = z->ctx_get(context, MSG_T_SIZE);
        z->term(context);
    }
    return reported == compiled ? compiled : -1;
}

/* The longest message that is stored within its struct, from the addresses of messages of rising length; -1 on failure.
   */
long inproc_inline_bytes(const void *library)
{
    const library_t *z = library;
    for (long bytes = 0; bytes < (long)sizeof(message_t); bytes++) {
        message_t message;
        if (z->msg_init_size(&message, (size_t)bytes + 1))
            return -1;
        const unsigned char *data = z->msg_data(&message);
        const int within = data >= message.bytes && data < message.bytes + sizeof message.bytes;
        z->msg_close(&message);
        if (!within)
            return bytes;
    }
    return -1;
}

/* The state that both ends of an exchange share. This thread's end binds, and pulls or sends requests. The other end,
   in a second thread, pushes or replies. libzmq's own inproc_thr and inproc_lat do the same. The end that creates the
   pipe between the two decides the layout of the pipe in memory, and so its rate. */
typedef struct {
    const library_t *z;
    void *context;
    size_t bytes;
    long n;
    /* The content of touched messages, NULL for untouched ones. */
    const unsigned char *pattern;
    int round_trips;
    /* Whether the context has been ended, and the errno that caused this. */
    int over, error;
    /* Written by the other end: the time at which it was ready, and its number of damaged messages. */
    int64_t ready_ns;
    long damaged;
    /* Both threads read this struct for every message. So it is written only outside their loops, and has separate
       cache lines: otherwise each thread would wait for the other's writes nearby. */
} __attribute__((aligned(64))) exchange_t;

static void *socket_of(exchange_t *x, int type, int binds)
{
    const library_t *z = x->z;
    void *socket = z->socket(x->context, type);
    const int unbounded = 0;
    if (!socket)
        return NULL;
    /* 2.x has no high-water mark by default. */
    int failed = z->msg_send && (z->setsockopt(socket, SNDHWM, &unbounded, sizeof unbounded) ||
                                 z->setsockopt(socket, RCVHWM, &unbounded, sizeof unbounded));
    failed = failed || (binds ? z->bind : z->connect)(socket, ADDRESS);
    if (!failed)
        return socket;
    z->close(socket);
    return NULL;
}

/* Ends the context because of `error` (0: none); only the first call does. A waiting end wakes up, because its call
   fails. Returns when both sockets are closed. */
static void end(exchange_t *x, int error)
{
    if (__sync_lock_test_and_set(&x->over, 1))
        return;
    x->error = error;
    x->z->term(x->context);
}

/* Whether a message is undamaged; compares every byte of a touched one. */
static int sane(const exchange_t *x, message_t *message)
{
    if (x->z->msg_size(message) != x->bytes)
        return 0;
    return !x->pattern || !memcmp(x->z->msg_data(message), x->pattern, x->bytes);
}

/* Makes a message to send. */
static int make(const exchange_t *x, message_t *message)
{
    if (x->z->msg_init_size(message, x->bytes))
        return x->z->error();
    if (x->pattern)
        memcpy(x->z->msg_data(message), x->pattern, x->bytes);
    return 0;
}

static int push(const exchange_t *x, void *socket)
{
    int error = 0;
    for (long i = 0; i < x->n && !error; i++) {
        message_t message;
        if ((error = make(x, &message)))
            break;
        error = put(x->z, socket, &message);
        x->z->msg_close(&message);
    }
    return error;
}

static int pull(const exchange_t *x, void *socket, long *damaged)
{
    message_t message;
    x->z->msg_init(&message);
    long bad = 0;
    int error = 0;
    for (long i = 0; i < x->n && !error; i++) {
        error = take(x->z, socket, &message);
        bad += !error && !sane(x, &message);
    }
    x->z->msg_close(&message);
    *damaged = bad;
    return error;
}

static int request(const exchange_t *x, void *socket, long *damaged)
{
    message_t message;
    int error = make(x, &message);
    if (error)
        return error;
    long bad = 0;
    for (long i = 0; i < x->n && !error; i++) {
        error = put(x->z, socket, &message);
        if (!error)
            error = take(x->z, socket, &message);
        bad += !error && !sane(x, &message);
    }
    x->z->msg_close(&message);
    *damaged = bad;
    return error;
}

static int reply(const exchange_t *x, void *socket, long *damaged)
{
    message_t message;
    x->z->msg_init(&message);
    long bad = 0;
    int error = 0;
    for (long i = 0; i < x->n && !error; i++) {
        error = take(x->z, socket, &message);
        bad += !error && !sane(x, &message);
        if (!error)
            error = put(x->z, socket, &message);
    }
    x->z->msg_close(&message);
    *damaged = bad;
    return error;
}

static void *other_end(void *argument)
{
    exchange_t *x = argument;
    void *socket = socket_of(x, x->round_trips ? REP : PUSH, 0);
    int error = socket ? 0 : x->z->error();
    long damaged = 0;
    if (socket) {
        x->ready_ns = clock_ns();
        error = x->round_trips ? reply(x, socket, &damaged) : push(x, socket);
        x->z->close(socket);
    }
    x->damaged = damaged;
    if (error)
        end(x, error);
    return NULL;
}

/* One exchange in a new context: `n` messages of `bytes` bytes from PUSH to PULL, or with `round_trips` between REQ and
   REP. With a `pattern`, the sender writes it to every message and the receiver compares every byte; otherwise messages
   are untouched. Writes the time from the first send to the last receive. Returns 0, an errno, or -1 for damaged
   messages. */
int inproc_exchange(const void *library, size_t bytes, long n, const unsigned char *pattern, int round_trips,
                    int64_t *nanoseconds)
{
    exchange_t x = {.z = library, .bytes = bytes, .n = n, .pattern = pattern, .round_trips = round_trips};
    /* The address of a pipe on the heap, in steps of 16 bytes, decides which of its words share a cache line, and so a
       tenth of the rate of small messages. These blocks shift it from exchange to exchange, so that no library has one
       lucky address during the whole process. */
    static unsigned exchanges;
    const unsigned blocks = exchanges++ % 4;
    void *volatile moved = blocks ? malloc(16 * blocks) : NULL;
    x.context = x.z->init(1);
    if (!x.context) {
        free(moved);
        return x.z->error();
    }
    void *socket = socket_of(&x, round_trips ? REQ : PULL, 1);
    int error = socket ? 0 : x.z->error();
    long damaged = 0;
    pthread_t other;
    if (!error && !(error = pthread_create(&other, NULL, other_end, &x))) {
        /* Waits for the other end. */
        error = (round_trips ? request : pull)(&x, socket, &damaged);
        const int64_t ended_ns = clock_ns();
        x.z->close(socket);
        socket = NULL;
        if (error)
            end(&x, error);
        pthread_join(other, NULL);
        *nanoseconds = ended_ns - x.ready_ns;
        damaged += x.damaged;
    }
    if (socket)
        x.z->close(socket);
    end(&x, error);
    free(moved);
    return x.error ? x.error : damaged ? -1 : 0;
}
