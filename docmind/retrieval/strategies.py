"""From the words of a strategy to parts with every parameter settled, and strategies.yaml, which names them and foreign ones."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import docmind
from docmind.chunking import CHUNKERS
from docmind.chunking import PRESETS as CHUNKER_PRESETS
from docmind.config import Settings
from docmind.errors import UsageError
from docmind.foreign import SOURCES
from docmind.foreign.declared import NUMBERS, Declared
from docmind.foreign.declared import parse as parse_declared
from docmind.parameters import Part, checked
from docmind.registry import did_you_mean, unknown
from docmind.retrieval import MODES
from docmind.retrieval import PRESETS as MODE_PRESETS
from docmind.spec import EXAMPLE, SLUG, Call, parse, parse_call, slug
from docmind.text import plural
from docmind.yamlfile import read_mapping

PACKAGED = Path(docmind.__file__).with_name("strategies.yaml")
OPTION = "--strategies-file"
KEYS = ("strategies", "matrix", "gate")

FOREIGN = "foreign"

_FITTING = re.compile(rf"[a-z0-9_][a-z0-9_.+-]{{0,{SLUG - 1}}}")
"""A name of strategies.yaml: files are called by it, on systems that know no capitals too."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A chunker and a mode under a name: one of strategies.yaml, else what the user wrote, without blanks. A `foreign` one
    has no parts of its own: its chunker is called FOREIGN, and its mode is the way in which it is reached."""

    name: str
    chunker: Part
    mode: Part
    foreign: Declared | None = None

    @property
    def slug(self) -> str:
        """The name for files."""
        return slug(self.name)


@dataclass(frozen=True, slots=True)
class Strategies:
    """What strategies.yaml says: `matrix` is what is scored where nothing else is asked for; `gate` the names of those in it
    that can fail a pull request, None where the file does not say, and all that are scored can; `names` the strategies
    that it names, as they are written there, and those that are foreign."""

    matrix: tuple[Strategy, ...]
    gate: tuple[str, ...] | None
    names: Mapping[str, str | Declared]

    def find(self, text: str) -> Strategy:
        """As `strategy`, with these names."""
        return strategy(text, self.names)


def strategy(text: str, names: Mapping[str, str | Declared] | None = None) -> Strategy:
    """The strategy that `text` names or writes; `names` maps names to strategies as they are written, or foreign.

    Raises UsageError, before any work, for a mistake of writing, an unknown part or parameter, and a value that cannot be.
    """
    known = names or {}
    name = text.strip()
    if name not in known and (fault := _misplaced(name)):
        raise UsageError(fault)
    if name not in known and not re.search(r"[+(]", name):
        listed = f" There are: {', '.join(known)}; or write any CHUNKER+MODE" if known else " Write CHUNKER+MODE"
        raise UsageError(
            f"unknown strategy {reprlib.repr(name)}.{did_you_mean(name[:SLUG], known)}{listed}, such as {EXAMPLE}."
        )
    meant = known.get(name, name)
    if isinstance(meant, Declared):
        return Strategy(name, Part(FOREIGN, (), (), FOREIGN), Part(meant.kind, (), (), meant.kind), meant)
    spec = parse(meant)
    return Strategy(name if name in known else str(spec), _chunker(spec.chunker), _mode(spec.mode))


def chunker(text: str) -> Part:
    """The chunker that `text` writes, such as headers(size=300). Raises UsageError."""
    return _chunker(parse_call(text, composed=False))


def mode(text: str) -> Part:
    """The mode that `text` writes, such as rerank(depth=50). Raises UsageError."""
    return _mode(parse_call(text, composed=True))


def _chunker(call: Call) -> Part:
    whole = _expanded(call, "chunker", CHUNKERS, CHUNKER_PRESETS, composed=False)
    values = checked(CHUNKERS[whole.name], dict(whole.values), call.name)
    return Part(whole.name, (), tuple(values.items()), str(call))


def _mode(call: Call) -> Part:
    whole = _expanded(call, "mode", MODES, MODE_PRESETS, composed=True)
    entry = MODES[whole.name]
    inner = [_mode(each) for each in whole.inner]
    count = len(inner) or len(entry.inner)
    if count < 2 if entry.many else count != len(entry.inner):
        raise UsageError(_miscounted(call.name, count, entry.many, entry.inner))
    values = checked(entry.make, dict(whole.values), call.name, count)
    inner = inner or [_unwritten(name, values.get(entry.takes)) for name in entry.inner]
    return Part(whole.name, tuple(inner), tuple(values.items()), str(call))


def _expanded(
    call: Call, kind: str, entries: Mapping[str, object], presets: Mapping[str, str], *, composed: bool
) -> Call:
    """`call` of an entry, where its name is a preset's: what it says replaces what the preset says."""
    if call.name in presets:
        base = parse_call(presets[call.name], composed=composed)
        return Call(base.name, call.inner or base.inner, tuple({**dict(base.values), **dict(call.values)}.items()))
    if call.name not in entries:
        raise UsageError(_misplaced(call.name, kind) or unknown(kind, call.name, [*entries, *presets]))
    return call


