"""A record of any odd shape is one error that names file and field and ends with the command that makes a new one."""

import copy
import json
import math
from contextlib import suppress
from pathlib import Path

import pytest
from handmade import TREATMENT, results, sliced
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from docmind.errors import BaselineError, RecordError
from docmind.evaluation.record.baseline import baseline, read_baseline
from docmind.evaluation.record.layout import checksum
from docmind.evaluation.record.reading import read_record
from docmind.evaluation.record.rules import Rules, StrategiesFile
from docmind.evaluation.record.timings import Machine, Timings, dumps_timings, read_bench, read_timings
from docmind.evaluation.record.writing import dumps
from docmind.evaluation.scoring.latency import Latency, Percentiles
from docmind.evaluation.scoring.leakage import Leakage

ANEW = "Restore the committed file, or make it anew: docmind eval --save-baseline."
HERE = ("strategies", "s", "questions", "q1")


def good():
    """Two strategies, one of them with slices, and four questions: a hit, a miss, two pieces, and no gold."""
    found = {"q1": 1, "q2": None, "q3": [2, None], "u1": ()}
    made = results({"s": found, "t+x": found}, types={"direct": ["q1", "q3"], "vague": ["q2"]})
    slices = {"by_type": {"direct": sliced(2, 1.0)}, "by_split": {"dev": sliced(1, 0.25)}}
    made.strategies["s"] = made.strategies["s"].model_copy(update=slices)
    meters = Leakage(shared_words={"all": 0.5, "direct": None}, bm25_minus_vector={"h": {"all": -0.5, "direct": 0.0}})
    file = StrategiesFile(matrix=("s", "t+x"), gate=("s",), names={"s": "h+x"})
    rules = Rules(thresholds={"production": "s", "min_hit_at_3": 0.5, "must_pass": ["q1"]}, strategies=file)
    return made.model_copy(update={"leakage": meters, "rules": rules})


LATEST = json.loads(dumps(good()))
BASELINE = json.loads(dumps(baseline(good())))


def written(path: Path, fields: object, *, seal: bool = True) -> Path:
    """The file, sealed anew where it can be: an odd shape that somebody has sealed is odd all the same."""
    if seal and isinstance(fields, dict) and "checksum" in fields:
        rest = {name: value for name, value in fields.items() if name != "checksum"}
        with suppress(ValueError, RecursionError):
            fields = {**rest, "checksum": checksum(rest)}
    path.write_text(json.dumps(fields))
    return path


def at(fields, *place):
    for key in place:
        fields = fields[key]
    return fields


def changed(fields, place, value):
    """A copy in which `value` stands at `place`."""
    new = copy.deepcopy(fields)
    at(new, *place[:-1])[place[-1]] = value
    return new


def without(fields, place):
    new = copy.deepcopy(fields)
    del at(new, *place[:-1])[place[-1]]
    return new


def refused(path: Path) -> str:
    """What is said of a baseline, without the name of the file and the remedy."""
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    told = str(raised.value)
    assert told.startswith(f"{path}: ")
    assert told.endswith(f" {ANEW}")
    with pytest.raises(RecordError):
        read_record(path)
    return told.removeprefix(f"{path}: ").removesuffix(f" {ANEW}")


