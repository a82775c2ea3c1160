"""Texts of strangers as HTML that shows them and does nothing. What they say is not known here.

Streamlit reads Markdown, and in it LaTeX, icons and colours, in nearly all that it is given to show. Answers, passages,
titles and file names go through `shown` into st.html instead, where "&", "<", ">" and quotes are the only characters
that mean something, and all of them are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import PurePosixPath

from docmind.generation.extractive import Extractive
from docmind.serving.replies import Passage, Reply
from docmind.text import CITATION, visible, words
from docmind.types import Document, Span, blocks_in, merge

NEARBY = 600
"""Characters of a page that are open before a passage; the rest of what stands before it is folded."""

MOST = 200_000
"""Characters of a page that are shown on each side of a passage."""

_MARKDOWN = re.compile(r"\*\*|^#{1,6}(?= )", re.MULTILINE)

_WRAPPED = re.compile(r"(?<!\n)\n(?!\n)")
_GAP = re.compile(r"\n(?:[ \t]*\n){2,}")


def shown(text: str) -> str:
    """The text, escaped for an element; marks of emphasis and of headings are made faint, and nothing more of them."""
    return _MARKDOWN.sub(r'<i class="md">\g<0></i>', escape(visible(text)))


def answer(reply: Reply, name: str) -> str:
    """The answer's text; its citations lead to the passages of `name`, a word that is on the page once."""
    given = {str(passage.number) for passage in reply.cited}

    def link(match: re.Match[str]) -> str:
        number = match[0]
        return f'<a href="#{name}-{number}">[{number}]</a>' if number in given else f"[{number}]"

    def links(match: re.Match[str]) -> str:
        return re.sub(r"\d+", link, match[1])

    text = reply.answer.text
    if reply.answer.answerer == Extractive.name:  # a quoted sentence may be wrapped in its source
        text = _WRAPPED.sub(" ", text)
    none = " none" * reply.answer.abstained
    return f'<div class="answer{none}" dir="auto">{CITATION.sub(links, shown(text))}</div>'


def passage(found: Passage, name: str) -> str:
    """A passage under its number and place, its marks marked; rules of tables are left out."""
    text = _GAP.sub(
        "\n\n",
        ' <span class="gap">…</span> '.join(
            "".join(marked(found.document.text, part, found.marks) for part in _without_rules(found.document, span))
            for span in found.spans
        ),
    )
    header = f'<div class="header">{shown(found.header)}</div>' if found.header else ""
    return (
        f'<div class="passage" id="{name}-{found.number}"><div class="place"><b>[{found.number}]</b> '
        f'{place(found)}</div>{header}<div class="text" dir="auto">{text}</div></div>'
    )


def _without_rules(document: Document, span: Span) -> Iterator[Span]:
    """`span` without the lines below the heads of tables, which say nothing to a reader."""
    at = span.start
    for block in blocks_in(document, span.start, span.end):
        if block.header:
            rule = document.text.index("\n", block.header.start) + 1
            if at < rule:
                yield Span(document.id, at, min(rule, span.end))
            at = max(at, block.header.end + 1)
    if at < span.end:
        yield Span(document.id, at, span.end)


def place(found: Passage) -> str:
    """Title › heading › heading, page 3, and the file's name where it has a word that the title has not."""
    document, file = found.document, PurePosixPath(found.document.id)
    told = ' <span class="step">›</span> '.join(map(shown, (document.title, *found.heading)))
    if found.pages:
        name = "pages" if len(found.pages) > 1 else "page"
        told += f' <span class="page">{name} {", ".join(map(str, found.pages))}</span>'
    if not set(words(file.stem)) <= set(words(document.title)):
        told += f' <span class="name">{shown(file.name)}</span>'
    return told


def whole_page(found: Passage) -> str:
    """The text of the page with the passage highlighted, open at the passage: what is far above it is folded."""
    text = found.document.text
    start, end = found.spans[0].start, found.spans[-1].end
    near = text.rfind("\n", 0, max(0, start - NEARBY)) + 1
    above, below = text[max(0, near - MOST) : near], text[end : end + MOST]
    inner = "".join(
        f'<span class="lit">{marked(text, span, found.marks)}</span>{shown(text[span.end : after])}'
        for span, after in zip(found.spans, [*(s.start for s in found.spans[1:]), end], strict=True)
    )
    folded = (
        f"<details><summary>{len(above):,} characters above</summary>"
        f'<div class="text" dir="auto">{shown(above)}</div></details>'
        if above
        else ""
    )
    cut = f'<p class="gap">Cut after {MOST:,} characters.</p>' if len(text) - end > MOST or near > MOST else ""
    return (
        f'<div class="whole">{folded}<div class="text" dir="auto">{shown(text[near:start])}{inner}{shown(below)}</div>'
        f"{cut}</div>"
    )


def marked(text: str, span: Span, marks: Iterable[Span]) -> str:
    """The characters of `span`, with those of `marks` inside <mark>."""
    parts = []
    at = span.start
    for mark in merge(marks):
        start, end = max(at, mark.start), min(span.end, mark.end)
        if start < end:
            parts.append(f"{shown(text[at:start])}<mark>{shown(text[start:end])}</mark>")
            at = end
    return "".join([*parts, shown(text[at : span.end])])


def evidence(page: str, text: str) -> str:
    """A piece of a question's gold, and the page that it stands in."""
    return (
        f'<div class="passage"><div class="place">Gold, in {shown(page)}</div>'
        f'<div class="text" dir="auto"><mark>{shown(text)}</mark></div></div>'
    )


def turns(parts: Sequence[str]) -> str:
    """Plain and marked text in turns, the first plain."""
    return "".join(f"<mark>{shown(part)}</mark>" if n % 2 else shown(part) for n, part in enumerate(parts))


def stages(reply: Reply) -> str:
    """How long each stage took, as a bar and in milliseconds. A stage has one colour in every answer."""
    spent = [(stage.name, stage.seconds) for stage in reply.answer.ranking.stages]
    spent.append(("answer", reply.answer.timings["answer"]))
    total = sum(seconds for _, seconds in spent) or 1.0
    bar = "".join(
        f'<i class="s{_colour(name)}" style="width:{100 * seconds / total:.1f}%"></i>' for name, seconds in spent
    )
    names = "".join(
        f'<span><i class="s{_colour(name)}"></i>{shown(name)} {1000 * seconds:.1f} ms</span>' for name, seconds in spent
    )
    return f'<div class="stages"><div class="bar">{bar}</div>{names}<span>in all {1000 * total:.1f} ms</span></div>'


STAGES = ("bm25", "vector", "fusion", "rerank", "mmr", "answer")
"""Those with a colour of their own in page.css, in its order."""


def _colour(stage: str) -> int:
    return STAGES.index(stage) if stage in STAGES else sum(stage.encode()) % len(STAGES)
