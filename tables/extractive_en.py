"""English rules for the start of a clause, most telling first; `tables.extractive_rules` says how they work."""

from __future__ import annotations

import re

from tables.extractive_rules import compiled

_I = r"(?:i|we)"
_AM = r"(?:i(?:'m| am|m| might be| may be| seem to be| have been)|we(?:'re| are|re))"
_HAVE = (
    r"(?:i(?:'ve| have|ve)(?: got)?|i(?:'ve| have|ve)? (?:always |still |also )?(?:had|got|have)|we(?:'ve"
    r"| have)(?: got)?)"
)
_A = (
    r"(?:(?:really|also|still|always|usually|generally|normally|typically|mostly|often|actually|just|now|currently"
    r"|personally|absolutely|honestly|definitely|already|tend to|do|both|never really|truly|kind of|simply|all"
    r"|only) )*+"
)
_NOT = r"(?P<n>no longer |don'?t |do not |can'?t say i |never |not |didn'?t |don'?t really |don'?t much |doesn'?t )?"
_END = (
    r"(?=$|[,.;:!?(]| - | so | and | but | because | since | when | whenever | if | as | for | in (?:general|my)"
    r"| at | on | with my| any ?more| anymore)"
)
_V = r"(?P<v>[^,.;:!?]{2,60}?)"
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
_REL = (
    r"wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|son|daughter|kids?|child(?:ren)?|baby|toddler"
    r"|twins?|mum|mom|mother|dad|father|parents|brothers?|sisters?|siblings?|grand(?:ma|pa|mother|father|son"
    r"|daughter|parents)"
    r"|gran|granny|nan|in-laws|step\w+|(?:mother|father|brother|sister)-in-law|dogs?|cats?|puppy|kitten|parrot"
    r"|rabbit|hamster|horse|pets?|tortoise|fish|youngest|eldest|oldest"
)
_EVENT = (
    r"(?:exam|final|finals|test|interview|surgery|operation|wedding|marathon|half[- ]marathon|race|competition"
    r"|bar exam|driving test|defen[cs]e|viva|appointment|check-?up|mri|scan|procedure|graduation"
    r"|dentist(?: appointment)?|court date|visa appointment|half)s?"
)
_TASKEVENT = (
    r"(?:launch|release|go-?live|deadline|delivery|handover|opening|kick-?off|move|move-in|demo|review"
    r"|ship date|due date|conference|cut-?over|start date|party|deploy(?:ment)?|closing|submission)"
)
_MONEY = (
    r"(?P<v>(?:about |around |roughly |under |at most |up to |max(?:imum)? |capped at |no more than |exactly "
    r"|only |now )*(?:[$€£¥]|usd |eur |gbp )?\s*[0-9][0-9,.]*\s*(?:k|m|grand|thousand|million"
    r"|hundred|万|千)?\s*(?:euros?|dollars?|pounds?|usd|eur|gbp|bucks|quid|yuan|rmb|[€$£])?)"
)
_FOOD = r"(?:eat|have|drink|touch|do|tolerate|digest|stomach|handle|take)"
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
            "identity.name",
            rf"(?:my (?:full |real |first |last |sur)?name(?:'s| is)|{_AM} called"
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
            rf"{_AM} (?P<n>no longer |not )?(?:also |still |really |very |severely |deathly |highly "
            rf"|badly |mildly |quite |super |a bit )*(?:allergic|intolerant"
            rf"|sensitive) to (?P<v>[^.;:!?]{{2,50}}?)(?: any ?more| anymore| now)?(?=$|[,.;:!?(]| so | and (?:i|can"
            rf"|my|it)| but | since )",
        ),
        ("health.allergy", rf"{_HAVE} (?P<n>no )?an? (?:\w+ )?(?P<v>[\w -]{{2,24}}?) (?:allergy|intolerance)"),
        (
            "health.allergy",
            r"(?P<v>[\w-]+(?: [\w-]+)?)[ -](?:allergic|allergy sufferer)\b"
            r"|allergic to (?P<o>[^,.;:!?]{2,40})",
        ),
        (
            "health.allergy",
            rf"{_I} (?:really |also |still |just |definitely )*(?:can'?t|cannot|can not"
            rf"|am not allowed to|'m not allowed to|mustn'?t|must not|shouldn'?t) (?:really |even "
            rf"|ever )*{_FOOD} (?!it|that|this|care|more|without|any ?more|the call|place|anything else"
            rf"|much longer)(?:any )?(?P<v>[^,.;:!?]{{2,40}}?){_END}",
        ),
        (
            "health.allergy-",
            rf"{_I} (?:can|am able to|'m able to|am allowed to) (?:now |finally |safely "
            rf"|actually )*{_FOOD} (?P<v>[^,.;:!?]{{2,40}}?) (?:again|now|these days|safely)",
        ),
        ("health.allergy-", rf"{_I} can (?:now|finally) {_FOOD} (?P<v>[^,.;:!?]{{2,40}}?){_END}"),
        (
            "health.allergy",
            r"(?P<v>[\w -]{3,24}?) (?:makes?|make) (?:me|my \w+) (?:swell|itch|sick|break out|wheeze"
            r"|ill|throw up|vomit|sneeze|come out in hives)|(?P<o>[\w -]{3,20}?) (?:gives?|give) me (?:hives|a rash"
            r"|rashes|migraines|cramps|heartburn)",
        ),
        (
            "health.condition",
            rf"(?:{_I} {_NOT}(?:have|suffer from|live with|was diagnosed with|were diagnosed with"
            rf"|got diagnosed with|been diagnosed with)|{_HAVE}(?: been diagnosed with)?|{_AM}"
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
            rf"{_AM} (?P<n>not |no longer )?(?:also |currently |\w+ (?:weeks"
            rf"|months) )*(?P<v>pregnant|breast-?feeding|expecting(?: a baby)?|immunocompromised|anemic|asthmatic"
            rf"|hypertensive)",
        ),
        (
            "health.injury",
            rf"{_AM} (?:also |partially |completely |almost |half |legally "
            rf"|nearly )*(?P<v>deaf(?: in [^,.;]{{2,20}})?|blind(?: in [^,.;]{{2,20}})?|partially sighted"
            rf"|hard of hearing|visually impaired|paraly[sz]ed[^,.;]{{0,20}}|paraplegic|an amputee"
            rf"|wheelchair[- ]bound|disabled|short-?sighted|recovering from [^,.;!?]{{3,40}})",
        ),
        (
            "health.injury",
            rf"(?:{_I}|{_HAVE}|{_AM})(?: (?:use|wear|need|walk with|am in|have|had|got|broke|tore"
            rf"|injured|hurt|sprained|ruptured|dislocated|in))? ?(?:an? |my |the )?(?P<v>(?:wheelchair|hearing aids?"
            rf"|crutches|cane|walker|prosthe\w+|pacemaker|(?:old |chronic |recurring |previous "
            rf"|bad )*(?:\w+ )?(?:shoulder|knee|back|ankle|hip|wrist|neck|elbow|acl|achilles|meniscus|hamstring"
            rf"|rotator cuff|spinal|leg|foot) (?:injury|injuries|replacement|surgery|problems?|pain|operation"
            rf"|fusion)|herniated disc|slipped disc|torn \w+|(?:stroke|heart attack) in [0-9]{{4}}))",
        ),
        (
            "health.medication",
            rf"{_I} {_NOT}(?:{_A})(?:take|am on|'m on|use|inject"
            rf"|need) (?P<v>(?:\w+ ){{0,2}}(?:insulin|medication|meds|pills|tablets|inhaler|antidepressants|statins?"
            rf"|blood thinners?|beta blockers?|steroids|ritalin|metformin|warfarin|lithium|antihistamines|epi-?pen"
            rf"|ibuprofen|aspirin|\w+(?:pril|statin|olol|azole|oxetine|cillin|mab|profen))[^,.;:!?]{{0,30}})"
            rf"|{_AM} on (?P<o>(?:\w+ )?(?:insulin|medication|meds|antidepressants|statins|blood thinners|chemo"
            rf"|dialysis|\w+(?:pril|statin|olol|azole|oxetine)))",
        ),
        (
            "health.limit",
            rf"{_I} (?:really |also |still )*(?:can'?t|cannot|mustn'?t|am not (?:able|allowed) to"
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
        (
            "identity.city-",
            rf"{_I} (?:no longer|don'?t|do not) (?:live|stay"
            rf"|reside) in (?P<v>[^,.;:!?]{{2,30}}?)(?: any ?more| now)?(?=$|[,.;:!?]| and | but )",
        ),
        (
            "identity.city",
            rf"(?:{_I} (?:just |now |currently |recently |still |both |have |all )*(?:live|reside"
            rf"|moved|relocated|settled|am living|'m living)(?: with [^,.;]{{2,20}})?(?: out| over| back| down"
            rf"| up)? (?:in|to|near|outside)|{_AM} (?:now |currently |originally )?(?:based|living|located"
            rf"|settled) (?:in|near|out of)|(?:now |currently )?(?:based|living|just moved|moved|relocated) (?:in"
            rf"|to)) (?:the )?(?!a |an |my |together|with)(?P<v>[^,.;:!?(]{{2,40}}?)(?: last| this| in \d| now"
            rf"| since| for| with|(?=$|[,.;:!?(]| so | and | but | because ))",
        ),
        (
            "identity.often_in",
            rf"{_I} (?:often|regularly|frequently|usually) (?:travel|fly|go"
            rf"|commute) to (?P<v>[^,.;:!?]{{2,30}}?){_END}",
        ),
        (
            "identity.origin",
            rf"(?:{_AM} (?:originally )?from|{_I} (?:come|was born|grew up"
            rf"|was raised)(?: up)? (?:from|in|on))\s+(?P<v>[^,.;:!?]{{2,40}}?)(?=$|[,.;:!?(]| and | but | so )",
        ),
        (
            "identity.occupation-",
            rf"(?:{_I} (?:no longer|don'?t|do not) (?:work|teach)(?: in| as| at"
            rf"| for)? ?(?P<v>[^,.;:!?]{{0,40}}?)(?: any ?more)?(?=$|[,.;:!?]| and )"
            rf"|(?:{_AM} )?not in (?P<o>[\w ]{{2,20}}?) any ?more)",
        ),
        (
            "identity.workplace",
            rf"{_I} (?:just |now |currently |also |mostly )*(?:work|am working|'m working|got a job"
            rf"|started working) (?:for|in|at) "
            rf"(?!it|this|that|the moment|home|night|best|least)(?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but "
            rf"| so | as | because )",
        ),
        (
            "identity.education",
            rf"{_I} (?:now |currently |also )*(?:study|am studying|'m studying|major in) (?!for\b|it|hard|better"
            rf"|best|when|every)(?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but )",
        ),
        (
            "identity.occupation",
            rf"{_I} (?:just |now |currently |have |also |mostly )*(?:work|worked|freelance"
            rf"|started(?: working)?|teach|got a job|am working|'m working|have been working) (?:as"
            rf"|with|on)?\s?(?!it|on it|out|this|that|late|well|fine|hard|today|tonight|best|better|when)(?:an? "
            rf"|the )?(?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but | so | because | since )",
        ),
        (
            "identity.occupation",
            rf"(?:{_AM} |i work as )(?:now |also |currently |still )?(?:an? "
            rf"|the )?(?P<v>(?:[\w/-]+ ){{0,5}}(?:{_JOB})s?)\b(?! (?:of|to) (?:him|her))(?P<w>[^,.;:!?]{{0,40}})",
        ),
        (
            "identity.occupation",
            r"my (?:job|profession|occupation|trade|job title|title|role)(?: now)? is (?!done"
            r"|hard|stress|great|boring|killing)(?:an? )?(?P<v>[^,.;:!?]{2,40})",
        ),
        (
            "identity.occupation",
            rf"(?:{_AM} |i've been |i )(?P<v>retired(?: [\w ]{{2,30}})?|self-employed|unemployed"
            rf"|between jobs|on parental leave)\b",
        ),
        (
            "identity.occupation",
            rf"{_I} (?:run|own|manage) (?:an? |my |the )(?P<v>[^,.;:!?]{{3,40}}?(?:shop|store"
            rf"|bakery|cafe|business|company|restaurant|studio|farm|startup|agency|practice|clinic|bookshop|salon"
            rf"|hotel|bar|pub|garage)[^,.;:!?]{{0,20}})",
        ),
        (
            "identity.age",
            rf"{_AM} (?:now |already |turning |only |nearly |almost )?(?P<v>[1-9][0-9]?)(?: years? old"
            rf"| y/?o| yrs old)?(?=$|[,.;:!?]| and | now| years)",
        ),
        (
            "identity.birthday",
            r"my (?:birthday|date of birth|bday)(?:'s| is)(?: on)? (?P<v>[^,.;!?]{3,30})"
            r"|i was born (?:on|in) (?P<o>[^,.;!?]{0,12}[0-9]{2,4})",
        ),
        (
            "identity.sex",
            rf"{_AM} (?:an? )?(?P<v>man|woman|male|female|guy|girl|trans \w+|non-?binary)(?=$|[,.;:!?]"
            rf"| and )|i identify as (?:an? )?(?P<o>\w+(?: \w+)?)|my pronouns are (?P<x>[\w/]+)",
        ),
        (
            "identity.marital",
            rf"{_AM} (?:now |happily |recently |still |not )?(?P<v>single|married|divorced|widowed"
            rf"|engaged|separated|a widow(?:er)?|a single (?:mum|mom|dad|parent|mother|father))\b",
        ),
        (
            "identity.children",
            rf"{_HAVE} (?P<v>(?:no|one|two|three|four|five|[1-9]) (?:\w+ )?(?:kids?|children|sons?"
            rf"|daughters?|boys|girls|toddlers))",
        ),
        (
            "identity.native_language",
            r"my (?:native language|mother tongue|first language)(?:'s| is) (?P<v>\w+)"
            r"|(?P<o>\w+) is my (?:native language|mother tongue|first language)",
        ),
        (
            "identity.language",
            rf"{_I} {_NOT}speak (?:fluent |some |a little |native )*(?P<v>[A-Z]?\w+)(?=$|[,.;!?]"
            rf"| and | but | at home)|(?P<o>\w+) is my second language",
        ),
        (
            "identity.trait",
            rf"{_AM} (?:also |a |an )*(?P<v>left-?handed|jewish|muslim|christian|catholic|buddhist"
            rf"|hindu|atheist|sikh|mormon|an only child|introvert(?:ed)?|extrovert(?:ed)?|night owl|early bird"
            rf"|morning person|veteran|immigrant|expat|[ie][ns][ft][jp]|member of [^,.;]{{3,30}})\b",
        ),
        ("identity.trait", r"i served (?P<v>[^,.;!?]{4,40})"),
        (
            "preference.diet",
            rf"{_AM} (?P<n>no longer |not )?(?:also |a |an |strictly |strict |mostly |now "
            rf"|basically )*(?P<v>vegan|vegetarian|pescatarian|halal|kosher|keto|gluten[- ]free|dairy[- ]free"
            rf"|plant[- ]based)\b|{_I} (?:only )?(?:keep|eat) (?P<o>kosher|halal|vegan|vegetarian|keto|low[- ]carb"
            rf"|gluten[- ]free|plant[- ]based)",
        ),
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
            rf"(?:{_I} (?:really )?(?:don'?t|do not|won'?t|will not|would rather not|never"
            rf"|refuse to) (?:ever )?(?:want to |wish to |like to |care to )?(?:discuss|talk about|hear about"
            rf"|be asked about|get into|answer questions about|be reminded of|see|receive|get)"
            rf"|{_I}'d rather not (?:discuss|talk about)|hard no on(?: anything)?(?: involving)?|no (?:ads|jokes"
            rf"|more ads|questions|recommendations|offers) (?:for|about|on)|(?:\w+ )?(?:is"
            rf"|are) off[- ]limits:?) (?P<v>[^.;:!?]{{2,50}}?)(?: with you| please| again| ever| now)*(?=$|[,.;:!?])",
        ),
        (
            "boundary.rule-",
            rf"(?P<v>{_I} (?:won'?t|will never|will not|never|don'?t ever|refuse to) (?:work|lend"
            rf"|answer|give|share|pay|use my|sign|accept|take calls)[^,.;:!?]{{2,50}})",
        ),
        (
            "boundary.topic",
            r"(?:you can|it'?s (?:ok|fine) to|you may) (?:now )?(?:mention|bring up|talk about"
            r"|recommend|suggest|discuss|ask about) (?P<v>[^.;:!?]{2,40}?) (?:again|now)",
        ),
        (
            "preference.seat",
            rf"(?:{_I} )?{_A}(?:prefer|like|want|take|book|choose|need|get"
            rf"|always)(?: to sit)?(?: me)?(?: an?| the| in the| by the)? (?P<v>window|aisle)(?: seats?)?",
        ),
        (
            "preference.favourite",
            r"my (?:all-?time )?favou?rite (?P<o>[\w ]{2,24}?)(?: of all time)?(?:'s| is| are"
            r"|:) (?P<v>[^.;:!?]{2,40})|(?P<x>[\w ]{2,24}) is my favou?rite (?P<y>[\w ]{2,20})",
        ),
        (
            "preference.likes",
            rf"{_I}(?:'d)? {_A}(?P<n>don'?t |do not |never |no longer |didn'?t |don'?t really "
            rf"|can'?t say i |not )?{_A}(?:like|love|enjoy|adore|prefer|favou?r|dig|appreciate)(?:d)?(?! (?:it|that"
            rf"|this|how|your|you|the way|to know|what|when|him|her"
            rf"|them)\b)(?: to)? (?P<v>[^,.;:!?]{{2,50}}?)(?: any ?more| the most| best| a lot| so much"
            rf"| over [^,.;]{{2,30}}| rather than [^,.;]{{2,30}}| to [^,.;]{{2,30}}| more than [^,.;]{{2,30}})?(?=$"
            rf"|[,.;:!?(]| and i | but | because | when | whenever | so | since )",
        ),
        (
            "preference.likes-",
            rf"(?:{_I} {_A})?(?:hate|dislike|detest|loathe|despise|can'?t (?:stand|bear|take)"
            rf"|cannot (?:stand|bear)|avoid|{_AM} not (?:a (?:big )?fan of|into|keen on|fond of))(?! (?:it|that|this"
            rf"|how|when|you|to say|myself|the way)\b) (?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but | because "
            rf"| so | since )",
        ),
        (
            "preference.likes-",
            rf"{_AM} (?:really )?not (?:a (?:big |huge )?fan of|into|keen on|fond of"
            rf"|crazy about) (?P<v>[^,.;:!?]{{2,50}})",
        ),
        (
            "preference.likes",
            rf"{_AM} (?:a (?:big |huge )?fan of|really into|into|keen on|fond of|crazy about"
            rf"|obsessed with|partial to|a [\w]+ person\b) ?(?P<v>[^,.;:!?]{{2,40}})?",
        ),
        (
            "preference.likes-",
            rf"{_I} (?:no longer|don'?t|do not|never|stopped|quit|gave up|have given up"
            rf"|'ve given up)(?: ever)? (?:eat|drink|buy|wear|watch|play|use|smoke|touch|do|eating|drinking|buying"
            rf"|wearing|watching|playing|using) (?P<v>[^,.;:!?]{{2,40}}?)(?: any ?more| anymore| at all| now)?(?=$"
            rf"|[,.;:!?]| and | but | because | so | since )",
        ),
        (
            "preference.likes-",
            rf"{_I} (?:quit|gave up|have quit|'ve quit|stopped) (?P<v>smoking|drinking|alcohol"
            rf"|sugar|coffee|caffeine|meat|vaping)",
        ),
        (
            "preference.likes",
            rf"{_I}'?d (?:much )?rather (?P<v>[^,.;:!?]{{3,50}}?)(?: than [^,.;]{{2,40}})?(?=$"
            rf"|[,.;:!?]| because )",
        ),
        (
            "task.budget",
            rf"(?:(?:my|our|the|total|overall|actually"
            rf"|new) )*(?P<o>(?:[\w-]+ ){{0,3}}?)budget(?: for (?:the |our |my )?(?P<x>[\w' -]{{2,30}}?))?(?: is"
            rf"| was| has)?(?:'s)?(?: now| currently| still| set| fixed| capped| raised| cut| lowered| increased"
            rf"| changed| gone| moved| been)*(?: to| at| up to| down to| from [^,.;]{{1,16}} to"
            rf"|:)?(?: now)? {_MONEY}",
        ),
        (
            "fact.money",
            rf"my (?P<o>(?:[\w-]+ ){{0,3}}?(?:allowance|salary|rent|income|pay|limit|mortgage|pension"
            rf"|wage|stipend|bonus))(?: is| are)(?: now| about)? {_MONEY}",
        ),
        (
            "commitment.loan",
            rf"{_AM} (?:still )?(?:paying (?:off|back)) (?:my |a |the )?(?P<v>mortgage|car loan"
            rf"|student loans?|loan|credit card)|{_HAVE} an? (?P<o>mortgage|car loan|student loan)",
        ),
        (
            "commitment.event",
            rf"(?:{_HAVE}|{_AM} (?:taking|having|sitting|preparing for|studying for|training for"
            rf"|running|getting ready for|revising for)|there'?s|i need to (?:take|sit|study for)|i'll be (?:taking"
            rf"|having|sitting))(?: an?| my| the)?(?: [\w-]+){{0,3}}? ?(?P<o>(?:[\w-]+ )?{_EVENT})\b(?!(?:s"
            rf"|ed)? (?:go|went|was))",
        ),
        (
            "commitment.event",
            rf"(?:my|our|the) (?P<o>(?:[\w-]+ ){{0,2}}?{_EVENT})(?:'s| is| has been| got"
            rf"| was)?(?: now| been)* (?:on|in|at|moved|rescheduled|pushed|brought forward|postponed|scheduled|set"
            rf"|delayed)\b(?=.{{2,}})",
        ),
        ("commitment.event", rf"(?:{_AM}|i'm) getting (?P<o>married)\b"),
        (
            "commitment.promise",
            rf"(?:{_I} |{_I}'ve |i have |i've )?(?:promised|vowed|swore|pledged|agreed|committed"
            rf"|signed up|volunteered|gave my word|guaranteed|shook hands on|said yes to|undertook)(?: to| that"
            rf"| it)? (?P<v>[^.;!?]{{4,70}})",
        ),
        (
            "commitment.promise",
            rf"(?:i told (?:my |the )?\w+ (?:that )?(?:i|we)'?(?:d| would|ll| will)|{_I} owe"
            rf"|i said i'?d|i(?:'m| am) (?:responsible|in charge|on duty) for|put me down (?:as"
            rf"|for)) (?P<v>[^.;!?]{{3,60}})",
        ),
        (
            "commitment.promise",
            rf"{_I}(?:'ll| will| have to| need to| must| ?'ve got to|'m supposed to) (?P<v>(?:be"
            rf"|send|finish|deliver|return|pay|bring|submit|hand in|give|have|complete|file|renew"
            rf"|pick up)\b(?=.{{0,60}}\b(?:by|before|until|on|at|next|this|tomorrow)\b)[^.;!?]{{4,60}})",
        ),
        (
            "task.date",
            rf"(?:(?:my|our|the|project|new) )*(?P<o>(?:[\w'-]+ ){{0,4}}?{_TASKEVENT})(?: date"
            rf"| day)?(?: for (?:the |our |my )?[\w' -]{{2,30}}?)?(?:'s| is| has(?: been)?| was| got)?(?: now"
            rf"| currently| been| already)*(?: set| moved| pushed(?: back)?| postponed| fixed| scheduled| due"
            rf"| delayed| brought forward| planned| rescheduled| changed| slipped)?(?: for| on| to| at| in| until"
            rf"| by| up to|:)? (?=.{{3,}})",
        ),
        (
            "task.date",
            rf"(?:{_I}|the (?:\w+ ){{0,3}}|{_AM}|{_I}'ll|we'?ll)(?: will| have to| must| need to| are| to"
            rf"| should| plan to| going)* ?(?P<o>launch(?:es|ing)?|go(?:es|ing)? live|ship(?:s|ping)?|release[sd]?"
            rf"|mov(?:e|es|ing)(?: in| out| house)?|submit|open(?:s|ing)?|hand(?:s|ing)? over) (?:on|by|in|at|before"
            rf"|next|this|the)\b(?=.{{2,}})",
        ),
        (
            "task.date",
            r"(?:the |our |my )?(?P<o>[\w' -]{2,30}?) (?:ships|closes|opens|launches|ends|starts|expires"
            r"|is due|goes live|releases|(?:got |was |is |has been )?(?:moved|shifted|pushed|rescheduled"
            r"|postponed))(?: on| by| in| at| to)? (?=(?:\d|the \d|mon|tue|wed|thu|fri|sat|sun|next|jan|feb|mar|apr"
            r"|may|jun|jul|aug|sep|oct|nov|dec))",
        ),
        (
            "commitment.event",
            rf"(?:an? |the )?(?P<o>(?:[\w-]+ ){{0,2}}?{_EVENT})(?:'s)?(?: [\w' ]{{2,30}}?)? (?:on"
            rf"|next|this|tomorrow|in) (?=(?:\d|the \d|mon|tue|wed|thu|fri|sat|sun|next|week|month|morning|jan|feb"
            r"|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))",
        ),
        (
            "commitment.promise",
            rf"(?:{_I} )?(?:still )?(?:need|have|got|gotta|must|gonna"
            rf"|going) ?(?:to )?(?P<v>(?!know|ask|go|sleep)\w+\b(?=.{{0,60}}\b(?:by|before|until"
            rf"|next) )[^.;!?]{{4,60}})",
        ),
        (
            "plan.intent-",
            rf"(?:{_I} |{_I}'ve |we have )?(?:have )?(?:cancell?ed|dropped|scrapped|called off|shelved"
            rf"|gave up on) (?:the |our |my )?(?:idea of )?(?:an? )?(?P<v>[^,.;!?]{{3,40}})",
        ),
        (
            "plan.intent",
            r"(?:currently |now )?(?:training|saving|studying|preparing|looking|planning|hoping) (?:for"
            r"|up for|to) (?P<v>[^.;!?]{4,60})",
        ),
        (
            "boundary.rule",
            r"(?P<v>(?:you must |please |always )*(?:check with|ask"
            r"|consult) me (?:first )?before [^.;!?]{3,50})",
        ),
        (
            "task.decision",
            rf"(?:{_I}(?:'ve| have)? |finally |it'?s )*(?:decided (?:on|to|against)|settled on"
            rf"|gone with|went with|going with|agreed on|chosen|picked|chose|signed off on"
            rf"|decided:?) (?P<v>[^.;!?]{{3,60}})",
        ),
        (
            "task.goal",
            r"(?:my|our|the) (?:\w+ )?(?:goal|target|aim|objective)(?: for [\w ]{2,24})?(?:'s| is"
            r"|:) (?:to )?(?P<v>[^.;!?]{3,60})",
        ),
        (
            "plan.away",
            rf"{_AM} (?:travell?ing|going|flying|away|off|on (?:holiday|vacation|leave)|visiting"
            rf"|out of (?:office|town))(?: to| in| on)? ?(?P<v>[^,;!?]{{0,40}})",
        ),
        (
            "plan.intent-",
            r"(?:the |our |my )?(?P<v>[\w ']{3,30}?) (?:is|was|got|has been|'s been|'s) (?:cancell?ed"
            r"|called off|scrapped|shelved|off)\b|(?:we|i)(?:'re| are|'m| am)? (?:no longer|not) (?P<o>(?:doing"
            r"|going|building|planning|buying|moving)[^,.;!?]{2,40})",
        ),
        (
            "plan.intent",
            rf"(?:{_AM} (?:planning|hoping|going|thinking of|looking|saving|training|learning|studying"
            rf"|renovating|building|writing|working on|organi[sz]ing|preparing|trying)(?: to| for| on| up for)? "
            rf"|{_I} (?:plan|intend|aim|hope|want) to )(?!know|see|ask|talk|hear|be honest|say|find out|check|figure"
            rf"|understand|you|it|that|this|a |get back|bed|sleep|work|the (?:shop|gym))(?P<v>[^.;!?]{{4,60}})",
        ),
        (
            "fact.owns",
            rf"(?:{_HAVE}|{_I} (?:also )?(?:own|drive|keep|rent|ride|use|play))(?: also)? (?!to\b|been\b"
            rf"|no idea|a (?:question|problem|feeling|headache|cold|minute|moment|look|point|good|great|bad|lovely"
            rf"|nice|hard|long|sandwich|hunch|plan|few|lot|bit|request|sec|meeting|call|thought|doubt)|an? (?:idea"
            rf"|issue|error|answer)|the (?:feeling|same|time|flu)|some|any|time|trouble|fun|issues|questions"
            rf"|problems|your|it|this|that|nothing|never|just|only|already|always|you|not|seen|heard|done|tried|read"
            rf"|noticed|thought|lost|found|gone|made|learned|decided|had|enough|lunch|dinner|breakfast|faith"
            rf"|doubts)(?P<v>(?:an? |two |three |four |five |six |my |our |the |\d+ |solar "
            rf"|no )?[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| so | but | because )",
        ),
        (
            "preference.habit",
            rf"{_I} (?P<n>never |rarely |don'?t usually |hardly ever )?(?:(?:always|usually"
            rf"|normally|generally|typically|mostly|tend to|often|only|prefer to|like to|try to"
            rf"|make a point of) )+(?P<v>[^,.;:!?]{{3,60}})",
        ),
        (
            "preference.habit-",
            rf"{_I} (?:never|rarely|hardly ever) (?!knew|thought|heard|said|mind|saw|expected|been"
            rf"|got|had|did|understood|imagined|realised|realized)(?P<v>[^,.;:!?]{{3,50}})",
        ),
        (
            "preference.habit",
            rf"{_I} (?P<v>(?:go|run|swim|cycle|work out|meditate|read|cook|eat|drink|walk|train"
            rf"|bike|wake up|get up|play|practise|practice|sing|bake|garden|paint)\b[^,.;:!?]{{0,40}}\b(?:every|each"
            rf"|daily|weekly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|at weekends|most|twice|once a"
            rf"|in the mornings?|before bed|times a week))",
        ),
        (
            "fact.attribute",
            rf"(?:my|our) (?P<o>(?!{_REL}|question|point|guess|problem|issue|bad|god|favou?rite"
            rf"|mistake|pleasure|day|week|weekend|mood|head|feet|brain|answer|turn|thing|opinion|advice|hope|dream"
            rf"|life|plan|first|next|last|only|biggest|worry|fear|mind|heart|food|order|lunch|dinner|flight"
            rf"|train)[\w'-]+(?: [\w'-]+){{0,3}}?) (?:is|are|was|runs|closes|opens|starts|uses|has|ends) (?!so\b"
            rf"|very|too|really|not working|dead|broken|fine|good|great|bad|down|slow|killing|acting|stuck|late|here"
            rf"|gone|done|ready|full|over|ok|okay|that|it|this|how|why|what|if|better|worse|amazing|awesome|sore"
            rf"|tired|just)(?P<v>[^.;:!?]{{1,60}})",
        ),
        (
            "fact.about?",
            r"(?:the|our|my) (?P<v>(?:boiler|flat|apartment|house|garden|car|office|thermostat|router"
            r"|kitchen|landlord|building|garage|heating|company|team|bike|boat|van|shop|dog|cat)(?:'s| is| has| was"
            r"| closes| opens| runs| uses)\s(?!so |very |too |killing|broken|acting|making|gone|late|a mess|on fire"
            r"|amazing|great|lovely|nice|dead|freezing|down|great)[^.;!?]{4,70})",
        ),
    ],
    re.IGNORECASE,
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
