"""Sensitive classes, and what of a text is covered before anything else sees it (A13, FORMAT rule 10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.candidate import Sensitivity
from tables.policy import Policy, Sensitive
from tables.sensitive import MASK, masked, sensitivity

REFUSED = {
    "我的身份证号是110101199003074578": "110101199003074578",
    "身份证 11010119900307457X，帮我填表": "11010119900307457X",
    "my card is 4111 1111 1111 1111, ok?": "4111 1111 1111 1111",
    "账号：6222 0212 3456 7890 12": "6222 0212 3456 7890 12",
    "my SSN is 078-05-1120": "078-05-1120",
    "IBAN GB29 NWBK 6016 1331 9268 19 please": "GB29 NWBK 6016 1331 9268 19",
    "passport number X1234567": "X1234567",
    "my password is hunter2hunter2": "hunter2hunter2",
    "银行卡密码是998877": "998877",
    "the key is sk-abcdefghij0123456789": "sk-abcdefghij0123456789",
    "national id 123456789012": "123456789012",
}


@pytest.mark.parametrize("text", REFUSED)
def test_numbers_and_credentials_are_covered_and_nothing_else(text: str) -> None:
    secret = REFUSED[text]
    assert masked(text, Policy()) == text.replace(secret, MASK * len(secret))


@pytest.mark.parametrize("text", REFUSED)
def test_what_was_covered_is_still_known_as_refused(text: str) -> None:
    policy = Policy()
    for one in (text, masked(text, policy)):
        assert policy.sensitive[sensitivity(one)] is Sensitive.REFUSE


@pytest.mark.parametrize(
    "text",
    [
        "我2019年买了房，花了1234567元",
        "order 20260301 came on 2026-03-01 at 09:00",
        "mail me at a@example.com",
        "call me on 138 0013 8000",
        "I pass the exam on the 12th",
        "my 2 kids are 10 and 12",
        "turnkey project, 120000 euros",
        "这个键盘的键程是3毫米",
    ],
)
def test_ordinary_numbers_stay(text: str) -> None:
    assert masked(text, Policy()) == text


def test_a_tenant_that_refuses_contacts_has_them_covered() -> None:
    policy = Policy(sensitive={Sensitivity.CONTACT: Sensitive.REFUSE})
    assert masked("write to a@example.com", policy) == "write to " + MASK * 13
    assert masked("my password is hunter2hunter2", policy) == "my password is hunter2hunter2"


@given(st.text(alphabet=st.sampled_from("0123456789 -Xx身份证号password:是█a@."), max_size=120))
def test_masking_keeps_the_length_and_is_stable(text: str) -> None:
    once = masked(text, Policy())
    assert len(once) == len(text)
    assert masked(once, Policy()) == once
