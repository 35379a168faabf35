"""The commands of this folder as modules, for their tests: their files have no ending."""

import importlib.machinery
import importlib.util
from pathlib import Path


def command(name):
    loader = importlib.machinery.SourceFileLoader(name, str(Path(__file__).resolve().parent / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
