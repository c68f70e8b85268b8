"""Invented sentences; the identifier stands between ‹ and ›."""

from ingest.detection.patterns.find import find_patterns


def found(text: str) -> list[tuple[str, str]]:
    """What was found, as label and characters."""
    return [(one.label, text[one.span.start : one.span.end]) for one in find_patterns(text)]


def marked(sentence: str) -> tuple[str, list[str]]:
    """The sentence without marks, and what the marks enclose."""
    values = [part.split("›")[0] for part in sentence.split("‹")[1:]]
    return sentence.replace("‹", "").replace("›", ""), values


def assert_found(label: str, sentence: str) -> None:
    """The marked values, and nothing else, are found with the label."""
    text, values = marked(sentence)
    assert [value for name, value in found(text) if name == label] == values


def assert_absent(label: str, text: str) -> None:
    """Nothing is found with the label."""
    assert [value for name, value in found(text) if name == label] == []
