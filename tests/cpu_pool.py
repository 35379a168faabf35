"""Judges several subjects at once, each on a CPU of its own.

`ropecheck` and its worker take turns and spin while they wait for each other, so two that share two CPUs keep each other
from running: a third less is judged than with a CPU for each (13.6 s against 20.2 s for two at level full, 2 CPUs). Two calls at once
(DET-03) then only take turns: every mutant of ours shows so too, but what needs two CPUs to go wrong is not looked for.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle


def cpu_pool(jobs):
    """A ThreadPoolExecutor of `jobs` threads; what a thread starts inherits its CPU."""
    if not hasattr(os, "sched_setaffinity"):
        return ThreadPoolExecutor(jobs)
    cpus = cycle(sorted(os.sched_getaffinity(0)))
    return ThreadPoolExecutor(jobs, initializer=lambda: os.sched_setaffinity(0, {next(cpus)}))
