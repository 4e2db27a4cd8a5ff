"""What the trained head adds to the closed rules, sentence by sentence (A5, A7).

The hard laws have the last word: an instruction to the system, text of the engine's own prompt, a business system's
facts, refused classes, a wish for this session and whatever follows "translate this:" never become a memory, however
sure the head is. Of the rest the head may take away what a rule read (a frame that the rules did not see) and give
what they did not read, in the words of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tables import extractive_frames as frames
from tables.attributes import respects
from tables.candidate import SELF, Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.dates import days_said
from tables.extractive import AIM_TOKENS, GUESSED, Dropped, Extraction, expires_at, refused
from tables.extractive_clauses import clauses
from tables.extractive_values import is_task_marked
from tables.features import Noticed, features
from tables.head import Head, Judgement
from tables.keys import memory_id
from tables.policy import Policy
from tables.sensitive import gravest, sensitivity
from tables.slots import slot_of, task_of
from tables.text import language, normalised, sentences, tokens
from tables.turn import Turn
from tables.worth import Drop, asks

HARD: Final = frozenset(
    (Drop.ASSISTANT, Drop.INSTRUCTION, Drop.INJECTED, Drop.AUTHORITATIVE, Drop.SENSITIVE_REFUSED, Drop.TOO_LONG)
)
READ_MAX: Final = 400  # characters of a sentence that the head sees
DENIES_FROM: Final = 0.5
REMEMBER_BONUS: Final = 0.4  # "remember: …" is kept as stated, unless the head is sure that it is an errand or a frame
UNTIL_BONUS: Final = 0.1  # who says until when a thing holds says more than how it is now
FRAMED_FROM: Final = 0.6
FRAMES: Final = ("quote", "hypothetical", "question", "third", "injection", "session", "request", "narration")
ACCEPT_IN_TASK: Final = 0.5  # what is told inside a task is about the task, unless it asks, orders, imagines or chats

_REMEMBER: Final = re.compile(
    r"(?:[^，。,.]{0,10}[，,])?(?:请|麻烦|帮我)*(?:记住|记一下|记下|记着|记得|别忘了?|备注)"
    r"|(?:[\w ,]{0,24}[,:] ?)?(?:please |do |just )*(?:remember|don'?t forget|keep in mind|bear in mind|note)\b",
    re.IGNORECASE,
)
_SELF: Final = re.compile(r"我(?!们)|俺|\b(?:i|i'm|i've|i'll|im|ive|my|me|mine|myself)\b", re.IGNORECASE)
_OF_THE_PERSON: Final = re.compile(
    r"考(?![虑勤察古核验量])|面试|体检|复查|复诊|手术|婚礼|挂号|挂了.{0,6}号|约了|预约|牙医|医生|门诊|产检|打疫苗"
    r"|\b(?:exams?|interviews?|appointments?|dentist|doctor|gp|surgery|wedding|check-?up|scan|vaccin\w+|driving test"
    r"|court date|graduation)\b",
    re.IGNORECASE,
)

# The slot of a fact that no rule has read: many-valued, its value is what was said.
OPEN_SLOTS: Final[Mapping[Kind, str]] = {
    Kind.IDENTITY: "identity.trait",
    Kind.HEALTH: "health.condition",
    Kind.BOUNDARY: "boundary.rule",
    Kind.VALUE: "value.principle",
    Kind.PREFERENCE: "preference.habit",
    Kind.COMMITMENT: "commitment.promise",
    Kind.FACT: "fact.note",
    Kind.TASK: "task.need",
    Kind.PLAN: "plan.intent",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that the head is asked about."""

    span: tuple[int, int]
    text: str
    zh: bool
    noticed: Noticed

    @property
    def numbers(self) -> tuple[float, ...]:
        return features(self.text, self.zh, self.noticed)


def asked(turn: Turn, extraction: Extraction) -> tuple[Sentence, ...]:
    """The sentences of `turn` that no hard law has decided, as the head sees them."""
    found: list[Sentence] = []
    for start, end in sentences(turn.content):
        drops = frozenset(d.reason for d in extraction.drops if start <= d.span[0] < end)
        if drops & HARD or any(first <= start < last for first, last in extraction.foreign):
            continue
        text = turn.content[start : min(end, start + READ_MAX)]
        if frames.is_one_off_refusal(text, language(text) == "zh"):
            continue
        own = tuple(c for c in extraction.candidates if start <= c.span[0] < end)
        wished = any(wish.content in text for wish in extraction.wishes)
        found.append(Sentence((start, end), text, language(text) == "zh", Noticed(own, drops, wished)))
    return tuple(found)


