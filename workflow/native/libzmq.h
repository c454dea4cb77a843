/* The calls of libzmq (4.1 and later) in the ceilings, because pyzmq's wheels contain the library without its header.
   When Python loads the ceiling, they are bound to the library that pyzmq uses. */
#ifndef CROSSOVER_LIBZMQ_H
#define CROSSOVER_LIBZMQ_H

#include <errno.h>
#include <stddef.h>

/* With the size and alignment of libzmq's own. */
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
