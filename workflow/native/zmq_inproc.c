/* Two threads of one process exchange messages over inproc, on whichever libzmq is given: 2.x or 3.2 and later. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* Room for the message struct of any variant, on a cache line of its own. */
typedef struct {
    unsigned char bytes[512] __attribute__((aligned(64)));
} message_t;

typedef struct {
    void *(*init)(int io_threads);
    int (*term)(void *context);
    void *(*socket)(void *context, int type);
    int (*close)(void *socket);
    int (*bind)(void *socket, const char *address);
    int (*connect)(void *socket, const char *address);
    int (*setsockopt)(void *socket, int option, const void *value, size_t bytes);
    int (*error)(void);
    int (*msg_init)(message_t *);
    int (*msg_init_size)(message_t *, size_t bytes);
    int (*msg_close)(message_t *);
    void *(*msg_data)(message_t *);
    size_t (*msg_size)(message_t *);
    unsigned long (*struct_bytes)(void);
    /* One of the two pairs, by the line of the library; it names the same things in another order. */
    int (*send)(void *socket, message_t *, int flags);
    int (*recv)(void *socket, message_t *, int flags);
    int (*msg_send)(message_t *, void *socket, int flags);
    int (*msg_recv)(message_t *, void *socket, int flags);
    int (*ctx_get)(void *context, int option);
} library_t;

enum { REQ = 3, REP = 4, PULL = 7, PUSH = 8, SNDHWM = 23, RCVHWM = 24, MSG_T_SIZE = 6 };

static const char ADDRESS[] = "inproc://crossover";

/* Resolves what is needed in the library that dlopen() gave the handle of, for as long as the process lives. Returns
   NULL if it lacks something. */
void *inproc_open(void *handle)
{
    library_t *z = calloc(1, sizeof *z);
    if (!z)
        return NULL;
    struct {
        const char *name;
        void *function;
    } needed[] = {
        {"zmq_init", &z->init},
        {"zmq_term", &z->term},
        {"zmq_socket", &z->socket},
        {"zmq_close", &z->close},
        {"zmq_bind", &z->bind},
        {"zmq_connect", &z->connect},
        {"zmq_setsockopt", &z->setsockopt},
        {"zmq_errno", &z->error},
        {"zmq_msg_init", &z->msg_init},
        {"zmq_msg_init_size", &z->msg_init_size},
        {"zmq_msg_close", &z->msg_close},
        {"zmq_msg_data", &z->msg_data},
        {"zmq_msg_size", &z->msg_size},
        {"crossover_struct_bytes", &z->struct_bytes},
    };
    int missing = 0;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        void *found = dlsym(handle, needed[i].name);
        memcpy(needed[i].function, &found, sizeof found);
        missing += !found;
    }
    void *late[] = {dlsym(handle, "zmq_msg_send"), dlsym(handle, "zmq_msg_recv"), dlsym(handle, "zmq_ctx_get")};
    void *early[] = {dlsym(handle, "zmq_send"), dlsym(handle, "zmq_recv")};
    memcpy(&z->msg_send, &late[0], sizeof *late);
    memcpy(&z->msg_recv, &late[1], sizeof *late);
    memcpy(&z->ctx_get, &late[2], sizeof *late);
    memcpy(&z->send, &early[0], sizeof *early);
    memcpy(&z->recv, &early[1], sizeof *early);
    if (missing || (!z->msg_send && !z->send) || z->struct_bytes() > sizeof(message_t)) {
        free(z);
        return NULL;
    }
    return z;
}

/* The size of the message struct as the compiler laid it out; -1 if the library, asked itself, says another. */
long inproc_struct_bytes(const void *library)
{
    const library_t *z = library;
    const long compiled = (long)z->struct_bytes();
    long told = compiled;
    if (z->ctx_get) {
        void *context = z->init(1);
        told = z->ctx_get(context, MSG_T_SIZE);
        z->term(context);
    }
    return told == compiled ? compiled : -1;
}

/* The longest message that is kept within its struct, found by making messages and looking where their bytes are. */
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

static int put(const library_t *z, void *socket, message_t *message)
{
    int sent;
    do
        sent = z->msg_send ? z->msg_send(message, socket, 0) : z->send(socket, message, 0);
    while (sent < 0 && z->error() == EINTR);
    return sent < 0 ? z->error() : 0;
}

static int take(const library_t *z, void *socket, message_t *message)
{
    int received;
    do
        received = z->msg_recv ? z->msg_recv(message, socket, 0) : z->recv(socket, message, 0);
    while (received < 0 && z->error() == EINTR);
    return received < 0 ? z->error() : 0;
}

