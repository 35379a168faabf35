"""Writes KILL_MATRIX.md from verdicts, and reads it."""

import re
import textwrap
from collections import Counter
from dataclasses import dataclass

REJECTS, NOT_CLAIMED, NOTHING = "●", "·", " "
ID = re.compile(r"([A-Z]+)-(\d\d)")
FENCE = "```text"
DEMANDED = "bitwise,batch-invariant"  # some mutants are wrong in the last bit only; the claims demand `robust`
AGAIN = "python3 tests/kernels/judge.py build/release --kill-matrix"


@dataclass
class Mutant:
    name: str
    description: str
    requirements: dict  # id: verdict, in the order of the report
    rules: dict  # column: why it rejects the mutant, or None
    named: str = ""  # the class that the diagnosis names first; empty: none

    def failed(self):
        return [requirement for requirement, verdict in self.requirements.items() if verdict == "fail"]

    def is_named_rightly(self):
        return self.named == self.description.split(":")[0]

    def rejecting_rules(self):
        return [column for column, why in self.rules.items() if why]


def symbol(verdict):
    return {"fail": REJECTS, "not_claimed": NOT_CLAIMED, "no_case": NOT_CLAIMED}.get(verdict, NOTHING)


def check_same_columns(mutants):
    for mutant in mutants[1:]:
        for what in ("requirements", "rules"):
            expected, found = list(getattr(mutants[0], what)), list(getattr(mutant, what))
            if expected != found:
                raise ValueError(
                    f"{mutant.name} was judged by other {what} than {mutants[0].name}: "
                    f"{sorted(set(expected) ^ set(found)) or 'in another order'}; remove the cache folder and run again"
                )


def families(requirements):
    """[(family, [number, ..]), ..] of ids in order."""
    groups = []
    for requirement in requirements:
        parts = ID.fullmatch(requirement)
        if not parts:
            raise ValueError(f"requirement {requirement}: expected FAMILY-NN; the head of the matrix has to be changed")
        family, number = parts.groups()
        if not groups or groups[-1][0] != family:
            groups.append((family, []))
        groups[-1][1].append(number)
    return groups


def letters(count):
    return [chr(ord("a") + i) for i in range(count)]


def matrix_lines(mutants):
    """Each requirement has three characters under its number; a family is at least as wide as its name."""
    groups = families(mutants[0].requirements)
    widths = [max(3 * len(numbers), len(family) + 1) for family, numbers in groups]
    name = max(len(mutant.name) for mutant in mutants)
    rules = letters(len(mutants[0].rules))

    def line(first, cells, last):
        middle = " ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths))
        return f"{first:<{name}}  {middle}| {last}".rstrip()

    lines = [line("", [family for family, _ in groups], "published rules")]
    lines.append(line("", ["".join(f"{number} " for number in numbers) for _, numbers in groups], " ".join(rules)))
    for mutant in mutants:
        verdicts = iter(mutant.requirements.values())
        cells = ["".join(f"{symbol(next(verdicts))}  " for _ in numbers) for _, numbers in groups]
        marks = " ".join(REJECTS if why else NOTHING for why in mutant.rules.values())
        lines.append(line(mutant.name, cells, marks))
    return lines


def read_matrix(text):
    """(requirement ids, {mutant: (failed, not claimed, letters of rejecting rules)}) of a rendered file."""
    block = text.split(FENCE + "\n", 1)[1].split("```", 1)[0].splitlines()
    head, numbers = block[0], block[1]
    bar = head.index("|")
    starts = [(match.start(), match.group()) for match in re.finditer(r"[A-Z]+", head[:bar])]
    columns = {}
    for match in re.finditer(r"\d\d", numbers[:bar]):
        family = [name for start, name in starts if start <= match.start()][-1]
        columns[match.start()] = f"{family}-{match.group()}"
    rules = {match.start(): match.group() for match in re.finditer(r"[a-z]", numbers[bar:])}
    rows = {}
    for row in block[2:]:
        padded = row.ljust(len(numbers))
        of = {mark: [r for at, r in columns.items() if padded[at] == mark] for mark in (REJECTS, NOT_CLAIMED)}
        marked = [letter for at, letter in rules.items() if padded[bar:].ljust(len(numbers))[at] == REJECTS]
        rows[row.split(" ")[0]] = (of[REJECTS], of[NOT_CLAIMED], marked)
    return list(columns.values()), rows


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def mutant_rows(mutants):
    for mutant in mutants:
        failed = mutant.failed()
        rules = f"{len(mutant.rejecting_rules())} of {len(mutant.rules)}"
        named = mutant.named if mutant.is_named_rightly() else f"**{mutant.named or 'none'}**"
        yield mutant.name, mutant.description, failed[0] if failed else "none", named, len(failed), rules


