"""In which respect a preference speaks of a thing: how spicy, how sweet, which size, which language.

A closed list of respects that people change their minds about. Two preferences of one respect and one thing cannot both
hold: the later one, when it says that it holds from now on, takes the place of the earlier. Another respect of the same
thing ("coffee with oat milk", "coffee in a small cup") is another preference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

RESPECTS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "spice": r"辣|清淡|重口|\bspic(?:y|e|iness)\b|\bchill?ie?s?\b|\bmild(?:ly)?\b|\bhot sauce\b",
        "sweetness": r"糖|甜|\b(?:un)?sweet(?:ened|er|ness)?\b|\bsugar(?:y|-?free)?\b",
        "size": r"大杯|中杯|小杯|超大|\b(?:large|small|medium|big|tall|grande|venti) ?(?:cup|size|one)?\b",
        "temperature": r"冰的?|去冰|少冰|热的|常温|温的|\b(?:iced?|hot|cold|warm|lukewarm)\b",
        "milk": r"燕麦奶|豆奶|全脂|脱脂|\b(?:oat|soy|almond|whole|skim(?:med)?|semi-skimmed) ?milk\b",
        "shape": r"列表|要点|分点|表格|段落|散文|bullet|\b(?:tables?|prose|paragraphs?|lists?|charts?|diagrams?)\b",
        "length": r"简短|简洁|详细|长篇|短一?点"
        r"|\b(?:short|brief|concise|detailed|lengthy|long|in depth|one.?liners?)\b",
        "language": r"英[文语]|中文|普通话|粤语|日[文语]|法[文语]|德[文语]|西班牙语|繁体|简体"
        r"|\b(?:english|chinese|mandarin|cantonese|french|german|spanish|japanese|italian|portuguese|korean)\b",
        "tone": r"正式|随意|幽默|严肃|客气|\b(?:formal|informal|casual|funny|serious|polite|blunt|friendly tone)\b",
        "channel": r"打字|文字|语音|电话|短信|微信|邮件|\b(?:voice|text(?:s|ing)?|phone|calls?|e-?mail|sms|typing)\b",
        "medium": r"电子|纸质|纸本|\b(?:paper|digital|electronic|pdf|printed)\b",
        "seat": r"靠窗|窗边|过道|走道|\b(?:aisle|window)\b",
        "units": r"公里|英里|公斤|磅|摄氏|华氏|\b(?:metric|imperial|kilomet(?:re|er)s|miles|celsius|fahrenheit)\b",
        "currency": r"人民币|美元|欧元|英镑|日元|\b(?:euros?|dollars?|pounds?|yuan|rmb|usd|eur|gbp)\b",
        "theme": r"深色|浅色|暗色|\b(?:dark|light) (?:mode|theme)s?\b",
    }.items()
}

_THINGS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "coffee": r"咖啡|拿铁|美式|卡布|\b(?:coffee|latte|flat white|cappuccino|espresso|americano)\b",
        "tea": r"(?<!奶)茶|\b(?<!milk )tea\b|matcha|抹茶",
        "milk tea": r"奶茶|\b(?:milk|bubble) tea\b",
        "soup": r"汤|\bsoups?\b",
        "reports": r"报告|周报|月报|\breports?\b",
        "mail": r"邮件|\be?-?mails?\b",
        "slides": r"幻灯|PPT|\bslides?\b|\bdecks?\b",
        "code": r"代码|脚本|\bcode\b|\bscripts?\b",
        "invoices": r"发票|\binvoices?\b|\breceipts?\b",
        "flights": r"机票|飞机|航班|\bflights?\b|\bplanes?\b",
        "trains": r"火车|高铁|动车|\btrains?\b",
        "hotels": r"酒店|宾馆|\bhotels?\b",
        "summaries": r"摘要|总结|\bsummar(?:y|ies)\b",
        "minutes": r"纪要|\bminutes of\b|\bmeeting notes\b",
    }.items()
}


def respects(text: str) -> frozenset[str]:
    """The respects that `text` speaks of."""
    return frozenset(name for name, pattern in RESPECTS.items() if pattern.search(text))


def things(text: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _THINGS.items() if pattern.search(text))


def same_respect(one: str, other: str) -> bool:
    """Whether two preferences speak of one respect of one thing; what names no thing speaks of all."""
    if not respects(one) & respects(other):
        return False
    mine, theirs = things(one), things(other)
    return not mine or not theirs or bool(mine & theirs)
