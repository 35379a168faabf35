"""Prints what installed distributions ask for, one requirement a line: requires.py NAME...

Leaves out what no golden source imports and what would replace torch by another build (requirements.txt says why), and
the distributions NAME... themselves, because their version was chosen.
"""

import importlib.metadata
import sys

from packaging.requirements import Requirement

NEVER = {"torch", "torchvision", "torchtext", "torchaudio"}

chosen = {name.lower().replace("_", "-") for name in sys.argv[1:]}
for name in sys.argv[1:]:
    for text in importlib.metadata.requires(name) or []:
        requirement = Requirement(text)
        skipped = requirement.name.lower().replace("_", "-") in NEVER | chosen
        if not skipped and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            print(f"{requirement.name}{requirement.specifier}")
