"""What the package raises, and what a kernel may raise to answer a call."""


class RopecheckError(Exception):
    """ropecheck could not do what was asked; the message says why and what to do."""


class UsageError(RopecheckError):
    """An argument, a spec or a file is not what the command takes (exit code 2)."""


class SubjectError(RopecheckError):
    """The kernel could not be loaded or started (exit code 3)."""


class Unsupported(Exception):
    """Raised by a kernel: the call is a legal one, but not for this kernel. NotImplementedError says the same."""


class InvalidArgument(Exception):
    """Raised by a kernel: no kernel could answer this call."""


class WrongResult(Exception):
    """What a kernel returned is not what was due. Raised by the worker, which answers it as a failed call."""
