#!/usr/bin/env python3
"""One table: a kernel of the contract on a CUDA device, a copy of the same bytes, torch and the rope kernels of Triton.

    cuda_bench.py LIBRARY[#KERNEL] [--rounds N] [--seconds S] [--json FILE]          (needs torch)
    cuda_bench.py build/release/libropecheck_cuda.so

q is [1, 8192, 32, 128], k has 8 heads, half_split, base 10000. In each round every contender runs some times in a row,
each time on other tensors, while the host is ahead of the device. So events time only the device's work. The table
shows the medians over the rounds. Ratios are to the copy of the same dtype, 1 is as fast as copying. Before that the
results are compared with float64. Liger-Kernel and flash-attention take part if Python finds them.
With --device cpu the script runs without a device, with a library for the CPU. Its figures mean little, and torch
compiles nothing.

Exit codes: 0 measured, 1 a contender's results are wrong, 2 usage, 3 no device or no such kernel.
"""

import argparse
import ctypes
import importlib.util
import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

try:
    import torch
except ImportError:
    sys.exit(__doc__)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "python"))
import rope_kernel as rope  # noqa: E402

HEADS, KEY_HEADS, DIM, BASE = 32, 8, 128, 10000.0
DTYPES = {"bf16": (torch.bfloat16, rope.BF16), "f32": (torch.float32, rope.F32)}
SETS = 3  # of tensors, 168 MB and 336 MB each: more than a device's cache holds
LAUNCHES = 12  # in a row
GROSS = 2e-2  # relative error of a whole result; tables in bf16 cost 2e-3, a wrong rotation 1


