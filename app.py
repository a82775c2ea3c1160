"""The web page of DocMind: ask, ask documents of your own, look at the evaluation. Presentation alone.

    streamlit run app.py
    streamlit run app.py -- --corpus my-docs --questions my-questions.jsonl --out my-results

Answers, passages, titles, file names and errors hold text of strangers. It is shown by st.html, escaped by
docmind/serving/markup.py, and stands in no Markdown, label or caption, of which Streamlit would make links, images,
formulas, icons and colours.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from docmind import corpus, serving
from docmind.config import Settings
from docmind.corpus import FORMATS, pdf
from docmind.errors import DocMindError, UsageError
from docmind.evaluation.gate.compare import Change, compare
from docmind.evaluation.gate.history import Point, points
from docmind.evaluation.gate.thresholds import read_thresholds
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.instrument import document_hashes
from docmind.evaluation.record.reading import read_record
from docmind.evaluation.record.timings import read_bench, read_timings
from docmind.evaluation.record.types import QuestionResult, Record, StrategyResult
from docmind.evaluation.reports import history
from docmind.evaluation.reports.excerpts import NOWHERE, excerpt
from docmind.evaluation.reports.tables import FIRST, hardest, matrix, missed_by, percent
from docmind.evaluation.scoring.stats import wilson
from docmind.models import load
from docmind.retrieval.engine import Engine
from docmind.retrieval.strategies import read_strategies
from docmind.runs.history import committed, latest_commit
from docmind.serving import charts, markup, options
from docmind.serving.panel import bar, notice, panel, telling
from docmind.serving.uploads import MEGABYTES, TEXT_MEGABYTES, Told, Uploads
from docmind.text import plural
from docmind.types import Question, merge

try:
    SETTINGS, REFUSED = options.read(sys.argv[1:]), ""
except UsageError as wrong:
    SETTINGS, REFUSED = Settings(), str(wrong)
OWN = SETTINGS.corpus != Settings().corpus
"""Whether the page is about other documents than the project's own."""

SHOWN = 3  # hits of a strategy that the evaluation shows: those that hit@3 is about


@st.cache_resource(show_spinner=False, on_release=Engine.close)
def handbook() -> Engine:
    """One for all visitors; it reads, loads and builds when it is first asked."""
    return Engine(SETTINGS, load(SETTINGS.profile))


@st.cache_resource(scope="session", show_spinner=False, on_release=Uploads.close)
def uploads() -> Uploads:
    """One for each visitor, removed when the visit ends."""
    return Uploads(load(SETTINGS.profile))


def main() -> None:
    st.set_page_config(page_title="DocMind", page_icon="📖", layout="wide")
    st.html(Path(serving.__file__).with_name("page.css"))
    st.title("DocMind", anchor=False)
    if REFUSED:
        notice(REFUSED, refused=True)
        return
    strategies = own = [strategy.name for strategy in read_strategies(None).matrix]
    try:
        known = read_strategies(SETTINGS.strategies)
        strategies = [strategy.name for strategy in known.matrix]
        strategies = list(dict.fromkeys([read_thresholds(SETTINGS.thresholds).production, *strategies]))
        # Another system searches its own documents, not those that a visitor brings.
        own = [name for name in strategies if not known.find(name).foreign] or own
    except DocMindError as error:
        notice(f"No strategy is named for production: {error}", refused=True)
    ask, theirs, evaluation = st.tabs(["Ask", "Your documents", "Evaluation"])
    with ask:
        ask_tab(strategies)
    with theirs:
        documents_tab(own)
    with evaluation:
        evaluation_tab()


@st.fragment
def ask_tab(strategies: Sequence[str]) -> None:
    title, example = "Ask the handbook", "How many days may I carry over?"
    if OWN:
        title, example = "Ask the documents", "What do you want to know?"
    panel("handbook", title, example, lambda: handbook().searcher(), strategies)


@st.fragment
def documents_tab(strategies: Sequence[str]) -> None:
    with telling():
        own_documents(uploads(), strategies)