def judged(
    turn: Turn,
    policy: Policy,
    extraction: Extraction,
    about: Sequence[Sentence],
    judgements: Sequence[Judgement],
    head: Head,
) -> Extraction:
    """`extraction` after the head has spoken of the sentences `about`, one judgement each."""
    candidates: dict[str, Candidate] = {}
    drops = list(extraction.drops)
    seen = {id(c) for sentence in about for c in sentence.noticed.candidates}
    rest = [c for c in extraction.candidates if id(c) not in seen]
    for sentence, judgement in zip(about, judgements, strict=True):
        limits = head.limits_of("zh" if sentence.zh else "en")
        worth = _worth(turn, sentence, judgement)
        accept = min(limits.accept, ACCEPT_IN_TASK) if turn.task else limits.accept
        read = sentence.noticed.candidates
        if read:
            kept = [_filed(c, judgement) for c in read if _stands(turn, c, judgement, worth, limits.veto)]
            if len(kept) < len(read):
                drops.append(Dropped(sentence.span, Drop.NOT_WORTH))
            whole = len(kept) == 1 and worth >= accept and not sentence.noticed.drops - {Drop.NOT_WORTH}
            candidates.update({c.id: _whole(turn, policy, sentence, c) if whole else c for c in kept})
        elif worth >= limits.draft and not sentence.noticed.wished:
            found = _in_own_words(turn, policy, sentence, judgement, worth, worth >= accept)
            candidates.update({c.id: c for c in found})
        elif _is_instruction(sentence, judgement):
            found = _in_own_words(turn, policy, sentence, replace(judgement, kind=Kind.PREFERENCE), GUESSED, False)
            candidates.update({c.id: c for c in found})
    return Extraction(
        tuple(sorted((*rest, *candidates.values()), key=lambda c: c.span)),
        extraction.wishes,
        tuple(sorted(drops, key=lambda d: d.span)),
        extraction.foreign,
    )


def _is_instruction(sentence: Sentence, judgement: Judgement) -> bool:
    """An instruction for now that is not marked so: never a memory by itself, but what is frozen may be asked about."""
    told = judgement.chances.get("session", 0.0) >= DENIES_FROM and not sentence.noticed.wished
    return told and bool(respects(sentence.text)) and not asks(sentence.text)


def _worth(turn: Turn, sentence: Sentence, judgement: Judgement) -> float:
    """How likely the sentence is worth keeping where it was said.

    What is marked for the task holds for the task, however much it sounds like a wish for now. Inside a task a fact
    about others or things is the task's, and what sounds like an opinion or an episode half so.
    """
    chances = judgement.chances
    worth = judgement.keep
    if is_task_marked(sentence.text) and not asks(sentence.text):
        worth += chances.get("session", 0.0) + chances.get("request", 0.0)
    if _REMEMBER.match(sentence.text) and not asks(sentence.text):
        worth += REMEMBER_BONUS
    if any(day.bounds for day in days_said(sentence.text, turn.at, turn.zone_minutes)):
        worth += UNTIL_BONUS
    if turn.task:
        worth += chances.get("third", 0.0) + 0.5 * (chances.get("narration", 0.0) + chances.get("opinion", 0.0))
    return min(1.0, worth)


def _stands(turn: Turn, candidate: Candidate, judgement: Judgement, worth: float, veto: float) -> bool:
    """Whether what a rule read is kept: "remember this" and answers always, the rest unless it is surely nothing."""
    if candidate.slot == "fact.note" or turn.asked:
        return True
    chances = judgement.chances
    if candidate.subject != SELF:
        return worth + chances.get("third", 0.0) >= veto
    framed = sum(chances.get(label, 0.0) for label in FRAMES)
    return worth >= veto or framed < FRAMED_FROM


