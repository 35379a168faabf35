"""Makes the pinned environment under build/golden-venv if it is missing or stale, and runs the regeneration in it. For
--with it makes another one beside it. That one holds the versions to try and finds everything else in the first.

Standard library only, because `ropecheck golden regenerate` starts this with any Python 3.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

import pinned_environment  # noqa: E402

CANNOT_START = 3  # exit code
INTERRUPTED = 130
# What --with takes: one distribution, one version.
REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*")


def say(text: str) -> None:
    print(f"golden regenerate: {text}", file=sys.stderr, flush=True)


def stop(text: str, status: int) -> None:
    say(text)
    raise SystemExit(status)


def versions_to_try(arguments: list[str]) -> list[str]:
    """The values of --with, sorted; __main__.py parses the rest of the command line."""
    wanted = []
    for i, argument in enumerate(arguments):
        if argument == "--with" and i + 1 < len(arguments):
            wanted.append(arguments[i + 1])
        elif argument.startswith("--with="):
            wanted.append(argument.removeprefix("--with="))
    for text in wanted:
        if not REQUIREMENT.fullmatch(text):
            stop(f"--with {text}: expected PACKAGE==VERSION, such as transformers==5.22.0", 2)
    return sorted(wanted)


def requirements_of(python: Path, wanted: list[str]) -> list[str]:
    """What the versions to try ask for. pip finds what the pinned environment has already, and installs the rest."""
    names = [requirement.partition("==")[0] for requirement in wanted]
    done = subprocess.run([str(python), str(HERE / "requires.py"), *names], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def install_tried(python: Path, wanted: list[str]) -> None:
    folder = python.parents[1]
    say(f"installing {', '.join(wanted)} into {folder}")
    # The pinned packages come after its own ones: whatever is not to be tried comes from the pinned environment.
    pinned_environment.look_into(folder, pinned_environment.GOLDEN)
    try:
        pinned_environment.pip_install(python, "--no-deps", "--ignore-installed", *wanted)
        needed = requirements_of(python, wanted)
        if needed:
            pinned_environment.pip_install(python, *needed, "--constraint", str(HERE / "kept.txt"))
    except pinned_environment.Unavailable as error:
        reason = str(error).partition(": ")[2]
        stop(f"--with {' --with '.join(wanted)} cannot be installed: {reason}", CANNOT_START)


def main() -> None:
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:  # needs no environment
        os.execv(sys.executable, [sys.executable, str(HERE), *arguments])
    wanted = versions_to_try(arguments)
    try:
        python = pinned_environment.golden_python(say)
        if wanted:
            tried = pinned_environment.fingerprint(pinned_environment.golden_fingerprint(), *wanted)
            folder = pinned_environment.BUILD / f"golden-venv-{tried[:12]}"
            with pinned_environment.locked(folder):
                python = pinned_environment.environment(folder, tried, lambda made: install_tried(made, wanted))
    except pinned_environment.Unavailable as error:
        stop(str(error), CANNOT_START)
    os.execv(python, [str(python), str(HERE), *arguments])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        stop("interrupted; nothing was changed", INTERRUPTED)
