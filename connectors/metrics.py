"""Every metric of the engine, declared once: seconds, closed labels, never a tenant, a user or a word that was said."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY: Final = CollectorRegistry()

_FAST: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

STEP_SECONDS: Final = Histogram(
    "twinsluice_step_seconds",
    "Time of one micro-batch of a step, effects included. Rising: look at the engine that the step writes to.",
    ["step"],
    buckets=_FAST,
    registry=REGISTRY,
)
STEP_RECORDS: Final = Counter(
    "twinsluice_step_records_total", "Records a step has finished.", ["step", "kind"], registry=REGISTRY
)
STEP_FIRST: Final = Gauge(
    "twinsluice_step_first_record_timestamp_seconds",
    "When the step was given its first record after the start (Unix time). Missing: it has had none.",
    ["step"],
    registry=REGISTRY,
)
STEP_WAITING: Final = Gauge(
    "twinsluice_step_waiting",
    "1 while a step waits for that engine. Stays 1: the engine is away, nothing is lost, lag grows.",
    ["step", "engine"],
    registry=REGISTRY,
)
TURNS: Final = Counter(
    "twinsluice_turns_total",
    "Turns by what became of them in collect: kept (goes on), window (window only, with the reason), fenced, repeated.",
    ["outcome", "reason"],
    registry=REGISTRY,
)
VERDICTS: Final = Counter(
    "twinsluice_verdicts_total", "Verdicts of the gates by reason.", ["verdict"], registry=REGISTRY
)
DEAD_LETTERS: Final = Counter(
    "twinsluice_dead_letters_total",
    "Records dead-lettered. Rising: a producer is broken or a deployment is; list them with `python -m streams dlq`.",
    ["stage", "reason"],
    registry=REGISTRY,
)
ERASURES: Final = Counter(
    "twinsluice_erasures_total",
    "Erasures by final state. Any `failed`: residue was found, act now; it stays unreadable meanwhile.",
    ["state"],
    registry=REGISTRY,
)
ERASE_SECONDS: Final = Histogram(
    "twinsluice_erase_seconds", "From taking an erasure to its verified receipt.", buckets=_FAST, registry=REGISTRY
)
RECALLABLE_SECONDS: Final = Histogram(
    "twinsluice_turn_to_recallable_seconds",
    "From a turn's record on the bus to its memory in every copy.",
    buckets=_FAST,
    registry=REGISTRY,
)
EXTRACTOR_CALLS: Final = Counter(
    "twinsluice_extractor_calls_total",
    "Calls of the `openai` extractor by outcome. Rising `denied`: key, model or URL is wrong; `throttled`: lower its "
    "concurrency; `unreadable`: the model does not keep to the schema.",
    ["outcome"],
    registry=REGISTRY,
)
EXTRACTOR_SECONDS: Final = Histogram(
    "twinsluice_extractor_call_seconds",
    "Time of one call of the `openai` extractor, failed ones included.",
    buckets=(*_FAST, 30.0, 60.0, 120.0),
    registry=REGISTRY,
)
EXTRACTOR_FACTS: Final = Counter(
    "twinsluice_extractor_facts_total",
    "Facts that a model stated, by what became of them. Rising `unsupported`: it does not quote, take another one.",
    ["verdict"],
    registry=REGISTRY,
)