def _whole(turn: Turn, policy: Policy, sentence: Sentence, candidate: Candidate) -> Candidate:
    """`candidate` in the words of its whole sentence: what no rule read beside it belongs to it."""
    start, end = _statement(turn.content, sentence)
    start, end = min(start, candidate.span[0]), max(end, candidate.span[1])
    content = turn.content[start:end]
    if tokens(content) > min(AIM_TOKENS, policy.item_tokens) or refused(policy, sensitivity(content)):
        return candidate
    return replace(candidate, content=content, span=(start, end))


def _kind(turn: Turn, sentence: Sentence, judgement: Judgement) -> Kind:
    """The kind of what is told: inside a task, what does not speak of the person is the task's own."""
    kind = judgement.kind
    personal = _SELF.search(sentence.text) is not None
    if kind in (Kind.TASK, Kind.PLAN) and personal and _OF_THE_PERSON.search(sentence.text):
        return Kind.COMMITMENT
    if turn.task and not personal and kind in (Kind.PREFERENCE, Kind.COMMITMENT, Kind.FACT, Kind.PLAN):
        return Kind.TASK
    return kind


def _filed(candidate: Candidate, judgement: Judgement) -> Candidate:
    """What was asked to be remembered goes under the kind that the head sees in it."""
    if candidate.slot != "fact.note" or judgement.keep < DENIES_FROM:
        return candidate
    slot = OPEN_SLOTS[judgement.kind]
    entry = slot_of(slot)
    return replace(
        candidate,
        id=memory_id(candidate.turn, candidate.subject, slot, candidate.value, candidate.polarity.value),
        kind=judgement.kind,
        slot=slot,
        single=entry.single,
        importance=entry.importance,
        sensitivity=gravest(entry.sensitivity, candidate.sensitivity),
        task=task_of(judgement.kind, candidate.task),
    )


def _in_own_words(
    turn: Turn, policy: Policy, sentence: Sentence, judgement: Judgement, worth: float, sure: bool
) -> tuple[Candidate, ...]:
    """The statement of a sentence without its questions and errands, as one candidate; () when nothing is left."""
    start, end = _statement(turn.content, sentence)
    content = turn.content[start:end]
    if not content or tokens(content) > policy.item_tokens or refused(policy, sensitivity(content)):
        return ()
    kind = _kind(turn, sentence, judgement)
    slot = OPEN_SLOTS[kind]
    entry = slot_of(slot)
    said = days_said(content, turn.at, turn.zone_minutes)
    polarity = Polarity.NEGATIVE if judgement.negative >= DENIES_FROM else Polarity.POSITIVE
    value = normalised(content)
    marked = is_task_marked(content)
    return (
        Candidate(
            id=memory_id(turn.key, SELF, slot, value, polarity.value),
            scope=turn.scope,
            session=turn.session,
            task=task_of(kind, turn.task, marked),
            topic=turn.topic,
            kind=kind,
            subject=SELF,
            slot=slot,
            single=entry.single,
            value=value,
            polarity=polarity,
            content=content,
            span=(start, end),
            expires_at=expires_at(kind, said, turn),
            confidence=round(worth, 4),
            explicit=False,  # the head alone never freezes anything
            importance=entry.importance,
            confirmation=Confirmation.STATED if sure else Confirmation.INFERRED,
            sensitivity=gravest(entry.sensitivity, _sensitivity(kind, content)),
            lang=turn.lang or language(content),
            turn=turn.key,
            turn_id=turn.id,
            at=turn.at,
            position=turn.position,
        ),
    )


def _sensitivity(kind: Kind, content: str) -> Sensitivity:
    return sensitivity(content) if kind is not Kind.HEALTH else gravest(Sensitivity.HEALTH, sensitivity(content))


def _statement(content: str, sentence: Sentence) -> tuple[int, int]:
    """The sentence without questions and errands at its beginning and end; whole when that leaves nothing."""
    start, end = sentence.span
    parts = [
        (first, last)
        for first, last in clauses(content, start, end, sentence.zh)
        if not _asks_or_orders(content[first:last].strip(), sentence.zh)
    ]
    if not parts:
        return start, end
    return parts[0][0], parts[-1][1]


def _asks_or_orders(clause: str, zh: bool) -> bool:
    return asks(clause) or frames.is_request(clause, zh)
