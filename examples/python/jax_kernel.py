"""A rope kernel in JAX: half-split, theta given, compiled.

    ropecheck verify python:jax_kernel:rope
"""

import jax
import jax.numpy as jnp

import ropecheck


@jax.jit
def turned(x, positions, theta):
    phi = (positions[..., None] * theta)[:, :, None, :]
    first, second = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    cos, sin = jnp.cos(phi), jnp.sin(phi)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)


@ropecheck.kernel(array="jax", dtypes=("f32", "bf16"), sources="frequencies", pairings="half_split",
                  features=("positions", "batch_positions", "offset"))
def rope(call):
    return turned(call.q, call.position_ids(), call.inv_freq)
