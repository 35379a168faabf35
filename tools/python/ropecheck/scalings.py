"""The scaling rules in the order of rope_scaling_kind, and the contract's names of their parameters.

Written from reference/scaling/rules.hpp by tools/python/scaling_pages.cpp.
"""

PARAMETERS = {
    "none": (),
    "linear": ("factor",),
    "ntk": ("factor",),
    "dynamic": ("factor", "original_max_position"),
    "yarn": ("factor", "original_max_position", "beta_fast", "beta_slow", "yarn_truncate", "yarn_clamp_pairs"),
    "longrope": ("factor", "original_max_position", "short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position"),
    "proportional": ("factor", "proportion"),
    "pixel": ("max_frequency",),
    "constant": (),
}

# Of the axes of positions, in the order of rope_axis_order.
AXIS_ORDERS = ("chunked", "interleaved", "spread", "others_first")
