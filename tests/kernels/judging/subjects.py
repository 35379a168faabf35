"""The kernels that can be judged: in the libraries of a build folder, and in Python."""

import fnmatch
import sys
from dataclasses import dataclass
from pathlib import Path

from . import manifest

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools" / "python"))
from rope_kernel import Library  # noqa: E402


@dataclass(frozen=True)
class Set:
    name: str
    libraries: str = ""  # a pattern of file names
    folder: str = ""  # the folder with its kernels.txt
    graded: bool = False  # the grades of right kernels are known
    drawn: bool = False  # a kernel is an entry with random claims, and a number after its name
    by_default: bool = True

    @property
    def path(self):
        return f"{self.folder or self.name}/kernels.txt"

    def entries(self):
        """Raises ValueError."""
        return manifest.read((HERE / self.path).read_text(), self.path)


PYTHON = Set("python", by_default=False)
SETS = {s.name: s for s in (
    Set("mutants", "mutants.so"),
    Set("legal", "legal_*.so", graded=True),
    Set("drawn", "drawn_*.so", folder="legal", graded=True, drawn=True, by_default=False),
    Set("builtin", "builtin_*.so", graded=True),
    Set("designs", "designs.so"),
    Set("cheaters", "cheaters.so", by_default=False),
    Set("device", "device_*.so", by_default=False),
    PYTHON,
)}
OWN = "own_"  # modules of kernels with the decorator; other modules are named after their convention
ON_FAKE_DRIVER = "device_cpu.so"
MODULES = HERE / "python"  # the folder from which `kernels.MODULE` can be imported


@dataclass(frozen=True)
class Subject:
    set: Set
    library: str  # file name; "python" for kernels in Python
    kernel: str
    entry: manifest.Entry
    allowed_notes: frozenset = frozenset()

    @property
    def name(self):
        return f"{self.library}#{self.kernel}"

    @property
    def family(self):
        """The library's name without its build: legal for legal_o0.so."""
        return self.library.removesuffix(".so").partition("_")[0]

    def arguments(self, build, interpreter=None):
        """The words of verify that name the kernel."""
        if self.set is not PYTHON:
            return [f"{build / self.library}#{self.kernel}"]
        module = self.kernel.split(":")[0]
        convention = [] if module.startswith(OWN) else ["--convention", module]
        return [f"python:kernels.{self.kernel}", "--python", interpreter, *convention]

    def environment(self, build):
        """What verify needs in its environment to judge the kernel."""
        return {"ROPECHECK_CUDA_DRIVER": str(build / "libfake_cuda_driver.so")} if self.library == ON_FAKE_DRIVER else {}

    def is_called(self, pattern):
        names = [self.set.name, self.library, self.kernel, self.name]
        names += [self.kernel.split(":")[0]] if self.set is PYTHON else []
        return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def entry_name(of, kernel):
    return kernel.rpartition("-")[0] if of.drawn else kernel


def subjects_of(of, library, described, entries):
    """The kernels of one library that have an entry."""
    shared = entries[manifest.ANY].notes if manifest.ANY in entries else frozenset()
    for kernel, description in described.items():
        entry = entries.get(entry_name(of, kernel))
        if entry and entry.library in ("", library):
            yield Subject(of, library, kernel, entry.described(description), entry.notes | shared)


def collect(build, with_python):
    """(every subject, the problems of the lists). Raises ValueError for a list that cannot be read, OSError for a
    library that cannot be loaded."""
    found, wrong = [], []
    for of in SETS.values():
        entries = of.entries()
        libraries = {p.name: Library(p).described() for p in sorted(build.glob(of.libraries))} if of.libraries else {}
        if of is PYTHON and with_python:  # nothing marks them in their modules; a missing one gets no verdict
            libraries = {"python": {name: "" for name in entries}}
        for library, described in libraries.items():
            found += subjects_of(of, library, described, entries)
            names = list(dict.fromkeys(entry_name(of, kernel) for kernel in described))
            kernels = [*names, *(entries if of.drawn else [])]  # narrow claims are not drawn anew
            wrong += [f"{library}: {p}" for p in manifest.problems(of.path, kernels, entries, of.graded)]
    return found, wrong


def choose(subjects, patterns):
    """Raises LookupError for a pattern without a match."""
    if not patterns:
        missing = [of.libraries for of in SETS.values() if of.by_default and not any(s.set is of for s in subjects)]
        if missing:
            raise LookupError(f"{', '.join(missing)}: no such library; build it with tools/test --all")
        return [s for s in subjects if s.set.by_default]
    for pattern in patterns:
        if not any(s.is_called(pattern) for s in subjects):
            libraries = dict.fromkeys(s.library for s in subjects)
            raise LookupError(f"{pattern}: no set, library or kernel of that name; there are {', '.join(libraries)}")
    return [s for s in subjects if any(s.is_called(pattern) for pattern in patterns)]


def in_turn(subjects, seed):
    """For each kernel only the build whose turn it is with this seed."""
    builds = {}
    for subject in subjects:
        builds.setdefault((subject.family, subject.kernel), []).append(subject)
    return [same[seed % len(same)] for same in builds.values()]