def nodes(value, place=()):
    """Where every value of a tree of JSON stands."""
    yield place
    if isinstance(value, dict):
        for key, item in value.items():
            yield from nodes(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from nodes(item, (*place, index))


def dotted(place):
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


PLAIN = {("fingerprint", "treatment"), ("rules", "thresholds"), ("rules", "strategies", "names")}
"""What is kept as it stands, whatever JSON it is."""


def is_plain(place):
    return any(place[: len(plain)] == plain for plain in PLAIN)


PLACES = [place for place in nodes(BASELINE) if place and not is_plain(place[:-1]) and place[0] != "checksum"]
ODD = [None, True, "odd", 0.5, -1, 10**300, [], [[[]]], {"odd": {}}, math.inf, math.nan]


def goes(place, value):
    """Whether such a value may stand there: it is then no fault, or one of what goes with it."""
    old = at(BASELINE, *place)
    if value is None:  # a miss, a figure that is not defined, and a run without the meters of leakage
        kept = (
            ("rules",),
            ("rules", "thresholds"),
            ("rules", "strategies", "gate"),
        )  # of earlier versions, and where there is none
        return "ranks" in place or place[-1] == "hit@3" or place[0] == "leakage" or place in kept
    if value == 0.5:
        return isinstance(old, float) or (old is None and place[0] == "leakage")
    if value == 10**300:
        return place[-1] in ("left_out", "token_budget", "depth")
    if value == -1:
        return "bm25_minus_vector" in place and isinstance(old, float)
    return type(old) is type(value) and not isinstance(value, float)


@pytest.mark.parametrize("value", ODD, ids=lambda value: str(value)[:20])
def test_another_value_at_any_place_of_a_baseline_is_refused_and_named(tmp_path, value):
    """At every place of the tree at which it may not stand, sealed anew."""
    tried = [place for place in PLACES if not goes(place, value)]
    assert len(tried) > 40
    for place in tried:
        told = refused(written(tmp_path / "baseline.json", changed(BASELINE, place, value)))
        assert dotted(place) in told or place == ("schema",)


@pytest.mark.parametrize("fields", [LATEST, BASELINE], ids=["latest", "baseline"])
def test_a_field_less_or_more_at_any_object_is_refused_and_named(tmp_path, fields):
    free = {"treatment", "types", "splits", "pages"}
    path = tmp_path / "record.json"
    tried = 0
    for place in nodes(fields):
        if not isinstance(at(fields, *place), dict) or is_plain(place):
            continue
        more = changed(fields, (*place, "odd"), {"odd": 1}) if place else {**fields, "odd": 1}
        with pytest.raises(RecordError, match=r"odd"):
            read_record(written(path, more))
        tried += 1
        for key in at(fields, *place):
            if (*place, key) in (("rules",), ("splits",)):  # files of earlier versions have none
                continue
            if (
                free & set(place)
                or (place and place[-1] in ("by_type", "by_split", "bm25_minus_vector"))
                or place == ("strategies",)
            ):
                continue
            with pytest.raises(RecordError) as raised:
                read_record(written(path, without(fields, (*place, key)), seal=key != "checksum"))
            assert str(key) in str(raised.value)
            tried += 1
    assert tried > 60


ONE_BY_ONE = [
    ((*HERE, "ranks", 0), 0, "greater than or equal to 1"),
    ((*HERE, "ranks", 0), 11, "strategies.s.questions.q1.ranks[0]: 11 was found; expected: null or a rank up to the depth, 10"),
    ((*HERE, "ranks", 0), True, "strategies.s.questions.q1.ranks[0]: True was found; expected: a whole number"),
    ((*HERE, "ranks", 0), 1.0, "1.0 was found; expected: a whole number"),
    ((*HERE, "ranks"), [], "strategies.t+x.questions.q1.ranks: 1 were found; expected: 0, as in the first strategy"),
    ((*HERE, "ranks"), [1, 1], "strategies.t+x.questions.q1.ranks: 1 were found; expected: 2"),
    ((*HERE, "chunks"), ["a", "b", "c", "d"], "chunks: 4 were found; expected: at most 3"),
    (("strategies",), {}, "strategies: there is none"),
    (("strategies", "s", "metrics"), None, "strategies.s.metrics: null was found; expected: an object, since no question"),
    (("strategies", "s", "metrics", "hit@3"), 1.5, "less than or equal to 1"),
    (("strategies", "s", "metrics", "hit@9"), 0.5, "strategies.s.metrics.hit@9: is unknown; a metric of the instrument"),
    (("strategies", "s", "by_type", "direct", "n"), 9, "strategies.s.by_type.direct.n: 9 was found; expected: at most 3"),
    (("strategies", "s", "by_type", "other"), {"n": 1, "hit@3": 1.0}, "by_type.other: is unknown; a type of `types`"),
    (("strategies", "s", "by_type", "direct"), {"n": 1}, "by_type.direct.hit@3: is missing"),
    (("counts", "answerable"), 0, "counts.answerable: 0 was found"),
    (("counts", "unanswerable"), 2, "counts.answerable: 3 was found, and counts.unanswerable: 2; expected: 4 together"),
    (("counts", "errors"), 1, "counts.errors: 1 was found; expected: 0"),
    (("types", "vague"), ["q9"], "types.vague[0]: 'q9' was found; expected: a question of the instrument"),
    (("types", "vague"), ["q1"], "types.vague[0]: 'q1' stands twice"),
    (("splits",), {"dev": ["q9"]}, "splits.dev[0]: 'q9' was found; expected: a question of the instrument"),
    (("splits",), {"dev": ["q1"], "test": ["q1"]}, "splits.test[0]: 'q1' stands twice; one split a question was expected"),
    (("leakage", "bm25_minus_vector", "h"), {"all": 0.5}, "bm25_minus_vector.h.direct: stands alone"),
    (("fingerprint", "treatment"), [], "fingerprint.treatment: [] was found; expected: an object"),
    (("fingerprint", "treatment", "code"), math.nan, "fingerprint.treatment.code: nan was found; expected: a finite number"),
    (("rules", "thresholds", "x"), math.nan, "rules.thresholds.x: nan was found; expected: a finite number"),
    (("rules", "strategies", "names", "x"), [math.inf], "rules.strategies.names.x[0]: inf was found"),
    (("rules", "strategies", "matrix"), "s", "rules.strategies.matrix: 's' was found; expected: a list"),
    (("fingerprint", "treatment", "x"), [0, {"y": math.inf}], "fingerprint.treatment.x[1].y: inf was found"),
    (("fingerprint", "instrument", "questions", "new"), "h", "strategies.s.questions.new: is missing"),
    (("schema",), "docmind.baseline/3", "its schema is 'docmind.baseline/3', docmind.baseline/2 was expected"),
    (("schema",), ["docmind.baseline/2"], "its schema is ['docmind.baseline/2']"),
    (("kind",), "baseline", "kind: is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value", "told"), ONE_BY_ONE)
def test_what_does_not_go_together_is_told_with_what_was_expected(tmp_path, place, value, told):
    assert told in refused(written(tmp_path / "baseline.json", changed(BASELINE, place, value)))


FIRST = (*HERE, "hits", 0)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ((*FIRST, "source"), "nowhere.md", "hits[0].source: 'nowhere.md' was found; expected: a document"),
        ((*FIRST, "spans"), [], "hits[0].spans: is empty"),
        ((*FIRST, "spans"), [[20, 20]], "hits[0].spans[0]: [20, 20] was found; expected: a start before its end"),
        ((*FIRST, "spans"), [[-1, 20]], "hits[0].spans[0][0]: -1 was found"),
        ((*FIRST, "spans"), [[1, 2, 3]], "hits[0].spans[0]: [1, 2, 3] was found; expected: "),
        ((*FIRST, "spans"), [[5, 9], [1, 2]], "hits[0].spans[1]: begins at 1; expected: after 9"),
        ((*FIRST, "score"), "1", "hits[0].score: '1' was found; expected: a number"),
        ((*FIRST, "score"), math.nan, "hits[0].score: nan was found; expected: a finite number"),
        ((*FIRST, "odd"), 1, "hits[0].odd: "),
        ((*HERE, "hits"), [], "q1.ranks[0]: 1 was found; expected: the rank of one of 0 hits"),
        ((*HERE, "hits"), LATEST["strategies"]["s"]["questions"]["q1"]["hits"] * 2, "q1.hits: 20 were found"),
        ((*HERE, "lost_at"), "fusion", "q1.lost_at: 'fusion' was found; expected: null, of no miss"),
        (("strategies", "s", "questions", "q2", "lost_at"), None, "q2.lost_at: None was found; expected: a place, of a miss"),
        ((*HERE, "lost_at"), "nowhere", "q1.lost_at: 'nowhere' was found; expected: 'chunking', 'candidates', 'fusion' or"),
        ((*HERE, "error"), "boom", "strategies.s.metrics: figures were found; expected: none, since a question ended"),
        ((*HERE, "chunks"), ["a"], "q1.chunks: is unknown"),
        (("checksum",), "f" * 64, "checksum: "),
    ],
)  # fmt: skip
def test_results_are_held_to_the_same_and_to_their_hits(tmp_path, place, value, told):
    path = written(tmp_path / "latest.json", changed(LATEST, place, value), seal=False)
    with pytest.raises(RecordError) as raised:
        read_record(path)
    assert not isinstance(raised.value, BaselineError)
    assert str(raised.value).startswith(f"{path}: ")
    assert told in str(raised.value)
    assert str(raised.value).endswith(" Make it anew: docmind eval.")


