"""What every chunker owes, whatever it is: a newcomer to CHUNKERS inherits these tests."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from docmind.chunking import CAP, CHUNKERS, PRESETS
from docmind.corpus.markdown import document
from docmind.errors import UsageError
from docmind.parameters import declared, written
from docmind.retrieval.strategies import chunker
from docmind.types import Document

LINES = [
    "# Leave",
    "## Sick pay",
    "### Notice",
    "#### When abroad",
    "# " + "a very long heading " * 150,
    "Take 25 days. Ask first! May I? Yes.",
    "Take 25 days. Ask first! May I? Yes.",
    "HR HR HR HR " * 60,
    "- book it\n- tell us\n  - by mail",
    "| Code | Days |\n|---|---|\n" + "| A\\|B | 25 |\n| C07 | 1,480 |\n" * 40,
    "```sh\n# not a heading\n" + "    make all\n" * 20 + "```",
    "年次有給休暇は二十五日です。" * 60,
    "漢" * 700,
    "שלום עולם, חופשה שנתית",
    "e\u0301a\u0300 " * 40,
    "😀👍🏽👩‍👩‍👧 𝔘𝔫𝔦",
    "한국어" * 200,
    "x" * 1500,
    "[SEP] [MASK]",
    "",
    "   ",
]
TEXTS = st.lists(
    st.sampled_from(LINES) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=60),
    max_size=12,
).map("\n".join)

each_chunker = pytest.mark.parametrize("name", [*CHUNKERS, *PRESETS])


def split(name, embedder, document):
    """The chunks of the chunker that `name` writes."""
    part = chunker(name)
    return CHUNKERS[part.name](embedder, **dict(part.values)).split(document).chunks


def page(text: str) -> Document:
    return document("leave.md", text, title="Leave")


@each_chunker
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
@example(text="\n\n".join(LINES))
@example(text="")
@example(text=" \n\t\n")
def test_chunks_keep_the_contract(name, text, hash_embedder):
    leave = page(text)
    chunks = split(name, hash_embedder, leave)

    assert [chunk.order for chunk in chunks] == list(range(len(chunks)))
    starts = [chunk.spans[0].start for chunk in chunks]
    assert all(a < b for a, b in pairwise(starts))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        assert chunk.body == "".join(text[span.start : span.end] for span in chunk.spans)
        assert chunk.body.strip()
        assert hash_embedder.tokenizer.count(chunk.prefix + chunk.body) <= CAP
    assert not text_left_out(leave, chunks).strip()
    assert chunks == split(name, hash_embedder, page(text))


def text_left_out(document, chunks):
    """The characters of no chunk; the whole lines of a heading count as told where its title stands in a prefix."""
    left = list(document.text)
    told = {span for chunk in chunks for span in chunk.prefix_spans}
    lines = [
        (block.span.start, block.span.end)
        for block in document.blocks
        if block.kind == "heading" and block.words in told
    ]
    for start, end in [*lines, *((span.start, span.end) for chunk in chunks for span in chunk.spans)]:
        left[start:end] = " " * (end - start)
    return "".join(left)


@each_chunker
def test_equal_passages_have_ids_of_their_own(name, hash_embedder):
    chunks = split(name, hash_embedder, page("word " * 5000))
    assert len({chunk.body for chunk in chunks}) < len(chunks)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@each_chunker
def test_blank_documents_give_no_chunk(name, hash_embedder):
    for text in ("", " ", "\n\n\t\n"):
        assert split(name, hash_embedder, page(text)) == ()


@each_chunker
def test_a_line_of_a_megabyte_is_no_trouble(name, hash_embedder):
    text = "abcdefghi " * 100_000
    chunks = split(name, hash_embedder, page(text))
    assert max(hash_embedder.tokenizer.count(chunk.text) for chunk in chunks) <= CAP
    assert not text_left_out(page(text), chunks).strip()


@each_chunker
def test_one_endless_word_becomes_many_chunks(name, hash_embedder):
    text = "ab" * 100_000  # a single [UNK] to the model
    chunks = split(name, hash_embedder, page(text))
    assert max(len(chunk.body) for chunk in chunks) <= 500 * 100
    assert not text_left_out(page(text), chunks).strip()


@each_chunker
def test_it_is_made_of_the_embedder_and_of_what_it_declares(name, hash_embedder):
    part = chunker(name)
    made = CHUNKERS[part.name](hash_embedder, **dict(part.values))
    assert made.embedder is hash_embedder
    assert [each.name for each in declared(type(made))] == [parameter for parameter, _ in part.values]
    for each in declared(type(made)):
        assert getattr(made, each.name) == dict(part.values)[each.name]
        assert each.meaning
        assert each.read(written(each.default)) == each.default, "a default is in its range, and can be written"


@each_chunker
def test_every_parameter_can_be_set_to_its_bounds(name, hash_embedder):
    """Where another parameter forbids one, which its own test holds; else the text is split without loss."""
    text = "\n\n".join(LINES)
    for each in declared(CHUNKERS[chunker(name).name]):
        for bound in (each.low, each.high):
            with suppress(UsageError):
                chunks = split(f"{name}({each.name}={written(bound)})", hash_embedder, page(text))
                assert not text_left_out(page(text), chunks).strip()


def test_no_preset_has_the_name_of_a_chunker():
    assert not PRESETS.keys() & CHUNKERS.keys()


def test_importing_the_catalogue_imports_no_heavy_library():
    code = "import sys, docmind.chunking; print([m for m in sys.modules if m.startswith(('langchain', 'onnxruntime'))])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
