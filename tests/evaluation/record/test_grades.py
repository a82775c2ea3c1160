"""Answers graded by hand: grades survive, and agreement is counted as the textbooks do."""

import csv
import io

import pytest
from scipy.stats import mannwhitneyu

from docmind.errors import StorageError, UsageError
from docmind.evaluation.record.answerrows import Row
from docmind.evaluation.record.grades import COLUMNS, SIZE, agreement, read_sheet, sheet
from docmind.evaluation.scoring import answerstats
from docmind.evaluation.scoring.answers import VERDICTS


def made(i, **judged):
    said = {"answer": f"“This, \n{i}” [1]"} if "verdict" in judged else {}
    return Row(id=f"q{i}", key=f"k{i}", answer_key=f"a{i}", question=f"Which {i}?", **said, **judged)


ROWS = [made(i, verdict="correct") for i in range(30)]
RIGHT = {f"q{i}": f"That {i}." for i in range(30)} | {"q3": None}


def graded(key, grade, judge="correct"):
    return dict(zip(COLUMNS, [key, "q0", "Which?", "That.", "This.", judge, grade], strict=True))


def parsed(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "human_grades.csv"


def test_ten_random_rows_are_to_be_graded(path):
    text = sheet(ROWS, RIGHT, [])
    path.write_text(text, encoding="utf-8")
    found = read_sheet(path)
    assert text.splitlines()[0] == "key,id,question,right_answer,answer,judge,grade"
    assert len(found) == len({row["key"] for row in found}) == SIZE == 10
    assert [row["key"] for row in found] != [row.key for row in ROWS[:10]]
    by_key = {row.key: row for row in ROWS}
    for row in found:
        source = by_key[row["key"]]
        assert (row["id"], row["question"], row["answer"]) == (source.id, source.question, source.answer)
        assert row["right_answer"] == (RIGHT[row["id"]] or "(unanswerable)")
        assert (row["judge"], row["grade"]) == ("correct", "")
    assert sheet(ROWS, RIGHT, []) == text, "drawn with a seed"


def test_of_an_unanswerable_question_it_says_so():
    [row] = parsed(sheet(ROWS[3:4], RIGHT, []))
    assert row["right_answer"] == "(unanswerable)"


def test_grades_are_kept_and_ungraded_rows_make_way():
    kept = [graded("old1", "wrong"), graded("old2", ""), graded("k5", "partial"), graded("old3", "")]
    found = parsed(sheet(ROWS, RIGHT, kept))
    assert found[:2] == [kept[0], kept[2]]
    assert len(found) == 10
    assert {"old2", "old3"}.isdisjoint(row["key"] for row in found)
    assert all(row["grade"] == "" for row in found[2:])


def test_a_graded_answer_is_not_drawn_again():
    found = parsed(sheet(ROWS[4:7], RIGHT, [graded("k5", "partial")]))
    assert sorted(row["key"] for row in found) == ["k4", "k5", "k6"]


def test_more_grades_than_ten_are_all_kept():
    kept = [graded(f"old{i}", "correct") for i in range(12)]
    assert parsed(sheet(ROWS, RIGHT, kept)) == kept


def test_answers_without_a_verdict_are_not_to_be_graded():
    rows = [*ROWS[:2], made(9, error="refused")]
    assert {row["key"] for row in parsed(sheet(rows, RIGHT, []))} == {"k0", "k1"}


def test_a_sheet_read_and_written_again_is_the_same(path):
    text = sheet(ROWS, RIGHT, [graded("old", "wrong")])
    path.write_text(text, encoding="utf-8")
    everything = [row | {"grade": row["grade"] or "correct"} for row in read_sheet(path)]
    again = sheet(ROWS, RIGHT, everything)
    assert parsed(again) == everything


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_spreadsheets_write_is_read(path, encoding, line_end):
    path.write_bytes(sheet(ROWS, RIGHT, [graded("old", " wrong ")]).replace("\n", line_end).encode(encoding))
    found = read_sheet(path)
    assert tuple(found[0]) == COLUMNS
    assert found[0]["key"] == "old"
    assert (agreement(found).judge["wrong"], agreement(found).grade["wrong"]) == (0, 1)


@pytest.mark.parametrize(("written", "grade"), [(" wrong ", "wrong"), ("Wrong", "wrong"), ("  ", "")])
def test_a_grade_is_read_whatever_its_case_and_blanks(path, written, grade):
    path.write_text(sheet([], {}, [graded("old", written)]), encoding="utf-8")
    assert read_sheet(path)[0]["grade"] == grade


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("one\rtwo\r\nthree\u2028four", "one\ntwo\nthree\nfour"),
        ('=HYPERLINK("x")', '\'=HYPERLINK("x")'),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@a", "'@a"),
        ('“a”, "b"\n\nc', '“a”, "b"\n\nc'),
        ("", ""),
    ],
)
def test_a_sheet_is_read_as_it_was_written_and_holds_no_formula(path, text, cell):
    odd = Row(id="q1", key="k", answer_key="a", question=text, answer=text, verdict="correct")
    path.write_text(sheet([odd], {"q1": text}, []), encoding="utf-8", newline="\n")
    [found] = read_sheet(path)
    assert [found["question"], found["answer"]] == [cell, cell]
    assert found["right_answer"] == (cell or "(unanswerable)")


