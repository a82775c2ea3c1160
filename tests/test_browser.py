"""The web page in a browser: all three tabs walked, nothing asked of any other machine, no error in the console.

Skipped where there is no Chromium, unless DOCMIND_REQUIRE_BROWSER=1 forbids it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import pytest
from handmade import DOCUMENTS, hits, questions, results
from handmade_pdf import pdf
from workplace import QUESTIONS

from docmind.evaluation.gate.compare import compare
from docmind.evaluation.key.dataset import Written
from docmind.evaluation.record.instrument import document_hashes
from docmind.evaluation.reports import diffpage, html
from docmind.evaluation.reports.material import Material

if TYPE_CHECKING:
    from playwright.sync_api import Locator

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium")
REQUIRED = os.environ.get("DOCMIND_REQUIRE_BROWSER") == "1"
PATIENCE = 30.0
PAGES = {
    "leave.md": "# Leave\n\nYou have 25 days of annual leave a year.\n\n## Carrying over\n\nFive days may be carried over.\n",
    "pay.md": "# Pay\n\nSalaries are paid on the 25th.\n\n## Bonus\n\nThe bonus is paid in March with the salary.\n",
    "travel/rail.md": "# Rail\n\nFirst class is for journeys over three hours. Keep the ticket.\n",
}
HOSTILE = (
    "A pirate keeps <img src=x onerror=\"document.title='hacked'\"> and <script>document.title='hacked'</script> and "
    "[x](javascript:alert(1)) and ![x](http://example.org/x.png) and $\\LaTeX$ and :material/home: and :red[x] aboard."
)


def browser_missing() -> str:
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the package playwright is not installed"
    return "" if CHROMIUM else "no chromium on the path"


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    """Where the page is served from a small project."""
    if missing := browser_missing():
        if REQUIRED:
            pytest.fail(f"DOCMIND_REQUIRE_BROWSER=1, but {missing}")
        pytest.skip(f"{missing}; install it to walk the page")
    project = tmp_path_factory.mktemp("project")
    for name, text in {**PAGES, "../eval/questions.jsonl": "\n".join(map(json.dumps, QUESTIONS))}.items():
        path = project / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project / "eval" / "thresholds.yaml").write_text(
        "production: headers+rerank\nmin_hit_at_3: 0\nmax_regression_pp: 3\n"
    )
    shutil.copytree(ROOT / ".streamlit", project / ".streamlit")
    temp = project / "temp"
    temp.mkdir()
    keys = {name: "" for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))}
    environment = os.environ | keys | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temp)}
    command = [sys.executable, "-m", "docmind.cli", "eval", "--quiet", "--save-baseline"]
    subprocess.run(command, cwd=project, env=environment, check=True)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for step in (["init", "-q"], ["add", "results/baseline.json"], ["commit", "-q", "-m", "The first baseline"]):
        subprocess.run(["git", *author, *step], cwd=project, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(ROOT / "app.py"),
        "--server.headless=true",
        f"--server.port={port}",
    ]
    with (
        (project / "log").open("w") as log,
        subprocess.Popen(command, cwd=project, env=environment, stdout=log, stderr=log) as server,
    ):
        try:
            wait_for(f"http://127.0.0.1:{port}", server, project / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(PATIENCE)
    assert not list(temp.glob("docmind-*")), "a visitor's documents were left behind"


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    direct = build_opener(ProxyHandler({}))
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            direct.open(f"{address}/_stcore/health", timeout=PATIENCE).close()
            return
        except URLError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < ends, log.read_text()
            time.sleep(0.1)


@dataclass
class Watched:
    """A visitor's page, and what it said and asked for."""

    page: object
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> object:
        return getattr(self.page, name)

    def ask(self, label: str, question: str) -> None:
        """Ask, and wait for the answer, which ends with its times."""
        # What is typed while the page is drawn anew is lost.
        self.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        panel = self.page.get_by_role("tabpanel").filter(visible=True)
        self.page.get_by_label(label).fill(question)
        self.page.get_by_label(label).press("Enter")
        panel.locator(".stages").first.wait_for()

    def choose(self, label: str, option: str) -> None:
        panel = self.page.get_by_role("tabpanel").filter(visible=True)
        panel.get_by_role("combobox", name=label).click()
        self.page.get_by_role("option", name=option, exact=True).click()


