"""kernels.txt: what each kernel of a folder is, and which verdict it must get. A line is

    NAME  right | wrong | CLASS[|CLASS..][+CLASS]  [WORD..]  [: what it does]

`wrong`: the library's description has the class and the sentence, "class: sentence". If several classes are given, any
is right; + separates the classes of two bugs in one kernel. The words:

    ROT-01 ..           wrong: each of these must reject it at level quick; without one, any may, at full if need be
    full                wrong: level quick accepts it, for the reason after the colon; level full must reject it
    unseen              wrong: no level rejects it yet, for the reason after the colon
    smoke               every run of the tests judges it
    bitwise             judged with --require bitwise,batch-invariant
    f64 f32 f16 bf16    judged in this dtype only
    in=LIBRARY          judged in this library only, of those that have it
    f32=A1 ..           right: the grade that must be measured, or grades separated by /, the worst first
    notes=ID,ID         right: SHOULDs that it need not meet; the name *: SHOULDs that no kernel of the folder need meet
"""

import dataclasses
import re

DTYPES = ("f64", "f32", "f16", "bf16")
REQUIREMENT = re.compile(r"[A-Z]+-\d\d")
CLASS = re.compile(r"[a-z0-9-]+([|+][a-z0-9-]+)*")
ANY = "*"


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    right: bool
    classes: tuple = ()  # any of them is right; empty: the library's description has it
    requirements: tuple = ()  # must reject it at level quick
    passes: str = ""  # "full": level quick accepts it; "unseen": every level does
    smoke: bool = False
    bitwise: bool = False
    dtype: str = ""
    library: str = ""  # the only one in which it is judged
    grades: dict = dataclasses.field(default_factory=dict)  # {dtype: grades separated by /}
    notes: frozenset = frozenset()
    sentence: str = ""

    @property
    def origin(self):
        """The kernel's origin: a public thread, an entry of the catalogue of real bugs, or "planted"."""
        address = re.search(r"https?://[^\s)]+", self.sentence)
        return address.group() if address else self.name if REQUIREMENT.fullmatch(self.name) else "planted"

    @property
    def demands(self):
        return ("--require", "bitwise,batch-invariant") if self.bitwise else ()

    @property
    def options(self):
        """Options for verify beside level and seed. The dtype only saves time."""
        return (*self.demands, *(("--dtype", self.dtype) if self.dtype else ()))

    def described(self, description):
        """The entry with the library's description, "class: sentence" for a wrong kernel."""
        if self.right:
            return self if self.sentence else dataclasses.replace(self, sentence=description)
        if self.classes:
            return self
        bug_class, _, sentence = description.partition(": ")
        return dataclasses.replace(self, classes=(bug_class,), sentence=sentence)


def entry_of(name, what, words, sentence):
    """Raises ValueError."""
    if not CLASS.fullmatch(what):
        raise ValueError(f"{what} is not a class; expected right, wrong or a class of bugs")
    fields = {"requirements": [], "grades": {}}
    for word in words:
        key, _, value = word.partition("=")
        if REQUIREMENT.fullmatch(word):
            fields["requirements"].append(word)
        elif word in ("full", "unseen"):
            fields["passes"] = word
        elif word in ("smoke", "bitwise"):
            fields[word] = True
        elif word in DTYPES:
            fields["dtype"] = word
        elif key == "in":
            fields["library"] = value
        elif key in DTYPES:
            fields["grades"][key] = value
        elif key == "notes":
            fields["notes"] = frozenset(value.split(","))
        else:
            raise ValueError(f"unknown word {word}")
    right = what == "right"
    fields["requirements"] = tuple(fields["requirements"])
    entry = Entry(name, right, () if what in ("right", "wrong") else tuple(re.split(r"[|+]", what)),
                  sentence=sentence, **fields)
    if right and (entry.requirements or entry.passes):
        raise ValueError("a right kernel is rejected by nothing")
    if not right and (entry.grades or entry.notes):
        raise ValueError("a wrong kernel has no grades and no notes")
    if entry.passes and entry.requirements:
        raise ValueError(f"{entry.passes} and {entry.requirements[0]} contradict each other")
    if entry.passes and not sentence:
        raise ValueError(f"{entry.passes} needs a reason: behind a colon, what would have to see it")
    return entry


def read(text, path="kernels.txt"):
    """{name: Entry}, in the file's order. Raises ValueError."""
    entries = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        head, _, sentence = line.partition(" : ")
        name, *words = head.split()
        try:
            if name in entries:
                raise ValueError("is listed twice")
            if not words:
                raise ValueError("expected right, wrong or a class of bugs behind the name")
            entries[name] = entry_of(name, words[0], words[1:], sentence.strip())
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {name}: {error}") from None
    return entries


def problems(path, kernels, entries, graded=False):
    """Differences between a folder's kernels.txt and its libraries. `graded`: right kernels need grades."""
    found = [f"{name} is not in {path}; add a line that says what it is" for name in kernels if name not in entries]
    for name, entry in entries.items():
        if name == ANY:
            continue
        if name not in kernels:
            found.append(f"{name} is in {path} and in no library; remove its line")
        if graded and not entry.grades:
            found.append(f"{name} in {path} has no grades; add those that follow from what it does")
    return found


def unanswered(entries, requirements):
    """Requirements that no kernel of the lists names, and unknown requirements in the lists."""
    named = {requirement for entry in entries for requirement in entry.requirements}
    found = [f"{requirement} has to reject no kernel of any kernels.txt; plant one that it rejects"
             for requirement in requirements if requirement not in named]
    return found + [f"{requirement} in kernels.txt is not a requirement; `ropecheck list requirements` has them"
                    for requirement in sorted(named - set(requirements))]
