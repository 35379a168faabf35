"""The golden cases as a catalogue: groups of a source, with a picture of the pairs of each case."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "golden"
sys.path.insert(0, str(GOLDEN))

import definition  # noqa: E402

SOURCES = {"huggingface": "transformers", "labml": "labml-nn", "lucidrains": "rotary-embedding-torch",
           "published": "published documents"}  # fmt: skip
WIDTH, MIDDLE, BOTTOM = 640, 96, 150  # of a picture: its width, the line of features, the end of the bars
SLOWEST = 1e-6  # the least theta of a bar with a length


@dataclass(frozen=True)
class Arc:
    path: str
    axis: int


@dataclass(frozen=True)
class Bar:
    x: float
    height: float
    width: float
    axis: int


@dataclass(frozen=True)
class Picture:
    """Arcs join the two features of a pair; a bar below shows how fast the pair turns, on a logarithmic axis."""

    arcs: list[Arc]
    bars: list[Bar]
    unmoved: tuple[float, float] | None  # where the features lie that do not turn
    label: str


@dataclass(frozen=True)
class Case:
    data: dict
    picture: Picture

    @property
    def name(self) -> str:
        return self.data["id"].partition("/")[2]

    @property
    def rule(self) -> str:
        scaling = self.data["spec"].get("scaling")
        if not scaling:
            return "none"
        values = [f"{key} {value}" for key, value in scaling.items() if key != "kind" and not isinstance(value, list)]
        return f"{scaling['kind']}" + (f" ({', '.join(values)})" if values else "")

    @property
    def arrays(self) -> list[dict]:
        return self.data["arrays"]


def theta_of(case: dict) -> np.ndarray:
    """As the source made it, if it is stored; else by the definition."""
    stored = next((one for one in case["arrays"] if one["name"] == "theta" and one["storage"] in ("<f4", "<f8")), None)
    if stored:
        return np.abs(np.load(GOLDEN / stored["file"]).astype(np.float64)).reshape(-1)
    return np.abs(definition.theta_of(case["spec"], case["sequence_length"]))


def picture_of(case: dict) -> Picture:
    spec = case["spec"]
    one, two = definition.pairs_of(spec, np.arange(spec["head_dim"]))
    axes, theta = definition.axes_of(spec), theta_of(case)
    step = WIDTH / spec["head_dim"]
    places = [(float(a + 0.5) * step, float(b + 0.5) * step) for a, b in zip(one, two)]
    longest = max(b - a for a, b in places)
    arcs = [Arc(f"M{a:.1f} {MIDDLE}A{(b - a) / 2:.1f} {max(10, (MIDDLE - 6) * (b - a) / longest):.1f} 0 0 1 {b:.1f} {MIDDLE}",
                int(axis)) for (a, b), axis in zip(places, axes)]
    room = BOTTOM - MIDDLE - 6
    heights = [room * float(np.clip(np.log10(max(t, SLOWEST) / SLOWEST) / np.log10(10 / SLOWEST), 0, 1)) for t in theta]
    wide = WIDTH / max(len(heights), 1)
    bars = [Bar(round(i * wide, 2), round(height, 1), round(wide * 0.7, 2), int(axes[i]))
            for i, height in enumerate(heights[: len(axes)])]
    unmoved = (spec["rotary_dim"] * step, WIDTH) if spec["rotary_dim"] < spec["head_dim"] else None
    words = (f"{len(arcs)} {spec['pairing'].replace('_', '-')} pairs of {spec['head_dim']} features; the fastest turns"
             f" {theta.max():.3g} radians a position, the slowest {theta.min():.3g}")
    return Picture(arcs, bars, unmoved, words)


def group_of(case: dict) -> str:
    """Hugging Face's cases by model, the others by source."""
    parts = case["id"].split("/")
    return "-".join(parts[:2]) if parts[0] == "huggingface" else parts[0]


@dataclass
class Group:
    name: str
    source: str
    title: str
    cases: list[Case]

    @property
    def conforming(self) -> int:
        return sum(case.data["status"] == "conforms" for case in self.cases)


def catalogue() -> tuple[str, list[Group]]:
    """The version of the golden set, and its groups."""
    manifest = json.loads((GOLDEN / "manifest.json").read_text())
    groups: dict[str, Group] = {}
    for case in manifest["cases"]:
        name = group_of(case)
        source, _, model = name.partition("-")
        title = f"{SOURCES[source]}: {model}" if model else SOURCES[source]
        groups.setdefault(name, Group(name, SOURCES[source], title, [])).cases.append(Case(case, picture_of(case)))
    return manifest["version"], list(groups.values())
