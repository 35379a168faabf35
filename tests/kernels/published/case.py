"""One set of parameters of a test: it calls the kernel, then compares. Each comparison returns None, or what is
wrong."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from published.arithmetic import loaded, rounded


@dataclass
class Check:
    what: str
    dtype: str
    actual: np.ndarray  # both as stored; views, so that they are read after the calls
    expected: np.ndarray
    rule: Callable


@dataclass
class Case:
    label: str
    calls: list
    checks: list
    unchanged: list = field(default_factory=list)  # (what, view, copy): bytes that no call may change


def is_close(rtol, atol):
    """torch.isclose(actual, expected): in the arithmetic of the tensors' dtype, NaN equal to nothing."""

    def rule(actual, expected, dtype):
        with np.errstate(invalid="ignore"):
            # Three roundings in the dtype move the two sides by less than 2 % (3 * 2^-9 for bf16). So only values that
            # are not clearly close must be rounded as torch rounds them.
            close = np.abs(actual - expected) <= np.float32(0.98) * (atol + np.abs(rtol * expected))
            near = np.nonzero(~close)
            one, other = actual[near], expected[near]
            allowed = rounded(dtype, np.float32(atol) + np.abs(rounded(dtype, np.float32(rtol) * other)))
            error = np.abs(rounded(dtype, one - other))
            close[near] = (one == other) | (np.isfinite(error) & (error <= allowed))
        return far(close, actual, expected)

    return rule


def is_close_to_the_kernel(rtol, atol):
    """The same with exchanged arguments, as in some tests: the tolerance depends on the kernel's output."""
    rule = is_close(rtol, atol)
    return lambda actual, expected, dtype: rule(expected, actual, dtype)


def is_close_to_dtype_noise(rtol):
    """flash-attention: atol is twice the change of the reference, in its dtype, when 0.3 is added and subtracted."""

    def rule(actual, expected, dtype):
        moved = rounded(dtype, rounded(dtype, expected + np.float32(0.3)) - np.float32(0.3))
        atol = 2 * float(np.abs(rounded(dtype, moved - expected)).max())
        return is_close(rtol, atol)(actual, expected, dtype)

    return rule


def numpy_allclose(rtol, atol):
    def rule(actual, expected, dtype):
        close = np.isclose(actual, expected, rtol=rtol, atol=atol)
        return far(close, actual, expected)

    return rule


def nmse(limit):
    """ggml: sum of squared differences over the sum of the kernel's squares; NaN and infinities fail before."""

    def rule(actual, expected, dtype):
        if not np.isfinite(actual).all():
            return "NaN or infinity"
        squares = float(np.square(actual, dtype=np.float32).sum(dtype=np.float64))
        error = float(np.square(actual - expected, dtype=np.float32).sum(dtype=np.float64))
        ratio = error / squares if squares > 0 else float("inf") if error > 0 else 0.0
        return f"NMSE {ratio:.3g}" if ratio > limit else None

    return rule


def far(close, actual, expected):
    count = close.size - int(np.count_nonzero(close))
    if count == 0:
        return None
    at = np.unravel_index(int(np.argmin(close)), close.shape)
    return f"{count} of {close.size} too far off, first {actual[at]:.7g} for {expected[at]:.7g}"


def judge(case, kernel):
    """Why the test rejects this kernel, or None."""
    for number, arguments in enumerate(case.calls):
        status = kernel(arguments)
        if status != 0:
            return f"{case.label}: call {number} answers status {status}"
    for what, view, copy in case.unchanged:
        if not np.array_equal(view, copy):
            return f"{case.label}: {what} was changed"
    for check in case.checks:
        actual, expected = loaded(check.dtype, check.actual), loaded(check.dtype, check.expected)
        wrong = check.rule(actual, expected, check.dtype)
        if wrong:
            return f"{case.label}: {check.what}: {wrong}"
    return None
