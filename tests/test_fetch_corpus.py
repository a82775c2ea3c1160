"""scripts/fetch_corpus.py against a stand-in of GitLab's API: its main, and as a process where a signal is sent."""

import hashlib
import importlib.util
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from standin_gitlab import COMMIT, PROJECT, Fault, StandinGitlab
from workplace import disk

from docmind.corpus import load

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "fetch_corpus.py"
TOKEN = "glpat-of_the_tests"
LEAVE, RELOCATION, UMLAUT = (
    "content/handbook/leave/_index.md",
    "content/handbook/moving abroad.md",
    "content/handbook/c++ & größe?.md",
)
PAGES = {
    LEAVE: b"---\ntitle: Leave\n---\n\n## Notice\n\n{{% panel %}}\r\nTell your manager a week before.\r\n{{% /panel %}}\n",
    RELOCATION: b'---\ntitle: "Moving: how"\n---\n\n{{< label name="x" >}}\n\nAsk before you sign a lease.\n',
    UMLAUT: "# Größe\n\nDie Größe zählt – nicht.".encode(),
}


@pytest.fixture
def gitlab():
    with StandinGitlab(PAGES) as server:
        yield server


@pytest.fixture
def place(tmp_path):
    """A folder with the manifest: its pages are in lines 2 to 4."""
    (tmp_path / "pages.txt").write_text("# pages\n" + "".join(f"{page}\n" for page in PAGES), encoding="utf-8")
    return tmp_path


