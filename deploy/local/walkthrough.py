"""What `deploy/demo` shows once everything runs: each step shows what the engine answered and checks it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from deploy.local.walk_door import Door
from deploy.local.walk_script import CONTRADICTION, CONVERSATION, EN, NAMES, QUERY_EN, QUERY_ZH, SAME, ZH
from tables.extractive import extract
from tables.keys import Position, Scope
from tables.policy import Policy
from tables.turn import Role, Turn
from tables.worth import screen

if TYPE_CHECKING:
    from rich.console import Console

    from deploy.local.engine import LocalEngine

PROMPT_LINES = 14


async def walk(engine: LocalEngine, console: Console) -> bool:
    """Streams a conversation through the running engine and shows what came of it; True if every step held."""
    walked = Walk(Door(engine), console)
    try:
        await walked()
    finally:
        await walked.door.close()
    return walked.finished()


class Walk:
    """The steps, and whether each held."""

    def __init__(self, door: Door, console: Console) -> None:
        self.door = door
        self._console = console
        self._failed: list[str] = []
        self._run = secrets.token_hex(3)

    async def __call__(self) -> None:
        await self.door.open(["north", "south"])
        await self.door.say(CONVERSATION, self._run)
        await self._remembered()
        await self.door.send_bad(EN)
        await self._refused()
        await self._recalled()
        await self._changed()
        await self._asked()
        await self._erased()
        await self._isolated()

    def finished(self) -> bool:
        """Say how it went; True if every step held."""
        if self._failed:
            self._console.print(
                f"\n[red]{len(self._failed)} steps did not hold: {escape('; '.join(self._failed))}[/red]"
            )
        else:
            self._console.print("\n[green]every step held[/green]")
        return not self._failed

    def _title(self, number: int, text: str) -> None:
        self._console.print()
        self._console.rule(f"[bold]{number}. {text}[/bold]", align="left")

    def _check(self, what: str, held: bool) -> None:
        self._console.print(
            f"  [{'green' if held else 'red'}]{'holds' if held else 'DOES NOT HOLD'}[/]  {escape(what)}"
        )
        if not held:
            self._failed.append(what)

    async def _remembered(self) -> None:
        self._title(1, f"{len(CONVERSATION)} turns went in; what was remembered, for whom and why")
        listed = {scope: (await self.door.get(scope, "/v1/memories"))["memories"] for scope in NAMES}
        rules = await self.door.rules()
        for scope, memories in listed.items():
            table = _table(NAMES[scope], ("what was said", 34), ("kind of fact", 26), ("sure", 4), ("why", 9))
            for memory in memories:
                rule = ", ".join(rules.get(memory["id"], ["?"]))
                table.add_row(escape(memory["content"]), memory["slot"], f"{memory['confidence']:.1f}", rule)
            self._console.print(table)
        said = {scope: [m["content"] for m in memories] for scope, memories in listed.items()}
        self._check("an allergy and a city were kept", {"我对花生过敏", "我住在杭州"} <= set(said[ZH]))
        self._check("the assistant's words were not", not any("火锅" in text for text in said[ZH]))
        self._check("English was kept as it was said", any("knee" in text for text in said[EN]))

    async def _refused(self) -> None:
        self._title(2, "What was refused, and why")
        table = _table("turns that shape their session only", ("said", 46), ("reason", 24))
        for said in CONVERSATION:
            reason = _reason(said.scope, said.role, said.content)
            if reason:
                table.add_row(escape(said.content), reason)
        self._console.print(table)
        letters = await self.door.letters(3)
        dead = _table("dead letters: records that can never be right", ("topic", 30), ("reason", 24))
        for topic, reason in letters:
            dead.add_row(topic, reason)
        self._console.print(dead)
        reasons = {reason for _, reason in letters}
        self._check("each bad record has its reason", {"not_json", "key_mismatch", "unsigned"} <= reasons)

    async def _recalled(self) -> None:
        self._title(3, "What a recall hands to a model")
        for scope, query in ((ZH, QUERY_ZH), (EN, QUERY_EN)):
            answer = await self.door.recall(scope, query, "s-now")
            self._show_recall(scope, query, answer)
            found = [item["content"] for item in answer["sections"]["reference"] + answer["sections"]["stable"]]
            wanted = "花生" if scope == ZH else "knee"
            self._check(f"«{query}» finds what matters", any(wanted in text for text in found))
            self._check("within its token budget", answer["tokens"] <= answer["max_tokens"])

    async def _changed(self) -> None:
        self._title(4, "A preference that changed")
        for scope, old, new in ((ZH, "全糖", "无糖"), (EN, "British", "American")):
            active = (await self.door.get(scope, "/v1/memories"))["memories"]
            past = (await self.door.get(scope, "/v1/memories", status="superseded"))["memories"]
            for memory in past:
                self._console.print(f"  was  {escape(memory['content'])}  [dim]until {memory['updated_at'][:16]}[/dim]")
            kept = [m for m in active if new in m["content"]]
            for memory in kept:
                self._console.print(f"  now  {escape(memory['content'])}  [dim]version {memory['version']}[/dim]")
            chained = [m for m in past if old in m["content"] and kept and m["superseded_by"] == kept[0]["id"]]
            self._check(f"«{new}» replaced «{old}», the old one points to it", bool(chained))

    async def _asked(self) -> None:
        self._title(5, "A protected memory is not overwritten: the user is asked")
        await self.door.say([CONTRADICTION], f"{self._run}-c")
        self._console.print(f"  said   {CONTRADICTION.content}")
        questions = (await self.door.get(ZH, "/v1/questions"))["questions"]
        for question in questions:
            self._console.print(f"  asked  {escape(question['text'])}")
        self._check("a question is open and the allergy stands", len(questions) == 1 and await self._stands())
        if questions:
            body = {"kind": "reject", "question_ids": [questions[0]["id"]]}
            answer = await self.door.call(ZH, "POST", "/v1/commands", json=body)
            result = (answer.get("outcome") or {}).get("result", "?")
            self._console.print(f"  the user rejects it: {result}")
            self._check("after the rejection nothing has changed", result == "applied" and await self._stands())

    async def _stands(self) -> bool:
        memories = (await self.door.get(ZH, "/v1/memories"))["memories"]
        return any(memory["content"] == "我对花生过敏" for memory in memories)

    async def _erased(self) -> None:
        self._title(6, "An erasure, and its receipt")
        query = "我对花生过敏"
        before = _contents(await self.door.recall(ZH, query, "s-1"))
        memories = (await self.door.get(ZH, "/v1/memories"))["memories"]
        named = [m["id"] for m in memories if m["content"] == query]
        answer = await self.door.call(ZH, "DELETE", f"/v1/memories/{named[0]}") if named else {}
        after = _contents(await self.door.recall(ZH, query, "s-1"))
        receipt = answer.get("receipt") or {}
        table = _table(
            f"receipt: {receipt.get('state', 'none')}",
            ("copy", 14),
            ("before", 6),
            ("after", 5),
            ("queries", 26),
            ("bytes", 10),
        )
        for copy in receipt.get("copies", []):
            asked = ", ".join(q["name"] for q in copy["queries"]) or "-"
            table.add_row(copy["copy"], str(copy["before"]), str(copy["after"]), asked, copy["physical"])
        self._console.print(table)
        self._check("before, the recall showed it", any("花生" in text for text in before))
        self._check("after, no read path does", bool(named) and not any("花生" in text for text in after))
        self._check("every readable copy is proven clean", receipt.get("state") == "verified")

    async def _isolated(self) -> None:
        self._title(7, "The same ids in another tenant, and another user of this one")
        for scope in (SAME, EN):
            seen = _contents(await self.door.recall(scope, "我住在哪里？ where do I live?", "s-1"))
            self._console.print(f"  {NAMES[scope]} sees: {escape(' | '.join(seen)) or 'nothing'}")
            self._check(f"{NAMES[scope]} sees nothing of north/u-1", not any("杭州" in t or "奶茶" in t for t in seen))
        own = (await self.door.get(ZH, "/v1/memories"))["memories"]
        status = (await self.door.call(SAME, "GET", f"/v1/memories/{own[0]['id']}")).get("status") if own else None
        self._check("another's memory by its id is 404", status == 404)

    def _show_recall(self, scope: Scope, query: str, answer: dict[str, Any]) -> None:
        self._console.print(f"  [bold]{NAMES[scope]}[/bold] asks: {escape(query)}")
        for name, items in answer["sections"].items():
            for item in items if name != "question" else ():
                score = f"{item['score']:.2f}" if item["score"] else "    "
                self._console.print(f"    {name:9} {score}  {item['tokens']:3} tokens  {escape(item['content'])}")
        self._console.print(f"    {answer['tokens']} of {answer['max_tokens']} tokens; the prompt begins:")
        for line in answer["prompt"].splitlines()[:PROMPT_LINES]:
            self._console.print(f"    [dim]│ {escape(line)}[/dim]", soft_wrap=False)


def _reason(scope: Scope, role: str, content: str) -> str:
    """Why the worth-writing law keeps a turn out of long-term memory, "" when it lets something through."""
    place = Position("", 0, 0)
    turn = Turn("k", "", scope, "s", "", "", Role(role), content, 1_700_000_000_000, 0, None, "", False, place)
    drop = screen(turn, True)
    if drop is not None:
        return drop.value
    found = extract(turn, Policy())
    if found.candidates:
        return ""
    return "session_wish" if found.wishes else ", ".join(dict.fromkeys(d.reason.value for d in found.drops))


def _contents(answer: dict[str, Any]) -> list[str]:
    """Everything a recall shows but the question itself."""
    return [item["content"] for name, items in answer["sections"].items() if name != "question" for item in items]


def _table(title: str, *columns: tuple[str, int]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1))
    for name, width in columns:
        table.add_column(name, max_width=width, overflow="fold")
    return table
