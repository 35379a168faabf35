#!/usr/bin/env python3
"""A worker that lies once: hostile_worker.py NAME, or without a name: lists all lies.

HELLOS are lies of the first line. ANSWERS are lies about the third call of a process; all others are answered well.
"""

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "unit" / "worker"))
import page_worker  # noqa: E402

LYING_CALL = 3  # the first one is asked before any requirement, and is not judged
LONG = 100  # seconds: longer than every deadline
CLAIMS = {"dtypes": {"f32": ["f32"]}, "tables": ["f32"], "pairings": ["half_split"], "sources": ["tables"],
          "half_tables": True, "max_position": 64, "head_dims": [8]}  # fmt: skip
HELLO = {"v": 1, "op": "hello", "name": "hostile", "claims": CLAIMS}
ABSENT = object()


def line(value):
    return json.dumps(value).encode() + b"\n"


def changed(value, changes):
    return {key: item for key, item in {**value, **changes}.items() if item is not ABSENT}


def hello(**changes):
    return line(changed(HELLO, changes))


def claims(**changes):
    return hello(claims=changed(CLAIMS, changes))


def nested(depth, opening=b"[", closing=b"]"):
    return opening * depth + closing * depth


def slowly(worker):
    for byte in hello():
        worker.send(bytes([byte]))
        time.sleep(0.001)


def without_end(worker):
    while True:
        worker.send(b"x" * (1 << 16))


def close(worker):
    os.close(worker.protocol)
    time.sleep(LONG)


def stop(_):
    os.kill(os.getpid(), signal.SIGSTOP)


WELL, TEXT = hello().strip(), hello().decode().strip()

