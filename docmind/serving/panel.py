"""A question and its reply on the page, in Streamlit. Where the reply comes from is not known here.

What strangers wrote is shown by st.html, escaped by markup.py, and stands in no label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from docmind.errors import DocMindError
from docmind.generation.extractive import Extractive
from docmind.llm import available
from docmind.protocols import Advance
from docmind.retrieval.searcher import Searcher
from docmind.serving import markup
from docmind.serving.replies import Passage, Reply, reply


def panel(name: str, title: str, example: str, searcher: Callable[[], Searcher], strategies: Sequence[str]) -> None:
    """A question, and its answer by one strategy or by two side by side. `name` is on the page once; `example` stands
    where the question will; `searcher` gives what is asked, which may read documents first."""
    with st.form(f"{name}-form", border=False):
        left, right = st.columns([6, 1], vertical_alignment="bottom")
        question = left.text_input(title, key=f"{name}-question", placeholder=example)
        if right.form_submit_button("Ask", type="primary", width="stretch"):
            st.session_state[f"{name}-asked"], st.session_state[f"{name}-replies"] = question, {}
    one, two, three = st.columns(3)
    first = one.selectbox("Strategy", strategies, key=f"{name}-strategy")
    by = two.selectbox(
        "Answered by",
        (Extractive.name, *available()),
        key=f"{name}-provider",
        format_func=lambda who: "quotes, no language model" if who == Extractive.name else who,
    )
    others = [strategy for strategy in strategies if strategy != first]
    second = three.selectbox("Compare with", others, index=None, key=f"{name}-second", placeholder="a second strategy")
    if f"{name}-asked" not in st.session_state:
        return
    chosen = [first, second] if second else [first]
    for side, (column, strategy) in enumerate(zip(st.columns(len(chosen), gap="large"), chosen, strict=True)):
        with column:
            if second:
                st.markdown(f"**{strategy}**")
            with telling():
                answered(name, side, searcher, strategy, by)


def answered(name: str, side: int, searcher: Callable[[], Searcher], strategy: str, by: str) -> None:
    """The reply to what was asked, made once however often the page runs again."""
    question = st.session_state[f"{name}-asked"]
    known = st.session_state.setdefault(f"{name}-replies", {})
    if (strategy, by) not in known:
        place, written = st.empty(), []

        def write(piece: str) -> None:
            written.append(piece)
            place.html(f'<div class="answer">{markup.shown("".join(written))}</div>')

        try:
            with st.spinner("Looking …"):
                known[strategy, by] = reply(searcher(), strategy, by, question, bar, write)
        finally:
            place.empty()
    show_reply(known[strategy, by], f"{name}-{side}")


@contextmanager
def telling() -> Iterator[None]:
    """What cannot be done inside is told on the page: files may go, or fill the disk, at any time. The rest inside is left
    out."""
    try:
        yield
    except DocMindError as error:
        notice(str(error), refused=True)
    except OSError as error:
        notice(
            f"{error.filename or 'A file'}: cannot be read or written: {error.strerror or error}. If it is there and the disk "
            "has room, reload this page.",
            refused=True,
        )


def show_reply(found: Reply, name: str) -> None:
    """An answer with its passages and how long each stage took; `name` is on the page once."""
    answer = found.answer
    st.html(markup.answer(found, name))
    if not answer.supported:
        notice("This answer cites no passage: nothing says that it is so.", refused=True)
    if answer.cut:
        notice("This answer was cut at the model's limit of tokens. Ask for less at once.", refused=True)
    if answer.thought:
        notice(f"What the model thought aloud is left out: {len(answer.thought):,} characters.")
    if answer.removed:
        notice(f"It cited passages that it was not given; taken out: {', '.join(map(str, answer.removed))}.")
    for passage in found.cited:
        show_passage(passage, name)
    if found.others:
        with st.expander("Passages that were looked at and not cited"):
            for passage in found.others:
                show_passage(passage, name)
    st.html(markup.stages(found))


def show_passage(passage: Passage, name: str) -> None:
    """A passage, and the way to its page."""
    st.html(markup.passage(passage, name))
    if st.button("Read it in its page", key=f"{name}-{passage.number}", type="tertiary", icon=":material/article:"):
        show_page(passage)


@st.dialog("The passage in its page", width="large")
def show_page(passage: Passage) -> None:
    """The whole page, the passage in sight."""
    st.html(f'<div class="place">{markup.place(passage)}</div>{markup.whole_page(passage)}')


def notice(text: str, *, refused: bool = False) -> None:
    """A line that may hold words of strangers."""
    kind = "notice refused" if refused else "notice"
    st.html(f'<div class="{kind}" role="status">{markup.shown(text)}</div>')


@contextmanager
def bar(what: str, total: int) -> Iterator[Advance]:
    """A Progress on the page."""
    done, shown = 0, st.progress(0.0, f"{what} …")

    def advance(more: int) -> None:
        nonlocal done
        done += more
        shown.progress(min(1.0, done / total), f"{what}: {done} of {total}")

    try:
        yield advance
    finally:
        shown.empty()
