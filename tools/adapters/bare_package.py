"""Modules of packages whose own __init__ would import much that a rope needs nothing of."""

import importlib
import importlib.util
import sys
import types


def module_of(path: str, **names: object) -> types.ModuleType:
    """The unchanged module PACKAGE.FOLDER.NAME. Empty packages with the same folders replace its parents; the outermost
    one has these names."""
    parents = path.split(".")[:-1]
    for depth in range(1, len(parents) + 1):
        name = ".".join(parents[:depth])
        if name in sys.modules:
            continue
        found = importlib.util.find_spec(name)
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        package = types.ModuleType(name)
        package.__path__ = found.submodule_search_locations
        sys.modules[name] = package
        if depth == 1:
            vars(package).update(names)
    return importlib.import_module(path)
