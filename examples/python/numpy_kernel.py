"""A rope kernel in numpy: half-split, the tables given.

    ropecheck verify python:numpy_kernel:rope
"""

import numpy as np

import ropecheck


@ropecheck.kernel(dtypes="f32", tables="f32", table_widths="half", sources="tables", pairings="half_split",
                  features=("positions", "batch_positions", "offset"))
def rope(call):
    positions = call.position_ids()
    cos, sin = (table[positions][:, :, None, :] for table in (call.cos, call.sin))
    first, second = np.split(call.q, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
