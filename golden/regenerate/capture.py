"""Values that a package does not return, read while its own code runs, never recomputed."""

import torch
from torch.overrides import TorchFunctionMode


class CapturedReciprocal(TorchFunctionMode):
    """Remembers the result of the last `number / tensor`: rope code writes 1 / base ** (2i/d) like that."""

    def __init__(self) -> None:
        super().__init__()
        self.value: torch.Tensor | None = None

    def __torch_function__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204 (torch's signature)
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in ("__rdiv__", "__rtruediv__"):
            self.value = result
        return result


class CapturedArgument(TorchFunctionMode):
    """Remembers the first argument of a function's last call, such as softmax's scores."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.value: torch.Tensor | None = None

    def __torch_function__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204 (torch's signature)
        if getattr(func, "__name__", "") == self.name:
            self.value = args[0]
        return func(*args, **(kwargs or {}))
