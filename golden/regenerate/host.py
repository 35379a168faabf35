"""The machine that made the files. Another CPU may move a table entry by one unit: use --exact only on the same one."""

import hashlib
import json
import platform

import torch


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        return platform.processor() or "unknown"


def describe() -> dict:
    facts = {
        "machine": platform.machine(),
        "processor": _processor(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
    }
    text = json.dumps(facts, sort_keys=True)
    return facts | {"fingerprint": hashlib.sha256(text.encode()).hexdigest()[:16]}
