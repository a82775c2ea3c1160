"""Keeps a searcher over a folder that may change: a new corpus gives a new searcher, and the old one answers meanwhile."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock

from docmind import corpus
from docmind.config import Settings
from docmind.models import Models
from docmind.protocols import Progress
from docmind.retrieval.collection import Built
from docmind.retrieval.searcher import Searcher, ignore, quiet

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0
"""Seconds for which a corpus that was looked at is taken to be as it was: looking asks the system for every file."""


class Engine:
    """For chat and page, which run on while documents are edited. Several threads may use it; one reads at a time."""

    def __init__(
        self,
        settings: Settings,
        models: Models,
        observe: Callable[[Built], object] = ignore,
        look_every: float | None = None,
    ) -> None:
        """`observe` is told of each index; after `look_every` seconds, LOOK_EVERY
        if None, it is looked whether documents were changed."""
        self.settings = settings
        self.models = models
        self._observe = observe
        self._look_every = LOOK_EVERY if look_every is None else look_every
        self._lock = Lock()
        self._searcher: Searcher | None = None
        self._looked = 0.0

    def searcher(self, progress: Progress = quiet) -> Searcher:
        """A searcher over the documents as they now are. Raises CorpusError where they cannot be read."""
        with self._lock:
            if self._searcher is not None and time.monotonic() - self._looked > self._look_every:
                if self._searcher.state != corpus.state(self.settings.corpus, self.settings.exclude):
                    log.warning("%s has changed; it is read and indexed again", self.settings.corpus)
                    self._searcher = None  # who asks it now keeps it; its files are let go of with it
                self._looked = time.monotonic()
            if self._searcher is None:
                self._searcher = Searcher(self.settings, self.models, progress, self._observe)
                self._looked = time.monotonic()
            return self._searcher

    def close(self) -> None:
        """Let go of every file."""
        with self._lock:
            if self._searcher is not None:
                self._searcher.close()
            self._searcher = None