@pytest.fixture
def script(monkeypatch):
    spec = importlib.util.spec_from_file_location("fetch_corpus", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fetch_corpus", module)
    spec.loader.exec_module(module)
    return module


def options(place, url):
    return [
        "--out",
        f"{place / 'out'}",
        "--manifest",
        f"{place / 'pages.txt'}",
        "--lock",
        f"{place / 'lock'}",
        "--url",
        url,
    ]


@pytest.fixture
def fetch(script, gitlab, place, capsys, monkeypatch):
    """Runs it; gives the exit code, all it said, in which the token never is, and the seconds it would have waited."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def run(*more, token=None, sleep=None):
        waits = []
        environ = {"GITLAB_TOKEN": token} if token is not None else {}
        code = script.main([*options(place, gitlab.url), *more], environ, sleep or waits.append)
        said = capsys.readouterr()
        assert said.out == ""
        assert TOKEN not in said.err
        return code, said.err, waits

    return run


def kept(place):
    """What is in the folder, as text, but for the notice and the record."""
    files = [path for path in (place / "out").rglob("*") if path.is_file()]
    found = {path.relative_to(place / "out").as_posix(): path.read_bytes() for path in files}
    return {name: content for name, content in found.items() if name not in {"NOTICE.md", ".checksums"}}


def test_all_pages_are_kept_byte_for_byte_with_a_lock_and_a_notice(fetch, place):
    assert fetch() == (0, f"3 pages are in {place / 'out'}: 3 fetched, 0 there already.\n", [])
    assert kept(place) == PAGES
    notice = (place / "out" / "NOTICE.md").read_text(encoding="utf-8")
    assert all(
        told in notice for told in ("gitlab-com/content-sites/handbook", "CC BY-SA 4.0", COMMIT, "Changes: none")
    )
    lines = (place / "lock").read_text(encoding="utf-8").splitlines()
    assert lines[2:] == [
        f"# commit {COMMIT}",
        *(f"{hashlib.sha256(PAGES[page]).hexdigest()}  {page}" for page in sorted(PAGES)),
    ]


def test_sha256sum_takes_the_lock(fetch, place):
    if not shutil.which("sha256sum"):
        pytest.skip("there is no sha256sum here")
    fetch()
    check = ["sha256sum", "--check", "--strict", "--quiet", "../lock"]
    assert subprocess.run(check, cwd=place / "out", check=False).returncode == 0


def test_the_loader_reads_the_folder_and_cleans_the_pages(fetch, place, caplog):
    fetch()
    with caplog.at_level(logging.WARNING):
        documents = {document.id: document for document in load(place / "out")}
    assert not caplog.records
    assert documents.keys() == PAGES.keys()
    assert documents[LEAVE].title == "Leave"
    assert "{{" not in documents[LEAVE].text + documents[RELOCATION].text
    assert "Tell your manager a week before." in documents[LEAVE].text


def test_a_path_is_one_encoded_segment_on_the_wire(fetch, gitlab):
    fetch()
    assert gitlab.requests == [
        f"{PROJECT}/commits/29350f82",
        f"{PROJECT}/files/content%2Fhandbook%2Fleave%2F_index.md/raw?ref={COMMIT}",
        f"{PROJECT}/files/content%2Fhandbook%2Fmoving%20abroad.md/raw?ref={COMMIT}",
        f"{PROJECT}/files/content%2Fhandbook%2Fc%2B%2B%20%26%20gr%C3%B6%C3%9Fe%3F.md/raw?ref={COMMIT}",
    ]


def test_the_second_time_nothing_is_asked(fetch, gitlab, place):
    fetch()
    gitlab.requests.clear()
    assert fetch()[:2] == (0, f"3 pages are in {place / 'out'}: 0 fetched, 3 there already.\n")
    assert gitlab.requests == []


def test_a_page_that_was_lost_or_damaged_here_is_fetched_again(fetch, gitlab, place):
    fetch()
    (place / "out" / LEAVE).write_text("half of it")
    (place / "out" / UMLAUT).unlink()
    gitlab.requests.clear()
    assert fetch()[0] == 0
    assert gitlab.asked_for == [LEAVE, UMLAUT]
    assert kept(place) == PAGES


def test_after_an_interruption_only_the_missing_are_asked_for(fetch, gitlab, place):
    def interrupt(_):
        raise KeyboardInterrupt

    gitlab.faults[RELOCATION] = [Fault(503)]
    code, said, _ = fetch(sleep=interrupt)
    assert code == 130
    assert "interrupted; what was fetched is kept" in said
    assert kept(place) == {LEAVE: PAGES[LEAVE]}
    assert not (place / "lock").exists()
    gitlab.requests.clear()
    assert fetch()[0] == 0
    assert gitlab.asked_for == [RELOCATION, UMLAUT]
    assert kept(place) == PAGES
    assert len((place / "lock").read_text(encoding="utf-8").splitlines()) == 3 + len(PAGES)


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C there")
def test_ctrl_c_while_a_page_is_on_its_way_keeps_the_ones_before_it(gitlab, place):
    gitlab.held = RELOCATION
    code = (
        # A shell's background jobs ignore SIGINT, and what they start would inherit that.
        "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, SCRIPT, *options(place, gitlab.url)],
        stderr=subprocess.PIPE,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
        text=True,
    )
    assert gitlab.asked.wait(30)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert (process.returncode, said) == (
        130, "interrupted; what was fetched is kept, and the next run goes on from there\n",
    )  # fmt: skip
    assert kept(place) == {LEAVE: PAGES[LEAVE]}


@pytest.mark.parametrize(
    ("faults", "waits"),
    [
        ([Fault(429, {"Retry-After": "7"})], [7]),
        ([Fault(429, {"Retry-After": "0"})], [1]),
        ([Fault(429)], [1]),
        ([Fault(429, {"Retry-After": "soon"}), Fault(503, {"Retry-After": "300"})], [1, 300]),
        ([Fault(500), Fault(502), Fault(503), Fault(504)], [1, 2, 4, 8]),
        ([Fault(0), Fault(0)], [1, 2]),
    ],
)
def test_what_passes_is_waited_for(fetch, gitlab, place, faults, waits):
    gitlab.faults[RELOCATION] = list(faults)
    code, said, waited = fetch()
    assert (code, waited) == (0, waits)
    assert said.count(f"{RELOCATION}: ") == said.count("Trying again in") == len(faults)
    assert kept(place) == PAGES


def test_what_does_not_pass_is_given_up_after_five_tries_and_names_the_page(fetch, gitlab, place):
    gitlab.faults[RELOCATION] = [Fault(500)] * 9
    code, said, waits = fetch()
    assert (code, waits) == (2, [1, 2, 4, 8])
    assert len(gitlab.faults[RELOCATION]) == 9 - 5
    assert (
        f"error: {RELOCATION}: GitLab answers 500 Internal Server Error, at the last of 5 tries. Wait a while" in said
    )
    assert kept(place) == {LEAVE: PAGES[LEAVE]}


def test_a_wait_beyond_reason_is_not_waited(fetch, gitlab):
    gitlab.faults[LEAVE] = [Fault(429, {"Retry-After": "3600"})]
    code, said, waits = fetch()
    assert (code, waits) == (2, [])
    assert f"{LEAVE}: GitLab answers 429 Too Many Requests and wants 3,600 s of patience. Wait a while" in said


def test_without_a_network_it_says_so(fetch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        code, said, waits = fetch("--url", f"http://127.0.0.1:{closed.getsockname()[1]}")
    assert (code, waits) == (2, [1, 2, 4, 8])
    assert "error: commit 29350f82: 127.0.0.1 cannot be reached" in said
    assert "Check the network" in said


def test_pages_that_the_commit_lacks_are_named_with_their_lines_and_the_others_are_kept(fetch, gitlab, place):
    del gitlab.pages[LEAVE], gitlab.pages[UMLAUT]
    code, said, waits = fetch()
    assert (code, waits) == (2, [])
    assert f"2 of 3 pages are not in commit {COMMIT}" in said
    assert (
        f"\n  {place / 'pages.txt'}:2: {LEAVE}\n  {place / 'pages.txt'}:4: {UMLAUT}\nMend or remove these lines" in said
    )
    assert kept(place) == {RELOCATION: PAGES[RELOCATION]}
    assert not (place / "lock").exists()


def test_another_status_is_not_tried_again(fetch, gitlab):
    gitlab.faults[LEAVE] = [Fault(302, {"Location": f"{gitlab.url}/elsewhere"}), Fault(401)]
    assert fetch()[:2] == (2, f"error: {LEAVE}: GitLab answers 302 Found, and 200 was expected. Check --url.\n")
    code, said, waits = fetch(token=TOKEN)
    assert (code, waits) == (2, [])
    assert f"{LEAVE}: GitLab answers 401 Unauthorized. Unset GITLAB_TOKEN, or set one" in said
    assert not any("elsewhere" in path for path in gitlab.requests)


def test_a_server_that_is_no_gitlab_is_told(fetch, gitlab):
    code, said, _ = fetch("--url", f"{gitlab.url}/elsewhere/")
    assert code == 2
    assert "commit 29350f82: " in said
    assert "does not know it (status 404). Check --url." in said


@pytest.mark.parametrize("there", [True, False])
def test_a_page_that_differs_from_the_lock_is_named_and_nothing_is_overwritten(fetch, gitlab, place, there):
    fetch()
    lock = (place / "lock").read_text(encoding="utf-8")
    here = place / "out" / RELOCATION
    if there:
        here.write_text("damaged here")
    else:
        here.unlink()
    before = kept(place)
    gitlab.pages[RELOCATION] = b"changed upstream"
    code, said, _ = fetch()
    assert code == 2
    old, new = (hashlib.sha256(text).hexdigest() for text in (PAGES[RELOCATION], b"changed upstream"))
    assert f"error: {RELOCATION}: its SHA-256 is {new}, and {place / 'lock'} holds {old}." in said
    assert kept(place) == before
    assert (place / "lock").read_text(encoding="utf-8") == lock


def test_a_clone_with_the_lock_alone_is_held_to_it(fetch, gitlab, place):
    fetch()
    shutil.rmtree(place / "out")
    gitlab.requests.clear()
    assert fetch()[0] == 0
    assert gitlab.asked_for == list(PAGES)
    assert kept(place) == PAGES
    assert f"{PROJECT}/commits/29350f82" not in gitlab.requests  # the lock knows the whole id


def test_the_lock_follows_the_manifest_and_a_page_left_over_is_told(fetch, gitlab, place):
    fetch()
    gitlab.pages["new.md"] = b"# New"
    (place / "pages.txt").write_text(f"{LEAVE}\nnew.md\n{RELOCATION}\n\n# the end\n{LEAVE}\n", encoding="utf-8")
    gitlab.requests.clear()
    code, said, _ = fetch()
    assert code == 0
    assert gitlab.asked_for == ["new.md"]
    assert f"{place / 'out' / UMLAUT} is not in {place / 'pages.txt'}" in said
    locked = [line[66:] for line in (place / "lock").read_text(encoding="utf-8").splitlines()[3:]]
    assert locked == sorted([LEAVE, RELOCATION, "new.md"])


def test_what_was_fetched_of_another_commit_is_fetched_again(fetch, gitlab, place):
    fetch()
    (place / "lock").unlink()
    record = place / "out" / ".checksums"
    record.write_text(record.read_text(encoding="utf-8").replace(COMMIT, "b" * 40), encoding="utf-8")
    gitlab.requests.clear()
    assert fetch()[0] == 0
    assert gitlab.asked_for == list(PAGES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"# commit {'b' * 40}\n{'0' * 64}  a.md\n", "is of commit bbbb"),
        (f"# commit {COMMIT}\n<<<<<<< ours\n", "lock:2: '<<<<<<< ours' is no checksum"),
        (f"{'0' * 64}  a.md\n", "has no line"),
        ("\ud800", "cannot be read"),
    ],
)
def test_a_lock_that_cannot_be_used_is_an_error_before_anything_is_asked(fetch, gitlab, place, text, told):
    (place / "lock").write_bytes(text.encode("utf-8", "surrogatepass"))
    code, said, _ = fetch()
    assert code == 2
    assert told in said
    assert "emove it" in said
    assert gitlab.requests == []
    assert not (place / "out").exists()


def test_the_token_is_sent_and_never_printed(fetch, gitlab):
    gitlab.faults[LEAVE] = [Fault(429), Fault(403)]
    assert fetch(token=f" {TOKEN}\n")[0] == 2
    assert gitlab.tokens == [TOKEN] * 3
    gitlab.tokens.clear()
    assert fetch(token="")[0] == 0
    assert set(gitlab.tokens) == {None}


@pytest.mark.parametrize("token", [f"{TOKEN} {TOKEN}", f"{TOKEN}é", f"{TOKEN}\n{TOKEN}"])
def test_a_token_that_no_header_can_hold_is_refused_unquoted(fetch, gitlab, token):
    code, said, _ = fetch(token=token)
    assert code == 2
    assert "GITLAB_TOKEN holds a blank" in said
    assert gitlab.requests == []


@pytest.mark.parametrize(
    "url", ["gitlab.com", "ftp://gitlab.com", "https://me:secret@gitlab.com", "http://a:b", "https://a/?b"]
)
def test_an_address_that_is_none_is_refused_unquoted(fetch, url):
    code, said, _ = fetch("--url", url)
    assert (code, "--url is no address" in said, "secret" in said) == (2, True, False)


@pytest.mark.parametrize(
    "line",
    [
        "../a.md", "content/../../a.md", "/etc/a.md", "C:/a.md", "C:a.md", "//host/share/a.md", "a\\..\\b.md", "a//b.md",
        "./a.md", ".git/a.md", "a/.b.md", "NOTICE.md", "README.md", "content/handbook", "a.rst",
        "a\0b.md", "a\u202eb.md",
    ],
)  # fmt: skip
def test_a_path_that_leaves_the_folder_or_is_no_page_is_refused_with_its_line(fetch, gitlab, place, line):
    (place / "pages.txt").write_text(f"{LEAVE}\n\n{line}\n", encoding="utf-8")
    code, said, _ = fetch()
    assert code == 2
    assert f"{place / 'pages.txt'}:3: {line!r} is no page that can be fetched" in said
    assert gitlab.requests == []
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("text", "told"), [(None, "cannot be read"), ("# none\n", "names no page"), ("\udcff", "cannot be read")]
)
def test_a_manifest_without_pages_is_refused(fetch, place, text, told):
    (place / "pages.txt").unlink()
    if text is not None:
        (place / "pages.txt").write_bytes(text.encode("utf-8", "surrogateescape"))
    code, said, _ = fetch()
    assert (code, told in said) == (2, True)


def test_a_page_that_is_not_utf_8_is_named_and_not_kept(fetch, gitlab, place):
    gitlab.pages[RELOCATION] = b"caf\xe9"
    code, said, _ = fetch()
    assert code == 2
    assert f"error: {RELOCATION}: 'utf-8' codec can't decode byte 0xe9" in said
    assert kept(place) == {LEAVE: PAGES[LEAVE]}


def test_a_folder_that_is_a_file_is_refused_before_anything_is_asked(fetch, gitlab, place):
    (place / "out").write_text("in the way")
    code, said, _ = fetch()
    assert code == 2
    assert f"error: {place / 'out'}: nothing can be written there" in said
    assert gitlab.requests == []


def test_a_read_only_folder_is_refused_before_anything_is_asked(fetch, gitlab, place):
    with disk(place / "out", "ro"):
        code, said, _ = fetch()
    assert code == 2
    assert f"error: {place / 'out'}: nothing can be written there" in said
    assert gitlab.requests == []


def test_the_project_s_manifest_names_sixty_pages_or_more(script):
    pages = script.read_manifest(ROOT / "eval" / "gitlab_handbook.txt")
    assert 60 <= len(pages) <= 150
    assert all(page.startswith("content/handbook/") for page in pages)
