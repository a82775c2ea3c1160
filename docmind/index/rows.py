"""Matrices on disk that grow row by row and are never held whole. A finished one is a plain .npy file."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray


class RowFile:
    """Writes an .npy file of `shape` and `dtype`, whose rows come in order and in parts of any length.

    Written pages of a mapped file count as this process's memory until it ends its mapping; written bytes do not.
    """

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: DTypeLike) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._rows = 0
        self._file = path.open("wb")
        header = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, header)

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Raises ValueError where other rows came than were announced."""
        self._file.close()
        if kind is None and self._rows != self._shape[0]:
            raise ValueError(f"{self._file.name}: {self._rows} of {self._shape[0]} rows were written")

    def write(self, rows: NDArray[np.generic]) -> None:
        """Add `rows`, (n, …) of the file's dtype."""
        if rows.dtype != self._dtype or rows.shape[1:] != self._shape[1:]:
            raise ValueError(
                f"{self._file.name}: rows of {rows.shape} {rows.dtype} do not fit {self._shape} {self._dtype}"
            )
        self._file.write(rows.tobytes())
        self._rows += len(rows)
