"""The bodies of the API: what a client may send and what it gets, as the OpenAPI document shows them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Time = Annotated[str | int, Field(description="RFC 3339 with an offset, or epoch milliseconds.")]
Id = Annotated[str, Field(description="1–128 UTF-8 bytes without control characters, byte-exact.")]
Reach = Literal["memory", "source", "session", "task", "user", "tenant", "kind"]


class Strict(BaseModel):
    """No value is bent into another type; unknown fields are ignored, so that fields may come."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Named(Strict):
    user_id: Id | None = Field(None, description="For roles that act for users; a user may only repeat the own id.")
    tenant_id: Id | None = Field(None, description="Never needed; if given it must be the token's.")


class MessageBody(Strict):
    role: Literal["user", "assistant", "system", "tool"]
    content: str
    at: Time | None = None
    id: Id | None = None


class KnowledgeBody(Strict):
    content: str
    id: Id | None = None
    at: Time | None = None


class RecallBody(Named):
    query: str = Field(description="The current question. It is no turn: it enters neither window nor memory.")
    session_id: Id
    task_id: Id | None = Field(None, description="Its memories and those of no task; without it only the latter.")
    topic: Id | None = Field(None, description="The project spoken of, where it has no task id: others stay out.")
    messages: list[MessageBody] = Field([], max_length=200, description="Recent messages the engine may not have yet.")
    knowledge: list[str | KnowledgeBody] = Field(
        [], max_length=200, description="Authoritative knowledge: on facts it comes before personal memory."
    )
    max_tokens: int | None = Field(None, ge=0, le=200_000, description="Over every section but `question`.")
    strict: bool = Field(False, description="Only what was stated surely or confirmed by a command.")
    at: Time | None = Field(None, description="Only for tenants with an event clock.")
    as_of: Time | None = Field(None, description="Not supported yet: answered 422.")
    after: str | None = Field(None, description="A write's token: wait up to 2 s for its effects, else `stale`.")
    purpose: Literal["answer", "rewrite"] = Field("answer", description="`rewrite`: window and state only, no search.")
    render: Literal["auto", "zh", "en", "none"] = Field("auto", description="Language of the prompt.")


class CommandBody(Named):
    kind: Literal[
        "confirm", "reject", "correct", "pin", "unpin", "review", "consent", "reset", "feedback", "close_task",
        "system_update", "tick",
    ]  # fmt: skip
    request_id: Id | None = Field(None, description="Repeating it repeats nothing; the server picks one when absent.")
    at: Time | None = Field(None, description="Only for tenants with an event clock.")
    memory_ids: list[Id] | None = Field(None, max_length=300)
    question_ids: list[Id] | None = Field(None, max_length=300)
    session_id: Id | None = None
    task_id: Id | None = None
    text: str | None = None
    scope: Literal["context", "history", "all"] | None = Field(None, description="Of a reset.")
    pin: Literal["intern", "core"] | None = None
    allow: bool | None = Field(None, description="Of a consent.")
    of_kind: Id | None = Field(None, description="Of a consent: a memory type or a sensitivity class.")
    record: Id | None = Field(None, description="Of a system_update: the business record.")
    expected_version: int | None = Field(None, ge=0)


class SelectorBody(Strict):
    reach: Reach
    values: list[Id] | None = Field(None, max_length=300, description="Not for user and tenant, needed otherwise.")
    before: Time | None = Field(None, description="Keeps what was said at or after it.")


class ErasureBody(Named):
    selector: SelectorBody
    request_id: Id | None = None
    reason: Id | None = None
    at: Time | None = Field(None, description="Only for tenants with an event clock.")


class TurnBody(Named):
    session_id: Id
    role: Literal["user", "assistant", "system", "tool"]
    content: str
    at: Time | None = Field(None, description="Needed under an event clock; now, when absent, under a wall clock.")
    id: Id | None = Field(None, description="The platform's id: the same again is a redelivery.")
    task_id: Id | None = None
    topic: Id | None = None
    consent: bool | None = None
    lang: Id | None = None
    minor: bool | None = None
    v: Literal[1] | None = None


