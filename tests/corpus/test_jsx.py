"""MDX to Markdown: what only a browser runs is left out, what is read stays, and no line moves."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.corpus.jsx import without_jsx
from docmind.corpus.markdown import read
from docmind.markup import clean


@pytest.mark.parametrize(
    ("mdx", "text"),
    [
        ("import Tabs from '@theme/Tabs'\nimport 'x.css'\nimport type { A } from \"a\"\nText", "Text"),
        ("import {\n  A,\n\n  B,\n} from 'x';\n\nText", "Text"),
        ("export const meta = {\n  a: [1],\n\n  b: 2,\n}\n\nText", "Text"),
        ("export const x =\n  5\n\nText", "Text"),
        ("export default function Page({ children }) {\n  return <p>{children}</p>\n}\n\nText", "Text"),
        ("import duties from China are 5 %.", "import duties from China are 5 %."),
        ("We pay\nimport taxes, duties\nand VAT.", "We pay\nimport taxes, duties\nand VAT."),
        ("Rules of\nexport class 25 goods.", "Rules of\nexport class 25 goods."),
        ("# Leave\nimport A from 'a'\n<A />\nexport const b = 1\n\nText", "# Leave\n\nText"),
        ("<Tabs><Tab id='a'>25</Tab><Tab id='b'>10</Tab></Tabs>", "25 10"),
        ("a <Term>pod</Term>s, 25 {a.b}5 {'6'}7", "a pods, 25 5 67"),
        ("export const x = {\n\nText below it.", "export const x = {\n\nText below it."),
        ("One {/* hidden\n\nhere */}two", "One\n\ntwo"),
        ("Up{' '}to {\"25 days\"}", "Up to 25 days"),
        ("{props.version} of $r=\\frac{{S}}{{260}}$", " of $r=\\frac{{S}}{{260}}$"),
        ("In {new Date().getFullYear()}: {name} and {`40 euros`}.", "In : {name} and 40 euros."),
        ("``{`kept`}``\n\n```js\n{`kept`} {a.b}\n```", "``{`kept`}``\n\n```js\n{`kept`} {a.b}\n```"),
        ("<Note>\nAsk <Tip kind=\"x\">first</Tip>.\n</Note>", "Ask first."),
        ("<Foo.Bar a={{b: {c: {d: 1}}}} {...rest}>in</Foo.Bar> <>it</>", "in it"),
        ("<Card\n  title=\"Sick pay\"\n  icon={<Icon name=\"x\" />}\n>\n  Ten days.\n</Card>", "Sick pay\n\nTen days."),
        ("<Accordion title={'How?'}>So.</Accordion>", "How? So."),
        ("<TabItem value=\"mac\" label=\"On macOS\">", "On macOS"),
        ("<div style={{ color: \"red\" }}>in</div>", "in"),
        ("<table><tr><th style={{width: 3}}>A</th></tr><tr><td>1</td></tr></table>", "| A |\n|---|\n| 1 |"),
        ("<Tabs>\n    <TabItem>\n\n        Take 25 days.\n\n        - one\n          - two\n\n    </TabItem>\n</Tabs>",
         "Take 25 days.\n\n- one\n  - two"),
        ("- one\n\n  ```sh\n    <Foo>\n  ```\n", "- one\n\n  ```sh\n    <Foo>\n  ```"),
        ("```mdx\nimport x from 'y'\n<Foo>\n{/* kept */}\n```", "```mdx\nimport x from 'y'\n<Foo>\n{/* kept */}\n```"),
        ("`<Foo>` and \\{braces\\}", "`<Foo>` and {braces}"),
        ("a < b and c > d", "a < b and c > d"),
    ],
)  # fmt: skip
def test_what_is_read_stays(mdx, text):
    plain = without_jsx(mdx)
    assert plain.count("\n") == mdx.count("\n")
    # two braces are shortcodes to the cleaner
    assert (plain if "{{" in plain else clean(plain).text) == text


@pytest.mark.parametrize(
    "text", ["# Leave\n\nTake **25** days.\n\n- a\n  - b\n\n| a |\n|---|\n| b |\n\n```sh\n\tmake\n```\n"]
)
def test_what_is_plain_markdown_stays_as_it_is(text):
    assert without_jsx(text) == text


@given(st.text(st.sampled_from("<>/{}*\"'`=A a\n-#\\"), max_size=60))
def test_no_line_is_added_or_lost(text):
    assert without_jsx(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "unit",
    [
        "<A {",
        "<A '",
        '<A "x',
        "{/* ",
        "{/* */ ",
        "{'a",
        "<a b={",
        "export {\n",
        "import {\n\n",
        "<A title='",
        "```\n`` ` ",
        "{ ",
        "<A b=c ",
    ],
)
def test_time_grows_with_the_size(unit):
    def seconds(n):
        started = time.perf_counter()
        without_jsx(unit * n)
        return time.perf_counter() - started

    seconds(1_000)
    assert seconds(8_000) < 40 * max(seconds(1_000), 0.005)


def test_a_page_in_mdx_is_read_with_its_front_matter_and_lines(tmp_path, caplog):
    page = tmp_path / "leave.mdx"
    page.write_text("---\ntitle: Leave\n---\nimport A from 'a'\n\n<A>\n\nTake 25 days. <!-- x\n\n</A>\n")
    document = read(page, "leave.mdx")
    assert (document.title, document.text.split("\n")[0]) == ("Leave", "Take 25 days. <!-- x")
    assert "leave.mdx:8: " in caplog.text