def own_documents(mine: Uploads, strategies: Sequence[str]) -> None:
    st.caption(
        f"Markdown or text of up to {TEXT_MEGABYTES} MB, PDF of up to {MEGABYTES} MB and {pdf.MAX_PAGES:,} pages. A file "
        "that is marked red is larger, and is not sent. Files are indexed for you alone in a "
        "temporary folder, which is removed when you leave or reload this page."
    )
    with st.form("upload", clear_on_submit=True, border=False):
        # Any type can be chosen: what is none of the formats is refused in words.
        chosen = st.file_uploader(f"Files: {', '.join(FORMATS)}", accept_multiple_files=True)
        if st.form_submit_button("Add"):
            st.session_state.troubles = []
            if chosen:
                st.session_state.pending = [(file.name, file.getvalue()) for file in chosen]
            else:
                told = f"Nothing was added: no file was chosen, or all are larger than {MEGABYTES} MB."
                st.session_state.troubles = [Told("", False, told)]
    with mine.in_use():
        with st.container():  # what is below it keeps its place, whatever is told
            change(mine, st.session_state.get("own-strategy", strategies[0]))
            for told in st.session_state.get("troubles", ()):
                notice(told.trouble, refused=not told.taken)
        if (searcher := mine.searcher) is not None:
            panel("own", "Ask your documents", "What do you want to know?", lambda: searcher, strategies)
            with st.expander(plural(len(mine.names), "file"), key="files"):
                for name in mine.names:
                    left, right = st.columns([6, 1])
                    left.html(f'<div class="file">{markup.shown(name)}</div>')
                    right.button("Delete", key=f"delete-{name}", on_click=partial(st.session_state.update, doomed=name))


def change(mine: Uploads, strategy: str) -> None:
    """Do what was asked for and is not done yet, and tell what was added; troubles are kept until the next upload. A
    click while files are embedded ends this run and begins another, which finds the files still waiting and the vectors
    there are."""
    state = st.session_state
    try:
        if "pending" in state:
            found = mine.add(state.pending, strategy, bar)
            state.troubles = [told for told in found if told.trouble]
            *others, last = [told.name for told in found if told.taken] or [""]
            if last:
                added = f"{', '.join(others)} and {last} were added." if others else f"{last} was added."
                replaced = ", ".join(told.name for told in found if told.replaced)
                notice(f"{added} Taken in place of an earlier file of that name: {replaced}." if replaced else added)
        elif state.get("doomed") in mine.names:
            mine.delete(state.doomed, strategy, bar)
            state.troubles = [told for told in state.get("troubles", ()) if told.name != state.doomed]
        else:
            return
    except DocMindError as error:
        state.troubles = [Told("", False, str(error))]
    for done in ("pending", "doomed", "own-replies"):
        state.pop(done, None)


@st.fragment
def evaluation_tab() -> None:
    with telling():
        evaluation()


def evaluation() -> None:
    latest = SETTINGS.out / "latest.json"
    path = latest if latest.exists() else SETTINGS.baseline
    if not path.exists():
        st.info("There are no results yet. This makes them, and takes a minute: `docmind eval`")
        return
    record = read(str(path), path.stat().st_mtime_ns)
    try:
        medians, taken = times()
    except DocMindError as error:
        notice(str(error), refused=True)
        medians, taken = {}, ""
    draw(record, path, medians, taken)


