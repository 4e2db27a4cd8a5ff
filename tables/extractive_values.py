"""From the words of a clause to a slot's value: standing instructions, objects, lists, bare values."""

from __future__ import annotations

import re

from tables.text import normalised

_ZH_NUM = "0-9一二两三四五六七八九十"

# (slot, value, pattern): what a standing instruction or a wish is about. Equal values in both languages are equal.
_ABOUT: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (slot, value, re.compile(pattern, re.IGNORECASE))
    for slot, value, pattern in (
        (
            "preference.answer_length",
            "short",
            r"简短|简洁|精简|简练|短一?[点些]|长话短说|言简意赅|说重点|挑重点"
            r"|一句话|别啰嗦|不要啰嗦|别写长|少说废话",
        ),
        (
            "preference.answer_length",
            "short",
            r"\b(?:short(?:er)?|brief(?:ly)?|concise(?:ly)?|terse|to the point"
            r"|succinct|one[- ](?:line|sentence)|no fluff|keep it (?:simple|tight))\b",
        ),
        (
            "preference.answer_length",
            "long",
            r"详细|详尽|展开(?:讲|说)|多说一?点|\b(?:detailed|in detail"
            r"|long(?:er)? answers|thorough|elaborate|step by step)\b",
        ),
        ("preference.answer_tone", "formal", r"正式一?点|用敬语|书面语|\bformal(?:ly)?\b"),
        (
            "preference.answer_tone",
            "casual",
            r"口语化|轻松一?点|随意一?点|幽默一?点|\b(?:casual(?:ly)?"
            r"|informal(?:ly)?|humorous|funny|friendly tone)\b",
        ),
        (
            "preference.units",
            "metric",
            r"公制|摄氏|公里|厘米|\b(?:metric|celsius|kilomet(?:er|re)s|centimet(?:er"
            r"|re)s)\b",
        ),
        ("preference.units", "imperial", r"英制|华氏|英里|英尺|\b(?:imperial|fahrenheit|miles|inches)\b"),
        ("preference.channel", "voice", r"语音|播报|\b(?:voice|read (?:it )?(?:out|aloud)|speak to me)\b"),
        ("preference.channel", "text", r"文字(?:回复|沟通|就)|打字|发短信|\b(?:text me|by text|in writing|texting)\b"),
        ("preference.channel", "phone", r"打电话|电话联系|\b(?:call me|by phone|phone me)\b"),
        ("preference.channel", "email", r"发邮件|邮件联系|\b(?:e-?mail me|by e-?mail)\b"),
    )
)
_LANGUAGE = re.compile(
    r"(?P<zh>英式英语|美式英语|英语|英文|中文|汉语|普通话|简体(?:中文)?|繁体(?:中文)?|粤语|日语|日文|韩语|法语|德语"
    r"|西班牙语|俄语|葡萄牙语|双语)"
    r"|\b(?P<en>(?:(?:british|american|us|uk|australian|simplified|traditional|plain|mexican|brazilian) )?"
    r"(?:english|chinese|mandarin|cantonese|french|german|spanish|portuguese|italian|japanese|korean|russian|dutch"
    r"|polish|arabic|hindi|turkish))\b",
    re.IGNORECASE,
)
_SPEAKS = re.compile(
    r"回答|回复|回我|说|写|聊|交流|沟通|\b(?:answer|reply|respond|write|speak|talk|use|in"
    r"|english spelling|switch)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"(?:别|不要|不用|不|not|don'?t|no|instead of|rather than|stop)\s*(?:再|用|使用|using|use"
    r"|in)*\s*$",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"(?P<v>表格|列表|项目符号|分点|段落|markdown|代码|表情符?号?|emoji|链接|总结|结论"
    r"|\b(?:tables?|bullet(?: point)?s?|lists?|paragraphs?|headings?|emojis?|code|examples?|links?|sources"
    r"|summar(?:y|ies)|tabs|spaces)\b)",
    re.IGNORECASE,
)
_CURRENCY = re.compile(
    r"(?:价格|报价|金额|换算|prices?|quotes?|amounts?|costs?).{0,20}?(?P<v>人民币|美元|欧元|英镑"
    r"|日元|euros?|dollars?|pounds?|yuan|yen)",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"别|不要|不用|不准|不许|不再|\b(?:don'?t|do not|no|never|stop|without|avoid"
    r"|not)\b",
    re.IGNORECASE,
)

STANDING_ZH = re.compile(
    r"(?<![点号天周月年日时])以后|今后|往后|从现在(?:起|开始)|从今(?:天起|往后|以后)|从此|一律|永远|始终"
    r"|每次(?!都是我)|默认|平时(?:给我|回)|一直用|总是用|都(?:用|给我|点|按)|凡是"
)
STANDING_EN = re.compile(
    r"\b(?:from now on(?:wards)?|from here on|going forward|in (?:the )?future|always|whenever|every time|by default"
    r"|as a rule|in general"
    r"|for good|any ?time|each time|for all (?:my|future)|at all times|permanently)\b|\buntil (?!then|now)",
    re.IGNORECASE,
)
TASK_MARK = re.compile(
    r"(?:这个|本|该|此)项目|在这个(?:项目|任务|文档)|\bfor (?:this|the|our) (?:project|task"
    r"|report|paper|repo|document|article|book|codebase|client)\b",
    re.I,
)


def about(text: str) -> tuple[str, str, bool]:
    """(slot, value, negative) of an instruction on how to be served; ("preference.instruction", "", …) for others."""
    language = _language(text)
    if language:
        return "preference.answer_language", language, False
    for slot, value, pattern in _ABOUT:
        found = pattern.search(text)
        if found:
            denied = _NOT_BEFORE.search(text[: found.start()]) is not None
            if denied and slot == "preference.answer_length":
                return slot, "long" if value == "short" else "short", False
            if not denied:
                return slot, value, False
    currency = _CURRENCY.search(text)
    if currency:
        return "preference.currency", normalised(currency["v"]).rstrip("s"), False
    shape = _FORMAT.search(text)
    if shape:
        denied = _NEGATES.search(text[: shape.start()]) is not None
        return "preference.answer_format", normalised(shape["v"]), denied
    return "preference.instruction", "", False


def _language(text: str) -> str:
    if not _SPEAKS.search(text):
        return ""
    for found in _LANGUAGE.finditer(text):
        if not _NOT_BEFORE.search(text[: found.start()]):
            return normalised(found[0])
    return ""


_LEAD_ZH = re.compile(
    r"^(?:的|了|着|过|去|到|一[个只条款种点些]|[个只条些]|那种|这种|任何|所有|各种|很多|自己的?"
    r"|我的?|吃|喝|看|听)+(?=[^\s])"
)
_TAIL_ZH = re.compile(r"(?:的|了|吧|呢|啊|呀|哦|啦|哈|嘛|东西|之类|什么)+$")
_LEAD_EN = re.compile(
    r"^(?:an?|the|any|some|all|my|our|your|eating|drinking|watching|listening to|playing|having"
    r"|very|really|to|it when)\s+",
    re.IGNORECASE,
)
_TAIL_EN = re.compile(
    r"\s+(?:any ?more|at all|a lot|very much|so much|too|though|please|now|again|lol|tbh"
    r"|in general|as well|either|of any kind)$",
    re.IGNORECASE,
)


def bare(value: str, zh: bool) -> str:
    """The value that equality compares: without articles, particles and the verb of having it."""
    plain = normalised(value)
    lead, tail = (_LEAD_ZH, _TAIL_ZH) if zh else (_LEAD_EN, _TAIL_EN)
    for _ in range(3):
        cut = tail.sub("", lead.sub("", plain)).strip()
        if not cut or cut == plain:
            break
        plain = cut
    return normalised(plain)


_GENERIC = re.compile(
    r"^(?:总|整体|全部|项目|我们?的?|这个|本|该|新|目前|现在|装修总|total|overall|the|our|my|new"
    r"|whole|project)*$",
    re.IGNORECASE,
)
_EVENT_ZH = re.compile(
    r"上线|发布|交付|截止|开工|完工|验收|开业|交稿|投产|演出|汇报|评审|启动|交房|入住|搬家|发版"
    r"|婚礼|展会|年会|订婚|团建"
)
_EVENT_EN = re.compile(
    r"launch|release|go-?live|going live|deadline|delivery|handover|opening|kick-?off|move-in|move|demo|review"
    r"|conference|cut-?over|party|deploy"
    r"|submission|submit|ship|open|hand",
    re.IGNORECASE,
)


def object_of(slot: str, said: str, task: str) -> str:
    """The object that a slot's name goes on with: what is budgeted or dated, without its determiners.

    In a task the task itself is the object: "the budget for the kitchen", "the total budget" and "the budget" are one
    in a task named kitchen; a part of it ("floor budget") is its own.
    """
    plain = normalised(said)
    if slot == "task.date":
        event = _EVENT_ZH.search(plain) or _EVENT_EN.search(plain)
        name = event[0].replace("-", "").replace("going live", "golive") if event else plain
        return name if task or event is None else _outside(plain, event[0], name)
    if task and re.search(r"总|\b(?:total|overall)\b", plain):
        return ""
    plain = re.sub(r"^(?:我们?的?|咱们的?|the |our |my |total |overall |new )+|(?:的|总|的总)+$", "", plain).strip()
    return "" if _GENERIC.match(plain) or (task and (plain in task or task in plain)) else plain


def _outside(plain: str, said: str, event: str) -> str:
    """Without a task the words before the event tell two projects apart."""
    head = plain.split(said)[0]
    head = re.sub(r"^(?:the|our|my|我们?的?)\s*|(?:系统|项目|的|\s)+$", "", head).strip()
    return f"{head} {event}".strip() if head else event


_LISTED = frozenset(
    (
        "preference.likes",
        "health.allergy",
        "health.condition",
        "health.medication",
        "boundary.topic",
        "identity.language",
    )
)
_AND_ZH = re.compile(r"、|和|以及|还有|及|与|,|，")
_AND_EN = re.compile(r"\s*,\s*(?:and |or )?|\s+(?:and|or)\s+|\s*&\s*", re.IGNORECASE)


_TAIL_LIST = re.compile(
    r"(?:,? ?[\w' -]{2,24}){0,6},? (?:and|or) [\w' -]{2,24}(?=$|[,.;:!?])"
    r"|(?:[、和][^，。、和]{1,6})+",
    re.IGNORECASE,
)


def listed(slot: str, said: str, after: str) -> str:
    """What was said with the rest of its list: a rule stops at the first comma of "peanuts, eggs and shellfish"."""
    more = _TAIL_LIST.match(after) if slot in _LISTED and after.startswith((",", "、")) else None
    return said + more[0] if more else said


def values(slot: str, value: str, zh: bool) -> list[str]:
    """The values of a list: each like, allergen or topic is held on its own; what is no plain list stays one."""
    if slot not in _LISTED:
        return [value]
    parts = [bare(part, zh) for part in (_AND_ZH if zh else _AND_EN).split(value)]
    longest = 6 if zh else 24
    plain = all(part and len(part) <= longest and (zh or part.count(" ") <= 2) for part in parts)
    return list(dict.fromkeys(parts)) if plain else [value]


def is_task_marked(text: str) -> bool:
    """Whether a preference is tied to the task at hand: "for this project use tabs"."""
    return TASK_MARK.search(text) is not None
