"""What a dying worker still reports: tools/worker/host/fault_handler.cpp, as a library."""

from __future__ import annotations

import ctypes
import faulthandler
import sys

from ropecheck import own_variables

FILE = "ROPECHECK_FAULTS"  # the variable by which ropecheck names the library


class FaultReports:
    """A fault's signal, address, access and place, in one line of the protocol. Without the library a crash is still a
    finding, but only its signal is known."""

    def __init__(self, connection: int) -> None:
        # Enabled first, so our handler runs first and then calls this one: it prints the Python lines that led there.
        faulthandler.enable(file=sys.stderr, all_threads=False)
        self._library: ctypes.CDLL | None = None
        file = own_variables.value(FILE)
        if file is None:
            return
        try:
            library = ctypes.CDLL(file)
        except OSError:  # no such file, or no sanitizer
            return
        library.ropecheck_set_current_call.argtypes = [ctypes.c_longlong]
        if library.ropecheck_install_fault_handler(connection) == 0:
            self._library = library

    def note_loaded_modules(self) -> None:
        """Notes which libraries are loaded where, for later reports."""
        if self._library is not None:
            self._library.ropecheck_note_loaded_modules()

    def set_current_call(self, number: int) -> None:
        """Sets the call that a fault is reported for; -1 outside calls."""
        if self._library is not None:
            self._library.ropecheck_set_current_call(number)
