"""Environments that tests of the package run in. A test that cannot have its own says so and is left out (exit code
77); ctest counts it as skipped."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import pinned_environment  # noqa: E402
from pinned_environment import pip  # noqa: E402, F401

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
LEFT_OUT = 77


def leave_out(reason):
    print(reason)
    sys.exit(LEFT_OUT)


def continue_in(python):
    """Runs this test again with another interpreter, unless it is that one."""
    if Path(sys.prefix) != Path(python).parents[1]:
        os.execv(python, [str(python), "-B", *sys.argv])


def with_golden_packages():
    """torch, transformers, labml-nn and rotary-embedding-torch, in the versions that made the golden files."""
    if not (pinned_environment.GOLDEN / pinned_environment.STAMP).is_file():
        leave_out("build/golden-venv is missing; `ropecheck golden regenerate --check` makes it")
    continue_in(pinned_environment.GOLDEN / "bin" / "python")


def with_real_kernels():
    """build/adapters-venv, made if it is missing or stale; it needs the golden one."""
    sys.path.insert(0, str(ROOT / "tools" / "adapters"))
    import packages

    if Path(sys.prefix) == packages.VENV:
        return
    with_golden_packages()  # both environments use its Python, not the one that the test was started with
    if not pinned_environment.is_current(pinned_environment.GOLDEN, pinned_environment.golden_fingerprint()):
        leave_out("build/golden-venv is stale; `ropecheck golden regenerate --check` renews it")
    try:
        python = packages.python(lambda text: print(text, flush=True))
    except pinned_environment.NoSuchVersion:
        raise
    except pinned_environment.Unavailable as error:
        leave_out(f"build/adapters-venv cannot be made: {error}")
    continue_in(python)


def with_requirements(name="python-venv", requirements=REQUIREMENTS):
    """The environment of this name in build/, made if it is missing or stale."""
    folder = pinned_environment.BUILD / name
    if Path(sys.prefix) == folder:
        return
    try:
        with pinned_environment.locked(folder):
            python = pinned_environment.environment(
                folder, pinned_environment.fingerprint(requirements),
                lambda made: pinned_environment.pip_install(made, "--requirement", str(requirements)))
    except pinned_environment.NoSuchVersion:
        raise  # no machine could run the test
    except pinned_environment.Unavailable as error:
        leave_out(f"{folder} cannot be made: {error}")
    continue_in(python)
