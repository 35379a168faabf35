"""The conventions that a function's parameters fit, for functions that are given without one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from ropecheck.conventions import NAMES, convention_called
from ropecheck.conventions.convention import Convention

# Names that code bases give to the same thing.
MEANINGS = {
    "cos_sin": r"(.*_)?cos_?sin(_.*)?",
    "cos": r"(.*_)?cos(_.*|ine)?",
    "sin": r"(.*_)?sin(_.*|e)?",
    "positions": r"(.*_)?pos(ition)?(_?ids|s)?",
    "q": r"x?q|query(_.*)?|q_.*",
    "k": r"x?k|key(_.*)?|k_.*",
    "x": r"x|t|tensor|inputs?|input_.*",
    "dim": r"d|(\w+_)?dim",
    "head_size": r"head_(size|dim)",
    "is_neox": r"is_neox(_style)?",
}


def _meaning(name: str) -> str:
    return next((meaning for meaning, names in MEANINGS.items() if re.fullmatch(names, name)), name)


def _has_method(cls: type, name: str) -> bool:
    """Whether its objects have a method that takes one argument. torch's modules are called by `forward`."""
    method = getattr(cls, "forward", None) if name == "__call__" else getattr(cls, name, None)
    if method is None and name == "__call__":
        method = cls.__dict__.get("__call__")
    try:
        inspect.signature(method).bind(None, None)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _rank(convention: Convention, function: Callable[..., Any], parameters: list[inspect.Parameter]) -> int:
    """How many of its optional parameters the function has; -1 if the function does not fit."""
    if isinstance(function, type) != convention.takes_class:
        return -1
    if isinstance(function, type) and not _has_method(function, str(convention.method)):
        return -1
    in_order = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    wanted = [_meaning(name) for name in convention.required]
    if [_meaning(name) for name in in_order[: len(wanted)]] != wanted:
        return -1
    single = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    others = [each for each in single if each.name not in in_order[: len(wanted)]]
    if any(each.default is each.empty and each.name not in convention.optional for each in others):
        return -1
    return sum(each.name in convention.optional for each in others)


def conventions_fitting(function: Callable[..., Any], signature: inspect.Signature) -> list[Convention]:
    """Those that the function fits best."""
    parameters = list(signature.parameters.values())
    ranked = [(_rank(convention, function, parameters), convention) for convention in map(convention_called, NAMES)]
    best = max(rank for rank, _ in ranked)
    fitting = [convention for rank, convention in ranked if rank == best >= 0]
    # An object that has a named method is not meant to be called.
    named = [convention for convention in fitting if convention.method not in (None, "__call__")]
    return named or fitting
