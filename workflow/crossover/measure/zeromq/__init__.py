"""Messages over ZeroMQ: sockets, ways to hand a message over, flows and bursts."""
