"""What a Python kernel claims to do: the decorator `kernel`, and the record that it leaves on a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, overload

from ropecheck import names
from ropecheck.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
Words = str | Iterable[str]
Scalings = Words | Mapping[str, Mapping[str, bool | Iterable[bool]]]

ATTRIBUTE = "__ropecheck__"
ARRAY_LIBRARIES = ("numpy", "torch", "jax")
DEVICES = ("cpu", "cuda")
# Claimed only by name: few kernels have them.
BY_NAME = ("robust", "seqlen_offsets", "cu_seqlens", "rotary_offset")
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
    required_features: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()  # empty: contiguous, with "strided" any
    axis_counts: tuple[int, ...] = ()  # empty: 1, with "axes" also 2 and 3
    axis_orders: tuple[str, ...] = ()  # empty: all
    modes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # the claimed values of a rule's parameter
    own_attention_factor: bool = False
    length_of_call: bool = False
    compiles_each_shape: bool = False
    first_call_seconds: float = 0.0
    name: str = ""
    device: str = "cpu"

    def __repr__(self) -> str:
        """What differs from the default."""
        usual = Capabilities()
        chosen = {one.name: getattr(self, one.name) for one in fields(self)
                  if getattr(self, one.name) != getattr(usual, one.name)}  # fmt: skip
        words = [f"{name}={value!r}" for name, value in chosen.items()]
        return f"Capabilities({', '.join(words)})"

    def claims(self, library: Any) -> dict[str, Any]:
        """The claims in the worker protocol's hello; `library` makes the arrays."""
        floats = [dtype for dtype in names.FLOATS if dtype in library.dtypes - library.unless_claimed]
        integers = [dtype for dtype in names.INTEGERS if dtype in library.dtypes]
        dtypes = self.dtypes if self.dtypes is not None else {dtype: (dtype,) for dtype in floats}
        features = self.features
        if features is None:
            features = tuple(feature for feature in EVERY_FEATURE if feature not in library.lacks and self._allows(feature))
        younger = {
            "required_features": list(self.required_features),
            "layouts": list(self.layouts),
            "axis_counts": list(self.axis_counts),
            "axis_orders": list(self.axis_orders),
            **{parameter: list(values) for parameter, values in self.modes.items()},
            "own_attention_factor": self.own_attention_factor,
            "length_of_call": self.length_of_call,
            "compiles_each_shape": self.compiles_each_shape,
        }
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
            **{claim: value for claim, value in younger.items() if value},
        }

    def _allows(self, feature: str) -> bool:
        """Whether another claim leaves calls that have the feature."""
        counted = feature == "offset" and "positions" in self.required_features
        return not (counted or (feature == "strided" and self.layouts))


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


def _flags(rule: str, given: Mapping[str, bool | Iterable[bool]]) -> dict[str, tuple[int, ...]]:
    """{"clamp_pairs": False} of yarn as {"yarn_clamp_pairs": (0,)}."""
    known = {name.removeprefix(f"{rule}_"): name for name in names.MODES if name in names.SCALING_PARAMETERS[rule]}
    claimed = {}
    for parameter, values in given.items():
        if parameter not in known:
            choices = ", ".join(known) or "it has none"
            raise UsageError(f'kernel(scalings=...): "{parameter}" is not a choice of {rule}; choices: {choices}')
        claimed[known[parameter]] = (int(values),) if isinstance(values, bool) else tuple(int(one) for one in values)
    return claimed


def _modes(scalings: Scalings) -> dict[str, tuple[int, ...]]:
    if not isinstance(scalings, Mapping):
        return {}
    return {name: values for rule, given in scalings.items() for name, values in _flags(rule, given).items()}


