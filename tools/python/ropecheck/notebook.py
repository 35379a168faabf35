"""Requirements and their verdicts as HTML and as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from ropecheck.errors import UsageError
from ropecheck.requirement import Requirement

COLOURS = {"pass": "#1a7f37", "fail": "#cf222e", "note": "#9a6700", "unexpected_pass": "#cf222e"}


def _row(one: Requirement) -> str:
    use = "" if one.worst_use is None else f"{one.worst_use:.3g}"
    said = escape(one.sentence)
    if one.failure is not None:
        said += f"<br><b>{escape(one.failure.message)}</b><br><code>{escape(one.failure.case)}</code>"
    colour = COLOURS.get(one.verdict, "inherit")
    return (
        f'<tr><td>{escape(one.id)}</td><td style="color:{colour}">{escape(one.verdict.replace("_", " "))}</td>'
        f"<td>{one.cases}</td>"
        f'<td>{use}</td><td style="text-align:left">{said}</td></tr>'
    )


def html_of_text(text: str) -> str:
    """What the command prints, as it is."""
    return f"<pre>{escape(text)}</pre>"


def html_of(title: str, facts: Sequence[str], requirements: Sequence[Requirement]) -> str:
    """A table; passed requirements are folded away."""
    head = "<tr><th>requirement</th><th>verdict</th><th>cases</th><th>worst / bound</th><th></th></tr>"
    told = [one for one in requirements if one.verdict not in ("pass", "not_claimed")]
    rest = [one for one in requirements if one.verdict in ("pass", "not_claimed")]
    parts = [f"<p><b>{escape(title)}</b><br>{escape('; '.join(facts))}</p>"]
    if told:
        parts.append(f"<table>{head}{''.join(map(_row, told))}</table>")
    parts.append(
        f"<details><summary>{len(rest)} passed or not claimed</summary><table>{head}{''.join(map(_row, rest))}"
        "</table></details>"
    )
    return "".join(parts)


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
