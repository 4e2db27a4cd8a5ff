"""Frames: what surrounds a clause and decides that its words are not the user's statement, before any rule reads it."""

from __future__ import annotations

import re

from tables.worth import Drop

# The rest of the turn is no statement either: a quoted text, a role play, something to work on follows.
_OPENS_ZH = re.compile(
    r"(?:假设|假定|假如|想象一下|想象|角色扮演|剧本|台词|测试数据|示例|样例|作文|范文|例文|思想实验|造句|例句|病句"
    r"|歌词|广告词|原文"
    r"|文案|简介|留言)"
    r".{0,20}[:：]|^(?:假设|假定|假装|想象|比方说|比如说?|好比说?|举个例子|就当|设想)"
    r"|^(?:请|帮我|帮忙|麻烦)?(?:把|将)?.{0,10}(?:翻译|润色|改写|改病句|总结|缩写|校对|分析|解释|续写|改短"
    r"|仿写).{0,16}[:：]"
    r"|.{0,12}(?:写道|写着|说道|发来|发给我|发我|喊|念叨|原话是?|开头是.{0,6})[:：，,]"
    r"|.{0,12}(?:留言|回复|回)[:：]"
)
_OPENS_EN = re.compile(
    r"^(?:so |ok(?:ay)?,? |well,? )?(?:imagine|suppose|supposing|assume|pretend|picture this|let'?s (?:say|pretend"
    r"|imagine|assume)|hypothetically"
    r"|theoretically|in theory|say (?:i|the|my|we|you)\b|consider (?:the case|a|an)|thought experiment|role ?play"
    r"|for (?:the sake of argument|argument'?s sake|this example|the example|example,? (?:say|imagine)))"
    r"|^(?:please |pls |can you |could you )?(?:translate|proofread|rewrite|rephrase|summari[sz]e|correct|edit"
    r"|improve|fix|shorten|paraphrase"
    r"|reply to|respond to|continue)\b.{0,60}[:：]"
    r"|\b(?:essay|script|lyrics|novel|dialogue|caption|sample|template|example|email|text|message|note|sign|review"
    r"|quote|line|bio|post)\b"
    r".{0,24}(?:[:：]|\bsays\b|\breads\b|\bgoes\b)",
    re.IGNORECASE,
)
_WORK_ON = re.compile(  # whatever language the text to work on is in
    r"(?:please |pls |can you |could you )?(?:translate|proofread|rewrite|rephrase|summari[sz]e|correct|edit)\b"
    r"[^:：\n]{0,60}[:：]"
    r"|(?:请|帮我|帮忙|麻烦)*(?:把|将)?[^:：\n]{0,10}(?:翻译|润色|改写|总结|缩写|校对)[^:：\n]{0,16}[:：]",
    re.IGNORECASE,
)
_HYPOTHETICAL_ZH = re.compile(
    r"如果|要是|假如|假设|假定|倘若|万一|要不是|若是|哪怕|设想|想象一下|理论上|下辈子|当初|没准|说不定哪天|就好了"
    r"|就当我|角色扮演|这道题"
    r"|恨不得|真想当|原本(?:可以|能)|本来(?:可以|能|会)"
)
_HYPOTHETICAL_EN = re.compile(
    r"\bif\b|\bwere i\b|\bhad i\b|\b(?:i|we)(?:'d| would| could| might) (?:have|love to have|be able|see myself)\b"
    r"|\bi wish\b|\bwish i\b"
    r"|\bsomeday\b|\bone day i\b|\bin another life\b|\bhypothetical|\btheoretically\b|\bimagine\b|\bpretend\b"
    r"|\bsuppos(?:e|ing)\b"
    r"|\bassum(?:e|ing)\b|\blet'?s say\b|\bargument'?s sake\b|\bthought experiment\b|\brole ?play\b|\bwhat would\b"
    r"|\bunless\b"
    r"|\b(?:i|we)(?:'d| would) (?!like|rather|prefer|appreciate|love|hate|never|always)",
    re.IGNORECASE,
)
_QUOTATION_ZH = re.compile(
    r"(?:他|她|他们|人家|那人|妈|爸|师|医生|老板|客户|朋友|同事|友|友们|公|婆|爷|奶|姐|哥|弟|妹|有人|网上|书上|书里"
    r"|文章|歌"
    r"|电影|剧|新闻|广告|俗话|老话|古人|常言)"
    r"[^，。]{0,6}(?:说|讲|写|唱|发来|喊|吼|念叨|告诉|写道|问|回)(?!好|定|服|我(?:有|得|可能|是))|俗话|常言道|老话"
    r"|每日一句|听说|据说"
    r"|(?:所谓|号称|名言|台词|歌词|作文|范文)"
)
_QUOTED = re.compile(r"[\"“「『《]([^\"”」』》]{5,200})[\"”」』》]")
_QUOTATION_EN = re.compile(
    r"\b(?:he|she|they|someone|everyone|people|mum|mom|dad|wife|husband|boss|friend|teacher|doctor|colleague|client"
    r"|customer|song|book"
    r"|article|movie|film|ad|poster|sign|leaflet|email|message|note|story|character|narrator|lyrics?|poem|saying"
    r"|proverb|quote|caption|bio|review)\b"
    r"[^,.]{0,24}\b(?:says?|said|wrote|writes|told me|texted|yelled|shouted|goes|reads|sings|claims?|claimed"
    r"|keeps? saying|quote)\b"
    r"|\bas they say\b|\bquote of the\b|\bthe (?:line|phrase|saying|caption)\b|\bi (?:read|heard) (?:that|about)\b"
    r"|^heard\b",
    re.IGNORECASE,
)
_DOCTOR = re.compile(
    r"医生|大夫|体检|营养师|\b(?:doctor|doc|gp|dentist|dermatologist|physio|cardiologist|nutritionist|specialist)\b",
    re.I,
)
_GAVE_WORD = re.compile(r"\b(?:promised|told|swore|agreed|my word|i said|appreciate it if)\b(?!.{0,60}\bif i\b)", re.I)
_REPORTS_SELF = re.compile(
    r"(?:告诉|跟|和|对|答应|向)(?:我?(?:老板|客户|团队|妈|爸|老婆|老公|姥姥|儿子|女儿|他们|她|他))|\bi (?:told"
    r"|promised|said)\b",
    re.I,
)