def test_a_graded_row_survives_being_written_again_whatever_it_holds(path):
    odd = graded("old", "wrong") | {"answer": "a\rb", "question": "=1"}
    for _ in range(2):
        path.write_text(sheet([], {}, [odd]), encoding="utf-8", newline="\n")
        [odd] = read_sheet(path)
    assert (odd["answer"], odd["question"], odd["grade"]) == ("a\nb", "'=1", "wrong")


def test_where_there_is_no_sheet_there_are_no_rows(path):
    assert read_sheet(path) == []


@pytest.mark.parametrize("grade", ["corect", "1", "correct, partial"])
def test_a_grade_that_is_no_verdict_is_told_with_its_row(path, grade):
    path.write_text(sheet([], {}, [graded("a", "wrong"), graded("b", grade)]), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_sheet(path)
    assert str(caught.value) == (
        f"{path}: row 3 has the grade {grade!r}; one of correct, partial, wrong, abstained, unsupported was expected."
    )


@pytest.mark.parametrize("judge", ["corect", "", "Correct"])
def test_a_judgement_that_is_no_verdict_is_told_with_its_row(path, judge):
    path.write_text(sheet([], {}, [graded("a", "wrong"), graded("b", "wrong", judge)]), encoding="utf-8")
    with pytest.raises(StorageError, match=rf"row 3 has the judge's verdict {judge!r}; .* Restore it: only .* 'grade'"):
        read_sheet(path)


@pytest.mark.parametrize(("cells", "told"), [("a,b,c,d,e,correct", "fewer"), ("a,b,c,d,e,correct,,more", "more")])
def test_a_row_of_another_length_is_told_with_its_number(path, cells, told):
    path.write_text(f"{','.join(COLUMNS)}\n{cells}\n", encoding="utf-8")
    with pytest.raises(StorageError, match=rf"row 2 has {told} cells than the 7 columns\. Restore it"):
        read_sheet(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"key;id;question;right_answer;answer;judge;grade\na;b;c;d;e;correct;\n",
        b"key,id,question,right_answer,answer,judge\na,b,c,d,e,correct\n",
        b"key,id,question,right_answer,answer,judge,grade\na,b,c,d,caf\xe9,correct,\n",
    ],
)
def test_another_file_is_refused_with_a_remedy(path, content):
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"human_grades\.csv: .*Restore it"):
        read_sheet(path)


TEXTBOOK = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
"""Of 50 both say yes to 20 and no to 15. By chance they agree on .5 × .6 + .5 × .4 = .5: (.7 − .5) / (1 − .5) = .4."""


