"""The catalogue of model profiles. It knows which models belong together, not how they are run.

`default` needs no download beyond `pip install`; `hub` fetches its two models once from a model hub.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from docmind.extras import need
from docmind.models.once import Once
from docmind.models.tokenizing import LIMIT
from docmind.protocols import Embedder, Reranker
from docmind.registry import Registry


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one profile. Nothing of them is located, hashed or loaded before its first use.

    Without a `reranker` of its own, a profile reranks by its embedder's token vectors.
    """

    embedder: Embedder
    reranker: Reranker | None

    def fingerprint(self) -> Mapping[str, object]:
        """What changes a vector or a score: names, pooling, library versions and SHA-256 of the files, and the limit.

        For the hub's models this locates and hashes the files, and raises ModelError where they cannot be had.
        """
        return {
            "embedder": self.embedder.id,
            "reranker": self.reranker.name if self.reranker else None,
            "limit": LIMIT,
        }


@Once
def _default() -> Models:
    from docmind.models.minilm import OnnxEmbedder

    return Models(OnnxEmbedder(), None)


@Once
def _hub() -> Models:
    from docmind.models.bge import FastembedEmbedder
    from docmind.models.crossencoder import CrossEncoderReranker

    return Models(FastembedEmbedder(), CrossEncoderReranker())


CATALOGUE: Registry[Callable[[], Models]] = Registry("profile", [("default", _default), ("hub", _hub)])


def load(profile: str) -> Models:
    """The models of `profile`, the same objects each time. Raises UsageError for an unknown one, MissingPackageError where
    the extra `retrieval` is not installed: whatever retrieves begins here."""
    made = CATALOGUE[profile]
    need("retrieval", "Retrieval")
    return made()