def _axis_counts(given: int | Iterable[int]) -> tuple[int, ...]:
    counts = (given,) if isinstance(given, int) else tuple(given)
    for count in counts:
        if count not in (1, 2, 3):
            raise UsageError(f"kernel(axis_counts=...): {count} is not 1, 2 or 3")
    return counts


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
    scalings: Scalings = ...,
    features: Words | None = ...,
    alignment: int = ...,
    max_position: int = ...,
    head_dims: Iterable[int] = ...,
    least_rotary_dim: int = ...,
    base: float | None = ...,
    seq_within_rows: bool = ...,
    overwrites_inputs: bool = ...,
    theta_as_period: bool = ...,
    required_features: Words = ...,
    layouts: Words = ...,
    axis_counts: int | Iterable[int] = ...,
    axis_orders: Words = ...,
    own_attention_factor: bool = ...,
    length_of_call: bool = ...,
    compiles_each_shape: bool = ...,
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
    scalings: Scalings = names.SCALINGS,
    features: Words | None = None,
    alignment: int = 1,
    max_position: int = names.LARGEST_POSITION,
    head_dims: Iterable[int] = (),
    least_rotary_dim: int = 2,
    base: float | None = None,
    seq_within_rows: bool = False,
    overwrites_inputs: bool = False,
    theta_as_period: bool = False,
    required_features: Words = (),
    layouts: Words = (),
    axis_counts: int | Iterable[int] = (),
    axis_orders: Words = (),
    own_attention_factor: bool = False,
    length_of_call: bool = False,
    compiles_each_shape: bool = False,
    first_call_seconds: float = 0.0,
    name: str = "",
    device: str = "cpu",
) -> Any:
    """Declares what a kernel can do, and which arrays it takes. What it cannot do is not tested. An argument that
    is left out claims everything, but `features` then leaves out "robust", "seqlen_offsets",
    "cu_seqlens" and "rotary_offset". Whatever
    is claimed, the plainest call is made: q without k, contiguous, out of place, positions from an offset of 0.
    `required_features`, `layouts` and `axis_counts` say which of this no call has.

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
    :param scalings: the rules that the kernel knows, if it computes angles: "none", "linear", "yarn", ... A mapping
        also says which choices of a rule it has, {"none": {}, "yarn": {"clamp_pairs": False}}.
    :param features: any of "partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads",
        "backward", "axes", "attention_factor", "unequal_halves", "offset", "any_strides". Only if named:
        "seqlen_offsets" (a start for each sequence), "cu_seqlens" (sequences packed into one row), "rotary_offset"
        (other features come first), "robust" (bad calls raise).
    :param alignment: bytes that every tensor must be aligned to.
    :param max_position: the largest claimed position.
    :param head_dims: the only claimed ones, odd ones with "partial"; empty: every even one.
    :param least_rotary_dim: the smallest claimed rotary_dim.
    :param base: the only claimed base, if the kernel computes angles; None: every base.
    :param seq_within_rows: there are at most as many tokens as tables have rows; without tables, as positions.
    :param overwrites_inputs: q and k may hold anything after a call that is not in place.
    :param theta_as_period: a given inv_freq is turned into a period, 1/theta, before it is used.
    :param required_features: claimed features that every call has: "positions", "in_place", "key".
    :param layouts: the only layouts of q, k and outputs: "contiguous", "heads_first" ([batch, heads, seq, head_dim]),
        "packed" (q's heads, then k's, then v's, in each token). "strided" is not claimed then.
    :param axis_counts: the only numbers of position axes, such as 3.
    :param axis_orders: the only orders in which pairs follow the axes: "chunked", "interleaved", "spread",
        "others_first".
    :param own_attention_factor: the kernel makes the attention factor from the rule; the call's never differs.
    :param length_of_call: under a rule that follows it, `sequence_length` is the call's largest position + 1.
    :param compiles_each_shape: the first call with each shape may take as long as the first call of all.
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
            modes=_modes(scalings),
            required_features=_words("required_features", required_features, names.REQUIRABLE),
            layouts=_words("layouts", layouts, names.LAYOUTS),
            axis_counts=_axis_counts(axis_counts),
            axis_orders=_words("axis_orders", axis_orders, names.AXIS_ORDERS),
            own_attention_factor=bool(own_attention_factor),
            length_of_call=bool(length_of_call),
            compiles_each_shape=bool(compiles_each_shape),
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
