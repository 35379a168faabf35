"""Kernels in Python that break what they can, each at its first call or at every one; `python3 hostile_numpy.py` lists
them. Each is right but for the deed."""

import builtins
import ctypes
import gc
import os
import signal
import sys
import threading
import time

import numpy as np

KERNELS = []


def rotated(call):
    cos, sin = (table[call.position_ids()][:, :, None, :] for table in (call.cos, call.sin))
    first, second = np.split(call.q, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def hostile(function):
    KERNELS.append(function.__name__)
    if "ropecheck" not in sys.modules:  # it only lists
        return function
    import ropecheck
    return ropecheck.kernel(dtypes="f32", tables="f32", table_widths="half", sources="tables", pairings="half_split",
                            features=("positions",), head_dims=(8,), max_position=1024)(function)


def after(name, deed):
    """A kernel that does `deed(call)`, and then answers well."""
    def kernel(call):
        deed(call)
        return rotated(call)
    register(name, kernel)


def returning(name, change):
    """A kernel that returns `change(right result)`."""
    register(name, lambda call: change(rotated(call)))


def register(name, kernel):
    kernel.__name__ = kernel.__qualname__ = name
    globals()[name] = hostile(kernel)


def throw(error):
    raise error


def own_class(name, base, **members):
    return type(name, (base,), members)


UNPRINTABLE = own_class("Unprintable", Exception, __str__=lambda self: 1 / 0, __repr__=lambda self: 1 / 0)
NO_ROOM = own_class("no_room", Exception)
ODD_NAME = own_class("\x1b[31m\n", Exception)
LINKED = ValueError("a circle")
LINKED.__cause__ = own_class("Other", Exception)("of causes")
LINKED.__cause__.__context__ = LINKED


def deeper(depth):
    return deeper(depth + 1) + 1


def overflow():
    sys.setrecursionlimit(1 << 30)
    nested = None
    for _ in range(1 << 21):
        nested = [nested]
    return repr(nested)


def put_at_null():
    ctypes.memset(0, 1, 1)


def write_input(call):
    call.q.setflags(write=True)
    call.q[...] = 0


def write_table(call):
    call.cos.setflags(write=True)
    call.cos[...] = 0


def write_beyond(call):
    ctypes.memset(call.q_out.ctypes.data + call.q_out.nbytes, 1, 1 << 20)


def forever(*_):
    while True:
        pass


def patch_numpy(_):
    np.concatenate = np.split = np.zeros = np.ones_like = None


def patch_builtins(_):
    builtins.open = builtins.print = builtins.isinstance = None


def patch_json(_):
    sys.modules["json"].dumps = lambda *_, **__: "patched"


def leave_thread(_):
    threading.Thread(target=forever, daemon=True).start()


def leave_child(_):
    if os.fork() == 0:
        os.setsid()
        time.sleep(100)
        os._exit(0)


def fork_and_both_return(_):
    if process := os.fork():  # which one speaks first must not be by chance
        os.waitpid(process, 0)


def close_files(_):
    os.closerange(0, 1024)


def write_files(_):
    for file in range(1024):
        try:
            os.write(file, b"garbage\n")
        except OSError:
            pass


class Lazy:
    """An array whose values fail when they are read."""

    def __array__(self, *_, **__):
        raise RuntimeError("read too late")


class Endless:
    def __array__(self, *_, **__):
        forever()


class FalseArray(np.ndarray):
    """Says another shape than it has."""

    @property
    def shape(self):
        return (1, 2, 3)


for name, error in {
    "raise_value_error": ValueError("head_dim 8 is not for me"),
    "raise_base_exception": BaseException("base"),
    "raise_keyboard_interrupt": KeyboardInterrupt(),
    "raise_system_exit": SystemExit(0),
    "raise_system_exit_text": SystemExit("bye"),
    "raise_generator_exit": GeneratorExit(),
    "raise_stop_iteration": StopIteration(3),
    "raise_memory_error": MemoryError(),
    "raise_unprintable": UNPRINTABLE(),
    "raise_no_room": NO_ROOM("says the kernel"),
    "raise_odd_name": ODD_NAME("odd"),
    "raise_linked": LINKED,
    "raise_long": ValueError("x" * (1 << 22)),
    "raise_surrogate": ValueError("\ud800\0\x1b[31m"),
    "raise_group": ExceptionGroup("several", [ValueError(1), TypeError(2)]) if sys.version_info >= (3, 11) else
    ValueError("several"),
    "raise_broken_pipe": BrokenPipeError(32, "Broken pipe"),
    "raise_eof": EOFError("nothing more"),
    "raise_not_implemented": NotImplementedError("not yet"),
}.items():
    after(name, lambda _, error=error: throw(error))

for name, change in {
    "return_none": lambda y: None,
    "return_string": lambda y: "rotated",
    "return_number": lambda y: 1.0,
    "return_list": lambda y: y.tolist(),
    "return_pair": lambda y: (y, y),
    "return_many": lambda y: (y,) * 1000,
    "return_dict": lambda y: {"q": y},
    "return_class": lambda y: np.ndarray,
    "return_generator": lambda y: (each for each in y),
    "return_f64": lambda y: y.astype(np.float64),
    "return_integers": lambda y: y.astype(np.int64),
    "return_complex": lambda y: y.astype(np.complex64),
    "return_objects": lambda y: y.astype(object),
    "return_other_order": lambda y: y.astype(">f4"),
    "return_flat": lambda y: y.ravel(),
    "return_transposed": lambda y: np.swapaxes(y, 1, 3),
    "return_one_more": lambda y: y[None],
    "return_empty": lambda y: y[..., :0],
    "return_scalar": lambda y: y.sum(),
    "return_broadcast": lambda y: np.broadcast_to(y[..., :1], y.shape),
    "return_not_adjacent": lambda y: np.asfortranarray(y),
    "return_nan": lambda y: np.full_like(y, np.nan),
    "return_lazy": lambda y: Lazy(),
    "return_endless": lambda y: Endless(),
    "return_false_array": lambda y: y.view(FalseArray),
    "return_masked": lambda y: np.ma.masked_array(y, mask=True),
}.items():
    returning(name, change)

for name, deed in {
    "exit_at_once": lambda _: os._exit(3),
    "exit_in_thread": lambda _: threading.Thread(target=os._exit, args=(4,)).start() or time.sleep(1),
    "kill_itself": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "stop_itself": lambda _: os.kill(os.getpid(), signal.SIGSTOP),
    "abort": lambda _: os.abort(),
    "null_write": lambda _: put_at_null(),
    "recurse": lambda _: deeper(0),
    "overflow_stack": lambda _: overflow(),
    "allocate_all": lambda _: np.ones(1 << 46, dtype=np.uint8),
    "sleep": lambda _: time.sleep(100),
    "forever": forever,
    "write_input": write_input,
    "write_table": write_table,
    "write_beyond": write_beyond,
    "delete_arguments": lambda call: call.__dict__.clear(),
    "patch_numpy": patch_numpy,
    "patch_builtins": patch_builtins,
    "patch_json": patch_json,
    "drop_modules": lambda _: sys.modules.clear(),
    "set_error_mode": lambda _: np.seterr(all="raise"),
    "set_trace": lambda _: sys.settrace(lambda *_: throw(RuntimeError("traced"))),
    "handle_signals": lambda _: [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGTERM, signal.SIGSEGV)],
    "stop_collector": lambda _: (gc.disable(), gc.set_threshold(0)),
    "leave_thread": leave_thread,
    "leave_child": leave_child,
    "fork_and_both_return": fork_and_both_return,
    "close_files": close_files,
    "write_files": write_files,
    "print_much": lambda _: print("x" * (1 << 20), flush=True),
    "close_stdout": lambda _: (sys.stdout.close(), sys.stderr.close()),
    "change_folder": lambda _: (os.chdir("/"), sys.path.clear()),
    "set_environment": lambda _: os.environ.clear(),
}.items():
    after(name, deed)

register("return_input", lambda call: call.q)
KERNELS = sorted(set(KERNELS))

if __name__ == "__main__":
    print("\n".join(KERNELS))
