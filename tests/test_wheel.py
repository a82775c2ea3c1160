"""The wheel, built and installed by pip into an empty environment with what the core needs, and nothing else.

Skipped where pip reaches no index of packages, unless DOCMIND_REQUIRE_INDEX=1 forbids it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_your_retriever import PAGES
from test_your_retriever import QUESTIONS as ASKED
from workplace import QUESTIONS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "docmind"
REQUIRED = os.environ.get("DOCMIND_REQUIRE_INDEX") == "1"
MEGABYTES = 100
"""Of the whole environment, pip itself included."""

LEFT_OUT = (
    "altair",
    "chromadb",
    "fastembed",
    "mistralai",
    "numpy",
    "onnxruntime",
    "pandas",
    "scipy",
    "streamlit",
    "tokenizers",
)


@dataclass(frozen=True)
class Environment:
    """A virtual environment with DocMind in it, and a folder in which commands run."""

    root: Path
    work: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`program` of the environment, without anything of this one."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        bin_folder = self.root / ("Scripts" if os.name == "nt" else "bin")
        command = [str(bin_folder / program), *arguments]
        return subprocess.run(command, cwd=self.work, env=own, capture_output=True, text=True, timeout=300, check=False)

    @property
    def packages(self) -> Path:
        """Where what was installed lies."""
        return Path(self.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Environment:
    place = tmp_path_factory.mktemp("wheel")
    pip(place, "download", "--no-deps", "--dest", place / "probe", "hatchling", probe=True)
    pip(place, "wheel", "--no-deps", "--wheel-dir", place, ROOT)
    [wheel] = place.glob("docmind-*.whl")
    subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True, timeout=300)
    found = Environment(place / "env", place / "work")
    found.work.mkdir()
    pins = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if "==" in line]
    (place / "pins.txt").write_text("\n".join(pins), encoding="utf-8")
    done = found.run("python", "-m", "pip", "install", "--quiet", "--constraint", str(place / "pins.txt"), str(wheel))
    assert done.returncode == 0, done.stderr
    return found


def pip(place: Path, *arguments: object, probe: bool = False) -> None:
    """Run this environment's pip. A `probe` that fails says that no index is in reach."""
    command = [sys.executable, "-m", "pip", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode and probe and not REQUIRED:
        pytest.skip(f"pip reaches no index: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr


def test_the_environment_is_small_and_holds_no_package_of_an_extra(installed):
    size = sum(path.lstat().st_size for path in installed.root.rglob("*") if path.is_file())
    assert size <= MEGABYTES * 1_000_000
    there = {path.name.partition("-")[0].lower() for path in installed.packages.iterdir()}
    assert "docmind" in there
    assert not there & set(LEFT_OUT)


def test_the_wheel_holds_every_file_of_the_package_and_the_reference_results(installed):
    def files(folder: Path) -> set[str]:
        found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        return {path.as_posix() for path in found if path.suffix != ".pyc"}

    whole = files(PACKAGE)
    assert {"strategies.yaml", "py.typed", "serving/page.css", "evaluation/reports/page.html"} <= whole
    assert files(installed.packages / "docmind") == whole
    kept = installed.root / "share" / "docmind" / "baseline.json"
    assert kept.read_bytes() == (ROOT / "results" / "baseline.json").read_bytes()


def test_importing_it_needs_no_extra(installed):
    done = installed.run("python", "-c", "import docmind; print(docmind.evaluate.__module__, docmind.__version__)")
    assert (done.stdout, done.stderr) == ("docmind.runs.retrieval 0.1.0\n", "")


def test_help_strategies_and_diff_need_no_extra(installed):
    helped = installed.run("docmind", "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "strategies" in helped.stdout
    listed = installed.run("docmind", "strategies")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "headers+rerank" in listed.stdout
    before = installed.root / "share" / "docmind" / "baseline.json"
    told = installed.run("docmind", "diff", str(before), str(ROOT / "results" / "baseline.json"))
    assert (told.returncode, told.stderr) == (0, "")
    assert "headers+rerank" in told.stdout


def test_what_is_missing_is_told_with_2_and_the_command_that_installs_it(installed):
    (installed.work / "docs").mkdir()
    (installed.work / "docs" / "leave.md").write_text("# Leave\n\n25 days of annual leave.\n", encoding="utf-8")
    (installed.work / "questions.jsonl").write_text(json.dumps(QUESTIONS[0]), encoding="utf-8")
    done = installed.run("docmind", "eval", "--corpus", "docs", "--questions", "questions.jsonl")
    assert done.returncode == 2
    assert "error: Retrieval needs packages that are not installed: chromadb, " in done.stderr
    assert 'Install them: pip install "docmind[retrieval]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_runs_in_the_core(installed):
    done = installed.run("docmind", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "FAIL: mine lost 40 questions" in done.stdout


def test_a_retriever_of_ones_own_is_scored_and_gated_in_the_core(installed):
    work = installed.work
    (work / "pages").mkdir()
    for name, text in PAGES.items():
        (work / "pages" / name).write_text(text)
    (work / "key.jsonl").write_text("".join(json.dumps(question) + "\n" for question in ASKED))
    (work / "found.jsonl").write_text(
        "".join(
            json.dumps(
                {"id": question["id"], "passages": [{"source": question["source"], "text": question["evidence"]}]}
            )
            + "\n"
            for question in ASKED
        )
    )
    (work / "s.yaml").write_text("strategies: {mine: {file: found.jsonl}}\nmatrix: [mine]\n")
    (work / "t.yaml").write_text("production: mine\nmin_hit_at_3: 0.9\nmax_regression_pp: 3\n")
    options = ["--corpus", "pages", "--questions", "key.jsonl", "--strategies-file", "s.yaml", "--thresholds", "t.yaml"]
    saved = installed.run("docmind", "eval", *options, "--out", "out", "--save-baseline")
    assert saved.returncode == 0, saved.stderr
    checked = installed.run("docmind", "eval", *options, "--out", "out", "--baseline", "out/baseline.json", "--check")
    assert checked.returncode == 0, checked.stderr
    assert checked.stderr.endswith("The gate: passed.\n")


def test_the_examples_of_llamaindex_haystack_and_langchain_run_with_the_libraries_themselves(installed):
    """In the core: none of them is a package of DocMind's."""
    libraries = ("pytest", "langchain-core", "llama-index-core", "haystack-ai")
    done = installed.run("python", "-m", "pip", "install", "--quiet", *libraries)
    assert done.returncode == 0, done.stderr
    tests = str(ROOT / "tests/test_your_retriever.py")
    options = ("-q", "-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:docmind", "--import-mode=importlib")
    os.environ["DOCMIND_REQUIRE_LIBRARIES"] = "1"
    try:
        ran = installed.run("python", "-m", "pytest", *options, tests)
    finally:
        del os.environ["DOCMIND_REQUIRE_LIBRARIES"]
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "skipped" not in ran.stdout
