"""The worth-writing law's first tier: what in a turn is surely not a memory, told in a few microseconds.

`screen` looks at every turn; what it lets pass goes on to `tables.extractive`, which judges clause by clause and drops
for the rest of these reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from tables.small_talk import is_small_talk
from tables.turn import Role, Turn


class Drop(StrEnum):
    """Why something said did not become a candidate: the closed set."""

    ASSISTANT = "assistant"  # assistant, system and tool say nothing about the user
    NO_CONSENT = "no_consent"
    SMALL_TALK = "small_talk"
    QUESTION = "question"
    REQUEST = "request"  # an errand for now: "translate this"
    HYPOTHETICAL = "hypothetical"
    QUOTATION = "quotation"
    THIRD_PARTY = "third_party"
    INSTRUCTION = "instruction"  # aimed at the system, not at the service: "ignore all rules"
    INJECTED = "injected"  # the engine's own prompt text, quoted back
    AUTHORITATIVE = "authoritative"  # a business system knows it better: an order's status
    MOMENTARY = "momentary"
    SESSION_WISH = "session_wish"
    SENSITIVE_REFUSED = "sensitive_refused"
    TOO_LONG = "too_long"
    NOT_WORTH = "not_worth"


# Labels of the sections of an assembled context. A recall renders them; a turn that holds one is quoting it.
SECTION_LABELS: tuple[str, ...] = (
    "[stable context]",
    "[reference context]",
    "[session state]",
    "[session summary]",
    "[session window]",
    "[knowledge evidence]",
    "[current question]",
    "【稳定上下文】",
    "【参考上下文】",
    "【会话状态】",
    "【会话摘要】",
    "【会话窗口】",
    "【知识库证据】",
    "【当前问题】",
)

# Kinds that a business system holds: name → what is said about them. A tenant may take another table.
AUTHORITATIVE: Mapping[str, re.Pattern[str]] = {
    "order_status": re.compile(
        r"(?:订单|快递|包裹|物流|退款|退货|运单).{0,12}"
        r"(?:状态|到哪|发货|签收|派送|在路上|到账|处理|审核|完成|取消|显示)"
        r"|\b(?:order|parcel|package|shipment|refund|delivery)\b.{0,40}"
        r"\b(?:shipped|delivered|dispatched|status|tracking|arrived|in transit|pending|cancell?ed|on its way)\b",
        re.IGNORECASE,
    ),
    "ticket_status": re.compile(
        r"(?:工单|售后单|投诉|报修)(?:.{0,8})(?:状态|处理|受理|解决|关闭|进度)"
        r"|\b(?:ticket|case|claim)\b.{0,30}\b(?:open|closed|resolved|pending|escalated|status)\b",
        re.IGNORECASE,
    ),
    "subscription": re.compile(
        r"(?:会员|套餐|订阅).{0,8}(?:到期|续费|状态|等级)"
        r"|\b(?:subscription|membership)\b.{0,30}\b(?:expires?|renews?|active|tier)\b",
        re.IGNORECASE,
    ),
    "account_balance": re.compile(
        r"(?:账户|卡里|余额|积分).{0,6}(?:余额|还剩|剩)|\b(?:account )?balance (?:is|was)\b", re.I
    ),
}

SHORT = 60  # characters: small talk is not longer
QUESTION_MAX = 300
_CUE_WINDOWS = 16


def screen(turn: Turn, consent: bool) -> Drop | None:
    """Why `turn` needs no extraction, or None when it goes on. `consent` is the grant in force at the turn's time.

    Time is bounded by the length of the content: some microseconds for a short turn, milliseconds for the longest.
    """
    if turn.role is not Role.USER:
        return Drop.ASSISTANT
    if not consent:
        return Drop.NO_CONSENT
    text = turn.content.strip()
    if len(text) <= SHORT and is_small_talk(text):
        return Drop.SMALL_TALK
    lowered = text.lower()
    if any(label in lowered for label in SECTION_LABELS):
        return Drop.INJECTED
    if is_instruction(lowered):
        return Drop.INSTRUCTION
    if len(text) <= QUESTION_MAX and is_bare_question(text):
        return Drop.QUESTION
    return None


_CUES_EN = (
    "ignore", "disregard", "override", "system:", "system prompt", "you are now", "<|", "[inst", "jailbreak",
    "developer mode", "no restrictions", "unrestricted", "administrator", "admin", "obey", "your rules",
    "your instructions", "assistant:", "<system", "### ", "pretend you have no",
)  # fmt: skip
_CUES_ZH = (
    "忽略", "无视", "系统提示", "系统：", "系统:", "管理员", "不受", "越狱", "开发者模式",
    "服从", "听从", "只听我", "绕过", "抛开", "忘掉", "你的规则",
)  # fmt: skip
_LATIN = re.compile(r"[a-z<\[#]")
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|override|forget|bypass)\b[^.!?\n]{0,40}"
    r"\b(?:instructions?|rules?|prompts?|guidelines?|restrictions?|polic(?:y|ies)|everything above)\b"
    r"|(?:^|[\n:\"'“(\[>]|remember[:,]?\s*|[.!?]\s)\s*(?:system|assistant|developer)\s*[:：]"
    r"|<\|?/?(?:im_start|im_end|system|endoftext|inst)\b|\[/?inst\]|^#{2,4}\s*(?:system|instruction|new rules?)"
    r"|\byou are now\b|\bdeveloper mode\b|\bjailbreak|\b(?:have|with|under) no (?:restrictions|rules|limits)\b"
    r"|\bunrestricted\b.{0,20}\b(?:ai|model|assistant|mode)\b|\bpretend you have no\b"
    r"|\bi(?:'m| am) (?:the |an? |your )?(?:system )?(?:admin|administrator|root|developer)\b.{0,60}"
    r"\b(?:obey|rules?|access|override|remember|must|grant|show|always)\b"
    r"|\b(?:remember|rule|note)\b[^.\n]{0,30}\bi(?:'m| am) (?:the |an? |your )?(?:system )?admin"
    r"|\b(?:always|only|must)\b[^.\n]{0,12}\bobey\b|\bobey (?:only )?(?:me|the user)\b"
    r"|\b(?:show|reveal|print|repeat|output)\b[^.\n]{0,30}\b(?:system prompt|your instructions|your rules)\b"
    r"|(?:忽略|无视|绕过|忘掉|抛开|跳过)[^。！？\n]{0,20}(?:指令|规则|提示词?|设定|限制|约束|要求)"
    r"|(?:^|[\n：:“\"，,。]|记住|记下)\s*(?:系统|管理员|开发者)(?:提示|消息|指令|命令)?\s*[:：]"
    r"|系统提示词|不受(?:任何)?(?:约束|限制)|越狱|开发者模式"
    r"|(?:我是|当成|作为)(?:你的|系统|超级)*管理员|(?:只|必须|永远|一直)(?:服从|听从|听)(?:我|用户)"
)


def is_instruction(lowered: str) -> bool:
    """Whether lower-cased text tries to instruct the system itself. Looks near cue words only."""
    cues = () if lowered.isascii() else _CUES_ZH
    if _LATIN.search(lowered):
        cues = (*cues, *_CUES_EN)
    for cue in cues:
        at = lowered.find(cue)
        for _ in range(_CUE_WINDOWS):
            if at < 0:
                break
            if _INSTRUCTION.search(lowered, max(0, at - 60), at + 120):
                return True
            at = lowered.find(cue, at + 60)
    return False


_CLAUSE_SPLIT = re.compile(
    r"(?<=[?？])|[。！!；;\n，,、—]|\.(?:\s|$)| - | so (?=what|which|how|is |are |can "
    r"|should )"
)
_ASKS_ZH = re.compile(
    r"(?:[吗么呢]|(?<![有还我也都从并就])没有?"
    r"|(.)[不没]\1[^，。]{0,8}|到底.{0,20}还是.{1,20}|多少|几[个点天号时]?|怎么[办样]?|什么|啥|哪[个里儿些家]?"
    r"|谁|咋回事|为啥"
    r"|(?:啥|什么)(?:你|帮我)?(?:说|猜|看)+看?)"
    r"[呀啊呢吧来着的了]{0,3}[?？]*$"
    r"|^(?:请问|为什么|为啥|怎么|怎样|如何|什么|哪|谁|几|多少|啥|咋)"
    r"|^(?:是不是|有没有|能不能|可不可以|要不要|会不会|你(?:知道|记得|觉得|能|会|还记得|说))"
)
_ASKS_EN = re.compile(
    r"^(?:and |so |but |ok(?:ay)?,? |hey,? |hi,? |well,? )*(?:(?:what|which|whose|whom)\b(?! (?:a|an)\b)"
    r"|(?:why|how|when|where|who)(?:'s|\s+(?:is|are|was|were|do|does|did|can|could|would|will|should|has|have|come"
    r"|much|many|long|far|often|to))\b"
    r"|(?:is|are|was|were|do|does|did|can|could|would|will|should|shall|may|am|has)\s+(?!not\b)(?:i|you|we|they|he"
    r"|she|it|there|this|that|the|my|your|a|an|any|someone|\w+s)\b"
    r"|have you|any idea|tell me)",
    re.IGNORECASE,
)
_STATES_SELF = re.compile(
    r"我(?!的)|咱|俺|本人|\b(?:i|i'm|i've|im|ive|my|we|we're|we've|our|me)\b|预算|考试|面试|手术|婚礼|对.{1,8}过敏"
    r"|\b(?:exam|interview|wedding|surgery|budget)\b",
    re.IGNORECASE,
)


def asks(clause: str) -> bool:
    """Whether a clause is put as a question, with or without its mark."""
    stripped = clause.rstrip(" \"'”’)）~")
    if stripped.endswith(("?", "？")):
        return True
    if stripped.isascii():
        return _ASKS_EN.match(stripped) is not None
    return _ASKS_ZH.search(stripped) is not None


_GIVES_REASON = re.compile(
    r"\b(?:since|because|given that|considering|as i|cause|i'm|i am|i have|with my)\b|因为|由于|考虑到|毕竟"
)


def is_bare_question(text: str) -> bool:
    """A question that states nothing about its asker besides asking."""
    if not asks(text):
        return False
    clauses = [piece for piece in _CLAUSE_SPLIT.split(text) if piece.strip()]
    if any(_STATES_SELF.search(piece) and not asks(piece) for piece in clauses):
        return False
    last = clauses[-1] if clauses else text
    return len(clauses) <= 4 and not _GIVES_REASON.search(last.lower())
