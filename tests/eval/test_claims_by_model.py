"""Claims that a language model writes and rewords. The model is scripted, and all texts are invented."""

from pathlib import Path

import pytest

from eval.attacks.claims import ModelAtomizer, ModelRewording, RuleAtomizer
from eval.measures.claim_distance import ModelJudge, coherence_judge
from models.language.asking import Asker
from tests.doubles import Scripted
from tests.tiny_gguf import make_tiny_gguf

REFUSED = "I am sorry, but I cannot help with that."
TEXT = "Ada mends a kiln and paints the weir."


def asking(*answers: str) -> Asker:
    """Gives the answers in turn, the last one for ever."""
    left = list(answers)
    return Asker(Scripted(lambda role, question, seed: left.pop(0) if len(left) > 1 else left[0]))


def test_a_list_is_claims_and_an_empty_text_has_none() -> None:
    paints = "2) Ada paints the weir."
    atomizer = ModelAtomizer(asking(f"Claims:\n1. Ada mends a kiln.\n{paints}\n{paints}"))
    assert atomizer.claims(["", TEXT, " \n"]) == [[], ["Ada mends a kiln.", "Ada paints the weir."], []]
    assert atomizer.asker.usage.questions == 1
    assert atomizer.name == "atoms[scripted (test double), prompt split_claims v2, else rule]"
    assert atomizer.plan([TEXT, TEXT]).questions == 2


def test_a_text_without_a_readable_list_is_cut_by_rules() -> None:
    atomizer = ModelAtomizer(asking(REFUSED))
    assert atomizer.claims([TEXT]) == RuleAtomizer().claims([TEXT])
    assert (atomizer.asker.usage.repaired, atomizer.asker.usage.unreadable) == (1, 1)


@pytest.mark.parametrize("sentences", [200, 400, 1000])
def test_a_text_without_room_for_its_claims_is_cut_by_rules_and_never_sent(sentences: int) -> None:
    # The first two fit into the context, and their claims are longer than an answer may be.
    atomizer = ModelAtomizer(asking("1. Never said."))
    long = "Ada mends a kiln. " * sentences
    assert atomizer.claims([long, TEXT]) == [RuleAtomizer().claims([long])[0], ["Never said."]]
    assert atomizer.asker.usage.questions == 1 == atomizer.plan([long, TEXT]).questions


def test_a_claim_is_reworded_in_one_line_or_keeps_its_words() -> None:
    rewording = ModelRewording(asking("Here it is.\n#\nA kiln is\nmended by Ada.", REFUSED))
    told = rewording.reworded(["Ada mends a kiln.", "Ada swims."])
    assert told == ["A kiln is mended by Ada.", "Ada swims."]
    assert rewording.name == "paraphrase[scripted (test double), prompt reword_claim v2, else own words]"
    assert rewording.plan(["Ada swims."]).questions == 1


def test_a_real_model_is_asked_and_what_it_cannot_say_is_counted(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    from models.language.llama_cpp import LlamaCppModel

    make_tiny_gguf(tmp_path / "tiny.gguf")
    asker = Asker(LlamaCppModel(tmp_path / "tiny.gguf", 2048))
    # Its weights are random: it may say nothing in the form to which it is held before it has to stop.
    (rating,) = coherence_judge(asker).scores([(TEXT, TEXT)])
    usage = asker.usage
    assert (rating is None) == (usage.unreadable + usage.too_long == 1)
    assert usage.questions == 1 + usage.repaired - usage.too_long and usage.tokens_out > 0
    assert rating is None or 1 <= rating["coherence"] <= 5
    # Its context has no room for a thousand tokens of ratings beside a long text.
    assert ModelJudge(asker, 1).ratings(["Ada swims."], TEXT * 20) == [None]
    assert asker.usage.too_long == usage.too_long + 1 and asker.usage.questions == usage.questions
