#!/usr/bin/env python3
"""What stands in one place stands nowhere else: python3 tests/structure/one_place.py

The runner knows no requirement by its id: a field of Requirement holds what is special about one. So no file of
tools/judge names one. A report format is its own files and a row of tools/report/formats.cpp. So nothing else includes
it. JSON of others is read by reference/foreign_json.cpp, which limits it. So nothing else parses. What a command says
may hold words of others, which tools/command/print_text.hpp escapes. So nothing else prints.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r'"[A-Z]{3}-[0-9]{2}[^"\n]*"')
PRINTS = re.compile(r"\bfmt::print\(|\bstd::(?:v?f?printf|f?puts|f?putc|fwrite|cout|cerr|clog|perror)\b")
FAMILY = re.compile(r'(?:starts_with|wants)\("[A-Z]{3}')


def named_requirements(text):
    """The requirements and families that code, not a comment, names."""
    code = "\n".join(line.split("//")[0] for line in text.splitlines())
    return ID.findall(code) + FAMILY.findall(code)


def includes_of_formats(files):
    """Includes of a format in `files` {path: text}: (file, format). The table and the format itself may include it."""
    table = "tools/report/formats.cpp"
    formats = re.findall(r'#include "(tools/report/(?!formats)\w+)\.hpp"', files.get(table, ""))
    return [(path, one) for path, text in files.items() for one in formats
            if f'#include "{one}.hpp"' in text and path not in (table, f"{one}.cpp")]  # fmt: skip


def parses(text):
    """Whether code calls the JSON library's parser, for more than text that it has just written."""
    return re.search(r"[Jj]son>?::(?:parse(?!\(to_json\()|accept|sax_parse|from_\w+)\(", text) is not None


def prints(text):
    """Whether code writes to a standard stream by itself."""
    code = "\n".join(line.split("//")[0] for line in text.splitlines())
    return PRINTS.search(code) is not None


def check_itself():
    """Tests these checks: they find what they must find."""
    assert named_requirements('if (r.id == "DET-03") x();') == ['"DET-03"']
    assert named_requirements('if (id.starts_with("STA")) x();')
    assert not named_requirements('// "ROT-01:head_dim=64"\nint x;')
    assert parses("nlohmann::json::parse(a)") and parses("Json::parse(a)") and not parses("parse_json(a)")
    assert not parses("Json::parse(to_json(spec))")
    assert prints('fmt::print(stderr, "{}", a);') and prints("std::fputs(a, stdout);") and prints("std::cout << a;")
    assert not prints('print_text(stdout, "{}", a);  // not fmt::print()') and not prints("std::fclose(a);")
    table = {"tools/report/formats.cpp": '#include "tools/report/json.hpp"\n'}
    line = '#include "tools/report/json.hpp"\n'
    assert not includes_of_formats({**table, "tools/report/json.cpp": line})
    assert includes_of_formats({**table, "tools/command/a.cpp": line}) == [("tools/command/a.cpp", "tools/report/json")]


def main():
    check_itself()
    files = [path for suffix in ("cpp", "hpp") for path in sorted((ROOT / "tools/judge").rglob(f"*.{suffix}"))]
    problems = [f"{path.relative_to(ROOT)} names {name}; make it a field of Requirement"
                for path in files for name in named_requirements(path.read_text())]  # fmt: skip
    sources = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted((ROOT / "tools").rglob("*.?pp"))}
    problems += [f"{path} includes {one}.hpp; use formats() of tools/report/formats.hpp"
                 for path, one in includes_of_formats(sources)]  # fmt: skip
    product = [path for folder in ("reference", "golden", "impls", "tools") for path in (ROOT / folder).rglob("*.?pp")]
    problems += [f"{path.relative_to(ROOT)} parses JSON; use reference/foreign_json.hpp"
                 for path in product if path.stem != "foreign_json" and parses(path.read_text())]  # fmt: skip
    # The last two write to a terminal's line, and to files.
    may_print = ("tools/command/print_text.hpp", "tools/report/progress.cpp", "tools/report/write_file.cpp")
    problems += [f"{path} prints; use tools/command/print_text.hpp" for path, text in sources.items()
                 if path.startswith(("tools/command/", "tools/report/")) and path not in may_print and prints(text)]
    if len(files) < 40:
        problems.append(f"only {len(files)} files in tools/judge: something was not read")
    for problem in problems:
        print(f"one_place.py: {problem}", file=sys.stderr)
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
