"""From a settled part to a retriever: its inner modes first, then what it needs of a collection, then its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from docmind.parameters import Part
from docmind.protocols import Retriever
from docmind.retrieval.collection import Collection
from docmind.retrieval.shared import Shared


@dataclass(frozen=True, slots=True)
class Mode:
    """A line of MODES: the class that makes retrievers, and what it is given.

    It is made of its inner retrievers, then of what it `needs`, then of the parameters that it declares. `inner` are the
    modes inside it where none is written; as many are expected, or with `many`, in a tuple, two and more. The parameter
    `takes` says how many hits of them it takes, so that those not written are as deep.
    """

    make: Callable[..., Retriever]
    needs: Callable[[Collection], tuple[object, ...]] = lambda collection: ()
    inner: tuple[str, ...] = ()
    many: bool = False
    takes: str = ""


class Composer:
    """Makes the retrievers of one collection, each once. With `shared`, what several build on answers a question once."""

    def __init__(self, collection: Collection, modes: Mapping[str, Mode], *, shared: bool) -> None:
        self._collection = collection
        self._modes = modes
        self._shared = shared
        self._made: dict[str, Retriever] = {}

    def retriever(self, part: Part) -> Retriever:
        """The retriever of that mode, the same one each time."""
        name = str(part)
        if name not in self._made:
            mode = self._modes[part.name]
            inner = tuple(self.retriever(each) for each in part.inner)
            first = (inner,) if mode.many else inner
            retriever = mode.make(*first, *mode.needs(self._collection), **dict(part.values))
            self._made[name] = Shared(retriever) if self._shared else retriever
        return self._made[name]
