"""python -m ropecheck.worker package.module:function [--convention NAME] [--device cuda]: the process that
ropecheck starts for a kernel in Python. Not for people."""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import os
import sys

from ropecheck import own_variables
from ropecheck.errors import ImportFailed, RopecheckError
from ropecheck.protocol import LOST_CONNECTION, VERSION, Connection, Files, NoWorker, announced_files
from ropecheck.text import plain

NO_NEW_PRIVILEGES = 38  # prctl
REFUSED = 1  # exit status
NOT_STARTED = 2


def die_with_parent(life: int) -> None:
    """ropecheck holds the other end of this pipe. When that end closes, the system kills this process, even in an
    endless loop."""
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETSIG, 9)
    fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    try:
        if os.read(life, 1) == b"":
            os._exit(0)  # it closed before
    except BlockingIOError:
        pass


def settle(files: Files) -> None:
    """Programs that the kernel starts must not inherit the worker's connection. Output before a crash must not be
    lost."""
    for file in files.all():
        fcntl.fcntl(file, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    die_with_parent(files.life)
    ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    own_variables.take_out()
    # Threads of torch spin before they sleep. Beside other processes that takes more time than the kernel: a module of
    # torch took 12.5 s in its calls, and takes 0.6 s.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # otherwise JAX takes most of a device's memory


def run(arguments: argparse.Namespace, connection: Connection, files: Files) -> None:
    """Loads the kernel and answers calls. Raises RopecheckError if something is not available."""
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise RopecheckError(
            f"{sys.executable} has no numpy, which a kernel in Python needs ({error}); install it there (pip install "
            "numpy), or choose another interpreter with --python FILE"
        ) from None
    from ropecheck import conventions
    from ropecheck.faults import FaultReports
    from ropecheck.loading import load
    from ropecheck.memory import GuardedMemory
    from ropecheck.serving import Server, name_of
    from ropecheck.signature import check_signature

    reports = FaultReports(files.protocol)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    function = load(arguments.target)
    name = name_of(function)
    if not arguments.convention:
        check_signature(function)
    kernel = conventions.adapt(function, arguments.convention) if arguments.convention else function
    server = Server(kernel, GuardedMemory(), name, arguments.device, function)
    reports.note_loaded_modules()
    server.serve(connection, files, reports)


def main() -> None:
    """Ends without the destructors of the kernel's libraries: they are not under test here, and may hang."""
    parser = argparse.ArgumentParser(prog="ropecheck.worker")
    parser.add_argument("target")
    parser.add_argument("--convention", default="")
    parser.add_argument("--device", default="")
    arguments = parser.parse_args()
    try:
        files = announced_files(os.environ.get("ROPECHECK_WORKER"))
    except NoWorker as error:
        print(error, file=sys.stderr)
        raise SystemExit(NOT_STARTED) from None
    settle(files)
    connection = Connection(files.protocol)
    status = 0
    try:
        run(arguments, connection, files)
    except RopecheckError as error:
        why = {"import": True} if isinstance(error, ImportFailed) else {}
        connection.send({"v": VERSION, "op": "refused", "msg": plain(str(error)), **why})
        status = REFUSED
    except OSError:
        status = LOST_CONNECTION
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
