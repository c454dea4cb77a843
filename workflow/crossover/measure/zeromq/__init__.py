"""Messages over ZeroMQ: sockets, ways to send and receive a message, flows and bursts."""
