"""What is part of what, as far as it matters for the body: crayfish is shellfish, Sichuan food is hot (H15).

A fact avoids a thing (an allergy, a limit, a diet, a dislike that is a rule) or takes it (a like, a habit). One that
takes a kind of what another avoids may not fit together with it: that is asked about, never decided. The lists are
closed and short on purpose: a doubt that is no doubt costs the user a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

from tables.candidate import Kind, Polarity

CONCEPTS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "shellfish": r"小龙虾|虾|蟹|贝|生蚝|牡蛎|扇贝|\b(?:shellfish|cray-?fish|crawfish|shrimps?|prawns?|crabs?)\b"
        r"|\b(?:lobsters?|oysters?|mussels?|clams?|scallops?)\b",
        "fish": r"鱼|三文鱼|寿司|刺身|\b(?:fish|salmon|tuna|cod|sushi|sashimi|anchov\w+)\b",
        "seafood": r"海鲜|\bsea ?food\b",
        "spicy": r"辣|川菜|湘菜|火锅|麻辣烫|冒菜|\b(?:spicy|sichuan|szechuan|hot ?pot|vindaloo|chill?i(?:es)?)\b"
        r"|\b(?:jalape\w+|hot sauce)\b",
        "meat": r"牛排|烤肉|猪肉|羊肉|牛肉|鸡肉|红烧肉|培根|香肠|\b(?:meat|steaks?|rib-?eye|bacon|sausages?)\b"
        r"|\b(?:burgers?|pork|beef|lamb|chicken|ham|ribs|brisket)\b",
        "dairy": r"牛奶|奶酪|芝士|酸奶|奶茶|拿铁|冰淇淋|乳糖"
        r"|\b(?:dairy|milk|cheese|yogh?urt|lattes?|cream|milkshakes?|lactose)\b",
        "peanuts": r"花生|\bpeanuts?\b|\bsatay\b|沙茶",
        "nuts": r"坚果|核桃|杏仁|腰果|\b(?:nuts?|almonds?|walnuts?|cashews?|hazelnuts?|pecans?|marzipan)\b",
        "gluten": r"麸质|面包|面条|馒头|饺子|披萨|\b(?:gluten|bread|pasta|noodles|pizza|bagels?|croissants?|wheat)\b",
        "sugar": r"糖分|蛋糕|甜品|全糖|\b(?:sugar|cakes?|sweets|candy|full sugar|desserts?)\b",
        "alcohol": r"酒(?!店|吧台|精)|啤酒|红酒|白酒|\b(?:alcohol|beers?|wines?|whisk(?:e)?y|cocktails?|vodka|gin)\b",
        "caffeine": r"咖啡(?!色|馆)|浓茶|\b(?:caffeine|coffee|espresso|lattes?|energy drinks?)\b",
        "eggs": r"鸡蛋|蛋羹|\b(?:eggs?|omelet(?:te)?s?|mayonnaise)\b",
        "mango": r"芒果|\bmango(?:e?s)?\b",
        "cats": r"猫(?!头鹰)|\b(?:cats?|kittens?)\b",
        "dogs": r"狗|\b(?:dogs?|pupp(?:y|ies))\b",
    }.items()
}  # fmt: skip
_PARENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "shellfish": ("seafood",),
    "fish": ("seafood", "animal"),
    "seafood": ("animal",),
    "meat": ("animal",),
    "peanuts": ("nuts",),
}
_DIETS: Final[tuple[tuple[re.Pattern[str], frozenset[str]], ...]] = (
    (re.compile(r"纯素|\bvegan\b", re.IGNORECASE), frozenset({"animal", "dairy", "eggs"})),
    (re.compile(r"吃素|素食|\bvegetarian\b", re.IGNORECASE), frozenset({"animal"})),
    (re.compile(r"控糖|戒糖|糖尿病|\bdiabet\w+", re.IGNORECASE), frozenset({"sugar"})),
    (re.compile(r"痛风|\bgout\b", re.IGNORECASE), frozenset({"shellfish", "alcohol"})),
    (re.compile(r"乳糖不耐|\blactose intoleran\w+", re.IGNORECASE), frozenset({"dairy"})),
    (re.compile(r"\bco?eliac\b|乳糜泻", re.IGNORECASE), frozenset({"gluten"})),
)
_AVOIDING_SLOTS: Final = ("health.allergy", "health.limit", "health.advice", "boundary.")
_TAKING: Final = frozenset({Kind.PREFERENCE, Kind.FACT, Kind.PLAN})


class Statement(Protocol):
    @property
    def kind(self) -> Kind: ...
    @property
    def subject(self) -> str: ...
    @property
    def slot(self) -> str: ...
    @property
    def polarity(self) -> Polarity: ...
    @property
    def content(self) -> str: ...


def named(text: str) -> frozenset[str]:
    """The concepts that `text` names, with what they are part of."""
    found = {name for name, pattern in CONCEPTS.items() if pattern.search(text)}
    for _ in range(2):
        found |= {parent for name in found for parent in _PARENTS.get(name, ())}
    return frozenset(found)


def avoided(fact: Statement) -> frozenset[str]:
    """What the user keeps away from by this fact: exactly what is named, or what a diet or an illness forbids."""
    for pattern, concepts in _DIETS:
        if pattern.search(fact.content) and fact.polarity is Polarity.POSITIVE:
            return concepts
    keeps_away = fact.slot.startswith(_AVOIDING_SLOTS) and fact.polarity is Polarity.POSITIVE
    dislikes = fact.kind is Kind.PREFERENCE and fact.polarity is Polarity.NEGATIVE
    if not keeps_away and not dislikes:
        return frozenset()
    return frozenset(name for name, pattern in CONCEPTS.items() if pattern.search(fact.content))


def taken(fact: Statement) -> frozenset[str]:
    """What the user has or seeks by this fact, with everything that is a part of."""
    if fact.kind not in _TAKING or fact.polarity is Polarity.NEGATIVE or avoided(fact):
        return frozenset()
    return named(fact.content)


def clash(one: Statement, other: Statement) -> bool:
    """Whether one avoids what the other takes; the words of both need not meet at all."""
    return bool(avoided(one) & taken(other) or avoided(other) & taken(one))
