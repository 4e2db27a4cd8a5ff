"""English rules of who the user is and what they forbid, most telling first."""

from __future__ import annotations

import re

from tables.extractive_en_words import AM, END, HAVE, ME, NOT
from tables.extractive_rules import compiled

_JOB = (
    r"engineer|developer|dev|nurse|doctor|teacher|lawyer|designer|accountant|student|baker|chef|cook|driver|writer"
    r"|editor|journalist|translator|manager|director|consultant|researcher|scientist|analyst|artist|musician|actor"
    r"|photographer"
    r"|farmer|plumber|electrician|carpenter|mechanic|pilot|officer|soldier|firefighter|paramedic|pharmacist|dentist"
    r"|vet|therapist|psychologist|architect|programmer|coder|professor|lecturer|librarian|clerk|secretary|assistant"
    r"|receptionist|waiter|waitress"
    r"|barista|bartender|cashier|retiree|pensioner|freelancer|founder|entrepreneur|owner|contractor|builder|welder"
    r"|postman|tutor|coach|trainer|intern|apprentice|lead|administrator|agent|broker|banker|tailor|hairdresser"
    r"|gardener|worker|technician|surgeon|midwife"
    r"|biologist|chemist|physicist|mathematician|economist|historian|linguist|geologist|sailor|fisherman|locksmith"
    r"|beekeeper|undergrad|undergraduate|postgrad|freshman|sophomore|junior|senior|pupil|trainee|operator|planner"
    r"|surveyor|supervisor|salesman|saleswoman|salesperson|recruiter|marketer|notary|judge|priest|pastor|monk|nun"
    r"|au pair|nanny|carer|caregiver|housewife|househusband|stay-at-home (?:mum|mom|dad|parent)|homemaker"
)

