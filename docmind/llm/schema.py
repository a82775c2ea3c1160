"""A Pydantic model as the `response_format` that holds an answer to it. Whether an answer keeps to it is not checked."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class _Strict(GenerateJsonSchema):
    """Strict servers want every property of every object required, and no others allowed."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        return {**made, "additionalProperties": False, "required": list(made.get("properties", {}))}


def response_format(model: type[BaseModel]) -> dict[str, Any]:
    """The field `response_format` of a request, as Mistral and OpenAI both define it."""
    schema = model.model_json_schema(schema_generator=_Strict)
    return {"type": "json_schema", "json_schema": {"name": model.__name__, "schema": schema, "strict": True}}
