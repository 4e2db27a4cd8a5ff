"""The steps of the walk in which something changes: a preference, an answered question, erasures; and who sees nothing.

Each shows what the running engine answers, and checks what it says about it; `StepFailed` when that is not so.
"""

from __future__ import annotations

from deploy.local.walk_engine import Json, holds
from deploy.local.walk_steps import QUERY, Walk, texts
from deploy.local.walk_story import Person
from deploy.local.walk_views import short

TEA = "preference.way.奶茶.sugar"
CITY = "identity.city"
NOT_FOUND, FORBIDDEN = 404, 403


async def changed(walk: Walk) -> None:
    """A preference said anew: the old version goes to history, the chain holds both."""
    view = walk.view
    view.title("5  A preference that changed", "改变了的偏好")
    for person, slot in ((walk.zh, TEA), (walk.en, "preference.seat")):
        new, old = await walk.find(person, slot), await walk.find(person, slot, "superseded")
        _chain(walk, person, old, new)
        linked = (old["superseded_by"], new["supersedes"]) == (new["id"], old["id"])
        holds(linked, f"the versions of {slot} do not name each other")
    recalled = texts(await walk.engine.recall(walk.en, "Book me a flight"))
    holds("I prefer aisle seats now" in recalled, "the new preference is not recalled")
    holds("I prefer window seats" not in recalled, "the old preference is still recalled")
    view.held("one version is current, the old one is history; a recall shows the new one only")


async def asked(walk: Walk) -> None:
    """What is frozen or protected is not changed by a contradiction: a question waits for the user's answer."""
    view, scope = walk.view, walk.zh.scope
    view.title("6  A contradiction asks first", "有矛盾先确认")
    questions = {question["held"]: question for question in await walk.engine.questions(scope)}
    holds(set(questions) == {"我住在杭州", "我对花生过敏"}, f"other questions are open: {sorted(questions)}")
    view.table(("question", "about"), [(q["text"], q["kind"]) for q in questions.values()])
    city, allergy = await walk.find(walk.zh, CITY), await walk.find(walk.zh, "health.allergy")
    held = (city["value"], allergy["polarity"]) == ("杭州", "pos")
    holds(held, "a contradiction has changed a frozen or protected memory")
    view.held("until the answer both memories stay as they were (the city frozen, the allergy protected)")
    yes = await walk.engine.command(scope, kind="confirm", question_ids=[questions["我住在杭州"]["id"]])
    no = await walk.engine.command(scope, kind="reject", question_ids=[questions["我对花生过敏"]["id"]])
    view.table(
        ("answer", "outcome", "memory"),
        [
            ("confirm: yes, the city is another now", yes["result"], _ids(yes)),
            ("reject: no, the allergy stays", no["result"], _ids(no)),
        ],
    )
    holds((yes["result"], no["result"]) == ("applied", "applied"), "an answer was not applied")
    new, old = await walk.find(walk.zh, CITY), await walk.find(walk.zh, CITY, "superseded")
    _chain(walk, walk.zh, old, new)
    holds((new["value"], new["confirmation"]) == ("上海", "commanded"), "the confirmed city is not current")
    stays = await walk.find(walk.zh, "health.allergy")
    holds((stays["id"], stays["version"]) == (allergy["id"], allergy["version"]), "a rejected change was made")
    holds(not await walk.engine.questions(scope), "an answered question is still open")
    view.held("confirmed: the new city is current, the old one is history. Rejected: nothing changed")


