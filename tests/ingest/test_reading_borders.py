"""What the reader finds and is no item, and where items end."""

import pytest

from app.compose import detector_of
from app.settings.load import load_settings
from ingest.detection.reading import _ENDS_NOTHING, _is_no_item
from ingest.documents import Document
from models.encoders.words import NOTHING
from models.reader.reader import Item


@pytest.mark.parametrize(
    ("before", "said", "kind"),
    [
        ("Yours, ", "Mrs", "PERSON!"), ("I'", "m", "AGE!"), ("I’", "m", "AGE!"), ("Dear ", "M", "PERSON"),
        ("told ", "m", "PERSON"), ("Grade: ", "D", "TEST"),
    ],
)  # fmt: skip
def test_a_title_alone_and_the_end_of_a_short_form_are_no_items(before: str, said: str, kind: str) -> None:
    item = Item(len(before), len(before + said), 0, 1, kind.removesuffix("!"), "QUASI", NOTHING)
    assert _is_no_item(item, f"{before}{said} 34") is kind.endswith("!")


def test_no_item_crosses_cells_or_ends_before_its_end() -> None:
    text = (
        "NAME            Orla Whitcombe        WARD   Four\nShe worked thirty years in the sugar mill"
        " at Larkmoor, was married in November and lives in a first floor flat with her sister Tevin Hale.\n"
    )
    (found,) = detector_of(load_settings({})).detect([Document("d", text)])
    said = [text[each.span.start : each.span.end] for each in found]
    assert said and not any("  " in each for each in said)
    assert not any(each.split()[-1] in _ENDS_NOTHING for each in said)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Zoë Marchetti (née O'Hanley) met Jörg Blassner.", ["Zoë Marchetti", "O'Hanley", "Jörg Blassner"]),
        ("Mrs Dana (née O’Hanley) and Sean O’Dowd came.", ["Dana", "O’Hanley", "Sean O’Dowd"]),
        ("Ask Dana's nurse; it's Dana, she'll know.", ["Dana", "Dana"]),
    ],
)
def test_no_name_is_cut_at_an_apostrophe(text: str, names: list[str]) -> None:
    (found,) = detector_of(load_settings({})).detect([Document("d", text)])
    people = [text[each.span.start : each.span.end] for each in found if each.label == "person full name"]
    assert people == names
