"""Sensitive classes of a text: by check sum, pattern and cue, in bounded time, and the masking of what is refused."""

from __future__ import annotations

import re
from itertools import islice

from tables.candidate import Sensitivity
from tables.policy import Policy, Sensitive

_SPANS_MAX = 64  # found per class and text: a text with more is a list, and one is enough to judge it
_DIGITS = re.compile(r"(?<![0-9A-Za-z])[0-9](?:[ -]?[0-9]){11,18}[Xx]?(?![0-9A-Za-z])")
_PASSPORT = re.compile(
    r"(?:passport|护照|通行证)(?: (?:number|no\.?|is)|号码?|是|为|[:： #]){1,6}(?P<v>[A-Za-z]{0,2}[0-9]{6,9})",
    re.IGNORECASE,
)
_SSN = re.compile(r"(?<![0-9-])(?!000|666|9)[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9-])")
_IBAN = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?![0-9A-Za-z])")
_NAMED_ID = re.compile(
    r"(?:身份证|证件号|社保号?|居民证|id ?card|identity (?:card|number)|national id|id number|social security|ssn"
    r"|\bnino\b)"
    r"[^0-9\n]{0,16}?(?P<v>[0-9][0-9 -]{6,20}[0-9Xx])(?![0-9])",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"(?:\b(?:account|acct|card)\b(?: (?:number|no\.?|is)|[:： #]){1,6}"
    r"|(?:卡号|账号|账户|银行卡|信用卡|储蓄卡)(?:号码?|是|为|[:： #]){0,6})"
    r"(?P<v>[0-9][0-9 -]{6,24}[0-9])",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(
    r"(?:pass ?word|passwd|pwd|passcode|pin(?: code)?|api[ _-]?key|secret(?:[ _-]key)?|access[ _-]token|otp|cvv|cvc"
    r"|密码|口令|验证码|密钥|动态码|支付码)(?:[^\S\n]|is\b|now\b|was\b|[:：=]|是|为|改成|设成|就是){1,6}"
    r"(?P<v>[^\s，,。；;]{3,80})"
    r"|(?P<w>(?<![A-Za-z0-9])(?:sk|pk|ghp|gho|xox[abp]|AKIA|AIza)[-_A-Za-z0-9]{16,80})",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}", re.ASCII)
_PHONE = re.compile(
    r"(?<![0-9A-Za-z.])(?:(?:\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}|0[0-9]{2,3}-[0-9]{7,8}"
    r"|\+[0-9]{1,3}(?:[ .-]?\(?[0-9]{1,4}\)?){2,5}|\(?[2-9][0-9]{2}\)?[ .-][2-9][0-9]{2}[ .-][0-9]{4}"
    r"|0[0-9]{3,4} [0-9]{5,7})(?![0-9A-Za-z])"
)
MASK = "█"  # one for each character that was refused, so that spans stay what they are
_MASKED = re.compile(f"{MASK}{{3,}}")
_NUMBERS = re.compile(r"[0-9](?:[ -]?[0-9]){5}")
_CUES = (
    "pass", "pwd", "pin", "key", "secret", "token", "otp", "cvv", "cvc", "sk-", "pk-", "ghp", "akia", "aiza", "xox",
    "@", MASK, "密码", "口令", "验证码", "密钥", "动态码", "支付码",
)  # fmt: skip
_MONEY = re.compile(
    r"工资|月薪|年薪|薪水|收入|存款|房贷|车贷|负债|欠债|信用卡|公积金|股票|基金|报销"
    r"|\b(?:salary|income|mortgage|savings|debts?|loan|net worth|credit card|earn|pension)\b",
    re.IGNORECASE,
)


def found(text: str) -> list[tuple[int, int, Sensitivity]]:
    """Spans to mask where a class is refused: numbers, credentials and contacts, in order, none overlapping."""
    spans: list[tuple[int, int, Sensitivity]] = []
    for pattern, group, kind in _FINDERS:
        for match in islice(pattern.finditer(text), _SPANS_MAX):
            piece = group if group and match[group] else "w" if group == "v" and "w" in match.groupdict() else 0
            start, end = match.span(piece)
            if kind is Sensitivity.IDENTITY_NUMBER and pattern is _DIGITS and not _is_checked(match[0]):
                continue
            if all(end <= taken or start >= stop for taken, stop, _ in spans):
                spans.append((start, end, kind))
    return sorted(spans)


def _may_hold(text: str) -> bool:
    lowered = text.lower()
    return any(cue in lowered for cue in _CUES) or _NUMBERS.search(text) is not None


def masked(text: str, policy: Policy) -> str:
    """`text` with every number, credential or contact that the tenant refuses covered, of the same length.

    A text that holds nothing of the kind costs a microsecond or two and comes back as it is.
    """
    if not _may_hold(text):
        return text
    for start, end, kind in found(text):
        if policy.sensitive.get(kind, Sensitive.ALLOW) is Sensitive.REFUSE:
            text = text[:start] + MASK * (end - start) + text[end:]
    return text


def sensitivity(text: str) -> Sensitivity:
    """The gravest class in `text`; NONE when nothing shows. Health is told by a fact's slot, not here."""
    kinds = {kind for _, _, kind in found(text)} if _may_hold(text) else set()
    if _MASKED.search(text):
        kinds.add(Sensitivity.IDENTITY_NUMBER)
    for kind in (Sensitivity.CREDENTIAL, Sensitivity.IDENTITY_NUMBER, Sensitivity.CONTACT):
        if kind in kinds:
            return kind
    return Sensitivity.FINANCE if _MONEY.search(text) else Sensitivity.NONE


def _is_checked(number: str) -> bool:
    """A resident identity number by its date (a mistyped one is one too), or a card number by Luhn's sum."""
    plain = number.replace(" ", "").replace("-", "").upper()
    if len(plain) == 18 and _is_resident_id(plain):
        return True
    return plain.isdigit() and 13 <= len(plain) <= 19 and len(set(plain)) > 1 and _luhn(plain)


def _is_resident_id(plain: str) -> bool:
    if not plain[:17].isdigit() or plain[6:8] not in ("18", "19", "20"):
        return False
    return 1 <= int(plain[10:12]) <= 12 and 1 <= int(plain[12:14]) <= 31


def _luhn(plain: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(plain)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


_FINDERS = (
    (_CREDENTIAL, "v", Sensitivity.CREDENTIAL),
    (_DIGITS, "", Sensitivity.IDENTITY_NUMBER),
    (_SSN, "", Sensitivity.IDENTITY_NUMBER),
    (_IBAN, "", Sensitivity.IDENTITY_NUMBER),
    (_PASSPORT, "v", Sensitivity.IDENTITY_NUMBER),
    (_NAMED_ID, "v", Sensitivity.IDENTITY_NUMBER),
    (_ACCOUNT, "v", Sensitivity.IDENTITY_NUMBER),
    (_EMAIL, "", Sensitivity.CONTACT),
    (_PHONE, "", Sensitivity.CONTACT),
)


_GRAVITY = (
    Sensitivity.NONE,
    Sensitivity.FINANCE,
    Sensitivity.CONTACT,
    Sensitivity.HEALTH,
    Sensitivity.IDENTITY_NUMBER,
    Sensitivity.CREDENTIAL,
)


def gravest(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    """The class that is kept with more care."""
    return max(one, other, key=_GRAVITY.index)
