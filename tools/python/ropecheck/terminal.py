"""A terminal for the program's stderr: its progress is passed on, everything else is kept."""

from __future__ import annotations

import os
import re
import threading
import tty
from collections.abc import Callable
from typing import BinaryIO

PROGRESS = re.compile(rb"\r\x1b\[K[^\r\n]*")  # tools/report/progress.cpp


class Terminal:
    """Give it to a child as a file, then close it."""

    def __init__(self, kept: BinaryIO, progress: Callable[[str], None]) -> None:
        self._kept = kept
        self._progress = progress
        self._written = b""
        self._ours, self._childs = os.openpty()
        tty.setraw(self._childs)  # lines end as they are written
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def fileno(self) -> int:
        """What the child writes to."""
        return self._childs

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._ours, 65536)
            except OSError:  # no process has the other end
                return
            if not part:
                return
            self._written += part
            if shown := b"".join(PROGRESS.findall(part)):
                self._progress(shown.decode(errors="replace"))

    def close(self) -> None:
        """Waits until all is read."""
        if self._childs < 0:
            return
        os.close(self._childs)
        self._childs = -1
        self._reader.join()
        os.close(self._ours)
        self._kept.write(PROGRESS.sub(b"", self._written))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