_OTHERS_ZH = (
    "同事|朋友|闺蜜|哥们|邻居|室友|舍友|房东|老板|领导|上司|前任|前男友|前女友|前夫|前妻|同学|老师|客户|网友|师傅"
    "|学生|病人|队友|战友|老乡|亲戚"
    "|表[哥姐弟妹]|堂[哥姐弟妹]|[姑姨舅叔伯]妈?|教练|保姆|实习生|对门|楼上|楼下|隔壁"
)
_THIRD_ZH = re.compile(
    rf"(?:我们?|咱们?)?(?:的)?(?:(?:一个|有个|有位|几个|那个|最好的|好|老|新|大学|高中|公司|单位|班上"
    rf"|楼里)的?)*(?:{_OTHERS_ZH})"
    r"|(?:他|她|它|他们|她们|人家|大家|有人|有些人|别人|总统|这个人|那个人|这人|那人|老两口|对方)(?!.{0,2}(?:叫我"
    r"|都叫我))"
    r"|(?:听说|据说|我关注的|我认识的|我们班|单位有|公司有|我[^，]{1,3}[家的](?:邻居|老师|朋友|同事))"
    r"|(?:小|老|阿)[\u4e00-\u9fff](?![\u4e00-\u9fff]?(?:时候|区|家|房|城|狗|猫|是|毛病|伤"
    r"|胃病))(?=[\u4e00-\u9fff]{0,1}(?:不|很|最|喜欢|讨厌|爱|要|在|对|有|说|住|是|去|也))"
)
_OTHERS_EN = (
    r"friends?|mates?|buddy|colleagues?|co-?workers?|neighbou?rs?|room-?mates?|flat-?mates?|landlord|landlady"
    r"|boss(?:'s)?|ex(?:-\w+)?"
    r"|cousins?|aunt|uncle|teacher|professor|classmates?|clients?|customers?|interns?|ceo|team-?mate|coach|barista"
    r"|manager'?s|students?|nephew|niece"
)
_THIRD_EN = re.compile(
    rf"(?:(?:my|our|a|the|an?) (?:\w+ ){{0,2}}(?:{_OTHERS_EN})\b(?!'?s? name)|(?:he|she|they|his|her|their|everyone"
    rf"|somebody|someone|people|that \w+|those|these|the other \w+|another \w+)\b"
    r"|it(?:'s)?\b|(?:a|this|some) (?:guy|man|woman|girl|boy|kid|person|lady)\b|heard\b|my \w+'s (?!name|birthday)"
    r"|the (?:president|singer|dean|mayor|queen|king)\b"
    r"|you(?:'re|r)?\b)",
    re.IGNORECASE,
)

