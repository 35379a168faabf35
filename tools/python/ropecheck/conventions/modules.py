"""Modules of torch that a convention makes."""

from __future__ import annotations

from typing import Any


def beside(module: Any, x: Any) -> Any:
    """The module, with its parameters and buffers on x's device."""
    return module if x.device.type == "cpu" else module.to(x.device)
