import pytest

from eval.measures.classify import class_of


@pytest.mark.parametrize(
    ("said", "name", "expected"),
    [
        ("breast cancer", "conditions", "cancer"),
        ("atorvastatin", "drugs", "cholesterol drug"),
        ("Orr & Lind LLP", "organizations", "Law Firm"),
        ("Quellby General Hospital", "organizations", "Hospital"),
        ("Bank of Quellby", "organizations", "Bank"),
        ("Quellby Food Bank", "organizations", "Foundation"),
        ("police officer", "jobs", "member of the police or the forces"),
        ("no cancer", "conditions", None),
        ("plumber", "jobs", "technical specialist"),
        ("cardiologist", "jobs", "health worker"),
        ("geologist", "jobs", "researcher"),
        ("crane operator", "jobs", "craft or building worker"),
        ("fire captain", "jobs", "protective service worker"),
        ("nothing", "jobs", None),
    ],
)
def test_classes(said: str, name: str, expected: str | None) -> None:
    assert class_of(said, name) == expected
