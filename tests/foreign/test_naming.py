from __future__ import annotations

import unicodedata

import pytest

from docmind.foreign.naming import Names
from docmind.types import Document

NAMES = Names(
    [
        Document("leave.md", "Leave", "a"),
        Document("hr/leave.md", "Leave of HR", "a"),
        Document("hr/pay day.md", "Pay day", "a", url="https://intra.example/pay/"),
        Document("hr/old/travel.md", "Travel", "a"),
        Document("it/devices.md", "Devices", "a", url="https://intra.example/it"),
        Document("it/phones.md", "Phones", "a", url="https://intra.example/it"),
        Document("größe.md", "Größe", "a"),
        Document("c#.md", "C#", "a"),
    ]
)


@pytest.mark.parametrize(
    ("source", "document"),
    [
        ("leave.md", "leave.md"),
        ("hr/leave.md", "hr/leave.md"),
        ("./leave.md", "leave.md"),
        ("/data/corpus/hr/leave.md", "hr/leave.md"),
        ("/data/corpus/leave.md", "leave.md"),
        ("/data/corpus/finance/leave.md", "leave.md"),
        ("travel.md", "hr/old/travel.md"),
        ("old/travel.md", "hr/old/travel.md"),
        ("ravel.md", None),
        ("hr/travel.md", None),
        ("travel", None),
        ("C:\\data\\hr\\leave.md", "hr/leave.md"),
        ("file:///data/hr/pay%20day.md", "hr/pay day.md"),
        ("file:/data/hr/pay day.md", "hr/pay day.md"),
        ("s3://bucket/hr/leave.md", "hr/leave.md"),
        ("https://wiki.example/hr/old/travel.md?v=3#tickets", "hr/old/travel.md"),
        ("https://intra.example/pay", "hr/pay day.md"),
        ("https://intra.example/pay/#when", "hr/pay day.md"),
        ("https://intra.example/it", None),  # two pages have that address
        ("hr/leave.md#chunk-3", "hr/leave.md"),
        ("c#.md", "c#.md"),
        ("docs/c%23.md", "c#.md"),
        (unicodedata.normalize("NFD", "größe.md"), "größe.md"),
        ("gr%C3%B6%C3%9Fe.md", "größe.md"),
        ("gro%CC%88%C3%9Fe.md", "größe.md"),
        ("", None),
        ("/", None),
        ("hr", None),
        ("hr/", None),
        ("nothing.md", None),
        ("/" * 100_000 + "leave.md", "leave.md"),
    ],
)
def test_what_a_name_means(source, document):
    found = NAMES.document(source)
    assert (found.id if found else None) == document


def test_a_name_that_might_mean_two_means_none():
    names = Names([Document("hr/leave.md", "", "a"), Document("old/leave.md", "", "a")])
    assert names.document("leave.md") is None
    assert names.document("hr/leave.md").id == "hr/leave.md"
