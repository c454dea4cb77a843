"""Code in C and C++: its build, builds of libzmq with other message structs, and ceilings."""
