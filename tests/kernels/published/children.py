"""Each mutant is called in its own process: it may crash or hang, and some remember earlier calls."""

import os
import resource
import select
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field

from published.case import judge

TIME_LIMIT = 60  # seconds per process; the right kernel takes under two
FAULT = "fault in the rule itself"


@dataclass
class Child:
    kernel: str
    columns: list  # still to be judged
    pid: int = 0
    pipe: int = -1
    deadline: float = 0.0
    text: bytes = b""


@dataclass(frozen=True)
class Verdict:
    """What a column says of a kernel."""

    wrong: str | None  # why it rejects the kernel
    cases: int  # up to the one that rejects it


def work(pipe, kernel, columns, cases, applies):
    """Writes a line for each column: its index, how many cases it made, and why it rejects the kernel, or nothing."""
    for index, column in enumerate(columns):
        wrong, made = None, 0
        for case in cases[column]:
            if not applies(kernel, case):
                continue
            made += 1
            wrong = judge(case, kernel)
            if wrong:
                break
        os.write(pipe, f"{index}\t{made}\t{wrong.splitlines()[0] if wrong else ''}\n".encode())


def start(child, library, cases, applies, limit):
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child.pid = os.fork()
    if child.pid == 0:
        code = 0
        try:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what the C library says of a heap that a mutant spoilt
            work(writing, library.kernel(child.kernel), child.columns, cases, applies)
        except BaseException:  # pylint: disable=broad-except; nothing may return into the parent's code
            os.write(writing, f"{FAULT}\t0\t{traceback.format_exc()!r}\n".encode())
            code = 1
        finally:
            os._exit(code)
    os.close(writing)
    child.pipe, child.deadline, child.text = reading, time.monotonic() + limit, b""


def finished(child, how):
    """Reads the child's verdicts; the column at which it died rejects. Returns verdicts and remaining columns."""
    verdicts = {}
    for line in child.text.decode().splitlines():
        index, made, wrong = line.split("\t", 2)
        if index == FAULT:
            raise RuntimeError(f"{child.kernel}: {FAULT}: {wrong}")
        verdicts[child.columns[int(index)]] = Verdict(wrong or None, int(made))
    left = child.columns[len(verdicts) :]
    if left:
        verdicts[left[0]] = Verdict(how, 1)
    return verdicts, left[1:]


def end_of(child):
    """How the process ended, once its pipe is closed."""
    _, status = os.waitpid(child.pid, 0)
    os.close(child.pipe)
    if os.WIFSIGNALED(status):
        return f"crashes: {signal.Signals(os.WTERMSIG(status)).name}"
    return f"ends the process with exit code {os.WEXITSTATUS(status)}"


def judge_all(library, pending, cases, jobs, applies=lambda kernel, case: True, limit=TIME_LIMIT):
    """Yields (kernel, column, Verdict). `pending`: the columns to judge of each kernel. `applies(kernel, case)`: whether
    the kernel is asked this case. `limit`: seconds per process."""
    waiting = [Child(kernel, list(columns)) for kernel, columns in pending.items() if columns]
    running = []
    while waiting or running:
        while waiting and len(running) < jobs:
            child = waiting.pop(0)
            start(child, library, cases, applies, limit)
            running.append(child)
        timeout = max(0.0, min(child.deadline for child in running) - time.monotonic())
        ready, _, _ = select.select([child.pipe for child in running], [], [], timeout)
        for child in list(running):
            hung = time.monotonic() >= child.deadline
            if hung:
                os.kill(child.pid, signal.SIGKILL)
            elif child.pipe not in ready:
                continue
            else:
                read = os.read(child.pipe, 65536)
                child.text += read
                if read:
                    continue
            running.remove(child)
            how = end_of(child)
            verdicts, left = finished(child, f"no answer within {limit} s" if hung else how)
            for column, verdict in verdicts.items():
                yield child.kernel, column, verdict
            if left:
                waiting.append(Child(child.kernel, left))