_WISH_ZH = re.compile(
    r"这次|这回|本次|这一次|就这一|今天先|今天就|今天想|今天要|今天别|今天不要|今天不想|今晚想|今晚要|今晚先|今晚就"
    r"|现在想|现在就想|现在先|暂时|眼下先|现在(?:换|改用|用)|这会儿|这轮|这个会话"
    r"|接下来.{0,4}(?:个|条|次)|^先.{1,12}(?:吧|再说)|今晚.{0,8}(?:来点|想)|今天.{0,6}(?:想听|想看|想吃|想喝|想聊"
    r"|别提|不提)"
)
_WISH_EN = re.compile(
    r"\bthis time\b|\bfor now\b|\bjust (?:for )?(?:today|now|tonight|this once)\b|\bfor this (?:chat|conversation"
    r"|session|one|answer|reply|question|message)\b"
    r"|\b(?:only|just) this (?:once|time)\b|\bin the mood for\b|\b(?:today|tonight|right now),? (?:i|i'd|let|please"
    r"|don't|no|keep|give|play)\b"
    r"|\b(?:want|like|fancy|feel like|prefer|don't|no|skip|leave)\b.{0,40}\b(?:today|tonight|right now|this evening)\b"
    r"|\bnext (?:two|three|few|couple) (?:answers|replies|messages)\b|\bfor the moment\b|\bthis once\b|\btoday only\b",
    re.IGNORECASE,
)

_REQUEST_ZH = re.compile(
    r"(?:请|麻烦|能|可以|你)*(?:帮(?:我|忙|一下)|给我(?!们?留|发通知)|替我(?!答应)|查一?下|查查|找(?:一?下|个|找)|搜"
    r"|推荐(?:一|几|个|点|下)|列(?:一?下|出|个)|写(?:一?[下个篇封首]|出)|算(?:一?下)"
    r"|翻译|总结|解释|对比|比较一下|画|生成|做个|做一|改(?:一?下|成更|短|长)|换成|放(?:一?下|一?首|点)|播放|打开"
    r"|关(?:掉|闭|了)|删除|撤销|继续|重试|再(?:短|长|来|试|说)|提醒我|设(?:个|置)|预订|订(?:一|个|张)"
    r"|告诉我|说说|讲讲|介绍|安排|排个|调出|把(?!我(?:的)?(?:手机|号码|地址|信息|位置|病|照片))|忘掉|我想(?:看看|查"
    r"|问|知道|了解|请|让你|找|咨询|对比|听听)|我要(?:看看|查|问|退款|退货|投诉|找)|我(?:看看|问一下|想一想))"
)
_REQUEST_EN = re.compile(
    r"(?:please |pls |plz |now |then |and |ok(?:ay)?,? |hey,? |just )*(?:(?:can|could|would|will) you|give|show|tell"
    r"|find|search|look up|book|calculate|compute|convert|"
    r"compare|sort|translate|summari[sz]e|explain|describe|draft|write (?:a|an|me|the|some|up)|generate|create"
    r"|make (?:it|this|that|me|a|the)|list|plan|suggest|recommend|check|"
    r"fix|debug|rewrite|rephrase|shorten|expand|continue|try|play|turn|open|close|delete|remove|add|set|remind"
    r"|schedule|order|cancel|send|forget|help|"
    r"pull up|put (?:this|it|that|these)|run|pick|choose|name|let'?s|let me|i need you to|i(?:'d"
    r"| would) like (?:you )?to (?:know|see|ask|book|order|return|cancel)|i want (?:you )?to (?:know|see|ask|book"
    r"|order|return))\b",
    re.IGNORECASE,
)

