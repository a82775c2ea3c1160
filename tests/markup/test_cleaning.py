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
    \\[ \\< \\| &lt; &gt; &amp; &nbsp; &#35; &#10; &#xFEFF; &quot; &euro; &#46; &#43; \ufeff \0 e\u0301 `<b>`
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
        ("{{toc}}\nText", "Text"),
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
        ("{% highlight %}\nx\n{% endhighlight %}", "```\nx\n```"),
        ("{%highlight sh%}\nx\n{%endhighlight%}", "```sh\nx\n```"),
        ('<a href="{% page "/x/" %}">Text</a>', "Text"),
        ('<a href={{< ref "x" >}}>Text</a>', "Text"),
        ("[Text]({{ site.url }}{% link a.md %} 'title')", "Text"),
        ('{{% alert title="The `--sso` flag" %}}\nBody\n{{% /alert %}}', "The `--sso` flag\nBody"),
        ('{{% note title=`Say "no"` %}}\nBody\n{{% /note %}}', 'Say "no"\nBody'),
        ('{{< figure caption="Say \\"no\\"" >}}', 'Say "no"'),
        ('{{% tab header="macOS" disabled=true /%}}', "macOS"),
        ("{{< a >}}one{{< a >}}two{{< /a >}}{{< /a >}}", "onetwo"),
        ("{% raw %}Write {{ first_name }}.{% endraw %}", "Write {{ first_name }}."),
        ("{% raw %}Write {{ site.name }} and `{% page %}`.{% endraw %}", "Write \\{{ site.name }} and `{% page %}`."),
        ("```md\n{{</* alert */>}}\n```", "```md\n{{< alert >}}\n```"),
    ],
)
def test_shortcodes_leave_what_they_say(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    "text",
    [
        "A day's pay is $r=\\frac{{S}}{{260}}$ before tax.",
        "$$\nP = \\frac{{D}}{12} \\times \\sum_{i=1}^{n} x^2+y^2\n$$",
        "the sum is \\(s = \\sum_{i=1}^{n} d_i\\)",
        "Use {{ to open.\nThen: 25 days.\nAnd }} to close.",
        "Pairs are {{1, 2}, {3, 4}}, fields {{first_name}} and {{ user.name }}.",
        "Set ${HOME} and {a, b}, not {10%} or {%5}.",
        "{% of the total %} and {% widget wide %}",
        "\\newcommand{%\nfoo}\n% x\n%}",
        "x_{a=1} and f(x){b=2} and `get`{ }",
        "if [[ -f x ]]; then x[[1]]; fi",
        "a == b and c == d, i++ + j++, C++ and D++, 2^10 and 2^12, 100%% and 5%%, x^n^m, $5 or $6",
        "Grants of <Company> to <your name> and <file name>.",
        "!!! Important notice\nwithout a body",
        "Title here\n:::",
        "% of it",
    ],
)
def test_what_only_looks_like_a_mark_is_text(text: str) -> None:
    assert clean(text).text == text
    assert clean(text).warnings == ()


def test_a_tag_whose_attributes_hold_braces_is_a_tag() -> None:
    raw = '<table><tr><th style={{ color: "red" }}>A</th><th onClick={() => { go(); }}>B</th></tr></table>'
    assert clean(raw).text == "| A | B |\n|---|---|"


@pytest.mark.parametrize(
    ("raw", "line", "names"),
    [
        ("a\n{{ site.email }} {{ page.title | upcase }}\n{{ site.email }}", 2, "site.email, page.title | upcase"),
        ('a\n\n{{< param "mail" >}}', 3, "mail"),
        ('{% include "x.html" %}', 1, "x.html"),
        ('{{% readfile file="parts/guests.md" %}}', 1, "parts/guests.md"),
        ('--8<-- "parts/guests.md"', 1, "parts/guests.md"),
        ("--8<--\na.md\nb.md\n--8<--", 2, "a.md, b.md"),
        ("<<< @/snippets/a.yml{2}", 1, "@/snippets/a.yml{2}"),
        ("<!--@include: ./parts/fire.md-->", 1, "./parts/fire.md"),
        ("![[Sick pay#Reporting]]", 1, "Sick pay#Reporting"),
        ("```{include} ../guests.md\n:start: a\n```", 1, "../guests.md"),
        ("{{ site.a }}{{ site.b }}{{ site.c }}{{ site.d }}{{ site.e }}{{ site.f }}", 1, "site.d, site.e and 1 more"),
    ],
)
def test_what_only_the_site_knows_is_left_out_and_told_once_a_page(raw: str, line: int, names: str) -> None:
    cleaned = clean(raw)
    assert not cleaned.text.removeprefix("a").strip()
    [(found, message)] = cleaned.warnings
    assert (found, message.endswith(names)) == (line, True), message


