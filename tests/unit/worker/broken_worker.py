#!/usr/bin/env python3
"""page_worker.py with one fault that ropecheck must survive: broken_worker.py FAULT [sometimes [OTHER_FAULT]].

With "sometimes" only the calls of STA-01, at a sequence_length of 1000, meet the fault, all others OTHER_FAULT, and few
claims are made. Each fault costs the start of an interpreter, and a run should take only seconds.
"""

import json
import os
import struct
import sys
import time

import page_worker


LITTLE = {
    "dtypes": {"f32": ["f32"]},
    "tables": ["f32"],
    "pairings": ["half_split"],
    "sources": ["tables"],
    "half_tables": True,
    "scalings": ["none"],
    "features": ["offset"],
    "max_position": 1024,
}


class Broken(page_worker.Worker):
    """Faults of the start; Calls has the faults of a call."""

    def hello(self):
        fault = sys.argv[1]
        if fault == "late":
            time.sleep(1.5)
        start = {
            "silent": lambda: time.sleep(1000),
            "no_json": lambda: self.send(b"Hello, I am a kernel\n"),
            "no_object": lambda: self.send(b"[1]\n"),
            "odd_types": lambda: self.send(b'{"v":"one","op":5}\n'),
            "deep": lambda: self.send(b'{"v":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"),
            "patient": lambda: self.say({"v": 1, "op": "hello", "name": "x", "claims": LITTLE, "first_call_s": 86400}),
            "half_hello": lambda: self.send(b'{"v":1,"op":"hel'),
            "other_version": lambda: self.say({"v": 2, "op": "hello", "claims": {}}),
            "no_claims": lambda: self.say({"v": 1, "op": "hello", "name": "page_worker"}),
            "odd_claims": lambda: self.say({"v": 1, "op": "hello", "claims": {"dtypes": {"f31": ["f31"]}}}),
            "wide_base": lambda: self.say({"v": 1, "op": "hello", "name": "x", "claims": LITTLE, "base": 1e30}),
            "claims_less": lambda: self.say({"v": 1, "op": "hello", "name": "x",
                                             "claims": LITTLE if "CLAIM_LESS" in os.environ else page_worker.CLAIMS}),
            "refuses": lambda: self.say({"v": 1, "op": "refused", "msg": "torch is missing: pip install torch"}),
            "raises": lambda: [][0],
            "closes_first": lambda: os.close(self.protocol),
        }.get(fault)
        if len(sys.argv) > 2:
            self.say({"v": 1, "op": "hello", "name": "broken_worker", "claims": LITTLE})
            return
        if start is None:
            super().hello()
            return
        start()
        if fault != "claims_less":
            time.sleep(1000)

    def run(self, call):
        if len(sys.argv) > 2 and call["attrs"]["sequence_length"] != 1000:
            getattr(self, sys.argv[3])(call) if len(sys.argv) > 3 else super().run(call)
        else:
            getattr(self, sys.argv[1])(call)

    # Each method is what one call does. `self.now` is its id.

    def answer(self, message):
        self.now = message["id"]
        super().answer(message)

    def late(self, call):
        super().run(call)

    def claims_less(self, call):
        super().run(call)

    def wrong_id(self, call):
        super().run(call)
        self.say({"id": self.now + 1, "ok": True})

    def twice(self, call):
        super().run(call)
        self.say({"id": self.now, "ok": True})

    def deep_answer(self, call):
        self.send(b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n")

    def never_reads(self, call):
        super().run(call)
        self.send(b"".join(b'{"id":%d,"ok":true}\n' % later for later in range(self.now, self.now + 100_000)))
        time.sleep(1000)

    def half_line(self, call):
        super().run(call)
        self.send(b'{"id":%d,"ok":tr' % self.now)
        time.sleep(1000)

    def half_line_and_end(self, call):
        self.send(b'{"id":%d,"ok":tr' % self.now)
        os._exit(0)

    def no_answer(self, call):
        time.sleep(1000)

    def nonsense(self, call):
        self.send(b"(core dumped)\n")

    def endless_line(self, call):
        self.send(b"x" * (1 << 21))

    def odd_answer(self, call):
        self.say({"id": self.now, "ok": "perhaps"})

    def odd_status(self, call):
        self.say({"id": self.now, "ok": True, "status": 7})

    def wide_status(self, call):
        super().run(call)
        self.say({"id": self.now, "ok": True, "status": 1 << 32})

    def half_status(self, call):
        super().run(call)
        self.say({"id": self.now, "ok": True, "status": 0.5})

    def raises_no_room(self, call):
        self.say({"id": self.now, "ok": False, "error": {"raised": "no_room", "msg": "says the kernel"}})

    def raises_unsupported(self, call):
        self.say({"id": self.now, "ok": False, "error": {"raised": "unsupported", "msg": "says the kernel"}})

    def odd_fault(self, call):
        self.say({"id": self.now, "fault": {"sig": 11, "addr": "somewhere"}})

    def exception(self, call):
        raise ValueError("head_dim 64 is not for me")

    def unsupported(self, call):
        raise page_worker.Refusal(page_worker.STATUS_UNSUPPORTED)

    def unsupported_by_name(self, call):
        self.say({"id": self.now, "ok": False, "error": {"type": "unsupported", "msg": "not on Fridays"}})

    def gives_up(self, call):
        self.say({"op": "refused", "msg": "the device was taken away"})

    def wrong_values(self, call):
        super().run(call)
        y = next(t for t in call["t"] if t["name"] == ("q" if call["attrs"]["in_place"] else "q_out"))
        if 0 not in y["shape"]:
            os.pwrite(self.files["outputs"], struct.pack("=f", 1e9), y["map"][0] + y["at"])

    def lacks_room(self, call):
        self.say({"id": self.now, "ok": False, "error": {"type": "no_room", "msg": "no memory for the tensors"}})

    def prints(self, call):
        super().run(call)
        for line in ({"id": self.now, "ok": False, "error": {"type": "printed"}}, {"op": "bye"}):
            print(json.dumps(line), flush=True)
            print(json.dumps(line), file=sys.stderr)

    def dies(self, call):
        print("no more", file=sys.stderr, flush=True)
        os._exit(3)

    def closes(self, call):
        os.close(self.protocol)
        time.sleep(1000)


if __name__ == "__main__":
    try:
        Broken(os.environ["ROPECHECK_WORKER"]).serve()
    finally:
        sys.stderr.flush()