def requirement_rows(mutants):
    rejected_by = Counter(requirement for mutant in mutants for requirement in mutant.failed())
    for requirement in mutants[0].requirements:
        alone = [mutant.name for mutant in mutants if mutant.failed() == [requirement]]
        yield requirement, rejected_by[requirement], len(alone), ", ".join(alone)


def rule_rows(mutants, rules):
    of = {column: rule for rule in rules for column in rule["columns"]}
    for letter, column in zip(letters(len(of)), mutants[0].rules):
        rejected = sum(1 for mutant in mutants if mutant.rules[column])
        rule = of[column]
        yield letter, column, rejected, len(mutants) - rejected, rule["largest_position"], rule["source"]


def listed(names):
    return ", ".join(names) if names else "none"


PENDING = "- Planted since and not judged yet: "


def pending_in(text):
    """The mutants that a page lists as not judged yet."""
    lines = [line for line in text.splitlines() if line.startswith(PENDING)]
    return lines[0][len(PENDING) :].rstrip(".").split(", ") if lines else []


LEVELS = {"full": "level full", "quick": "level quick (at level full if quick accepts it)"}


def render(kernels, rules, right="none", pending=(), level="full"):
    """The whole page. The right kernel has a row, but is not in the totals. `pending`: mutants without a row."""
    check_same_columns(kernels)
    mutants = [kernel for kernel in kernels if kernel.name != right]
    unseen = [mutant.name for mutant in mutants if not mutant.failed()]
    accepted = [mutant.name for mutant in mutants if not mutant.rejecting_rules()]
    columns = len(kernels[0].rules)
    named = sum(1 for mutant in mutants if mutant.is_named_rightly())
    by_all = sum(1 for mutant in mutants if len(mutant.rejecting_rules()) == columns)
    lines = [
        "# Which requirement rejects which mutant",
        "",
        *textwrap.wrap(
            f"Written by `{AGAIN}{' --level full' if level == 'full' else ''}`; not to be edited."
            f" `ropecheck verify --require {DEMANDED}` judged each wrong kernel of `mutants.so` at {LEVELS[level]}. The"
            " rope tests that other projects publish judged it too: [published](published/README.md) says how.",
            width=120,
            break_long_words=False,
            break_on_hyphens=False,
        ),
        "",
        f"- {len(mutants)} mutants, {len(kernels[0].requirements)} requirements, {columns} columns of published rules.",
        f"- Rejected by no requirement: {listed(unseen)}.",
        f"- Accepted by every published rule: {len(accepted)}; rejected by every one: {by_all}.",
        f"- The class that the diagnosis names first is the right one for {named} of {len(mutants)}"
        f" ({100 * named / max(len(mutants), 1):.1f} %).",
        *([f"{PENDING}{', '.join(pending)}."] if pending else []),
        "",
        "## The mutants",
        "",
        "- `first`: the first requirement in the report that rejects it.",
        "- `named`: the class of bugs that the diagnosis names first, in bold if the mutant's class is another.",
        "- `of ours`, `of theirs`: how many requirements and published rules reject it.",
        "",
        *table(["mutant", "what it computes", "first", "named", "of ours", "of theirs"], mutant_rows(mutants)),
        "",
        "## The matrix",
        "",
        f"`{REJECTS}` rejects, `{NOT_CLAIMED}` not claimed and so not tested, nothing: lets it pass. Left of the bar",
        "our requirements, right of it the published rules by their letter.",
        "",
        FENCE,
        *matrix_lines(kernels),
        "```",
        "",
        "## What each requirement rejects",
        "",
        "`only it`: mutants that no other requirement rejects.",
        "",
        *table(["requirement", "rejects", "only it", "which"], requirement_rows(mutants)),
        "",
        "## What each published rule rejects",
        "",
        *table(["", "rule", "rejects", "accepts", "largest position", "source"], rule_rows(mutants, rules)),
        "",
        f"Accepted by every one of them: {listed(accepted)}.",
    ]
    return "\n".join(lines) + "\n"


def stale(text, kernels, requirements):
    """What a committed page lacks, or has in excess."""
    columns, rows = read_matrix(text)
    pending = pending_in(text)
    found = [f"{name} is not judged yet, and has a row" for name in pending if name in rows]
    for what, present, wanted in (("row", [*rows, *pending], kernels), ("column", columns, requirements)):
        found += [f"no {what} for {name}" for name in wanted if name not in present]
        found += [f"a {what} for {name}, which is no more" for name in present if name not in wanted]
    return found
