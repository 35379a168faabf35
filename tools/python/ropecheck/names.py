"""The words of tools/worker/protocol/PROTOCOL.md and of impls/include/rope_kernel.h, in the same order."""

from ropecheck.scalings import AXIS_ORDERS as AXIS_ORDERS
from ropecheck.scalings import PARAMETERS as SCALING_PARAMETERS

FLOATS = ("f64", "f32", "f16", "bf16")
INTEGERS = ("i32", "i64")
SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i64": 8}
PAIRINGS = ("half_split", "interleaved")
DIRECTIONS = ("forward", "backward")
SOURCES = ("tables", "frequencies", "computed")
TABLE_WIDTHS = ("half", "full")
SCALINGS = tuple(SCALING_PARAMETERS)
FEATURES = (
    "partial",
    "positions",
    "batch_positions",
    "in_place",
    "strided",
    "key",
    "grouped_heads",
    "backward",
    "axes",
    "attention_factor",
    "unequal_halves",
    "offset",
    "robust",
    "any_strides",
    "seqlen_offsets",
    "cu_seqlens",
    "rotary_offset",
)
REQUIRABLE = ("positions", "in_place", "key")  # features that every call may have
LAYOUTS = ("contiguous", "heads_first", "packed")
MODES = ("yarn_truncate", "yarn_clamp_pairs")  # parameters of rules that are 0 or 1
# Up to here the built-in kernels' angles are exact enough for f64; larger positions are not tried.
LARGEST_POSITION = 1 << 36
