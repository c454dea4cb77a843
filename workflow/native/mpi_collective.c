/* MPI_Allreduce, MPI_Bcast and MPI_Allgather of doubles, which mpi4py's Allreduce, Bcast and Allgather call. */
#include <mpi.h>

#include "clock.h"

/* `n` calls on the `bytes` bytes of doubles in `ours`, by rank `rank` of the `size` ranks of `*comm`. `pattern` is 0 for
   allreduce, 1 for bcast, 2 for allgather. Each call writes its number to the end of `ours`. The result is in `out`; only
   that of a bcast stays in `ours` on its root, which is rank (number of the call) % size. Writes the nanoseconds to `*ns`.
   Returns 0, or MPI's error code. */
int mpi_collective(const MPI_Comm *comm, int pattern, int rank, int size, double *ours, double *out, int bytes, long n,
                   int64_t *ns)
{
    const int count = bytes / (int)sizeof(double);
    int error = MPI_SUCCESS;
    const int64_t began = clock_ns();
    for (long i = 0; i < n && error == MPI_SUCCESS; i++) {
        const int root = (int)(i % size);
        ours[count - 1] = (double)i;
        if (pattern == 0)
            error = MPI_Allreduce(ours, out, count, MPI_DOUBLE, MPI_SUM, *comm);
        else if (pattern == 1)
            error = MPI_Bcast(rank == root ? ours : out, count, MPI_DOUBLE, root, *comm);
        else
            error = MPI_Allgather(ours, count, MPI_DOUBLE, out, count, MPI_DOUBLE, *comm);
    }
    *ns = clock_ns() - began;
    return error;
}
