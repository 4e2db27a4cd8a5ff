"""Small talk: thanks, greetings, acknowledgements, laughter, a change of subject."""

from __future__ import annotations

import re


def _words(lines: str) -> frozenset[str]:
    return frozenset(lines.split())


_WORDS = _words(
    "a ahh all and anyway are bad be best bet chat day dear definitely did do done ever evening for gd going "
    "happy have help helpful helping how i'm im in is it it's its joking just kind look love makes man many "
    "marvellous most much my n never mind night not nothing of pls point pretty problem quite rad really same see "
    "seriously sir so stuff take that that's thats the then there thing think this time to today too totally u up "
    "very was way weekend well what with word you you're your "
)
_CORES = _words(
    "ah aha alright amazing appreciate appreciated awesome aww bravo bye cheers congrats cool correct damn "
    "exactly excellent fair fantastic fascinating fine funny glad good goodbye goodnight gosh gotcha great ha "
    "haha hahaha hello hey hi hilarious hm hmm hmmm impressive indeed interesting k kk kidding later lmao lol "
    "lovely luck merci mm mmm morning nice nope no oh ok okay okey omg ooh oops perfect phew please right rofl "
    "sense sorry sounds splendid super superb sure sweet ta thank thanks thanx thx true ty ugh uh um welcome "
    "whatever whew wonderful works worries wow wtf xd yay yeah yep yes yo yup "
)
_ALL = _WORDS | _CORES
_PHRASES = re.compile(
    r"(?:(?:ok(?:ay)?|well|so|anyway|alright)[, ]+)?(?:let['’]?s|can we|could we|we can) "
    r"(?:change|switch|drop|talk about|move on|stop|continue|start over|try again|leave|call it|get back)\b.{0,24}"
    r"|see (?:you|ya)\b.{0,20}|talk (?:to you )?(?:soon|later)|have a (?:nice|good|great) .{0,16}"
    r"|that(?:'s| is| was)? (?:all|it)(?: for (?:now|today))?|never ?mind.{0,20}|how are you.{0,12}|what['’]?s up"
    r"|(?:got|makes) (?:it|sense).{0,16}|you(?:'re| are) (?:right|welcome|the best|so .{2,12})"
)
_ZH_UNITS = _words(
    "换个话题 换一个话题 聊点别的 说点别的 不说这个了 说别的 咱们 我们 继续 接着说 下一个 没事了 没事 没问题 "
    "没什么 没了 没有了 不用了 不用 不客气 不好意思 不错 不是 不 是的 是 对的 对 好的 好吧 好嘞 好滴 好呀 好 行 "
    "可以 嗯嗯 嗯 哦 噢 喔 啊 呃 额 唉 哎 咦 哇塞 哇 哈 嘿 嘻 呵 呜 诶 欸 哟 谢谢 谢了 谢 多谢 感谢 感恩 辛苦 "
    "麻烦 拜托 抱歉 对不起 收到 明白 了解 知道 懂 清楚 原来如此 原来是 这样 如此 完美 太好 太棒 太强 太赞 真好 "
    "真棒 真的 厉害 牛 赞 棒 强 绝 秀 给力 优秀 漂亮 同意 完全 当然 肯定 确实 没错 有道理 有意思 有趣 好玩 搞笑 "
    "笑死 逗 你好 您好 早上好 上午好 中午好 下午好 晚上好 早安 午安 晚安 早 嗨 哈喽 在吗 在不在 在么 再见 拜拜 "
    "回见 回头聊 回头见 明天见 下次聊 先聊到这 先这样 就这样 周末愉快 节日快乐 新年快乐 生日快乐 祝你 祝您 加油 "
    "晕 汗 呼 呵呵 天哪 我去 我的天 妈呀 随便 都行 无所谓 算了 算 帮大忙 太有用 有用 很 太 真 非常 十分 挺 你 您 "
    "我 了 的 呀 吧 呢 啦 嘛 哦 哈 咯 呗 嘞 喽 哒 滴 哎呀 么 吗 都 也 那 就 先 都好 这个 那个 大 多 啊 其实 还 "
    "一下 ok okay ojbk hi hello 666 233 "
)
_ZH_TALK = re.compile(
    "(?>" + "|".join(sorted(map(re.escape, _ZH_UNITS), key=len, reverse=True)) + r"|[^\w\u4e00-\u9fff])++"
)
_PUNCTUATION = re.compile(r"[^\w'’\s]|_")


def is_small_talk(text: str) -> bool:
    """Thanks, greetings, acknowledgements, laughter, a change of subject: nothing else in a short text."""
    lowered = text.lower()
    if not any(map(str.isalnum, lowered)):
        return True
    if not lowered.isascii() and _ZH_TALK.fullmatch(lowered):
        return True
    words = _PUNCTUATION.sub(" ", lowered).split()
    if len(words) > 12:
        return False
    if not _CORES.isdisjoint(words) and _ALL.issuperset(words):
        return True
    return _PHRASES.fullmatch(" ".join(words)) is not None
