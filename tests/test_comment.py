"""scripts/comment.py against a stand-in of GitHub: as a process, or its main where a wait is to be short."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from handmade import DOCUMENTS, hits, questions, reference, results
from standin_github import BOT, REPOSITORY, TOKEN, Fault, StandinGithub

from docmind.evaluation.gate.thresholds import Thresholds
from docmind.evaluation.gate.verdict import judge
from docmind.evaluation.reports import comment
from docmind.evaluation.reports.material import Material

SCRIPT = Path(__file__).parent.parent / "scripts" / "comment.py"
MARKER = "<!-- docmind:retrieval -->"
TEXT = "### ✅ Retrieval: the gate passed\n"
SHA = "1a2b3c4" + 33 * "0"
ABOVE = (
    f"{MARKER}\n**retrieval: the checks of this pull request ended with: timed out.** Below is what its own files report. "
    "[The run of 1a2b3c4](https://github.test/runs/5) has the full report.\n\n"
)
BODY = f"{ABOVE}{TEXT}"


def pull(number=7, sha=SHA, label="guest:bigger-chunks", state="open"):
    return {"number": number, "state": state, "head": {"label": label, "sha": sha}}


@pytest.fixture
def github():
    with StandinGithub([pull(), pull(8, label="guest:another")]) as server:
        yield server


@pytest.fixture
def run():
    """The workflow run of the event."""
    return {
        "head_sha": SHA,
        "conclusion": "timed_out",
        "head_branch": "bigger-chunks",
        "head_repository": {"owner": {"login": "guest"}},
        "html_url": "https://github.test/runs/5",
    }


@pytest.fixture
def folder(tmp_path):
    """What was downloaded of the artifact of one name; others lie beside it."""
    folder = tmp_path / "artifacts" / "retrieval"
    folder.mkdir(parents=True)
    (folder / "latest.comment.md").write_text(TEXT, encoding="utf-8")
    return folder


@pytest.fixture
def environ(github, run, tmp_path):
    def make():
        event = tmp_path / "event.json"
        event.write_text(json.dumps({"action": "completed", "workflow_run": run}), encoding="utf-8")
        return {
            "GITHUB_API_URL": github.url,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SERVER_URL": "https://github.test",
            "GITHUB_TOKEN": TOKEN,
        }

    return make


@pytest.fixture
def post(environ, folder):
    """Runs the script as the workflow does; gives its exit code and all it said, in which the token never is."""

    def start():
        done = subprocess.run(
            [sys.executable, "-I", SCRIPT, folder.parent],
            env={**os.environ, **environ()},
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=False,
        )
        assert TOKEN not in done.stdout + done.stderr
        assert not done.stderr
        return done.returncode, done.stdout

    return start


@pytest.fixture
def post_at_once(environ, folder, capsys, monkeypatch):
    """The same in this process; gives the seconds that it would have waited as well."""
    spec = importlib.util.spec_from_file_location("comment", SCRIPT)
    comment = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "comment", comment)
    spec.loader.exec_module(comment)

    def start():
        waits = []
        code = comment.main([str(folder.parent)], environ(), waits.append)
        said = "".join(capsys.readouterr())
        assert TOKEN not in said
        return code, said, waits

    return start


def writes(github):
    return [request for request in github.requests if not request.startswith("GET")]


def chatter(github, count):
    for number in range(count):
        github.comment(f"remark {number}", {"login": "reviewer", "type": "User"})


def test_the_first_run_posts(github, post):
    chatter(github, 2)
    assert post() == (0, "Posted retrieval to pull request 7.\n")
    assert [comment["body"] for comment in github.comments] == ["remark 0", "remark 1", BODY]


# A page has 100: its own comment is on the first page at place 31, and on the second at 101.
@pytest.mark.parametrize(("earlier", "pages"), [(0, 1), (30, 1), (99, 1), (100, 2), (230, 3)])
def test_a_later_run_edits_the_comment_wherever_it_stands(github, post, earlier, pages):
    chatter(github, earlier)
    ours = github.comment(f"{MARKER}\nold")
    chatter(github, 2)
    assert post() == (0, "Edited the comment retrieval of pull request 7.\n")
    assert ours["body"] == BODY
    assert len(github.comments) == earlier + 3
    assert len([request for request in github.requests if "/issues/7/comments?" in request]) == pages
    assert all("per_page=100" in request for request in github.requests if request.startswith("GET"))


def test_two_runs_make_one_comment(github, post, folder):
    post()
    (folder / "latest.comment.md").write_text("second", encoding="utf-8")
    post()
    [comment] = github.comments
    assert comment["body"] == BODY.replace(TEXT, "second")


def test_of_two_comments_of_its_own_the_oldest_is_edited(github, post):
    first, second = github.comment(f"{MARKER}\none"), github.comment(f"{MARKER}\ntwo")
    post()
    assert (first["body"], second["body"]) == (BODY, f"{MARKER}\ntwo")


@pytest.mark.parametrize(
    ("user", "body"),
    [
        ({"login": "mallory", "type": "User"}, f"{MARKER}\nnot the bot's"),
        ({"login": "github-actions[bot]", "type": "User"}, f"{MARKER}\na user of that name"),
        ({"login": "another-app[bot]", "type": "Bot"}, f"{MARKER}\nanother bot's"),
        (BOT, f"another report, which quotes {MARKER}"),
    ],
)
def test_a_comment_that_is_not_its_own_is_left_alone(github, post, user, body):
    github.comment(body, user)
    assert post() == (0, "Posted retrieval to pull request 7.\n")
    assert [comment["body"] for comment in github.comments] == [body, BODY]


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_where_the_token_may_not_write_the_verdict_stands(github, post, method):
    if method == "PATCH":
        github.comment(f"{MARKER}\nold")
    github.faults = [Fault(method, 403)]
    code, said = post()
    assert code == 0
    assert said == (
        "::warning::No comment was posted: GitHub answered 403: stand-in fault 403. "
        "The token may not write here; the verdict and the job's summary stand.\n"
    )
    assert len(writes(github)) == 1


def test_any_other_refusal_fails_with_what_github_says(github, post):
    github.faults = [Fault("POST", 422)]
    assert post() == (1, "::error::No comment retrieval was posted: GitHub answered 422: stand-in fault 422\n")
    assert len(writes(github)) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [0, 429, 500, 502])
def test_a_fault_that_passes_is_waited_for(github, post_at_once, method, status):
    github.faults = [Fault(method, status), Fault(method, status)]
    code, said, waits = post_at_once()
    assert (code, waits) == (0, [1, 2])
    assert said.endswith("Trying again.\nPosted retrieval to pull request 7.\n")
    assert [comment["body"] for comment in github.comments] == [BODY]


@pytest.mark.parametrize("status", [0, 502])
def test_a_post_that_was_kept_though_it_seemed_to_fail_is_not_made_twice(github, post_at_once, status):
    github.faults = [Fault("POST", status, kept=True)]
    code, said, _ = post_at_once()
    assert (code, len(github.comments), github.comments[0]["body"]) == (0, 1, BODY)
    assert said.endswith("Edited the comment retrieval of pull request 7.\n")


@pytest.mark.parametrize("status", [0, 503])
def test_after_five_tries_it_gives_up(github, post_at_once, status):
    github.faults = [Fault("POST", status)] * 9
    code, said, waits = post_at_once()
    assert (code, waits, len(writes(github))) == (1, [1, 2, 4, 8], 5)
    assert said.splitlines()[-1].startswith("::error::No comment retrieval was posted: GitHub ")
    assert github.comments == []


def test_a_github_that_is_not_there_is_tried_five_times(github, post_at_once):
    github.__exit__()
    code, said, waits = post_at_once()
    assert (code, waits) == (1, [1, 2, 4, 8])
    assert said.splitlines()[-1].startswith("::error::No comment retrieval was posted: GitHub could not be reached: ")


@pytest.mark.parametrize("status", [403, 429, 503])
def test_it_waits_as_long_as_github_asks(github, post_at_once, status):
    github.faults = [Fault("POST", status, headers={"Retry-After": seconds}) for seconds in ("60", "1")]
    code, _, waits = post_at_once()
    assert (code, waits) == (0, [60, 2])


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"}, [1]),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{time.time() + 100_000:.0f}"}, []),
    ],
)
def test_a_spent_quota_is_no_missing_right(github, post_at_once, headers, waits):
    github.faults = [Fault("POST", 403, headers=headers)]
    code, said, waited = post_at_once()
    assert waited == waits
    assert code == (0 if waits else 1)
    assert "may not write" not in said


def test_a_limit_that_is_told_in_words_alone_is_waited_for(github, post_at_once):
    github.faults = [Fault("POST", 403, message="You have exceeded a secondary rate limit.")]
    code, _, waits = post_at_once()
    assert (code, waits) == (0, [60])


def test_it_does_not_wait_for_an_hour(github, post_at_once):
    github.faults = [Fault("POST", 429, headers={"Retry-After": "3600"})]
    code, said, waits = post_at_once()
    assert (code, waits) == (1, [])
    assert "429" in said


@pytest.mark.parametrize(
    ("pulls", "reason"),
    [
        ([], "there is no open pull request from guest:bigger-chunks."),
        ([pull(state="closed")], "there is no open pull request from guest:bigger-chunks."),
        ([pull(label="acme:bigger-chunks")], "there is no open pull request from guest:bigger-chunks."),
        (
            [pull(sha="f" * 40)],
            f"guest:bigger-chunks has moved on from {SHA}; the run of its newest commit will comment.",
        ),
        (
            [pull(), pull(9)],
            "guest:bigger-chunks has pull requests [7, 9], and the run does not tell which it was for.",
        ),
    ],
)
def test_without_the_one_pull_request_of_the_run_nothing_is_posted(github, post, pulls, reason):
    github.pulls = pulls
    assert post() == (0, f"::warning::No comment was posted: {reason}\n")
    assert not writes(github)


def test_a_filter_that_github_overlooks_does_no_harm(github, post, monkeypatch):
    answer = github.answer

    def all_pulls(method, path, *rest):
        return (200, github.pulls) if path.endswith("/pulls") else answer(method, path, *rest)

    monkeypatch.setattr(github, "answer", all_pulls)
    github.pulls = [pull(9, label="victim:main"), pull()]
    assert post() == (0, "Posted retrieval to pull request 7.\n")


def test_a_fork_that_is_gone_has_no_pull_request(github, post, run):
    run["head_repository"] = None
    assert post() == (0, "::warning::No comment was posted: the fork is gone.\n")


@pytest.mark.parametrize("parents", [1, 0])
def test_a_run_that_left_no_artifact_gets_no_comment(github, post, folder, parents):
    (folder / "latest.comment.md").unlink()
    folder.rmdir()
    if parents:
        folder.parent.rmdir()
    assert post() == (0, "::warning::No comment was posted: the run left no text. Its log says why.\n")
    assert not github.requests


def name_it(folder, name, text=TEXT):
    """The artifact of another name, beside that of `folder`."""
    (folder.parent / name).mkdir()
    (folder.parent / name / "latest.comment.md").write_text(text, encoding="utf-8")


def test_each_name_has_a_comment_of_its_own(github, post, folder):
    other = github.comment("<!-- docmind:handbook -->\nold")
    longer = github.comment("<!-- docmind:handbook-2 -->\nold")
    name_it(folder, "handbook", "of the handbook\n")
    assert post() == (0, "Edited the comment handbook of pull request 7.\nPosted retrieval to pull request 7.\n")
    assert other["body"] == ABOVE.replace("retrieval", "handbook") + "of the handbook\n"
    assert longer["body"] == "<!-- docmind:handbook-2 -->\nold"
    assert github.comments[2]["body"] == BODY


def test_one_text_that_cannot_be_posted_keeps_no_other_back(github, post, folder):
    name_it(folder, "a", "x" * 70_000)
    (folder.parent / "b").mkdir()
    code, said = post()
    assert code == 1
    assert [line[:36] for line in said.splitlines()] == [
        "::error::No comment a was posted: th",
        "::error::No comment b was posted: th",
        "Posted retrieval to pull request 7.",
    ]
    assert [comment["body"] for comment in github.comments] == [BODY]


@pytest.mark.parametrize(
    "name", ["Retrieval", "a b", "a_b", "x" * 41, "a\n::error::b", "é", "a -->", "latest.comment.md"]
)
def test_a_name_of_another_form_posts_nothing_and_is_not_shown(github, post, folder, name):
    name_it(folder, name)
    said = "::error::No comment was posted: a name is not of a-z, 0-9 and -, 40 characters at most.\n"
    assert post() == (1, said)
    assert not github.requests


def test_a_run_has_ten_names_at_most(github, post, folder):
    for number in range(10):
        name_it(folder, f"n{number}")
    assert post() == (
        1, "::error::No comment was posted: the run has 11 names. One pull request gets 10 comments at most.\n"
    )  # fmt: skip
    assert not github.requests


def test_a_pull_request_has_ten_comments_at_most_however_many_runs(github, post, folder):
    for number in range(9):
        github.comment(f"<!-- docmind:n{number} -->\nold")
    chatter(github, 3)
    assert post() == (0, "Posted retrieval to pull request 7.\n")
    name_it(folder, "another")
    assert post() == (
        1,
        "::error::No comment another was posted: pull request 7 has 10 comments of other names. It gets 10 at most.\n"
        "Edited the comment retrieval of pull request 7.\n",
    )
    assert len(github.comments) == 13


def test_a_folder_that_is_a_link_is_not_followed(github, post, folder, tmp_path):
    name_it(folder, "true")
    (folder / "latest.comment.md").unlink()
    folder.rmdir()
    (folder.parent / "true").rename(tmp_path / "true")
    folder.symlink_to(tmp_path / "true")
    assert post() == (1, "::error::No comment retrieval was posted: it is no folder.\n")
    assert not github.requests


def test_both_reports_are_one_comment_and_either_will_do(github, post, folder):
    (folder / "latest.answers.comment.md").write_text("### ❌ Answers\n", encoding="utf-8")
    post()
    assert github.comments[0]["body"] == BODY.replace(TEXT, f"{TEXT}\n### ❌ Answers\n")
    (folder / "latest.comment.md").unlink()
    post()
    assert github.comments[0]["body"] == BODY.replace(TEXT, "### ❌ Answers\n")


OWN = "https://github.test/acme/handbook/blob/"


@pytest.mark.parametrize(
    ("line", "live"),
    [
        ("ping @team, x_@team, é@team", r"(?<![A-Za-z0-9])@\w"),
        ("&#64;team &commat;team", r"&(?!amp;)"),
        ("/lgtm", r"(?m)^[ >*-]*/"),
        ("> - /approve", r"(?m)^[ >*-]*/"),
        ("![x](https://evil.test/p.png)", r"!\[|\]\(|://"),
        ("[x](//evil.test) and [y\\](//evil.test)", r"\]\("),
        (f"[x]({OWN}a b://c)", r"\]\("),
        ("[x]: //evil.test/p.png", r"\]:"),
        ("<img src=x> <a href=x> <details open> <!-- x", "<"),
        ("www.evil.test, mailto:a@evil.test", r"www\.|@\w"),
        ("acme/handbook#12, #12, GH-12, gh-12", r"#\d|(?i:GH-\d)"),
        ("### ✅ Retrieval: the gate passed", r"(?m)^ *#"),
        ("The gate passed\n===", r"(?m)^=+$"),
        ("a\x1b[2J\u202eb\r/lgtm", r"[\x1b\u202e\r]"),
    ],
)
def test_what_a_fork_writes_into_its_report_does_nothing(github, post, folder, line, live):
    (folder / "latest.comment.md").write_text(f"### first\n{line}\n", encoding="utf-8")
    assert post()[0] == 0
    text = github.comments[0]["body"].removeprefix(f"{ABOVE}### first")
    assert not re.search(live, text), text


def test_what_docmind_writes_is_posted_as_it_looks(github, post, folder):
    """Of two strategies that lose, with questions that hold all that means something to GitHub."""
    text = "a|b @team <!-- x --> ```\n/lgtm ![i](https://x.y/z) [l](//x.y) #12 www.x.y $a_b$ &amp; R&D"
    before, after = (dict.fromkeys("st", found) for found in (hits(60), hits(60, 9, 2)))
    found = results(after)
    held = Thresholds(production="s", min_hit_at_3=0.5, max_regression_pp=3.0)
    asked = questions(after["s"], **dict.fromkeys(after["s"], text))
    verdict = judge(found, reference(before), held)
    material = Material(found, {}, asked, DOCUMENTS, {}, "eval/questions.jsonl", f"{OWN}abc/", verdict)
    [report] = comment.render(material).values()
    (folder / "latest.comment.md").write_text(report, encoding="utf-8")
    assert post()[0] == 0
    posted = github.comments[0]["body"].removeprefix(ABOVE)
    assert posted.replace("\u200b", "") == report.replace("\u200b", "")
    assert posted.count(f"]({OWN}abc/eval/questions.jsonl#L") == 22


def test_a_marker_in_the_text_shows_and_hides_nothing(github, post, folder):
    (folder / "latest.comment.md").write_text(f"{MARKER} a <!-- b", encoding="utf-8")
    post()
    [comment] = github.comments
    assert comment["body"].startswith(f"{ABOVE}&lt;!-- docmind:retrieval --> a &lt;!-- b")
    assert comment["body"].count("<!--") == 1


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (
            b"x" * 70_000,
            f"the comment would have {70_000 + len(BODY) - len(TEXT):,} characters. GitHub takes 65,536.",
        ),
        (b"x" * 300_000, "latest.comment.md is longer than the 65,536 characters of a comment."),
        (b"caf\xe9 au lait", "latest.comment.md is not UTF-8: invalid continuation byte at byte 3."),
    ],
)
def test_what_github_would_not_take_is_refused(github, post, folder, written, reason):
    (folder / "latest.comment.md").write_bytes(written)
    assert post() == (1, f"::error::No comment retrieval was posted: {reason}\n")
    assert not github.requests


def test_the_longest_comment_fits_whatever_its_characters(github, post, folder):
    room = 65_536 - len(BODY) + len(TEXT)
    (folder / "latest.comment.md").write_text("🙂" * room, encoding="utf-8")
    assert post()[0] == 0
    assert len(github.comments[0]["body"]) == 65_536


def test_a_link_is_not_followed(github, post, folder, tmp_path):
    (tmp_path / "secret").write_text("of this machine", encoding="utf-8")
    (folder / "latest.comment.md").unlink()
    (folder / "latest.comment.md").symlink_to(tmp_path / "secret")
    assert post() == (
        1,
        "::error::No comment retrieval was posted: latest.comment.md is a link. Only a file is read.\n",
    )
    assert not github.requests


@pytest.mark.parametrize("event", ["", "[]", "{}", '{"workflow_run": null}', '{"workflow_run": {"head_sha": null}}'])
def test_an_event_of_another_form_is_told_in_one_line(tmp_path, event):
    (tmp_path / "event.json").write_text(event)
    (tmp_path / "artifacts" / "retrieval").mkdir(parents=True)
    (tmp_path / "artifacts" / "retrieval" / "latest.comment.md").write_text("text")
    told = {"GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_API_URL": "http://127.0.0.1:9"}
    told |= {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SERVER_URL": "https://github.test"}
    environ = {**os.environ, **told, "GITHUB_TOKEN": TOKEN}
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path / "artifacts"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert (done.stdout + done.stderr).startswith("::error::No comment was posted")
    assert "Traceback" not in done.stdout + done.stderr
