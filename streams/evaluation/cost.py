"""What writing cost, from the worker's own metrics: differences between two looks at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

TIMEOUT_SECONDS: Final = 5.0
EXTRACTOR_CALLS: Final = "twinsluice_extractor_calls_total"
EMBEDDINGS: Final = "twinsluice_embeddings_total"
STEP_SECONDS: Final = "twinsluice_step_seconds_sum"
STEPS: Final = ("collect", "extract", "admit")


@dataclass(frozen=True, slots=True)
class Cost:
    """Totals since the worker's start. A metric that it does not publish is 0, and named in `missing`."""

    extractor_calls: float = 0.0
    embeddings: float = 0.0
    ms: float = 0.0
    missing: tuple[str, ...] = (EXTRACTOR_CALLS, EMBEDDINGS, STEP_SECONDS)

    def since(self, before: Cost) -> Cost:
        return Cost(
            self.extractor_calls - before.extractor_calls,
            self.embeddings - before.embeddings,
            self.ms - before.ms,
            self.missing,
        )


async def cost(address: str) -> Cost:
    """The totals of the worker at this address; all missing when it does not answer."""
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            response = await client.get(f"{address}/metrics")
            response.raise_for_status()
    except httpx.HTTPError:
        return Cost()
    return cost_in(response.text)


def cost_in(text: str) -> Cost:
    """The totals in what a worker publishes. A step's time includes its waiting for the engines."""
    families = list(text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]

    def total(name: str, wanted: Callable[[dict[str, str]], bool] = lambda _: True) -> float:
        return sum(float(sample.value) for sample in samples if sample.name == name and wanted(sample.labels))

    known = {f"{family.name}{end}" for family in families for end in ("_total", "_sum")}  # declared is 0, not missing
    return Cost(
        total(EXTRACTOR_CALLS),
        total(EMBEDDINGS),
        1000 * total(STEP_SECONDS, lambda labels: labels.get("step") in STEPS),
        tuple(name for name in (EXTRACTOR_CALLS, EMBEDDINGS, STEP_SECONDS) if name not in known),
    )