def test_a_value_in_an_address_is_no_words_and_is_not_told() -> None:
    cleaned = clean('[a]({{ site.url }}/b) <img src="{{ site.c }}" alt="d">\n\n[e]\n\n[e]: {{ site.f }}/g')
    assert (cleaned.text, cleaned.warnings) == ("a d\n\ne", ())


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (
            'See [platforms] and [calendar][releases].\n\n[platforms]: {{< relref "x" >}}\n[releases]: https://x.org/r',
            "See platforms and calendar.",
        ),
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


HEAD = "<tr><th>Country</th><th>Leave</th></tr>"
ROWS = "<tr><td>UK</td><td>25</td></tr>"
TABLE = "| Country | Leave |\n|---|---|\n| UK | 25 |"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (f"<table><thead>{HEAD}</thead><tbody>{ROWS}</tbody></table>", TABLE),
        (f"<table>\n<thead>\n{HEAD}\n</thead>\n<tfoot>\n{ROWS}\n</tfoot>\n</table>", TABLE),
        (f"<table><colgroup><col width='40%'><col></colgroup>{HEAD}{ROWS}</table>", TABLE),
        (f"<table>\n\n{HEAD}\n\n    {ROWS}\n\n</table>", TABLE),
        (f"<div>\n<table>\n\n{HEAD}\n\n{ROWS}</table>\n</div>\n\nEnd", f"{TABLE}\n\nEnd"),
        (f"- a\n\n  <table>\n\n  {HEAD}\n\n  {ROWS}\n  </table>", f"- a\n\n  {TABLE}".replace("\n|", "\n  |")),
        (f"<table><caption>Days</caption>{HEAD}{ROWS}</table>", f"Days\n\n{TABLE}"),
        ("<table><tr><th>A</th></tr><tr><td>\n\n**b**\n\nc\n\n</td></tr></table>", "| A |\n|---|\n| **b** c |"),
        ("<table><tr><th>A</th></tr><tr><td><pre>b\nc</pre></td></tr></table>", "| A |\n|---|\n| b c |"),
        ("<table><tr><th>A<th>B<tr><td>c<td>d</table>", "| A | B |\n|---|---|\n| c | d |"),
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td rowspan='2'>x</td><td>1</td></tr><tr><td>2</td></tr></table>",
            "| A | B |\n|---|---|\n| x | 1 |\n| x | 2 |",
        ),
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td colspan='2'>long enough</td></tr></table>",
            "| A | B |\n|---|---|\n| long enough | |",
        ),
        ("<table><tr><td rowspan=999999999 colspan=x>a</td></tr></table>", "| a |\n|---|"),
        ("<table>\n<tr><td>never closed</td>\n\nText", "| never closed |\n|---|\n\nText"),
    ],
)
def test_the_wrappers_of_a_table_and_blank_lines_part_no_rows(raw: str, text: str) -> None:
    assert clean(raw).text == text


def test_spans_add_at_most_as_much_as_the_table_holds() -> None:
    row = "<tr><td rowspan=999 colspan=999>" + "word " * 20
    assert len(clean(f"<table>{row * 200}</table>").text) < 4 * 200 * len("word " * 20)


