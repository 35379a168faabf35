"""How a verdict differs from the kernel's line in kernels.txt."""

from .manifest import DTYPES
from .verdicts import ids


def options_of(entry, level):
    """Options for verify of a wrong kernel, so that nothing is judged in vain."""
    if level == "quick" and entry.requirements:
        return (*entry.options, "--no-diagnosis", "--only", ",".join(entry.requirements))
    if level == "quick" and entry.passes:
        return (*entry.options, "--no-diagnosis")
    return (*entry.options, "--no-diagnosis", "--fail-fast")


def is_to_be_judged_in_full(entry, level, result):
    """Whether level full decides: quick accepts the wrong kernel, and its line says nothing about that."""
    said = entry.right or entry.requirements or entry.passes
    return level == "quick" and not said and "no_verdict" not in result and not result["failed"]


def problem_of_wrong(entry, level, result):
    """`level`: the last level of its judging. Returns None if the result is as kernels.txt says."""
    if "no_verdict" in result:
        return result["no_verdict"]
    failed = ids(result["failed"])
    by = ", ".join(failed)
    if entry.passes == "unseen":
        return f"is rejected now, by {by}; name that in kernels.txt in place of unseen" if failed else None
    if entry.passes == "full" and level == "quick":
        return f"is rejected at level quick now, by {by}; name that in kernels.txt in place of full" if failed else None
    if entry.passes == "full":
        return None if failed else "passes at level full too; kernels.txt must say unseen"
    if level == "quick" and entry.requirements:
        missing = [requirement for requirement in entry.requirements if requirement not in failed]
        seen = f"only {by} did" if failed else "it conforms"
        return f"{', '.join(missing)} should reject it; {seen}" if missing else None
    return None if failed else f"is wrong and conforms: {entry.sentence}"


class Summary:
    """All seeds of one right kernel."""

    def __init__(self, subject):
        self.subject = subject
        self.seeds = 0
        self.rejections = []  # (seed, requirement, message, replay)
        self.notes = []  # the same
        self.grades = {}
        self.use = 0.0
        self.where = ""
        self.seconds = 0.0

    def add(self, seed, result):
        self.seeds += 1
        self.seconds += result["seconds"]
        if "no_verdict" in result:
            self.rejections.append((seed, "-", result["no_verdict"], ""))
        self.rejections += [(seed, *failure) for failure in result["failed"]]
        self.notes += [(seed, *failure) for failure in result["noted"]]
        for dtype, grade in result["grades"].items():
            self.grades[dtype] = worst_grade([grade, self.grades.get(dtype, grade)])
        if result["use"] > self.use:
            self.use, self.where = result["use"], result["where"]

    def problems(self, level):
        for seed, requirement, message, replay in self.rejections:
            yield f"seed {seed}: is right and rejected by {requirement}: {message}"
            if replay:
                yield f"  {replay}"
        if not self.subject.set.graded or self.seeds == 0:
            return
        declared = self.subject.entry.grades
        if self.subject.set.drawn:  # the claims may have few of the dtypes
            declared = {dtype: grade for dtype, grade in declared.items() if dtype in self.grades}
        yield from grade_problems("drawn" if self.subject.set.drawn else level, self.grades, declared)
        for seed, requirement, message, replay in self.notes:
            if requirement not in self.subject.allowed_notes:
                yield f"seed {seed}: noted by {requirement}: {message}"
                yield f"  {replay}"

    def words(self):
        if self.rejections:
            return f"is right and REJECTED with {len({seed for seed, *_ in self.rejections})} of {self.seeds} seeds"
        grades = " ".join(f"{dtype} {self.grades[dtype]}" for dtype in DTYPES if dtype in self.grades)
        seeds = f" {self.seeds} seeds," if self.seeds > 1 else ""
        return f"accepted,{seeds} {grades}, {self.use:.3f} of a bound used ({self.where or 'none'})"


def grade_problems(level, measured, declared):
    """Problems of a kernel's worst grades. Grades compare as text: A1 .. C3."""
    problems = []
    for dtype in DTYPES:
        got, want = measured.get(dtype), declared.get(dtype)
        if got == want or (got and want and got in want.split("/")):
            continue
        if got is None or want is None:
            problems.append(f"{dtype}: measured {got or 'nothing'}, declared {want or 'nothing'}")
        elif not allowed(got, want.split("/")[0], level):
            problems.append(f"{dtype}: measured {got}, declared {want}")
    return problems


def allowed(got, want, level):
    """Whether a grade that differs from the declared one is allowed: at level quick it may be better.

    With "drawn" claims it may be better in one letter and worse in the other. The reason: with few claims, an error of
    the angle may look like an error of the arithmetic.
    """
    better = [a < b for a, b in zip(got, want)]
    worse = [a > b for a, b in zip(got, want)]
    return got != "none" and (not any(worse) if level == "quick" else level == "drawn" and any(better))


def worst_grade(grades):
    """Letter by letter: one seed may have the worse angles and another the worse arithmetic."""
    if "none" in grades:
        return "none"
    return max(grade[0] for grade in grades) + max(grade[1] for grade in grades)
