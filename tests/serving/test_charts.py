"""What the charts are handed stands in them as it is, whatever a strategy is called."""

from __future__ import annotations

from docmind.serving.charts import Percent, Timed, by_type, latency


def test_a_point_has_its_chunker_and_mode_not_what_its_name_looks_like() -> None:
    points = [Timed("ours", "headers(size=300)", "hybrid", 8.5, 61.0), Timed("a+b", "fixed_500", "bm25", 0.5, 40.0)]
    drawn = latency(points).to_dict()
    [values] = drawn["datasets"].values()
    assert values == [
        {"strategy": "ours", "chunker": "headers(size=300)", "mode": "hybrid", "ms": 8.5, "percent": 61.0},
        {"strategy": "a+b", "chunker": "fixed_500", "mode": "bm25", "ms": 0.5, "percent": 40.0},
    ]
    assert (drawn["encoding"]["color"]["field"], drawn["encoding"]["shape"]["field"]) == ("chunker", "mode")


def test_a_share_of_a_type_has_its_interval() -> None:
    drawn = by_type({"a+b": {"vague": Percent(65.0, 43.3, 81.9)}}).to_dict()
    [values] = drawn["datasets"].values()
    assert values == [{"strategy": "a+b", "type": "vague", "percent": 65.0, "low": 43.3, "high": 81.9}]
    told = [tip["field"] for tip in drawn["layer"][0]["encoding"]["tooltip"]]
    assert told == ["strategy", "type", "percent", "low", "high"]
