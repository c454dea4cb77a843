/* The two calls of libuuid that libzmq 2.2.0 makes, to name a socket to peers on other hosts, so that no library has to
   be installed for them. */
#ifndef CROSSOVER_UUID_H
#define CROSSOVER_UUID_H

#include <stdio.h>
#include <stdlib.h>

typedef unsigned char uuid_t[16];

static inline void uuid_generate (unsigned char *out)
{
    FILE *random = fopen ("/dev/urandom", "rb");
    if (!random || fread (out, 1, 16, random) != 16)
        abort ();
    fclose (random);
}

static inline void uuid_unparse (const unsigned char *in, char *out)
{
    for (int i = 0; i < 16; i++)
        out += sprintf (out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", in[i]);
}

#endif
