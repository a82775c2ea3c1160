"""`docmind chat`: asks the documents from a terminal or a pipe. It shows answers and sources, and finds nothing itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from docmind.cli.common import (
    DEFAULTS,
    CorpusOption,
    ExcludeOption,
    IndexOption,
    Judged,
    ProfileOption,
    StrategiesFileOption,
    check_answerer,
    say_built,
)
from docmind.cli.terminal import flowing, out, progress, say, tell
from docmind.config import Settings
from docmind.errors import DocMindError, UsageError
from docmind.evaluation.gate.thresholds import read_thresholds
from docmind.evaluation.reports.excerpts import NOWHERE
from docmind.generation.answer import ANSWERERS, ask
from docmind.generation.extractive import Extractive
from docmind.generation.whole import Whole
from docmind.llm import available
from docmind.models import load as load_models
from docmind.retrieval.engine import Engine
from docmind.retrieval.strategies import Strategies, read_strategies
from docmind.text import same_title
from docmind.types import Answer, Query, Turn

REMEMBERED = 6
"""Messages of the conversation that a language model is told with a question: three questions and their answers."""

HISTORY = "chat_history"

HELP = """Ask a question, or:
  /strategy [NAME]   show or change how passages are found, such as headers+rerank
  /provider [NAME]   show or change who answers: {providers}
  /sources           the passages of the last answer, whole
  /help              this text
  /quit              leave (Ctrl-D does too); Ctrl-C stops an answer"""


def chat(
    corpus: CorpusOption = DEFAULTS.corpus,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    strategy: Annotated[
        str | None, typer.Option(help="How passages are found; the production strategy if not given.")
    ] = None,
    provider: Annotated[str, typer.Option(help=f"Who answers: {', '.join(ANSWERERS)}.")] = Extractive.name,
    model: Annotated[str | None, typer.Option(help="The provider's model, if not its default.")] = None,
    thresholds_file: Annotated[
        Path, typer.Option("--thresholds", help="Where the production strategy is named.")
    ] = DEFAULTS.thresholds,
    strategies_file: StrategiesFileOption = DEFAULTS.strategies,
) -> None:
    """Ask the documents. Questions come from the terminal, or one a line from a pipe, which ends with the code of the last
    line that could not be answered."""
    name = strategy or read_thresholds(thresholds_file).production
    strategies = read_strategies(strategies_file)
    strategies.find(name)  # refuses a wrong one before any work
    answered_by = check_answerer(provider, model)
    settings = Settings(
        corpus=corpus,
        strategies=strategies_file,
        index_dir=index_dir,
        profile=profile,
        exclude=tuple(exclude or ()),
    )
    with closing(Engine(settings, load_models(profile), say_built)) as engine:
        talk = _Talk(engine, strategies, name, provider, model)
        talk.open()
        if sys.stdin.isatty():
            out.print(f"{name}, {answered_by}. Ask a question, or /help.", style="dim")
            _in_terminal(talk, index_dir / HISTORY)
        else:
            for line in sys.stdin:
                if not talk.read(line):
                    break
            if talk.failed:
                raise Judged(talk.failed)


def _in_terminal(talk: _Talk, history: Path) -> None:
    for line in _lines(history):
        try:
            if not talk.read(line):
                return
        except KeyboardInterrupt:
            tell("\nstopped")


def _lines(history: Path) -> Iterator[str]:
    """What is typed, with a history over the arrow keys where the system has readline. Ctrl-C at the prompt drops the line."""
    try:
        import readline
    except ImportError:  # Windows
        readline = None  # type: ignore[assignment]
    if readline:
        try:
            readline.read_history_file(history)
        except OSError:
            readline.clear_history()  # the first time, or a folder that cannot be read
    try:
        while True:
            try:
                yield input("\n> ")
            except KeyboardInterrupt:
                out.print("\n(Ctrl-D or /quit leaves)", style="dim")
            except EOFError:
                out.print()
                return
    finally:
        if readline:
            readline.set_history_length(1000)
            try:
                readline.write_history_file(history)
            except OSError as error:
                tell(f"warning: the history of questions is not kept: {error.strerror}", "yellow")


@dataclass(slots=True)
class _Talk:
    """A conversation: how it is answered, what was said, the last answer, and the exit code of the last failure."""

    engine: Engine
    strategies: Strategies
    strategy: str
    provider: str
    model: str | None
    turns: list[Turn] = field(default_factory=list)
    last: Answer | None = None
    failed: int = 0

    def open(self) -> None:
        """Have the index of the strategy, built with progress if it is not there."""
        searcher = self.engine.searcher(progress)
        wanted = searcher.find(self.strategy)
        searcher.retriever(wanted, progress)
        if self.provider == Extractive.name and not wanted.foreign and searcher.embedder.has_tokens:
            searcher.collection(wanted.chunker).tokens  # noqa: B018 - built now, and not at the first question

    def read(self, line: str) -> bool:
        """Answer a question or do a command; False where it says to leave. What the user can mend is told, and the
        conversation goes on."""
        line = line.strip()
        if line in ("exit", "quit"):  # no question, and what many terminals know
            return False
        try:
            if line.startswith("/"):
                return self._command(line)
            if line:
                self._ask(line)
        except DocMindError as error:
            tell(f"error: {error}", "red")
            self.failed = error.exit_code
        return True

    def _command(self, line: str) -> bool:
        commands: dict[str, Callable[[str], None]] = {
            "/strategy": self._set_strategy,
            "/provider": self._set_provider,
            "/sources": lambda _: self._show_sources(),
            "/help": lambda _: say(HELP.format(providers=", ".join(ANSWERERS))),
        }
        name, _, argument = line.partition(" ")
        if name in ("/quit", "/exit"):
            return False
        if name not in commands:
            raise UsageError(f"unknown command {shlex.quote(name)}. There are: {', '.join([*commands, '/quit'])}.")
        commands[name](argument.strip())
        return True

    def _set_strategy(self, name: str) -> None:
        if name:
            self.strategies.find(name)
            before, self.strategy = self.strategy, name
            try:
                self.open()
            except BaseException:
                self.strategy = before
                raise
        others = ", ".join(known.name for known in self.strategies.matrix if known.name != self.strategy)
        also = "" if name else f"; there are also {others}, and any other chunker+mode"
        say(f"strategy {self.strategy}{also}")

    def _set_provider(self, name: str) -> None:
        if name:
            check_answerer(name)
            self.provider, self.model = name, None
        with_key = ", ".join([Extractive.name, *available()])
        say(f"provider {self.provider}" + ("" if name else f"; usable now: {with_key}"))

    def _ask(self, question: str) -> None:
        shown = flowing()
        query = Query(question, history=tuple(self.turns[-REMEMBERED:]))
        try:
            answer = ask(
                self.engine.searcher(progress),
                self.strategy,
                self.provider,
                query,
                model=self.model,
                on_text=shown.write,
            )
        finally:  # of an answer that breaks off too
            shown.end()
        if answer.thought:
            say(f"({len(answer.thought):,} characters that the model thought aloud are no part of the answer)", "dim")
        if answer.removed:
            cited = ", ".join(f"[{number}]" for number in answer.removed)
            tell(f"warning: {cited} cites no passage that was given; nothing stands behind it", "yellow")
        if answer.cut:
            tell("warning: this answer was cut at the model's limit of tokens; ask for less at once", "yellow")
        if not answer.supported:
            tell("warning: this answer cites no passage; nothing shows that it is right", "yellow")
        self.last = answer
        self.turns += [Turn("user", question), Turn("assistant", answer.text)]
        if answer.answerer == Whole.name and answer.citations:
            self._show_sources()
            return
        for citation in sorted(answer.citations, key=lambda citation: citation.number):
            place = self._place(citation.hit.chunk.doc_id, citation.hit.chunk.path)
            say(f"  [{citation.number}] {place}", "dim")
        if not sys.stdin.isatty():
            out.print()  # before the next answer

    def _show_sources(self) -> None:
        if self.last is None or not self.last.ranking.hits:
            out.print("There is no answer yet.")
            return
        for number, hit in enumerate(self.last.ranking.hits, start=1):
            say(f"[{number}] {self._place(hit.chunk.doc_id, hit.chunk.path)}  score {hit.score:.3f}", "bold")
            say(hit.chunk.body.strip())
            out.print()

    def _place(self, page: str, path: tuple[str, ...]) -> str:
        """Title › heading › heading (address or file). Of a page that is gone since, its file stands for the title."""
        document = self.engine.searcher(progress).documents.get(page)
        title = document.title if document else page
        titles = path if path and same_title(path[0], title) else (title, *path)
        return f"{' › '.join(titles)} ({document.url if document and document.url else page})" if page else NOWHERE
