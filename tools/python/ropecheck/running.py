"""verify, identify and replay from Python: runs the program as a child and turns its JSON into objects."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ropecheck import program
from ropecheck.errors import RopecheckError, SubjectError, UsageError
from ropecheck.report import Identification, Plan, Replay, Report
from ropecheck.terminal import Terminal

Subject = str | Callable[..., Any]
Words = str | Iterable[str]
Spec = Mapping[str, Any] | str | os.PathLike[str] | None

BAD_INPUT, NO_SUBJECT = 2, 3
TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def why_not_importable(function: Callable[..., Any]) -> str | None:
    """Why another process cannot import a function; None if it can."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None:
        return "it has no name of its own"
    if module == "__main__":
        return "it is defined in __main__"
    if "<" in name:
        return f"it is defined within a function ({name})"
    found: Any = sys.modules.get(module)
    if not getattr(found, "__file__", None):
        return f"its module {module} has no file"
    for part in name.split("."):
        found = getattr(found, part, None)
    return None if found is function else f"{module}:{name} is something else"


def _holds_cuda() -> bool:
    torch = sys.modules.get("torch")
    return bool(torch is not None and torch.cuda.is_initialized())


def _isolated_name(subject: Subject, isolate: bool | None) -> str | None:
    """The subject as the command takes it; None if it must run here."""
    if isinstance(subject, str):
        if isolate is False and not TARGET.fullmatch(subject):
            raise UsageError(f'isolate=False: "{subject}" is not a function of this process; give the function itself')
        return f"python:{subject}" if TARGET.fullmatch(subject) else subject
    if not callable(subject):
        raise UsageError(f"a {type(subject).__name__} is not a kernel; expected a function of one argument, or a name")
    reason = why_not_importable(subject)
    if isolate and reason is not None:
        raise UsageError(f"isolate=True: another process cannot import the kernel: {reason}; put it into a file")
    if isolate is False or reason is not None or (isolate is None and _holds_cuda()):
        return None
    return f"python:{subject.__module__}:{subject.__qualname__}"


def _words(given: Words) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True)
class _Ran:
    code: int
    out: str
    err: str
    isolated: bool
    name: str

    def said(self) -> str:
        without_digests = re.sub(r"^.*: sha256 [0-9a-f]{64}\n", "", self.err, flags=re.MULTILINE)
        return re.sub(r"^ropecheck: ", "", without_digests.strip())

    def check(self) -> None:
        """Raises if nothing was judged."""
        if self.code == NO_SUBJECT:
            raise SubjectError(self.said())
        if self.code == BAD_INPUT:
            raise UsageError(self.said() or self.out.strip())
        if self.code < 0 or self.code > 4:
            raise RopecheckError(f"ropecheck ended with exit status {self.code}: {self.said()}")


def _end(child: subprocess.Popen[Any]) -> None:
    """Kills the program; its workers die with it."""
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGKILL)
    child.wait()


