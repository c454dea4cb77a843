/* The clock of Python's time.perf_counter_ns() on Linux, so that their times can be compared. */
#ifndef CROSSOVER_CLOCK_H
#define CROSSOVER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
