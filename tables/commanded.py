"""Commands as laws over one user's world: confirm, reject, correct, pin, review, consent and their kin (A10, H7, H9).

Every command has an outcome; the same request again has the same outcome and does nothing. A command that names
several things does all of them or none. A refusal is an outcome with a reason of `Reason`, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tables.book import Grant
from tables.bounded import fits_share
from tables.candidate import Candidate, Confirmation, Kind
from tables.change import Rule
from tables.command import ActorRole, Command, CommandKind, Outcome, Result
from tables.consent import GRANTS_MAX, KEYS, granted
from tables.enter import retire, settle
from tables.erasure import Reach, Selector
from tables.keys import Position
from tables.memory import Memory, Pin, Review, State, Status
from tables.outbox import outcome_of, with_outcome
from tables.policy import Policy
from tables.question import QuestionStatus
from tables.rewrite import accept, commit, correct, doubt, refuse, system_update
from tables.world import Step, Working, World, entry_of


class Reason(StrEnum):
    """Why a command did not simply apply: the closed set of `Outcome.reason`."""

    NONE = ""
    NOT_FOUND = "not_found"  # nothing current of the user's is what it names
    ALREADY = "already"  # everything is as it asks
    VERSION = "version"  # not the version that it was meant for
    ROLE = "role"  # not for this role
    SHARE_FULL = "share_full"  # frozen, protected and pinned ones take their share already
    OVER_BUDGET = "over_budget"
    TOO_LONG = "too_long"
    SENSITIVE = "sensitive_refused"
    UNKNOWN_KIND = "unknown_kind"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler says: `rule` why something changed; `version` of the memory in a conflict."""

    result: Result
    reason: Reason = Reason.NONE
    memory_ids: tuple[str, ...] = ()
    version: int = 0
    rule: Rule = Rule.REPEATED


@dataclass(frozen=True)
class _Case:
    """One command at work. `reading` as in `apply`."""

    command: Command
    work: Working
    policy: Policy
    reading: Candidate | None


ANY_ROLE: Final = frozenset(ActorRole)
ROLES: Final[Mapping[CommandKind, frozenset[ActorRole]]] = {
    CommandKind.REVIEW: frozenset({ActorRole.REVIEWER, ActorRole.ADMIN}),
    CommandKind.SYSTEM_UPDATE: frozenset({ActorRole.SERVICE}),
}
"""Who may, where not everybody may (H8: a review is no user's; A10: a record comes from a service)."""


def apply(command: Command, world: World, policy: Policy, position: Position, reading: Candidate | None = None) -> Step:
    """What `command` makes of `world`, always with an outcome, which the new book keeps 24 h.

    `reading`: how the extractor reads `command.text` (correct, feedback, system_update), so that value, polarity and
    end are known; without one the text stands as its own value. Tick, reset and close_task change nothing here; what a
    withdrawn consent covered is erased by the step (`withdrawal`). Raises ValueError when scopes differ.
    """
    if command.scope != world.scope:
        raise ValueError("a command of another user")
    kept = outcome_of(world.book, command.request_id)
    if kept is not None:
        return Step(world, Rule.REPEATED, outcome=kept)
    work = Working(world, position, command.at)
    answer = _answer(_Case(command, work, policy, reading))
    if answer.result is not Result.APPLIED:
        work = Working(world, position, command.at)
    outcome = Outcome(
        command.request_id, answer.result, answer.reason.value, answer.memory_ids, answer.version, command.at
    )
    work.book = with_outcome(work.book, outcome)
    return work.step(answer.rule if answer.result is Result.APPLIED else Rule.REPEATED, outcome)


def withdrawal(command: Command) -> Selector | None:
    """What the step erases for `command`: every kind that a withdrawn consent covered (FORMAT rule 10), else None."""
    if command.kind is not CommandKind.CONSENT or command.allow is not False or command.of_kind not in KEYS:
        return None
    kinds = (command.of_kind,) if command.of_kind else tuple(kind.value for kind in Kind)
    return Selector(Reach.KIND, kinds)


