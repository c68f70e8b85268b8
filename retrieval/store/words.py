"""Words of a question, and the passages that hold them.

The index is SQLite's FTS5 in the file of the passages, so it is written, replaced and erased in the same
transactions. It is read term by term: ``retrieval.coverage`` needs to know only which passages hold a word.
"""

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 10_000
"""The most entries of the index that a question reads, its rarest word apart: a few milliseconds."""
MOST_TERMS = 500
"""The most distinct words of a question that are looked up."""
MOST_OF_A_READER = 50
"""As ``MOST_TERMS``, for a reader who may not read all: each word is then looked up whole."""
COMMON = 1_000
"""The number of passages from which a word is common."""


def tokenizer() -> sqlite3.Connection:
    """What ``terms_of`` cuts texts with, as the index does: words without diacritics and endings."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute(
        "CREATE VIRTUAL TABLE cut USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (cut, row)")
    return connection


def terms_of(cutting: sqlite3.Connection, text: str) -> list[str]:
    """The distinct terms of a text, sorted."""
    cutting.execute("INSERT INTO cut VALUES (?)", (text,))
    try:
        return [term for (term,) in cutting.execute("SELECT term FROM terms")]
    finally:
        cutting.execute("DELETE FROM cut")


def open_views(connection: sqlite3.Connection) -> None:
    """The views through which this connection reads the index."""
    connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, words, row)")
    connection.execute("CREATE VIRTUAL TABLE temp.term_places USING fts5vocab (main, words, instance)")


def holders(
    connection: sqlite3.Connection,
    terms: Sequence[str],
    common: dict[str, int],
    readable: NDArray[np.int64] | None = None,
) -> list[NDArray[np.int64]]:
    """For each term the ids of the passages that hold it, the rarest first; an empty row for an unknown one.

    Terms are left out from the one on that would exceed ``MOST_ROWS`` in all, but never all of them.
    ``common`` remembers how many passages hold a common term, for as long as the index stays the same: to
    count them, SQLite reads all its entries. Of a reader only the ``readable`` passages count, for the
    longest terms of a question: a choice by counts of all would tell which terms other passages hold.
    """
    if readable is not None:
        longest = sorted(terms, key=lambda each: (-len(each), each))[:MOST_OF_A_READER]
        every = {
            each: np.intersect1d(_holding(connection, each), readable, assume_unique=True) for each in longest
        }
        rarest = [every[each] for each in sorted(every, key=lambda each: (len(every[each]), each))]
        sums = np.cumsum([len(ids) for ids in rarest])
        return [ids for ids, total in zip(rarest, sums, strict=True) if total <= max(MOST_ROWS, len(ids))]
    counts = {term: common.get(term) or _count(connection, term) for term in terms[:MOST_TERMS]}
    common.update((term, count) for term, count in counts.items() if count >= COMMON)
    found: list[NDArray[np.int64]] = []
    read = 0
    for term in sorted(counts, key=lambda each: (counts[each], each)):
        read += counts[term]
        if read > MOST_ROWS and read > counts[term]:
            break
        found.append(_holding(connection, term))
    return found


def _holding(connection: sqlite3.Connection, term: str) -> NDArray[np.int64]:
    # One string is read several times faster than as many rows.
    query = "SELECT json_group_array(doc) FROM temp.term_places WHERE term = ?"
    ((ids,),) = connection.execute(query, (term,))
    return np.fromstring(ids[1:-1], dtype=np.int64, sep=",")


def _count(connection: sqlite3.Connection, term: str) -> int:
    counted = connection.execute("SELECT doc FROM temp.terms WHERE term = ?", (term,)).fetchone()
    return 0 if counted is None else int(counted[0])


def compact(connection: sqlite3.Connection) -> None:
    """Merge the index into one part: until then, older parts hold deleted words."""
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")


def is_compact(connection: sqlite3.Connection) -> bool:
    """Whether the index is one part at most, which holds no deleted word."""
    # FTS5 keeps the pages of a part under the number of the part, times 2 to the 37; lower rows are its own.
    query = "SELECT count(DISTINCT id >> 37) FROM words_data WHERE id >> 37 > 0"
    (parts,) = connection.execute(query).fetchone()
    return int(parts) <= 1