_MOMENT_ZH = re.compile(
    r"今天|今早|昨天|昨晚|刚才|刚刚|刚到|前天|方才|此刻|正坐|正在等|现在(?:有点|很|好|在等|在.{1,6}等)|上周末"
    r"|又.{1,4}了$|一整天"
    r"|(?:好|很|太|真|有点|超|特别|非常)(?:累|困|饿|烦|开心|高兴|难过|生气|郁闷|无聊|紧张|焦虑|激动|失望|感动|担心"
    r"|后悔|尴尬|烦躁|崩溃|想哭|低落)"
    r"|累(?:死|瘫|坏)|烦死|气死|饿了|困了|心情|无语|我真是个|我这人脾气|再也不(?:想|会)(?:用|来|理)"
)
_MOMENT_EN = re.compile(
    r"\b(?:today|yesterday|tonight|last night|this (?:morning|afternoon|evening)|just now|right now|earlier"
    r"|the other day|at the moment|lately)\b"
    r"|\bi(?:'m| am|m| feel| felt| was) (?:\w+ )?(?:tired|hungry|sad|happy|bored|angry|nervous|worried|excited"
    r"|exhausted|stressed|down|upset|annoyed|"
    r"glad|sorry|confused|sure|afraid|thrilled|frustrated|lonely|sleepy|proud|grateful|relieved|done|back|here|ready"
    r"|fine|good|ok|okay|well|great|lost|"
    r"stuck|late|busy|curious|wondering|thinking|hoping|trying|looking|reading|watching|writing|waiting|sitting"
    r"|asking|joking|kidding|not sure)\b"
    r"|\bi(?:'m| am) (?:so|such|too|really|just) (?:\w+)|\bi (?:hope|guess so|will think|learned|'ll try|understand"
    r"|see|get it|agree|disagree)\b|\bi'?ll (?:try|think|keep|pay|see|check|look)\b",
    re.IGNORECASE,
)
_HEDGE_ZH = re.compile(r"可能|也许|大概|或许|好像|似乎|应该是|估计|说不定|不太确定|不确定|我猜|差不多吧|貌似|八成")
_HEDGE_EN = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|i guess|i think|i suppose|not sure|kind of|sort of|kinda|sorta"
    r"|i believe|apparently|seems?)\b",
    re.I,
)

_PREFACE_ZH = re.compile(
    r"(?:(?P<r>(?:请|麻烦)?(?:你)?(?:帮我)?(?:一定要?)?(?:记住|记一下|记下来?|记着|记得|别忘了?|不要忘了?|注意"
    r"|备注)(?:一下|了)?(?:哈|啊|哦)?[，,：:\s]*)"
    r"|对了|顺便(?:说一下|提一下|说)?|(?:再|友情)?提醒(?:你|下|您)?(?:一下)?|还是那句话|跟之前说的一样|再说一遍|重申一下|说明一下|先说明|补充一下|其实|哦对?|嗯+|那个|另外|还有"
    r"|话说|跟你说|告诉你|更新一下|说实话|说真的|老实说|哈+|唉|哎|因为|所以|而且|但是?|不过|然后|好消息"
    r"|更正一下|纠正一下|不对|[，,：:。！!\s、])+"
)
_PREFACE_EN = re.compile(
    r"(?:(?P<r>(?:please |pls |and |just |so ){0,3}(?:(?:do )?remember(?: this| that| it)?|don'?t forget(?: that)?"
    r"|keep in mind(?: that)?|(?:make a )?note(?: that| down)?|for the record|bear in mind(?: that)?)"
    r"[,:]?(?!\s+to\b|\s+when\b)\s+)"
    r"|(?:btw|by the way|also|oh|ok(?:ay)?|well|so|and|but|actually|fyi|just so you (?:know|have it)"
    r"|for your information|ah|um+|hey|hi|hello|yes|yeah|no|look|honestly|frankly|"
    r"tbh|ngl|good news|bad news|quick update|update|correction|because|since|cause|cos|as|though|although|plus"
    r"|anyway|maybe|perhaps|i think|i guess|i suppose|i believe|to be honest|in fact|turns out"
    r"|(?:just )?(?:a |another )?(?:friendly )?reminder(?: that)?|like i said|as i said|as ever|heads up"
    r"|for the (?:menu|form|order|booking|record|guest list|file)|on second thoughts?"
    r"|one more thing|"
    r"what i meant is|i mean)(?=[\s,:;.!-])[\s,:;.!-]*|[,:;.!\s-]+)+",
    re.IGNORECASE,
)


def opens_foreign(text: str, zh: bool) -> bool:
    """Whether what follows in this turn is quoted, imagined or material to work on."""
    return (_OPENS_ZH if zh else _OPENS_EN).search(text) is not None or _WORK_ON.match(text) is not None


