"""The OpenAPI document: bodies that the routes read themselves, problem answers, and the components of both."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from connectors.http import models
from connectors.http.problems import MEDIA_TYPE, TITLES

_REF: Final = "#/components/schemas/{model}"
_BODIES: Final = (
    models.RecallBody,
    models.CommandBody,
    models.ErasureBody,
    models.TurnBody,
    models.ProblemAnswer,
)
Responses = dict[int | str, dict[str, Any]]


def errors(*statuses: int) -> Responses:
    """The problem answers of a route."""
    answers: Responses = {}
    for status in (*statuses, 500):
        titles = [title for code, title in TITLES.values() if code == status]
        content = {MEDIA_TYPE: {"schema": {"$ref": _REF.format(model="ProblemAnswer")}}}
        answers[status] = {"description": "; ".join(titles), "content": content}
    return answers


def takes(model: type[BaseModel], *, many: bool = False) -> dict[str, Any]:
    """`openapi_extra` of a route that reads this body; `many`: or a list of them."""
    one: dict[str, Any] = {"$ref": _REF.format(model=model.__name__)}
    schema = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": 500}]} if many else one
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def install(app: FastAPI) -> None:
    """`/openapi.json` with every component that a route refers to."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            _, definitions = models_json_schema([(m, "validation") for m in _BODIES], ref_template=_REF)
            components = schema.setdefault("components", {}).setdefault("schemas", {})
            components.update(definitions["$defs"])
            for unused in ("HTTPValidationError", "ValidationError"):
                components.pop(unused, None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI documents this as the way to extend it
