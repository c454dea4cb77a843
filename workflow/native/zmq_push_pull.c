/* The two halves of a flood of equal messages, from PUSH to PULL. */
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "libzmq.h"

static void keep(void *data, void *hint)
{
    (void)data;
    (void)hint;
}

static int send_lent(void *socket, void *out, size_t bytes)
{
    zmq_msg_t message;
    if (zmq_msg_init_data(&message, out, bytes, keep, NULL))
        return -1;
    int sent;
    do
        sent = zmq_msg_send(&message, socket, 0);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        const int why = errno;
        zmq_msg_close(&message);
        errno = why;
    }
    return sent;
}

/* Sends `n` messages of `bytes` bytes. With `copy` the library copies each. Without, it borrows `out`, which must not
   change until all messages have arrived. Writes the start and the end. Returns 0, or an errno. */
int zmq_push(void *socket, void *out, size_t bytes, long n, int copy, int64_t *began_ns, int64_t *ended_ns)
{
    *began_ns = clock_ns();
    for (long i = 0; i < n;) {
        if ((copy ? zmq_send(socket, out, bytes, 0) : send_lent(socket, out, bytes)) >= 0)
            i++;
        else if (errno != EINTR)
            return errno;
    }
    *ended_ns = clock_ns();
    return 0;
}

/* Receives `n` messages of `bytes` bytes. With `copy` each is copied to `in`; without, only the last, untimed. Writes
   the arrival of the last. Returns 0, or an errno: EMSGSIZE for a message of another length. */
int zmq_pull(void *socket, void *in, size_t bytes, long n, int copy, int64_t *ended_ns)
{
    zmq_msg_t message;
    zmq_msg_init(&message);
    int error = 0;
    for (long i = 0; i < n && !error;) {
        const int received = copy ? zmq_recv(socket, in, bytes, 0) : zmq_msg_recv(&message, socket, 0);
        if (received >= 0)
            i++;
        if (received < 0 && errno != EINTR)
            error = errno;
        else if (received >= 0 && (size_t)received != bytes)
            error = EMSGSIZE;
    }
    *ended_ns = clock_ns();
    if (!copy && !error && n > 0)
        memcpy(in, zmq_msg_data(&message), bytes);
    zmq_msg_close(&message);
    return error;
}
