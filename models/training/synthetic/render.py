"""From a frame to a text: every slot is filled, every choice made."""

from collections.abc import Callable, Iterable

from models.errors import ConfigurationError
from models.training.synthetic.casting import new_person
from models.training.synthetic.labels import ALSO, LABELS
from models.training.synthetic.marked import Marked, by_character, capitalized, join, mark
from models.training.synthetic.markup import Choice, Labeled, Literal, Node, Slot, parse
from models.training.synthetic.persons import FORMS, FREE
from models.training.synthetic.phrases import word
from models.training.synthetic.slots import MAKERS
from models.training.synthetic.stage import Stage

# The letter of whoever is a child in a frame.
CHILD = "k"

_CASES: dict[str, Callable[[Marked], Marked]] = {
    "": lambda piece: piece,
    "^": capitalized,
    "~": lambda piece: by_character(piece, str.lower),
    "!": lambda piece: by_character(piece, str.upper),
}


def render(nodes: Iterable[Node], stage: Stage) -> Marked:
    """The text of these nodes on that stage.

    Raises:
        ConfigurationError: a slot names a label, a list or a form of a person that does not exist.
    """
    return join(_node(node, stage) for node in nodes)


def _node(node: Node, stage: Stage) -> Marked:
    if isinstance(node, Literal):
        return Marked(node.text)
    if isinstance(node, Choice):
        return render(stage.random.choice(node.options), stage)
    if isinstance(node, Labeled):
        return mark(render(node.nodes, stage), *_labels(node.labels))
    return _CASES[node.case](_slot(node, stage))


def _slot(slot: Slot, stage: Stage) -> Marked:
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


def _person(who: str, form: str, slot: Slot, stage: Stage) -> Marked:
    if form not in FORMS:
        raise ConfigurationError(f"A person has no form named {form!r}: use one of {', '.join(FORMS)}.")
    if who not in stage.people:
        stage.people[who] = new_person(stage, child=who == CHILD)
    name = f"{slot.name}/{slot.style}"
    if form in FREE or name not in stage.values:
        stage.values[name] = FORMS[form](stage.people[who], stage, slot.style)
    return stage.values[name]


def _value(slot: Slot, stage: Stage) -> Marked:
    maker = MAKERS.get(slot.name)
    if maker:
        made = maker(stage, slot.style)
    else:
        made = render(
            parse(word(stage.random, f"{slot.name}/{slot.style}" if slot.style else slot.name)), stage
        )
    return mark(made, *_labels((slot.name,))) if slot.name in LABELS else made


def _labels(labels: Iterable[str]) -> list[str]:
    return [each for label in labels for each in (label, *ALSO.get(label, ()))]
