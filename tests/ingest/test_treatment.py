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
PHRASES = {
    "Orla Venn": "person full name",
    "Venn": "person full name",
    "0151 496 0187": "phone number",
    "0151-4960187": "phone number",
    "MRN 88123": "medical record number",
    "Skarholm": "city name",
    "cough": "symptom",
    "Venn Ward": "medical department",
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


THRESHOLDS = (Policy(), Policy("trip"))
"""The policies of which a threshold decides."""


# -- what is refused ---------------------------------------------------------------------------------------


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
        Treatment(words={"city name": words})
    assert str(caught.value) == (
        "words for city name: give 1 to 60 printable characters in one line, without blanks around them."
    )
    assert Treatment(words={"city name": "x" * 60}).operator("city name") == "generalize"


def test_words_and_another_operator_contradict_each_other() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^city name has words, and operators does not generalize it"
    ):
        Treatment({"city name": "mask"}, {"city name": "a town"})


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"^operators has none of these for date: generalize, mask, "
    ):
        Treatment({"date": "blur"})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "policy", [Policy(treatment=Treatment({"date": "hash"})), Policy(replacements="alias")]
)
def test_codes_and_aliases_need_a_key(policy: Policy) -> None:
    with pytest.raises(ConfigurationError, match="these take a secret: give a key of 32 bytes"):
        DecidingSanitizer(PhraseDetector({}), REDACT, RiskPrior(), policy)


# -- operators ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("treatment", "expected"),
    [
        (Treatment(), "He lives in a city."),
        (Treatment({"city name": "generalize"}), "He lives in a city."),
        (Treatment(words={"city name": "a town"}), "He lives in a town."),
        (Treatment({"city name": "mask"}), "He lives in ****."),
        (Treatment({"city name": "suppress"}), "He lives in."),
        (Treatment({"city name": "keep"}), "He lives in Skarholm."),
    ],
)
def test_an_operator_says_what_is_put(treatment: Treatment, expected: str) -> None:
    assert sanitized("He lives in Skarholm.", treatment).text == expected


def test_words_fit_their_sentence_as_descriptors_do() -> None:
    treatment = Treatment(words={"city name": "a town"})
    assert sanitized("Skarholm is cold. The Skarholm ferry left.", treatment).text == (
        "A town is cold. The town ferry left."
    )


def test_a_mask_has_one_length() -> None:
    treatment = Treatment({"person full name": "mask"})
    assert sanitized("Orla Venn", treatment).text == sanitized("Venn", treatment).text == MASK


def code(text: str, key: bytes = KEY, label: str = "phone number") -> str:
    shown = sanitized(text, Treatment({label: "hash"}), key=key).text
    assert shown.startswith(f"[{label} ") and shown.endswith("]")
    return shown.removeprefix(f"[{label} ").removesuffix("]")


def test_a_code_is_the_same_for_the_same_value_however_it_is_written() -> None:
    assert code("0151 496 0187") == code("0151-4960187")
    assert len(code("0151 496 0187")) == CODE_WIDTH
    assert code("0151 496 0187") != code("0151 496 0187", OTHER_KEY)


@given(
    st.text("0123456789", min_size=6, max_size=12),
    st.sampled_from(["", " ", "-", "."]),
    st.binary(min_size=32, max_size=32),
)
def test_codes_follow_the_digits_and_the_key_alone(digits: str, joint: str, key: bytes) -> None:
    def codes(said: str, under: bytes) -> str:
        text = linked(said, PhraseDetector({said: "phone number"}).detect([Document("d", said)])[0])
        policy = Policy(treatment=Treatment({"phone number": "hash"}))
        decisions = [Decision(each, None, Action.GENERALIZE, "test") for each in text.entities]
        return treated(text, decisions, policy, under)[0].replacement

    written = f"{digits[:3]}{joint}{digits[3:]}"
    assert codes(written, key) == codes(digits, key)
    assert codes(digits, key) != codes(digits[::-1] + "1", key)
    assert digits not in codes(digits, key)


