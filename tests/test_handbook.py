"""The committed handbook agrees with itself, and is as large and as varied as a search over it needs."""

import sys
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow  # each reads the whole handbook

sys.path.insert(0, str(ROOT / "scripts"))

import check_handbook  # noqa: E402


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def pages():
    return {path.name: path for path in (ROOT / "corpus").glob("*.md") if path.name != "NOTICE.md"}


def test_the_figures_that_must_agree_do():
    assert list(check_handbook.faults()) == []


@pytest.mark.parametrize(
    ("page", "right", "wrong", "fault"),
    [
        ("country-germany.md", "Kiefernhall Vorsorge", "Kiefernthal Vorsorge", "the vendor Kiefernhall Vorsorge"),
        ("country-portugal.md", "](time-off.md", "](time-of.md", "links to time-of.md"),
        ("tables-at-a-glance.md", "| Austria | 15th |", "| Austria | 16th |", "Austria has '16th'"),
        ("faq.md", "€58", "€52", "outdated figure"),
    ],
)
def test_a_figure_that_does_not_agree_is_found(monkeypatch, tmp_path, page, right, wrong, fault):
    for name, path in {**pages(), "NOTICE.md": ROOT / "corpus" / "NOTICE.md"}.items():
        text = path.read_text(encoding="utf-8")
        if name == page:
            assert right in text or page == "faq.md"
            text = text.replace(right, wrong) + ("\nMeals: €52 a day.\n" if page == "faq.md" else "")
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(check_handbook, "CORPUS", tmp_path)
    assert any(fault in found for found in check_handbook.faults())


def test_numbers_are_read_in_digits_and_in_words():
    text = "Twenty-five days, 1,350 euro, 14.5 per cent, a hundred and fifty, the thirty-eighth hour, one and a half, full pay"
    assert {"25", "1350", "14.5", "150", "38", "1.5", "100"} <= check_handbook.numbers(text)
    assert "26" not in check_handbook.numbers(text)


def test_it_has_the_promised_size():
    assert len(pages()) >= 64
    assert sum(path.stat().st_size for path in pages().values()) >= 600_000
    assert sum(name.startswith("country-") for name in pages()) == 26


def test_most_country_pages_share_some_words_and_none_too_many():
    shingles = [
        check_handbook.shingles(path.read_text(encoding="utf-8"))
        for name, path in pages().items()
        if "country-" in name
    ]
    shares = [len(a & b) / len(a | b) for a, b in combinations(shingles, 2)]
    assert max(shares) < 0.35
    assert sum(share > 0.02 for share in shares) > len(shares) / 2
