"""Requirements and their verdicts as HTML and as a picture."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ropecheck import program
from ropecheck.errors import RopecheckError, UsageError
from ropecheck.requirement import Requirement

COLOURS = {"pass": "#1a7f37", "fail": "#cf222e", "note": "#9a6700", "unexpected_pass": "#cf222e"}


def html_of_text(text: str) -> str:
    """What the command prints, as it is."""
    return f"<pre>{escape(text)}</pre>"


def page_of(data: Mapping[str, Any]) -> str:
    """The page of a report, by the program's own templates."""
    done = subprocess.run([str(program.path()), "report", "-"], input=json.dumps(data), capture_output=True, text=True,
                          encoding="utf-8")
    if done.returncode != 0:
        raise RopecheckError(f"the page of the report cannot be made: {done.stderr.strip()}")
    return done.stdout


def framed(page: str, title: str) -> str:
    """A page within another one: a frame keeps the styles of the two apart."""
    return (f'<iframe title="{escape(title)}" srcdoc="{escape(page)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 42rem; border: 1px solid #8886; border-radius: 6px"></iframe>')


def plot_of(title: str, requirements: Sequence[Requirement], axes: Any = None) -> Any:
    """Bars on a logarithmic scale; the bound is the line at 1."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise UsageError(f"Report.plot() needs matplotlib ({error}): pip install matplotlib") from None
    shown = [one for one in requirements if one.worst_use is not None]
    if axes is None:
        _, axes = plt.subplots(figsize=(7, 1 + 0.22 * len(shown)), layout="constrained")
    finite = [one.worst_use for one in shown if one.worst_use and math.isfinite(one.worst_use)]
    largest = max([1.0, *finite]) * 10
    # Exact values, and values beyond every bound, are drawn at the ends of the logarithmic scale.
    lengths = [min(max(one.worst_use or 0.0, 1e-3), largest) if one.worst_use == one.worst_use else largest
               for one in shown]
    axes.barh([one.id for one in shown], lengths, color=[COLOURS.get(one.verdict, "#57606a") for one in shown])
    axes.set_xscale("log")
    axes.set_xlim(1e-3, largest)
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("worst error / bound")
    axes.set_title(title)
    return axes
