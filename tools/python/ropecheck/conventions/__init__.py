"""Calling conventions: the signatures of known code bases. A function that replaces theirs is judged without an
adapter. Each convention is one file here and one name in this list."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any

from ropecheck.conventions.convention import Convention
from ropecheck.errors import SubjectError

NAMES = ("flash_attn", "huggingface", "huggingface_cohere", "huggingface_glm", "huggingface_gptj", "huggingface_neox",
         "labml", "lucidrains", "onnx", "onnx_microsoft", "vllm")


def convention_called(name: str) -> Convention:
    """Raises SubjectError for an unknown name."""
    if name not in NAMES:
        similar = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {similar[0]}? " if similar else ""
        raise SubjectError(f'--convention: "{name}" is not known; {hint}the conventions are {", ".join(NAMES)}')
    found: Convention = importlib.import_module(f"ropecheck.conventions.{name}").CONVENTION
    return found


def adapt(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A kernel of one argument that calls the function by this convention."""
    return convention_called(name).kernel(function)
