"""ChromaIndex: one Chroma collection and our own copy of its vectors. Chroma proposes candidates; the vectors decide.

Chroma's graph is approximate, breaks ties as it likes, and re-normalises what it stores. So it is asked for more than is
wanted, and what it proposes is scored from the vectors as they were embedded. See docs/DESIGN.md, "Exact vector search".
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from docmind.errors import StorageError
from docmind.files import own_folder
from docmind.index.exact import ExactIndex
from docmind.protocols import FloatMatrix
from docmind.types import Chunk

if TYPE_CHECKING:
    from chromadb.api.client import Client

COLLECTION = "chunks"
VECTORS = "vectors.npy"
CHROMA = "chroma"
SPARE = 10
"""Candidates fetched beyond what is wanted, so that Chroma's rounding cannot push a true neighbour out."""

_IMPORTING = Lock()

ADDED_AT_ONCE = 256
"""Vectors a call of Chroma's; it makes a Python number of each of their components."""


def copies(vectors: FloatMatrix) -> list[list[int]]:
    """The positions of each distinct row, rising by the first of them.

    Chroma gets each vector once: among hundreds of equal ones its graph falls apart, and it cannot reach the others.
    """
    groups: dict[bytes, list[int]] = {}
    for position, row in enumerate(vectors):
        groups.setdefault(hashlib.sha256(row.tobytes()).digest(), []).append(position)
    return list(groups.values())


def write(folder: Path, chunks: Sequence[Chunk]) -> None:
    """Make the collection of the vectors of `chunks`, which stand in `folder`'s VECTORS. Raises StorageError where Chroma
    cannot."""
    vectors: FloatMatrix = np.load(folder / VECTORS, mmap_mode="r")
    first = [group[0] for group in copies(vectors)]
    with _told(folder), closing(_client(folder)) as client:
        collection = client.create_collection(
            COLLECTION,
            configuration={
                "hnsw": {
                    "space": "cosine",
                    # The search looks at every node, and nodes have many links: exact, at a few milliseconds a query.
                    "ef_search": max(len(first), 10),
                    "ef_construction": 400,
                    "max_neighbors": 64,
                    # The graph is on disk once the last vector is added. Otherwise Chroma writes it again, with other
                    # bytes, whenever it opens it, and an index that never changes could not be told from a damaged one.
                    "sync_threshold": max(len(first), 1),
                }
            },
            embedding_function=None,
        )
        step = min(ADDED_AT_ONCE, client.get_max_batch_size())
        for start in range(0, len(first), step):
            some = first[start : start + step]
            collection.add(
                ids=[chunks[i].id for i in some],
                embeddings=vectors[some],
                documents=[chunks[i].text for i in some],
                metadatas=[{"doc_id": chunks[i].doc_id, "order": chunks[i].order} for i in some],
            )
    for graph in (folder / CHROMA).glob("*/header.bin"):
        _clear_slots(graph.parent)


def _clear_slots(graph: Path) -> None:
    """Zero the records without a node and the slots for links that no node fills: hnswlib writes them as it found them
    in memory, where anything may have stood before, such as another text or a key.

    A node's record in data_level0.bin begins with the number of its links, uint16, then, from byte 4, uint32 a link; the
    header says where the vector begins after them, and how long a record is.
    """
    _, _, _, nodes, size, _, vector = struct.unpack_from("<i6Q", (graph / "header.bin").read_bytes())
    file = np.memmap(graph / "data_level0.bin", np.uint8, "r+")
    records = file.reshape(-1, size)
    records[nodes:] = 0
    links = records[:, :2].copy().view("<u2")  # (records, 1)
    slots = records[:, 4:vector]
    slots[np.arange(vector - 4) >= 4 * links] = 0
    file.flush()


