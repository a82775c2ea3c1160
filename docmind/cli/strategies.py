"""`docmind strategies`: what a strategy can be made of, and which ones strategies.yaml names. It builds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from docmind.chunking import CHUNKERS
from docmind.chunking import PRESETS as CHUNKER_PRESETS
from docmind.cli.common import DEFAULTS, BaseOption, StrategiesFileOption
from docmind.cli.terminal import out, say, show
from docmind.config import Settings
from docmind.errors import UsageError
from docmind.evaluation.reports.tables import Table
from docmind.parameters import declared, written
from docmind.retrieval import MODES
from docmind.retrieval import PRESETS as MODE_PRESETS
from docmind.retrieval.strategies import Strategy, read_strategies
from docmind.runs.base import scored
from docmind.spec import EXAMPLE, names


def strategies(
    strategies_file: StrategiesFileOption = DEFAULTS.strategies,
    needs: Annotated[
        bool, typer.Option("--needs", help="Tell only which extras of DocMind a run of them needs, on one line.")
    ] = False,
    wanted: Annotated[
        str | None, typer.Option("--strategies", help="With --needs: of these, comma-separated, and not of the matrix.")
    ] = None,
    base: BaseOption = None,
) -> None:
    """List the parts of a strategy with their parameters, and the strategies of the file."""
    if needs:
        known = scored(Settings(strategies=strategies_file, base=base))
        chosen = known.matrix if wanted is None else [known.find(name) for name in names(wanted)]
        out.print("retrieval" if any(each.foreign is None for each in chosen) else "")
        return
    if wanted is not None or base is not None:
        raise UsageError("--strategies and --base say of what --needs tells. Give --needs too.")
    known = read_strategies(strategies_file)
    say(f"A strategy is CHUNKER+MODE, such as {EXAMPLE}.")
    _show("Chunkers", _parts("chunker", CHUNKERS.items()))
    _show("Modes", _parts("mode", ((name, mode.make) for name, mode in MODES.items())))
    inner = ((name, f"{name}({','.join(mode.inner)})", "two or more" if mode.many else "one")
             for name, mode in MODES.items() if mode.inner)  # fmt: skip
    _show("Modes in modes", Table(("mode", "stands for", "modes in its brackets"), tuple(inner)))
    _show("Presets", _presets({**CHUNKER_PRESETS, **MODE_PRESETS}))
    gated = [each.name for each in known.matrix] if known.gate is None else known.gate
    rows = ((each.name, "yes" if each.name in gated else "no", _in_full(each)) for each in known.matrix)
    _show("Strategies that are scored", Table(("strategy", "gated", "in full"), tuple(rows)))
    others = [name for name in known.names if name not in {each.name for each in known.matrix}]
    if others:
        _show("Other names", Table(("strategy", "in full"), tuple((name, str(known.names[name])) for name in others)))


def _in_full(strategy: Strategy) -> str:
    return str(strategy.foreign or f"{strategy.chunker}+{strategy.mode}")


def _show(title: str, table: Table) -> None:
    out.print()
    say(title, "bold")
    show(table)


def _parts(kind: str, parts: Iterable[tuple[str, object]]) -> Table:
    """A row a parameter; a part without any has one row."""
    rows: list[tuple[str, ...]] = []
    for name, part in parts:
        rows += [
            (name, each.name, written(each.default), each.range or each.expected, each.meaning)
            for each in declared(part)
        ] or [(name, "", "", "", "")]
    return Table((kind, "parameter", "default", "range", "meaning"), tuple(rows))


def _presets(presets: Mapping[str, str]) -> Table:
    return Table(("preset", "stands for"), tuple(presets.items()))
