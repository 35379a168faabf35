"""The memory of a call's tensors, each between inaccessible pages, as in tools/worker/host/guarded_memory.cpp."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from dataclasses import dataclass

MAP_FIXED = 0x10  # on every Linux but alpha, mips and parisc
MAP_NORESERVE = 0x4000
PROT_NONE = 0
RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
MAP_FAILED = ctypes.c_void_p(-1).value
SLOTS = 12  # a call has at most eleven tensors
# A wrapped 32-bit index is off by 2^31 elements of at most 8 bytes; in 64 GiB it stays within its slot.
LARGEST_SLOT = 1 << 36
SMALLEST_SLOT = 1 << 24

# A border's contents: a NaN in every floating type, as in tools/worker/protocol/canary.hpp.
UNTOUCHED = b"\xf9\x7f" * (mmap.PAGESIZE // 2)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_longlong]


def _mmap(address: int | None, length: int, protection: int, flags: int, file: int, offset: int) -> int | None:
    found: int | None = _libc.mmap(address, length, protection, flags, file, offset)
    return None if found == MAP_FAILED else found


@dataclass(frozen=True)
class Pages:
    """Whole pages of a file, at an offset from the address of a tensor."""

    at: int
    offset: int
    length: int


class GuardedMemory:
    """A reservation in which only the pages of the call's tensors are accessible.

    `private_inputs` is for a kernel in the caller's own process, which a slip should not end. Inputs are copies, and
    `damage` says afterwards whether they were written to. Memory around the tensors can be read, so that an array
    that somebody has kept is harmless later. A page on either side takes writes, which `stray` finds. Only a write
    further away ends the process.
    """

    def __init__(self, private_inputs: bool = False) -> None:
        self.private_inputs = private_inputs
        self._around = mmap.PROT_READ if private_inputs else PROT_NONE
        self.slot_size = LARGEST_SLOT
        while (base := _mmap(None, SLOTS * self.slot_size, self._around, RESERVED, -1, 0)) is None:
            self.slot_size //= 2
            if self.slot_size < SMALLEST_SLOT:
                reason = os.strerror(ctypes.get_errno())
                raise MemoryError(f"no address space for guard pages ({reason}); if `ulimit -v` is set, lift it")
        self.base: int = base
        self._mapped: dict[int, tuple[int, bool, tuple[Pages, ...]]] = {}
        room = self.slot_size // 4 * 3
        self._buffers = [(ctypes.c_char * room).from_address(self.address(slot)) for slot in range(SLOTS)]

    def clear(self) -> None:
        """Removes all tensors. The addresses stay reserved, for whoever has kept an array."""
        for slot in list(self._mapped):
            self._take_away(slot)

    def address(self, slot: int) -> int:
        """The address that a slot's pages count from."""
        return self.base + slot * self.slot_size + self.slot_size // 4

    def holds(self, address: int) -> bool:
        """Whether an address lies within the reservation."""
        return self.base <= address < self.base + SLOTS * self.slot_size

    def buffer(self, slot: int) -> ctypes.Array[ctypes.c_char]:
        """All memory that can be mapped in a slot, from its address on."""
        return self._buffers[slot]

    def content(self, slot: int) -> memoryview:
        """A slot's mapped memory from its address on, in one piece."""
        pages = self._mapped[slot][2]
        length = max((part.at + part.length for part in pages), default=0)
        return memoryview(self.buffer(slot)).cast("B")[:length]

    def map(self, slot: int, file: int, pages: tuple[Pages, ...], writable: bool) -> None:
        """Maps these parts of a file into a slot; nothing else stays mapped there."""
        end = max((part.at + part.length for part in pages), default=0)
        if end > self.slot_size // 4 * 3:
            raise MemoryError(
                f"its rows span {end} bytes, and this worker has address space for {self.slot_size // 4 * 3}"
                + ("; if `ulimit -v` is set, lift it" if self.slot_size < LARGEST_SLOT else "")
            )
        copied = self.private_inputs and not writable
        wanted = (file, writable, pages)
        if self._mapped.get(slot) != wanted:
            self._make_room(slot, pages)
            for part in pages:
                if copied:
                    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
                    self._fix(slot, part, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
                else:
                    # Populated at once: our page faults must not count as the kernel's time.
                    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
                    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0x8000)
                    self._fix(slot, part, protection, flags, file, part.offset)
            self._mapped[slot] = wanted
            for border in self._borders(slot):
                flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
                self._fix(slot, border, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
                self._view(slot, border)[:] = UNTOUCHED
        if copied:
            for part in pages:
                os.preadv(file, [self._view(slot, part)], part.offset)

    def damage(self, slot: int) -> int | None:
        """The first byte of a copied input that differs from the file, counted from the slot's address."""
        file, writable, pages = self._mapped.get(slot, (0, True, ()))
        if writable or not self.private_inputs:
            return None
        for part in pages:
            given = os.pread(file, part.length, part.offset)
            now = bytes(self._view(slot, part))
            if now != given:
                return part.at + next(i for i, (a, b) in enumerate(zip(now, given)) if a != b)
        return None

    def stray(self, slot: int) -> int | None:
        """The byte beside a tensor's pages that was written to, counted from the slot's address. It is restored."""
        found = None
        for border in self._borders(slot):
            view = self._view(slot, border)
            if view != UNTOUCHED:
                damaged = [i for i, byte in enumerate(view) if byte != UNTOUCHED[i]]
                # The nearest to the tensor.
                found = border.at + (damaged[-1] if border.at < 0 else damaged[0])
                view[:] = UNTOUCHED
        return found

    def _borders(self, slot: int) -> tuple[Pages, ...]:
        """The borders before and after a tensor in one piece; rows that lie far apart have none."""
        pages = self._mapped.get(slot, (0, False, ()))[2]
        if not self.private_inputs or len(pages) != 1 or pages[0].at != 0:
            return ()
        return Pages(-mmap.PAGESIZE, 0, mmap.PAGESIZE), Pages(pages[0].length, 0, mmap.PAGESIZE)

    def _make_room(self, slot: int, pages: tuple[Pages, ...]) -> None:
        """Takes away what these pages do not replace."""
        known = self._mapped.get(slot, (0, False, ()))[2]
        in_one_piece = len(known) == len(pages) == 1 and known[0].at == pages[0].at
        if self.private_inputs or not in_one_piece:
            self._take_away(slot)
        elif (end := pages[0].length) < known[0].length:
            self._fix(slot, Pages(known[0].at + end, 0, known[0].length - end), self._around, RESERVED, -1, 0)

    def _take_away(self, slot: int) -> None:
        for border in self._borders(slot):
            self._fix(slot, border, self._around, RESERVED, -1, 0)
        for part in self._mapped.pop(slot, (0, False, ()))[2]:
            self._fix(slot, part, self._around, RESERVED, -1, 0)

    def _view(self, slot: int, part: Pages) -> memoryview:
        return memoryview((ctypes.c_char * part.length).from_address(self.address(slot) + part.at)).cast("B")

    def _fix(self, slot: int, part: Pages, protection: int, flags: int, file: int, offset: int) -> None:
        if part.length == 0:
            return
        where = self.address(slot) + part.at
        if _mmap(where, part.length, protection, flags | MAP_FIXED, file, offset) is None:
            code = ctypes.get_errno()
            raise OSError(code, f"mapping a tensor: {os.strerror(code)} ({errno.errorcode.get(code, code)})")
