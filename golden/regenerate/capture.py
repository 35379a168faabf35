"""What a package keeps to itself: read off while its own code runs, never recomputed."""

import torch
from torch.overrides import TorchFunctionMode


class CapturedReciprocal(TorchFunctionMode):
    """Remembers the result of the last `number / tensor`, which is how rope code writes 1 / base ** (2i/d)."""

    def __init__(self) -> None:
        super().__init__()
        self.value: torch.Tensor | None = None

    def __torch_function__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204 (torch's signature)
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in ("__rdiv__", "__rtruediv__"):
            self.value = result
        return result


class CapturedArgument(TorchFunctionMode):
    """Remembers the first argument of the last call of a function, such as the scores that softmax is given."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.value: torch.Tensor | None = None

    def __torch_function__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204 (torch's signature)
        if getattr(func, "__name__", "") == self.name:
            self.value = args[0]
        return func(*args, **(kwargs or {}))
