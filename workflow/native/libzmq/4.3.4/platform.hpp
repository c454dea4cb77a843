// What configure would find on any Linux of today; no encryption, no WebSockets, no multicast.
#ifndef CROSSOVER_PLATFORM_HPP
#define CROSSOVER_PLATFORM_HPP

#define ZMQ_HAVE_LINUX 1
#define ZMQ_IOTHREAD_POLLER_USE_EPOLL 1
#define ZMQ_IOTHREAD_POLLER_USE_EPOLL_CLOEXEC 1
#define ZMQ_POLL_BASED_ON_POLL 1
#define ZMQ_USE_CV_IMPL_STL11 1
#define ZMQ_HAVE_EVENTFD 1
#define ZMQ_HAVE_EVENTFD_CLOEXEC 1
#define ZMQ_HAVE_IPC 1
#define ZMQ_HAVE_IFADDRS 1
#define ZMQ_HAVE_UIO 1
#define ZMQ_HAVE_SOCK_CLOEXEC 1
#define ZMQ_HAVE_O_CLOEXEC 1
#define ZMQ_CACHELINE_SIZE 64
#define HAVE_POSIX_MEMALIGN 1
#define HAVE_STRNLEN 1

#endif
