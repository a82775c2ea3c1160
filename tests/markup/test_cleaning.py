"""What cleaning removes, what it keeps, and that it does so once and for all."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.markup import clean
from docmind.markup.cleaning import LONG_PARAGRAPH

MARKS = """
    a b # ## - 1. > ` `` * _ ** [ ] ](u) [a](b) ![i](j) [r][r] <b> </b> <div> </div> <!-- --> <br> <td> <tr> <table> </table>
    <li> <h2> </h2> <pre> </pre> <script> </script> <x> <a@b.c> <http://x> {{ }} {% %} {{< >}} {%raw%} {%endraw%} " | \\ \\#
    \\[ \\< \\| &lt; &gt; &amp; &nbsp; &#35; &#10; \ufeff \0 e\u0301 `<b>`
"""
LINES = ["\n", "\n\n", "\r\n", "```\n", "~~~\n", "---\n", "===\n", "|---|\n", "| a | b |\n", "[r]: x\n", "\\\n"]
BLANKS = [" ", "    ", "\t", "\u00a0", "\x0c"]
SHORTCODES = ["{% highlight x %}", "{% endhighlight %}", '{% s "dc" %}', "{% comment %}", "{% endcomment %}"]
PIECES = st.sampled_from([*MARKS.split(), *LINES, *BLANKS, *SHORTCODES])
PAGES = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=40)


@given(PAGES)
def test_cleaning_twice_changes_nothing(raw: str) -> None:
    once = clean(raw).text
    assert clean(once).text == once


@given(st.text("ab1.,;:\n ", max_size=80))
def test_plain_text_keeps_every_word(raw: str) -> None:
    assert clean(raw).text.split() == raw.split()


def test_encoding_and_white_space_are_made_plain() -> None:
    assert clean("\ufeffa  \r\nb\t\rcafe\u0301\n\n\n\n\nd\n\n").text == "a\nb\ncaf\u00e9\n\nd"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("{{< youtube w7Ft2 >}}\n\nText", "Text"),
        ("{{% alert %}}\ninside\n{{% /alert %}}", "inside"),
        ('{{% alert title="Take care" color="warning" %}}\ninside\n{{% /alert %}}', "Take care\ninside"),
        ('{{< figure\n  src="a.png"\n  alt="An ocelot"\n>}}', "An ocelot"),
        ("Mail {{ site.email }} now", "Mail  now"),
        ('Ask {% slack_channel "dc" %}.', "Ask dc."),
        ('Ask ({% slack_channel "aging-parents" "Aging parents" %})', "Ask (Aging parents)"),
        ('See {% page "/leave/", "Leave rules" %}', "See Leave rules"),
        ('See [the\nguide]({% page "/a b/" %}#top) now', "See the\nguide now"),
        ('{% include "warning.html" %}\nText', "Text"),
        ('{% alert "Heads up!", "warning" %}\nBody\n{% endalert %}', "Heads up!\nBody"),
        ('{% alert "warning" %}\nBody\n{% endalert %}', "Body"),
        ("a {% comment %}TODO\n\nmore{% endcomment %}b", "a b"),
        (
            "{% highlight sh %}\n# not a heading {{ x }}\n\n    y\n{% endhighlight %}",
            "```sh\n# not a heading {{ x }}\n\n    y\n```",
        ),
        ('<a href="{% page "/x/" %}">Text</a>', "Text"),
    ],
)
def test_shortcodes_leave_what_they_say(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("[text](http://x 'title') ![alt](y.png)", "text alt"),
        ("[text][ref] [ref]\n\n[ref]: http://x", "text ref"),
        ("[![alt](a.png)](b)", "alt"),
        ("![](data:image/png;base64,AAAA)x [y](javascript:z)", "x y"),
        ("<https://x.y/_a_?b=1&c> <me@x.y>", "https://x.y/_a_?b=1&c me@x.y"),
        ("note[^1]\n\n[^1]: word", "note[^1]\n\n[^1]: word"),
        ("- [a\n  b](c)\n- ![](d)\n- e", "- a\n  b\n\n- e"),
        ("> see [a](b)\n> c", "> see a\n> c"),
    ],
)
def test_links_leave_their_text(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a <b>bold</b> <span class='x'>word</span> H<sub>2</sub>O", "a bold word H2O"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("- one<br>two", "- one\n  two"),
        ("a <!-- hidden --> b", "a  b"),
        ("<!-- hidden\n\n# not a heading\n-->\nshown", "shown"),
        ("<div>\n  <p>one</p><p>two</p>\n</div>", "one\n\ntwo"),
        ("<style>\ntd {padding: 8px}\n</style>\n\ntext", "text"),
        ('<img src="a.png" alt="Don\'t run">', "Don't run"),
        ("<h3>\n<button\n  type='button'>\n  Step 1\n</button>\n</h3>", "### Step 1"),
        ("<ul>\n <li>\n  <p>one</p>\n </li>\n <li><a href='x'>two</a></li>\n</ul>", "- one\n- two"),
        ("<pre><code># a &lt;b&gt;\n\n\n  c</code></pre>", "```\n# a <b>\n\n\n  c\n```"),
        ("use <your-name> or <project>", "use <your-name> or <project>"),
        ("<project>\n[a](b)", "<project>\na"),
        ("<details>\n<summary>More</summary>\n\n**text**\n</details>", "More\n\n**text**"),
    ],
)
def test_tags_are_removed_and_placeholders_stay(raw: str, text: str) -> None:
    assert clean(raw).text == text


def test_a_table_of_html_becomes_rows_with_cells_apart() -> None:
    raw = "<table>\n <tr>\n  <th>Code</th>\n  <th>Days</th>\n </tr>\n <tr><td>A|<br>B<td>\n  <a href='x'>25</a>\n</table>after"
    assert clean(raw).text == "| Code | Days |\n|---|---|\n| A\\| B | 25 |\n\nafter"


def test_a_pipe_table_keeps_its_rows_and_its_escaped_pipe() -> None:
    raw = "| Code | Days |\n|:---|---:|\n| A\\|B | 25 |\n| [C](x)<br>D | `a\\|b` |"
    assert clean(raw).text == "| Code | Days |\n|:---|---:|\n| A\\|B | 25 |\n| C D | `a\\|b` |"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("AT&amp;T, 5 &lt; 6, &copy;&nbsp;x", "AT&T, 5 < 6, ©\u00a0x"),
        ("say &lt;b&gt; &amp; x", "say &lt;b&gt; & x"),
        ("C\\# is 3\\*4, \\$5 \\[draft\\]", "C# is 3*4, $5 [draft]"),
        ("\\# no heading\n1\\. no item", "\\# no heading\n1\\. no item"),
        ("a \\[b\\](c)", "a \\[b\\](c)"),
        ("a \\{{ b }}", "a \\{{ b }}"),
        ("a \\| b", "a \\| b"),
    ],
)
def test_entities_and_escapes_are_undone_where_no_markup_arises(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("Title\n=====\n\nSub\ntitle\n---\ntext", "# Title\n\n## Sub title\ntext"),
        ("## [Pay](x) `rise` ##", "## Pay `rise`"),
        ("a\n# ![](x.png)\nb", "a\n\nb"),
        ("Title #\n===", "# Title \\#"),
        ("> Quoted\n> ===", "> # Quoted"),
    ],
)
def test_headings_are_written_with_hashes(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    "code",
    [
        "```html\n<!-- banner\n\n\n\n<b>[a](b)</b> {{ x }} &amp; \\#\n```",
        "~~~\nTitle\n===\n~~~sh\n# x\n~~~",
        "text\n\n    <b>indented</b>  {{ x }}\n\n\n    [a](b)\n\ntext",
        "Use `<!-- TODO -->` and ``{% raw %} ` <b>`` here",
        "- item\n\n  ```\n  <b>\n  ```",
        "```\nnever closed {{< x >}}\n\n\n\n<i>",
    ],
)
def test_code_is_left_as_it_is(code: str) -> None:
    assert clean(code).text == code
    assert clean(code).warnings == ()


def test_a_comment_shown_in_code_hides_nothing_after_it() -> None:
    raw = "Use `<!-- TODO -->` for drafts.\n```html\n<!-- banner\n```\n# Pay\nPaid on the 25th.\n<!-- end -->"
    assert clean(raw).text == "Use `<!-- TODO -->` for drafts.\n```html\n<!-- banner\n```\n# Pay\nPaid on the 25th."


def test_what_is_never_closed_stays_as_text_and_is_told_with_its_line() -> None:
    raw = "{{< figure\n  src='a'\n>}}\nask {{< x\n\n# Pay\nb <!-- c\n\nd {% e"
    cleaned = clean(raw)
    assert cleaned.text == "ask {{< x\n\n# Pay\nb <!-- c\n\nd {% e"
    assert [line for line, _ in cleaned.warnings] == [4, 7, 9]
    assert "{{<" in cleaned.warnings[0][1]
    assert "<!--" in cleaned.warnings[1][1]


def test_a_comment_that_is_never_closed_does_not_swallow_the_page() -> None:
    assert clean("<!-- c\n\n[a](b)\n").text == "<!-- c\n\na"


def calls(raw: str) -> int:
    """How many functions cleaning `raw` calls, those of C included."""
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(tick)
    try:
        clean(raw)
    finally:
        sys.setprofile(None)
    return count


HOSTILE = [
    "[",
    "[a](",
    "![",
    "*a_ ",
    "<b ",
    "<!-- ",
    "<!-- a\n",
    "{{",
    "{% a \n",
    "<div>",
    "`` ` ",
    "<pre>",
    "\\*",
    "|a",
    "<td>",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_with_the_length_of_hostile_text_not_with_its_square(unit: str) -> None:
    # four times the text: linear work is four times the calls, quadratic work sixteen times
    assert calls(unit * 2000) < 8 * calls(unit * 500)


@pytest.mark.parametrize("unit", HOSTILE)
def test_ten_thousand_unclosed_marks_are_cleaned(unit: str) -> None:
    clean(unit * 10_000)


def test_a_line_of_a_megabyte_is_accepted_in_silence() -> None:
    line = "word [ " * 150_000
    assert len(line) > LONG_PARAGRAPH
    assert clean(line).text == line.rstrip()
    assert clean(line).warnings == ()


def test_deep_nesting_loses_no_word() -> None:
    raw = "".join(f"{'  ' * depth}- w{depth}\n" for depth in range(60))
    assert clean(raw).text.replace("-", "").split() == [f"w{depth}" for depth in range(60)]


def test_a_raised_mark_is_no_digit_of_the_figure_before_it() -> None:
    assert clean("up to €1,100<sup>2</sup>").text == "up to €1,100^2"