def sentence_frame(text: str, zh: bool) -> Drop | None:
    """A frame that takes the statement out of a whole sentence."""
    if (_HYPOTHETICAL_ZH if zh else _HYPOTHETICAL_EN).search(text) and not _GAVE_WORD.search(text):
        return Drop.HYPOTHETICAL
    quoted = _QUOTED.search(text)
    if quoted and (len(quoted[1]) * 2 > len(text) or "我" in quoted[1] or re.search(r"\bI\b", quoted[1])):
        return Drop.QUOTATION
    if (
        (_QUOTATION_ZH if zh else _QUOTATION_EN).search(text)
        and not _DOCTOR.search(text)
        and not _REPORTS_SELF.search(text)
    ):
        return Drop.QUOTATION
    return None


def third_party(clause: str, zh: bool) -> bool:
    return (_THIRD_ZH if zh else _THIRD_EN).match(clause) is not None


def is_wish(clause: str, zh: bool) -> bool:
    """For now only: this session's state, never a lasting preference."""
    return (_WISH_ZH if zh else _WISH_EN).search(clause) is not None


_REFUSES_ZH = re.compile(r"别|不要|不想|不提|先不|换")
_REFUSES_EN = re.compile(r"\b(?:don'?t|no|skip|leave|stop|let's not|rather not)\b", re.IGNORECASE)


def refuses(clause: str, zh: bool) -> bool:
    """Whether a wish keeps something out: "don't mention the exam today"."""
    return (_REFUSES_ZH if zh else _REFUSES_EN).search(clause) is not None


def is_request(clause: str, zh: bool) -> bool:
    return (_REQUEST_ZH if zh else _REQUEST_EN).match(clause) is not None


def is_momentary(clause: str, zh: bool) -> bool:
    return (_MOMENT_ZH if zh else _MOMENT_EN).search(clause) is not None


def is_hedged(clause: str, zh: bool) -> bool:
    return (_HEDGE_ZH if zh else _HEDGE_EN).search(clause) is not None


LEAD_MAX = 40  # characters: an introduction is short
_ONE_OFF_ZH = re.compile(
    r"(?:嗯|不了|算了|没事|谢谢|那|我)*[，, ]?我?(?:暂时|现在|目前|这次|先)*"
    r"(?:不需要|不用了?|不必了?|用不着|不想要)(?:了)?[^，。！？]{0,8}(?:了|啊|哈|呢)?[。！~]*"
)
_ONE_OFF_EN = re.compile(
    r"(?:no|nope|nah|no thanks|thanks|ok)?[,. ]*(?:i|we) (?:don'?t|do not|won'?t) (?:need|want|require) [^,.!?]{1,40}"
    r"[.! ]*",
    re.IGNORECASE,
)


def is_one_off_refusal(sentence: str, zh: bool) -> bool:
    """A bare refusal ("I don't need support"): an answer for now, and easily a slip; a standing one says so."""
    return (_ONE_OFF_ZH if zh else _ONE_OFF_EN).fullmatch(sentence) is not None


_LEAD_ZH = re.compile(
    r"(?:(?:请|麻烦)?(?:以后|今后|往后|从现在(?:起|开始)|从今(?:天起|往后|以后)|从此|默认|一律|这次|这回|今天|今晚"
    r"|平时|一般|通常|首先|最近)[呢啊吧]?)"
)
_LEAD_EN = re.compile(
    r"(?:(?:and |so |but |please )*(?:from now on(?:wards)?|from here on|going forward|in (?:the )?future|always"
    r"|by default|as a rule|in general"
    r"|generally|usually|this time|for now|today|tonight|for this (?:project|task|chat|conversation|session|one)"
    r"|these days|at work|at home))",
    re.IGNORECASE,
)


def is_lead(clause: str, zh: bool) -> bool:
    """A clause of nothing but introduction ("from now on,", 对了，): it belongs to the statement after it."""
    if len(clause) > LEAD_MAX:
        return False
    if (_LEAD_ZH if zh else _LEAD_EN).fullmatch(clause):
        return True
    match = (_PREFACE_ZH if zh else _PREFACE_EN).match(clause + " ")
    return match is not None and match.end() > len(clause)


def preface(clause: str, zh: bool) -> tuple[int, bool]:
    """Length of the words before the statement ("by the way", 对了), and whether they ask to remember it."""
    match = (_PREFACE_ZH if zh else _PREFACE_EN).match(clause)
    if match is None or match.end() >= len(clause):
        return 0, False
    return match.end(), match["r"] is not None