@pytest.fixture(scope="module")
def chromium(address):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-proxy-server"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, address):
    """Opens the page for another visitor. In the end none may have met an error or asked another machine."""
    opened = []

    def open_page(width: int = 1280) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)
        watched = Watched(context.new_page())
        opened.append(watched)
        watched.page.on("console", lambda said: watched.errors.append(said.text) if said.type == "error" else None)
        watched.page.on("pageerror", lambda error: watched.errors.append(str(error)))
        for event in ("request", "websocket"):
            watched.page.on(event, lambda asked: watched.elsewhere.append(asked.url))
        watched.page.goto(address)
        watched.page.get_by_label("Ask the handbook").wait_for()
        return watched

    yield open_page
    for watched in opened:
        hosts = {urlsplit(url).hostname for url in watched.elsewhere if urlsplit(url).scheme not in ("data", "blob")}
        watched.page.context.close()
        assert watched.errors == []
        assert hosts == {"127.0.0.1"}


def steady(locator: Locator) -> dict[str, float]:
    """The box of an element once it stands still. Streamlit draws a page in several goes, and an element that was there may
    be replaced by the next one: it then has no box for a moment, or another."""
    ends = time.monotonic() + PATIENCE
    before = None
    while True:
        locator.wait_for()
        box = locator.bounding_box()
        if box is not None and box == before:
            return box
        assert time.monotonic() < ends, f"{locator} never stood still"
        before = box
        locator.page.wait_for_timeout(100)


