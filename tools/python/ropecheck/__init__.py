"""Conformance tests for rotary position embedding (RoPE) kernels.

    import ropecheck

    report = ropecheck.verify(my_kernel)
    assert report.conforms, report

A kernel is a function of one argument, a `Call`, that returns q or (q, k). `ropecheck.kernel` declares what it can do.
`ropecheck.get_path("docs/ci.md")` is where a file that a message names is on this machine; `ropecheck.get_include()` is
the folder of rope_kernel.h.
"""

from ropecheck.capabilities import Capabilities, capabilities_of, kernel
from ropecheck.errors import InvalidArgument, RopecheckError, SubjectError, Unsupported, UsageError
from ropecheck.files import get_include, get_path
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
    "get_include",
    "get_path",
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
    if name == "__version__":
        from ropecheck.files import version

        return version()
    raise AttributeError(f"module 'ropecheck' has no attribute {name!r}")
