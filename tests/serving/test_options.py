"""The page's options are the command's, and what they do not say is the project's own."""

from pathlib import Path

import pytest

from docmind.config import Settings
from docmind.errors import UsageError
from docmind.serving.options import read


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (["--corpus", "my docs", "--out=o"], {"corpus": Path("my docs"), "out": Path("o")}),
        (["--strategies-file", "s.yaml", "--index-dir", "i"], {"strategies": Path("s.yaml"), "index_dir": Path("i")}),
        (["--profile", "hub"], {"profile": "hub"}),
        (["--exclude", "a/*", "--exclude", "b"], {"exclude": ("a/*", "b")}),
        (
            ["--questions", "q", "--baseline", "b", "--thresholds", "t"],
            {"questions": Path("q"), "baseline": Path("b"), "thresholds": Path("t")},
        ),
    ],
)
def test_options_become_settings(arguments, changed):
    assert read(arguments) == Settings(**changed)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--corp", "x"], "the page has no option '--corp'. There are: --corpus, --questions, "),
        (["x"], "the page has no option 'x'."),
        (["--profile", "huge"], "argument --profile: invalid choice: 'huge'"),
        (["--corpus"], "argument --corpus: expected one argument"),
    ],
)
def test_another_option_or_value_is_refused(arguments, told):
    with pytest.raises(UsageError) as error:
        read(arguments)
    assert told in str(error.value)
