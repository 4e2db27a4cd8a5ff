"""Numbers and credentials that a tenant refuses reach no topic of ours, no window and no memory (A13)."""

from __future__ import annotations

import pytest

from connectors.kafka.topics import CANDIDATES, CHANGES, SNAPSHOTS, STATE, changelog
from tables.candidate import Sensitivity
from tables.policy import Policy, Sensitive
from tests.integration.kit import Site, contents, spellings, turn

pytestmark = pytest.mark.real

CARD = "4111 1111 1111 1111"
RESIDENT = "11010519491231002X"
SECRET = "correct-horse-battery"
SAID = (
    f"我身份证号是{RESIDENT}，帮我填表",
    f"卡号{CARD}，也填上",
    f"remember this: my password is {SECRET}",
    f"I love figs and my card is {CARD}.",
)


def test_refused_numbers_are_covered_before_anything_keeps_them(site: Site) -> None:
    tenant = site.tenant("numbers")
    site.settled(*site.wire.turns(tenant, *(turn(tenant, said) for said in SAID), turn(tenant, "I love plums.")))

    user = site.client(tenant)
    assert {memory["content"] for memory in user.memories()} == {"I love figs", "I love plums."}
    window = contents(user.recall("what did I say?", max_tokens=4000), "window")
    assert len(window) == len(SAID) + 1
    for secret in (CARD, RESIDENT, SECRET):
        assert not any(secret in said for said in window)
        assert site.in_redis(secret) == []
        needles = spellings(secret)
        for topic in (SNAPSHOTS, CANDIDATES, CHANGES, STATE, changelog("sessions"), changelog("memories")):
            assert not [r for r in site.wire.read(topic) if any(n in (r.value or b"") for n in needles)], topic
    assert any("█" in said for said in window)
    assert site.in_index(tenant, CARD) == 0


def test_a_tenant_that_refuses_contacts_has_them_covered_too(site: Site) -> None:
    tenant = site.tenant("contacts", policy=Policy(sensitive={Sensitivity.CONTACT: Sensitive.REFUSE}))
    site.settled(*site.wire.turns(tenant, turn(tenant, "I love figs, write to figs@example.com.")))

    assert site.in_redis("figs@example.com") == []
