"""What a class declares is read from its fields, and values are taken exactly or refused with what was expected."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.errors import UsageError
from docmind.parameters import Parameter, Part, checked, declared, parameter, written


@dataclass(frozen=True, slots=True)
class Oven:
    wall: object
    degrees: int = parameter(200, "heat", low=-5, high=300)
    hours: float = parameter(1, "time", low=0, high=2)
    fan: bool = parameter(False, "whether it blows")
    mode: str = parameter("top", "where it glows", choices=("top", "both"))
    steps: tuple[float, ...] = parameter((1.0, 2.0), "of heat", low=0.5, high=10)

    @staticmethod
    def check(values, inner):
        if len(values["steps"]) == 3:
            raise UsageError("three steps are one too many")
        return {**values, "steps": values["steps"] * max(1, inner)}


def value(name, text, inner=0):
    return checked(Oven, {name: text}, "oven", inner)[name]


def test_parameters_are_the_fields_that_declare_themselves_in_their_order():
    assert declared(Oven) == (
        Parameter("degrees", "int", 200, "heat", -5, 300),
        Parameter("hours", "float", 1.0, "time", 0, 2),
        Parameter("fan", "bool", False, "whether it blows"),
        Parameter("mode", "str", "top", "where it glows", choices=("top", "both")),
        Parameter("steps", "tuple[float, ...]", (1.0, 2.0), "of heat", 0.5, 10),
    )
    assert declared(lambda embedder: embedder) == ()


def test_an_object_is_made_with_the_defaults():
    made = Oven("brick", degrees=250)
    assert (made.degrees, made.hours, made.fan, made.mode, made.steps) == (250, 1, False, "top", (1.0, 2.0))


def test_a_kind_that_nobody_reads_is_refused_where_it_is_declared():
    @dataclass
    class Wrong:
        size: complex = parameter(1j, "none")

    with pytest.raises(TypeError, match=r"parameter 'size' of .*Wrong.* is of kind complex"):
        declared(Wrong)


def test_what_is_not_given_has_its_default():
    assert checked(Oven, {}, "oven") == {"degrees": 200, "hours": 1.0, "fan": False, "mode": "top", "steps": (1.0, 2.0)}
    assert type(checked(Oven, {}, "oven")["hours"]) is float


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("degrees", "0", 0), ("degrees", "-5", -5), ("degrees", "300", 300),
        ("hours", "0", 0.0), ("hours", "2", 2.0), ("hours", "-0", 0.0), ("hours", "0.25", 0.25), ("hours", "1.0", 1.0),
        ("fan", "true", True), ("fan", "false", False), ("mode", "both", "both"),
        ("steps", "2", (2.0,)), ("steps", "2:0.5:1:10", (2.0, 0.5, 1.0, 10.0)),
    ],
)  # fmt: skip
def test_a_value_is_read(name, text, expected):
    assert value(name, text) == expected
    assert type(value(name, text)) is type(expected)
    assert "-0" not in written(value(name, text))


INT = "a whole number, such as 20, from -5 to 300"
FLOAT = "a decimal, such as 0.5, from 0 to 2"
LIST = "decimals with colons between them, such as 2:1, from 0.5 to 10"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        *[("degrees", text, INT) for text in (
            "007", "-0", "+5", "1e2", "1_0", "１２", "٣", "2.0", "", "x", "0x10", "-6", "301", "9" * 500, "nan",
            "true", "1:2", " 5", "5\n",
        )],
        *[("hours", text, FLOAT) for text in (
            "nan", "inf", "-inf", "Infinity", "1e-3", ".5", "1.", "+1", "00.5", "-0.1", "2.01", "0,5",
            "１.５", "9" * 400, "1.0.0", "",
        )],
        *[("fan", text, "true or false") for text in ("True", "yes", "1", "")],
        *[("mode", text, "one of top, both") for text in ("Top", "bottom", "")],
        *[("steps", text, LIST) for text in ("0:1", "1:-1", "1:nan", "1:inf", "1:", ":", "1::2", "11", "1:x", "")],
    ],
)  # fmt: skip
def test_another_value_is_refused_with_what_was_expected(name, text, expected):
    with pytest.raises(UsageError) as raised:
        value(name, text)
    message = str(raised.value)
    assert message.startswith(f"oven: {name}=")
    assert f"was given; expected: {expected}. Write {name}=" in message
    assert message.isprintable()
    assert len(message) < 250


def test_an_unknown_parameter_is_told_with_those_there_are():
    told = r"unknown parameter of oven 'degres'. Did you mean 'degrees'\? There are: degrees, hours, fan, mode, steps\."
    with pytest.raises(UsageError, match=told):
        value("degres", "5")
    with pytest.raises(UsageError, match="table has no parameter 'legs', nor any"):
        checked(object, {"legs": "4"}, "table")


def test_the_class_checks_what_depends_on_more_than_one():
    with pytest.raises(UsageError, match="one too many"):
        value("steps", "1:2:3")
    assert value("steps", "2", inner=2) == (2.0, 2.0)


@given(st.floats(0.001, 1e9) | st.integers(-(10**9), 10**9) | st.booleans())
def test_what_is_written_is_read_again(number):
    kind = type(number).__name__
    assert Parameter("x", kind, number, "").read(written(number)) == pytest.approx(number, abs=1e-18)
    assert "e" not in written(number).replace("true", "").replace("false", "")


def test_floats_are_written_as_short_as_they_can_be():
    assert [written(x) for x in (95.0, 0.5, 100.0, 0.00001, (2.0, 1.5))] == ["95", "0.5", "100", "0.00001", "2:1.5"]


def test_a_part_writes_all_of_itself_and_equals_another_under_another_label():
    inner = Part("bm25")
    part = Part("fuse", (inner, Part("mmr", (), (("lam", 0.5),))), (("weights", (2.0, 1.0)), ("fan", True)), "short")
    assert str(part) == "fuse(bm25,mmr(lam=0.5),weights=2:1,fan=true)"
    assert part == Part(part.name, part.inner, part.values, "other")
    assert part != Part(part.name, part.inner, ())
    assert len({part, Part(part.name, part.inner, part.values, "other")}) == 1
