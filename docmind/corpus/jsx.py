"""MDX as Markdown: without its components, comments, imports and exports. What stands between tags stays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docmind.markup.gaps import APART, LOOSE, filled
from docmind.markup.parser import masked

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_MODULE = re.compile(
    r"""import\s+(?:type\s+)?(?:["'{*]|[\w$]+\s*(?:,|from\s*["']))
      | export\s+(?:const|let|var|function|async|class|default|type|interface|\{|\*)""",
    re.VERBOSE,
)
"""How an import or export opens a line. "import duties from" is prose."""
_BEFORE_MODULE = re.compile(r"\s*+(?:$|[#<{}]|[-*_`~]{3}|.*[>}]\s*+$)")
"""How the line before ends: an import cannot stand in a paragraph, where a line may begin with "import taxes, duties"."""
_MODULE_ENDS = (";", "'", '"', "`", ")", "]", "}")

_BRACED = r"\{[^{}]*+\}"
for _ in range(4):  # as deep as braces may nest
    _BRACED = rf"\{{(?:[^{{}}]++|{_BRACED})*+\}}"
_TOKEN = re.compile(
    rf"""\{{\s*+/\*(?:(?!\{{\s*+/\*).)*?\*/\s*+\}}
      | \{{\s*+(?:"(?P<double>[^"\\\n]*+)"|'(?P<single>[^'\\\n]*+)')\s*+\}}
      | \{{\s*+(?P<value>(?:new\s++)?+[A-Za-z_$][\w$]*+(?:\.[\w$]++|\((?:[^(){{}}\n]*+)\))++)\s*+\}}
      | </?(?:(?P<name>[A-Za-z][\w.-]*+)(?=[\s/>])(?:[^<>{{}}"']++|"[^"]*+"|'[^']*+'|{_BRACED})*+)?>
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE = re.compile(r"\{\s*+`([^`$\\{}\n]*+)`\s*+\}")
_QUOTED = re.compile(r"""=\s*\{\s*(["'`])([^"'`{}\\\n]*)\1\s*\}""")
_COMPUTED = re.compile(rf"(?:(?<![\w:.-])[\w:.-]++\s*+=\s*+)?{_BRACED}")
_SAID = re.compile(r"""(?<![\w-])(?:title|label|summary|caption|alt)\s*=\s*(["'])(.*?)\1""", re.DOTALL)
"""The attributes of a component that its readers see."""


def without_jsx(text: str, told: list[str] | None = None) -> str:
    """`text`, a page in MDX, as Markdown of as many lines.

    Left out are comments, imports, exports, the tags of components (but their title, label, summary, caption or alternative
    text) and, of HTML's own tags, attributes that are computed. `{"words"}` are words; a property or a call in braces, which
    only the site can compute, goes, and is added to `told`; what else stands in braces is left as it is, as a formula
    would be. MDX knows no code by indentation, so indented text is put to the left. Code in fences and backticks stays as it is.
    """
    plain = _without_templates("\n".join(_dedented(_without_modules(text.split("\n")))))
    seen = masked(plain)
    parts = []
    done = 0
    for match in _TOKEN.finditer(seen):
        parts.append(plain[done : match.start()])
        done = match.end()
        if match["value"] and told is not None:
            told.append(plain[match.start("value") : match.end("value")])
        parts.append(_read(match, plain[match.start() : match.end()]))
    return filled("".join([*parts, plain[done:]]))


def _read(match: re.Match[str], source: str) -> str:
    """What a comment, a text in braces or a tag leaves, as many lines as before."""
    name = match["name"] or ""
    written = next((match[kind] for kind in ("double", "single") if match[kind] is not None), None)
    if written is not None or match["value"]:
        said = written or ("" if written is not None else LOOSE)
    elif name[:1].islower() and "." not in name:
        said = _COMPUTED.sub("", _QUOTED.sub(r'="\2"', source))
    else:
        found = _SAID.search(_QUOTED.sub(r'="\2"', source))
        said = f"{APART}{' '.join(found[2].split())} " if found else LOOSE * bool(name)
    return said + "\n" * (source.count("\n") - said.count("\n"))


def _without_templates(text: str) -> str:
    """`text` with the words of templates that hold no value, outside code: {`40 euros`}."""
    if "{`" not in text:
        return text
    seen = masked(text)  # where the backticks and what is between them are hidden, and the braces are not
    return _TEMPLATE.sub(
        lambda match: match[1] if seen[match.start()] == "{" == text[match.start()] else match[0], text
    )


def _in_fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it lies in a fence: below its opening line, its closing line included."""
    fence = ""
    for line in lines:
        yield line, bool(fence)
        mark = _FENCE.match(line)
        if not fence:
            fence = mark[1] if mark else ""
        elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def _without_modules(lines: list[str]) -> list[str]:
    """Imports and exports made blank lines. One whose brackets never close is kept, with what is below it."""
    kept: list[str] = []
    inside = False
    begun = depth = 0
    for line, fenced in _in_fences(lines):
        if not inside and not fenced and _MODULE.match(line) and _BEFORE_MODULE.match(kept[-1] if kept else ""):
            inside, begun, depth = True, len(kept), 0
        kept.append("" if inside else line)
        if inside:
            depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
            inside = depth > 0 or (bool(line.strip()) and not line.rstrip().endswith(_MODULE_ENDS))
    return kept[:begun] + lines[begun:] if depth > 0 else kept


def _dedented(lines: list[str]) -> Iterator[str]:
    """Text and the first items of lists at the left; what is deeper in a list or a fence stays as much deeper."""
    base = 0
    listed = False
    for line, fenced in _in_fences(lines):
        words = line.lstrip(" \t")
        indent = len(line[: len(line) - len(words)].expandtabs(4))
        if words and not fenced:
            item = bool(_ITEM.match(words))
            listed = listed and (item or indent > base)
            base = min(base, indent) if listed else indent
            listed = listed or item
        yield line if not base else " " * (indent - base) + words
