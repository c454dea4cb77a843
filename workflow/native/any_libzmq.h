/* The functions of a libzmq, 2.x or 3.2 and later, found in its handle from dlopen(). */
#ifndef CROSSOVER_ANY_LIBZMQ_H
#define CROSSOVER_ANY_LIBZMQ_H

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Space for the message struct of any variant, on separate cache lines. */
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
    /* 2.x has the first pair, later versions the second, whose arguments have another order. */
    int (*send)(void *socket, message_t *, int flags);
    int (*recv)(void *socket, message_t *, int flags);
    int (*msg_send)(message_t *, void *socket, int flags);
    int (*msg_recv)(message_t *, void *socket, int flags);
    int (*ctx_get)(void *context, int option);
} library_t;

enum { REQ = 3, REP = 4, PULL = 7, PUSH = 8, SNDHWM = 23, RCVHWM = 24, MSG_T_SIZE = 6 };

/* Looks up the functions of a library by its handle from dlopen(); the result is never freed. Returns NULL if a
   function is missing. */
static library_t *library_open(void *handle)
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

#endif
