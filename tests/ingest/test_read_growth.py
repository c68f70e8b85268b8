"""Reading takes a time that grows as the file does, whatever troublesome pieces it repeats."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ingest.read.sources import EXTENSIONS, read_documents
from tests.timing import cost

SMALL = 6_000
"""Bytes of the smaller file; the larger has four times as many."""
FLOOR = 0.02
"""Seconds below which the larger file's time says nothing."""
STEEPEST = 9.0
"""Four for what grows as the file does, sixteen for what grows as its square."""

HTML = (
    "<a |<a b='|<b>|</i>|<tr><td>|<td>|</table>|<table>|<!--|-->|<!|<?|&|&#|&#x4|;|<script>|</script|x|\n| |"
    "<p>|<pre>|<title>|<select>|<option>|<svg>|<![CDATA[|]]>|<li>|<form>|<div a=b>|</div>|\"|'|=|<font>"
    "|<input "
)
MAIL = (
    "From |From x Sat Nov 21 00:03:15 2020|From: |Subject: |=?utf-8?q?|=?utf-8?b?|?=|=41|\n|\r| |\t|--b|--|:"
    '|;|x|Content-Type: multipart/mixed; boundary="b"|Content-Type: message/rfc822|Content-Type: text/html;|"'
    "|Content-Transfer-Encoding: base64|charset=|*0=|\\|(|)|<|>|@|,|Message-ID: |\n\n"
)
TABLE = '"|,|;|\t|\\||x|\n|\r|""|","|\n"|text|id'
PIECES = {
    "a.html": ("", HTML),
    "a.eml": ("From: a@example.org\n", MAIL),
    "b.eml": ('Content-Type: multipart/mixed; boundary="b"\n\n', MAIL),
    "a.mbox": ("From x Sat Nov 21 00:03:15 2020\n", MAIL),
    "a.csv": ("id,text\n", TABLE),
    "a.tsv": ("id\ttext\n", TABLE),
    "a.json": ('{"text": ', '"|[|]|{|}|,|:|x|\\|\\u00|"a": |1|-|e|\n|[{|}]|null'),
    "a.jsonl": ("", '"|[|]|{|}|,|:|x|\\|\\u00|"text": |1|\n|{"text": "x"}|{"text": "<div><b>"}'),
    "a.log": ("", "x| |\n|\r|\x1b[1m|\u200b|é|\u0301|\ufeff|\ud83d"),
    "a.rtf": ("{\\rtf1 ", "{|}|\\|\\'ab|\\bin9 |\\u9 |\\uc9 |\\*|\\par |\\pict |\\info |\\cell |x| |\n"),
    "a.hl7": ("MSH|^~\\&|A\r", "MSH|MSH\\||PID|\\||^|~|\r|\n|\x0b|\x1c|x"),
    "a.txt": ("", "x| |\n|\r|\u0301|\u0323|\ufeff|é|e\u0301"),
}


def reading(name: str, content: str) -> Callable[[], object]:
    path = Path(f"{len(content)}-{name}")
    path.write_bytes(content.encode("utf-8", "replace"))
    return lambda: list(read_documents([str(path)], limits=None))


def seconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PIECES if Path(name).suffix in EXTENSIONS])
def test_reading_takes_time_as_the_file_grows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, listed = PIECES[name]
    # A bar itself is written behind a backslash.
    parted = listed.replace("\\|", "\0").split("|")
    pieces = st.sampled_from([piece.replace("\0", "|") for piece in parted if piece])
    few = st.lists(pieces, max_size=3)

    # The same examples each time, and none is shrunk: that would measure a time that is too long for minutes.
    @settings(
        max_examples=40, suppress_health_check=list(HealthCheck), database=None, derandomize=True,
        phases=[Phase.generate],
    )  # fmt: skip
    @given(few, st.lists(pieces, min_size=1, max_size=4), few)
    def grows_evenly(first: list[str], unit: list[str], last: list[str]) -> None:
        repeated = "".join(unit) * (SMALL // len("".join(unit)))
        start, end = before + "".join(first), "".join(last)
        small, large = (reading(name, f"{start}{repeated * times}{end}") for times in (1, 4))
        if seconds(large) > max(FLOOR, STEEPEST * seconds(small)):
            assert cost(large) < max(FLOOR, STEEPEST * cost(small)), (start, unit, end)

    grows_evenly()
