"""The verdict over one candidate: both gates, pure (H1, H9, H10, design §5.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tables.attributes import same_respect
from tables.candidate import Candidate, Kind
from tables.change import Rule
from tables.concepts import clash
from tables.conflict import Standing, ask, is_older, is_open, owning_task, question_id, standing
from tables.consent import consent_at, is_allowed
from tables.enter import enter, is_held, joined, lapse, memory_from, prune, prune_all, retire, settle
from tables.erase import fenced
from tables.erasure import Fence
from tables.frozen import SESSIONS_TO_COMMIT, is_hedged, is_locked, sessions
from tables.keys import Position
from tables.memory import Memory, State, Status
from tables.policy import Policy, Sensitive
from tables.question import QuestionKind, QuestionStatus
from tables.relation import Related, tells_change
from tables.text import tokens
from tables.world import Step, Working, World

Relate = Callable[[Candidate, Sequence[Memory]], Mapping[str, Related]]
"""How a candidate stands to memories, by id, as far as it is clear: the same way whenever it is asked."""


def admit(
    candidate: Candidate,
    world: World,
    policy: Policy,
    position: Position,
    fences: Sequence[Fence] = (),
    relate: Relate | None = None,
) -> Step:
    """What `candidate` makes of `world`. A refusal is a verdict, never an exception.

    Guarantees, whatever the order and however often records are delivered:

    - a candidate that was taken in, or that a fence covers, adds nothing (a touch, as long as its memory is held);
    - an equal conclusion is merged, never stored beside (H5); merging comes before the bounded gate (H3);
    - a candidate older than the current version of its dimension never replaces it (design §11.6);
    - a frozen, or a protected and stated memory is not changed: a question is opened (H7, H9, H17);
    - a guess never replaces what is committed: it stays a draft beside it (A5);
    - afterwards both budgets are kept, or everything active is exempt (H2, design §11.12).

    `position`: the record that the changes name as their source. `relate` is asked about what no slot compares: a clear
    repetition is merged, a clear update replaces as a new value of a slot does, a conflict with what is locked is asked
    about (H15). Raises ValueError when scopes differ
    (a bug upstream).
    """
    if candidate.scope != world.scope:
        raise ValueError("a candidate of another user")
    refused = _refused(candidate, world, policy, fences)
    if refused is not None:
        return Step(world, refused)
    work = Working(world, position, candidate.at)
    place = standing(candidate, work.entries, candidate.at)
    if relate is not None and place.same is None and not place.rivals:
        place = _by_meaning(candidate, work, place, relate)
    if _is_repeated(candidate, work, place):
        return Step(world, Rule.REPEATED)
    for entry in place.lapsed:
        lapse(work, work.memory(entry.id), entry.expires_at)
    if place.same is not None:
        return work.step(_touch(work, candidate, place, work.memory(place.same.id), policy))
    return _step(world, work, _new(work, candidate, place, policy))


def _step(world: World, work: Working, verdict: Rule) -> Step:
    """A refused newcomer leaves nothing behind, not even what lapsed on its way."""
    return Step(world, verdict) if verdict in (Rule.OVER_BUDGET, Rule.TOO_LONG) else work.step(verdict)


def _refused(candidate: Candidate, world: World, policy: Policy, fences: Sequence[Fence]) -> Rule | None:
    """The reasons that do not look at other memories, in the order in which they are told."""
    if fences and fenced(
        fences,
        turn_id=candidate.turn_id,
        turn=candidate.turn,
        session=candidate.session,
        task=candidate.task,
        kind=candidate.kind,
        sensitivity=candidate.sensitivity,
        memory_id=candidate.id,
        at=candidate.at,
        position=candidate.position,
    ):
        return Rule.FENCED
    if policy.sensitive.get(candidate.sensitivity, Sensitive.ALLOW) is Sensitive.REFUSE:
        return Rule.SENSITIVE
    consent = consent_at(world.book, candidate.at)
    if not is_allowed(consent, candidate.kind, candidate.sensitivity, policy):
        return Rule.NO_CONSENT
    return None


def _by_meaning(candidate: Candidate, work: Working, place: Standing, relate: Relate) -> Standing:
    """`place` with what `relate` finds among the current memories of the same subject and task."""
    live = [e for e in work.entries.values() if e.status is Status.ACTIVE and not 0 < e.expires_at <= candidate.at]
    mine = [work.memory(e.id) for e in live if e.task == owning_task(candidate)]
    loose = is_open(candidate) or tells_change(candidate.content)
    own = [m for m in mine if m.subject == candidate.subject]
    near = [m for m in own if loose or is_open(m) or is_locked(m, candidate.at)]
    related = relate(candidate, near) if near else {}
    same = next((e for e in live if related.get(e.id) is Related.SAME and e.polarity is candidate.polarity), None)
    if same is not None:
        return replace(place, same=same, kin=(*place.kin, same))
    told = {m.id for m in near if _replaces(candidate, m)}
    clashing = {m.id for m in own if clash(m, candidate)}
    over = [e for e in live if related.get(e.id) is Related.UPDATE or e.id in told]
    return replace(
        place,
        rivals=tuple(e for e in over if e.state is not State.DRAFT),
        drafts=(*place.drafts, *(e for e in over if e.state is State.DRAFT and e not in place.drafts)),
        doubted=tuple(e for e in live if e not in over and (related.get(e.id) is Related.CONFLICT or e.id in clashing)),
    )


def _replaces(candidate: Candidate, held: Memory) -> bool:
    """A preference that says it holds from now on, in a respect of a thing that the held one speaks of (A10)."""
    both = candidate.kind is held.kind is Kind.PREFERENCE
    return both and tells_change(candidate.content) and same_respect(held.content, candidate.content)


def _is_repeated(candidate: Candidate, work: Working, place: Standing) -> bool:
    """Whether this very statement was taken in before: as a memory, as a source of one, or as what a question asks."""
    if work.find(candidate.id) is not None:
        return True
    if any(question.proposed.id == candidate.id for question in work.world.questions.values()):
        return True
    return any(source.turn == candidate.turn for entry in place.kin for source in work.memory(entry.id).sources)


def _touch(work: Working, candidate: Candidate, place: Standing, held: Memory, policy: Policy) -> Rule:
    """The same conclusion said again: one more source, and perhaps the step from draft to committed to frozen."""
    merged = joined(held, candidate)
    if held.state is State.DRAFT and _commits(merged, candidate):
        return _commit_draft(work, candidate, place, held, merged, policy)
    settled = settle(work, merged, policy)
    newly_frozen = settled.state is State.FROZEN and held.state is not State.FROZEN
    rule = Rule.FROZEN if newly_frozen else Rule.DUPLICATE
    work.update(held, settled, rule)
    return rule


def _commits(merged: Memory, candidate: Candidate) -> bool:
    sure = not is_hedged(candidate.confidence, candidate.confirmation)
    return sure or len(sessions(merged.sources)) >= SESSIONS_TO_COMMIT


def _commit_draft(
    work: Working, candidate: Candidate, place: Standing, held: Memory, merged: Memory, policy: Policy
) -> Rule:
    """A draft that is now sure enough replaces its rivals, unless one is newer (it waits) or locked (it asks)."""
    rivals = [work.memory(entry.id) for entry in place.rivals]
    if any(is_older(candidate, rival) for rival in rivals):
        work.update(held, merged, Rule.DUPLICATE)
        return Rule.DUPLICATE
    locked = _locked(rivals, candidate)
    if locked is not None:
        work.update(held, merged, Rule.DUPLICATE)
        return _open_question(work, candidate, locked, policy)
    retiring = rivals + _older_drafts(work, candidate, place)
    retire(work, retiring, held.id)
    committed = replace(merged, state=State.COMMITTED, supersedes=retiring[0].id if retiring else held.supersedes)
    settled = settle(work, committed, policy)
    rule = Rule.FROZEN if settled.state is State.FROZEN else Rule.REPLACES if rivals else Rule.DUPLICATE
    work.update(held, settled, rule)
    prune_all(work, retiring, policy)
    return rule


def _new(work: Working, candidate: Candidate, place: Standing, policy: Policy) -> Rule:
    """A conclusion that is not held: it replaces its rivals, goes to history, asks, or stands by itself."""
    if tokens(candidate.content) > policy.item_tokens:
        return Rule.TOO_LONG
    hedged = is_hedged(candidate.confidence, candidate.confirmation)
    rivals = [work.memory(entry.id) for entry in place.rivals]
    newer = next((rival for rival in rivals if is_older(candidate, rival)), None)
    if newer is None and hedged:
        drafts = [work.memory(entry.id) for entry in place.drafts]
        newer = next((draft for draft in drafts if is_older(candidate, draft)), None)
    if newer is not None:
        return _into_history(work, candidate, newer, policy)
    locked = _locked(rivals, candidate)
    if locked is not None:
        return _open_question(work, candidate, locked, policy)
    doubted = _locked([work.memory(entry.id) for entry in place.doubted], candidate)
    if doubted is not None:
        return _open_question(work, candidate, doubted, policy, QuestionKind.SUSPECTED)
    retiring = _older_drafts(work, candidate, place)
    if hedged:
        newcomer = memory_from(candidate, State.DRAFT)
        return enter(work, newcomer, retiring, Rule.NEW, policy) or Rule.NEW
    newcomer = settle(work, memory_from(candidate, State.COMMITTED), policy)
    rule = Rule.REPLACES if rivals else Rule.NEW
    return enter(work, newcomer, rivals + retiring, rule, policy) or rule


def _locked(rivals: Sequence[Memory], candidate: Candidate) -> Memory | None:
    """The first rival that `candidate` may not change. What rests on its own turn alone is corrected in one breath."""
    return next(
        (
            rival
            for rival in rivals
            if is_locked(rival, candidate.at) and any(source.turn != candidate.turn for source in rival.sources)
        ),
        None,
    )


def _older_drafts(work: Working, candidate: Candidate, place: Standing) -> list[Memory]:
    drafts = [work.memory(entry.id) for entry in place.drafts]
    return [draft for draft in drafts if not is_older(candidate, draft)]


def _into_history(work: Working, candidate: Candidate, newer: Memory, policy: Policy) -> Rule:
    """Late, and no longer true: kept as a past version of what replaced it, if it is within the limits of history."""
    late = replace(memory_from(candidate, State.COMMITTED), status=Status.SUPERSEDED, superseded_by=newer.id)
    if not is_held(work, late, policy):
        return Rule.HISTORY
    work.create(late, Rule.HISTORY)
    prune(work, work.entries[late.id].dimension, policy)
    return Rule.HISTORY


def _open_question(
    work: Working, candidate: Candidate, held: Memory, policy: Policy, doubt: QuestionKind | None = None
) -> Rule:
    """Ask whether `candidate` replaces `held` (H9): once while it is open, and not again soon after a refusal."""
    known = question_id(held, candidate)
    asked = next((q for q in work.questions() if q.id == known), None)
    if asked is not None and asked.status is QuestionStatus.OPEN:
        return Rule.QUESTION
    if known in work.book.rejected and (asked is None or candidate.at - asked.answered_at < policy.history_ms):
        return Rule.REJECTED_BEFORE
    frozen_preference = held.kind is Kind.PREFERENCE and held.state is State.FROZEN
    kind = QuestionKind.PREFERENCE_CHANGE if frozen_preference else QuestionKind.CONTRADICTION
    work.put_question(ask(doubt or kind, held, candidate, candidate.at))
    return Rule.QUESTION
