"""Kernels of torch for a CUDA device: a right one, one that goes outside its tensors, and one that ends its device."""

import torch
import torch_kernels

import ropecheck

CUDA = ropecheck.kernel(array="torch", device="cuda", dtypes="f32", tables="f32", table_widths="half", sources="tables",
                        pairings="half_split", features=("positions", "offset"))


@ropecheck.kernel(array="torch", device="cuda", table_widths="half", sources="tables", pairings="half_split",
                  features=("partial", "positions", "batch_positions", "in_place", "strided", "key", "grouped_heads",
                            "offset", "attention_factor"))
def right(call):
    assert call.device == "cuda"
    return torch_kernels.right(call)


def element_beside(x, offset):
    """One element, `offset` of them from the first of x."""
    return torch.as_strided(x, (1,), (1,), x.storage_offset() + offset)


@CUDA
def writes_before(call):
    result = torch_kernels.rotate(call.q, call)
    element_beside(call.q_out, -5000).zero_()
    return result


@CUDA
def writes_beyond(call):
    call.q_out.copy_(torch_kernels.rotate(call.q, call))
    element_beside(call.q_out, 8192).zero_()


@CUDA
def writes_input(call):
    result = torch_kernels.rotate(call.q, call)
    call.q[0, 0, 0, 3] = 7
    return result


@CUDA
def returns_input(call):
    return call.q


@CUDA
def returns_to_numpy(call):
    return torch_kernels.rotate(call.q, call).numpy()


def undeclared(call):
    return torch_kernels.right(call)