def _answer(case: _Case) -> Answer:
    if case.command.actor.role not in ROLES.get(case.command.kind, ANY_ROLE):
        return Answer(Result.REFUSED, Reason.ROLE)
    if case.command.kind in _ON_THE_USER:
        return _ON_THE_USER[case.command.kind](case)
    wanted = [case.work.find(one) for one in dict.fromkeys(case.command.memory_ids)]
    targets = [memory for memory in wanted if memory is not None and memory.status is Status.ACTIVE]
    return _conflict(case, targets) or _ON_MEMORIES[case.command.kind](case, targets)


def _conflict(case: _Case, targets: list[Memory]) -> Answer | None:
    """A version that is no longer current is answered with the current one; nothing at all with "not found"."""
    if not targets:
        return Answer(Result.NOOP, Reason.NOT_FOUND)
    expected = case.command.expected_version
    stale = next((memory for memory in targets if expected and memory.version != expected), None)
    return None if stale is None else Answer(Result.CONFLICT, Reason.VERSION, (stale.id,), stale.version)


def _nothing(_: _Case) -> Answer:
    return Answer(Result.APPLIED)


def _consent(case: _Case) -> Answer:
    command, book = case.command, case.work.book
    if command.of_kind not in KEYS or command.allow is None:
        return Answer(Result.REFUSED, Reason.UNKNOWN_KIND)
    grant = Grant(command.of_kind, command.allow, command.at)
    grants = tuple(sorted((*book.grants, grant), key=lambda g: g.at))[-GRANTS_MAX:]
    case.work.book = replace(book, grants=grants, consent=granted(grants))
    return Answer(Result.APPLIED)


def _confirm(case: _Case) -> Answer:
    """Questions first, then drafts and committed memories, one after the other: one may settle the next."""
    done: list[str] = []
    conflict = _stale_question(case)
    if conflict is not None:
        return conflict
    for question_id in dict.fromkeys(case.command.question_ids):
        question = next((q for q in case.work.questions() if q.id == question_id), None)
        if question is None or question.status is not QuestionStatus.OPEN:
            continue
        refused = accept(case.work, question, case.policy)
        if refused is not None:
            return _refusal(refused)
        done += [question.proposed.id, question.memory_id] if question.proposed.content else [question.memory_id]
    for memory_id in dict.fromkeys(case.command.memory_ids):
        memory = case.work.find(memory_id)
        if memory is None or memory.status is not Status.ACTIVE or memory.id in done:
            continue
        if memory.state is State.DRAFT or memory.confirmation is not Confirmation.COMMANDED:
            commit(case.work, memory, case.policy)
            done.append(memory.id)
    return _applied(Rule.CONFIRMED, done, Reason.NOT_FOUND)


def _reject(case: _Case) -> Answer:
    """Questions are answered; a draft that is named goes to history: its statement never counts."""
    done: list[str] = []
    conflict = _stale_question(case)
    if conflict is not None:
        return conflict
    for question in case.work.questions():
        if question.id in case.command.question_ids and question.status is QuestionStatus.OPEN:
            refuse(case.work, question)
            done.append(question.memory_id)
    for memory_id in dict.fromkeys(case.command.memory_ids):
        memory = case.work.find(memory_id)
        if memory is not None and memory.status is Status.ACTIVE and memory.state is State.DRAFT:
            retire(case.work, [memory], "")
            done.append(memory.id)
    return _applied(Rule.SUPERSEDED, done, Reason.NOT_FOUND)


def _stale_question(case: _Case) -> Answer | None:
    """The conflict, if an expected version is given and any memory concerned has another."""
    asked = [q.memory_id for q in case.work.questions() if q.id in case.command.question_ids]
    found = [case.work.find(one) for one in (*asked, *case.command.memory_ids)]
    held = [memory for memory in found if memory is not None]
    return _conflict(case, held) if held else None


