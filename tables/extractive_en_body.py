"""English rules of name, contact and health, most telling first; `tables.extractive_rules` says how they work."""

from __future__ import annotations

import re

from tables.extractive_en_words import AM, END, HAVE, ME, NOT, A
from tables.extractive_rules import compiled

_ILL = (
    r"asthma|diabet(?:es|ic)|prediabet(?:es|ic)|type [12] diabet(?:es|ic)|epilep(?:sy|tic)|celiac(?: disease)?"
    r"|coeliac(?: disease)?|hypertension|high blood pressure|low blood pressure|high cholesterol"
    r"|gout|arthritis|insomnia|anxiety|depression|migraines?|adhd|add|autis(?:m|tic)|bipolar|vertigo|tinnitus|eczema"
    r"|psoriasis|rosacea|ibs|crohn'?s(?: disease)?|colitis|gastritis|reflux|ulcers?"
    r"|an(?:a)?emi(?:a|c)|carpal tunnel|sciatica|scoliosis|osteoporosis|fibromyalgia|lupus|ms|multiple sclerosis"
    r"|parkinson'?s|hypothyroid(?:ism)?|hyperthyroid(?:ism)?|pcos|endometriosis|cancer|leukemia|copd|sleep apn(?:o)?ea"
    r"|glaucoma|cataracts?|hay fever|lactose intoleran(?:ce|t)|gluten intoleran(?:ce|t)|a heart (?:condition|murmur)"
    r"|heart disease|kidney (?:disease|stones)|arrhythmia|afib|hepatitis|hiv|ptsd|ocd|dyslexi(?:a|c)|colou?r ?blind"
    r"|color-?blind"
    r"|motion sickness|car ?sick|sea ?sick|claustrophobi(?:a|c)|hemophilia|a bad (?:back|knee|hip|shoulder|neck"
    r"|ankle|heart)|bad (?:knees|back|hips)|a pacemaker|chronic \w+(?: \w+)?|\w+ (?:syndrome|disease|disorder)"
)
_FOOD = r"(?:eat|have|drink|touch|do|tolerate|digest|stomach|handle|take)"