TEXT = json.dumps(BASELINE)


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        (b"", "is not whole JSON"),
        (TEXT[:-9].encode(), "is not whole JSON"),
        (TEXT.encode("utf-16"), "is not whole JSON ('utf-8' codec"),
        (b"[]", "its schema is None"),
        (b"null", "its schema is None"),
        (b"7", "its schema is None"),
        (b'{"schema": "docmind.baseline/2"}', "fingerprint: is missing."),
        (b"[" * 100_000, "is not whole JSON (nested too deeply)"),
        (b"9" * 10_000, "its schema is None"),
        (TEXT.replace('"left_out": 0', '"left_out": ' + "9" * 10_000).encode(), "counts.left_out: inf was found"),
        (TEXT.replace('"left_out": 0', '"left_out": 1e400').encode(), "counts.left_out: inf was found"),
        (TEXT.replace('"ceiling": 1.0', '"ceiling": 1e400').encode(), "strategies.s.ceiling: inf was found"),
        (TEXT.replace('"left_out": 0', '"left_out": 0, "left_out": 0').encode(), "counts: the key 'left_out' stands twice"),
        (TEXT.replace('"q1": {"ranks"', '"q1": {}, "q1": {"ranks"').encode(), "strategies.s.questions: the key 'q1' stands"),
        (TEXT.replace('"numpy": "2.4"', '"numpy": 1, "numpy": 2').encode(), "fingerprint.treatment.libraries: the key"),
        (TEXT.replace('{"schema"', '{"schema": 1, "schema"', 1).encode(), "the key 'schema' stands twice"),
        (TEXT.replace('"numpy": "2.4"', '"numpy": ' + "[" * 200 + "]" * 200).encode(), "is nested too deeply"),
        (TEXT.replace('"answer_key": "', '"answer_key": "\\ud800').encode(), ""),
        (TEXT.replace('"left_out"', '"\\ud800"').encode(), "counts"),
        (TEXT.replace('"docmind.baseline/2"', '"docmind.baseline/1"').encode(), "is a docmind.baseline/1, of an earlier"),
        (json.dumps(LATEST).encode(), "its schema is 'docmind.results/2', docmind.baseline/2 was expected"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_file_of_another_form_is_refused(tmp_path, contents, told):
    path = tmp_path / "baseline.json"
    path.write_bytes(contents)
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert told in str(raised.value)
    assert str(raised.value).endswith(f" {ANEW}")


def test_a_whole_file_with_a_byte_order_mark_is_whole(tmp_path):
    path = tmp_path / "baseline.json"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    marked = read_baseline(path)
    path.write_bytes(TEXT.encode())
    assert marked == read_baseline(path)


def test_a_folder_is_no_baseline(tmp_path):
    assert "cannot be read: Is a directory" in refused(tmp_path)


def test_many_faults_are_one_error_that_names_the_first_and_counts_the_others(tmp_path):
    odd = changed(BASELINE, ("counts",), {})
    assert refused(written(tmp_path / "b.json", odd)) == "counts.answerable: is missing. 3 faults more."


JSON = st.recursive(  # floats of few digits: written ones are rounded
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-999, 999).map(lambda n: n / 100)
    | st.text(max_size=5)
    | st.sampled_from([float("nan"), float("inf"), -float("inf")]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from([place for place in nodes(LATEST) if place]), value=JSON, kept=st.booleans())
@example(place=("strategies", "s"), value={"metrics": {}}, kept=True)
def test_whatever_stands_anywhere_is_read_as_it_is_or_refused(tmp_path, place, value, kept):
    """A baseline or results; nothing but RecordError is raised, and what is read is what stands there."""
    fields = BASELINE if kept else LATEST
    try:
        odd = changed(fields, place, value)
    except (KeyError, IndexError):  # of the other file
        return
    path = written(tmp_path / "record.json", odd)
    with suppress(RecordError):
        found = read_record(path)
        assert json.dumps(json.loads(dumps(found))) == json.dumps(json.loads(path.read_text()))


def test_a_treatment_is_read_as_it_stands():
    assert BASELINE["fingerprint"]["treatment"] == TREATMENT


# Times


def test_times_are_read_back_and_a_field_that_is_odd_is_named(tmp_path):
    path = tmp_path / "timings.json"
    spent = Percentiles(p50=1.5, p95=2.0)
    made = Timings(
        machine=Machine(system="Linux", processor="x86_64", cpus=None, python="3.11"),
        milliseconds={"s": Latency(n=3, query=spent, stages={"vector": spent})},
    )
    path.write_text(dumps_timings(made))
    assert read_timings(path) == made
    fields = json.loads(path.read_text())
    assert fields["schema"] == "docmind.timings/1"
    for place in [place for place in nodes(fields) if place]:
        odd = changed(fields, place, [] if place[-1] != "cpus" else "two")
        path.write_text(json.dumps(odd))
        with pytest.raises(RecordError) as raised:
            read_timings(path)
        assert dotted(place) in str(raised.value)
        assert str(raised.value).endswith("Make it anew: docmind eval.")


def test_medians_of_a_benchmark_are_read_whatever_else_it_holds(tmp_path):
    path = tmp_path / "bench.json"
    fields = {
        "schema": "docmind.bench/1",
        "more": 1,
        "corpora": {"c": {"query_p50_ms": {"s": 2.5}, "pages": 3}, "d": {}},
    }
    path.write_text(json.dumps(fields))
    assert [read_bench(path, name) for name in ("c", "d", "e")] == [{"s": 2.5}, {}, {}]
    path.write_text(json.dumps(changed(fields, ("corpora", "c", "query_p50_ms", "s"), None)))
    with pytest.raises(RecordError, match=r"corpora\.c\.query_p50_ms\.s: None was found; expected: a number\. Restore"):
        read_bench(path, "c")
