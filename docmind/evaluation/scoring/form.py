"""How what is measured is typed where it goes into a file: exactly as declared, or not at all. It measures nothing."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

Row = Annotated[tuple[T, ...], Field(strict=False)]
"""A list of JSON, which knows no tuples; what stands in it is as strict as all else."""

Share = Annotated[float, Field(ge=0, le=1)]


class Form(BaseModel):
    """A frozen object of named fields: no other type is turned into the one declared, no other field is taken, and no
    figure is NaN or infinite. Raises pydantic's ValidationError, a ValueError, for anything else."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
