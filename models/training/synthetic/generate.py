"""Generate synthetic examples: fill every slot of a frame, make every choice."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from models.corpora.countries import countries
from models.corpora.examples import SYNTHETIC, Example
from models.errors import ConfigurationError
from models.training.labels import LABELS, asked_for, marked_as
from models.training.synthetic.frames import (
    Choice,
    Digits,
    Frame,
    Labeled,
    Literal,
    Node,
    Number,
    Slot,
    frames,
    parse,
    word,
)
from models.training.synthetic.marked import (
    MarkedPiece,
    by_character,
    capitalized,
    corrupted,
    join,
    mark,
    tidied,
)
from models.training.synthetic.people import (
    FORMS,
    FREE,
    Stage,
    age,
    any_country,
    any_date,
    birth,
    clock,
    digits,
    fakers,
    line,
    new_address,
    new_person,
    new_stage,
    parts,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faker import Faker

CHILD = "k"
"""The letter of a child in a frame."""
_SHARE_OF_WORLD_TOWNS = 0.35

Maker = Callable[[Stage, str], MarkedPiece]


def synthetic_examples(count: int, seed: int) -> Iterator[Example]:
    """``count`` synthetic English texts with annotated mentions; the same seed gives the same texts.

    Each round uses every frame once, in a random order, so that a short run has every kind of text. A
    mention's label may be missing from ``asked`` if the frame has further unannotated mentions of it. The
    first examples of a long run are those of a short one.

    Args:
        count: number of examples, 0 or more.
        seed: determines the texts.

    Raises:
        ModelUnavailable: the library that invents names is not installed.
        ConfigurationError: a frame names what does not exist.
    """
    random = Random(seed)
    sources = fakers(random)
    waiting: list[Frame] = []
    for number in range(count):
        if not waiting:
            waiting = random.sample(frames(), len(frames()))
        yield _example(waiting.pop(), f"{SYNTHETIC}-{seed}-{number}", random, sources)


def _example(frame: Frame, name: str, random: Random, sources: "Mapping[str, Faker]") -> Example:
    piece = corrupted(tidied(render(frame.nodes, new_stage(random, sources))), random)
    mentions = tuple(sorted({mention for mention in piece.mentions if mention.start < mention.end}))
    asked = asked_for({mention.label for mention in mentions}, frame.unvouched)
    return Example(name, SYNTHETIC, frame.id, piece.text, mentions, asked)


def render(nodes: Iterable[Node], stage: Stage) -> MarkedPiece:
    """The text of these nodes on that stage.

    Raises:
        ConfigurationError: a slot names a label, a list or a form of a person that does not exist.
    """
    return join(_node(node, stage) for node in nodes)


_CASES: dict[str, Callable[[MarkedPiece], MarkedPiece]] = {
    "": lambda piece: piece,
    "^": capitalized,
    "~": lambda piece: by_character(piece, str.lower),
    "!": lambda piece: by_character(piece, str.upper),
}


def _node(node: Node, stage: Stage) -> MarkedPiece:
    match node:
        case Literal(text):
            return MarkedPiece(text)
        case Digits(patterns):
            return MarkedPiece(digits(stage.random, stage.random.choice(patterns)))
        case Number(low, high):
            return MarkedPiece(str(stage.random.randint(low, high)))
        case Choice(options):
            return render(stage.random.choice(options), stage)
        case Labeled(nodes, labels):
            return mark(render(nodes, stage), *(name for label in labels for name in marked_as(label)))
        case Slot():
            return _CASES[node.case](_slot(node, stage))


def _slot(slot: Slot, stage: Stage) -> MarkedPiece:
    who, dot, form = slot.name.partition(".")
    if dot:
        return _person(who, form, slot, stage)
    if not slot.key:
        return _value(slot, stage)
    # One key is one value, however a later slot asks for it.
    name = f"{slot.name}#{slot.key}"
    if name not in stage.values:
        stage.values[name] = _value(slot, stage)
    return stage.values[name]


def _person(who: str, form: str, slot: Slot, stage: Stage) -> MarkedPiece:
    if form not in FORMS:
        raise ConfigurationError(f"A person has no form named {form!r}: use one of {', '.join(FORMS)}.")
    if who not in stage.people:
        stage.people[who] = new_person(stage, child=who == CHILD)
    name = f"{slot.name}/{slot.style}"
    if form in FREE or name not in stage.values:
        stage.values[name] = FORMS[form](stage.people[who], stage, slot.style)
    return stage.values[name]


def _value(slot: Slot, stage: Stage) -> MarkedPiece:
    maker = MAKERS.get(slot.name)
    if maker:
        made = maker(stage, slot.style)
    else:
        phrase = word(stage.random, f"{slot.name}/{slot.style}" if slot.style else slot.name)
        made = render(parse(phrase), stage)
    return mark(made, *marked_as(slot.name)) if slot.name in LABELS else made


def _of_address(part: str, stage: Stage, style: str) -> MarkedPiece:
    address = new_address(stage, any_country(stage))
    if part == "state" and not address.state:
        address = new_address(stage, countries()[0])
    return MarkedPiece(parts(address)[part].text)


def _city(stage: Stage, style: str) -> MarkedPiece:
    # Without an address, a town may be in a country without an address layout.
    if stage.random.random() < _SHARE_OF_WORLD_TOWNS:
        return MarkedPiece(word(stage.random, "_world city"))
    return _of_address("city", stage, style)


def _street_address(stage: Stage, style: str) -> MarkedPiece:
    home = new_person(stage).home
    made = line(home) if style == "line" else whole(home)
    return MarkedPiece(made.text, made.mentions[1:])


def _age(stage: Stage, style: str) -> MarkedPiece:
    years = stage.random.randrange(1, 19) if style == "child" else stage.random.randrange(18, 96)
    return MarkedPiece(age(stage, years, "" if style == "child" else style).text)


def _from_library(*names: str) -> Maker:
    """A value of the library that invents names, of one of these kinds."""
    return lambda stage, style: MarkedPiece(getattr(stage.fakers["en_US"], stage.random.choice(names))())


def _card(stage: Stage, style: str) -> MarkedPiece:
    prefix = stage.random.choice(("4%##", "4%##", "5%##", "2###", "35##", "6011"))
    return _in_fours(_checked(digits(stage.random, f"{prefix}{'#' * 11}")), stage, (" ", " ", "-", ""))


def _iban(stage: Stage, style: str) -> MarkedPiece:
    return _in_fours(stage.fakers[any_country(stage).locale].iban(), stage, (" ", " ", ""))


def _in_fours(number: str, stage: Stage, separators: Sequence[str]) -> MarkedPiece:
    groups = [number[at : at + 4] for at in range(0, len(number), 4)]
    return MarkedPiece(stage.random.choice(separators).join(groups))


def _imei(stage: Stage, style: str) -> MarkedPiece:
    """Solid or in the groups in which it is read out."""
    number = _checked(digits(stage.random, stage.random.choice(("35", "01", "86")) + "#" * 12))
    if stage.random.random() < 0.4:
        return MarkedPiece(f"{number[:2]}-{number[2:8]}-{number[8:14]}-{number[14]}")
    return MarkedPiece(number)


def _checked(number: str) -> str:
    """The number with the digit behind it that makes it pass the check of ISO/IEC 7812-1."""
    from stdnum import luhn

    return f"{number}{luhn.calc_check_digit(number)}"


MAKERS: dict[str, Maker] = {
    "date": any_date,
    "time": clock,
    "date of birth": lambda stage, style: MarkedPiece(birth(stage, new_person(stage).born, style).text),
    "person age": _age,
    "street address": _street_address,
    "building number": partial(_of_address, "number"),
    "secondary address unit": partial(_of_address, "unit"),
    "city name": _city,
    "county": partial(_of_address, "county"),
    "state or province": partial(_of_address, "state"),
    "zip postal code": partial(_of_address, "zip"),
    "phone number": lambda stage, style: MarkedPiece(
        digits(stage.random, stage.random.choice(any_country(stage).phones))
    ),
    "user agent string": _from_library("user_agent"),
    "IP address": _from_library("ipv4", "ipv4", "ipv4", "ipv4", "ipv6"),
    "vehicle VIN": _from_library("vin"),
    "IBAN": _iban,
    "credit card number": _card,
    "phone IMEI": _imei,
    "_word": _from_library("word"),
    "_year": lambda stage, style: MarkedPiece(str(stage.today.year)),
    "_yy": lambda stage, style: MarkedPiece(str(stage.today.year)[2:]),
}
"""The makers of generated slot values."""
