"""English words that several rules share: the speaker, adverbs that carry nothing, where an object ends."""

from __future__ import annotations

ME = r"(?:i|we)"
AM = r"(?:i(?:'m| am|m| might be| may be| seem to be)|we(?:'re| are|re))"
HAVE = (
    r"(?:i(?:'ve| have|ve)(?: got)?|i(?:'ve| have|ve)? (?:always |still |also )?(?:had|got|have)|we(?:'ve"
    r"| have)(?: got)?)"
)
A = (
    r"(?:(?:really|also|still|always|usually|generally|normally|typically|mostly|often|actually|just|now|currently"
    r"|personally|absolutely|honestly|definitely|already|tend to|do|both|never really|truly|kind of|simply|all"
    r"|only) )*+"
)
NOT = r"(?P<n>no longer |don'?t |do not |can'?t say i |never |not |didn'?t |don'?t really |don'?t much |doesn'?t )?"
END = (
    r"(?=$|[,.;:!?(]| - | so | and | but | because | since | when | whenever | if | as | for | in (?:general|my)"
    r"| at | on | with my| any ?more| anymore)"
)