def test_every_form_of_a_name_has_the_code_of_the_whole_name() -> None:
    shown = sanitized("Orla Venn came. Then Venn left.", Treatment({"person full name": "hash"})).text
    codes = [each.split("]")[0] for each in shown.split("[person full name ")[1:]]
    assert len(codes) == 2 and codes[0] == codes[1]


def test_one_value_under_two_labels_has_two_codes() -> None:
    shown = sanitized("Skarholm", Treatment({"city name": "hash"})).text
    other = DecidingSanitizer(
        PhraseDetector({"Skarholm": "place"}),
        REDACT,
        RiskPrior(),
        Policy(treatment=Treatment({"place": "hash"})),
        KEY,
    ).sanitize([Document("d", "Skarholm")])[0]
    assert isinstance(other, SanitizedDocument)
    assert shown.split()[-1] != other.text.split()[-1]


def test_an_operator_goes_before_an_alias() -> None:
    alias = alias_of("person full name", ("orla", "venn"), KEY)
    policy = Policy(replacements="alias")
    assert sanitized("Orla Venn left.", Treatment(), policy=policy).text == f"{alias} left."
    masked = Treatment({"person full name": "mask"})
    assert sanitized("Orla Venn left.", masked, policy=policy).text == "**** left."


# -- what is kept ------------------------------------------------------------------------------------------


def test_a_kept_label_stays_under_a_policy_that_takes_all() -> None:
    outcome = sanitized("Orla Venn has a cough.", Treatment({"symptom": "keep"}))
    assert outcome.text == "Somebody has a cough."
    assert [each.reason for each in outcome.decisions if each.action is Action.KEEP] == [KEPT]


@pytest.mark.parametrize("policy", [*THRESHOLDS, None], ids=["lethe", "trip", "redact"])
def test_a_kept_label_goes_where_it_says_what_an_identifier_says(policy: Policy | None) -> None:
    treatment = Treatment({"medical department": "keep"})
    method = REDACT if policy is None else by(replace(policy, treatment=treatment))
    outcome = sanitized("Orla Venn is on Venn Ward.", treatment, method)
    assert "Venn" not in outcome.text
    reasons = {each.entity.label: each.reason for each in outcome.decisions}
    if policy is not None:
        assert reasons == {"person full name": DIRECT, "medical department": ECHO}


@pytest.mark.parametrize("policy", [Policy().at(0.0), Policy("trip").at(-inf)], ids=["lethe", "trip"])
def test_a_kept_label_stays_whatever_its_scores_and_the_threshold(policy: Policy) -> None:
    treatment = Treatment({"city name": "keep"})
    strict = replace(policy, treatment=treatment)
    outcome = sanitized("Orla Venn of Skarholm has a cough.", treatment, by(strict))
    assert outcome.text == "Somebody of Skarholm has a symptom."
    assert {each.entity.label: each.reason for each in outcome.decisions}["city name"] == KEPT


def test_what_a_kept_label_says_leaves_less_for_the_others() -> None:
    text, phrases = "The mason of Skarholm has a cough.", {"mason": "job title", "Skarholm": "city name"}
    (found,) = PhraseDetector(phrases).detect([Document("d", text)])
    whole, alone = linked(text, found), linked(text, [each for each in found if each.label == "job title"])

    def job(of: AnnotatedText, policy: Policy) -> Decision:
        (decided,) = by(policy).decide([of], RiskPrior().hazards([of]))
        return next(each for each in decided if each.entity.label == "job title")

    kept = Policy(treatment=Treatment({"city name": "keep"}))
    scores = job(alone, kept).scores
    assert scores is not None and scores.bits
    just_enough = scores.bits * 1.01
    assert job(alone, kept.at(just_enough)).reason == FITS
    assert job(whole, kept.at(just_enough)).reason == NARROWS


def test_a_decision_that_keeps_is_left_alone() -> None:
    text = linked("Skarholm", PhraseDetector(PHRASES).detect([Document("d", "Skarholm")])[0])
    decisions = [Decision(each, None, Action.KEEP, "test") for each in text.entities]
    policy = Policy(treatment=Treatment({"city name": "mask"}))
    assert apply(text, treated(text, decisions, policy, None)).residual.text == "Skarholm"
