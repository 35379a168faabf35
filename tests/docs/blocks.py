"""The fenced blocks of a Markdown page, and what their first lines say; CONTRIBUTING.md has the convention."""

import re
import shlex
from dataclasses import dataclass, field

FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
MEANINGS = {"console": {"needs", "not-run"}}  # every other language: file, from, needs
NOT_CONSOLE = ("sh", "bash", "shell", "shell-session", "zsh")


class PageError(Exception):
    """The page breaks the convention. The message starts with the line's number."""


@dataclass
class Command:
    line: int  # of the page, from 1
    text: str
    expected: list  # lines
    end: int  # the line behind its output


@dataclass
class Block:
    line: int  # of the fence
    language: str
    options: dict
    lines: list
    indent: int = 0
    commands: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def blocks_of(text):
    """All fenced blocks of a page."""
    lines = text.splitlines()
    blocks = []
    place = 0
    while place < len(lines):
        opening = FENCE.match(lines[place])
        if not opening:
            place += 1
            continue
        indent, fence, words = len(opening[1]), opening[2], opening[3]
        end = place + 1
        while end < len(lines) and lines[end].strip() != fence:
            end += 1
        if end == len(lines):
            raise PageError(f"line {place + 1}: this block has no end")
        content = [line[indent:] if not line[:indent].strip() else line for line in lines[place + 1 : end]]
        blocks.append(_block(place + 1, words, content, indent))
        place = end + 1
    return blocks


def commands_outside(text, found):
    """(line, text) of commands that stand in no console block, where nobody runs them."""
    lines = dict(enumerate(text.splitlines(), 1))
    for block in found:
        for line in range(block.line, block.line + len(block.lines) + 2):
            words = lines.pop(line)
            if block.language != "console" and words.strip().startswith("$ "):
                yield line, words.strip()
    for line, words in lines.items():
        if re.match(r" {4,}(?:\$ |tools/(?:run|test)\b|ropecheck )", words):
            yield line, words.strip()


def _block(line, words, content, indent):
    try:
        language, *options = shlex.split(words) or [""]
    except ValueError as error:
        raise PageError(f"line {line}: {words.strip()}: {error}") from None
    block = Block(line, language, _options(line, language, options), content, indent)
    if language in NOT_CONSOLE:
        raise PageError(f"line {line}: commands stand in a console block, with '$ ' before each; found {language}")
    if language == "console":
        block.commands = _commands(block)
    return block


def _options(line, language, words):
    allowed = MEANINGS.get(language, {"file", "from", "needs"})
    options = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in allowed:
            raise PageError(f"line {line}: unknown word {name!r}; a {language or 'plain'} block knows {sorted(allowed)}")
        if not value:
            raise PageError(f"line {line}: {name}= needs a value")
        options[name] = value
    return options


def _commands(block):
    commands = []
    rest = list(enumerate(block.lines, block.line + 1))
    while rest:
        line, text = rest.pop(0)
        if text.startswith("$ "):
            words = text[2:]
            while words.endswith("\\") and rest:
                words += "\n" + rest.pop(0)[1]
            commands.append(Command(line, words, [], rest[0][0] if rest else block.line + 1 + len(block.lines)))
        elif commands:
            commands[-1].expected.append(text)
            commands[-1].end = line + 1
        else:
            raise PageError(f"line {line}: output without a command; a command begins with '$ '")
    if not commands:
        raise PageError(f"line {block.line}: this console block has no command; a command begins with '$ '")
    return commands


def stands_in(lines, source):
    """Whether the lines of a block stand in a file, one after the other. A common indentation may be left out, and a
    line '...', also as a comment, stands for lines that are left out."""
    parts = [[]]
    for line in lines:
        if re.fullmatch(r"\s*(?://|#|--)?\s*\.\.\.\s*", line):
            parts.append([])
        else:
            parts[-1].append(line.rstrip())
    source = [line.rstrip() for line in source]
    place = 0
    for part in parts:
        found = next((i for i in range(place, len(source) - len(part) + 1) if _same(part, source[i : i + len(part)])), None)
        if found is None:
            return False
        place = found + len(part)
    return True


def _same(part, source):
    indents = {len(there) - len(here) for here, there in zip(part, source) if here or there}
    if len(indents) > 1 or min(indents, default=0) < 0:
        return False
    shift = " " * next(iter(indents), 0)
    return all(not here and not there or shift + here == there for here, there in zip(part, source))