class ChromaIndex:
    """A VectorIndex over `chunks`, from the files that `write` left in `folder`. A chunk is named by its position.

    Chroma writes into its files whenever it opens them, and can open no folder that cannot be written. It opens a copy, gone
    with this object: so the files of an index never change, a checksum holds for each, and they may be read-only.
    """

    name = "chroma"
    exact = True

    def __init__(self, folder: Path, chunks: Sequence[Chunk]) -> None:
        self.vectors: FloatMatrix = np.load(folder / VECTORS, mmap_mode="r")
        self._folder = folder
        self._reference = ExactIndex(self.vectors, chunks)
        self._copies = {chunks[group[0]].id: group for group in copies(self.vectors)}
        own = _copied(folder)
        self._remove = weakref.finalize(self, shutil.rmtree, own, ignore_errors=True)
        with _told(folder):
            self._client = _client(own)
            self._collection = self._client.get_collection(COLLECTION, embedding_function=None)

    def search(
        self, query: NDArray[np.float32], k: int, doc_ids: frozenset[str] | None = None
    ) -> list[tuple[int, float]]:
        """(position, cosine) of the `k` nearest chunks, by (-cosine, position).

        `query` is float32 (dim,), L2-normalised. `doc_ids` limits the search before the top k is taken: the chunks of a
        few documents are compared one by one, for which Chroma would need longer.
        """
        if doc_ids is not None:
            return self._reference.search(query, k, doc_ids)
        fetch = min(k + SPARE, len(self._copies))
        while fetch:
            names = self._candidates(query, fetch)
            candidates = np.array(sorted(position for name in names for position in self._copies[name]))
            found = self._reference.nearest(query, candidates, len(candidates))
            # Where the last candidate ties with the k-th, more of the same score may wait outside.
            if fetch == len(self._copies) or found[-1][1] < found[k - 1][1]:
                return found[:k]
            fetch = min(4 * fetch, len(self._copies))
        return []

    def cosines(self, query: NDArray[np.float32], positions: Sequence[int]) -> NDArray[np.float64]:
        """(n,) cosines of `query` with the chunks at `positions`, as `search` gives them."""
        return self._reference.cosines(query, positions)

    def similarity(self, positions: Sequence[int]) -> NDArray[np.float64]:
        """(n, n) cosines of the chunks at `positions` with each other, rounded to 6 decimals."""
        return self._reference.similarity(positions)

    def fault(self) -> str | None:
        """What is wrong with the collection: a vector out of reach, or a search that differs from an exact one.

        The second is tried on sixteen or more of the vectors themselves, evenly spaced. None where all is well.
        """
        size = len(self.vectors)
        if size == 0:
            return None
        try:
            self._candidates(self.vectors[0], len(self._copies))
            for sample in range(0, size, max(1, size // 16)):
                if self.search(self.vectors[sample], 10) != self._reference.search(self.vectors[sample], 10):
                    return f"the Chroma collection misses neighbours of its chunk {sample}"
        except StorageError as error:
            return str(error)
        return None

    def close(self) -> None:
        """Let go of Chroma's files."""
        self._client.close()
        self._remove()

    def _candidates(self, query: NDArray[np.float32], n: int) -> list[str]:
        with _told(self._folder):
            result = self._collection.query(query_embeddings=query.tolist(), n_results=n, include=[])
        found: list[str] = result["ids"][0]
        if len(found) < n:
            raise StorageError(
                f"{self._folder}: the Chroma collection gave {len(found)} of {n} vectors, so it is not whole. "
                f"Delete the folder and run the command again."
            )
        return found


def _copied(folder: Path) -> Path:
    """A folder of this process with a copy of Chroma's files in `folder`, which may be written whatever those may."""
    own = own_folder()
    try:
        for path in (folder / CHROMA).rglob("*"):
            if path.is_file():
                target = own / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    except OSError as error:
        shutil.rmtree(own, ignore_errors=True)
        raise StorageError(
            f"{folder}: cannot be copied to {own.parent} ({error.strerror}), where Chroma opens it. Free space there, or "
            "name another folder for temporary files with TMPDIR."
        ) from error
    return own


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Say what a user can do about an error of Chroma's."""
    try:
        yield
    except (StorageError, KeyboardInterrupt, SystemExit):
        raise
    # They have no common root: on a full disk one even lacks attributes of its own, and a panic is no Exception.
    except BaseException as error:
        raise StorageError(
            f"{folder}: Chroma cannot write or read its collection ({error}). It needs a folder that can be written and "
            f"free disk space; name another with --index-dir."
        ) from error


def _unread(settings: Any) -> Any:
    """`settings`, a class of pydantic's, read from nowhere: not from the environment, and not from a `.env` of whoever made
    the current folder. Chroma's can name classes that it imports."""

    def fill(self: object, **values: object) -> None:
        settings.__init__(self, **{**values, "_env_file": None})

    def given(_: type, __: type, /, init_settings: object, **others: object) -> tuple[object, ...]:
        return (init_settings,)

    return type(
        "Unread",
        (settings,),
        {"__module__": __name__, "__init__": fill, "settings_customise_sources": classmethod(given)},
    )


def _client(folder: Path) -> Client:
    chromadb = _chromadb()
    settings = _unread(chromadb.Settings)(anonymized_telemetry=False)
    # Declared as an interface that lacks close().
    return cast("Client", chromadb.PersistentClient(folder / CHROMA, settings=settings))


def _chromadb() -> ModuleType:
    """The library. It reads settings when it is imported, so that it gets a class for them then that reads nothing. The import
    takes most of a second, which BM25 alone need not wait for."""
    import pydantic_settings

    names = vars(pydantic_settings)
    with _IMPORTING:
        known = names["BaseSettings"]
        names["BaseSettings"] = _unread(known)
        try:
            import chromadb
        finally:
            names["BaseSettings"] = known
    return chromadb
