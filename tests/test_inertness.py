"""Whatever a pull request's texts are, what is posted and annotated of them does nothing: read by a parser of Markdown that
is not what made it so."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from handmade import DOCUMENTS, hits, questions, reference, results
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from docmind.evaluation.gate.thresholds import Thresholds
from docmind.evaluation.gate.verdict import judge
from docmind.evaluation.reports import comment as report
from docmind.evaluation.reports import github, outputs
from docmind.evaluation.reports.material import Material

SCRIPT = Path(__file__).parent.parent / "scripts" / "comment.py"
OWN = "https://github.test/acme/handbook/blob/"
RUN = {"conclusion": "failure", "head_sha": "1a2b3c4d", "html_url": "https://github.test/runs/5"}

# Pieces that mean something to GitHub, to Markdown, to HTML or to a runner, and what stands between them.
PIECES = (
    "@team", "@acme/team", "a@evil.test", "#12", "acme/x#12", "GH-12", "/lgtm", "![", "](", "][", "](//evil.test)",
    "](<//evil.test>)", "![x](//evil.test/p.png)", "[x](//evil.test)", "[x](mailto:a)", "[x][y]", "[y]: //evil.test",
    "[x]", f"[x]({OWN}a)", f"]({OWN}a b)", "://", "https://evil.test", "HTTP://evil.test", "www.evil.test",
    "WWW.evil.test", "mailto:", "<https://evil.test>", "<a@evil.test>", "<", "<img src=//evil.test>",
    "<a href=//evil.test>x</a>", "<details>", "</details>", "<summary>", "<details open>", "<!--", "-->", "<?",
    "<![CDATA[", "&#64;team", "&commat;team", "&#x40;", "&lt;img>", "&amp;", "&#60;img>", "&colon;//",
    "&lsqb;x&rsqb;", "&", "`", "```", "~~~", "``", "$", "$$", "\\", "\\@", "\\[", "\\<", "# ", "## x", "#\tx", "===",
    "---", "- ", "* ", "+ ", "1. ", "> ", ">", "    ", "|", "|---|", "*", "_", "~~", "!", ":", "\n", "\n", "\n\n",
    "\r", "\r\n", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\u202e", "\u200b", "\x1b[2J", "\x00", "\ufeff",
    "\xa0", " ", " ", "::error::", "::add-mask::x", "##[error]", "##[command]", "%0A", "%0A::error::", "%", "=", "a",
    "word", "é", "深", "🙂", ",file=x", "[^1]", "[^1]: x",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)
THOROUGHLY = settings(max_examples=300, deadline=None)

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ALIVE = re.compile(
    r"(?<![A-Za-z0-9])@\w|[\w.+-]@[\w-]+\.\w"  # mentions and addresses
    r"|#\d|\bGH-\d"  # issues
    r"|\w://|(?i:www)\.\w"  # links that need no brackets
)


def live(body, first_may_be_heading=True):
    """What in `body` does something but the marker, folds, and links to OWN or to the run."""
    found = []
    for place, token in enumerate(MARKDOWN.parse(body)):
        if token.type == "heading_open" and not (first_may_be_heading and place and token.map[0] <= FIRST):
            found.append(("heading", token.map))
        if token.type == "html_block":
            found += tags(token.content)
        if token.type in ("fence", "code_block") and (token.info or "").strip():
            found += [("shown", token.info)] * ("mermaid" in token.info)
        if token.type != "inline":
            continue
        text = ""
        for child in token.children:
            if child.type == "image":
                found.append(("image", child.attrs))
            elif child.type == "link_open" and not str(child.attrs["href"]).startswith((OWN, RUN["html_url"])):
                found.append(("link", child.attrs))
            elif child.type == "html_inline":
                found += tags(child.content)
            text += "\n" if child.type in ("softbreak", "hardbreak") else child.content if child.type == "text" else ""
        found += [("alive", at[0]) for at in ALIVE.finditer(text)]
        found += [("command", line) for line in text.split("\n") if line.lstrip().startswith("/")]
    return found


FIRST = 4
"""The line of the body in which the report's own heading stands: below the marker, what GitHub says and an empty line."""


def tags(html):
    """What of HTML is no fold and not the marker."""
    rest = re.sub(r"</?(?:details|summary)>|\A<!-- docmind:retrieval -->", "", html)
    return [("html", rest)] * ("<" in rest)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("comment", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["comment"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["comment"]


def test_the_parser_sees_what_is_alive():
    """Else the tests below would hold whatever the script did."""
    alive = {"@team": "alive", "a@evil.test": "alive", "#12": "alive", "www.evil.test": "alive", "&#64;team": "alive"}
    alive |= {"x\n\n/lgtm": "command", "> - /lgtm": "command", "> # x": "heading", "a\n---": "heading", "<b>": "html"}
    alive |= {"![x](y)": "image", "[x](//evil.test)": "link", "[x]\n\n[x]: //evil.test": "link"}
    for text, kind in alive.items():
        assert kind in [found for found, _ in live(f"\n\n\n\n\n\n{text}")], text


@THOROUGHLY
@given(TEXTS)
@example("a\n> # x")
@example("a\n- # x")
@example("a\n1. ## x")
@example("a\n> b\n> ---")
@example("> - \n/lgtm")
@example("```\n</details>\n@team")
@example("[x](\n//evil.test)")
@example(rf"\[x]({OWN}a)")
def test_a_report_that_a_stranger_wrote(script, text):
    body = script.compose("retrieval", [f"### Retrieval\n{text}\n"], RUN, OWN)
    assert live(body) == []
    head = body.split("\n", 2)
    assert head[0] == "<!-- docmind:retrieval -->"
    assert head[1].startswith("**retrieval: the checks of this pull request ended with: failure.** ")


def judged(text):
    """A run that fails, with `text` wherever a pull request's files give some."""
    before, after = (dict.fromkeys("st", found) for found in (hits(60), hits(60, 9, 2)))
    found = results(after)
    held = Thresholds(production="s", min_hit_at_3=0.9, max_regression_pp=3.0)
    asked = questions(after["s"], **dict.fromkeys(after["s"], text))
    verdict = judge(found, reference(before), held)
    return Material(found, {}, asked, DOCUMENTS, {}, "eval/questions.jsonl", f"{OWN}abc/", verdict, notes=(text,))


@settings(max_examples=25, deadline=None)
@given(TEXTS)
def test_a_report_that_docmind_wrote(script, text):
    for files in (report.render(judged(text)), report.failed(text, 2), report.failed(text, 3)):
        [written] = files.values()
        assert live(script.compose("retrieval", [written], RUN, OWN)) == []


@settings(max_examples=25, deadline=None)
@given(TEXTS)
def test_annotations_and_outputs(text):
    for rendered, failed in ((github.render, github.failed), (outputs.render, outputs.failed)):
        for files in (rendered(judged(text)), failed(text, 2), failed(text, 3)):
            [written] = files.values()
            *lines, end = written.split("\n")
            assert end == ""
            for line in lines:  # a runner reads what begins with "::"
                assert not re.search(r"[\x00-\x08\x0a-\x1f]", line)  # a line ends with a carriage return too
                assert re.match(r"::(error|warning) [^:]*::[^\r\n]*$|[a-z_0-9]+=[^\r\n]*$", line)
                told = line.partition("::")[2].partition("::")[2]
                assert not ALIVE.search(told)
                assert re.sub(r"%(25|0A|0D)", "", told).count("%") == 0