class Tensors:
    """q and k before and after, each time in one piece of memory, so that one copy moves both."""

    def __init__(self, dtype: torch.dtype, device: str, tokens: int):
        size = tokens * (HEADS + KEY_HEADS) * DIM
        self.given = torch.randn(size, device=device).to(dtype)
        self.result = torch.full_like(self.given, float("nan"))
        self.q, self.k = self.heads(self.given)
        self.q_out, self.k_out = self.heads(self.result)

    @staticmethod
    def heads(flat: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        queries = len(flat) // (HEADS + KEY_HEADS) * HEADS
        return flat[:queries].view(1, -1, HEADS, DIM), flat[queries:].view(1, -1, KEY_HEADS, DIM)


@dataclass
class Contender:
    name: str
    run: Callable[[int], object]  # on the tensors of that index; returns (q, k) if they lie elsewhere
    in_place: bool = False
    rotates: bool = True


def angles(device: str, tokens: int) -> torch.Tensor:
    theta = BASE ** (-torch.arange(0, DIM, 2, dtype=torch.float64, device=device) / DIM)
    return torch.outer(torch.arange(tokens, dtype=torch.float64, device=device), theta)


def angles_of(tensors: Tensors) -> torch.Tensor:
    return angles(tensors.q.device, tensors.q.shape[1])


def exact(q: torch.Tensor) -> torch.Tensor:
    phi = angles(q.device, q.shape[1])[None, :, None, :]
    first, second = q.double().chunk(2, dim=-1)
    return torch.cat((first * phi.cos() - second * phi.sin(), second * phi.cos() + first * phi.sin()), dim=-1)


def tensor_of(x: torch.Tensor, dtype: int) -> rope.Tensor:
    return rope.tensor(x.data_ptr(), dtype, x.shape, x.stride())


class Ours:
    """Calls of the kernel under test."""

    def __init__(self, library: rope.Library, name: str, device: str, stream: int | None, tokens: int):
        self.library, self.name, self.device, self.stream, self.tokens = library, name, device, stream, tokens
        phi = angles(device, tokens)
        self.cos, self.sin = phi.cos().float().contiguous(), phi.sin().float().contiguous()

    def call(self, tensors: Tensors, dtype: int, in_place: bool, computed: bool) -> rope.Call:
        call = rope.Call()
        call.q, call.k = tensor_of(tensors.q, dtype), tensor_of(tensors.k, dtype)
        out = (tensors.q, tensors.k) if in_place else (tensors.q_out, tensors.k_out)
        call.q_out, call.k_out = (tensor_of(x, dtype) for x in out)
        call.rotary_dim, call.sequence_length = DIM, self.tokens
        call.device = rope.CUDA if self.device == "cuda" else rope.CPU
        call.stream = self.stream
        if computed:
            call.angle_source, call.base = rope.COMPUTED, BASE
        else:
            call.table = rope.Table(self.cos.data_ptr(), self.sin.data_ptr(), rope.F32, DIM // 2, self.tokens, DIM // 2)
        return call

    def contender(self, sets: list[Tensors], dtype: int, in_place: bool, computed: bool) -> Contender:
        calls = [self.call(tensors, dtype, in_place, computed) for tensors in sets]
        apply = self.library.kernels[self.name].apply

        def run(index: int) -> None:
            if apply(ctypes.byref(calls[index])) != rope.OK:
                raise RuntimeError(f"{self.name} failed: {self.library.why_it_failed() or 'it does not say why'}")

        where = ", in place" if in_place else ""
        return Contender(f"{self.name}, {'angles computed' if computed else 'tables'}{where}", run, in_place)


def hugging_face(q, k, cos, sin):
    def rotated(x):
        half = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin

    return rotated(q), rotated(k)


def of_torch(sets: list[Tensors], dtype: torch.dtype) -> Iterator[Contender]:
    table = torch.cat((angles_of(sets[0]),) * 2, dim=-1)[None, :, None, :]
    cos, sin = table.cos().to(dtype), table.sin().to(dtype)
    yield Contender("torch, Hugging Face's formula", lambda i: hugging_face(sets[i].q, sets[i].k, cos, sin))
    if not sets[0].q.is_cuda:
        return
    compiled = torch.compile(hugging_face)
    yield Contender("torch.compile of it", lambda i: compiled(sets[i].q, sets[i].k, cos, sin))


def of_liger(sets: list[Tensors], dtype: torch.dtype) -> Iterator[Contender]:
    from liger_kernel.ops.rope import rope_forward

    phi = torch.cat((angles_of(sets[0]),) * 2, dim=-1)[None]
    cos, sin = phi.cos().to(dtype), phi.sin().to(dtype)

    def run(i: int) -> None:  # works in place if it is given [batch, seq, heads, dim] transposed
        rope_forward(sets[i].q.transpose(1, 2), sets[i].k.transpose(1, 2), cos, sin)

    yield Contender("Liger-Kernel, in place", run, in_place=True)


def of_flash_attention(sets: list[Tensors], dtype: torch.dtype) -> Iterator[Contender]:
    # Not imported by its name: the package imports an extension that this file does not need.
    folder = importlib.util.find_spec("flash_attn").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("rotary", Path(folder) / "ops" / "triton" / "rotary.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    phi = angles_of(sets[0])
    cos, sin = phi.cos().to(dtype), phi.sin().to(dtype)

    def on(i: int, inplace: bool):
        return tuple(module.apply_rotary(x, cos, sin, inplace=inplace) for x in (sets[i].q, sets[i].k))

    yield Contender("flash-attention, q and k one after the other", lambda i: on(i, False))
    yield Contender("the same, in place", lambda i: on(i, True), in_place=True)


def guests(sets: list[Tensors], dtype: torch.dtype) -> Iterator[Contender]:
    yield from of_torch(sets, dtype)
    for package, contenders in (("liger_kernel", of_liger), ("flash_attn", of_flash_attention)):
        if sets[0].q.is_cuda and importlib.util.find_spec(package) is not None:
            yield from contenders(sets, dtype)


def error_of(contender: Contender, tensors: Tensors) -> float:
    """Relative error of the whole of q, after one run on tensors that keep their values."""
    given = tensors.given.clone()
    tensors.result.fill_(float("nan"))
    results = contender.run(0)
    if contender.in_place:
        q = tensors.q
    else:
        q = tensors.q_out if results is None else results[0]
    q = q.double().clone()
    tensors.given.copy_(given)
    right = exact(tensors.q) if contender.rotates else tensors.q.double()
    return (torch.linalg.vector_norm(q - right) / torch.linalg.vector_norm(right)).item()


class DeviceClock:
    """Milliseconds of device time for each of LAUNCHES runs in a row."""

    def __init__(self) -> None:
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def __call__(self, launch: Callable[[], None], host_seconds: float) -> float:
        # The device waits while the host queues everything; otherwise the host's time would be measured with it.
        torch.cuda._sleep(int(4e9 * host_seconds) + 1_000_000)
        self.begin.record()
        launch()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) / LAUNCHES


def host_clock(launch: Callable[[], None], _host_seconds: float) -> float:
    start = time.perf_counter()
    launch()
    return (time.perf_counter() - start) * 1e3 / LAUNCHES


def measure(contenders: list[Contender], rounds: int, seconds: float, device: str) -> dict[str, dict[str, float]]:
    """{contender: milliseconds of the device, microseconds of the host for one run}, medians. No round begins after
    that many seconds."""
    clock = DeviceClock() if device == "cuda" else host_clock
    turn = itertools.count()
    device_times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    host_times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    end = time.monotonic() + seconds
    for number in range(rounds + 1):
        if number > 1 and time.monotonic() > end:
            break
        for contender in contenders:
            queueing = 0.0

            def launch(contender=contender) -> None:
                nonlocal queueing
                start = time.perf_counter()
                for _ in range(LAUNCHES):
                    contender.run(next(turn) % SETS)
                queueing = time.perf_counter() - start

            known = host_times[contender.name]
            milliseconds = clock(launch, known[-1] * LAUNCHES if known else 0.1)
            host_times[contender.name].append(queueing / LAUNCHES)
            if number > 0:  # the first round warms up caches and compilers
                device_times[contender.name].append(milliseconds)
    return {
        name: {"ms": statistics.median(times), "host_us": statistics.median(host_times[name][1:]) * 1e6}
        for name, times in device_times.items()
    }


def contenders_of(ours: Ours, name: str) -> tuple[list[Contender], list[Tensors]]:
    dtype, code = DTYPES[name]
    sets = [Tensors(dtype, ours.device, ours.tokens) for _ in range(SETS)]

    def copy(i: int) -> None:
        sets[i].result.copy_(sets[i].given)

    own = [ours.contender(sets, code, in_place, computed) for computed in (False, True) for in_place in (False, True)]
    return [Contender("copy", copy, rotates=False), *own, *guests(sets, dtype)], sets


def printed(measured: dict[str, dict[str, dict[str, float]]], in_place_bytes: dict[str, int]) -> None:
    names = list(measured)
    print("| |" + "".join(f" {name}, ms | TB/s | of copy | host, us |" for name in names))
    print("| --- |" + " --- | --- | --- | --- |" * len(names))
    for contender in measured[names[0]]:
        cells = ""
        for name in names:
            one, copy = measured[name][contender], measured[name]["copy"]
            rate = in_place_bytes[name] / one["ms"] / 1e9
            cells += f" {one['ms']:.4f} | {rate:.2f} | {copy['ms'] / one['ms']:.2f} | {one['host_us']:.0f} |"
        print(f"| {contender} |{cells}")


def kernel_of(subject: str) -> tuple[rope.Library, str]:
    path, _, wanted = subject.partition("#")
    library = rope.Library(path)
    name = wanted or next(iter(library.kernels), "")
    if name not in library.kernels:
        raise OSError(f"{path} has no kernel '{name}'; it has {', '.join(library.kernels) or 'none'}")
    return library, name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", metavar="LIBRARY[#KERNEL]")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after these no round begins")
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--json", type=Path, help="write the medians here")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    if options.rounds < 1 or options.tokens < 1:
        parser.error("--rounds and --tokens are 1 or more")
    if options.device == "cuda" and not torch.cuda.is_available():
        print("cuda_bench.py: torch sees no CUDA device", file=sys.stderr)
        return 3
    try:
        library, kernel = kernel_of(options.subject)
    except (OSError, AttributeError) as error:
        print(f"cuda_bench.py: {error}", file=sys.stderr)
        return 3
    stream = None
    if options.device == "cuda":
        torch.cuda.set_stream(torch.cuda.Stream())
        stream = torch.cuda.current_stream().cuda_stream
        driver = torch.cuda.get_device_properties(0)
        print(f"{driver.name}, {driver.multi_processor_count} multiprocessors, torch {torch.__version__}")
    ours = Ours(library, kernel, options.device, stream, options.tokens)
    measured, moved = {}, {}
    for name in DTYPES:
        contenders, sets = contenders_of(ours, name)
        for contender in contenders:
            error = error_of(contender, sets[0])
            if not error < GROSS:
                print(f"cuda_bench.py: {contender.name} in {name} is wrong, by {error:.2g} of the whole", file=sys.stderr)
                return 1
        measured[name] = measure(contenders, options.rounds, options.seconds / len(DTYPES), options.device)
        moved[name] = 2 * sets[0].given.nbytes
        del contenders, sets
    printed(measured, moved)
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
