"""Token vectors on disk, and the highest cosines of a question's with a chunk's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from docmind.index.rows import RowFile
from docmind.index.tokens import TokenStore, TokenWriter
from docmind.protocols import TokenVectors


def write(folder, tokens, dim):
    with TokenWriter(folder, [len(t.scales) for t in tokens], dim) as writer:
        for start in range(0, len(tokens), 3):
            writer.write(tokens[start : start + 3])
    return TokenStore(folder)


def quantised(generator, length, dim=384):
    codes = generator.integers(-127, 128, (length, dim)).astype(np.int8)
    return TokenVectors(codes, (1 / np.linalg.norm(codes.astype(np.float64), axis=1)).astype(np.float32))


def test_the_highest_cosine_by_hand(tmp_path):
    """Two chunks: tokens along the first axis and at 0.6, 0.8; one along the second."""
    first = TokenVectors(np.array([[100, 0], [60, 80]], np.int8), np.array([0.01, 0.01], np.float32))
    second = TokenVectors(np.array([[0, 50]], np.int8), np.array([0.02], np.float32))
    index = write(tmp_path, [first, second], 2)
    question = np.eye(2, dtype=np.float32)
    assert index.max_sim(question, [0, 1]).tolist() == pytest.approx(np.array([[1, 0], [0.8, 1]]), abs=1e-6)
    assert index.max_sim(question, [1, 0, 1]) == pytest.approx(np.array([[0, 1, 0], [1, 0.8, 1]]), abs=1e-6)
    assert index.max_sim(question, []).shape == (2, 0)
    assert index.max_sim(question[:0], [0, 1]).shape == (0, 2)
    assert index.vectors(0) == pytest.approx(np.array([[1, 0], [0.6, 0.8]]), abs=1e-6)
    assert index.exact


@pytest.mark.parametrize("tokens", [1, 7, 17, 40])
def test_a_cosine_does_not_depend_on_the_company_of_its_chunk(tmp_path, tokens):
    """In one product over all chunks the last bit of some would."""
    generator = np.random.default_rng(2)
    index = write(tmp_path, [quantised(generator, n) for n in generator.integers(3, 400, 40)], 384)
    question = generator.normal(size=(tokens, 384)).astype(np.float32)
    together = index.max_sim(question, range(40))
    assert np.array_equal(index.max_sim(question, range(39, -1, -1)), together[:, ::-1])
    for position in range(40):
        assert np.array_equal(index.max_sim(question, [position])[:, 0], together[:, position])
        assert together[:, position] == pytest.approx((question @ index.vectors(position).T).max(axis=1), abs=1e-5)


def test_eight_threads_get_what_one_gets(tmp_path):
    generator = np.random.default_rng(4)
    index = write(tmp_path, [quantised(generator, n) for n in generator.integers(3, 400, 60)], 384)
    asked = [
        (generator.normal(size=(12, 384)).astype(np.float32), generator.permutation(60)[:20].tolist())
        for _ in range(80)
    ]
    alone = [index.max_sim(*each) for each in asked]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda each: index.max_sim(*each), asked))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_rows_in_parts_are_a_plain_numpy_file(tmp_path):
    rows = np.arange(35, dtype=np.float32).reshape(7, 5)
    with RowFile(tmp_path / "rows.npy", rows.shape, np.float32) as file:
        for part in (rows[:3], rows[3:3], rows[3:]):
            file.write(part)
    np.save(tmp_path / "saved.npy", rows)
    assert (tmp_path / "rows.npy").read_bytes() == (tmp_path / "saved.npy").read_bytes()


@pytest.mark.parametrize("rows", [np.zeros((1, 5), np.float32), np.zeros((3, 5), np.float32)])
def test_more_or_fewer_rows_than_announced_are_an_error(tmp_path, rows):
    with pytest.raises(ValueError, match="of 2 rows"), RowFile(tmp_path / "rows.npy", (2, 5), np.float32) as file:
        file.write(rows)


@pytest.mark.parametrize("rows", [np.zeros((2, 4), np.float32), np.zeros((2, 5))])
def test_rows_of_another_form_are_an_error(tmp_path, rows):
    with pytest.raises(ValueError, match="do not fit"), RowFile(tmp_path / "rows.npy", (2, 5), np.float32) as file:
        file.write(rows)
