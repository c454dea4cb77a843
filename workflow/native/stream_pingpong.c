/* Round trips over a connected stream socket, TCP or Unix: the cost of the kernel alone. */
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "clock.h"

static int send_all(int stream, const char *out, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t sent = send(stream, out, bytes, MSG_NOSIGNAL);
        if (sent >= 0) {
            out += sent;
            bytes -= (size_t)sent;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int receive_all(int stream, char *in, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t received = recv(stream, in, bytes, MSG_WAITALL);
        if (received > 0) {
            in += received;
            bytes -= (size_t)received;
        } else if (received == 0) {
            return ECONNRESET;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* `n` round trips of at least one byte over a blocking socket; `first` is 1 for the end that sends first, else 0. If
   `out` is `in`, received bytes are sent back, and the other end changes a bit of the last byte of its last message.
   Writes the nanoseconds to `*ns`. Returns 0, or an errno. */
int stream_pingpong(int stream, int first, const char *out, char *in, size_t bytes, long n, int64_t *ns)
{
    int error = 0;
    const int64_t began = clock_ns();
    for (long i = 0; i < n && !error; i++) {
        error = first ? send_all(stream, out, bytes) : receive_all(stream, in, bytes);
        if (!first && out == in && i == n - 1)
            in[bytes - 1] ^= 1;
        if (!error)
            error = first ? receive_all(stream, in, bytes) : send_all(stream, out, bytes);
    }
    *ns = clock_ns() - began;
    return error;
}