def _misplaced(name: str, kind: str = "") -> str:
    """What to say of a part that stands where a `kind` belongs, or alone; "" where `name` is none."""
    if name in CHUNKERS or name in CHUNKER_PRESETS:
        is_a, place, right = "chunker", "before the '+'", f"{name}+rerank"
    elif name in MODES or name in MODE_PRESETS:
        is_a, place, right = "mode", "behind the '+'", f"headers+{name}"
    else:
        return ""
    if kind:
        return f"{name!r} is a {is_a}, not a {kind}; it belongs {place}, as in {right}."
    return f"{name!r} is a {is_a}, and a strategy is a chunker and a mode: write {right}, or others."


def _unwritten(name: str, depth: object) -> Part:
    """The mode `name`, which nobody wrote, as deep as what it stands in: else rerank(depth=100) would rerank twenty."""
    part = _mode(Call(name))
    takes = MODES[part.name].takes
    own = dict(part.values).get(takes)
    if isinstance(own, int) and isinstance(depth, int) and own < depth:
        return _mode(Call(name, values=((takes, str(depth)),)))
    return part


def _miscounted(name: str, count: int, many: bool, inner: tuple[str, ...]) -> str:
    if many:
        return f"{name} joins two modes or more; {count} was given. Write {name}(vector,bm25), or others."
    if not inner:
        return f"{name} holds no modes in its brackets; {count} given. Write {name} alone."
    return (
        f"{name} holds {plural(len(inner), 'mode')} in its brackets; {count} were given. Join them: "
        f"{name}(fuse({','.join(['vector', 'bm25', '…'][:count])}))."
    )


def read_strategies(path: Path | None) -> Strategies:
    """What the file at `path` says; the packaged ten where it is None, or the default one and not there.

    Raises StorageError where it cannot be read, UsageError, which tells every fault with its key, where it says something
    else than was expected.
    """
    if path is None or (path == Settings().strategies and not path.exists()):
        path = PACKAGED
    fields = read_mapping(path, "the strategies", OPTION, ", ".join(KEYS), NUMBERS)
    faults = [
        f"unknown key {reprlib.repr(key)}.{did_you_mean(key[:SLUG], KEYS)} There are: {', '.join(KEYS)}."
        for key in fields
        if key not in KEYS
    ]
    names = _named(fields.get("strategies", {}), faults)
    matrix = _listed("matrix", fields.get("matrix", list(names)), names, faults)
    gate = _listed("gate", fields["gate"], names, faults) if "gate" in fields else None
    known = {each.name for each in matrix}
    faults += [
        f"gate: {each.name} is not in the matrix. Add it there, or leave it out here."
        for each in gate or ()
        if each.name not in known
    ]
    if faults:
        raise UsageError("\n".join([f"{path}: faults in the strategies: {len(faults)}", *faults]))
    return Strategies(matrix, None if gate is None else tuple(each.name for each in gate), names)


def _named(found: object, faults: list[str]) -> dict[str, str | Declared]:
    """The strategies by name, as they are written or foreign; what is wrong is added to `faults`."""
    if not isinstance(found, dict):
        faults.append(f"strategies: {reprlib.repr(found)} was found; expected: lines `name: CHUNKER+MODE`.")
        return {}
    names: dict[str, str | Declared] = {}
    for name, text in found.items():
        key = f"strategies.{name}" if name.isprintable() else f"strategies.{name!r}"
        if not _FITTING.fullmatch(name):
            faults.append(
                f"{reprlib.repr(key)}: a name of a-z, 0-9, _, +, . and - was expected, {SLUG} characters at most, since "
                "files are called by it."
            )
        elif isinstance(text, dict):
            try:
                names[name] = _foreign(name, text)
            except UsageError as error:
                faults.append(str(error))
        elif not isinstance(text, str):
            faults.append(
                f"{key}: {reprlib.repr(text)} was found; expected: CHUNKER+MODE, such as {EXAMPLE}, or of a retriever of your "
                f"own one of {', '.join(f'{kind}: …' for kind in SOURCES)}."
            )
        elif fault := _fault_of(name, text):
            faults.append(f"{key}: {fault}")
        else:
            names[name] = text
    return names


def _foreign(name: str, fields: Mapping[str, object]) -> Declared:
    """Raises UsageError, which tells every fault with its key."""
    if "+" in name:
        raise UsageError(f"strategies.{name}: a retriever of your own is called by a name without '+', such as mine.")
    return parse_declared(name, fields)


def _fault_of(name: str, text: str) -> str:
    """What is wrong with calling the strategy `text` by that name; "" where nothing is."""
    try:
        meant = strategy(text)
        if "+" not in name:
            return ""
        own = strategy(name)
    except UsageError as error:
        return str(error)
    if (own.chunker, own.mode) == (meant.chunker, meant.mode):
        return ""
    return f"the name is itself a strategy, and another than {text}. Name it without '+'."


def _listed(key: str, found: object, names: Mapping[str, str | Declared], faults: list[str]) -> tuple[Strategy, ...]:
    """The strategies of a list; what is wrong is added to `faults`."""
    if not isinstance(found, list) or not found:
        faults.append(f"{key}: {reprlib.repr(found)} was found; expected: a list of one strategy or more.")
        return ()
    listed: dict[str, Strategy] = {}
    for place, text in enumerate(found):
        try:
            if not isinstance(text, str):
                raise UsageError(f"{reprlib.repr(text)} was found; expected: a name, or {EXAMPLE}.")
            each = strategy(text, names)
        except UsageError as error:
            faults.append(f"{key}.{place}: {error}")
            continue
        if each.name in listed:
            faults.append(f"{key}.{place}: {each.name} stands twice. Leave one out.")
        listed[each.name] = each
    return tuple(listed.values())
