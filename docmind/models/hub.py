"""The files of a model from a model hub, fetched once and kept. It knows nothing of how a model is run."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from docmind.errors import ModelError
from docmind.models.once import Once

T = TypeVar("T")

PROBE_SECONDS = 5.0
"""How long the hub may take to answer at all. Its client by itself waits more than a minute for a silent one."""

_SMALL_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]


class HubModel:
    """The model that fastembed calls `name`: `file` and its tokenizer in the hub's repository `repo`."""

    def __init__(self, name: str, repo: str, file: str) -> None:
        self.name = name
        self.repo = repo
        self.file = file
        self.folder = Once(lambda: _fetched(self))

    @property
    def version(self) -> str:
        """The SHA-256 of the files, and the libraries that run them. Locates the files."""
        folder = self.folder()
        files = [f"{name} {_sha256(folder / name)[:16]}" for name in (self.file, "tokenizer.json")]
        libraries = [f"{name} {metadata.version(name)}" for name in ("fastembed", "onnxruntime")]
        return ", ".join(files + libraries)

    def opened(self, file: str, load: Callable[[str], T]) -> T:
        """What `load` makes of the folder. Raises ModelError, with the path of `file`, where it cannot be loaded."""
        folder = self.folder()
        try:
            return load(str(folder))
        except Exception as error:  # ONNX Runtime's errors have no root of their own
            raise ModelError(
                f"{(folder / file).resolve()}, a file of the model {self.name}, cannot be loaded: {error}. "
                "Delete it and run the command again where the hub is in reach, which fetches it anew."
            ) from error


def cache_dir() -> Path:
    """Where fetched models are kept: FASTEMBED_CACHE_PATH, or .cache/docmind in the home folder."""
    return Path(os.environ.get("FASTEMBED_CACHE_PATH") or Path.home() / ".cache" / "docmind")


def _fetched(model: HubModel) -> Path:
    """The folder of the model's files: from the cache without asking the hub, where it is whole, else downloaded."""
    from huggingface_hub import constants, model_info, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    cache = cache_dir()

    def snapshot(cached: bool) -> Path:
        wanted = [model.file, *_SMALL_FILES]
        return Path(snapshot_download(model.repo, cache_dir=cache, allow_patterns=wanted, local_files_only=cached))

    with contextlib.suppress(LocalEntryNotFoundError):
        return snapshot(cached=True)
    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        model_info(model.repo, timeout=PROBE_SECONDS)
        return snapshot(cached=False)
    except Exception as error:  # the hub client's errors have no common root
        raise ModelError(
            f"the model {model.name} is not in {cache}, and {constants.ENDPOINT} did not give it: {str(error) or repr(error)}. "
            "The default profile needs no download: leave out --profile hub. To get the model, run "
            "`docmind eval --profile hub` once where the hub is in reach; HF_ENDPOINT names a mirror, and "
            "FASTEMBED_CACHE_PATH a folder that was filled on another machine."
        ) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