/* Both ends of an exchange. `pattern` is what fills a touched message, NULL where messages are left as they come. */
typedef struct {
    const library_t *z;
    void *context, *here;
    size_t bytes;
    long n, damaged;
    const unsigned char *pattern;
    int round_trips;
    /* Of the other end: when it was done, and the errno of what it failed at. */
    int64_t ended_ns;
    int error;
    pthread_barrier_t ready;
} exchange_t;

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

/* Whether a message is as it must be; reads every byte of a touched one. */
static int sane(const exchange_t *x, message_t *message)
{
    if (x->z->msg_size(message) != x->bytes)
        return 0;
    return !x->pattern || !memcmp(x->z->msg_data(message), x->pattern, x->bytes);
}

/* The other end, a thread of its own: receives every message and, where they are round trips, sends it back. */
static void *answer(void *argument)
{
    exchange_t *x = argument;
    void *socket = socket_of(x, x->round_trips ? REP : PULL, 0);
    /* Written to x at the end only: the sender reads x for every message, and would wait for its cache line each time. */
    int error = socket ? 0 : x->z->error();
    long damaged = 0;
    x->error = error;
    pthread_barrier_wait(&x->ready);
    message_t message;
    x->z->msg_init(&message);
    for (long i = 0; i < x->n && !error; i++) {
        error = take(x->z, socket, &message);
        damaged += !error && !sane(x, &message);
        if (x->round_trips && !error)
            error = put(x->z, socket, &message);
    }
    x->ended_ns = clock_ns();
    x->error = error;
    x->damaged = damaged;
    x->z->msg_close(&message);
    if (socket)
        x->z->close(socket);
    return NULL;
}

static int push(exchange_t *x)
{
    int error = 0;
    for (long i = 0; i < x->n && !error; i++) {
        message_t message;
        if (x->z->msg_init_size(&message, x->bytes))
            return x->z->error();
        if (x->pattern)
            memcpy(x->z->msg_data(&message), x->pattern, x->bytes);
        error = put(x->z, x->here, &message);
        x->z->msg_close(&message);
    }
    return error;
}

static int request(exchange_t *x, long *damaged)
{
    message_t message;
    if (x->z->msg_init_size(&message, x->bytes))
        return x->z->error();
    if (x->pattern)
        memcpy(x->z->msg_data(&message), x->pattern, x->bytes);
    int error = 0;
    for (long i = 0; i < x->n && !error; i++) {
        error = put(x->z, x->here, &message);
        if (!error)
            error = take(x->z, x->here, &message);
        *damaged += !error && !sane(x, &message);
    }
    x->z->msg_close(&message);
    return error;
}

/* One exchange in a context of its own: `n` messages of `bytes` bytes, pushed, or (`round_trips`) requested and replied.
   With a `pattern` the sender writes it to every message and the receiver compares every byte; else none is touched.
   Writes the time from before the first send until after the last receive. Returns 0, an errno, or -1 where messages
   were damaged. */
int inproc_exchange(const void *library, size_t bytes, long n, const unsigned char *pattern, int round_trips,
                    int64_t *nanoseconds)
{
    exchange_t x = {.z = library, .bytes = bytes, .n = n, .pattern = pattern, .round_trips = round_trips};
    x.context = x.z->init(1);
    if (!x.context)
        return x.z->error();
    x.here = socket_of(&x, round_trips ? REQ : PUSH, 1);
    int error = x.here ? 0 : x.z->error();
    pthread_t other;
    pthread_barrier_init(&x.ready, NULL, 2);
    if (!error && !(error = pthread_create(&other, NULL, answer, &x))) {
        pthread_barrier_wait(&x.ready);
        const int64_t began_ns = clock_ns();
        long damaged = 0;
        error = x.error ? x.error : round_trips ? request(&x, &damaged) : push(&x);
        const int64_t ended_ns = clock_ns();
        if (error) { /* The other end may wait for ever: the context's end wakes it. */
            x.z->close(x.here);
            x.here = NULL;
            x.z->term(x.context);
            x.context = NULL;
        }
        pthread_join(other, NULL);
        x.damaged += damaged;
        *nanoseconds = (round_trips ? ended_ns : x.ended_ns) - began_ns;
        error = error ? error : x.error;
    }
    pthread_barrier_destroy(&x.ready);
    if (x.here)
        x.z->close(x.here);
    if (x.context)
        x.z->term(x.context);
    return error ? error : x.damaged ? -1 : 0;
}
