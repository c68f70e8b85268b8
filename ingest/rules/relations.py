"""Persons who are named by what they are to somebody: my wife Susan, the lawyer H., a man named Okoro."""

from ingest.documents import Entity
from ingest.rules.hits import person
from ingest.rules.names import ABBREVIATIONS, initials_end, name_end, plain_name
from ingest.rules.tokens import ALL_CAPS, INITIAL, LOWER, Tokens
from ingest.rules.vocabulary import words

NAMING = frozenset(("named", "name", "nicknamed", "surname", "nee", "alias"))
PETS = frozenset(
    ("cat", "cats", "dog", "dogs", "kitten", "kittens", "puppy", "puppies", "pup", "horse", "pony", "hamster")
    + ("rabbit", "bunny", "parrot", "budgie", "ferret", "hound", "terrier", "retriever", "labrador", "poodle")
    + ("pet", "pets", "goldfish", "gecko", "tortoise", "donkey", "goat", "pig", "lynx", "mare", "stallion")
)
LINKS = frozenset(("is", "was", "are", "were", "s", "who", "which", "that", "whom", "we", "i", "have", "had"))
"""What may stand between a pet and ``named``."""
COPULAS = frozenset(("is", "was", "s", "am", "m"))
GAPS = frozenset((" ", ", ", " , ", "'", ": "))


def related(tokens: Tokens, index: int) -> Entity | None:
    """The person whose name follows the relation, or the word such as ``named``, at ``index``."""
    after = index + 1
    naming = tokens.folded[index] in NAMING
    if naming and _of_a_pet(tokens, index):
        return None
    if naming and after < len(tokens) and tokens.folded[after] in COPULAS:
        after += 1
    if after >= len(tokens) or tokens.gap(after) not in GAPS:
        return None
    shape = tokens.shapes[after]
    if shape == LOWER:
        return _lower(tokens, after)
    if shape == INITIAL or shape == ALL_CAPS:
        return _letters(tokens, after)
    known = words("given_names", "given_names_ambiguous") - words("weekday_months")
    if plain_name(tokens, after) or tokens.folded[after] in known:
        return person(tokens, after, name_end(tokens, after), 0.8, "relation")
    return None


def _of_a_pet(tokens: Tokens, naming: int) -> bool:
    """Whether a pet is named: my cat named, the dog that we named; not my dog walker, a man named."""
    before = naming - 1
    while before > 0 and tokens.folded[before] in LINKS:
        before -= 1
    if before < 0 or tokens.folded[before] not in PETS:
        return False
    between = tokens.text[tokens.ends[before] : tokens.starts[naming]]
    return not any(mark in between for mark in ".!?;:,\n")


def _lower(tokens: Tokens, after: int) -> Entity | None:
    word = tokens.folded[after]
    known = word in words("given_names", "given_names_words")
    if tokens.caseless and known and word not in words("common_words"):
        return person(tokens, after, after + 1, 0.7, "relation")
    return None


def _letters(tokens: Tokens, after: int) -> Entity | None:
    """The lawyer H., his brother, AM: letters that stand for a name that was withheld."""
    if tokens.folded[after] in ABBREVIATIONS | {"i", "a"}:
        return None
    if tokens.shapes[after] == INITIAL:
        return person(tokens, after, max(after + 1, initials_end(tokens, after)), 0.5, "letter")
    short = tokens.ends[after] - tokens.starts[after] == 2 and tokens.gap(after) == ", "
    return person(tokens, after, after + 1, 0.5, "letter") if short else None
