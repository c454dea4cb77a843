"""Messages over ZeroMQ (sockets, ways to send and receive one, flows, bursts), and objects over MPI."""
