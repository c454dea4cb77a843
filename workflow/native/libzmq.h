/* The few calls of libzmq (4.1 and later) that the ceilings make; wheels of pyzmq bring the library without a header.
   They are resolved when Python loads the ceiling, in the library that pyzmq itself runs on. */
#ifndef CROSSOVER_LIBZMQ_H
#define CROSSOVER_LIBZMQ_H

#include <errno.h>
#include <stddef.h>

/* As large and as aligned as libzmq's own. */
typedef union {
    unsigned char bytes[64];
    void *alignment;
} zmq_msg_t;

int zmq_send(void *socket, const void *buffer, size_t bytes, int flags);
int zmq_recv(void *socket, void *buffer, size_t bytes, int flags);
int zmq_msg_init(zmq_msg_t *message);
int zmq_msg_init_data(zmq_msg_t *message, void *data, size_t bytes, void (*free)(void *, void *), void *hint);
int zmq_msg_send(zmq_msg_t *message, void *socket, int flags);
int zmq_msg_recv(zmq_msg_t *message, void *socket, int flags);
void *zmq_msg_data(zmq_msg_t *message);
size_t zmq_msg_size(const zmq_msg_t *message);
int zmq_msg_close(zmq_msg_t *message);

#endif