def upload(watched: Watched, *files: tuple[str, bytes]) -> None:
    watched.page.get_by_role("tab", name="Your documents").click()
    payloads = [{"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files]
    watched.page.locator("input[type=file]").set_input_files(payloads)
    watched.page.locator("[data-testid=stFileChip], [data-testid=stFileUploaderFile]").nth(len(files) - 1).wait_for()
    watched.page.get_by_role("button", name="Add", exact=True).click()
    watched.page.get_by_label("Ask your documents").wait_for()


def test_the_handbook_answers_with_a_citation_that_opens_its_page(visit):
    page = visit()
    page.ask("Ask the handbook", "How many days of annual leave do I have?")
    answer = page.locator(".answer").first
    assert "You have 25 days of annual leave a year." in answer.inner_text()
    assert answer.get_by_role("link", name="[1]").first.get_attribute("href") == "#handbook-0-1"
    passage = page.locator("#handbook-0-1")
    assert passage.locator(".place").inner_text().startswith("[1] Leave")
    assert "You have 25 days of annual leave a year." in passage.locator("mark").all_inner_texts()
    page.get_by_role("button", name="Read it in its page").first.click()
    whole = page.get_by_role("dialog").locator(".whole")
    whole.wait_for()
    assert "Five days may be carried over." in whole.inner_text()


def test_another_strategy_answers_at_once_and_two_stand_side_by_side(visit):
    page = visit()
    page.ask("Ask the handbook", "When is the bonus paid?")
    page.choose("Strategy", "headers+vector")
    page.get_by_text("rerank ", exact=False).and_(page.locator(".stages span")).first.wait_for(state="detached")
    page.choose("Compare with", "fixed_500+hybrid")
    page.locator("#handbook-1-1").wait_for()
    assert "paid in March" in page.locator(".answer").nth(0).inner_text()
    assert "paid in March" in page.locator(".answer").nth(1).inner_text()
    left, right = (steady(page.locator(".answer").nth(n)) for n in (0, 1))
    assert left["x"] + left["width"] <= right["x"]


def test_a_pdf_is_uploaded_asked_cited_by_page_and_deleted(visit):
    page = visit()
    upload(page, ("rules.pdf", pdf(["The rules", "", "The sauna opens at seven."])), ("broken.pdf", b"%PDF-1.7 broken"))
    assert page.get_by_text("rules.pdf: 1 of 3 pages holds no text and cannot be found: page 2.").is_visible()
    assert page.get_by_text("broken.pdf is damaged or cut off. Save or download it again.").is_visible()
    page.ask("Ask your documents", "When does the sauna open?")
    passage = page.locator("#own-0-1")
    assert "3" in passage.locator(".page").inner_text()
    assert "The sauna opens at seven." in passage.locator("mark").all_inner_texts()

    other = visit()
    other.page.get_by_role("tab", name="Your documents").click()
    other.page.get_by_role("button", name="Add", exact=True).wait_for()
    assert other.page.get_by_label("Ask your documents").count() == 0

    page.get_by_text("1 file", exact=True).click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_label("Ask your documents").wait_for(state="detached")
    assert page.locator("#own-0-1").count() == 0


def test_the_evaluation_is_drawn(visit):
    page = visit()
    page.get_by_role("tab", name="Evaluation").click()
    panel = page.get_by_role("tabpanel").filter(visible=True)
    panel.get_by_text("One question, every strategy").wait_for()
    panel.get_by_text("Over time", exact=True).wait_for()
    panel.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").nth(2).wait_for()
    panel.locator("[data-testid=stDataFrame] canvas").nth(3).wait_for()
    panel.get_by_text("headers+rerank: found at 1").click()
    panel.locator("mark").filter(visible=True).first.wait_for()
    page.choose("Question", "q3: Who may go first class?")
    panel.locator("mark").get_by_text("over three hours").first.wait_for(state="attached")


def test_an_uploaded_page_of_markup_is_text(visit):
    page = visit()
    name = "<img src=x onerror=alert(1)> :red[x].txt"
    upload(page, (name, HOSTILE.encode()))
    page.ask("Ask your documents", "What does a pirate keep aboard?")
    page.get_by_role("button", name="Read it in its page").first.click()
    page.get_by_role("dialog").locator(".whole").wait_for()
    assert page.title() == "DocMind"
    assert page.locator(".answer img, .passage img, .whole img, .file img, .notice img").count() == 0
    assert page.locator(".katex, a[href^=javascript], a[href*='example.org'], img[src*='example.org']").count() == 0
    shown = page.get_by_role("dialog").locator(".whole").inner_text()
    for text in (
        "<script>",
        "[x](javascript:alert(1))",
        "![x](http://example.org/x.png)",
        "$\\LaTeX$",
        ":material/home:",
        ":red[x]",
    ):
        assert text in shown
    page.keyboard.press("Escape")
    page.get_by_text("1 file", exact=True).click()
    page.locator(".file").filter(visible=True).wait_for()
    assert page.locator(".file").inner_text() == name


def test_the_answer_from_ones_own_documents_is_in_sight_and_its_passages_are_whole(visit):
    page = visit()
    rows = "\n".join(f"| Day {n} | The crew of boat {n} eats at noon |" for n in range(60))
    table = f"| Day | Meal |\n|:----|:-----|\n{rows}\n"
    upload(page, ("a.md", table.encode()), ("b.md", b"A diver has 9 days of leave."), ("c.txt", b"Tea is at four."))
    page.get_by_text("a.md, b.md and c.txt were added.").wait_for()
    page.ask("Ask your documents", "How many days of leave has a diver?")
    page.get_by_text("a.md, b.md and c.txt were added.").wait_for(state="detached")
    answer = steady(page.locator(".answer").first)
    assert answer["y"] + answer["height"] < 900
    page.ask("Ask your documents", "Who eats at noon?")
    text = page.locator(".passage .text").filter(has_text="eats at noon").first
    assert steady(text)["height"] > 22 * 16
    assert text.evaluate("it => it.scrollHeight <= it.clientHeight")
    assert "|:--" not in text.inner_text()


def test_files_are_deleted_one_after_another_without_opening_the_list_again(visit):
    page = visit()
    upload(page, ("a.md", b"One."), ("b.md", b"Two."), ("c.md", b"Three."))
    page.get_by_text("3 files", exact=True).click()
    delete = page.get_by_role("button", name="Delete")
    for number, left in ((2, "2 files"), (1, "1 file")):
        delete.first.click()
        page.get_by_text(left, exact=True).wait_for()
        delete.nth(number).wait_for(state="detached")  # until then the first may be the one that was clicked
        delete.first.wait_for()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(visit, width):
    page = visit(width)
    page.ask("Ask the handbook", "How many days of annual leave do I have?" + " very" * 30 + "long" * 60)
    for tab in ("Ask", "Your documents", "Evaluation"):
        page.get_by_role("tab", name=tab).click()
        page.wait_for_timeout(300)
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


def test_what_the_report_is_filtered_by_stands_in_its_address(chromium, tmp_path):
    found = results({"s+a": hits(60), "t+b": hits(40)})
    material = Material(found, {}, questions(hits(60)), DOCUMENTS, {}, "key.jsonl")
    (tmp_path / "latest.html").write_text(html.render(material)["latest.html"], encoding="utf-8")
    report = (tmp_path / "latest.html").as_uri()
    page = chromium.new_page()
    page.goto(report)
    page.locator("#strategy").select_option("t+b")
    page.locator("#outcome").select_option("missed")
    page.locator("#text").fill("q004")
    address = page.evaluate("location.href")
    assert address == f"{report}#strategy=t%2Bb&text=q004&outcome=missed"
    other = chromium.new_page()
    other.goto(address)
    assert other.locator("#count").inner_text() == page.locator("#count").inner_text() == "10 of 100 questions"
    other.goto(f"{report}#outcome=hit&strategy=t%2Bb")
    other.get_by_text("40 of 100 questions").wait_for()
    for opened in (page, other):
        opened.close()


ATTACK = "<script>document.title='hacked'</script>"


def test_a_page_of_two_runs_opens_as_its_address_says(chromium, tmp_path):
    types = {"direct": [f"q{i:04}" for i in range(50)], "vague": [f"q{i:04}" for i in range(50, 100)]}
    pages = document_hashes(DOCUMENTS.values())
    old = results({"s+a": hits(60), "t+b": hits(40)}, types=types, pages=pages)
    new = results({"s+a": hits(60, 8, 3), "t+b": hits(40, 4, 2)}, types=types, pages=pages)
    asked = [Written(f"q{i:04}", f"What of {i}? {ATTACK}", "direct", i + 1, (("page.md", ATTACK),)) for i in range(100)]
    shown = diffpage.render(
        diffpage.Side("a.json", old), diffpage.Side(ATTACK, new), compare(old, new), asked, DOCUMENTS
    )
    (tmp_path / "diff.html").write_text(shown, encoding="utf-8")
    address = (tmp_path / "diff.html").as_uri()
    errors = []
    page = chromium.new_page()
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    rows = page.locator("#list > li").filter(visible=True)

    def opened(part: str) -> str:
        page.goto("about:blank")
        page.goto(f"{address}{part}")
        return page.locator("#count").inner_text()

    # 8 + 3 flips of the first, 4 + 2 of the second; q0060 to q0062 are gained by the first, and vague.
    assert opened("") == "17 of 17 flips"
    assert opened("#strategy=s%2Ba&outcome=lost") == "8 of 17 flips"
    assert opened("#type=vague") == "3 of 17 flips"
    assert opened("#strategy=none&outcome=gained") == "5 of 17 flips"
    assert opened("#question=q0003&strategy=t%2Bb") == "1 of 17 flips"
    assert rows.count() == 1
    told = rows.inner_text()
    for text in ("lost, rank 1 → not found", "Lost at fusion", "page.md [10:20]", "0123456789", f"What of 3? {ATTACK}"):
        assert text in told
    page.get_by_role("link", name="4 lost by t+b").click()
    page.get_by_text("4 of 17 flips").wait_for()
    page.locator("#question").fill("q0001")
    assert page.locator("#count").inner_text() == "1 of 17 flips"
    assert page.evaluate("location.href") == f"{address}#strategy=t%2Bb&outcome=lost&question=q0001"
    page.locator("#question").fill("of 2?")
    assert page.locator("#count").inner_text() == "1 of 17 flips"
    page.get_by_role("link", name="8 lost by s+a").click()
    page.get_by_text("8 of 17 flips").wait_for()
    assert page.title() == f"DocMind: {ATTACK} against a.json"
    assert errors == []
    page.close()
