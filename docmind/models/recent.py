"""The questions asked last and what was computed of them. It computes nothing."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """At most `size` values by text; the one that was used longest ago makes way. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._known: OrderedDict[str, T] = OrderedDict()

    def get(self, text: str) -> T | None:
        """The value of `text`, None where there is none."""
        with self._lock:
            if text not in self._known:
                return None
            self._known.move_to_end(text)
            return self._known[text]

    def put(self, text: str, value: T) -> T:
        """Remember `value`, and give it back; what is known of `text` already stays."""
        with self._lock:
            found = self._known.setdefault(text, value)
            self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
            return found

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._known.clear()
