"""Conformance tests for rotary position embedding (RoPE) kernels.

    import ropecheck

    report = ropecheck.verify(my_kernel)
    assert report.conforms, report

A kernel is a function of one argument, a `Call`, that returns q or (q, k). `ropecheck.kernel` declares what it can do.
"""

from ropecheck.capabilities import Capabilities, capabilities_of, kernel
from ropecheck.errors import InvalidArgument, RopecheckError, SubjectError, Unsupported, UsageError
from ropecheck.report import Identification, Replay, Report
from ropecheck.running import identify, replay, verify

__all__ = [
    "Call",
    "Capabilities",
    "Identification",
    "InvalidArgument",
    "Replay",
    "Report",
    "RopecheckError",
    "SubjectError",
    "Unsupported",
    "UsageError",
    "capabilities_of",
    "identify",
    "kernel",
    "replay",
    "verify",
]


def __getattr__(name: str) -> object:
    # Call needs numpy. `import ropecheck` must succeed without it, because a kernel's own file may import ropecheck.
    if name == "Call":
        from ropecheck.call import Call

        return Call
    raise AttributeError(f"module 'ropecheck' has no attribute {name!r}")