def test_kappa_of_the_textbook():
    found = answerstats.kappa(TEXTBOOK)
    assert (found["n"], found["agreement"]) == (50, pytest.approx(0.7))
    assert found["value"] == pytest.approx(0.4)
    assert found["low"] < 0.4 < found["high"]
    # The standard error by the large-sample formula is about 0.13.
    assert (found["low"], found["high"]) == (pytest.approx(0.4 - 0.25, abs=0.05), pytest.approx(0.4 + 0.25, abs=0.05))


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([("a", "a"), ("b", "b")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),  # by chance ½ of them: (0 − ½) / ½
        ([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")], 0.0),
        ([("a", "a"), ("a", "b")], 0.0),  # one rater gives one label alone: ½ by chance too
        ([("a", "a"), ("b", "b"), ("c", "c"), ("a", "b")], (3 / 4 - 5 / 16) / (1 - 5 / 16)),  # (2·1 + 1·2 + 1·1) / 16
        ([("a", "a"), ("a", "a")], None),
    ],
)
def test_kappa_by_hand(pairs, value):
    assert answerstats.kappa(pairs)["value"] == pytest.approx(value)


def test_kappa_knows_no_left_and_right_nor_an_order():
    found = answerstats.kappa(TEXTBOOK)["value"]
    assert answerstats.kappa([(b, a) for a, b in TEXTBOOK])["value"] == pytest.approx(found)
    assert answerstats.kappa(TEXTBOOK[::-1]) == answerstats.kappa(TEXTBOOK)


def test_kappa_of_one_label_alone_is_not_defined_though_they_agree():
    assert answerstats.kappa([("a", "a")] * 3) == {"n": 3, "agreement": 1.0, "value": None, "low": None, "high": None}
    assert answerstats.kappa([]) is None


def test_agreement_is_over_what_is_graded_and_tells_the_base_rates():
    rows = [
        *(graded(f"a{i}", "correct") for i in range(4)),
        graded("b", "wrong"),
        graded("c", "wrong", judge="wrong"),
        graded("d", "abstained", judge="wrong"),
        *(graded(f"e{i}", "") for i in range(3)),
    ]
    found = agreement(rows)
    # 5 of 7 agree; by chance (5·4 + 2·2 + 0·1) / 49 = 24/49: (35 − 24) / (49 − 24)
    assert (found.n, found.raw, found.kappa) == (7, pytest.approx(5 / 7), pytest.approx(11 / 25))
    none = dict.fromkeys(VERDICTS, 0)
    assert found.judge == none | {"correct": 5, "wrong": 2}
    assert found.grade == none | {"correct": 4, "wrong": 2, "abstained": 1}
    assert found.telling


@pytest.mark.parametrize(
    ("pairs", "telling"),
    [
        ([("correct", "correct"), ("correct", "wrong")], False),
        ([("correct", "correct"), ("wrong", "correct")], False),
        ([("correct", "correct"), ("wrong", "wrong")], True),
    ],
)
def test_agreement_says_nothing_where_one_side_gives_one_verdict_alone(pairs, telling):
    found = agreement([graded(f"k{i}", grade, judge=judge) for i, (judge, grade) in enumerate(pairs)])
    assert found.telling is telling


def test_where_nothing_is_graded_there_is_no_agreement():
    assert agreement([]) is None
    assert agreement([graded("a", "")]) is None


SCORES = [
    ([0.9, 0.8, 0.3], [0.5, 0.3]),
    ([0.1], [0.2, 0.3]),
    ([0.5, 0.5], [0.5]),
    ([i / 7 % 1 for i in range(40)], [i / 11 % 0.8 for i in range(30)]),
    ([round(i / 7 % 1, 1) for i in range(40)], [round(i / 11 % 0.8, 1) for i in range(30)]),  # many ties
]


@pytest.mark.parametrize(("positives", "negatives"), SCORES)
def test_auroc_is_the_u_of_mann_and_whitney(positives, negatives):
    found = answerstats.auroc(positives, negatives)
    u = mannwhitneyu(positives, negatives).statistic
    assert found["value"] == pytest.approx(u / (len(positives) * len(negatives)))
    assert found["low"] <= found["value"] <= found["high"]
    assert (found["n"], found["m"]) == (len(positives), len(negatives))


def test_auroc_by_hand():
    assert answerstats.auroc([0.9, 0.8, 0.3], [0.5, 0.3])["value"] == pytest.approx(
        4.5 / 6
    )  # .3 ties with .3: half a win
    assert answerstats.auroc([1, 2], [0])["value"] == 1.0
    assert answerstats.auroc([], [0.5]) is None
    assert answerstats.auroc([0.5], []) is None


def test_the_interval_of_auroc_is_as_wide_as_theory_says():
    positives = [i / 100 for i in range(20, 120)]
    negatives = [i / 100 for i in range(100)]
    found = answerstats.auroc(positives, negatives)
    # Hanley and McNeil: A = 0.68; Q1 = A / (2 − A), Q2 = 2A² / (1 + A), n = m = 100
    a = found["value"]
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    error = ((a * (1 - a) + 99 * (q1 - a * a) + 99 * (q2 - a * a)) / 10_000) ** 0.5
    assert (found["high"] - found["low"]) / 2 == pytest.approx(1.96 * error, rel=0.1)