RULES = compiled(
    [
        (
            "identity.city-",
            rf"{ME} (?:no longer|don'?t|do not) (?:live|stay"
            rf"|reside) in (?P<v>[^,.;:!?]{{2,30}}?)(?: any ?more| now)?(?=$|[,.;:!?]| and | but )",
        ),
        (
            "identity.city",
            rf"(?:(?:i've|we've|{ME}) (?:just |now |currently |recently |still |both |have |all )*(?:live|reside"
            rf"|moved|relocated|settled|am living|'m living)(?: with [^,.;]{{2,20}})?(?: out| over| back| down"
            rf"| up)? (?:in|to|near|outside)|{AM} (?:now |currently |originally )?(?:based|living|located"
            rf"|settled) (?:in|near|out of)|(?:now |currently )?(?:based|living|just moved|moved|relocated) (?:in"
            rf"|to)) (?:the )?(?!a |an |my |together|with)(?P<v>[^,.;:!?(]{{2,40}}?)(?: last| this| in \d| now"
            rf"| since| for| with|(?=$|[,.;:!?(]| so | and | but | because ))",
        ),
        (
            "identity.often_in",
            rf"{ME} (?:often|regularly|frequently|usually) (?:travel|fly|go"
            rf"|commute) to (?P<v>[^,.;:!?]{{2,30}}?){END}",
        ),
        (
            "identity.origin",
            rf"(?:{AM} (?:originally )?from|{ME} (?:come|was born|grew up"
            rf"|was raised)(?: up)? (?:from|in|on))\s+(?P<v>[^,.;:!?]{{2,40}}?)(?=$|[,.;:!?(]| and | but | so )",
        ),
        (
            "identity.occupation-",
            rf"(?:{ME} (?:no longer|don'?t|do not) (?:work|teach)(?: in| as| at"
            rf"| for)? ?(?P<v>[^,.;:!?]{{0,40}}?)(?: any ?more)?(?=$|[,.;:!?]| and )"
            rf"|(?:{AM} )?not in (?P<o>[\w ]{{2,20}}?) any ?more)",
        ),
        (
            "identity.workplace",
            rf"{ME} (?:just |now |currently |also |mostly )*(?:work|am working|'m working|got a job"
            rf"|started working) (?:for|in|at) "
            rf"(?!it|this|that|the moment|home|night|best|least)(?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but "
            rf"| so | as | because )",
        ),
        (
            "identity.education",
            rf"{ME} (?:now |currently |also )*(?:study|am studying|'m studying|major in) (?!for\b|it|hard|better"
            rf"|best|when|every)(?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but )",
        ),
        (
            "identity.occupation",
            rf"{ME} (?:just |now |currently |have |also |mostly )*(?:work|worked|started|started working|got a job"
            rf"|am working|'m working|have been working) as (?!it|on it|out|this|that|late|well|fine|hard|today"
            rf"|tonight|best|better|when)(?:an? "
            rf"|the )?(?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but | so | because | since )",
        ),
        (
            "identity.occupation",
            rf"(?:{AM} |i work as )(?:now |also |currently |still )?(?:an? "
            rf"|the )?(?P<v>(?:[\w/-]+ ){{0,5}}(?:{_JOB})s?)\b(?! (?:of|to) (?:him|her))(?P<w>[^,.;:!?]{{0,40}})",
        ),
        (
            "identity.occupation",
            r"my (?:job|profession|occupation|trade|job title|title|role)(?: now)? is (?!done"
            r"|hard|stress|great|boring|killing)(?:an? )?(?P<v>[^,.;:!?]{2,40})",
        ),
        (
            "identity.occupation",
            rf"(?:{AM} |i've been |i )(?P<v>retired(?: [\w ]{{2,30}})?|self-employed|unemployed"
            rf"|between jobs|on parental leave)\b",
        ),
        (
            "identity.occupation",
            rf"{ME} (?:run|own|manage) (?:an? |my |the )(?P<v>[^,.;:!?]{{3,40}}?(?:shop|store"
            rf"|bakery|cafe|business|company|restaurant|studio|farm|startup|agency|practice|clinic|bookshop|salon"
            rf"|hotel|bar|pub|garage)[^,.;:!?]{{0,20}})",
        ),
        (
            "identity.age",
            rf"{AM} (?:now |already |turning |only |nearly |almost )?(?P<v>[1-9][0-9]?)(?: years? old"
            rf"| y/?o| yrs old)?(?=$|[,.;:!?]| and | now| years)",
        ),
        (
            "identity.birthday",
            r"my (?:birthday|date of birth|bday)(?:'s| is)(?: on)? (?P<v>[^,.;!?]{3,30})"
            r"|i was born (?:on|in) (?P<o>[^,.;!?]{0,12}[0-9]{2,4})",
        ),
        (
            "identity.sex",
            rf"{AM} (?:an? )?(?P<v>man|woman|male|female|guy|girl|trans \w+|non-?binary)(?=$|[,.;:!?]"
            rf"| and )|i identify as (?:an? )?(?P<o>\w+(?: \w+)?)|my pronouns are (?P<x>[\w/]+)",
        ),
        (
            "identity.marital",
            rf"{AM} (?:now |happily |recently |still |not )?(?P<v>single|married|divorced|widowed"
            rf"|engaged|separated|a widow(?:er)?|a single (?:mum|mom|dad|parent|mother|father))\b",
        ),
        (
            "identity.children",
            rf"{HAVE} (?P<v>(?:no|one|two|three|four|five|[1-9]) (?:\w+ )?(?:kids?|children|sons?"
            rf"|daughters?|boys|girls|toddlers))",
        ),
        (
            "identity.native_language",
            r"my (?:native language|mother tongue|first language)(?:'s| is) (?P<v>\w+)"
            r"|(?P<o>\w+) is my (?:native language|mother tongue|first language)",
        ),
        (
            "identity.language",
            rf"{ME} {NOT}speak (?:fluent |some |a little |native )*(?P<v>[A-Z]?\w+)(?=$|[,.;!?]"
            rf"| and | but | at home)|(?P<o>\w+) is my second language",
        ),
        (
            "identity.trait",
            rf"{AM} (?:also |a |an )*(?P<v>left-?handed|jewish|muslim|christian|catholic|buddhist"
            rf"|hindu|atheist|sikh|mormon|an only child|introvert(?:ed)?|extrovert(?:ed)?|night owl|early bird"
            rf"|morning person|veteran|immigrant|expat|[ie][ns][ft][jp]|member of [^,.;]{{3,30}})\b",
        ),
        ("identity.trait", r"i served (?P<v>[^,.;!?]{4,40})"),
        (
            "boundary.topic-",
            r"(?:please |just |so )*(?:don'?t|do not|never|stop|no more|quit|avoid)(?: ever"
            r"| please)?(?: again)? (?:mention|bring(?:ing)? up|discuss(?:ing)?|talk(?:ing)?(?: to me)? about"
            r"|recommend(?:ing)?|suggest(?:ing)?|show(?:ing)? me|send(?:ing)? me|push(?:ing)?|sell(?:ing)?"
            r"|offer(?:ing)?(?: me)?|ask(?:ing)?(?: me)? about|promot(?:e|ing)|pitch(?:ing)?|mentioning)(?: me"
            r"| to me)? (?!it\b|that\b|anything (?:else|yet))(?P<v>[^.;:!?]{2,60}?)(?: to me| with me| ever again"
            r"| again"
            r"| any ?more| for good| please)*(?=$|[,.;:!?])",
        ),
        (
            "boundary.rule-",
            r"(?:please |just )*(?:don'?t|do not|never|stop)(?: ever)? (?P<v>(?:call(?:ing)? me"
            r"|contact(?:ing)?|text(?:ing)? me|email(?:ing)? me|ring me|shar(?:e|ing)|giv(?:e|ing) (?:out |anyone "
            r"|my )|tell(?:ing)? (?:anyone|my|the|other)|stor(?:e|ing)|sav(?:e|ing)|keep(?:ing)? (?:a record|my)"
            r"|record(?:ing)?|us(?:e|ing) my|post(?:ing)?|track(?:ing)?|notify|joke about|mak(?:e"
            r"|ing) jokes)\b[^.;:!?]{0,60})",
        ),
        (
            "boundary.rule-",
            r"(?P<v>my (?:[\w-]+ ){1,4}?(?:is not|isn'?t|are not|aren'?t|must(?:n'?t)?|has to"
            r"|should(?:n'?t)?|stays?|must not|needs? to) (?:to )?(?:be )?(?:given|shared|told|find out|stay|remain"
            r"|kept|private|confidential|know|leave|be (?:shared|told|given))[^.;:!?]{0,40})",
        ),
        (
            "boundary.rule-",
            r"(?:please )?(?P<v>(?:keep (?:my|the|our) [\w ]{2,30} (?:to yourself|private|secret"
            r"|confidential|out of)|leave my [\w' ]{2,30} out of)[^.;:!?]{0,30})",
        ),
        (
            "boundary.topic-",
            rf"(?:{ME} (?:really )?(?:don'?t|do not|won'?t|will not|would rather not|never"
            rf"|refuse to) (?:ever )?(?:want to |wish to |like to |care to )?(?:discuss|talk about|hear about"
            rf"|be asked about|get into|answer questions about|be reminded of|see|receive|get)"
            rf"|{ME}'d rather not (?:discuss|talk about)|hard no on(?: anything)?(?: involving)?|no (?:ads|jokes"
            rf"|more ads|questions|recommendations|offers) (?:for|about|on)|(?:\w+ )?(?:is"
            rf"|are) off[- ]limits:?) (?P<v>[^.;:!?]{{2,50}}?)(?: with you| please| again| ever| now)*(?=$|[,.;:!?])",
        ),
        (
            "boundary.rule-",
            rf"(?P<v>{ME} (?:won'?t|will never|will not|never|don'?t ever|refuse to) (?:work|lend"
            rf"|answer|give|share|pay|use my|sign|accept|take calls)[^,.;:!?]{{2,50}})",
        ),
        (
            "boundary.topic",
            r"(?:you can|it'?s (?:ok|fine) to|you may) (?:now )?(?:mention|bring up|talk about"
            r"|recommend|suggest|discuss|ask about) (?P<v>[^.;:!?]{2,40}?) (?:again|now)",
        ),
        (
            "boundary.rule",
            r"(?P<v>(?:you must |please |always )*(?:check with|ask"
            r"|consult) me (?:first )?before [^.;!?]{3,50})",
        ),
    ],
    re.IGNORECASE,
)
