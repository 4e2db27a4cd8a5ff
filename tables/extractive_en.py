"""English rules in the order in which they are tried, and facts about the family."""

from __future__ import annotations

from tables import extractive_en_body, extractive_en_life, extractive_en_self

RULES = extractive_en_body.RULES + extractive_en_self.RULES + extractive_en_life.RULES

_REL = (
    r"wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|son|daughter|kids?|child(?:ren)?|baby|toddler"
    r"|twins?|mum|mom|mother|dad|father|parents|brothers?|sisters?|siblings?|grand(?:ma|pa|mother|father|son"
    r"|daughter|parents)"
    r"|gran|granny|nan|in-laws|step\w+|(?:mother|father|brother|sister)-in-law|dogs?|cats?|puppy|kitten|parrot"
    r"|rabbit|hamster|horse|pets?|tortoise|fish|youngest|eldest|oldest"
)

FAMILY = (
    rf"(?:(?:my|our) |(?=(?:husband|wife|partner|mum|mom|dad|son|daughter|boyfriend"
    rf"|girlfriend)\b))(?:(?P<s>(?:(?:older|younger|elder|little|big|twin|late|youngest|eldest|oldest|first|second"
    rf"|teenage|baby|best|other|new|\w+-year-old|two|three|four) )*(?:{_REL}))"
    r"(?!'s (?:friend|neighbou?r|teacher|boss|dog|cat|colleague)|'? (?:said|says|told|asked|thinks|made|sent|gave"
    r"|called me|wrote|keeps|just|texted|loved|laughed|was so|bought))(?:,? (?-i:[A-Z])[\w-]+,?)?)(?P<p>(?:'s| "
    r"|,).{2,80})"
)
FAMILY_STATES = (
    r"(?:'s|,? ?is|,? ?are|,? ?was|,? ?has|,? ?have|,? ?lives?|,? ?works?|,? ?goes?|,? ?can'?t|,? ?cannot"
    r"|,? ?does(?:n'?t)?|,? ?don'?t|,? ?likes?|,? ?loves?|,? ?hates?|,? ?needs?|,? ?takes?|,? ?speaks?|,? ?turns?"
    r"|,? ?plays?"
    r"|,? ?studies|,? ?attends?|,? ?starts?|,? ?uses?|,? ?eats?|,? ?raised|,? ?suffers?|,? ?wears?|,? ?died"
    r"|,? ?passed|,? ?moved|,? ?got married|,? ?runs?|,? ?owns?)"
    r"(?! (?:so|just|being|really|here|asking|wondering|mad|driving|making|coming over|visiting today|sick today"
    r"|not happy|right|wrong|trying)\b)"
)
