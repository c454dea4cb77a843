/* Copies within one process: no message that is copied on its way arrives sooner. */
#include <stddef.h>
#include <string.h>

#include "clock.h"

/* Copies `bytes` bytes from `out` to `in`, `n` times over. Writes the nanoseconds this took to `*ns`. */
void memory_copy(const void *out, void *in, size_t bytes, long n, int64_t *ns)
{
    const int64_t began = clock_ns();
    for (long i = 0; i < n; i++) {
        memcpy(in, out, bytes);
        /* The compiler must believe that somebody looks at every copy. */
        __asm__ volatile("" : : "r"(in) : "memory");
    }
    *ns = clock_ns() - began;
}
