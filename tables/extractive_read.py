"""Reading a clause: the first rule that fits, the value it gives, whose fact it is."""

from __future__ import annotations

import re

from tables import extractive_en, extractive_zh
from tables.candidate import Kind
from tables.extractive_rules import Reading, Rule
from tables.extractive_vain import vain
from tables.extractive_values import STANDING_EN, STANDING_ZH, about, bare, is_task_marked, listed, object_of
from tables.extractive_ways import way
from tables.slots import SLOTS, slot_of
from tables.text import normalised

FAMILY_KIND = Kind.FACT  # a relation's or dependant's standing fact is kept as theirs, never as the user's own

_FAMILY = {True: re.compile(extractive_zh.FAMILY), False: re.compile(extractive_en.FAMILY, re.IGNORECASE)}
_STATES = {True: re.compile(extractive_zh.FAMILY_STATES), False: re.compile(extractive_en.FAMILY_STATES, re.IGNORECASE)}
_NAMED = re.compile(r"(?:'s name is|is called|'s called|is named|名叫|叫)\s*(?P<v>[^\s,，。.;!?]{1,20})")
_NEGATED = re.compile(
    r"不|没|别|\b(?:not|no|never|can'?t|cannot|doesn'?t|don'?t|isn'?t|no longer)\b"
    r"|n't\b",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", re.ASCII)
_PHONE = re.compile(r"\+?[0-9][0-9 ()-]{6,18}[0-9]")
_OWN_CONTACT = re.compile(
    r"我|手机|电话|号码|邮箱|联系|\b(?:my|me|i)\b.{0,30}(?:number|phone|mobile|cell|e-?mail|reach|contact)"
    r"|\b(?:e-?mail|phone|mobile|number)\b",
    re.I,
)
_ORDER_ZH = re.compile(
    r"(?:请|麻烦|都|就|一律|要|你|给我|跟我|帮我|每次|,|，|\s)*(?:用|说|写|回|答|叫|点|选|放|列|发|称呼|提醒|标|附"
    r"|带|按|先|别|不要|少|多|保持|直接|买|喝|吃"
    r"|订|做|改|加|把|让|不用|只)|.{0,8}(?:给我|回我|跟我说|发我|提醒我|告诉我)"
)
_ORDER_EN = re.compile(
    r"(?:please|pls|and|so|,|just|only|\s)*(?:use|keep|write|answer|reply|respond|give|call|address|send|make|put"
    r"|include|add|start|end|list|show|remind"
    r"|stick|speak|talk|quote|say|don'?t|no|skip|avoid|stop|order|pick|choose|book|get|format|cite|explain|ask"
    r"|assume|leave|tell|round|sign|attach"
    r"|check|label|translate|convert|default|prefix|wrap)\b",
    re.IGNORECASE,
)
_SERVED = re.compile(
    r"回复|回答|答案|沟通|联系|播报|\b(?:answers?|replies|reply|responses?|contact"
    r"|explanations?)\b",
    re.IGNORECASE,
)


def standing(text: str, zh: bool) -> bool:
    """Whether a clause is marked to hold from now on."""
    return (STANDING_ZH if zh else STANDING_EN).search(text) is not None


def family(text: str, zh: bool) -> tuple[str, Reading] | None:
    """(subject, reading) of a standing fact about a relation or a pet; None for anything else."""
    match = _FAMILY[zh].match(text)
    if match is None:
        return None
    rest = match["p"]
    if not _STATES[zh].match(rest):
        return None
    subject = normalised(match["s"])
    named = _NAMED.search(rest)
    if named:
        return subject, Reading("fact.name", normalised(named["v"]), False, 0.9)
    own = ("我" if zh else "I ") + rest.lstrip(" ,的")
    reading = _by_rules(own, zh, "", "") if zh else None
    if reading is not None and reading.slot.startswith(("health.", "preference.likes", "identity.")):
        return subject, reading
    return subject, Reading("fact.about", bare(rest, zh), _NEGATED.search(rest) is not None, 0.9)


def read(text: str, zh: bool, context: str, task: str) -> Reading | None:
    """What the first fitting law reads: contact, standing instruction, way of having a thing, then the rules."""
    contact = _contact(text)
    if contact is not None:
        return contact
    lasting = standing(text, zh) or is_task_marked(text)
    if lasting:
        instruction = _instruction(text, zh)
        if instruction is not None:
            return instruction
    reading = _by_rules(text, zh, context, task)
    if reading is None or reading.slot.startswith(("preference.likes", "preference.habit")):
        had = way(text, zh)
        if had is not None and (lasting or reading is not None or re.match(r"我|i\b|my\b", text, re.IGNORECASE)):
            return Reading(had[0], had[1], False, 0.9)
    if reading is not None and reading.slot == "preference.likes" and not reading.negative and _SERVED.search(text):
        slot, value, _ = about(text)
        if value:
            return Reading(slot, value, False, reading.confidence)
    return reading


def read_on(text: str, zh: bool) -> Reading | None:
    """Something personal whose subject is that of the clause before: "I have asthma and take …"."""
    if not zh and re.match(r"(?:and )?(?:like|love|to|then)\b", text, re.IGNORECASE):
        return None
    reading = read(("我" if zh else "I ") + text, zh, "", "")
    return reading if reading is not None and slot_of(reading.slot).kind in _GOES_ON else None


_GOES_ON = (Kind.IDENTITY, Kind.HEALTH, Kind.PREFERENCE)


def _contact(text: str) -> Reading | None:
    if not _OWN_CONTACT.search(text):
        return None
    email = _EMAIL.search(text)
    if email:
        return Reading("contact.email", normalised(email[0]), False, 0.9)
    phone = _PHONE.search(text)
    if phone and re.search(r"手机|电话|号码|联系|number|phone|mobile|cell|call|text", text, re.IGNORECASE):
        return Reading("contact.phone", re.sub(r"[ ()-]", "", phone[0]), False, 0.9)
    return None


def _instruction(text: str, zh: bool) -> Reading | None:
    """A standing instruction to the service: "from now on …", 以后都…. Not "I always …", which is a habit."""
    had = way(text, zh)
    if had is not None:
        return Reading(had[0], had[1], False, 0.9)
    slot, value, negative = about(text)
    if slot != "preference.instruction":
        return Reading(slot, value, negative, 0.9)
    if re.match(
        r"(?:i|we|it|there|you|my)\b|我(?!的)|咱|.{0,6}(?:你|我)(?:每次|总|一直|以后|会)"
        r"|.{0,12}\byou always\b",
        text,
        re.I,
    ):
        return None
    boundary = _by_rules(text, zh, "", "")
    if boundary is not None and boundary.slot.startswith(("boundary.", "health.", "contact.", "identity.")):
        return boundary
    said = normalised((STANDING_ZH if zh else STANDING_EN).sub(" ", text))
    if not (_ORDER_ZH if zh else _ORDER_EN).match(said):
        return None
    return Reading("preference.instruction", said, _NEGATED.search(said) is not None, 0.9)


def _by_rules(text: str, zh: bool, context: str, task: str) -> Reading | None:
    for rule in extractive_zh.RULES if zh else extractive_en.RULES:
        match = rule.pattern.search(text) if rule.anywhere else rule.pattern.match(text)
        if match is None:
            continue
        reading = _reading(rule, match, text, zh, context, task)
        if not vain(reading.slot, reading.value, text, zh):
            return reading
    return None


def _reading(rule: Rule, match: re.Match[str], text: str, zh: bool, context: str, task: str) -> Reading:
    groups = match.groupdict()
    negative = rule.negative != bool(groups.get("n"))
    entry = SLOTS[rule.slot]
    slot, said = rule.slot, groups.get("v")
    if entry.of:
        name = groups.get("o") or groups.get("x") or groups.get("y") or ""
        name = object_of(rule.slot, name, task) if rule.slot.startswith("task.") else bare(name, zh)
        if not name and rule.slot == "task.budget" and not task:
            name = _object_before(rule, context)
        slot = f"{rule.slot}.{name}" if name else rule.slot
        said = said or groups.get("x")
    else:
        said = said or groups.get("o") or groups.get("x")
    if said and groups.get("v"):
        said = listed(rule.slot, said, text[match.end("v") :])
    value = bare(said or match[0], zh)
    if rule.slot == "commitment.promise":
        negative = _NEGATED.search(value[:16]) is not None
    if not value or rule.slot == "task.date":
        value = normalised(text)
    return Reading(slot, value, negative, rule.confidence)


def _object_before(rule: Rule, context: str) -> str:
    """The object that the turn before named, when this one leaves it out."""
    before = rule.pattern.search(context[:300]) if context else None
    if before is None:
        return ""
    groups = before.groupdict()
    return object_of(rule.slot, groups.get("x") or groups.get("o") or "", "")