# What is sent instead of hello, or a function of the worker. The process then waits, unless it has ended itself.
HELLOS = {
    "nothing": b"",
    "end": lambda _: os._exit(0),
    "end_with_7": lambda _: os._exit(7),
    "killed": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "stopped": stop,
    "exception": lambda _: 1 / 0,
    "closed": close,
    "slowly": slowly,
    "line_without_end": without_end,
    "words": b"Hello, I am a kernel\n",
    "half_a_line": WELL[:40],
    "half_a_line_and_end": lambda worker: (worker.send(WELL[:40]), os._exit(0)),
    "empty_lines": b"\n\n\n" + hello(),
    "spaces": b"   \t \n",
    "binary": bytes(range(1, 256)) + b"\n",
    "zero_bytes": b"\0" * 100 + b"\n",
    "zero_in_name": hello(name="a\0b"),
    "bad_utf8": WELL.replace(b"hostile", b"\xff\xc0\x80") + b"\n",
    "half_a_surrogate": WELL.replace(b"hostile", b"\\ud800") + b"\n",
    "byte_order_mark": b"\xef\xbb\xbf" + hello(),
    "utf16": TEXT.encode("utf-16") + b"\n",
    "array": b"[1]\n",
    "string": b'"hello"\n',
    "number": b"1\n",
    "null": b"null\n",
    "deep_arrays": b'{"v":' + nested(100_000) + b"}\n",
    "deep_objects": nested(100_000, b'{"v":', b"}") + b"\n",
    "two_mebibytes": hello(claims_note="x" * (1 << 21)),
    "two_in_a_line": WELL + WELL + b"\n",
    "two_lines": hello() + hello(),
    "duplicate_keys": WELL.replace(b'"v": 1', b'"v": 1, "v": 2') + b"\n",
    "trailing_comma": WELL[:-1] + b",}\n",
    "trailing_words": WELL + b" and more\n",
    "single_quotes": WELL.replace(b'"', b"'") + b"\n",
    "comment": b"/* hello */" + hello(),
    "nan": claims(max_position=float("nan")),
    "infinity": claims(max_position=float("inf")),
    "number_too_large": WELL.replace(b'"v": 1', b'"v": 1e999') + b"\n",
    "no_v": hello(v=ABSENT),
    "v_string": hello(v="1"),
    "v_2": hello(v=2),
    "v_minus_1": hello(v=-1),
    "v_half": hello(v=1.5),
    "v_2_64": hello(v=1 << 64),
    "no_op": hello(op=ABSENT),
    "op_number": hello(op=5),
    "op_call": hello(op="call"),
    "op_bye": hello(op="bye"),
    "refused": line({"v": 1, "op": "refused", "msg": "the moon is full"}),
    "refused_silently": line({"v": 1, "op": "refused"}),
    "refused_with_number": line({"v": 1, "op": "refused", "msg": 7}),
    "answer_first": line({"id": 1, "ok": True}),
    "fault_first": line({"id": 1, "fault": {"sig": 11}}),
    "no_name": hello(name=ABSENT),
    "name_number": hello(name=5),
    "name_long": hello(name="x" * 200_000),
    "name_with_number_sign": hello(name="a#b"),
    "name_with_escapes": hello(name="bell\a\x1b[31m\u202e"),
    "name_empty": hello(name=""),
    "kind_number": hello(kind=5),
    "beside_string": hello(beside="yes"),
    "base_and_slot_absurd": hello(base=-1, slot=0),
    "slot_string": hello(base="here", slot="there"),
    "far_untrue": hello(far=True),
    "packed_untrue": hello(packed=True),
    "beside_untrue": hello(beside=True),
    "first_call_negative": hello(first_call_s=-1),
    "first_call_of_a_day": hello(first_call_s=86400),
    "first_call_string": hello(first_call_s="soon"),
    "note_number": hello(claims_note=5),
    "no_claims": hello(claims=ABSENT),
    "claims_null": hello(claims=None),
    "claims_array": hello(claims=[CLAIMS]),
    "claims_string": hello(claims="everything"),
    "claims_empty": hello(claims={}),
    "no_dtypes": claims(dtypes=ABSENT),
    "dtypes_string": claims(dtypes="f32"),
    "dtypes_unknown": claims(dtypes={"f31": ["f31"]}),
    "dtypes_empty": claims(dtypes={}),
    "dtypes_integer": claims(dtypes={"i32": ["i32"]}),
    "outputs_unknown": claims(dtypes={"f32": ["f31"]}),
    "no_pairings": claims(pairings=ABSENT),
    "pairings_unknown": claims(pairings=["thirds"]),
    "pairings_numbers": claims(pairings=[0]),
    "no_sources": claims(sources=ABSENT),
    "sources_unknown": claims(sources=["stars"]),
    "sources_without_tables": claims(tables=ABSENT),
    "sources_without_theta": claims(sources=["frequencies"]),
    "no_table_width": claims(half_tables=ABSENT),
    "half_tables_string": claims(half_tables="yes"),
    "features_unknown": claims(features=["flight"]),
    "features_object": claims(features={"partial": True}),
    "features_many": claims(features=["partial"] * 50_000),
    "max_position_negative": claims(max_position=-1),
    "max_position_2_70": claims(max_position=1 << 70),
    "max_position_half": claims(max_position=0.5),
    "max_position_string": claims(max_position="far"),
    "alignment_3": claims(alignment=3),
    "alignment_2_40": claims(alignment=1 << 40),
    "alignment_negative": claims(alignment=-4),
    "head_dims_negative": claims(head_dims=[-8]),
    "head_dims_zero": claims(head_dims=[0]),
    "head_dims_2_31": claims(head_dims=[1 << 31]),
    "head_dims_many": claims(head_dims=list(range(2, 200_002, 2))),
    "head_dims_strings": claims(head_dims=["8"]),
    "head_dims_nested": claims(head_dims=[[8]]),
    "head_dims_number": claims(head_dims=8),
    "head_dims_empty": claims(head_dims=[]),
    "least_rotary_dim_large": claims(least_rotary_dim=1 << 30),
    "device_unknown": claims(device="abacus"),
    "device_number": claims(device=1),
    "base_string": claims(base="ten thousand"),
    "scalings_unknown": claims(scalings=["wishful"], sources=["computed"]),
}


