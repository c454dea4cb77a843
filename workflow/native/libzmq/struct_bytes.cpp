// Compiled into every variant: the actual size of its message struct.
#include "include/zmq.h"

extern "C" __attribute__ ((visibility ("default"))) unsigned long crossover_struct_bytes ()
{
    return sizeof (zmq_msg_t);
}
