"""The packages with the judged kernels: build/adapters-venv on top of build/golden-venv, build/kernels-venv on top of
both."""

import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pinned_environment  # noqa: E402

VENV = pinned_environment.BUILD / "adapters-venv"
EVERY = pinned_environment.BUILD / "kernels-venv"
WHEELS = HERE / "requirements.txt"
MORE = HERE / "requirements_more.txt"
BUILT = HERE / "requirements_built.txt"
# Without the second variable the setup looks for a wheel for torch's CUDA version; the CPU build has none.
WITHOUT_CUDA = {"FLASH_ATTENTION_SKIP_CUDA_BUILD": "TRUE", "FLASH_ATTENTION_FORCE_BUILD": "TRUE"}


def python(say: Callable[[str], None]) -> Path:
    """The interpreter of VENV, in which tests run. Raises pinned_environment.Unavailable."""
    def install(made: Path) -> None:
        say(f"installing the pinned packages into {VENV} (600 MB to fetch, 2 GB of disk, about a minute, once)")
        pinned_environment.look_into(VENV, pinned_environment.GOLDEN)
        pinned_environment.pip_install(made, "--no-deps", "--ignore-installed", "--requirement", str(WHEELS))
        pinned_environment.pip_install(made, "--no-deps", "--no-build-isolation", "--requirement", str(BUILT),
                                       variables=WITHOUT_CUDA)

    pinned_environment.golden_python(say)
    with pinned_environment.locked(VENV):
        return pinned_environment.environment(VENV, fingerprint(), install)


def fingerprint() -> str:
    return pinned_environment.fingerprint(pinned_environment.golden_fingerprint(), WHEELS, BUILT)


def every_python(say: Callable[[str], None]) -> Path:
    """The interpreter of EVERY. Raises pinned_environment.Unavailable."""
    def install(made: Path) -> None:
        say(f"installing the pinned packages into {EVERY} (100 MB to fetch, about half a minute, once)")
        pinned_environment.look_into(EVERY, VENV, pinned_environment.GOLDEN)
        pinned_environment.pip_install(made, "--no-deps", "--ignore-installed", "--requirement", str(MORE))

    python(say)
    with pinned_environment.locked(EVERY):
        return pinned_environment.environment(EVERY, pinned_environment.fingerprint(fingerprint(), MORE), install)
