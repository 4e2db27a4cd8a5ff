"""The extractor by closed rules: what a clause becomes, in both languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tables.candidate import SELF, Candidate, Confirmation, Kind, Polarity, Sensitivity
from tables.extractive import Extraction, extract
from tables.keys import Position, Scope, memory_id
from tables.policy import Policy, Sensitive
from tables.turn import Role, Turn
from tables.worth import Drop

POLICY = Policy()
TURN = Turn(
    key="k",
    id="1",
    scope=Scope("t", "u"),
    session="s",
    task="",
    topic="food",
    role=Role.USER,
    content="",
    at=1_772_355_600_000,  # Sunday 1 March 2026, 17:00 +08:00
    zone_minutes=480,
    consent=None,
    lang="",
    minor=False,
    position=Position("turns", 0, 7),
)


def extracted(text: str, task: str = "", before: str = "") -> Extraction:
    previous = replace(TURN, content=before) if before else None
    return extract(replace(TURN, content=text, task=task), POLICY, previous)


def only(text: str, task: str = "", before: str = "") -> Candidate:
    (candidate,) = extracted(text, task, before).candidates
    return candidate


def reasons(text: str) -> set[Drop]:
    extraction = extracted(text)
    assert extraction.candidates == ()
    return {dropped.reason for dropped in extraction.drops}


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("我叫小林", "identity.name", "小林"),
        ("我搬到成都了", "identity.city", "成都"),
        ("我是一名小学老师。", "identity.occupation", "小学老师"),
        ("我今年41岁", "identity.age", "41"),
        ("我生日是5月3日", "identity.birthday", "5月3日"),
        ("我是女生", "identity.sex", "女"),
        ("我经常去上海出差", "identity.often_in", "上海"),
        ("我在一家花店工作", "identity.workplace", "一家花店"),
        ("我的手机号是13800138000", "contact.phone", "13800138000"),
        ("收货地址改成幸福路88号3单元", "contact.address", "幸福路88号3单元"),
        ("我对榛子过敏", "health.allergy", "榛子"),
        ("我有慢性鼻炎", "health.condition", "鼻炎"),
        ("我膝盖有旧伤", "health.injury", "膝盖有旧伤"),
        ("医生让我少盐", "health.advice", "少盐"),
        ("以后回答简短一点", "preference.answer_length", "short"),
        ("我最喜欢的颜色是蓝色", "preference.favourite.颜色", "蓝色"),
        ("My name is Robin", "identity.name", "robin"),
        ("I moved to Leeds last month", "identity.city", "leeds"),
        ("I'm a retired bus driver", "identity.occupation", "retired bus driver"),
        ("I'm 41 years old", "identity.age", "41"),
        ("I work for a small bakery", "identity.workplace", "small bakery"),
        ("my email is someone@example.com", "contact.email", "someone@example.com"),
        ("I'm allergic to hazelnuts", "health.allergy", "hazelnuts"),
        ("I have asthma", "health.condition", "asthma"),
        ("Keep your answers short from now on", "preference.answer_length", "short"),
        ("My favourite colour is blue", "preference.favourite.colour", "blue"),
        ("I prefer an aisle seat", "preference.seat", "aisle"),
    ],
)
def test_an_explicit_statement_fills_its_slot(text: str, slot: str, value: str) -> None:
    candidate = only(text)
    assert (candidate.slot, candidate.value) == (slot, value)
    assert (candidate.subject, candidate.polarity) == (SELF, Polarity.POSITIVE)
    assert (candidate.confidence, candidate.explicit) == (0.9, True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("我平时喜欢喝全糖奶茶", "以后奶茶都点无糖的"),
        ("Please always answer me in British English", "from now on use American English"),
        ("以后都用英文回答我", "从现在起用中文回答我"),
        ("I take my coffee black", "from now on make my coffee with oat milk"),
        ("以后回答详细一点", "以后回答简短一点"),
        ("我住在北京", "我搬到上海了"),
        ("I live in Leeds", "I've moved to York"),
        ("I prefer a window seat", "I prefer an aisle seat"),
        ("I have an exam on 12 June", "my exam has been moved to 20 June"),
        ("我的报销额度是每月8000元", "我的报销额度现在是9000元"),
    ],
)
def test_a_changed_mind_lands_in_the_same_single_slot(before: str, after: str) -> None:
    old, new = only(before), only(after)
    assert old.slot == new.slot
    assert old.single
    assert new.single
    assert old.value != new.value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("我对芒果过敏", "我现在可以吃芒果了"),
        ("我对鸡蛋过敏", "我对鸡蛋不过敏了"),
        ("我喜欢咖啡", "我不再喜欢咖啡了"),
        ("我喜欢喝咖啡", "我不喝咖啡了"),
        ("I'm allergic to eggs", "I'm no longer allergic to eggs"),
        ("I'm allergic to mango", "I can eat mango now"),
        ("I like coffee", "I no longer like coffee"),
        ("I have asthma", "I don't have asthma any more"),
    ],
)
def test_a_denial_meets_what_it_denies(before: str, after: str) -> None:
    old, new = only(before), only(after)
    assert (old.slot, old.value) == (new.slot, new.value)
    assert (old.polarity, new.polarity) == (Polarity.POSITIVE, Polarity.NEGATIVE)
    assert old.id != new.id


@pytest.mark.parametrize(("one", "other"), [("我喜欢茶", "我喜欢咖啡"), ("I like tea", "I like coffee")])
def test_likes_of_different_things_stand_beside_each_other(one: str, other: str) -> None:
    first, second = only(one), only(other)
    assert first.slot == second.slot
    assert not first.single
    assert first.value != second.value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("我对花生、海鲜和鸡蛋过敏", {"花生", "海鲜", "鸡蛋"}),
        ("I'm allergic to peanuts, shellfish and eggs", {"peanuts", "shellfish", "eggs"}),
        ("I like tea and coffee", {"tea", "coffee"}),
    ],
)
def test_each_thing_of_a_list_is_held_on_its_own(text: str, values: set[str]) -> None:
    assert {candidate.value for candidate in extracted(text).candidates} == values


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("体检完医生让我控糖，以后奶茶都点无糖的", ["health.advice", "preference.way.奶茶.sugar"]),
        ("我有慢性胃炎，饮食要清淡", ["health.condition", "health.advice"]),
        ("我芒果过敏，别推荐芒果", ["health.allergy", "boundary.topic"]),
        ("I have diabetes and take metformin", ["health.condition", "health.medication"]),
        ("I don't live in Leeds, I live in York", ["identity.city", "identity.city"]),
    ],
)
def test_one_sentence_may_hold_several_facts(text: str, slots: list[str]) -> None:
    assert [candidate.slot for candidate in extracted(text).candidates] == slots


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("如果我对花生过敏就不点了", Drop.HYPOTHETICAL),
        ("If I were vegan I'd cook more", Drop.HYPOTHETICAL),
        ("Let's say I hate coffee", Drop.HYPOTHETICAL),
        ("他说“我讨厌橄榄”", Drop.QUOTATION),
        ('She said "I hate olives"', Drop.QUOTATION),
        ("我同事对花生过敏", Drop.THIRD_PARTY),
        ("My neighbour is allergic to nuts", Drop.THIRD_PARTY),
        ("She lives in Leeds", Drop.THIRD_PARTY),
        ("帮我查一下去成都的高铁", Drop.REQUEST),
        ("Book a table for two", Drop.REQUEST),
        ("我的订单已经发货了", Drop.AUTHORITATIVE),
        ("My order has been shipped", Drop.AUTHORITATIVE),
        ("今天好累", Drop.MOMENTARY),
        ("I'm so tired today", Drop.MOMENTARY),
        ("我这人脾气不好", Drop.MOMENTARY),
        ("我再也不想用这个产品了", Drop.MOMENTARY),
        ("我不需要售后", Drop.NOT_WORTH),
        ("我的银行卡密码是246810", Drop.SENSITIVE_REFUSED),
        ("the password is hunter2xyz, remember it", Drop.SENSITIVE_REFUSED),
    ],
)
def test_what_is_not_the_users_lasting_statement_is_dropped_with_its_reason(text: str, reason: Drop) -> None:
    assert reason in reasons(text)


@pytest.mark.parametrize(
    "text",
    [
        "想象一下我是个医生。我没有时间。",
        "帮我改病句：我住在伦敦从十年前。我喜欢茶。",
        "Imagine I'm a doctor. I have two dogs.",
        "Translate this: I live in Leeds. I like tea.",
    ],
)
def test_a_frame_holds_for_the_rest_of_the_turn(text: str) -> None:
    assert extracted(text).candidates == ()


def test_a_statement_before_a_supposition_stays() -> None:
    assert only("I'm allergic to nuts, what if I ate one?").value == "nuts"
    assert only("我对花生过敏，要是吃了会怎样").value == "花生"


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("今天想听摇滚", "preference.instruction"),
        ("这次帮我挑一款红色的行李箱", "preference.instruction"),
        ("这次请用简短回答", "preference.answer_length"),
        ("今天不要提考试", "preference.instruction"),
        ("answer briefly this time", "preference.answer_length"),
        ("Tonight I want rock music", "preference.instruction"),
        ("for now, answer in French", "preference.answer_language"),
    ],
)
def test_a_wish_for_now_is_session_state_and_no_candidate(text: str, slot: str) -> None:
    extraction = extracted(text)
    assert extraction.candidates == ()
    (wish,) = extraction.wishes
    assert (wish.slot, wish.content, wish.turn, wish.at) == (slot, text, "k", TURN.at)


@pytest.mark.parametrize(
    ("text", "subject"),
    [("我女儿对花粉过敏", "女儿"), ("My son is allergic to nuts", "son"), ("My dog is called Biscuit", "dog")],
)
def test_a_relations_fact_is_kept_as_theirs(text: str, subject: str) -> None:
    candidate = only(text)
    assert candidate.subject == subject
    assert candidate.kind is Kind.FACT


def test_what_goes_on_about_a_fact_stays_with_it() -> None:
    text = "My dog is called Biscuit, she is a four year old beagle"
    assert only(text).content == text


@pytest.mark.parametrize("text", ["我可能对虾过敏", "I might be allergic to shrimp", "maybe I'm allergic to shrimp"])
def test_a_hedge_is_a_guess_and_never_explicit(text: str) -> None:
    candidate = only(text)
    assert candidate.confidence == 0.4
    assert not candidate.explicit
    assert candidate.confirmation is Confirmation.INFERRED


@pytest.mark.parametrize("text", ["记一下：我车位在B2-118", "Remember that I park in bay 12"])
def test_remember_this_keeps_what_no_rule_reads(text: str) -> None:
    candidate = only(text)
    assert candidate.slot == "fact.note"
    assert candidate.explicit


@pytest.mark.parametrize("text", ["记住，我朋友对花生过敏", "Remember that if I were rich I'd sail"])
def test_remember_this_comes_after_the_hard_laws(text: str) -> None:
    assert extracted(text).candidates == ()


def test_a_tasks_own_budget_is_one_slot_however_it_is_named() -> None:
    first = only("The budget for the kitchen is 9,000 euros", task="kitchen")
    second = only("The budget is now 11,000 euros", task="kitchen")
    assert (first.slot, first.task, first.single) == ("task.budget", "kitchen", True)
    assert second.slot == first.slot
    assert only("装修总预算确定是18万，不能超", task="decorate").slot == only("预算改成20万", task="decorate").slot


def test_a_part_of_a_task_has_its_own_budget() -> None:
    assert only("The floor budget is 900 euros", task="kitchen").slot == "task.budget.floor"


def test_without_a_task_the_object_tells_two_budgets_apart_and_comes_from_the_turn_before() -> None:
    kitchen = only("The budget for the kitchen is 9,000 euros")
    garden = only("The budget for the garden is 2,500 euros")
    assert kitchen.slot != garden.slot
    assert (
        only("The budget is now 11,000 euros", before="The budget for the kitchen is 9,000 euros").slot == kitchen.slot
    )


def test_a_launch_date_is_one_slot_a_task_and_does_not_expire() -> None:
    old = only("A项目系统上线时间定在3月20日", task="a")
    new = only("上线时间改到4月2日", task="a")
    assert (old.slot, old.value, old.task, old.expires_at) == ("task.date.上线", "2026-03-20", "a", 0)
    assert (new.slot, new.value) == ("task.date.上线", "2026-04-02")


@pytest.mark.parametrize(
    "text", ["我对花生过敏", "I like tea", "我叫小林", "不要给我推减肥产品", "I have an exam on 12 June"]
)
def test_what_belongs_to_the_person_is_not_bound_to_the_task(text: str) -> None:
    assert only(text, task="kitchen").task == ""


def test_a_preference_marked_for_the_project_stays_there() -> None:
    assert only("For this project use tabs", task="repo").task == "repo"


@pytest.mark.parametrize(
    ("text", "day_end"),
    [
        # 6 March 24:00 +08:00, 30 April 24:00 +08:00
        ("I'm travelling to Oslo until Friday, so no calls before then", 1_772_812_799_999),
        ("我下个月要考试", 1_777_564_799_999),
        ("Please answer in French until Friday", 1_772_812_799_999),
    ],
)
def test_what_is_said_until_a_day_ends_with_that_day(text: str, day_end: int) -> None:
    assert only(text).expires_at == day_end


def test_a_lasting_fact_does_not_expire_by_a_day_it_mentions() -> None:
    assert only("我生日是5月3日").expires_at == 0


def test_a_candidate_carries_its_source_and_its_id() -> None:
    text = "对了，我对榛子过敏。"
    candidate = only(text)
    assert candidate.content == text[candidate.span[0] : candidate.span[1]]
    assert "榛子" in candidate.content
    assert candidate.id == memory_id("k", SELF, "health.allergy", "榛子", "pos")
    assert (candidate.turn, candidate.turn_id, candidate.session, candidate.topic) == ("k", "1", "s", "food")
    assert (candidate.at, candidate.position, candidate.lang) == (TURN.at, TURN.position, "zh")
    assert candidate.sensitivity is Sensitivity.HEALTH


def test_an_identity_number_is_refused_and_allowed_only_by_policy() -> None:
    said = replace(TURN, content="记一下，我身份证号是11010519491231002X")
    refused = extract(said, POLICY)
    assert refused.candidates == ()
    assert Drop.SENSITIVE_REFUSED in {dropped.reason for dropped in refused.drops}
    allowed = replace(POLICY, sensitive={**POLICY.sensitive, Sensitivity.IDENTITY_NUMBER: Sensitive.ALLOW})
    (candidate,) = extract(said, allowed).candidates
    assert candidate.sensitivity is Sensitivity.IDENTITY_NUMBER


def test_a_mistyped_identity_number_is_one_too_and_a_number_without_a_date_is_none() -> None:
    drops = extract(replace(TURN, content="记一下，我的编号是110105194912310021"), POLICY).drops
    assert [dropped.reason for dropped in drops] == [Drop.SENSITIVE_REFUSED]
    assert only("记一下，我的编号是110105779912310021").sensitivity is not Sensitivity.IDENTITY_NUMBER


def test_what_is_too_long_is_dropped_whole_and_never_cut() -> None:
    long = "记一下，" + "我的车位在地下二层" * 20
    extraction = extract(replace(TURN, content=long), POLICY)
    assert extraction.candidates == ()
    assert {dropped.reason for dropped in extraction.drops} == {Drop.TOO_LONG}


def test_another_role_gives_nothing() -> None:
    assert extract(replace(TURN, content="我对花生过敏", role=Role.ASSISTANT), POLICY).candidates == ()


@pytest.mark.parametrize(
    "text", ["me llamo Ana y vivo en Madrid", "私は東京に住んでいます", "Привет", "أعيش في القاهرة", "👩‍👩‍👧"]
)
def test_other_languages_come_to_no_harm(text: str) -> None:
    assert extracted(text).candidates == ()
