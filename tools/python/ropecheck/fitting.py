"""The conventions that a function's parameters fit, for functions that are given without one."""

from __future__ import annotations

import inspect
import re

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


def forward_of(cls: type) -> inspect.Signature | None:
    """What its objects take when they are called. torch's modules are called by `forward`."""
    method = getattr(cls, "forward", None) or cls.__dict__.get("__call__")
    try:
        parameters = list(inspect.signature(method).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return inspect.Signature(parameters[1:]) if parameters else None


def _rotates(cls: type, convention: Convention) -> bool:
    """Whether its objects are called as the convention calls them. A `forward` that takes something else, such as a
    number of tokens, returns something else."""
    if convention.method == "forward":
        forward = forward_of(cls)
        return forward is not None and [*map(_meaning, forward.parameters)] == [*map(_meaning, convention.passed)]
    try:
        inspect.signature(getattr(cls, str(convention.method))).bind(None, None)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def _rank(convention: Convention, parameters: list[inspect.Parameter]) -> int:
    """How many of its optional parameters are there; -1 if the parameters do not fit."""
    in_order = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    wanted = [_meaning(name) for name in convention.required]
    if [_meaning(name) for name in in_order[: len(wanted)]] != wanted:
        return -1
    single = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    others = [each for each in single if each.name not in in_order[: len(wanted)]]
    if any(each.default is each.empty and each.name not in convention.optional for each in others):
        return -1
    return sum(each.name in convention.optional for each in others)


def conventions_fitting(signature: inspect.Signature, cls: type | None = None) -> list[Convention]:
    """Those that a function fits best; or a class, by its constructor and by what its objects are called with."""
    parameters = list(signature.parameters.values())
    known = [convention for convention in map(convention_called, NAMES)
             if convention.takes_class == (cls is not None) and (cls is None or _rotates(cls, convention))]
    ranked = [(_rank(convention, parameters), convention) for convention in known]
    best = max((rank for rank, _ in ranked), default=-1)
    fitting = [convention for rank, convention in ranked if rank == best >= 0]
    # An object that has a named method is not meant to be called.
    named = [convention for convention in fitting if convention.method not in (None, "forward")]
    return named or fitting
