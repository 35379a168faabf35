"""What a Python kernel claims to do: the decorator `kernel`, and the record that it leaves on a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, overload

from ropecheck import names
from ropecheck.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
Words = str | Iterable[str]

ATTRIBUTE = "__ropecheck__"
ARRAY_LIBRARIES = ("numpy", "torch", "jax")
DEVICES = ("cpu", "cuda")
# Claimed only by name: few kernels have them.
BY_NAME = ("robust", "seqlen_offsets", "cu_seqlens")
# The default claims: all that the usual legal calls may ask for.
EVERY_FEATURE = tuple(feature for feature in names.FEATURES if feature not in BY_NAME)


@dataclass(frozen=True)
class Capabilities:
    """The claims of a kernel, with the fields of `rope_capabilities` in impls/include/rope_kernel.h. None: all that the
    array library can express."""

    array: str = "numpy"
    dtypes: Mapping[str, tuple[str, ...]] | None = None  # input dtype: its output dtypes
    tables: tuple[str, ...] | None = None
    table_widths: tuple[str, ...] = names.TABLE_WIDTHS
    frequencies: tuple[str, ...] | None = None
    positions: tuple[str, ...] | None = None
    pairings: tuple[str, ...] = names.PAIRINGS
    sources: tuple[str, ...] = names.SOURCES
    scalings: tuple[str, ...] = names.SCALINGS
    features: tuple[str, ...] | None = None
    alignment: int = 1
    max_position: int = names.LARGEST_POSITION
    head_dims: tuple[int, ...] = ()
    least_rotary_dim: int = 2
    base: float | None = None  # None: every base
    seq_within_rows: bool = False
    overwrites_inputs: bool = False
    theta_as_period: bool = False
    first_call_seconds: float = 0.0
    name: str = ""
    device: str = "cpu"

    def __repr__(self) -> str:
        """What differs from the default."""
        chosen = {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) != one.default}
        words = [f"{name}={value!r}" for name, value in chosen.items()]
        return f"Capabilities({', '.join(words)})"

    def claims(self, library: Any) -> dict[str, Any]:
        """The claims in the worker protocol's hello; `library` makes the arrays."""
        floats = [dtype for dtype in names.FLOATS if dtype in library.dtypes - library.unless_claimed]
        integers = [dtype for dtype in names.INTEGERS if dtype in library.dtypes]
        dtypes = self.dtypes if self.dtypes is not None else {dtype: (dtype,) for dtype in floats}
        features = self.features
        if features is None:
            features = tuple(feature for feature in EVERY_FEATURE if feature not in library.lacks)
        beyond = [dtype for dtype in dtypes if dtype not in library.dtypes]
        if beyond:
            why = library.why_not(beyond[0])
            raise UsageError(f"it claims {beyond[0]}, which {library.name} has no arrays of: {why}")
        return {
            "dtypes": {given: list(returned) for given, returned in dtypes.items()},
            "tables": _or_all(self.tables, floats),
            "theta": _or_all(self.frequencies, [dtype for dtype in ("f32", "f64") if dtype in floats]),
            "positions": _or_all(self.positions, integers),
            "pairings": list(self.pairings),
            "sources": list(self.sources),
            "half_tables": "half" in self.table_widths,
            "full_tables": "full" in self.table_widths,
            "scalings": list(self.scalings),
            "features": list(features),
            "alignment": max(self.alignment, library.alignment),
            "max_position": min(self.max_position, library.largest_position),
            "head_dims": list(self.head_dims),
            "least_rotary_dim": self.least_rotary_dim,
            "base": self.base or 0,
            "seq_within_rows": self.seq_within_rows,
            "overwrites_inputs": self.overwrites_inputs,
            "theta_as_period": self.theta_as_period,
            "device": library.device,
        }


def _or_all(chosen: tuple[str, ...] | None, every: list[str]) -> list[str]:
    return every if chosen is None else list(chosen)


def declares_claims(kernel: Callable[..., Any]) -> bool:
    """Whether it has the decorator."""
    return isinstance(getattr(kernel, ATTRIBUTE, None), Capabilities)


def capabilities_of(kernel: Callable[..., Any]) -> Capabilities:
    """The decorator's claims; without a decorator all claims, for numpy arrays."""
    found = getattr(kernel, ATTRIBUTE, None)
    return found if isinstance(found, Capabilities) else Capabilities()


def _words(option: str, given: Words, known: tuple[str, ...]) -> tuple[str, ...]:
    words = (given,) if isinstance(given, str) else tuple(given)
    for word in words:
        if word not in known:
            raise UsageError(f'kernel({option}=...): "{word}" is not known; use {", ".join(known)}')
    return words


