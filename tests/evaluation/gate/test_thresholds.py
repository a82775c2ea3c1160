"""The thresholds are read exactly or refused with the key, its value and what was expected."""

from fractions import Fraction
from pathlib import Path

import pytest

from docmind.config import Settings
from docmind.errors import StorageError, UsageError
from docmind.evaluation.gate.thresholds import Minimum, Regression, Thresholds, exact, read_thresholds
from docmind.evaluation.scoring.measures import measure
from docmind.retrieval.strategies import read_strategies

WHOLE = {
    "production": "headers+rerank",
    "min_hit_at_3": "0.83",
    "max_regression_pp": "3",
    "alpha": "null",
    "must_pass": "[d003, p014]",
}
KEYS = "production, min_hit_at_3, max_regression_pp, alpha, must_pass, min, max_regression, min_compared, answers"
PLAIN = "a number in plain digits and without quotes, such as 0.5"
ANSWERS = "{min_correct: 0.7, max_wrong: 0.2, max_false_abstention: 0.1, min_abstention: 0.5, max_regression_pp: 3}"


@pytest.fixture
def written(tmp_path):
    """A file of thresholds: a text as it stands, or WHOLE with some keys changed, None leaving one out."""

    def write(text: str | None = None, **changed: str | None) -> Path:
        path = tmp_path / "thresholds.yaml"
        fields = {key: value for key, value in (WHOLE | changed).items() if value is not None}
        path.write_text("".join(f"{k}: {v}\n" for k, v in fields.items()) if text is None else text, encoding="utf-8")
        return path

    return write


def refusal(path) -> str:
    with pytest.raises(UsageError) as raised:
        read_thresholds(path)
    assert raised.value.exit_code == 2
    assert str(raised.value).startswith(f"{path}: ")
    return str(raised.value)


def test_the_committed_file_reads():
    found = read_thresholds(Path(__file__).parents[3] / Settings().thresholds)
    assert found.production in {strategy.name for strategy in read_strategies(None).matrix}
    assert 0 < found.floor < 1


def test_every_key_is_read(written):
    found = read_thresholds(written())
    assert found == Thresholds(
        production="headers+rerank", min_hit_at_3=0.83, max_regression_pp=3, alpha=None, must_pass=("d003", "p014")
    )
    assert read_thresholds(written(alpha="0.05")).alpha == 0.05


def test_alpha_must_pass_and_answers_may_be_left_out(written):
    found = read_thresholds(written(alpha=None, must_pass=None))
    assert (found.alpha, found.must_pass, found.answers) == (None, (), None)
    assert read_thresholds(written(answers=ANSWERS)).answers.max_wrong == 0.2


@pytest.mark.parametrize("key", ["production", "min_hit_at_3", "max_regression_pp"])
def test_a_required_key_may_not(written, key):
    assert f"{key!r} is missing. Add it." in refusal(written(**{key: None}))


def test_figures_are_the_decimals_that_are_written(written):
    """0.83 is 83/100, and 3.3 points are 33/1000, though neither is a binary fraction."""
    found = read_thresholds(written(max_regression_pp="3.3"))
    assert found.floor == Fraction(83, 100) != Fraction(0.83)
    assert found.tolerance == Fraction(33, 1000) != Fraction(3.3) / 100
    assert exact(0.05) == Fraction(1, 20)
    assert exact(1e-05) == Fraction(1, 100_000)
    assert read_thresholds(written(min_hit_at_3="1")).floor == 1
    assert read_thresholds(written(max_regression_pp="0")).tolerance == 0


