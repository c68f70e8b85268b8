-- One collection. Nothing here was read from a document before it was sanitized; originals that are kept are
-- sealed.

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE jobs (
    job_id INTEGER PRIMARY KEY AUTOINCREMENT,
    started TEXT NOT NULL,
    finished TEXT,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'stopped'))
) STRICT;

-- Files and the folders above them, by keyed digests of their paths.
CREATE TABLE sources (
    source_key BLOB PRIMARY KEY,
    folder_key BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_of_folder ON sources (folder_key);

-- From which files an id of a document came, and the last run that met it there.
CREATE TABLE origins (
    id TEXT NOT NULL,
    source_key BLOB NOT NULL,
    job_id INTEGER NOT NULL,
    PRIMARY KEY (id, source_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX origins_of_source ON origins (source_key);

-- Files of which the last run that read them could not store all, by keyed digests of their paths.
CREATE TABLE quarantine (source_key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;

-- content_key is a keyed digest of the text as it was read; its key lies outside the collection, because
-- whoever could compute it could confirm a guess of what was generalized. unread and doubts are JSON.
CREATE TABLE documents (
    doc_id TEXT PRIMARY KEY,
    content_key BLOB NOT NULL UNIQUE,
    job_id INTEGER NOT NULL,
    characters INTEGER NOT NULL,
    risk_before REAL NOT NULL,
    risk_after REAL NOT NULL,
    kept_at TEXT NOT NULL,
    unread TEXT NOT NULL,
    doubts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Other ids under which the text of a document arrived. An id stands here or in documents, never in both.
CREATE TABLE aliases (
    alias TEXT PRIMARY KEY,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
    job_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_of_document ON aliases (doc_id);

-- What the program that gave a document says is not private, as JSON.
CREATE TABLE kept_metadata (
    doc_id TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
    content TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- vector is in half precision.
CREATE TABLE passages (
    passage_id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    text TEXT NOT NULL,
    kept TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
CREATE INDEX passages_of_document ON passages (doc_id);

-- Which passages hold a word; no positions. kept is a passage without its descriptors: they stand in so many
-- passages that they say nothing about one.
CREATE VIRTUAL TABLE words USING fts5 (
    kept, content = 'passages', content_rowid = 'passage_id', detail = none, columnsize = 0,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER words_of_new AFTER INSERT ON passages BEGIN
    INSERT INTO words (rowid, kept) VALUES (new.passage_id, new.kept);
END;
CREATE TRIGGER words_of_old AFTER DELETE ON passages BEGIN
    INSERT INTO words (words, rowid, kept) VALUES ('delete', old.passage_id, old.kept);
END;

-- Offsets count characters of the sanitized text, and scores are rounded: the length of a name and an
-- exact distance of vectors would both let a reader test guesses.
CREATE TABLE ledger (
    doc_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    label TEXT NOT NULL,
    identifier TEXT NOT NULL,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    link INTEGER NOT NULL,
    risk REAL,
    divergence REAL,
    relevance REAL,
    priority REAL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_of_document ON ledger (doc_id);

-- What a person has looked through.
CREATE TABLE reviewed (
    doc_id TEXT PRIMARY KEY REFERENCES documents ON DELETE CASCADE ON UPDATE CASCADE,
    at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Erasures that were begun and are not done. No words and no vectors: they would be what is to be erased.
CREATE TABLE erasing (
    doc_id TEXT PRIMARY KEY,
    names TEXT NOT NULL,
    passage_ids TEXT NOT NULL,
    ledger_rows INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
