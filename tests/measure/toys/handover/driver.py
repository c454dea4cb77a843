"""Bytes to a child process: through a pipe, a socket pair, or shared memory."""

import multiprocessing
import os
import socket
from contextlib import contextmanager
from multiprocessing.shared_memory import SharedMemory
from time import perf_counter

from crossover.design.cell import Cell
from crossover.measure.sampling.contract import Block


def cells(settings):
    return [Cell({"object": "bytes"}, size) for size in settings.sizes_bytes]


class Parent:
    def __init__(self, pipe, stream, memory):
        self.pipe, self.memory = pipe, memory
        self.ways = {"pipe": pipe.send_bytes, "socket pair": stream.sendall, "shared memory": self.share}

    def share(self, payload):
        self.memory.buf[: len(payload)] = payload
        self.pipe.send_bytes(b"there")

    def run(self, cell, arm, n):
        payload, hand_over = os.urandom(cell.x), self.ways[arm.runs]
        self.pipe.send((arm.runs, cell.x, n))
        began = perf_counter()
        for _ in range(n):
            hand_over(payload)
            self.pipe.recv_bytes()
        seconds = perf_counter() - began
        if self.pipe.recv_bytes() != payload:
            return Block(seconds, fault="lost or damaged messages")
        return Block(seconds, {"handover": seconds / n})


def child(pipe, stream, memory):
    pipe.send("attached")
    while command := pipe.recv():
        way, size, n = command
        inbox = bytearray(size)
        for _ in range(n):
            if way == "pipe":
                pipe.recv_bytes_into(inbox)
            elif way == "socket pair":
                stream.recv_into(inbox, size, socket.MSG_WAITALL)
            else:
                pipe.recv_bytes()
                inbox[:] = memory.buf[:size]
            pipe.send_bytes(b"taken")
        pipe.send_bytes(inbox)


@contextmanager
def drive(peers, settings):
    spawn = multiprocessing.get_context("spawn")
    (pipe, their_pipe), (stream, their_stream) = spawn.Pipe(), socket.socketpair()
    memory = SharedMemory(create=True, size=max(settings.sizes_bytes))
    process = spawn.Process(target=child, args=(their_pipe, their_stream, memory))
    process.start()
    pipe.recv()
    memory.unlink()
    yield Parent(pipe, stream, memory)
    pipe.send(None)
    process.join()
    memory.close()


def serve(peers, settings):
    """Never called: in placement `process` rank 0 is alone."""
