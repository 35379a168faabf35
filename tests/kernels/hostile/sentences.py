"""The lists of sentences, and what a report says instead of them."""

import re
from dataclasses import dataclass

FINDING, REFUSED, HARMLESS = "finding", "refused", "harmless"
ENDS = (FINDING, REFUSED, HARMLESS)


@dataclass(frozen=True)
class Outcome:
    """How an attack ended. `sentence`: of the report; of a list also with * for any text, and | between choices."""

    end: str
    sentence: str = ""

    def __str__(self):
        return f"{self.end}: {' '.join(self.sentence.split())}"

    def is_as(self, expected):
        """`expected`: of a list. Its sentence is a part of this one. Of a harmless deed it is only the reason."""
        if self.end != expected.end:
            return False
        if self.end == HARMLESS:
            return True
        said = " ".join(self.sentence.split())  # a list has one line for each
        choices = ("".join(".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", choice.strip()))
                   for choice in expected.sentence.split("|"))
        return any(re.search(choice, said) for choice in choices)


def read(text, name):
    """The Outcome of each attack: lines NAME END : SENTENCE. Raises ValueError."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = re.match(r"(\S+)\s+(\S+)\s+: (\S.*)$", line)
        if not words or words[2] not in ENDS or words[1] in found:
            raise ValueError(f"{name}:{number}: expected NAME {'|'.join(ENDS)} : SENTENCE, each name once: {line}")
        found[words[1]] = Outcome(words[2], words[3])
    return found


def of_report(report):
    """The Outcome of every subject that the report names, by its whole name."""
    found = {}
    for subject in report["subjects"]:
        failures = [each["failure"]["message"] for each in subject["requirements"] if each["verdict"] == "fail"]
        found[subject["subject"]] = Outcome(FINDING, failures[0]) if failures else Outcome(HARMLESS)
    for refused in report.get("refused", []):
        found[refused["subject"]] = Outcome(REFUSED, refused["why"])
    return found


def problems(names, expected, outcomes):
    """In sentences. `names`: of all attacks, whose Outcomes these are; None: the attack is not in the report."""
    found = []
    for name, outcome in zip(names, outcomes):
        if outcome is None:
            found.append(f"{name}: the report does not name it")
        elif name not in expected:
            found.append(f"{name}: is not in the list; it ended as {outcome}")
        elif not outcome.is_as(expected[name]):
            found.append(f"{name}: ended as {outcome}; expected {expected[name]}")
    return found
