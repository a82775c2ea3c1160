from __future__ import annotations

import logging
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter

from docmind.chunking import recursive
from docmind.chunking.recursive import Recursive, locate
from docmind.types import Document


def starts(document, chunker):
    return [chunk.spans[0].start for chunk in chunker.split(document).chunks]


def test_repeated_words_are_placed_where_they_stand(hash_embedder):
    # LangChain's own start_index says 0, 3, 3, 3, 15.
    text = "HR HR HR HR HR pay"
    chunks = Recursive(hash_embedder, size=5, overlap=3).split(Document("d", "d", text)).chunks
    assert [(c.body, c.spans[0].start) for c in chunks] == [("HR HR", 0), ("HR", 6), ("HR", 9), ("HR", 12), ("pay", 15)]


def test_a_length_in_words_is_placed_too():
    # LangChain's own start_index says 0, 72, 144, 216, -1, 72.
    text = "Alpha beta gamma delta. " * 12
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=10, chunk_overlap=2, length_function=lambda piece: len(piece.split())
    )
    places = locate(text, splitter.split_text)
    assert [start for start, _ in places] == sorted({start for start, _ in places})
    assert [text[start:end] for start, end in places] == splitter.split_text(text)
    assert places[-1][1] == len(text.rstrip())


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(st.sampled_from("ab \n\t.\u00a0é😀漢"), max_size=200),
    size=st.integers(2, 30),
    share=st.floats(0, 1),
    names=st.sampled_from([32, recursive.NAMES]),  # with 32 names, longer texts use each again
)
def test_places_are_langchains_own_chunks(text, size, share, names):
    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=int(size * share))
    with mock.patch.object(recursive, "NAMES", names):
        places = locate(text, splitter.split_text)
    assert [text[start:end] for start, end in places] == splitter.split_text(text)


def test_astral_characters(hash_embedder):
    text = "😀" * 1500
    assert starts(Document("d", "d", text), Recursive(hash_embedder, size=1000, overlap=200)) == [0, 800]


def test_a_piece_that_is_no_slice_stops_the_run():
    with pytest.raises(RuntimeError, match="cannot be placed"):
        locate("a b", lambda text: [text.replace(" ", "")])


def test_a_chunk_over_the_cap_is_cut(hash_embedder):
    text = "-" * 1000  # a token each
    chunks = Recursive(hash_embedder, size=1000, overlap=200).split(Document("d", "d", text)).chunks
    assert [(c.spans[0].start, c.spans[0].end) for c in chunks] == [(0, 500), (500, 1000)]


def test_langchain_has_nothing_to_warn_of(hash_embedder, caplog):
    with caplog.at_level(logging.WARNING):
        Recursive(hash_embedder, size=1000, overlap=200).split(Document("d", "d", "word " * 2000))
    assert not caplog.records
