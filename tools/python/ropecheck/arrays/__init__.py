"""The array libraries that a kernel may take its tensors from: each has a file and a line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ropecheck.errors import SubjectError

if TYPE_CHECKING:
    from ropecheck.arrays.library import ArrayLibrary

# What `kernel(array=..., device=...)` takes: module and class, and what must be installed.
LIBRARIES = {
    ("numpy", "cpu"): ("ropecheck.arrays.of_numpy", "NumpyArrays", "numpy"),
    ("torch", "cpu"): ("ropecheck.arrays.of_torch", "TorchArrays", "torch"),
    ("torch", "cuda"): ("ropecheck.arrays.torch_on_device", "TorchOnDevice", "torch"),
    ("jax", "cpu"): ("ropecheck.arrays.of_jax", "JaxArrays", "jax"),
    ("jax", "cuda"): ("ropecheck.arrays.jax_on_device", "JaxOnDevice", "jax"),
}


def library_called(name: str, device: str = "cpu") -> ArrayLibrary:
    """Imports only this library, and only now."""
    if (name, device) not in LIBRARIES:
        known = ", ".join(sorted(library for library, place in LIBRARIES if place == device))
        raise SubjectError(f"the kernel takes {name} arrays, which are not on {device}; arrays of {known} can be: declare "
                           f'it with @ropecheck.kernel(array="torch", device="{device}")')
    module, cls, package = LIBRARIES[name, device]
    try:
        library: ArrayLibrary = getattr(importlib.import_module(module), cls)()
    except ImportError as error:
        raise SubjectError(
            f"the kernel takes {name} arrays, and importing {error.name or package} failed: {error}; "
            f"install it (pip install {package}) for the interpreter that runs the kernel, or choose another with "
            "--python FILE"
        ) from error
    return library
