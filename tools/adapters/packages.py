"""build/adapters-venv: the packages with the judged kernels, on top of build/golden-venv."""

import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pinned_environment  # noqa: E402

VENV = pinned_environment.BUILD / "adapters-venv"
WHEELS = HERE / "requirements.txt"
BUILT = HERE / "requirements_built.txt"
# Without the second variable the setup looks for a wheel for torch's CUDA version; the CPU build has none.
WITHOUT_CUDA = {"FLASH_ATTENTION_SKIP_CUDA_BUILD": "TRUE", "FLASH_ATTENTION_FORCE_BUILD": "TRUE"}


def python(say: Callable[[str], None]) -> Path:
    """The environment's interpreter. Raises pinned_environment.Unavailable."""
    def install(made: Path) -> None:
        say(f"installing the pinned packages into {VENV} (600 MB to fetch, 2 GB of disk, about a minute, once)")
        pinned_environment.look_into(VENV, pinned_environment.GOLDEN)
        pinned_environment.pip_install(made, "--no-deps", "--ignore-installed", "--requirement", str(WHEELS))
        pinned_environment.pip_install(made, "--no-deps", "--no-build-isolation", "--requirement", str(BUILT),
                                       variables=WITHOUT_CUDA)

    pinned_environment.golden_python(say)
    wanted = pinned_environment.fingerprint(pinned_environment.golden_fingerprint(), WHEELS, BUILT)
    with pinned_environment.locked(VENV):
        return pinned_environment.environment(VENV, wanted, install)
