"""Which wrong kernels are needed: the smallest set that notices every change of the suite that all of them notice.

A change of the suite is: some blocks of cases are off (blocks.py), all of a requirement or any others. A kernel notices
it if it fails only in these blocks: then it is accepted. So a kernel is needed if no other one fails only in a part of
its blocks: the hardest witness. A kernel is also needed

- if it has the bug of a real kernel: its line has a report's address, or its name is an entry of the catalogue.
- if a test asks for it by name, or the smoke tests judge it.
- if it is a row of the table of bugs: rows cost a line, and each is judged.
- if no other one has its stage and class: the diagnosis must tell it from the others.
- if without it a block, a requirement or a class would have no needed kernel. As few as possible are added for that.

kept.txt has a line for each needed kernel: LIBRARY#KERNEL : REASON. The reason `hardest` has the blocks behind it.
"""

import re
from dataclasses import dataclass

from .blocks import record
from .subjects import HERE, ROOT

COMMITTED = HERE / "kept.txt"
SETS = ("mutants", "designs")  # others are another way into the suite: Python, a device, a cheater
HARDEST, REPORT, FULL = "hardest: ", "report", "full"
ROWS = set(re.findall(r'^    \{"([A-Z0-9-]+)",', (HERE / "mutants/rows.cpp").read_text(encoding="utf-8"), re.MULTILINE))
ALONE_IN_STAGE = {"AXIS-KEY", "AXIS-OWN-SPECTRUM", "ERR-KEY-TYPE", "ERR-NARROW-OUTPUT", "FREQ-KEY-BASE",
                  "MEM-ALIGNED-DOWN", "MEM-BEFORE-FACTORS", "MEM-BEFORE-POSITIONS", "MEM-GAPS", "OFF-BEFORE",
                  "OFF-HEAD-FREQUENCY", "PAIR-GROUPED-KEY",
                  "SCALE-LONGEST-SEEN", "SIGN-SQUARE-ROOT", "SPC-MODE-KEPT", "TAB-LAST-ROW-REFUSED"}
USERS = ("tests/unit", "tests/kernels/CMakeLists.txt", "tests/kernels/judge_test.py", "docs")


@dataclass(frozen=True)
class Witness:
    name: str
    blocks: frozenset  # in which it fails
    classes: tuple
    requirements: tuple = ()  # that kernels.txt names
    is_reported: bool = False
    user: str = ""  # a file that asks for it by name
    other: str = ""  # row, diagnosis or smoke
    passes_quick: bool = False  # only level full rejects it, or nothing: its blocks tell nothing of level quick


def users():
    """{file: its text}"""
    paths = [path for top in USERS for path in [ROOT / top, *sorted((ROOT / top).rglob("*"))]]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
            for path in paths if path.suffix in (".cpp", ".hpp", ".py", ".md", ".txt")}


def user_of(kernel, files):
    named = re.compile(rf"(?<![\w/-]){re.escape(kernel)}(?![\w-])")
    return next((file for file, text in files.items() if kernel in text and named.search(text)), "")


def witness_of(subject, blocks, files):
    entry = subject.entry
    return Witness(subject.name, blocks, entry.classes, entry.requirements, entry.origin != "planted",
                   user_of(subject.kernel, files), other_reason(subject.kernel, entry),
                   bool(entry.passes) or not blocks)


def other_reason(kernel, entry):
    return ("row" if kernel in ROWS else "diagnosis" if kernel in ALONE_IN_STAGE else "smoke" if entry.smoke else "")


def hardest(witnesses):
    """{blocks: witness}. No other witness fails only in a part of these blocks. Of several with the same blocks, a
    reported one is taken, or the first."""
    first = {}
    for w in sorted(witnesses, key=lambda w: not (w.is_reported or w.user)):
        first.setdefault(w.blocks, w)
    return {blocks: w for blocks, w in first.items() if not any(other < blocks for other in first)}


