// Compiled into every variant: how large its message struct really is, as the compiler laid it out.
#include "include/zmq.h"

extern "C" __attribute__ ((visibility ("default"))) unsigned long crossover_struct_bytes ()
{
    return sizeof (zmq_msg_t);
}