def _optional(option: str, given: Words | None, known: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if given is None else _words(option, given, known)


def _dtypes(given: Words | Mapping[str, Words] | None) -> dict[str, tuple[str, ...]] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return {dtype: (dtype,) for dtype in _words("dtypes", given, names.FLOATS)}
    _words("dtypes", given.keys(), names.FLOATS)
    return {dtype: _words("dtypes", returned, names.FLOATS) for dtype, returned in given.items()}


@dataclass(frozen=True)
class _Marker:
    capabilities: Capabilities = field(default_factory=Capabilities)

    def __call__(self, function: F) -> F:
        setattr(function, ATTRIBUTE, self.capabilities)
        return function


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(
    *,
    array: str = ...,
    dtypes: Words | Mapping[str, Words] | None = ...,
    tables: Words | None = ...,
    table_widths: Words = ...,
    frequencies: Words | None = ...,
    positions: Words | None = ...,
    pairings: Words = ...,
    sources: Words = ...,
    scalings: Words = ...,
    features: Words | None = ...,
    alignment: int = ...,
    max_position: int = ...,
    head_dims: Iterable[int] = ...,
    least_rotary_dim: int = ...,
    base: float | None = ...,
    seq_within_rows: bool = ...,
    overwrites_inputs: bool = ...,
    theta_as_period: bool = ...,
    first_call_seconds: float = ...,
    name: str = ...,
    device: str = ...,
) -> Callable[[F], F]: ...
def kernel(
    function: Any = None,
    /,
    *,
    array: str = "numpy",
    dtypes: Words | Mapping[str, Words] | None = None,
    tables: Words | None = None,
    table_widths: Words = names.TABLE_WIDTHS,
    frequencies: Words | None = None,
    positions: Words | None = None,
    pairings: Words = names.PAIRINGS,
    sources: Words = names.SOURCES,
    scalings: Words = names.SCALINGS,
    features: Words | None = None,
    alignment: int = 1,
    max_position: int = names.LARGEST_POSITION,
    head_dims: Iterable[int] = (),
    least_rotary_dim: int = 2,
    base: float | None = None,
    seq_within_rows: bool = False,
    overwrites_inputs: bool = False,
    theta_as_period: bool = False,
    first_call_seconds: float = 0.0,
    name: str = "",
    device: str = "cpu",
) -> Any:
    """Declares what a kernel can do, and which arrays it takes. What is not claimed is never tested. An argument that
    is left out claims everything, but `features` then leaves out "robust", "seqlen_offsets" and "cu_seqlens".

    A kernel is a function of one argument, `ropecheck.Call`. It returns q, or (q, k) if there is a k, as arrays of
    the same library. If `call.in_place`, it writes into them instead.

    :param array: "numpy", "torch" or "jax": the library whose arrays the call holds.
    :param dtypes: of q and k: "f64", "f32", "f16", "bf16". A mapping says which types come out, {"bf16": "f32"}. numpy
    bf16 comes from ml_dtypes. Without that package only a kernel that claims bf16 gets it, as uint16; see `call.dtype`.
    :param tables: dtypes of cos and sin, if `sources` has "tables".
    :param table_widths: "half" (a column for each pair) and "full" (a column for each feature).
    :param frequencies: dtypes of inv_freq, "f32" and "f64", if `sources` has "frequencies".
    :param positions: dtypes of positions, "i32" and "i64".
    :param pairings: "half_split" (p, p + rotary_dim/2), "interleaved" (2p, 2p + 1).
    :param sources: where angles come from: "tables", "frequencies" or "computed" (from base and scaling).
    :param scalings: the rules that the kernel knows, if it computes angles: "none", "linear", "yarn", ...
    :param features: any of "partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads",
        "backward", "axes", "attention_factor", "unequal_halves", "offset", "any_strides", "seqlen_offsets" (a start for
        each sequence), "cu_seqlens" (sequences packed into one row), "robust" (bad calls raise).
    :param alignment: bytes that every tensor must be aligned to.
    :param max_position: the largest claimed position.
    :param head_dims: the only claimed ones, odd ones with "partial"; empty: every even one.
    :param least_rotary_dim: the smallest claimed rotary_dim.
    :param base: the only claimed base, if the kernel computes angles; None: every base.
    :param seq_within_rows: there are at most as many tokens as tables have rows; without tables, as positions.
    :param overwrites_inputs: q and k may hold anything after a call that is not in place.
    :param theta_as_period: a given inv_freq is turned into a period, 1/theta, before it is used.
    :param first_call_seconds: how long the first call may take (compilers).
    :param name: in reports; default: the function's.
    :param device: "cpu", or "cuda": the tensors of torch and JAX are on the first CUDA device.
    """
    if array not in ARRAY_LIBRARIES:
        raise UsageError(f'kernel(array=...): "{array}" is not known; use {", ".join(ARRAY_LIBRARIES)}')
    if device not in DEVICES:
        raise UsageError(f'kernel(device=...): "{device}" is not known; use {", ".join(DEVICES)}')
    marker = _Marker(
        Capabilities(
            array=array,
            dtypes=_dtypes(dtypes),
            tables=_optional("tables", tables, names.FLOATS),
            table_widths=_words("table_widths", table_widths, names.TABLE_WIDTHS),
            frequencies=_optional("frequencies", frequencies, ("f32", "f64")),
            positions=_optional("positions", positions, names.INTEGERS),
            pairings=_words("pairings", pairings, names.PAIRINGS),
            sources=_words("sources", sources, names.SOURCES),
            scalings=_words("scalings", scalings, names.SCALINGS),
            features=_optional("features", features, names.FEATURES),
            alignment=int(alignment),
            max_position=int(max_position),
            head_dims=tuple(int(dim) for dim in head_dims),
            least_rotary_dim=int(least_rotary_dim),
            base=None if base is None else float(base),
            seq_within_rows=bool(seq_within_rows),
            overwrites_inputs=bool(overwrites_inputs),
            theta_as_period=bool(theta_as_period),
            first_call_seconds=float(first_call_seconds),
            name=name,
            device=device,
        )
    )
    return marker if function is None else marker(function)
