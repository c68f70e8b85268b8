"""How the size of the project is counted."""

import ast

import pytest

from benchmarks.house import PICTURE, has_circle, imports_of, picture, used_once


@pytest.mark.parametrize(
    ("imports", "circle"),
    [({"a": {"b"}, "b": set()}, False), ({"a": {"b"}, "b": {"c"}, "c": {"a"}}, True)],
)
def test_circles_are_seen(imports: dict[str, set[str]], circle: bool) -> None:
    assert has_circle(imports) is circle


def test_imports_within_functions_are_late_and_do_not_count() -> None:
    trees = {
        "a": ast.parse("import b\nfrom c import d\n\ndef f():\n    import e\n"),
        **{name: ast.parse("") for name in ("b", "c.d", "e")},
    }
    assert imports_of(trees)["a"] == {"b", "c.d"}


def test_private_functions_that_are_named_once() -> None:
    text = (
        "def _a(): _b(); _b()\ndef _b(): ...\nclass C:\n    def _c(self): _a()\n    def d(self): self._c()\n"
    )
    assert used_once(ast.parse(text)) == 2


def test_the_picture_is_of_the_rooms_as_they_are() -> None:
    pytest.importorskip("matplotlib")
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run: python -m benchmarks.house --picture"
