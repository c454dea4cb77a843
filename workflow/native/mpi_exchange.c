/* Round trips of blocking MPI_Send and MPI_Recv, which mpi4py's Send and Recv call. */
#include <mpi.h>

#include "clock.h"

/* `n` round trips of `bytes` bytes with rank `other` of `*comm`; `first` is 1 for the rank that sends first, else 0. If
   `out` is `in`, received bytes are sent back, and the other rank changes a bit of the last byte of its last message.
   Writes the nanoseconds to `*ns`. Returns 0, or MPI's error code. */
int mpi_exchange(const MPI_Comm *comm, int other, int first, const void *out, void *in, int bytes, long n, int64_t *ns)
{
    int error = MPI_SUCCESS;
    const int64_t began = clock_ns();
    for (long i = 0; i < n && error == MPI_SUCCESS; i++) {
        if (first) {
            error = MPI_Send(out, bytes, MPI_BYTE, other, 0, *comm);
            if (error == MPI_SUCCESS)
                error = MPI_Recv(in, bytes, MPI_BYTE, other, 0, *comm, MPI_STATUS_IGNORE);
        } else {
            error = MPI_Recv(in, bytes, MPI_BYTE, other, 0, *comm, MPI_STATUS_IGNORE);
            if (out == in && i == n - 1)
                ((unsigned char *)in)[bytes - 1] ^= 1;
            if (error == MPI_SUCCESS)
                error = MPI_Send(out, bytes, MPI_BYTE, other, 0, *comm);
        }
    }
    *ns = clock_ns() - began;
    return error;
}