def _correct(case: _Case, targets: list[Memory]) -> Answer:
    if all(memory.content == case.command.text for memory in targets):
        return Answer(Result.NOOP, Reason.ALREADY, tuple(memory.id for memory in targets))
    before = set(case.work.entries)
    refused = correct(case.work, targets, case.command, case.reading, case.policy)
    if refused is not None:
        return _refusal(refused)
    made = [key for key in case.work.entries if key not in before]
    return _applied(Rule.CORRECTED, [*made, *(memory.id for memory in targets)], Reason.NOT_FOUND)


def _feedback(case: _Case, targets: list[Memory]) -> Answer:
    """ "You remembered that wrong": with a text it is a correction, without one it is asked what is meant (H16)."""
    if case.command.text:
        return _correct(case, targets)
    asked = [memory.id for memory in targets if doubt(case.work, memory)]
    return _applied(Rule.QUESTION, asked, Reason.ALREADY)


def _system_update(case: _Case, targets: list[Memory]) -> Answer:
    for memory in targets:
        refused = system_update(case.work, memory, case.command, case.reading, case.policy)
        if refused is not None:
            return _refusal(refused)
    return _applied(Rule.SYSTEM_UPDATE, [memory.id for memory in targets], Reason.NOT_FOUND)


def _pin(case: _Case, targets: list[Memory]) -> Answer:
    """Pinned memories are never evicted (H17), so pinning keeps to the protected share."""
    pin = Pin(case.command.pin) if case.command.pin else Pin.CORE
    pin = pin if case.command.kind is CommandKind.PIN else Pin.NONE
    done: list[str] = []
    for memory in targets:
        if memory.pin is pin:
            continue
        if pin is not Pin.NONE and not fits_share(case.work.entries.values(), entry_of(memory), case.policy):
            return Answer(Result.REFUSED, Reason.SHARE_FULL, (memory.id,))
        case.work.update(memory, replace(memory, pin=pin), Rule.PINNED)
        done.append(memory.id)
    return _applied(Rule.PINNED, done, Reason.ALREADY)


def _review(case: _Case, targets: list[Memory]) -> Answer:
    """A reviewer approves the present value; what only waited for that freezes (H8), before or after its sessions."""
    done: list[str] = []
    for memory in targets:
        if memory.review is not None and memory.review.value == memory.value:
            continue
        review = Review(case.command.actor.sub, case.command.at, memory.value)
        case.work.update(memory, settle(case.work, replace(memory, review=review), case.policy), Rule.REVIEWED)
        done.append(memory.id)
    return _applied(Rule.REVIEWED, done, Reason.ALREADY)


def _applied(rule: Rule, done: list[str], otherwise: Reason) -> Answer:
    """APPLIED to what was done; a successful no-op with the reason `otherwise` when that is nothing."""
    ids = tuple(dict.fromkeys(done))
    return Answer(Result.APPLIED, memory_ids=ids, rule=rule) if ids else Answer(Result.NOOP, otherwise)


def _refusal(rule: Rule) -> Answer:
    return Answer(Result.REFUSED, Reason(rule.value))


_ON_THE_USER: Final[Mapping[CommandKind, Callable[[_Case], Answer]]] = {
    CommandKind.TICK: _nothing,
    CommandKind.RESET: _nothing,
    CommandKind.CLOSE_TASK: _nothing,
    CommandKind.CONSENT: _consent,
    CommandKind.CONFIRM: _confirm,
    CommandKind.REJECT: _reject,
}
_ON_MEMORIES: Final[Mapping[CommandKind, Callable[[_Case, list[Memory]], Answer]]] = {
    CommandKind.CORRECT: _correct,
    CommandKind.FEEDBACK: _feedback,
    CommandKind.SYSTEM_UPDATE: _system_update,
    CommandKind.PIN: _pin,
    CommandKind.UNPIN: _pin,
    CommandKind.REVIEW: _review,
}