async def isolated(walk: Walk) -> None:
    """Another tenant's user of the same id, and another user of the same tenant: no route shows them anything."""
    view, mine = walk.view, await walk.everything(walk.zh)
    view.title("7  Nobody else sees it", "别人看不到")
    secrets = {memory["content"] for memory in mine} | {turn.content for turn in walk.zh.turns()}
    rows = []
    for other in (walk.story.stranger, walk.en):
        own = {turn.content for turn in other.turns()}
        by_id = [await walk.engine.ask(other.scope, "GET", f"/v1/memories/{memory['id']}") for memory in mine]
        listed = {memory["content"] for memory in await walk.everything(other)}
        recalled = texts(await walk.engine.recall(other, QUERY)) - {QUERY}
        seen = (listed | recalled) & (secrets - own)
        hidden = sum(answer.status_code == NOT_FOUND for answer in by_id)
        holds(hidden == len(mine), f"{other.name} was shown a memory of {walk.zh.name} by its id")
        holds(not seen, f"{other.name} was shown {len(seen)} things of {walk.zh.name}")
        rows.append((other.name, f"{hidden} of {len(mine)} answered 404", f"{len(recalled)} items, all own"))
    view.table(("who asks", f"each memory of {walk.zh.name} by id", "the same recall"), rows)
    named = {"user_id": walk.zh.scope.user, "tenant_id": walk.zh.scope.tenant}
    body = {"query": QUERY, "session_id": walk.zh.latest_session, **named}
    refusal = await walk.engine.ask(walk.en.scope, "POST", "/v1/recall", json=body)
    holds(refusal.status_code == FORBIDDEN, f"a recall in another's name was answered {refusal.status_code}")
    view.held("same user id and session id in another tenant: nothing. A recall in another's name: 403")


async def erased(walk: Walk) -> None:
    """One memory with all its versions, then a whole user: unreadable at once, and proven copy by copy."""
    view = walk.view
    view.title("8  An erasure, and its receipt", "删除与回执")
    gone = await walk.find(walk.zh, TEA)
    chain = {memory["id"]: memory["content"] for memory in await walk.everything(walk.zh) if memory["slot"] == TEA}
    before = texts(await walk.engine.recall(walk.zh, QUERY), "stable", "reference")
    holds(gone["content"] in before, "what is to be erased was not recalled before")
    receipt = await walk.engine.erase(walk.zh.scope, f"/v1/memories/{gone['id']}")
    view.note(f"DELETE /v1/memories/{short(gone['id'])}…: {gone['content']} ({len(chain)} versions)")
    _receipt(walk, receipt)
    context = await walk.engine.recall(walk.zh, QUERY)
    after = texts(context, "stable", "reference")
    view.table(
        ("the same recall", "memories"), [("before", "\n".join(sorted(before))), ("after", "\n".join(sorted(after)))],
        wide=1,
    )  # fmt: skip
    holds(not after & set(chain.values()), "an erased memory was recalled")
    left = {memory["id"] for memory in await walk.everything(walk.zh)}
    answers = [await walk.engine.ask(walk.zh.scope, "GET", f"/v1/memories/{one}") for one in chain]
    holds(not left & chain.keys(), "an erased memory is still listed")
    holds(all(answer.status_code == NOT_FOUND for answer in answers), "an erased memory is still read by its id")
    view.held("every version is gone from recall, list and by id; the other memories stay")
    await _erase_user(walk, walk.en)


async def _erase_user(walk: Walk, person: Person) -> None:
    count = len(await walk.everything(person))
    receipt = await walk.engine.erase(person.scope, "/v1/user")
    walk.view.note(f"\nDELETE /v1/user as {person.name}: everything ({count} memories)")
    _receipt(walk, receipt)
    holds(not await walk.everything(person), f"{person.name} was erased and is still listed")
    left = texts(await walk.engine.recall(person, "Book me a flight"), "state", "stable", "reference", "window")
    holds(not left, f"{person.name} was erased and is still recalled")
    holds(bool(await walk.everything(walk.zh)), "the erasure of one user took another's memories")
    walk.view.held("nothing of this user is left to read; the other user's memories stay")


def _receipt(walk: Walk, receipt: Json) -> None:
    walk.view.receipt(receipt)
    holds(receipt["state"] == "verified", f"the erasure is {receipt['state']}, not verified")
    residue = sum(copy["after"] for copy in receipt["copies"])
    holds(residue == 0, f"{residue} copies were still found")
    walk.view.held(f"receipt {short(receipt['request_id'])}: {receipt['state']}, nothing found in any copy")


def _chain(walk: Walk, person: Person, old: Json, new: Json) -> None:
    rows = [
        ("until then", old["content"], old["status"], short(old["id"])),
        ("now", new["content"], new["status"], short(new["id"])),
    ]
    walk.view.table((person.name, "said", "status", "id"), rows, wide=1)


def _ids(outcome: Json) -> str:
    return " ".join(short(one) for one in outcome["memory_ids"])
