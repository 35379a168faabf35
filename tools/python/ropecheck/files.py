"""Where the files are that messages and pages name, such as rope_kernel.h.

A checkout has them in their place. An installed package has the golden files beside the program, which reads them, and
all others in its folder share, each at its path in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path

from ropecheck.errors import UsageError

PACKAGE = Path(__file__).resolve().parent
VERSION = re.compile(r"project\(ropecheck VERSION ([0-9.]+)")


def _folders() -> list[Path]:
    """Where a path of the repository may begin."""
    if (PACKAGE / "share").is_dir():
        return [PACKAGE / "share", PACKAGE / "bin"]
    return list(PACKAGE.parents[2:3])


def get_path(name: str) -> Path:
    """Where a file or a folder of the repository is on this machine: "docs/ci.md", "examples", "golden".

    :raises UsageError: it is not there.
    """
    for folder in _folders():
        if (folder / name).exists():
            return folder / name
    raise UsageError(f"{name} is not there; looked in {' and '.join(map(str, _folders()))}")


def get_include() -> str:
    """The folder of rope_kernel.h, for a compiler's -I."""
    return str(get_path("impls/include"))


def version() -> str:
    """Of this package. Metadata could be of another one that is installed too, so a checkout is asked first."""
    for folder in _folders():
        project = folder / "CMakeLists.txt"
        if project.is_file() and (found := VERSION.search(project.read_text())):
            return found[1]
    from importlib import metadata

    return metadata.version("ropecheck")