def test_an_unknown_key_is_refused_with_the_nearest(written):
    assert f"unknown key 'mustpass'. Did you mean 'must_pass'? There are: {KEYS}." in refusal(written(mustpass="[a]"))
    assert f"unknown key 'zzz'. There are: {KEYS}." in refusal(written(zzz="1"))
    assert "unknown key '1'. There are" in refusal(written(**{"1": "2"}))


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("production", "[3]", "production: ['3'] was found; expected: a valid string"),
        ("production", "''", "production: '' was found; expected: String should have at least 1 character"),
        ("min_hit_at_3", "'0.83'", f"min_hit_at_3: '0.83' was found; expected: {PLAIN}"),
        ("min_hit_at_3", "true", f"min_hit_at_3: 'true' was found; expected: {PLAIN}"),
        ("min_hit_at_3", "83", "min_hit_at_3: 83 was found; expected: less than or equal to 1"),
        ("min_hit_at_3", "-0.1", "min_hit_at_3: -0.1 was found; expected: greater than or equal to 0"),
        ("min_hit_at_3", ".nan", "min_hit_at_3: '.nan' was found"),
        ("min_hit_at_3", ".5", f"min_hit_at_3: '.5' was found; expected: {PLAIN}"),
        ("min_hit_at_3", "1e-1", f"min_hit_at_3: '1e-1' was found; expected: {PLAIN}"),
        ("min_hit_at_3", "!!float ''", "min_hit_at_3: '' was found"),
        ("min_hit_at_3", "", "min_hit_at_3: None was found"),
        ("max_regression_pp", "1:30", f"max_regression_pp: '1:30' was found; expected: {PLAIN}"),
        ("max_regression_pp", "010", f"max_regression_pp: '010' was found; expected: {PLAIN}"),
        ("max_regression_pp", "0x3", f"max_regression_pp: '0x3' was found; expected: {PLAIN}"),
        ("max_regression_pp", "1_0", f"max_regression_pp: '1_0' was found; expected: {PLAIN}"),
        ("max_regression_pp", "+3", f"max_regression_pp: '+3' was found; expected: {PLAIN}"),
        ("max_regression_pp", "9" * 5000, "max_regression_pp: '9999"),
        ("answers", ANSWERS.replace("0.7", "1:30"), f"answers.min_correct: '1:30' was found; expected: {PLAIN}"),
        ("max_regression_pp", "-1", "max_regression_pp: -1 was found; expected: greater than or equal to 0"),
        ("max_regression_pp", "101", "max_regression_pp: 101 was found; expected: less than or equal to 100"),
        ("max_regression_pp", "3 pp", f"max_regression_pp: '3 pp' was found; expected: {PLAIN}"),
        ("max_regression_pp", ".inf", "max_regression_pp: '.inf' was found"),
        ("alpha", "0", "alpha: 0 was found; expected: greater than 0"),
        ("alpha", "1.0", "alpha: 1.0 was found; expected: less than 1"),
        ("alpha", ".nan", "alpha: '.nan' was found"),
        ("must_pass", "d003", "must_pass: 'd003' was found; expected: a valid list"),
        ("must_pass", "", "must_pass: None was found; expected: a valid list"),
        ("answers", "3", "answers: '3' was found; expected: a valid dictionary"),
        (
            "answers",
            ANSWERS.replace("0.7", "70"),
            "answers.min_correct: 70 was found; expected: less than or equal to 1",
        ),
        ("answers", ANSWERS.replace("max_wrong: 0.2, ", ""), "'answers.max_wrong' is missing. Add it."),
        (
            "answers",
            ANSWERS.replace("wrong", "worng"),
            "unknown key 'answers.max_worng'. Did you mean 'max_wrong'? There "
            "are: min_correct, max_wrong, max_false_abstention, min_abstention, max_regression_pp.",
        ),
        ("must_pass", "[d003, [7]]", "must_pass.1: ['7'] was found; expected: a valid string"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(written, key, value, told):
    assert told in refusal(written(**{key: value}))


def test_every_fault_is_told_at_once(written):
    message = refusal(written(min_hit_at_3="83", production=None, alfa="0.05"))
    assert "faults in the thresholds: 3\n" in message
    assert all(part in message for part in ("min_hit_at_3: 83", "'production' is missing", "unknown key 'alfa'"))


def test_a_repeated_key_is_refused_since_yaml_keeps_the_last_in_silence(written):
    whole = written().read_text()
    message = refusal(written(whole + "min_hit_at_3: 0.1\n"))
    assert "the key 'min_hit_at_3' stands twice" in message
    assert "line 6" in message


@pytest.mark.parametrize(
    "text", ["a: b: c\n", "production: [a\n", "a: \x00\n", 'a: "\\UFFFFFFFF"\n', "? [a]\n: b\n", "a: " + "[" * 3000]
)
def test_what_is_no_yaml_is_refused(written, text):
    assert "is no YAML" in refusal(written(text))


def test_bytes_that_are_no_text_are_refused(written):
    path = written()
    path.write_bytes(b"production: caf\xe9\n")
    assert "is no YAML" in refusal(path)


@pytest.mark.parametrize(("text", "held"), [("", "None"), ("# a comment\n", "None"), ("- a\n", "['a']"), ("x", "'x'")])
def test_what_is_no_mapping_is_refused(written, text, held):
    assert f"holds {held}; `key: value` lines were expected: {KEYS}." in refusal(written(text))


def test_no_file_ends_with_2_and_names_the_option(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(StorageError, match="Name a file with --thresholds") as raised:
            read_thresholds(path)
        assert raised.value.exit_code == 2
        assert str(path) in str(raised.value)


@pytest.mark.parametrize("ids", [["012", "1.10", "no", "17:30", "2024-10-05", "0x1f", "1e3", "7", "true"]])
def test_ids_stay_the_text_that_is_written(written, ids):
    assert read_thresholds(written(must_pass=f"[{', '.join(ids)}]", production="012")).must_pass == tuple(ids)


@pytest.mark.parametrize("tagged", ['!!int ""', "!!bool zz", "!!timestamp zz"])
def test_an_odd_tag_means_nothing(written, tagged):
    """What is written is text, and is told as such where something else was expected."""
    assert "min_hit_at_3: '" in refusal(written(min_hit_at_3=tagged))


def test_a_huge_value_is_told_in_short(written):
    assert len(refusal(written(f"min_hit_at_3: {'x' * 100_000}"))) < 1_000
    assert len(refusal(written("x" * 100_000))) < 1_000


# Rules on any metric

RULES = """min:
  - {metric: hit@1, at_least: 0.5}
  - {metric: recall@50, at_least: 0.333, strategy: 012, type: each, split: dev}
max_regression:
  - {metric: mrr@5, points: 3}
  - {metric: recall@50, points: 0.1, type: 'no'}
min_compared: 0.9
"""


def test_rules_are_read_as_they_are_written(written):
    found = read_thresholds(written(written().read_text() + RULES))
    assert found.min == (
        Minimum(metric="hit@1", at_least=0.5),
        Minimum(metric="recall@50", at_least=0.333, strategy="012", type="each", split="dev"),
    )
    assert found.max_regression[1] == Regression(metric="recall@50", points=0.1, type="no")
    assert found.max_regression[1].tolerance == Fraction(1, 1000) != Fraction(0.1) / 100
    assert (found.min[0].strategy, found.min[0].type, found.min[0].split) == (None, None, None)
    assert exact(found.min_compared) == Fraction(9, 10)


def test_without_rules_there_are_none_and_four_fifths_must_be_compared(written):
    found = read_thresholds(written())
    assert (found.min, found.max_regression, found.min_compared, found.measures) == ((), (), 0.8, ())


def test_the_metrics_that_only_rules_ask_for_are_known_once_each(written):
    """hit@1 and mrr@5 are measured anyhow."""
    found = read_thresholds(written(written().read_text() + RULES))
    assert found.measures == (measure("recall@50"),)


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (
            "min: [{metric: hti@1, at_least: 0.5}]",
            "min.0.metric: unknown metric 'hti@1'. Did you mean 'hit@k'? There are: hit@k, mrr@k,",
        ),
        (
            "max_regression: [{metric: hit@1, points: 1}, {metric: hit@0, points: 1}]",
            "max_regression.1.metric: metric 'hit@0': its k is '0'. A whole number from 1 to 10,000 was expected",
        ),
        ("min: [{metric: hit@1, at_least: '0.5'}]", f"min.0.at_least: '0.5' was found; expected: {PLAIN}"),
        ("min: [{metric: hit@1, at_least: 50}]", "min.0.at_least: 50 was found; expected: less than or equal to 1"),
        ("min: [{metric: hit@1}]", "'min.0.at_least' is missing. Add it."),
        (
            "min: [{metric: hit@1, points: 3}]",
            "unknown key 'min.0.points'. There are: metric, strategy, type, split, at_least.",
        ),
        (
            "max_regression: [{metric: hit@1, ponits: 3}]",
            "unknown key 'max_regression.0.ponits'. Did you mean 'points'? There are: metric, strategy, type, split, points",
        ),
        (
            "max_regression: [{metric: hit@1, points: 1:30}]",
            f"max_regression.0.points: '1:30' was found; expected: {PLAIN}",
        ),
        (
            "max_regression: [{metric: hit@1, points: -1}]",
            "max_regression.0.points: -1 was found; expected: greater than",
        ),
        (
            "max_regression: [{metric: hit@1, points: 101}]",
            "max_regression.0.points: 101 was found; expected: less than or",
        ),
        (
            "max_regression: [{metric: [hit@1], points: 1}]",
            "max_regression.0.metric: ['hit@1'] was found; expected: a valid",
        ),
        ("max_regression: [{metric: hit@1, points: 1, type: ''}]", "max_regression.0.type: '' was found; expected: "),
        ("max_regression: [{metric: hit@1, points: 1, split: [dev]}]", "max_regression.0.split: ['dev'] was found"),
        ("min: [hit@1]", "min.0: 'hit@1' was found; expected: a mapping of metric, strategy, type, split, at_least."),
        ("min: {metric: hit@1, at_least: 0.5}", "was found; expected: a valid list"),
        ("max_regression: 3", "max_regression: '3' was found; expected: a valid list"),
        ("min_compared: 80", "min_compared: 80 was found; expected: less than or equal to 1"),
        ("min_compared: most", f"min_compared: 'most' was found; expected: {PLAIN}"),
    ],
)
def test_a_fault_in_a_rule_is_told_with_its_place(written, rules, told):
    message = refusal(written(f"{written().read_text()}{rules}\n"))
    assert told in message
