"""What the package raises, and what a kernel may raise to answer a call."""


class RopecheckError(Exception):
    """ropecheck could not do what was asked; the message says why and what to do."""


class UsageError(RopecheckError):
    """The command does not accept an argument, a spec or a file (exit code 2)."""


class SubjectError(RopecheckError):
    """The kernel could not be loaded or started (exit code 3)."""


class ImportFailed(SubjectError):
    """The kernel's module could not be imported."""


class Unsupported(Exception):
    """Raised by a kernel: the call is legal, but this kernel does not support it. NotImplementedError says the same."""


class InvalidArgument(Exception):
    """Raised by a kernel: no kernel could answer this call."""


class WrongResult(Exception):
    """A kernel returned something wrong. Raised by the worker, which answers with a failed call."""
