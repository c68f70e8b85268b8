"""What is said of single labels. All people and numbers are invented."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.annotated import AnnotatedText
from ingest.deciding.baselines.uniform import REDACT
from ingest.deciding.lethe import Lethe
from ingest.deciding.policy import DIRECT, ECHO, FITS, KEPT, NARROWS, Policy, Treatment
from ingest.deciding.treatment import CODE_WIDTH, MASK, treated
from ingest.deciding.trip import Trip
from ingest.documents import Action, Decision, Document, SanitizedDocument
from ingest.labels import LABELS
from ingest.protocols import Method
from ingest.sanitize import DecidingSanitizer
from ingest.scoring.engine import Engine
from ingest.scoring.prior import RiskPrior
from ingest.scoring.scale import EMBEDDED_SCALE
from ingest.wording.aliases import alias_of
from ingest.wording.replace import apply
from models.bits import embedded_bits
from models.errors import ConfigurationError
from tests.doubles import PhraseDetector, WordEncoder
from tests.strategies import linked

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NAME, PHONE, CITY, WARD = "person full name", "phone number", "city name", "medical department"
PHRASES = {
    **{"Orla Venn": NAME, "Venn": NAME, "0151 496 0187": PHONE, "0151-4960187": PHONE},
    **{"MRN 88123": "medical record number", "Skarholm": CITY, "cough": "symptom", "Venn Ward": WARD},
}


def sanitized(
    text: str,
    treatment: Treatment,
    method: Method = REDACT,
    key: bytes | None = KEY,
    policy: Policy | None = None,
) -> SanitizedDocument:
    chosen = replace(policy or Policy("trip"), treatment=treatment)
    sanitizer = DecidingSanitizer(PhraseDetector(PHRASES), method, RiskPrior(), chosen, key)
    (outcome,) = sanitizer.sanitize([Document("d", text)])
    assert isinstance(outcome, SanitizedDocument)
    return outcome


def by(policy: Policy) -> Method:
    """The method of a policy with a threshold."""
    if policy.name == "lethe":
        return Lethe(embedded_bits(), policy)
    return Trip(Engine(WordEncoder(), 32), EMBEDDED_SCALE, policy)


@pytest.mark.parametrize("label", [row.name for row in LABELS.values() if row.rigid][:3] + ["street address"])
def test_a_direct_identifier_is_never_kept(label: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Treatment({label: "keep"})
    assert str(caught.value) == (
        f"operators keeps {label}, which identifies somebody by itself: take generalize, mask, hash or "
        "suppress for it."
    )


@pytest.mark.parametrize("words", ["", " ", " a town", "a\ntown", "a\u2028town", "a\ttown", "x" * 61])
def test_words_are_one_short_line(words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Treatment(words={CITY: words})
    assert str(caught.value) == (
        "words for city name: give 1 to 60 printable characters in one line, without blanks around them."
    )
    assert Treatment(words={CITY: "x" * 60}).operator(CITY) == "generalize"


def test_operators_that_contradict_or_are_unknown_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="^city name has words, and operators does not"):
        Treatment({CITY: "mask"}, {CITY: "a town"})
    with pytest.raises(ConfigurationError, match="^operators has none of these for date: generalize, "):
        Treatment({"date": "blur"})  # type: ignore[dict-item]
    for policy in (Policy(treatment=Treatment({"date": "hash"})), Policy(replacements="alias")):
        with pytest.raises(ConfigurationError, match="these take a secret: give a key of 32 bytes"):
            DecidingSanitizer(PhraseDetector({}), REDACT, RiskPrior(), policy)


@pytest.mark.parametrize(
    ("treatment", "text", "expected"),
    [
        (Treatment(), "He lives in Skarholm.", "He lives in a city."),
        (Treatment({CITY: "generalize"}), "He lives in Skarholm.", "He lives in a city."),
        (Treatment(words={CITY: "a town"}), "He lives in Skarholm.", "He lives in a town."),
        (Treatment({CITY: "mask"}), "He lives in Skarholm.", "He lives in ****."),
        (Treatment({CITY: "suppress"}), "He lives in Skarholm.", "He lives in."),
        (Treatment({CITY: "keep"}), "He lives in Skarholm.", "He lives in Skarholm."),
        (
            Treatment(words={CITY: "a town"}),
            "Skarholm is cold. The Skarholm ferry left.",
            "A town is cold. The town ferry left.",
        ),
        (Treatment({NAME: "mask"}), "Orla Venn", MASK),
        (Treatment({NAME: "mask"}), "Venn", MASK),
    ],
)
def test_an_operator_says_what_is_put(treatment: Treatment, text: str, expected: str) -> None:
    assert sanitized(text, treatment).text == expected


def test_a_code_has_a_form_and_follows_its_key() -> None:
    shown = sanitized("0151 496 0187", Treatment({PHONE: "hash"})).text
    assert len(shown.removeprefix(f"[{PHONE} ").removesuffix("]")) == CODE_WIDTH
    assert shown == sanitized("0151-4960187", Treatment({PHONE: "hash"})).text
    assert shown != sanitized("0151 496 0187", Treatment({PHONE: "hash"}), key=OTHER_KEY).text


@given(
    st.text("0123456789", min_size=6, max_size=12),
    st.sampled_from(["", " ", "-", "."]),
    st.binary(min_size=32, max_size=32),
)
def test_codes_follow_the_digits_and_the_key_alone(digits: str, joint: str, key: bytes) -> None:
    def code(said: str, label: str = PHONE) -> str:
        text = linked(said, PhraseDetector({said: label}).detect([Document("d", said)])[0])
        policy = Policy(treatment=Treatment({label: "hash"}))
        decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in text.entities]
        return treated(text, decisions, policy, key)[0].replacement

    assert code(f"{digits[:3]}{joint}{digits[3:]}") == code(digits)
    assert code(digits) != code(digits[::-1] + "1")
    assert digits not in code(digits)
    # One value under two labels has two codes.
    assert code(digits).split()[-1] != code(digits, "reference number").split()[-1]


def test_every_form_of_a_name_has_the_code_of_the_whole_name() -> None:
    shown = sanitized("Orla Venn came. Then Venn left.", Treatment({NAME: "hash"})).text
    codes = [each.split("]")[0] for each in shown.split(f"[{NAME} ")[1:]]
    assert len(codes) == 2 and codes[0] == codes[1]


def test_an_operator_goes_before_an_alias() -> None:
    alias, policy = alias_of(NAME, ("orla", "venn"), KEY), Policy(replacements="alias")
    assert sanitized("Orla Venn left.", Treatment(), policy=policy).text == f"{alias} left."
    assert sanitized("Orla Venn left.", Treatment({NAME: "mask"}), policy=policy).text == "**** left."


def test_a_kept_label_stays_under_a_policy_that_takes_all() -> None:
    outcome = sanitized("Orla Venn has a cough.", Treatment({"symptom": "keep"}))
    assert outcome.text == "Somebody has a cough."
    assert [each.reason for each in outcome.decisions if each.action is Action.KEEP] == [KEPT]


@pytest.mark.parametrize("policy", [Policy(), Policy("trip"), None], ids=["lethe", "trip", "redact"])
def test_a_kept_label_goes_where_it_says_what_an_identifier_says(policy: Policy | None) -> None:
    treatment = Treatment({WARD: "keep"})
    method = REDACT if policy is None else by(replace(policy, treatment=treatment))
    outcome = sanitized("Orla Venn is on Venn Ward.", treatment, method)
    assert "Venn" not in outcome.text
    reasons = {each.entity.label: each.reason for each in outcome.decisions}
    assert policy is None or reasons == {NAME: DIRECT, WARD: ECHO}


@pytest.mark.parametrize("policy", [Policy().at(0.0), Policy("trip").at(-inf)], ids=["lethe", "trip"])
def test_a_kept_label_stays_whatever_its_scores_and_the_threshold(policy: Policy) -> None:
    treatment = Treatment({CITY: "keep"})
    method = by(replace(policy, treatment=treatment))
    outcome = sanitized("Orla Venn of Skarholm has a cough.", treatment, method)
    assert outcome.text == "Somebody of Skarholm has a symptom."
    assert {each.entity.label: each.reason for each in outcome.decisions}[CITY] == KEPT


def test_what_a_kept_label_says_leaves_less_for_the_others() -> None:
    text, phrases = "The mason of Skarholm has a cough.", {"mason": "job title", "Skarholm": CITY}
    (found,) = PhraseDetector(phrases).detect([Document("d", text)])
    whole, alone = linked(text, found), linked(text, [each for each in found if each.label == "job title"])

    def job(of: AnnotatedText, policy: Policy) -> Decision:
        (decided,) = by(policy).decide([of], RiskPrior().hazards([of]))
        return next(each for each in decided if each.entity.label == "job title")

    kept = Policy(treatment=Treatment({CITY: "keep"}))
    scores = job(alone, kept).scores
    assert scores is not None and scores.bits
    just_enough = kept.at(scores.bits * 1.01)
    assert job(alone, just_enough).reason == FITS
    assert job(whole, just_enough).reason == NARROWS


def test_a_decision_that_keeps_is_left_alone() -> None:
    text = linked("Skarholm", PhraseDetector(PHRASES).detect([Document("d", "Skarholm")])[0])
    decisions = [Decision(each, None, Action.KEEP, "test") for each in text.entities]
    policy = Policy(treatment=Treatment({"city name": "mask"}))
    assert apply(text, treated(text, decisions, policy, None)).residual.text == "Skarholm"