def _run(subject: Subject, isolate: bool | None, convention: str | None, device: str | None, python: str | None,
         command: Callable[[str], list[str]], progress: Callable[[str], None] | None = None) -> _Ran:
    """Runs the program; `command` makes the words from the subject's name."""
    name = _isolated_name(subject, isolate)
    if name is not None and isolate is False:
        from ropecheck.loading import load

        subject, name = load(name.removeprefix("python:")), None
    environment = dict(os.environ)
    environment["ROPECHECK_PYTHON"] = python or sys.executable
    with contextlib.ExitStack() as stack:
        here = None
        if name is None:
            from ropecheck import conventions
            from ropecheck.in_process import KernelHere
            from ropecheck.serving import name_of
            from ropecheck.signature import check_signature

            kernel: Any = subject
            if not convention:
                check_signature(kernel)
            shown = name_of(kernel)
            here = stack.enter_context(
                KernelHere(conventions.adapt(kernel, convention) if convention else kernel, shown, device or "",
                           kernel))
            words = [*command(here.subject), "--sandbox", "off"]  # the relay has to reach this process
        else:
            if name.startswith("python:") and python is None:
                # This process found the function; the worker has to find it too.
                paths = [os.environ.get("PYTHONPATH", ""), *sys.path]
                environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
            words = command(name) + (["--convention", convention] if convention else [])
            words += ["--device", device] if device else []
        out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        shown = stack.enter_context(Terminal(err, progress)) if progress is not None else err
        # In its own process group: Ctrl-C goes to this process, which then ends the child.
        child = subprocess.Popen([str(program.path()), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=shown,
                                 env=environment, start_new_session=True)
        try:
            if here is not None:
                here.serve(child)
            child.wait()
        except BaseException:
            _end(child)
            raise
        if isinstance(shown, Terminal):
            shown.close()
        texts = []
        for file in (out, err):
            file.seek(0)
            text = file.read().decode(errors="replace")
            texts.append(_told_of_here(text, here.subject, here.name) if here is not None else text)
        return _Ran(child.returncode, texts[0], texts[1], here is None, here.name if here is not None else str(name))


def _told_of_here(text: str, relay: str, name: str) -> str:
    """Replaces the relay's command line by the kernel's name and a replay that works."""
    function = name if name.isidentifier() else "kernel"
    replayed = rf"ropecheck replay (\S+) --subject ['\"]?{re.escape(relay)}['\"]?"
    return re.sub(replayed, rf"ropecheck.replay({function}, \1)", text).replace(relay, name)


def _spec_words(spec: Spec, folder: Path) -> list[str]:
    if spec is None:
        return []
    if not isinstance(spec, Mapping):
        return ["--spec", os.fspath(spec)]
    (folder / "spec.json").write_text(json.dumps(spec))
    return ["--spec", str(folder / "spec.json")]


def _deadline_words(deadline: float | None, first_deadline: float | None) -> list[str]:
    words = [] if deadline is None else ["--deadline", str(deadline)]
    return words + ([] if first_deadline is None else ["--first-deadline", str(first_deadline)])


def verify(
    subject: Subject,
    *,
    convention: str | None = None,
    device: str | None = None,
    level: str = "quick",
    spec: Spec = None,
    pairing: str | None = None,
    dtypes: Words = (),
    seed: int = 1,
    require: Words = (),
    only: Words = (),
    diagnosis: bool = True,
    expected_failures: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    deadline: float | None = None,
    first_deadline: float | None = None,
    isolate: bool | None = None,
    python: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Judges a kernel: a function, "package.module:function", or any other subject of the command.

    An importable function runs in its own process, where a crash, a hang or a stray write is a finding. Here run: a
    lambda, a function of a notebook, and everything while this process holds a CUDA context. The report says which way
    was taken.

    :param convention: how the function is called, if it takes no `Call`: see `ropecheck list conventions`.
    :param device: "cuda" if a torch or JAX kernel's tensors are on a CUDA device, else "cpu"; default: as it declares.
    :param level: "quick" (about a second), "full" (ten) or "exhaustive".
    :param spec: the rope to judge, as a RopeSpec: {"head_dim": 128, "base": 500000}, or a RopeSpec's path. Default: all
        that the kernel claims.
    :param pairing: only "half_split" or only "interleaved".
    :param dtypes: only these, of "f64", "f32", "f16", "bf16".
    :param require: a grade ("A1") or what is otherwise only a SHOULD ("bitwise", "batch-invariant", "robust").
    :param only: requirements or families, "ROT-01" or "MEM".
    :param diagnosis: look for what a failing kernel computes instead.
    :param expected_failures: the file that lists known failures.
    :param jobs: how many requirements are judged at once; default: one on each CPU. The report is the same for every
        number. A kernel that runs in this process is judged by one job.
    :param deadline: seconds that a call may compute; `first_deadline`: the first call.
    :param isolate: True: in its own process; False: in this one; None: as described above.
    :param python: the interpreter of that process; default: this one.
    :param progress: takes what the command writes on a terminal while it runs: a line that is written over.
    :raises UsageError: the command does not accept an argument.
    :raises SubjectError: the kernel cannot be loaded.
    """
    with tempfile.TemporaryDirectory(prefix="ropecheck-") as name:
        folder = Path(name)
        reports = [folder / "report.json", folder / "report.md"]

        def command(subject_name: str) -> list[str]:
            words = ["verify", subject_name, "--level", level, "--seed", str(seed), "--json", str(reports[0]),
                     "--markdown", str(reports[1]), *_spec_words(spec, folder),
                     *_deadline_words(deadline, first_deadline)]
            for option, value in (("--dtype", dtypes), ("--require", require), ("--only", only)):
                if listed := _words(value):
                    words += [option, ",".join(listed)]
            if pairing is not None:
                words += ["--pairing", pairing]
            if not diagnosis:
                words.append("--no-diagnosis")
            if expected_failures is not None:
                words += ["--expected-failures", os.fspath(expected_failures)]
            if jobs is not None:
                words += ["--jobs", str(jobs)]
            return words

        ran = _run(subject, isolate, convention, device, python, command, progress)
        if ran.code == 3 or not reports[0].exists():  # a report of a refused kernel has no subject
            ran.check()
            raise RopecheckError(f"ropecheck left no report: {ran.said()}")
        texts = [file.read_text() for file in reports]
    data = json.loads(texts[0])
    if len(data["subjects"]) != 1:
        listed = ", ".join(one["subject"] for one in data["subjects"])
        raise UsageError(f"verify judges one kernel at a time; name one of {listed}")
    if not ran.isolated:
        relay = data["subjects"][0]["subject"]
        texts = [_told_of_here(text, relay, ran.name) for text in texts]
        data = json.loads(texts[0])
    return Report.of(data, ran.out, texts[1], ran.isolated)


def identify(
    subject: Subject,
    *,
    convention: str | None = None,
    device: str | None = None,
    spec: Spec = None,
    pairing: str | None = None,
    dtype: str | None = None,
    source: str | None = None,
    backward: bool = False,
    deadline: float | None = None,
    first_deadline: float | None = None,
    isolate: bool | None = None,
    python: str | None = None,
) -> Identification:
    """Measures from outside which rotation a kernel executes. Arguments are as in `verify`."""
    with tempfile.TemporaryDirectory(prefix="ropecheck-") as name:
        folder = Path(name)

        def command(subject_name: str) -> list[str]:
            words = ["identify", subject_name, "--json", str(folder / "plans.json"), *_spec_words(spec, folder),
                     *_deadline_words(deadline, first_deadline)]
            for option, value in (("--pairing", pairing), ("--dtype", dtype), ("--source", source)):
                words += [option, value] if value is not None else []
            return words + (["--backward"] if backward else [])

        ran = _run(subject, isolate, convention, device, python, command)
        ran.check()
        data = json.loads((folder / "plans.json").read_text())
    plans = tuple(Plan(each) for each in data["subjects"][0]["plans"])
    return Identification(ran.name, ran.isolated, plans, ran.out)


def replay(subject: Subject, case: str, *, convention: str | None = None, device: str | None = None,
           isolate: bool | None = None, python: str | None = None) -> Replay:
    """Runs one case again, `Failure.case` of a report."""
    def command(name: str) -> list[str]:
        return ["replay", case, "--subject", name]

    ran = _run(subject, isolate, convention, device, python, command)
    ran.check()
    return Replay(ran.code == 0, ran.out, case)
