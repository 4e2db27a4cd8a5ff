"""The evaluation on the real parts: what it says of an engine is so, and nothing but JSON goes to standard output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.kit import Site, own_site

pytestmark = pytest.mark.real

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with own_site(tmp_path_factory.mktemp("eval")) as made:
        yield made


def test_what_the_engine_does_is_scored_as_done(site: Site, tmp_path: Path) -> None:
    """Twice on one engine: each run plays in worlds of its own."""
    play = str(SCENARIOS / "examples_play.yaml")
    for _ in range(2):
        done = site.run("eval", play, "--json", "-", "--floor", "passed=1", seconds=120)
        found = json.loads(done.stdout)
        assert [one["failures"] for one in found["scenarios"]] == [[], [], [], []]
        assert done.returncode == 0, done.stderr
    assert found["totals"]["latency_ms"]["p50"] > 0
    assert found["totals"]["write_cost"]["ms"] > 0
    assert found["high_risk"]["total"] == 1


def test_what_does_not_hold_is_told_with_its_trace(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    done = site.run("eval", str(SCENARIOS / "examples_fail.yaml"), "--json", str(file), "--floor", "recall=0.5")

    assert done.returncode == 1
    assert "missed: recall≥0.5: 0" in done.stderr
    found = json.loads(file.read_text())
    failures = found["scenarios"][0]["failures"]
    assert [failure["expectation"] for failure in failures] == ["use: Rex", "ignore: Biscuit"]
    assert all(failure["trace_id"] and "Biscuit" in failure["got"] for failure in failures)
    assert failures[0]["trace_id"] in done.stdout
    assert found["totals"]["stale_use_rate"] == 1.0


def test_a_chat_is_scored_by_what_was_stored(site: Site, tmp_path: Path) -> None:
    line = {"lang": "en", "user": "u", "session": "s", "role": "user", "at": "2026-03-01T09:00:00Z"}
    said: list[dict[str, object]] = [
        {"id": "a", "text": "My dog is called Biscuit.", "label": "keep", "values": ["Biscuit", "Rex"]},
        {"id": "b", "text": "thanks, that was great", "label": "drop"},
        {"id": "c", "text": "Glad to hear it.", "role": "assistant"},
    ]
    chat = tmp_path / "chat.jsonl"
    chat.write_text("".join(json.dumps({**line, **one}) + "\n" for one in said))

    done = site.run("eval", "--write", str(chat), "--json", "-")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["write"] == {
        "en": {"turns": 3, "stored": 1, "junk": 0.0, "recall": 1.0, "values_found": 0.5, "duplicates": 0}
    }
