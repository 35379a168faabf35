"""A bash that runs the commands of a page one after the other, each with a time limit."""

import os
import select
import signal
import subprocess
import time
from pathlib import Path

# Commands come over a pipe, each ended by a NUL; exit codes go back over another one. `cd`, variables and $? stay from
# one command to the next, because `eval` runs them all in this shell.
DRIVER = r"""
status=0
while IFS= read -r -d '' -u "$PAGES_IN" command; do
  (exit "$status")
  eval "$command" </dev/null >"$PAGES_OUTPUT" 2>&1
  status=$?
  printf '%s\n' "$status" >&"$PAGES_OUT"
done
"""


class Shell:
    def __init__(self, folder, environment, limit):
        self.limit = limit
        self.output = Path(folder).parent / "output"
        self.output.touch()
        commands, self._commands = os.pipe()
        self._codes, codes = os.pipe()
        environment = {**environment, "PAGES_IN": str(commands), "PAGES_OUT": str(codes), "PAGES_OUTPUT": str(self.output)}
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", DRIVER], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
            pass_fds=(commands, codes), start_new_session=True)  # fmt: skip
        os.close(commands)
        os.close(codes)

    def run(self, command):
        """(exit code, lines): stdout and stderr in one. The exit code is None if the time limit ended the shell."""
        try:
            os.write(self._commands, command.encode() + b"\0")
            code = self._answer()
        except BrokenPipeError:
            code = ""
        lines = self.output.read_text(errors="replace").splitlines()
        if code is None:
            self.close()
            return None, lines
        return int(code or self._bash.wait(timeout=self.limit)), lines  # "": the command was an exit

    def _answer(self):
        ready, _, _ = select.select([self._codes], [], [], self.limit)
        return os.read(self._codes, 100).decode().strip() if ready else None

    def _is_left(self):
        """Whether the shell or something that it started still runs."""
        self._bash.poll()
        try:
            os.killpg(self._bash.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def close(self):
        """Ends the shell and what it started. SIGTERM first, so that ropecheck can end its workers."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._bash.pid, number)
            except ProcessLookupError:
                break
            until = time.monotonic() + 2
            while self._is_left() and time.monotonic() < until:
                time.sleep(0.01)
        self._bash.wait()
        for end in (self._commands, self._codes):
            try:
                os.close(end)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