def draw(record: Record, path: Path, medians: Mapping[str, float], taken: str) -> None:
    st.caption(
        f"{record.counts.answerable} answerable questions, from {path.name}{production(record)}. Hit@k, in %: a passage with "
        "the answer is among the first k."
    )
    st.subheader("Every strategy", anchor=False)
    table = matrix(record, medians)
    st.dataframe(charts.heat(table.header, table.rows, falling="ms/query"), height="content")
    hit3 = {name: value for name, s in record.strategies.items() if (value := s.metric("hit@3")) is not None}
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Hit@3 by type of question, %", anchor=False)
        st.altair_chart(charts.by_type({name: by_type(record.strategies[name]) for name in hit3}))
    with right:
        st.subheader("Latency against accuracy", anchor=False)
        known = record.strategies
        timed = [
            charts.Timed(name, known[name].chunker, known[name].mode, medians[name], 100 * value)
            for name, value in hit3.items()
            if name in medians
        ]
        if timed:
            st.altair_chart(charts.latency(timed))
            st.caption(f"Times from {taken}.")
        else:
            st.info("No times were taken with these results. This takes them: `docmind eval`")
    before = None
    if record.kind != "baseline":
        before = against_baseline(record)
    over_time()
    try:
        questions, pages = answer_key(SETTINGS.questions.stat().st_mtime_ns, corpus.state(SETTINGS.corpus))
    except (DocMindError, OSError) as error:
        notice(f"The questions cannot be shown: {error}", refused=True)
        return
    hardest_questions(record, questions)
    one_question(record, before, questions, pages)


def production(record: Record) -> str:
    """Which of the record's strategies is the one in production, where that is known."""
    try:
        name = read_thresholds(SETTINGS.thresholds).production
    except DocMindError:  # told at the top of the page
        return ""
    return f"; {name} is in production" if name in record.strategies else ""


def by_type(strategy: StrategyResult) -> dict[str, charts.Percent]:
    """Hit@3 of each type of question, with its interval."""
    found = {}
    for kind, part in strategy.by_type.items():
        value = part.metrics.get("hit@3")
        if value is not None:
            low, high = wilson(round(value * part.n), part.n)
            found[kind] = charts.Percent(100 * value, 100 * low, 100 * high)
    return found


def times() -> tuple[Mapping[str, float], str]:
    """Milliseconds a query by strategy, and the file they are from: of the last run, else of the committed benchmark."""
    last, bench = SETTINGS.out / "timings.json", SETTINGS.out / "bench.json"
    if last.exists():
        return {name: taken.query.p50 for name, taken in read_timings(last).milliseconds.items()}, last.name
    return (read_bench(bench, SETTINGS.corpus.name), bench.name) if bench.exists() else ({}, "")


@st.cache_resource(max_entries=4, show_spinner=False)
def read(path: str, changed: int) -> Record:
    return read_record(Path(path))


@st.cache_resource(max_entries=1, show_spinner="Reading the answer key …")
def answer_key(changed: int, state: object) -> tuple[dict[str, Question], Mapping[str, str]]:
    """The questions by id, and the pages' hashes as results name them."""
    documents = list(handbook().searcher().documents.values())
    key = load_questions(SETTINGS.questions, documents)
    return {question.id: question for question in key.questions}, document_hashes(documents)


def against_baseline(record: Record) -> Record | None:
    """The baseline, where there is one."""
    st.subheader("Against the baseline", anchor=False)
    try:
        before = read_baseline(SETTINGS.baseline)
    except DocMindError as error:
        notice(str(error))
        return None
    found = compare(before, record)
    for told in (*found.refusals, *(d for d in found.differences if not d.endswith(": same"))):
        notice(told)
    rows = [
        {
            "strategy": change.strategy,
            "Hit@3 before": percent(change.before / change.n),
            "now": percent(change.after / change.n),
            "p": round(change.p, 3),
            "verdict": verdict(change),
            "lost": ", ".join(flip.question_id for flip in change.lost) or "none",
            "gained": ", ".join(flip.question_id for flip in change.gained) or "none",
        }
        for change in found.changes
    ]
    if rows:
        st.caption(f"{plural(found.questions, 'question')} can be compared.")
        st.dataframe(rows, height="content")
    return before


def over_time() -> None:
    """The production strategy in the versions of the baseline, where there is a repository."""
    commit = latest_commit(SETTINGS.baseline)
    if not commit:
        return
    st.subheader("Over time", anchor=False)
    try:
        told, notes = versions(read_thresholds(SETTINGS.thresholds).production, commit)
    except DocMindError as error:
        notice(str(error))
        return
    drawn = [
        charts.Dated(f"{point.when} {point.name}", FIRST[metric][0], 100 * value, "; ".join(point.differs))
        for point in told
        for metric, value in point.figures.items()
        if value is not None
    ]
    if drawn:
        st.altair_chart(charts.history(drawn))
    st.caption(history.LEGEND)
    for note in notes:
        notice(note)
    rows = history.table(told)
    st.dataframe([dict(zip(rows.header, row, strict=True)) for row in rows.rows], height="content")


