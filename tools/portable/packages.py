"""The libraries of a portable program, for one architecture: packages.py ARCH FOLDER [--tests].

Downloads packages of this machine's Debian, for x86_64 or aarch64, and unpacks them: headers into FOLDER/include, static
libraries into FOLDER/lib. Nothing is installed, and nobody has to be root. With --tests the libraries stay as they are,
for Debian's cross compiler, and what the unit tests need is there, too. Exit codes: 0 done, 3 a package or a program is
missing.

Debian compiles its C++ libraries with libstdc++; a portable program has libc++ in it. pugixml and the random numbers of
rapidcheck can be used all the same. The functions that we call take and return no type of the standard library. Their
other functions need parts of libstdc++ that are not there. Those symbols are made weak, so the program can be linked.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
PACKAGES = ("libmpfr-dev", "libgmp-dev", "libpugixml-dev", "librapidcheck-dev", "nlohmann-json3-dev", "libfmt-dev",
            "libcli11-dev", "libkainjow-mustache-dev", "libxtensor-dev", "libxtensor-blas-dev", "xtl-dev",
            "libgcc-s1")  # fmt: skip
FOR_TESTS = ("catch2",)
CATCH2 = Path("catch2", "catch.hpp")  # version 2: headers only
ALREADY_C = ("libmpfr.a", "libgmp.a")
OF_LIBSTDCXX = {"libpugixml.a": None, "librapidcheck.a": "Random.cpp.o"}  # the one object that is needed; None: all
UNWINDER = "libgcc_s.so.1"  # every machine with glibc has it
CANNOT_START = 3


class Unavailable(Exception):
    """Something cannot be had here; the message says what."""


def run(*words: str | Path, cwd: Path | None = None) -> str:
    """The output of a program. Raises Unavailable with its last line."""
    try:
        done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    except FileNotFoundError:
        raise Unavailable(f"{words[0]} is missing") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable(f"{words[0]} failed: {lines[-1] if lines else f'exit code {done.returncode}'}")
    return done.stdout


def download(arch: str, names: tuple[str, ...], folder: Path) -> list[Path]:
    """The .deb files of these packages. apt gets lists and a state of its own, so the machine's stay as they are."""
    for part in ("lists/partial", "cache/archives/partial", "debs"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    settings = {"APT::Architecture": DEBIAN[arch], "APT::Architectures": DEBIAN[arch], "APT::Sandbox::User": "",
                "Dir::State::Lists": folder / "lists", "Dir::State::status": folder / "status",
                "Dir::Cache": folder / "cache"}  # fmt: skip
    apt = ["apt-get", "-qq", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]
    run(*apt, "update")
    run(*apt, "download", *names, cwd=folder / "debs")
    return sorted((folder / "debs").iterdir())


def without_libstdcxx(library: Path, wanted: str | None, arch: str, to: Path) -> None:
    """Copies a static library in which what libstdc++ would define is weak, and which starts no streams."""
    prefix = f"{arch}-linux-gnu-"  # binutils for another architecture
    with tempfile.TemporaryDirectory() as folder:
        run("ar", "x", library, *([wanted] if wanted else []), cwd=Path(folder))
        objects = sorted(Path(folder).iterdir())
        for each in objects:
            undefined = [line.split()[-1] for line in run(f"{prefix}nm", "--undefined-only", each).splitlines()]
            names = [name for name in undefined if name.startswith(("_ZNS", "_ZNK", "_ZS", "_ZTVS", "_ZTIS"))]
            weak = [f"--weaken-symbol={name}" for name in names]
            run(f"{prefix}objcopy", *weak, "--remove-section=.init_array", "--remove-section=.rela.init_array", each)
        run("ar", "rcs", to, *objects)


def unpack(arch: str, debs: list[Path], root: Path, folder: Path, for_tests: bool) -> None:
    """Makes FOLDER/include and FOLDER/lib."""
    for deb in debs:
        run("dpkg-deb", "-x", deb, root)
    triplet = f"{arch}-linux-gnu"
    headers = root / "usr" / "include"
    shutil.copytree(headers, folder / "include", ignore=shutil.ignore_patterns(triplet))
    shutil.copytree(headers / triplet, folder / "include", dirs_exist_ok=True)
    libraries = root / "usr" / "lib" / triplet
    (folder / "lib").mkdir()
    for name in ALREADY_C:
        shutil.copy(libraries / name, folder / "lib")
    (unwinder,) = root.glob(f"**/lib/{triplet}/{UNWINDER}")
    shutil.copy(unwinder, folder / "lib")
    for name, wanted in OF_LIBSTDCXX.items():
        if for_tests:
            shutil.copy(libraries / name, folder / "lib")
        else:
            without_libstdcxx(libraries / name, wanted, arch, folder / "lib" / name)


def add_cpu_model(arch: str, folder: Path) -> None:
    """zig's own __cpu_model stays zero, so every target_clones would run its plainest copy. libgcc's is filled in."""
    if arch == "x86_64":
        run("ar", "x", run("gcc", "-print-libgcc-file-name").strip(), "cpuinfo.o", cwd=folder / "lib")


def make(arch: str, folder: Path, for_tests: bool = False) -> None:
    """Replaces the folder only when everything is there."""
    if arch not in DEBIAN:
        raise Unavailable(f"architecture {arch}: expected one of {', '.join(DEBIAN)}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".packages-") as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        debs = download(arch, PACKAGES + FOR_TESTS if for_tests else PACKAGES, Path(scratch) / "apt")
        unpack(arch, debs, Path(scratch) / "root", made, for_tests)
        if for_tests and not (made / "include" / CATCH2).is_file():
            raise Unavailable("the unit tests need Catch2 2; this machine's Debian has another version")
        if not for_tests:
            add_cpu_model(arch, made)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--tests"]):
        sys.exit(f"usage: {sys.argv[0]} ARCH FOLDER [--tests]")
    try:
        make(sys.argv[1], Path(sys.argv[2]).absolute(), for_tests=len(sys.argv) == 4)
    except Unavailable as error:
        print(f"packages.py: {error}", file=sys.stderr)
        sys.exit(CANNOT_START)
