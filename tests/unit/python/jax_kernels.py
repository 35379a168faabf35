"""Wrong kernels in JAX for the tests."""

import jax.numpy as jnp
import numpy as np

import ropecheck

F32 = ropecheck.kernel(array="jax", dtypes="f32", tables="f32", table_widths="half", sources="tables",
                       pairings="half_split", features=("positions", "offset"))


def addresses(dtype):
    """A kernel that tells where q lies; a failing case is shrunk to f32 where that is claimed."""

    @ropecheck.kernel(array="jax", dtypes=dtype, sources="tables", pairings="half_split", features=())
    def told(call):
        tensor = call._tensors["q"].bits().__array_interface__["data"][0]
        raise RuntimeError(f"q without a copy: {call.q.unsafe_buffer_pointer() == tensor}, of {call.q.dtype}")

    return told


addresses_f32, addresses_f16, addresses_bf16 = (addresses(dtype) for dtype in ("f32", "f16", "bf16"))


@F32
def returns_input(call):
    return call.q


@F32
def wrong_type(call):
    return np.array(call.q)


@F32
def wrong_dtype(call):
    return call.q.astype(jnp.float16)


@ropecheck.kernel(array="jax", dtypes="f64")
def wide(call):
    return call.q