def needed(witnesses):
    """{kernel: the reason}"""
    reasons = {w.name: FULL for w in witnesses if w.passes_quick}
    quick = [w for w in witnesses if not w.passes_quick]
    for blocks, w in hardest(quick).items():
        reasons[w.name] = HARDEST + ", ".join(sorted(blocks))
    reasons |= {w.name: REPORT for w in quick if w.is_reported and w.name not in reasons}
    reasons |= {w.name: f"asked for by {w.user}" for w in quick if w.user and w.name not in reasons}
    reasons |= {w.name: w.other for w in quick if w.other and w.name not in reasons}
    missing = set().union(*(seen_by(w) for w in quick)) - set().union(*(seen_by(w) for w in quick if w.name in reasons))
    while missing:
        best = max(quick, key=lambda w: (len(missing & seen_by(w)), -len(w.blocks)))
        reasons[best.name] = "only one left of " + ", ".join(sorted(missing & seen_by(best)))
        missing -= seen_by(best)
    return {w.name: reasons[w.name] for w in witnesses if w.name in reasons}


def seen_by(witness):
    return {*witness.blocks, *witness.requirements, *witness.classes}


def read(text):
    """{kernel: the reason}"""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: reason for name, _, reason in (line.partition(" : ") for line in lines)}


def write(reasons):
    head = ["# Wrong kernels that are needed, and what each is kept for; written by `judge.py BUILD --minimal`. See",
            "# judging/minimal.py.", ""]
    return "\n".join(head + [f"{name} : {reason}" for name, reason in reasons.items()]) + "\n"


def unneeded(entries, kept):
    """Problems: a wrong kernel without a reason, a reason without a kernel. `entries`: {set: {kernel: its entry}}."""
    wrong = {f"{of}.so#{name}": entry for of, of_set in entries.items() for name, entry in of_set.items()
             if not entry.right}
    found = [f"{name} has no reason in {COMMITTED.name}; `judge.py BUILD {name} --minimal` says whether it is needed. "
             "If not, cite a public report or leave it out" for name in wrong if name not in kept]
    found += [f"{name} is in {COMMITTED.name} and in no list; remove its line" for name in kept if name not in wrong]
    return found + [f"{name} is kept for a report, and cites none in kernels.txt" for name, reason in kept.items()
                    if reason == REPORT and name in wrong and wrong[name].origin == "planted"]


def harder_than(blocks, kept):
    """Of the needed kernels, by their reasons, one that fails only in these blocks, or None."""
    return next((name for name, reason in kept.items()
                 if reason.startswith(HARDEST) and blocks.issuperset(reason.removeprefix(HARDEST).split(", "))), None)


def compare(runner, subjects, kept, threads):
    """Prints whether each is needed next to the others in kept.txt. Returns problems."""
    needed_now = read(COMMITTED.read_text())
    blocks, problems = record(runner, subjects, kept, threads)
    for name, failing in blocks.items():
        others = {other: reason for other, reason in needed_now.items() if other != name}
        harder = harder_than(failing, others) if failing else None
        print(f"{name} is not needed: {harder} fails only in blocks where it fails" if harder else
              f"{name} is needed: no other one fails only in a part of {', '.join(sorted(failing)) or 'level full'}")
    return problems


def write_page(runner, known, kept, output, threads):
    """Writes what is needed, and prints what is not. Returns problems."""
    of_sets = [s for s in known if s.set.name in SETS and not s.entry.right]
    blocks, problems = record(runner, of_sets, kept, threads)
    if problems or runner.stopped:
        return problems
    files = users()
    witnesses = [witness_of(s, blocks.get(s.name, frozenset()), files) for s in of_sets]
    reasons = needed(witnesses)
    for w in witnesses:
        if w.name not in reasons:
            print(f"{w.name} is not needed: {harder_than(w.blocks, reasons)} fails only in blocks where it fails")
    output.write_text(write(reasons))
    print(f"{output}: {len(reasons)} of {len(witnesses)} wrong kernels are needed")
    return []
