"""python relay.py SOCKET: the process that ropecheck starts for a kernel that lives in its caller's process. It hands
its files over the socket, and lives as long as they are in use. It imports only the standard library, nothing of the
package: it starts each time that the kernel is started."""

import fcntl
import os
import socket
import sys


def main() -> int:
    """Exit status: 0 the caller has finished, 2 not started as a worker, 3 the caller is gone."""
    text = os.environ.get("ROPECHECK_WORKER", "")
    given = dict(word.split("=", 1) for word in text.split())
    if len(sys.argv) != 2 or not {"protocol", "inputs", "outputs", "life"} <= given.keys():
        print("the relay is started by ropecheck, not by hand", file=sys.stderr)
        return 2
    files = [int(given[name]) for name in ("protocol", "inputs", "outputs", "life")]
    life = files[-1]
    # When ropecheck ends, the system kills this process, as it does every worker.
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETSIG, 9)
    with socket.socket(socket.AF_UNIX) as caller:
        try:
            caller.connect(sys.argv[1])
            socket.send_fds(caller, [text.encode()], files)
        except OSError as error:
            print(f"the process that the kernel lives in cannot be reached: {error}", file=sys.stderr)
            return 3
        for file in files[:-1]:  # the end of the connection must be seen when the caller closes its own
            os.close(file)
        fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        return 0 if caller.recv(1) == b"." else 3


if __name__ == "__main__":
    sys.exit(main())