@st.cache_resource(max_entries=1, show_spinner="Reading earlier baselines …")
def versions(strategy: str, commit: str) -> tuple[list[Point], tuple[str, ...]]:
    """And what is not among them. As long as `commit` is checked out, the baseline has no other versions."""
    found = committed(SETTINGS.baseline)
    return list(points(found.versions, strategy)), found.notes


def verdict(change: Change) -> str:
    """What may be said of a change, in words."""
    if not change.lost and not change.gained:
        return "no change"
    return "within noise" if change.within_noise else "beyond noise"


def hardest_questions(record: Record, questions: Mapping[str, Question]) -> None:
    st.subheader("Hardest questions", anchor=False)
    known = [q for q in questions.values() if q.gold and q.id in record.instrument.questions]
    worst = hardest(record, known)
    by_all = sum(missed_by(record, question) == len(record.strategies) for question in known)
    st.caption(
        f"The {len(worst.rows)} of {plural(len(known), 'question')} that most strategies miss. Missed by every strategy: "
        f"{by_all}."
    )
    st.dataframe([dict(zip(worst.header, row, strict=True)) for row in worst.rows], height="content")


def one_question(
    record: Record, before: Record | None, questions: Mapping[str, Question], pages: Mapping[str, str]
) -> None:
    """The gold of one question, and what each strategy found for it, the evidence marked."""
    st.subheader("One question, every strategy", anchor=False)
    if record.kind == "baseline":
        st.info("A baseline keeps no passages. This makes results that do: `docmind eval`")
        return
    documents = handbook().searcher().documents
    chosen = st.selectbox("Question", list(questions), format_func=lambda id_: f"{id_}: {questions[id_].text}")
    gold = merge(span for piece in questions[chosen].gold for span in piece.spans)
    for piece in questions[chosen].gold:
        page, told = piece.doc_id or "", "the whole page"
        if piece.spans:
            first = piece.spans[0]
            page, told = first.doc_id, documents[first.doc_id].text[first.start : first.end]
        st.html(markup.evidence(page, told))
    for name, strategy in record.strategies.items():
        found = strategy.questions.get(chosen)
        if found is None:
            continue
        old = before.strategies[name].questions.get(chosen) if before and name in before.strategies else None
        with st.expander(f"{name}: {became(found)}{formerly(found, old)}"):
            for number, hit in enumerate(found.hits[:SHOWN], start=1):
                if not hit.spans:
                    st.html(f'<div class="passage"><div class="place"><b>{number}</b> {NOWHERE}</div></div>')
                    continue
                if record.instrument.pages[hit.source] != pages.get(hit.source):
                    notice(f"{hit.source} was changed since. Make the results anew: docmind eval.")
                    continue
                ranges = [(span.start, span.end) for span in gold if span.doc_id == hit.source]
                st.html(
                    f'<div class="passage"><div class="place"><b>{number}</b> {markup.shown(hit.source)}</div>'
                    f'<div class="text" dir="auto">{markup.turns(excerpt(documents[hit.source], hit.spans, ranges))}</div></div>'
                )


def became(found: QuestionResult) -> str:
    """Where the evidence was found, or what it was lost to."""
    if found.error is not None:
        return "ended in an error"
    if not found.ranks:
        return "nothing to find"
    told = f"found at {found.rank}" if found.rank else "not found"
    return f"{told}, lost at {found.lost_at}" if found.lost_at else told


def formerly(found: QuestionResult, old: QuestionResult | None) -> str:
    """The rank in the baseline, where it was another."""
    if old is None or old.rank == found.rank:
        return ""
    return f", in the baseline {f'at {old.rank}' if old.rank else 'not found'}"


if __name__ == "__main__":
    main()
