"""The array libraries that a kernel may take its tensors from: one file each, a line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ropecheck.errors import SubjectError

if TYPE_CHECKING:
    from ropecheck.arrays.library import ArrayLibrary

# The name that `kernel(array=...)` takes: module and class here, and what has to be installed.
LIBRARIES = {
    "numpy": ("ropecheck.arrays.of_numpy", "NumpyArrays", "numpy"),
    "torch": ("ropecheck.arrays.of_torch", "TorchArrays", "torch"),
    "jax": ("ropecheck.arrays.of_jax", "JaxArrays", "jax"),
}


def library_called(name: str) -> ArrayLibrary:
    """Imports it now, and no other."""
    module, cls, package = LIBRARIES[name]
    try:
        library: ArrayLibrary = getattr(importlib.import_module(module), cls)()
    except ImportError as error:
        raise SubjectError(
            f"the kernel takes {name} arrays, and importing {error.name or package} failed: {error}; "
            f"install it (pip install {package}) for the interpreter that runs the kernel, or choose another with "
            "--python FILE"
        ) from error
    return library
