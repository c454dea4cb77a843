"""Builds variants of libzmq, whose message structs have other sizes."""
