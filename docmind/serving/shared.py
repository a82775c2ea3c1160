"""An engine that several visitors ask at once. What is retrieved, and how, is the engine's own affair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from docmind.config import Settings
from docmind.models import Models
from docmind.protocols import Progress
from docmind.retrieval.engine import Engine, quiet
from docmind.types import Document, Query, Ranking


class SharedEngine(Engine):
    """An Engine that one thread uses at a time: who holds `lock`."""

    def __init__(self, settings: Settings, models: Models) -> None:
        super().__init__(settings, models)
        self.lock = RLock()

    @contextmanager
    def _held(self, progress: Progress) -> Iterator[None]:
        with self.lock:
            self.progress = progress
            try:
                yield
            finally:
                self.progress = quiet

    def make_ready(self, strategy_name: str, progress: Progress) -> None:
        """The index of that strategy, of the corpus as it now is; built, and `progress` told, where it is not there."""
        with self._held(progress):
            self._follow()
            self.index(self.strategies.find(strategy_name).chunker)

    def pages(self) -> dict[str, Document]:
        """The documents by id, as they now are."""
        with self.lock:
            self._follow()
            return {document.id: document for document in self.documents}

    def retrieve(self, name: str, question: str | Query, k: int) -> Ranking:
        with self.lock:
            return super().retrieve(name, question, k)
