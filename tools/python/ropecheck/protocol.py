"""The worker's end of tools/worker/protocol/PROTOCOL.md: the files that it gets, and lines over a socket."""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import dataclass
from typing import Any

VERSION = 1
LOST_CONNECTION = 97  # exit status if the kernel has closed the connection; nothing else can be said then
NO_ROOM = "no_room"  # the type of an error, if the kernel was not called; PROTOCOL.md
# Waking a halted processor costs more than the rest of a round trip. On one processor the other side could not run.
SPIN_NS = 100_000 if len(os.sched_getaffinity(0)) > 1 else 0


@dataclass(frozen=True)
class Files:
    """File descriptors, numbered as in the environment variable ROPECHECK_WORKER."""

    protocol: int
    inputs: int
    outputs: int
    life: int

    def all(self) -> tuple[int, int, int, int]:
        """In the order in which the relay passes them on."""
        return (self.protocol, self.inputs, self.outputs, self.life)


class NoWorker(Exception):
    """ropecheck did not start this process as a worker, or another version did."""


def announced_files(text: str | None) -> Files:
    """The files that ROPECHECK_WORKER names."""
    if not text:
        raise NoWorker("a worker is started by ropecheck, not by hand; see `ropecheck verify --help`")
    given = dict(word.split("=", 1) for word in text.split())
    if given.get("v") != str(VERSION):
        raise NoWorker(
            f"this package speaks version {VERSION} of the worker protocol, the ropecheck that started it version "
            f"{given.get('v')}; install the package that this ropecheck came with"
        )
    return Files(*(int(given[name]) for name in ("protocol", "inputs", "outputs", "life")))


class Connection:
    """JSON objects in both directions, one a line."""

    def __init__(self, file: int) -> None:
        self._socket = socket.socket(fileno=file)
        self._owner = os.getpid()
        self._pending = bytearray()

    def is_of_this_process(self) -> bool:
        """False in a process that the kernel forked from this one and that came back into the worker's code."""
        return os.getpid() == self._owner

    def send(self, message: dict[str, Any]) -> None:
        """Raises OSError if the other side is gone."""
        self._socket.sendall(json.dumps(message).encode("ascii") + b"\n", socket.MSG_NOSIGNAL)

    def receive(self) -> dict[str, Any] | None:
        """The next line; None if the other side is gone."""
        while (end := self._pending.find(b"\n")) < 0:
            received = self._receive_some()
            if not received:
                return None
            self._pending += received
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError(f"a line that is not a JSON object: {line[:100]!r}")
        return message

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def _receive_some(self) -> bytes:
        end = time.perf_counter_ns() + SPIN_NS
        while True:
            try:
                return self._socket.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                if time.perf_counter_ns() >= end:
                    return self._socket.recv(1 << 16)
