"""Readings that look like a fact and say nothing lasting: "I have another question", 我打算去散步."""

from __future__ import annotations

import re

_PARTICIPLES = (
    r"been|come|gone|taken|found|made|seen|heard|done|read|thought|lost|learn(?:ed|t)|had|got|given|told|said|felt|"
    r"written|spoken|eaten|drunk|begun|started|become|chosen|fallen|forgotten|grown|known|left|let|met|put|run|sent|"
    r"slept|spent|stood|tried|understood|won|worn|\w+ed"
)
_EN = {
    "preference.habit": r"(?:feel|think|wonder|worry|hope|believe|thought|felt|forget|lose|fail|struggle"
    r"|get (?:nervous|lost|stuck)"
    r"|want|need|wanted|say|said|guess|end up|knew|know|love you|consider (?:it|that))\b|.*\b(?:this"
    r"|that) (?:process|problem)\b",
    "preference.likes": r"(?:talk|share|know|see|hear|ask|tell|thank|say|discuss|try|chat|learn more|then|to|you"
    r"|your|give|add|point out"
    r"|be able|find out|feeling of|themes? of|read your)\b.*|.* with you|.* (?:in|of) (?:the|this|that) (?:movie"
    r"|film|book|scene|show)",
    "plan.intent": r"(?:take (?:a|some) (?:walk|break|nap|rest|look|time)|watch (?:a|some) |relax|chat|talk|share"
    r"|try (?:it|this|that|making|some)"
    r"|find (?:some|out|a (?:way|movie|book))|choose|go for a (?:walk|run|drive)|have (?:dinner|lunch|breakfast|a"
    r"|some)|eat|sleep|rest|wear"
    r"|bring|browse|do some|go on adventures|how to|learn (?:from|more|how to (?:better|manage))|make (?:some|it)"
    r"|get some|be |become (?:a )?better|improve"
    r"|write (?:a|an|some) (?:essay|email|letter|poem|story)|buy some|go (?:out|home|to (?:bed|the (?:shop|store"
    r"|gym)|some)))\b.*|.* with you",
    "plan.away": r"(?:to )?(?:have|do|be|get|make|take|go|try|see|sleep|eat|watch|ask|tell|say|need|use|talk|write"
    r"|read|add|check|start|stop|give"
    r"|well|crazy|through|over|back|on|mad|insane|nuts|good|fine)\b.*|$",
    "fact.owns": rf"(?:also |recently |just |already |never |even |not |only |really |always )*(?:{_PARTICIPLES})\b.*"
    r"|(?:also |another |a |some |no |any |more |one |\w+ more )*(?:questions?|idea|problems?|energy|time|fun"
    r"|feeling|trouble|doubts?|worr(?:y|ies)"
    r"|difficult\w+|obstacles?|thoughts?|requests?|suggestions?|plans?|experience|weekend)\b.*|every \w+",
    "identity.occupation": r"(?:considering|learning|trying|looking|thinking|planning|going|getting|feeling|hoping"
    r"|seeing|some|talking|waiting|reading"
    r"|training for|preparing)\b.*|.* preparations",
    "fact.about": r".*\bis (?:holding|going|having|doing|making|getting|coming)\b.*",
    "fact.attribute": r"(?:been|said|told)\b.*",
    "commitment.event": r"",
}
_ZH = {
    "preference.habit": r"(?:都|也|会|又)*(?:感觉|感到|觉得|在想|沉浸|担心|想|怀疑|以为|失眠了|考虑)|.*了$|.*一次$",
    "preference.likes": r"(?:的是|是|这|那|你|里面|其中|让|听你|和你).*|.*中(?:传递|表现|的).*",
    "plan.intent": r"(?:去|先|出去|再|是否|要不要)*(?:散散?步|看(?:一?场|部)?电影|出去|放松|休息|睡|吃饭|试|看看"
    r"|郊游|刷|聊|问|想|拿|好好)|是否.*|.*(?:一下|看看|试试)$",
    "fact.owns": r"(?:一个|个|一些|什么|任何|太多|很多|过|更多|几个|想|去|得到|看|听|找|考虑)*(?:烦恼|疑问|问题|想法"
    r"|建议|请求|疑惑|困扰|梦想|计划|感受|体会|地方|机会|经验"
    r"|压力|时间|预算|收获|心得|目标|意见|[^，。]{0,4}的(?:时间|预算|感觉|项目|事情)).*|(?:想|去|得|看|听|找|考虑"
    r"|发现|注意|意识|感到)[^，。]*",
    "commitment.event": r"",
    "commitment.promise": r".*(?:不太理想|了几年|工作了).*",
}
_VAIN = {
    True: {slot: re.compile(pattern) for slot, pattern in _ZH.items() if pattern},
    False: {slot: re.compile(pattern, re.IGNORECASE) for slot, pattern in _EN.items() if pattern},
}
_NO_EVENT = re.compile(
    r"(?:面试|考试|比赛|手术|婚礼|体检)[^，。]{0,4}(?:机会|技能|经验|问题|题|技巧|内容|结果|官|可以看|有时间|好看)"
    r"|(?:哪|看|查|没|没有|如果)[^，。]{0,8}(?:面试|考试|比赛)"
    r"|\b(?:exam|interview|test|race|surgery|wedding)s? (?:opportunit\w+|experience|questions?|tips?|skills?"
    r"|results?)",
    re.IGNORECASE,
)
_INSTANT = re.compile(r"(?:目|当|以|先|眼|提|之)前")


def vain(slot: str, value: str, text: str, zh: bool) -> bool:
    """Whether a rule's reading of `text` is to be passed over."""
    name = ".".join(slot.split(".", 2)[:2])
    if name == "commitment.event":
        return _NO_EVENT.search(text) is not None
    if (
        name == "commitment.promise"
        and zh
        and _INSTANT.search(text)
        and not re.search(
            r"答应|保证|承诺|约"
            r"|之前",
            text,
        )
    ):
        return True
    pattern = _VAIN[zh].get(name)
    return pattern is not None and pattern.match(value) is not None