def answer(**fields):
    return lambda worker, call: worker.send(line({"id": worker.now, **fields}))


def right_then(*after):
    """A right result, then other words in place of the answer."""
    def lie(worker, call):
        worker.compute(call)
        for each in after:
            worker.send(each) if isinstance(each, bytes) else each(worker, call)
    return lie


def fine(**changes):
    """A right result, and an answer with some fields changed."""
    def lie(worker, call):
        worker.compute(call)
        worker.send(line(changed({"id": worker.now, "ok": True, "status": 0}, changes)))
    return lie


def shifted(by):
    return lambda worker, call: (worker.compute(call), worker.send(line({"id": worker.now + by, "ok": True})))


def as_bytes(pattern):
    return lambda worker, call: worker.send(pattern % worker.now)


def with_outputs(act):
    return lambda worker, call: (worker.compute(call), act(worker.files["outputs"]), worker.send(
        line({"id": worker.now, "ok": True})))


def wait(*_):
    time.sleep(LONG)


def kill(number):
    return lambda *_: os.kill(os.getpid(), number)


def error(**fields):
    return answer(ok=False, error=fields)


def fault(**fields):
    return answer(fault=fields)


# What the lying call does.
ANSWERS = {
    "id_next": shifted(1),
    "id_last": shifted(-1),
    "id_far": shifted(1 << 40),
    "id_absent": fine(id=ABSENT),
    "id_null": fine(id=None),
    "id_string": fine(id="1"),
    "id_half": fine(id=0.5),
    "id_2_64": fine(id=1 << 64),
    "id_negative": fine(id=-1),
    "answers_two": right_then(answer(ok=True), answer(ok=True)),
    "answers_many": right_then(lambda worker, _: worker.send(line({"id": worker.now, "ok": True}) * 50_000), wait),
    "answers_early": lambda worker, _: [worker.send(line({"id": worker.now + i, "ok": True})) for i in range(9)],
    "answers_none": wait,
    "answers_late": lambda worker, call: (time.sleep(1.5), fine()(worker, call)),
    "half_an_answer": lambda worker, _: (worker.send(b'{"id":%d,"ok":tr' % worker.now), wait()),
    "half_an_answer_and_end": lambda worker, _: (worker.send(b'{"id":%d,"ok":tr' % worker.now), os._exit(0)),
    "two_halves": lambda worker, call: (worker.compute(call), worker.send(b'{"id":%d,' % worker.now),
                                        time.sleep(0.05), worker.send(b'"ok":true}\n')),
    "empty_lines_between": right_then(b"\n\n\n", answer(ok=True)),
    "words_as_answer": right_then(b"(core dumped)\n"),
    "binary_as_answer": right_then(bytes(range(1, 256)) + b"\n"),
    "bad_utf8_as_answer": as_bytes(b'{"id":%d,"ok":false,"error":{"raised":"\xff\xfe","msg":"\xc0"}}\n'),
    "zero_bytes_as_answer": right_then(b"\0" * 4096 + b"\n"),
    "array_as_answer": right_then(b"[]\n"),
    "number_as_answer": right_then(b"0\n"),
    "deep_answer": right_then(b'{"id":' + nested(100_000) + b"}\n"),
    "deep_error": as_bytes(b'{"id":%d,"ok":false,"error":' + nested(100_000) + b"}\n"),
    "long_answer": right_then(b'{"x":"' + b"x" * (1 << 21) + b'"}\n'),
    "endless_answer": lambda worker, _: without_end(worker),
    "nan_as_status": fine(status=float("nan")),
    "ok_absent": fine(ok=ABSENT),
    "ok_null": fine(ok=None),
    "ok_string": fine(ok="perhaps"),
    "ok_1": fine(ok=1),
    "status_7": fine(status=7),
    "status_2_32": fine(status=1 << 32),
    "status_2_64": fine(status=1 << 64),
    "status_half": fine(status=0.5),
    "status_string": fine(status="fine"),
    "status_minus_1": fine(status=-1),
    "status_object": fine(status={}),
    "time_negative": fine(ns=-1),
    "time_string": fine(ns="quick"),
    "time_infinite": fine(ns=float("inf")),
    "time_1e300": fine(ns=1e300),
    "breach_of_its_own": fine(breach="I wrote to the moon"),
    "breach_number": fine(breach=7),
    "error_string": answer(ok=False, error="it failed"),
    "error_absent": answer(ok=False),
    "error_null": answer(ok=False, error=None),
    "error_empty": error(),
    "error_number": error(type=5, msg=6),
    "error_long": error(raised="E", msg="x" * 900_000),
    "error_with_escapes": error(raised="bell\a\x1b[31m", msg="\x1b]0;title\a\u202e"),
    "error_trace_list": error(raised="E", msg="m", trace=["a"], at=7),
    "error_no_room": error(type="no_room", msg="no memory for the tensors"),
    "error_raised_no_room": error(raised="no_room", msg="says the kernel"),
    "error_unsupported": error(type="unsupported", msg="not on Fridays"),
    "error_in_adapter": error(raised="E", msg="m", in_adapter="yes"),
    "cannot_run": error(type="x", cannot_run="the moon is full; wait"),
    "cannot_run_number": error(type="x", cannot_run=7),
    "fault_of_its_own": fault(sig=11, addr="0x0", write=True),
    "fault_0": fault(sig=0),
    "fault_10000": fault(sig=10000),
    "fault_string": fault(sig="SEGV"),
    "fault_address_odd": fault(sig=11, addr="somewhere"),
    "fault_without_signal": fault(addr="0x10"),
    "fault_is_number": answer(fault=11),
    "fault_module_long": fault(sig=11, module="x" * 500_000, off="0x1"),
    "ended": answer(ended="cuCtxSynchronize: lost"),
    "ended_number": answer(ended=7),
    "hello_again": right_then(hello()),
    "refuses_later": right_then(line({"op": "refused", "msg": "the device was taken away"})),
    "bye": right_then(line({"op": "bye"})),
    "closes": lambda worker, _: close(worker),
    "ends_with_0": lambda *_: os._exit(0),
    "ends_with_3": lambda *_: os._exit(3),
    "raises": lambda *_: 1 / 0,
    "kills_itself": kill(signal.SIGKILL),
    "stops_itself": kill(signal.SIGSTOP),
    "segfaults": kill(signal.SIGSEGV),
    "shrinks_outputs": with_outputs(lambda file: os.ftruncate(file, 0)),
    "grows_outputs": with_outputs(lambda file: os.ftruncate(file, 1 << 40)),
    "writes_beyond_outputs": with_outputs(lambda file: os.pwrite(file, b"x" * 4096, 1 << 30)),
    "writes_all_outputs": with_outputs(lambda file: os.pwrite(file, struct.pack("=f", 1e9) * 4096, 0)),
    "writes_nothing": answer(ok=True),
    "prints_an_answer": right_then(lambda worker, _: print('{"id":1,"ok":false}', flush=True), answer(ok=True)),
    "floods_stderr": right_then(lambda *_: sys.stderr.write("x" * (1 << 24)), answer(ok=True)),
}  # fmt: skip


class Hostile(page_worker.Worker):
    calls = 0

    def hello(self):
        lie = HELLOS.get(sys.argv[1], hello())
        if callable(lie):
            lie(self)
        else:
            self.send(lie)

    def compute(self, call):
        page_worker.Worker.run(self, call)

    def answer(self, message):
        self.now = message["id"]
        self.calls += 1
        if sys.argv[1] in HELLOS or self.calls != LYING_CALL:
            super().answer(message)
            return
        if "attrs" in message:
            self.plans = {message["plan"]: message}
        ANSWERS[sys.argv[1]](self, self.plans[message["plan"]])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print("\n".join([*HELLOS, *ANSWERS]))
        sys.exit()
    Hostile(os.environ["ROPECHECK_WORKER"]).serve()
