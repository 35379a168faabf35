"""No circle of imports in our Python: python3 python_imports.py ROOT.

An import inside a function counts, and one for type checkers too: whoever reads the module has to know the other one.
So does a module's name in a string, because importlib takes the module to import as a string. Importing `a.b` runs `a`
first. That does not count as an import of `a`, since nobody wrote it.
"""

import ast
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

# Each folder is where the names of its modules begin, as sys.path has it.
FOLDERS = ("tools/python", "golden/regenerate")
# (importing module, imported module): why this circle has to stay. Today none has to.
ALLOWED: dict[tuple[str, str], str] = {}

Graph = dict[str, set[str]]


def modules_in(folder: Path) -> dict[str, Path]:
    """The file of each module, by its dotted name; a package is its __init__.py."""
    found = {}
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def _named(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Names that a piece of code asks for. `from a import b` asks for a.b, which may not be a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
        yield node.value
    elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        yield f"{node.values[0].value}*"  # f"package.{name}"


def _imported(name: str, modules: dict[str, Path]) -> set[str]:
    if name.endswith(".*"):
        package = name.removesuffix("*")
        if package[:-1] not in modules:
            return set()
        return {one for one in modules if one.startswith(package) and not one.endswith("__main__")}
    return {name} & set(modules)


def imports_of(module: str, modules: dict[str, Path]) -> set[str]:
    """The modules of the same folder that this one imports."""
    file = modules[module]
    parts = module.split(".")
    package = parts if file.name == "__init__.py" else parts[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        for name in _named(node, package):
            of_a_module = isinstance(node, ast.ImportFrom) and name not in modules
            found |= _imported(name.rpartition(".")[0] if of_a_module else name, modules)
    return found - {module}


def graph_of(folder: Path) -> Graph:
    modules = modules_in(folder)
    return {module: imports_of(module, modules) for module in modules}


def circle_in(graph: Graph) -> list[str]:
    """The modules of one circle, the first one again at the end; empty if there is no circle."""
    finished: set[str] = set()

    def search(module: str, path: list[str]) -> list[str]:
        if module in path:
            return [*path[path.index(module):], module]
        if module in finished:
            return []
        for imported in sorted(graph[module]):
            if circle := search(imported, [*path, module]):
                return circle
        finished.add(module)
        return []

    return next((circle for module in sorted(graph) if (circle := search(module, []))), [])


def without(graph: Graph, allowed: dict[tuple[str, str], str]) -> Graph:
    return {module: {one for one in imported if (module, one) not in allowed} for module, imported in graph.items()}


class OurImports(unittest.TestCase):
    def test_no_circle(self):
        for folder in FOLDERS:
            with self.subTest(folder):
                graph = graph_of(ROOT / folder)
                self.assertGreater(sum(map(len, graph.values())), 10, "the imports are not seen any more")
                self.assertEqual(" imports ".join(circle_in(without(graph, ALLOWED))), "")

    def test_what_is_allowed_is_there(self):
        graphs = [graph_of(ROOT / folder) for folder in FOLDERS]
        for importing, imported in ALLOWED:
            self.assertTrue(any(imported in graph.get(importing, ()) for graph in graphs),
                            f"{importing} does not import {imported} any more; take it off the list")


class PlantedCircles(unittest.TestCase):
    def circle(self, **sources):
        """A package p with these modules: the circle in it. d__m is module m of p.d."""
        with tempfile.TemporaryDirectory() as name:
            for module, source in {"__init__": "", **sources}.items():
                file = (Path(name) / "p" / module.replace("d__", "d/")).with_suffix(".py")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(source + "\n")
            return circle_in(graph_of(Path(name)))

    def test_none(self):
        found = self.circle(a="import json, p.b\nfrom p import c", b="from p.c import x", c="import os.path")
        self.assertEqual(found, [])

    def test_every_way_to_import(self):
        for source in ("import p.b", "from p import b", "from p.b import x", "from . import b", "from .b import x",
                       "def f():\n    from p.b import x", "if TYPE_CHECKING:\n    from p.b import x",
                       "NAMES = {1: 'p.b'}", "def f(name):\n    import_module(f'p.{name}')"):
            with self.subTest(source):
                self.assertEqual(self.circle(a=source, b="import p.a")[:2], ["p.a", "p.b"])

    def test_by_way_of_others(self):
        self.assertEqual(self.circle(a="import p.b", b="import p.c", c="import p.d", d="import p.b"),
                         ["p.b", "p.c", "p.d", "p.b"])

    def test_through_the_package_itself(self):
        self.assertEqual(self.circle(__init__="from p.a import x", a="from p import x"), ["p", "p.a", "p"])

    def test_from_a_package_below(self):
        self.assertEqual(self.circle(a="import p.d", d____init__="from .b import x", d__b="from .. import a"),
                         ["p.a", "p.d", "p.d.b", "p.a"])

    def test_one_that_is_allowed(self):
        graph = {"a": {"b"}, "b": {"a"}}
        self.assertEqual(circle_in(without(graph, {("b", "a"): "a reason"})), [])


if __name__ == "__main__":
    ROOT = Path(sys.argv.pop(1)).resolve()
    unittest.main()
