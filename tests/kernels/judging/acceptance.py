"""Right kernels must be accepted and wrong ones rejected, as their kernels.txt says."""

import signal
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import expectations
from .subjects import in_turn
from .verdicts import Job, batches, ids


def jobs_for(subjects, level, seeds, turn):
    """Seed by seed, so that an interrupted run has judged every kernel. Wrong kernels are judged with seed 1 only, and
    last: they take the least time."""
    wrong = [Job(s, level, 1, expectations.options_of(s.entry, level)) for s in subjects if not s.entry.right]
    right = [s for s in subjects if s.entry.right]
    chosen = ((seed, s) for seed in seeds for s in (in_turn(right, seed) if turn else right))
    return [Job(s, level, seed, s.entry.options) for seed, s in chosen] + wrong


def in_full(job):
    return Job(job.subject, "full", job.seed, expectations.options_of(job.subject.entry, "full"))


def hangs(job):
    """STA-03 rejects only kernels of which a call does not return."""
    return "STA-03" in job.subject.entry.requirements


def hanging_first(groups):
    """Others are judged while the deadline of a kernel that hangs passes."""
    return sorted(groups, key=lambda group: not any(map(hangs, group)))


class Acceptance:
    """Judges kernels, prints a line for each, and gathers the differences from kernels.txt."""

    def __init__(self, runner, kept):
        self.runner = runner
        self.kept = kept
        self.summaries = {}  # of right kernels
        self.judged = set()
        self.problems = []

    def run(self, jobs, threads):
        """Returns False if interrupted."""
        left = Counter(job.subject.name for job in jobs)  # jobs of each kernel that are still to come
        kept = [(job, self.kept.get(job)) for job in jobs]
        for job, result in kept:
            if result is not None:
                self.take(job, result, left)
        new = [job for job, result in kept if result is None]
        waiting = 1 if any(map(hangs, new)) else 0  # one more thread: a kernel that hangs leaves its CPU to others
        pool = ThreadPoolExecutor(threads + waiting)
        futures = {pool.submit(self.settled, b): b for b in hanging_first(batches(new))}
        try:
            for n, future in enumerate(as_completed(futures), 1):
                for job, result in zip(futures[future], future.result()):
                    self.kept.add(job, result)
                    self.take(job, result, left)
                show_progress(n, len(futures))
            return True
        except KeyboardInterrupt:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it often comes twice
            self.runner.stop()
            return False
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            for name, summary in self.summaries.items():
                if left[name]:  # interrupted
                    self.report(summary.subject, summary.seconds, list(summary.problems(jobs[0].level)), summary.words())

    def settled(self, batch):
        """Results. If a wrong kernel must also be judged at level full, its result is from there."""
        results = self.runner.judge(batch)
        for i, (job, result) in enumerate(zip(batch, results)):
            if result and expectations.is_to_be_judged_in_full(job.subject.entry, job.level, result):
                (full,) = self.runner.judge([in_full(job)])
                results[i] = full and {**full, "level": "full"}
        return results

    def take(self, job, result, left):
        subject = job.subject
        self.judged.add(subject.name)
        left[subject.name] -= 1
        if subject.entry.right:
            summary = self.summaries.setdefault(subject.name, expectations.Summary(subject))
            summary.add(job.seed, result)
            if not left[subject.name]:
                self.report(subject, summary.seconds, list(summary.problems(job.level)), summary.words())
            return
        level = result.get("level", job.level)
        problem = expectations.problem_of_wrong(subject.entry, level, result)
        self.report(subject, result["seconds"], [problem] if problem else [], words_of(job, result))

    def report(self, subject, seconds, problems, words):
        print(f"{subject.name:<44} {seconds:6.1f} s  {problems[0] if problems else words}", flush=True)
        self.problems += [p if p.startswith(" ") else f"{subject.name}: {p}" for p in problems]


def words_of(job, result):
    failed = ids(result["failed"])
    if not failed:
        return "conforms, as it has to"
    at = " at level full" if result.get("level", job.level) == "full" else ""
    return f"rejected first by {failed[0]}{at}" if "--fail-fast" in job.options else f"rejected by {', '.join(failed)}"


def show_progress(done, total):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{done} of {total} runs\r")
        sys.stderr.flush()
