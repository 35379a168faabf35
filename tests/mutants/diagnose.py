#!/usr/bin/env python3
"""How often is the class that `ropecheck verify` names first the right one?

    diagnose.py BUILD_FOLDER                            every mutant, all dtypes
    diagnose.py BUILD_FOLDER --dtype bf16               each as it shows in bf16; those that do not show are left out
    diagnose.py BUILD_FOLDER --only FREQ-01,POS-03      some
    diagnose.py BUILD_FOLDER --pairs 40 --seed 7        random combinations of two: right is the class of either

The class of a mutant is the word before the colon of its description. A third of the mutants, by a checksum of their
ids, was held out while the diagnosis was written; both shares are printed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kill

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "impls"))
from rope_kernel import Library  # noqa: E402

PAIR = "MUTANT_PAIR"  # combined.cpp


def classes_of(library):
    named = {name: text.split(":")[0] for name, text in Library(library).described().items()}
    named.pop(kill.RIGHT)
    return named


def held_out(mutant):
    return zlib.crc32(mutant.encode()) % 3 == 0


def right(mutant, found, classes):
    """Whether the first-named class is that of the mutant, or of one of two that are combined."""
    return bool(found) and found[0]["class"] in {classes[part] for part in mutant.split("+")}


def judge(build, mutant, options):
    """The candidates of the diagnosis, none where the mutant does not show; and the seconds it took."""
    command = [str(build / "ropecheck"), "verify", f"{build / 'mutants.so'}#{mutant}", "--level", "quick"]
    start = time.monotonic()
    environment = {**os.environ, PAIR: mutant} if "+" in mutant else None
    command += [*options, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{mutant}: ropecheck ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    subject = json.loads(done.stdout)["subjects"][0]
    found = subject["diagnosis"]["candidates"] if "diagnosis" in subject else None
    return found, time.monotonic() - start


def requirements_of(mutant, rejected):
    """What verify is told to run for a mutant: the requirements that reject it, and those that others share."""
    named = [requirement for part in mutant.split("+") for requirement in rejected.get(part, [])]
    return ["--only", ",".join(sorted({*named, "ROT-01"}))]


def can_be_joined(build, pair):
    """Whether mutants.so makes one kernel of both: they have to override different stages."""
    program = f"import rope_kernel; print('{pair}' in rope_kernel.Library('{build / 'mutants.so'}').kernels)"
    command = [sys.executable, "-c", program]
    environment = {**os.environ, PAIR: pair, "PYTHONPATH": str(HERE.parents[1] / "impls")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip() == "True"


def pairs_of(build, mutants, count, seed):
    generator = random.Random(seed)
    pairs = []
    while len(pairs) < count:
        pair = "+".join(generator.sample(mutants, 2))
        if pair not in pairs and can_be_joined(build, pair):
            pairs.append(pair)
    return pairs


def share(rows):
    good = sum(1 for row in rows if row)
    return f"{good} of {len(rows)} ({100 * good / max(len(rows), 1):.1f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="where ropecheck and mutants.so are")
    parser.add_argument("--dtype", choices=("f64", "f32", "f16", "bf16"))
    parser.add_argument("--only", default="", help="ids, parted by commas")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="every requirement, not only those of rejected.txt")
    parser.add_argument("--held-out", choices=("with", "without", "alone"), default="with")
    parser.add_argument("--at-least", type=float, default=0, help="percent; fewer right ones are exit code 1")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    build = options.build.resolve()
    classes = classes_of(build / "mutants.so")
    text = (HERE / "rejected.txt").read_text()
    rejected, _, _ = kill.read_lists(text, "")
    told = kill.options_of(text)
    chosen = [mutant for mutant in (options.only.split(",") if options.only else rejected)]
    if options.held_out != "with":
        chosen = [mutant for mutant in chosen if held_out(mutant) == (options.held_out == "alone")]
    if options.pairs:
        chosen = pairs_of(build, chosen, options.pairs, options.seed)

    def one(mutant):
        told_here = [] if options.whole else requirements_of(mutant, rejected)
        demands = next((told[part] for part in mutant.split("+") if "--require" in told.get(part, [])), [])
        told_here += demands[demands.index("--require") :][:2] if demands else []
        told_here += ["--dtype", options.dtype] if options.dtype else []
        try:
            return judge(build, mutant, told_here)
        except (RuntimeError, ValueError, LookupError) as error:
            return error, 0.0

    results = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutant, (found, seconds) in zip(chosen, pool.map(one, chosen)):
            if isinstance(found, Exception):
                print(f"{mutant:<28} {found}", flush=True)
                results[mutant] = False
                continue
            if found is None:
                print(f"{mutant:<28} {seconds:5.1f} s  does not show", flush=True)
                continue
            results[mutant] = right(mutant, found, classes)
            first = found[0] if found else {"class": "none", "sentence": "", "condition": "", "fit": 0}
            verdict = "right" if results[mutant] else "WRONG: " + "/".join(classes[m] for m in mutant.split("+"))
            words = f"{first['class']}: {first['sentence']}; {first['condition']} ({first['fit']:.2f})"
            print(f"{mutant:<28} {seconds:5.1f} s  {verdict}  {words}", flush=True)

    print(f"right: {share(list(results.values()))}")
    if not options.pairs:
        for name, is_held in (("held out", True), ("looked at", False)):
            print(f"  {name}: {share([good for m, good in results.items() if held_out(m) == is_held])}")
    good = 100 * sum(results.values()) / max(len(results), 1)
    return 0 if results and good >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