class ErrorDetail(BaseModel):
    field: str
    reason: str


class ProblemAnswer(BaseModel):
    """RFC 9457. `type` is stable; `errors`, `reason`, `part`, `parts` come with some types."""

    type: str
    title: str
    status: int
    errors: list[ErrorDetail] | None = None
    reason: str | None = None
    part: str | None = None
    parts: dict[str, bool] | None = None
    limit: int | None = None


class ScoreParts(BaseModel):
    relevance: float
    scope: float
    recency: float
    source: float


class ItemAnswer(BaseModel):
    id: str
    type: str
    origin: Literal["caller", "session", "memory"]
    confirmation: str
    confidence: float
    at: str | None
    content: str
    tokens: int
    score: float | None = Field(description="The sum of the parts; of memories only.")
    parts: ScoreParts | None


class SectionsAnswer(BaseModel):
    question: list[ItemAnswer]
    knowledge: list[ItemAnswer]
    state: list[ItemAnswer]
    stable: list[ItemAnswer]
    reference: list[ItemAnswer]
    window: list[ItemAnswer]
    summary: list[ItemAnswer]


class QuestionAnswer(BaseModel):
    id: str
    kind: str
    memory_id: str
    text: str
    held: str
    proposed: str
    lang: str
    status: str
    asked_at: str | None


class RecallAnswer(BaseModel):
    trace_id: str
    at: str | None
    sections: SectionsAnswer
    questions: list[QuestionAnswer]
    prompt: str | None
    lang: str
    tokens: int
    max_tokens: int
    profile_version: int
    stale: bool
    degraded: bool
    degraded_parts: list[str]


class SourceAnswer(BaseModel):
    turn: str
    turn_id: str
    session_id: str
    at: str | None
    confidence: float
    explicit: bool


class MemoryAnswer(BaseModel):
    id: str
    type: str
    subject: str
    slot: str
    value: str
    polarity: str
    content: str
    status: str
    state: str
    freeze: str
    pin: str
    sensitivity: str
    session_id: str
    task_id: str
    topic: str
    source_ids: list[str]
    sources: list[SourceAnswer]
    created_at: str | None
    updated_at: str | None
    expires_at: str | None
    last_mentioned_at: str | None
    last_access_at: str | None
    hits: int
    version: int
    confidence: float
    importance: float
    confirmation: str
    lang: str
    tokens: int
    supersedes: str
    superseded_by: str


class PageAnswer(BaseModel):
    memories: list[MemoryAnswer]
    cursor: str | None
    profile_version: int
    stale: bool


class QuestionsAnswer(BaseModel):
    questions: list[QuestionAnswer]
    stale: bool


class OutcomeAnswer(BaseModel):
    request_id: str
    result: str
    reason: str
    memory_ids: list[str]
    version: int
    at: str | None


class QueryAnswer(BaseModel):
    name: str
    found: int


class CopyAnswer(BaseModel):
    copy_: str = Field(alias="copy")
    before: int
    after: int
    queries: list[QueryAnswer]
    physical: str
    until: str | None


class ReceiptAnswer(BaseModel):
    request_id: str
    reach: str
    state: str
    asked_at: str | None
    finished_at: str | None
    attempts: int
    memories: int
    copies: list[CopyAnswer]


class AcceptedAnswer(BaseModel):
    """The log has the write. `token` goes into `after`; outcome or receipt are there once the worker is done."""

    token: str
    request_id: str | None = None
    bus_id: str | None = Field(None, description="The request's id on the topics: the client's own and a tag.")
    outcome: OutcomeAnswer | None = None
    receipt: ReceiptAnswer | None = None


class HealthAnswer(BaseModel):
    status: str
    parts: dict[str, bool] | None = None