def test_a_pipe_table_keeps_its_rows_and_its_escaped_pipe() -> None:
    raw = "| Code | Days |\n|:---|---:|\n| A\\|B | 25 |\n| [C](x)<br>D | `a\\|b` |"
    assert clean(raw).text == "| Code | Days |\n|:---|---:|\n| A\\|B | 25 |\n| C D | `a\\|b` |"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("AT&amp;T, 5 &lt; 6, &copy;&nbsp;x", "AT&T, 5 < 6, ©\u00a0x"),
        ("100&nbsp;000&shy;km &amp; more", "100\u00a0000\u00adkm & more"),
        ("&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;\\# no", "\\# no"),
        ("say &lt;b&gt; &amp; x", "say \\<b\\> & x"),
        ("C\\# is 3\\*4, \\$5 \\[draft\\]", "C# is 3*4, $5 [draft]"),
        ("\\# no heading\n1\\. no item", "\\# no heading\n1\\. no item"),
        ("a \\[b\\](c)", "a \\[b\\](c)"),
        ("a \\{{ b }}", "a {{ b }}"),
        ("a \\{{ site.b }}", "a \\{{ site.b }}"),
        ("a \\| b", "a \\| b"),
        ("&euro;25 a day", "€25 a day"),
        ("&ldquo;Up to&rdquo; 5&half; days", "“Up to” 5½ days"),
        ("&quot;Up to 5&quot; days", '"Up to 5" days'),
        ("10 &gt; 6 is true", "10 > 6 is true"),
        ("&lt; 5 years: 20 days", "< 5 years: 20 days"),
        ("&lt;=5 years", "<=5 years"),
        ("&lt;div class\ncut", "\\<div class\ncut"),
        ("- &gt; 5 years", "- \\> 5 years"),
        ("&#xFEFF;\\# a&#xFEFF;b", "\\# ab"),
        ("5&#41; no item", "5\\) no item"),
        ("1&#46; no item, 1&#46;5", "1\\. no item, 1.5"),
        ("&amp;lt; is shown as &amp;#60;", "\\&lt; is shown as \\&#60;"),
        ("## &lt;Leave&gt; &amp; more", "## \\<Leave> & more"),
        ("|a|b|\n|-|-|\n|&lt; 5|x &#124; y|", "|a|b|\n|-|-|\n|< 5|x \\| y|"),
        ("<table><tr><td>&lt; 5</td><td>20 &amp; 5</td></tr></table>", "| < 5 | 20 & 5 |\n|---|---|"),
        ("x &#91;a&#93;(b) y", "x \\[a\\](b) y"),
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
        ("## Annual leave { .wide #annual }", "## Annual leave"),
        ("# Leave {#leave}", "# Leave"),
        ('# Leave {#leave .red data-owner="people team"}', "# Leave"),
        ("## Leave {: #leave .wide }", "## Leave"),
        ("## Leave {: .wide} ##", "## Leave"),
        ("Leave {#leave}\n=====", "# Leave"),
        ("### Breaks {/* #breaks */}", "### Breaks"),
        ('## Leave [¶](#leave "Permanent link")', "## Leave"),
        ('## Leave <a href="#leave" id="leave"></a>', "## Leave"),
        ('## Leave <sup class="badge" />', "## Leave"),
        ('## Leave <sup class="badge"></sup>', "## Leave"),
        ('## Leave <Badge type="tip" text="new" />', "## Leave new"),
        ("## The set {1, 2} and {x}", "## The set {1, 2} and {x}"),
    ],
)
def test_headings_are_written_with_hashes(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a\n\n* TOC\n{:toc}\n\nb", "a\n\nb"),
        ("a\n\n{::comment}\nhidden\n{:/comment}\n\nb", "a\n\nb"),
        ("[a](b){ .md-button } ![c](d){width=3} `e`{.py} *f*{.g}", "a c `e` *f*"),
        ("Ask first.\n{.lead #first}\n\nThen book.\n{: .x }", "Ask first.\n\nThen book."),
        ("| A |\n|---|\n| b |\n{.table}", "| A |\n|---|\n| b |"),
        ("The [deadline]{.red} is the 5th", "The deadline is the 5th"),
        (
            "Die **Urlaubs**tage, un*frei*willig, on the **5**th, ***a**b*",
            "Die Urlaubstage, unfreiwillig, on the 5th, *ab*",
        ),
        ("5*3*2 and **a** b and *c*, (*d*)", "5*3*2 and **a** b and *c*, (*d*)"),
        ("10 m^2^, CO~2~, H~2~O, ~~old~~ ==new== ^^more^^", "10 m^2, CO2, H2O, old new more"),
        ("{--30--}{++40++} {==x==}{>>y<<} {~~5~>6~~}", "40 x 6"),
        ("Press ++ctrl+alt+del++", "Press ctrl+alt+del"),
        ("leased.^[Shorter costs more.]", "leased. Shorter costs more."),
        ("{ref}`the rules <leave>` and {sup}`2` {math}`\\frac{{S}}{2}`", "the rules and ^2 `\\frac{{S}}{2}`"),
    ],
)
def test_what_dialects_add_to_a_line_leaves_its_words(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("[[page#heading|shown]] and [[page]]", "shown and page"),
        ("[[page#heading]] [[#part|below]] [[page#^id]]", "page > heading below page"),
        ("| A | B |\n|---|---|\n| [[page\\|shown]] | c |", "| A | B |\n|---|---|\n| shown | c |"),
        ("[[How to book|how-to-book]]", "How to book"),  # as a wiki writes it, its target last
        ("![[plan.png|300]]\n\nText", "Text"),
        ("[[toc]]\n\nText", "Text"),
        ("in May %%was April%% with", "in May  with"),
        ("a\n\n%%\nhidden\n\n# no heading\n%%\n\nb", "a\n\nb"),
        ("a\n\n%%\nnever closed", "a\n\n%%\nnever closed"),
        ("text ^carry-over\n\nmore", "text\n\nmore"),
        ("> [!warning]- Hot *surface*\n> Wait.", "> Hot *surface*\n> Wait."),
        ("> [!NOTE]\n> Wait.", "> Wait."),
        ("`[[ -f x ]]` and `%%`", "`[[ -f x ]]` and `%%`"),
    ],
)
def test_a_page_of_a_vault_or_wiki_shows_what_its_reader_sees(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('<ac:structured-macro ac:name="x"><ac:parameter ac:name="colour">Red</ac:parameter>'
         '<ac:parameter ac:name="title">T</ac:parameter><ac:rich-text-body><p>a</p></ac:rich-text-body>'
         "</ac:structured-macro>", "T\n\na"),
        ("<ac:structured-macro><ac:plain-text-body><![CDATA[# a\n<b>]]></ac:plain-text-body></ac:structured-macro>",
         "```\n# a\n<b>\n```"),
        ('See <ac:link><ri:page ri:content-title="Pay" /></ac:link> now', "See Pay now"),
        ('See <ac:link><ri:page ri:content-title="Pay" /><ac:plain-text-link-body><![CDATA[that]]>'
         "</ac:plain-text-link-body></ac:link> now", "See that now"),
        ("`<ac:link><ri:page ri:content-title='Pay' /></ac:link>`", "`<ac:link><ri:page ri:content-title='Pay' /></ac:link>`"),
    ],
)  # fmt: skip
def test_the_storage_format_of_a_wiki_leaves_what_is_seen(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("!!! note\n\n    a\n\n        code\n\nb", "a\n\n    code\n\nb"),
        ('!!! tip "T"\n    a\nb', "T\n\na\n\nb"),
        ('??? x "T"\n\n    - a\n\n    b', "T\n\n- a\n\nb"),
        ('=== "One"\n\n    a\n\n=== "Two"\n\n    b', "One\n\na\n\nTwo\n\nb"),
        ('!!! a "A"\n\n    !!! b "B"\n\n        c', "A\n\nB\n\nc"),
        ("- a\n\n    !!! b\n\n        c\n\n- d", "- a\n\n    c\n\n- d"),
        ("!!! a\n\n    ```\n    !!! b\n        c\n    ```", "```\n!!! b\n    c\n```"),
        ("> !!! a\n>     b", ">\n> b"),
        ("[^1]: a\n\n    b", "[^1]: a\n\nb"),
        ("T\n\n:   a\n\n    b", "T\n\n:   a\n\nb"),
        (":::note\n    a\n\n    b\n:::", "a\n\nb"),
        (":::note[T]\na\n:::\nb", "T\n\na\n\nb"),
        ("::: details T {open}\na\n:::", "T\n\na"),
        ("::::a\n:::b[B]\nc\n:::\n::::", "B\n\nc"),
        ("/// note | T\n    type: x\n\na\n///", "T\n\na"),
        ("```{note}\na\n```", "a"),
        (":::{admonition} T\n:class: x\na\n:::", "T\n\na"),
        ("```{code-block} py\n:caption: T\n\n# a\n```", "T\n\n```py\n# a\n```"),
        (":::{list-table} T\n* - A\n  - B\n* - c\n  - d\n:::", "T\n\n| A | B |\n|---|---|\n| c | d |"),
        ("````md\n```{note}\na\n```\n````", "````md\n```{note}\na\n```\n````"),
        ("    !!! note\n        a", "    !!! note\n        a"),
        (":::note\nnever closed", ":::note\nnever closed"),
        ('```py title="a.py" {1,2}\nx\n```', "a.py\n\n```py\nx\n```"),
        ("``` { .py .annotate }\nx\n```", "```py\nx\n```"),
        ("```{r}\nx\n```", "```r\nx\n```"),
    ],
)
def test_boxes_and_tabs_are_their_title_and_their_body(raw: str, text: str) -> None:
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


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("You get {% if uk %}25{% else %}10{% endif %} days.", "You get 25 10 days."),
        ("{% case c %}{% when 'uk' %}25{% when 'de' %}30{% endcase %} days", "25 30 days"),
        ("{%- if a -%}Take 5.{%- elsif b -%}Take 6.{%- endif -%}", "Take 5. Take 6."),
        ('{{< tab name="UK" >}}25{{< /tab >}}{{< tab name="DE" >}}30{{< /tab >}}', "UK 25 DE 30"),
        ('{% tab "UK" %}25{% endtab %}{% tab "DE" %}Leave{% endtab %}', "UK 25 DE Leave"),
        ("{{< x >}}one{{< /x >}}{{< x >}}two{{< /x >}}", "one two"),
        ('Leave{{< badge text="new" >}} and 3{{< badge text="0" >}}5', "Leave new and 3 0 5"),
        ("5{{ site.x }}6", "5 6"),
        ("<Tab>25</Tab><Tab>10</Tab>", "25 10"),
        ('In <Tab label="UK">25</Tab><Tab label="DE">10</Tab>', "In UK 25 DE 10"),
        ('<table><tr><td>3<Badge text="5"/>0</td></tr></table>', "| 3 5 0 |\n|---|"),
        ('25<img alt="10"> and ![5](x)![6](y)', "25 10 and 5 6"),
        ("<button>25</button><button>10</button>", "25 10"),
    ],
)
def test_what_stands_apart_is_not_read_as_one_figure(raw: str, text: str) -> None:
    assert clean(raw).text == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("day{% if n > 1 %}s{% endif %} off", "days off"),
        ('Two {{< gloss text="Pod" id="pod" >}}s', "Two Pods"),
        ("{{< term >}}pod{{< /term >}}s and <Term>pod</Term>s", "pods and pods"),
        ("un<b>believ</b>able 1<span>0</span>5 <i>a</i><b>b</b>", "unbelievable 105 ab"),
        ("v1.{{< x >}}5, ({{< x >}}a)", "v1.5, (a)"),
        ("a\ufdd1b\ufdd2c", "abc"),
    ],
)
def test_what_a_reader_sees_as_one_word_stays_one(raw: str, text: str) -> None:
    assert clean(raw).text == text


def test_scripts_and_styles_in_a_line_are_no_words() -> None:
    raw = "Up <style>p{color:red}</style>to <script>alert('*x*')</script>25. <script> is a tag, </style> ends one."
    assert clean(raw).text == "Up to 25.  is a tag,  ends one."
