/* Round trips over two ZeroMQ sockets, REQ and REP or two PAIRs; the library copies the messages. */
#include <stdint.h>

#include "clock.h"
#include "libzmq.h"

static int send_one(void *socket, const void *out, size_t bytes)
{
    while (zmq_send(socket, out, bytes, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static int receive_one(void *socket, void *in, size_t bytes)
{
    for (;;) {
        const int received = zmq_recv(socket, in, bytes, 0);
        if (received >= 0)
            return (size_t)received == bytes ? 0 : EMSGSIZE;
        if (errno != EINTR)
            return errno;
    }
}

/* `n` round trips of `bytes` bytes; `first` is 1 for the end that sends first, else 0. Writes the nanoseconds to `*ns`.
   Returns 0, or an errno: EMSGSIZE for a message of another length. */
int zmq_pingpong(void *socket, int first, const void *out, void *in, size_t bytes, long n, int64_t *ns)
{
    int error = 0;
    const int64_t began = clock_ns();
    for (long i = 0; i < n && !error; i++) {
        error = first ? send_one(socket, out, bytes) : receive_one(socket, in, bytes);
        if (!error)
            error = first ? receive_one(socket, in, bytes) : send_one(socket, out, bytes);
    }
    *ns = clock_ns() - began;
    return error;
}
