"""answers.json: read as it was written, and refused with the field's name where it is anything else."""

import copy
import json

import pytest

from docmind.errors import BaselineError, IncompleteError
from docmind.evaluation.record.answerrows import Row
from docmind.evaluation.record.answers import SCHEMA, AnswersRecord, Fingerprint, read_reference, written
from docmind.evaluation.record.layout import dumps, sealed
from docmind.evaluation.scoring.summary import summary
from docmind.types import Answer, Gold, Question, Ranking, Span

KEY = (
    Question("a0", "?", (Gold((Span("page.md", 1, 9),)),), type="direct", split="dev"),
    Question("a1", "?", (Gold((Span("page.md", 1, 9),)),), type="direct", split="dev"),
    Question("u0", "?", split="dev"),
)


def record():
    def row(question, verdict, confidence):
        said = Answer("Five.", (), False, Ranking(()), "extractive", confidence=confidence)
        return Row.of(question, ("a", "v"), said, verdict=verdict, metrics={"token_f1": 0.5})

    rows = [row(KEY[0], "correct", 0.5), Row.of(KEY[1], ("a", "v"), None, error="429"), row(KEY[2], "wrong", 0.25)]
    return AnswersRecord(
        fingerprint=Fingerprint(
            questions={q.id: f"hash of {q.id}" for q in KEY},
            strategy="s",
            answerer="extractive",
            judge="span",
            code="c",
        ),
        summary=summary(rows, KEY, ["token_f1"]),
        verdicts={row.id: row.verdict for row in rows},
    )


def sealed_file(path, found):
    path.write_text(dumps(sealed({key: value for key, value in found.items() if key != "checksum"})), encoding="utf-8")
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.json"


def test_a_reference_is_read_as_it_was_sealed(path):
    path.write_text(written(record(), seal=True), encoding="utf-8")
    assert read_reference(path) == record()
    assert written(read_reference(path), seal=True) == path.read_text(encoding="utf-8")


def test_the_file_names_its_schema_and_only_the_reference_is_sealed():
    latest, reference = (json.loads(written(record(), seal=seal)) for seal in (False, True))
    assert latest["schema"] == SCHEMA == "docmind.answers/3"
    assert reference == {**latest, "checksum": reference["checksum"]}


def test_a_reference_that_was_only_laid_out_anew_is_the_same(path):
    path.write_text(json.dumps(json.loads(written(record(), seal=True)), indent=8, sort_keys=True))
    assert read_reference(path) == record()


def test_none_yet_is_incomplete_and_tells_the_command(path):
    with pytest.raises(IncompleteError, match=r"no committed answers yet.*docmind answers --save-baseline") as caught:
        read_reference(path)
    assert caught.value.exit_code == 3


WHOLE = json.loads(written(record(), seal=True))
EDITED = WHOLE | {"verdicts": WHOLE["verdicts"] | {"a1": "correct"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (EDITED, "was changed after it was written"),
        ({key: value for key, value in WHOLE.items() if key != "checksum"}, "checksum: is missing"),
        (WHOLE | {"schema": "docmind.results/1"}, "its schema is 'docmind.results/1'"),
        (WHOLE | {"schema": "docmind.answers/2"}, "'docmind.answers/2', docmind.answers/3 was expected"),
        (dumps(WHOLE)[:100], "is not whole JSON"),
        ("", "is not whole JSON"),
        ("[]", "its schema is None"),
    ],
)
def test_another_file_than_was_saved_is_refused(path, content, message):
    path.write_text(content if isinstance(content, str) else dumps(content), encoding="utf-8")
    with pytest.raises(BaselineError, match=message) as caught:
        read_reference(path)
    assert caught.value.exit_code == 2
    assert "docmind answers --save-baseline" in str(caught.value)


def places(value, at=()):
    """The path of every value in `value`."""
    for key, inner in value.items():
        yield (*at, key)
        if isinstance(inner, dict):
            yield from places(inner, (*at, key))


PLACES = [place for place in places(WHOLE) if place[0] not in ("schema", "checksum")]


def is_text(place):
    """Whether any text may stand there."""
    return place[0] == "fingerprint" and place[1:] not in ((), ("questions",), *LISTS)


LISTS = (("served",), ("judged_by",))
"""Of the fingerprint: lists of texts."""

ODD = [
    (place, odd)
    for place in PLACES
    for odd in (["odd"], -1, "odd")
    if not (odd == "odd" and is_text(place)) and not (odd == ["odd"] and place[1:] in LISTS)
]


@pytest.mark.parametrize(("place", "odd"), ODD)
def test_whatever_stands_in_a_place_that_does_not_belong_there_is_told_with_the_field(path, place, odd):
    found = copy.deepcopy(WHOLE)
    *way, last = place
    inner = found
    for key in way:
        inner = inner[key]
    inner[last] = odd
    with pytest.raises(BaselineError) as caught:
        read_reference(sealed_file(path, found))
    told = str(caught.value)
    assert f"{'.'.join(place)}: {odd!r} was found; expected: " in told
    assert told.startswith(str(path))
    assert told.endswith("Restore the committed file, or make it anew: docmind answers --save-baseline.")


ALL = WHOLE["summary"]["answerable"]["all"]


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ((), {key: WHOLE[key] for key in ("schema", "fingerprint", "verdicts")}, "summary: is missing"),
        ((), {key: WHOLE[key] for key in ("schema", "summary", "verdicts")}, "fingerprint: is missing"),
        (("more",), 1, "more: is unknown; no field 'more' was expected"),
        (("verdicts", "a9"), "correct", "fingerprint.questions was expected; 'a9' is"),
        (("fingerprint", "questions", "a9"), "x", "fingerprint.questions was expected; 'a9' is"),
        (("summary", "answerable", "all", "n"), 0, "summary.answerable.all.n >= judged"),
        (("summary", "answerable", "all", "judged"), 2, "summary.answerable.all.n >= judged"),
        (("summary", "answerable", "all", "rates"), None, "summary.answerable.all.rates: one for each verdict"),
        (("summary", "answerable", "all", "verdicts"), {"correct": 1}, "summary.answerable.all.verdicts: a count"),
        (
            ("summary", "answerable", "all", "metrics", "token_f1", "value"),
            1.5,
            "metrics.token_f1.value: 1.5 was found",
        ),
    ],
)
def test_what_does_not_belong_together_is_told(path, place, value, told):
    found = copy.deepcopy(WHOLE)
    inner = found
    for key in place[:-1]:
        inner = inner[key]
    if place:
        inner[place[-1]] = value
    else:
        found = value
    with pytest.raises(BaselineError) as caught:
        read_reference(sealed_file(path, found))
    assert told in str(caught.value)
