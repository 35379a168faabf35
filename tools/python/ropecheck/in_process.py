"""A kernel that lives in the caller's process: ropecheck's calls are answered here, in the caller's thread, until
the program has ended."""

from __future__ import annotations

import ctypes
import os
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from ropecheck.memory import GuardedMemory
from ropecheck.protocol import Connection, Files, announced_files
from ropecheck.serving import Server

RELAY = Path(__file__).resolve().parent / "relay.py"


# Address space to use again. It is never given back, because somebody may have kept an array.
_idle_memory: list[GuardedMemory] = []


class Abandoned(BaseException):
    """Raised in the kernel's own code when its call has taken longer than ropecheck waits."""


class Watch:
    """Interrupts a call that nobody waits for any more. This stops Python code, but not code that waits in C."""

    def __init__(self, relay: socket.socket) -> None:
        self._thread = threading.get_ident()
        self._relay = relay
        self._finished = threading.Event()
        self._wake, self._woken = os.pipe()
        self._watcher = threading.Thread(target=self._run, name="ropecheck-watch", daemon=True)
        self._watcher.start()

    def _run(self) -> None:
        if self._wake not in _first_of(self._relay.fileno(), self._wake) and not self._finished.is_set():
            _raise_in(self._thread, Abandoned)

    def stop(self) -> None:
        """No exception is raised after this."""
        self._finished.set()
        os.write(self._woken, b".")
        self._watcher.join()
        _raise_in(self._thread, None)  # withdraws an exception that was raised but has not arrived
        os.close(self._wake)
        os.close(self._woken)


def _first_of(*files: int) -> set[int]:
    """Waits until one of them can be read or has ended. select() does not take numbers above 1023."""
    waiting = select.poll()
    for file in files:
        waiting.register(file, select.POLLIN)
    return {file for file, _ in waiting.poll()}


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), None if exception is None else ctypes.py_object(exception)
    )


class KernelHere:
    """Where the relay connects to, for a kernel in this process."""

    def __init__(self, kernel: Callable[..., Any], name: str = "", device: str = "",
                 function: Callable[..., Any] | None = None) -> None:
        memory = _idle_memory.pop() if _idle_memory else GuardedMemory(private_inputs=True)
        self._server = Server(kernel, memory, name, device, function, in_caller=True)
        self._folder = tempfile.TemporaryDirectory(prefix="ropecheck-")
        self._listener = socket.socket(socket.AF_UNIX)
        path = str(Path(self._folder.name) / "socket")
        self._listener.bind(path)
        self._listener.listen()
        self.subject = "cmd:" + shlex.join([sys.executable, "-I", "-S", str(RELAY), path])
        self.name = self._server.name

    def __enter__(self) -> KernelHere:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._listener.close()
        self._folder.cleanup()
        self._server.memory.clear()
        _idle_memory.append(self._server.memory)

    def serve(self, program: subprocess.Popen[Any]) -> None:
        """Serves until the program has ended."""
        ended = os.pidfd_open(program.pid)
        try:
            while True:
                if self._listener.fileno() not in _first_of(self._listener.fileno(), ended):
                    return
                self._serve_one()
        finally:
            os.close(ended)

    def _serve_one(self) -> None:
        relay, _ = self._listener.accept()
        with relay:
            text, given, _, _ = socket.recv_fds(relay, 1000, 4)
            if len(given) != 4:
                return
            announced_files(text.decode())
            files = Files(*given)
            connection = Connection(files.protocol)
            watch = Watch(relay)
            try:
                self._server.serve(connection, files)
                relay.send(b".", socket.MSG_NOSIGNAL)
            except (Abandoned, OSError):
                pass  # ropecheck has given this connection up and knows why
            finally:
                try:
                    watch.stop()
                except Abandoned:
                    watch.stop()
                connection.close()
                for file in given[1:]:
                    os.close(file)
