"""English rules of likes, promises, plans, tasks and belongings, most telling first."""

from __future__ import annotations

import re

from tables.extractive_en_words import AM, HAVE, ME, A
from tables.extractive_rules import compiled

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

RULES = compiled(
    [
        (
            "preference.diet",
            rf"{AM} (?P<n>no longer |not )?(?:also |a |an |strictly |strict |mostly |now "
            rf"|basically )*(?P<v>vegan|vegetarian|pescatarian|halal|kosher|keto|gluten[- ]free|dairy[- ]free"
            rf"|plant[- ]based)\b|{ME} (?:only )?(?:keep|eat) (?P<o>kosher|halal|vegan|vegetarian|keto|low[- ]carb"
            rf"|gluten[- ]free|plant[- ]based)",
        ),
        (
            "preference.seat",
            rf"(?:{ME} )?{A}(?:prefer|like|want|take|book|choose|need|get"
            rf"|always)(?: to sit)?(?: me)?(?: an?| the| in the| by the)? (?P<v>window|aisle)(?: seats?)?",
        ),
        (
            "preference.favourite",
            r"my (?:all-?time )?favou?rite (?P<o>[\w ]{2,24}?)(?: of all time)?(?:'s| is| are"
            r"|:) (?P<v>[^.;:!?]{2,40})|(?P<x>[\w ]{2,24}) is my favou?rite (?P<y>[\w ]{2,20})",
        ),
        (
            "preference.likes",
            rf"{ME} {A}(?P<n>don'?t |do not |never |no longer |didn'?t |don'?t really "
            rf"|can'?t say i |not )?{A}(?:like|love|enjoy|adore|prefer|favou?r|dig|appreciate)(?! (?:it|that"
            rf"|this|how|your|you|the way|to know|what|when|him|her"
            rf"|them)\b)(?: to)? (?P<v>[^,.;:!?]{{2,50}}?)(?: any ?more| the most| best| a lot| so much"
            rf"| over [^,.;]{{2,30}}| rather than [^,.;]{{2,30}}| to [^,.;]{{2,30}}| more than [^,.;]{{2,30}})?(?=$"
            rf"|[,.;:!?(]| and i | but | because | when | whenever | so | since )",
        ),
        (
            "preference.likes-",
            rf"(?:{ME} {A})?(?:hate|dislike|detest|loathe|despise|can'?t (?:stand|bear|take)"
            rf"|cannot (?:stand|bear)|avoid|{AM} not (?:a (?:big )?fan of|into|keen on|fond of))(?! (?:it|that|this"
            rf"|how|when|you|to say|myself|the way)\b) (?P<v>[^,.;:!?]{{2,50}}?)(?=$|[,.;:!?(]| and | but | because "
            rf"| so | since )",
        ),
        (
            "preference.likes-",
            rf"{AM} (?:really )?not (?:a (?:big |huge )?fan of|into|keen on|fond of"
            rf"|crazy about) (?P<v>[^,.;:!?]{{2,50}})",
        ),
        (
            "preference.likes",
            rf"{AM} (?:a (?:big |huge )?fan of|really into|into|keen on|fond of|crazy about"
            rf"|obsessed with|partial to|a [\w]+ person\b) ?(?P<v>[^,.;:!?]{{2,40}})?",
        ),
        (
            "preference.likes-",
            rf"{ME} (?:no longer|don'?t|do not|never|stopped|quit|gave up|have given up"
            rf"|'ve given up)(?: ever)? (?:eat|drink|buy|wear|watch|play|use|smoke|touch|do|eating|drinking|buying"
            rf"|wearing|watching|playing|using) (?P<v>[^,.;:!?]{{2,40}}?)(?: any ?more| anymore| at all| now)?(?=$"
            rf"|[,.;:!?]| and | but | because | so | since )",
        ),
        (
            "preference.likes-",
            rf"{ME} (?:quit|gave up|have quit|'ve quit|stopped) (?P<v>smoking|drinking|alcohol"
            rf"|sugar|coffee|caffeine|meat|vaping)",
        ),
        (
            "preference.likes",
            rf"{ME}'?d (?:much )?rather (?P<v>[^,.;:!?]{{3,50}}?)(?: than [^,.;]{{2,40}})?(?=$"
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
            rf"{AM} (?:still )?(?:paying (?:off|back)) (?:my |a |the )?(?P<v>mortgage|car loan"
            rf"|student loans?|loan|credit card)|{HAVE} an? (?P<o>mortgage|car loan|student loan)",
        ),
        (
            "commitment.event",
            rf"(?:{HAVE}|{AM} (?:taking|having|sitting|preparing for|studying for|training for"
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
        ("commitment.event", rf"(?:{AM}|i'm) getting (?P<o>married)\b"),
        (
            "commitment.promise",
            rf"(?:{ME} |{ME}'ve |i have |i've )?(?:promised|vowed|swore|pledged|agreed|committed"
            rf"|signed up|volunteered|gave my word|guaranteed|shook hands on|said yes to|undertook)(?: to| that"
            rf"| it)? (?P<v>[^.;!?]{{4,70}})",
        ),
        (
            "commitment.promise",
            rf"(?:i told (?:my |the )?\w+ (?:that )?(?:i|we)'?(?:d| would|ll| will)|{ME} owe"
            rf"|i said i'?d|i(?:'m| am) (?:responsible|in charge|on duty) for|put me down (?:as"
            rf"|for)) (?P<v>[^.;!?]{{3,60}})",
        ),
        (
            "commitment.promise",
            rf"{ME}(?:'ll| will| have to| need to| must| ?'ve got to|'m supposed to) (?P<v>(?:be"
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
            rf"(?:{ME}|the (?:\w+ ){{0,3}}|{AM}|{ME}'ll|we'?ll)(?: will| have to| must| need to| are| to"
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
            rf"(?:{ME} )?(?:still )?(?:need|have|got|gotta|must|gonna"
            rf"|going) ?(?:to )?(?P<v>(?!know|ask|go|sleep)\w+\b(?=.{{0,60}}\b(?:by|before|until"
            rf"|next) )[^.;!?]{{4,60}})",
        ),
        (
            "plan.intent-",
            rf"(?:{ME} |{ME}'ve |we have )?(?:have )?(?:cancell?ed|dropped|scrapped|called off|shelved"
            rf"|gave up on) (?:the |our |my )?(?:idea of )?(?:an? )?(?P<v>[^,.;!?]{{3,40}})",
        ),
        (
            "plan.intent",
            r"(?:currently |now )?(?:training|saving|studying|preparing|looking|planning|hoping) (?:for"
            r"|up for|to) (?P<v>[^.;!?]{4,60})",
        ),
        (
            "task.decision",
            rf"(?:{ME}(?:'ve| have)? |finally |it'?s )*(?:decided (?:on|to|against)|settled on"
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
            rf"{AM} (?:travell?ing|going|flying|away|off|on (?:holiday|vacation|leave)|visiting"
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
            rf"(?:{AM} (?:planning|hoping|going|thinking of|looking|saving|training|learning|studying"
            rf"|renovating|building|writing|working on|organi[sz]ing|preparing|trying)(?: to| for| on| up for)? "
            rf"|{ME} (?:plan|intend|aim|hope|want) to )(?!know|see|ask|talk|hear|be honest|say|find out|check|figure"
            rf"|understand|you|it|that|this|a |get back|bed|sleep|work|the (?:shop|gym))(?P<v>[^.;!?]{{4,60}})",
        ),
        (
            "fact.owns",
            rf"(?:{HAVE}|{ME} (?:also )?(?:own|drive|keep|rent|ride|use|play))(?: also)? (?!to\b|been\b"
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
            rf"{ME} (?P<n>never |rarely |don'?t usually |hardly ever )?(?:(?:always|usually"
            rf"|normally|generally|typically|mostly|tend to|often|only|prefer to|like to|try to"
            rf"|make a point of) )+(?P<v>[^,.;:!?]{{3,60}})",
        ),
        (
            "preference.habit-",
            rf"{ME} (?:never|rarely|hardly ever) (?!knew|thought|heard|said|mind|saw|expected|been"
            rf"|got|had|did|understood|imagined|realised|realized)(?P<v>[^,.;:!?]{{3,50}})",
        ),
        (
            "preference.habit",
            rf"{ME} (?P<v>(?:go|run|swim|cycle|work out|meditate|read|cook|eat|drink|walk|train"
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
