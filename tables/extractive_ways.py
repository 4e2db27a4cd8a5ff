"""Ways a thing is had: full sugar, no ice, black, decaf; and the thing they are said of."""

from __future__ import annotations

import re

from tables.text import normalised

# (dimension, words): the ways a thing is had. A way of the same dimension takes the place of the one before.
_WAYS = {
    "sugar": r"全糖|七分糖|半糖|[三五]分糖|微糖|少糖|无糖|不加糖|低糖|去糖|代糖|多糖|full[- ]sugar|half[- ]sugar"
        r"|less sugar|no sugar|sugar[- ]free"
    r"|unsweetened|(?:with )?(?:one|two|three|no|extra) sugars?|sweetened",
    "ice": r"去冰|少冰|多冰|正常冰|加冰|不加冰|no ice|less ice|extra ice|(?:on the rocks)",
    "heat": r"热的|冰的|常温|温的|iced|piping hot",
    "spice": r"微微辣|微辣|中辣|特辣|变态辣|重辣|不辣|免辣|不要辣|少辣|mild|medium spicy|extra spicy|not spicy"
        r"|no chilli",
    "milk": r"黑的|加奶|不加奶|燕麦奶?|全脂|脱脂|black|with (?:oat|soy|almond|skim(?:med)?|whole)? ?milk|oat milk"
        r"|soy milk|skimmed|without milk",
    "size": r"超大杯|大杯|中杯|小杯|large|extra large|small",
    "strength": r"低因|无咖啡因|decaf(?:feinated)?|double shot|extra strong",
    "doneness": r"全熟|[三五七]分熟|well[- ]done|medium[- ]rare|medium[- ]well",
}  # fmt: skip
_WAY = re.compile("|".join(f"(?P<{name}>{words})" for name, words in _WAYS.items()), re.IGNORECASE)
_WAY_BEFORE_ZH = re.compile(r"(?:喜欢|爱|偏爱|习惯|一般|平时|都|只|要|点|喝|吃|来)+(?:喝|吃|点|要|的是)*$")
_HEAD_AFTER_ZH = re.compile(r"的?(?P<v>(?![的了吧就])[\u4e00-\u9fff]{1,5}?)(?:了|的|吧|就行|就好|即可)*(?:$|[，。！])")
_HEAD_BEFORE_ZH = re.compile(
    r"(?:以后|今后|从现在起|往后|每次|平时|我的?|请|帮我|给我|喝|吃|点|买|要|的)*(?P<v>[\u4e00-\u9fff]{1,5}?)(?:我"
    r"|就|都|也|得|必须|请|只|全|一律|统一|给我|改成?|换成?)*"
    r"(?:点|喝|要|选|来|吃|加|买|换成|改成|改喝|改|用|做|是)(?:了|成)?$"
)
_HEAD_BEFORE_EN = re.compile(
    r"\b(?:take|like|drink|have|order|want|prefer|make|get|serve|need|love|switch)(?:s|d)?\s+(?:my|the|all my|his"
    r"|any)\s+(?P<v>[\w-]+(?: [\w-]+)?)"
    r"(?:\s+(?:to be|to|as|is|are|with))?\s*$|^(?:my |the )?(?P<w>[\w-]+(?: [\w-]+)?) (?:should be|must be|has to be"
    r"|always)\s*$",
    re.IGNORECASE,
)
_HEAD_AFTER_EN = re.compile(
    r"\s+(?P<v>(?!and|but|or|please|from|now|in|for|with|on|at)[a-z-]+(?: (?:tea|milk|coffee"
    r"|juice|latte|curry))?)\b",
    re.IGNORECASE,
)
_VERB_EN = re.compile(r"\b(?:take|like|drink|have|order|want|prefer|get|love|only|use)\b[^,.;]{0,16}$", re.IGNORECASE)


def way(text: str, zh: bool) -> tuple[str, str] | None:
    """(slot, value) of how a thing is had: ("preference.way.奶茶.sugar", "无糖"); None when none is said."""
    found = _WAY.search(text)
    if found is None or found.lastgroup is None:
        return None
    before, after = text[: found.start()], text[found.end() :]
    head = _head_zh(before, after) if zh else _head_en(before, after)
    if not head:
        return None
    value = normalised(found[0])
    return f"preference.way.{normalised(head)}.{found.lastgroup}", value.removesuffix("的")


_NO_HEAD = re.compile(r"我|就|都|.{0,2}(?:开始|现在|喜欢|可以|能|会|想|爱|只|一般|平时|习惯|也|又|尝试).{0,2}")


def _head_zh(before: str, after: str) -> str:
    follow = _HEAD_AFTER_ZH.match(after)
    if follow and (_WAY_BEFORE_ZH.search(before) or not before):
        return follow["v"]
    lead = _HEAD_BEFORE_ZH.search(before)
    return lead["v"] if lead and not _NO_HEAD.fullmatch(lead["v"]) else ""


def _head_en(before: str, after: str) -> str:
    lead = _HEAD_BEFORE_EN.search(before)
    if lead:
        return lead["v"] or lead["w"] or ""
    follow = _HEAD_AFTER_EN.match(after)
    return follow["v"] if follow and _VERB_EN.search(before) else ""
