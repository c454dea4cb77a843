// What configure would find on any Linux of today; libzmq 2.2.0 asks for no more.
#define ZMQ_HAVE_LINUX 1
#define ZMQ_HAVE_EVENTFD 1
#define ZMQ_HAVE_IFADDRS 1
