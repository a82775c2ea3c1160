"""Every figure in the README comes from results/."""

import json
import re
from pathlib import Path

import pytest

from docmind.evaluation.baseline import read_baseline
from docmind.evaluation.reports.markdown import table
from docmind.evaluation.reports.tables import ladder, matrix

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def between(name):
    """What stands between the marks of that name."""
    [found] = re.findall(f"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", README, re.DOTALL)
    return found


@pytest.fixture(scope="module")
def baseline():
    return read_baseline(ROOT / "results" / "baseline.json")


@pytest.fixture(scope="module")
def bench():
    return json.loads((ROOT / "results" / "bench.json").read_text(encoding="utf-8"))["corpora"]


def test_the_matrix_is_that_of_the_baseline_and_its_times_those_of_the_bench(baseline, bench):
    timings = {name: {"query": {"p50": p50}} for name, p50 in bench["corpus"]["query_p50_ms"].items()}
    assert between("matrix") == table(matrix(baseline, timings))


def test_the_ladder_is_that_of_the_baseline(baseline):
    assert between("ladder") == table(ladder(baseline))


def test_the_counts_are_those_of_the_baseline(baseline):
    counts = baseline["counts"]
    assert between("counts") == (
        f"{counts['answerable']} answerable questions and {counts['unanswerable']} unanswerable ones on "
        f"{len(baseline['fingerprint']['instrument']['pages'])} pages."
    )


def test_the_times_are_those_of_the_bench(bench):
    assert between("bench") == "\n".join(
        [
            "| corpus | pages | cold build against a plain LangChain pipeline | cold `eval` | warm `eval` | peak memory |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
            *(
                f"| {name} | {found['pages']} | {found['plain_over_cold_index']:.1f} times faster | "
                f"{found['cold_eval_seconds']:.0f} s | {found['warm_eval_seconds']:.0f} s | {found['cold_peak_mb']:.0f} MB |"
                for name, found in bench.items()
            ),
        ]
    )