RULES = compiled(
    [
        (
            "identity.name",
            rf"(?:my (?:full |real |first |last |sur)?name(?:'s| is)|{AM} called"
            rf"|i go by)\s+(?!not\b|spelled|on\b|in\b|hard\b)(?P<v>[^,.;:!?]{{1,40}}?)(?=$|[,.;:!?(]| but "
            rf"| and everyone)",
        ),
        (
            "identity.called",
            r"(?:please |you can |just |everyone |everybody |friends |people )*calls? me (?!back|at"
            r"|in|when|later|on|after|before|every|if|an?\b|the|crazy|tomorrow"
            r"|tonight)(?P<v>[a-zà-ÿ'-]{2,20})(?: please)?(?=$|[,.;:!?])",
        ),
        (
            "contact.address",
            r"(?:my|our) (?:new |home |mailing |shipping |postal |delivery |work )*address (?:is|'s"
            r"|has changed to)(?: now)? (?P<v>.{5,80})|(?:please )?(?:ship|send|deliver|mail) (?:my |all |everything"
            r"|packages|parcels|things).{0,20}? to (?P<o>.{6,80})",
        ),
        (
            "health.allergy",
            rf"{AM} (?P<n>no longer |not )?(?:also |still |really |very |severely |deathly |highly "
            rf"|badly |mildly |quite |super |a bit )*(?:allergic|intolerant"
            rf"|sensitive) to (?P<v>[^.;:!?]{{2,50}}?)(?: any ?more| anymore| now)?(?=$|[,.;:!?(]| so | and (?:i|can"
            rf"|my|it)| but | since )",
        ),
        ("health.allergy", rf"{HAVE} (?P<n>no )?an? (?:\w+ )?(?P<v>[\w -]{{2,24}}?) (?:allergy|intolerance)"),
        (
            "health.allergy",
            r"(?P<v>[\w-]+(?: [\w-]+)?)[ -](?:allergic|allergy sufferer)\b"
            r"|allergic to (?P<o>[^,.;:!?]{2,40})",
        ),
        (
            "health.allergy",
            rf"{ME} (?:really |also |still |just |definitely )*(?:can'?t|cannot|can not"
            rf"|am not allowed to|'m not allowed to|mustn'?t|must not|shouldn'?t) (?:really |even "
            rf"|ever )*{_FOOD} (?!it|that|this|care|more|without|any ?more|the call|place|anything else"
            rf"|much longer)(?:any )?(?P<v>[^,.;:!?]{{2,40}}?){END}",
        ),
        (
            "health.allergy-",
            rf"{ME} (?:can|am able to|'m able to|am allowed to) (?:now |finally |safely "
            rf"|actually )*{_FOOD} (?P<v>[^,.;:!?]{{2,40}}?) (?:again|now|these days|safely)",
        ),
        ("health.allergy-", rf"{ME} can (?:now|finally) {_FOOD} (?P<v>[^,.;:!?]{{2,40}}?){END}"),
        (
            "health.allergy",
            r"(?P<v>[\w -]{3,24}?) (?:makes?|make) (?:me|my \w+) (?:swell|itch|sick|break out|wheeze"
            r"|ill|throw up|vomit|sneeze|come out in hives)|(?P<o>[\w -]{3,20}?) (?:gives?|give) me (?:hives|a rash"
            r"|rashes|migraines|cramps|heartburn)",
        ),
        (
            "health.condition",
            rf"(?:{ME} {NOT}(?:have|suffer from|live with|was diagnosed with|were diagnosed with"
            rf"|got diagnosed with|been diagnosed with)|{HAVE}(?: been diagnosed with)?|{AM}"
            rf"|diagnosed with)(?P<x> no longer| not)?\s+(?:also |still |really |severe |mild |bad |a bit |an? |the "
            rf"|slightly |early |partially |born |clinically |legally )*(?P<v>{_ILL})\b",
        ),
        (
            "health.condition",
            rf"(?P<v>type [12] diabetic|(?:pre)?diabetic|epileptic|asthmatic|coeliac|celiac"
            rf"|(?:{_ILL}))(?= since| for \d| all my life| here\b)",
        ),
        (
            "health.condition",
            rf"{AM} (?P<n>not |no longer )?(?:also |currently |\w+ (?:weeks"
            rf"|months) )*(?P<v>pregnant|breast-?feeding|expecting(?: a baby)?|immunocompromised|anemic|asthmatic"
            rf"|hypertensive)",
        ),
        (
            "health.injury",
            rf"{AM} (?:also |partially |completely |almost |half |legally "
            rf"|nearly )*(?P<v>deaf(?: in [^,.;]{{2,20}})?|blind(?: in [^,.;]{{2,20}})?|partially sighted"
            rf"|hard of hearing|visually impaired|paraly[sz]ed[^,.;]{{0,20}}|paraplegic|an amputee"
            rf"|wheelchair[- ]bound|disabled|short-?sighted|recovering from [^,.;!?]{{3,40}})",
        ),
        (
            "health.injury",
            rf"(?:{ME}|{HAVE}|{AM})(?: (?:use|wear|need|walk with|am in|have|had|got|broke|tore"
            rf"|injured|hurt|sprained|ruptured|dislocated|in))? ?(?:an? |my |the )?(?P<v>(?:wheelchair|hearing aids?"
            rf"|crutches|cane|walker|prosthe\w+|pacemaker|(?:old |chronic |recurring |previous "
            rf"|bad )*(?:\w+ )?(?:shoulder|knee|back|ankle|hip|wrist|neck|elbow|acl|achilles|meniscus|hamstring"
            rf"|rotator cuff|spinal|leg|foot) (?:injury|injuries|replacement|surgery|problems?|pain|operation"
            rf"|fusion)|herniated disc|slipped disc|torn \w+|(?:stroke|heart attack) in [0-9]{{4}}))",
        ),
        (
            "health.medication",
            rf"{ME} {NOT}(?:{A})(?:take|am on|'m on|use|inject"
            rf"|need) (?P<v>(?:\w+ ){{0,2}}(?:insulin|medication|meds|pills|tablets|inhaler|antidepressants|statins?"
            rf"|blood thinners?|beta blockers?|steroids|ritalin|metformin|warfarin|lithium|antihistamines|epi-?pen"
            rf"|ibuprofen|aspirin|\w+(?:pril|statin|olol|azole|oxetine|cillin|mab|profen))[^,.;:!?]{{0,30}})"
            rf"|{AM} on (?P<o>(?:\w+ )?(?:insulin|medication|meds|antidepressants|statins|blood thinners|chemo"
            rf"|dialysis|\w+(?:pril|statin|olol|azole|oxetine)))",
        ),
        (
            "health.limit",
            rf"{ME} (?:really |also |still )*(?:can'?t|cannot|mustn'?t|am not (?:able|allowed) to"
            rf"|'m not (?:able|allowed) to|shouldn'?t) (?P<v>(?:lift|run|jump|squat|bend|climb|stand|walk|drive|fly"
            rf"|swim|sit|raise|kneel|carry|do (?:squats|push-?ups|overhead|high[- ]impact))\b[^,.;:!?]{{0,40}})",
        ),
        (
            "health.advice",
            r"(?:my |the )?(?:doctor|doc|gp|cardiologist|dentist|physio|nutritionist|dermatologist"
            r"|specialist)(?: has)? (?:says?|said|told me|wants me|advised(?: me)?|ordered(?: me)?"
            r"|recommended)(?: that)?(?: i)?(?: to)? (?P<v>[^.;!?]{3,60})",
        ),
        ("health.blood_type", r"my blood type is (?P<v>[abo]{1,2}\s*(?:[+-]|positive|negative)?)"),
    ],
    re.IGNORECASE,
)
