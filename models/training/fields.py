"""Training the head of fields: multinomial logits on invented records."""

import random
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from models.fields import BUCKETS, Feature, FieldHead, hashed, most_likely

_FILE = Path(__file__).with_name("data") / "fields.toml"
LOCALES = ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL", "pt_PT")
FREE, NONE = "free text", "none"
ROLE = "role"
"""Words for people that name a field of names, of numbers or of text, as its cells say."""
_POOL = 600
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class FieldExample:
    """A field of an invented record; ``path`` has its own name last, ``base`` is the name it was made of."""

    path: tuple[str, ...]
    beside: tuple[str, ...]
    cells: tuple[str, ...]
    kind: str
    base: str


@cache
def tables() -> dict[str, Any]:
    """The names of fields and the words for their cells."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def kinds() -> list[str]:
    """The kinds of fields."""
    return sorted({*tables()["names"]} - {ROLE})


def field_names() -> list[str]:
    """The names of fields, of all kinds and of people's parts."""
    names = (*tables()["names"].values(), tables()["people"]["owners"])
    return sorted({name for each in names for name in each})


def field_examples(records: int, seed: int) -> list[FieldExample]:
    """The fields of some records; the same seed gives the same ones."""
    drawn = random.Random(seed)
    cells = _Cells(drawn)
    return [example for _ in range(records) for example in _record(drawn, cells)]


def _record(drawn: random.Random, cells: "_Cells") -> list[FieldExample]:
    about_people = drawn.random() < 0.55
    style = drawn.choice(list(_STYLES))
    names = tables()["names"]
    personal = sorted({*names} - {FREE, NONE})
    chosen: list[tuple[str, str]] = []
    for _ in range(drawn.randrange(1, 11)):
        roll = drawn.random()
        (of_people,) = drawn.choices(personal, [_OFTEN.get(kind, 1) for kind in personal])
        kind = of_people if roll < (0.75 if about_people else 0.15) else NONE
        kind = FREE if roll > 0.9 else kind
        chosen.append((kind, drawn.choice(names[kind])))
    if drawn.random() < 0.35:
        chosen.append(("name" if about_people else NONE, "name"))
    owners = tables()["people"]["owners"]
    above = drawn.choice(owners) if drawn.random() < 0.2 else ""
    rows = 1 if drawn.random() < 0.5 else drawn.randrange(2, 20)
    made = [(kind, base, _styled(drawn, _varied(drawn, kind, base), style)) for kind, base in chosen]
    found = []
    for number, (kind, base, name) in enumerate(made):
        known, said = cells.under(kind, base, rows, about_people)
        beside = tuple(other for place, (_, _, other) in enumerate(made) if place != number)
        path = (_styled(drawn, above, style), name) if above else (name,)
        found.append(FieldExample(path, beside, tuple(said), known, base))
    found += _unknown(drawn, cells, style, rows)
    return found


def _unknown(drawn: random.Random, cells: "_Cells", style: str, rows: int) -> list[FieldExample]:
    """Fields whose names say nothing: letters, parts of two words, other words, and people who speak."""
    roll = drawn.random()
    if roll < 0.3:
        said = [] if drawn.random() < 0.4 else cells.several(drawn.choice(("text", *_ANY)), rows)
        return [FieldExample((drawn.choice(cells.pool("person")),), (), tuple(said), FREE, "")]
    if roll < 0.5:
        name = "".join(drawn.choices("bcdfghklmnprstvwxz", k=drawn.randrange(2, 7)))
    elif roll < 0.8:
        first, second = (drawn.choice(sum(tables()["names"].values(), [])) for _ in range(2))
        name = first[: len(first) // 2] + second[len(second) // 2 :]
    else:
        name = drawn.choice(drawn.choice(cells.pool("text")).split()).strip(".,;?")
    said = [] if drawn.random() < 0.2 else cells.several(drawn.choice(_ANY), rows)
    return [FieldExample((_styled(drawn, name, style),), (), tuple(said), FREE, "")]


_ANY = ("words", "word", "text", "code", "figures", "decimal", "thing", "flag", "status", "person", "company")
_OWNED = frozenset(
    "name, given name, family name, date of birth, age, gender, phone, email, address, city, postcode, "
    "country, social security, passport, region, nationality, job, account, tax, national id, driving "
    "licence".split(", ")
)


def _varied(drawn: random.Random, kind: str, base: str) -> str:
    """A name with whose it is, a number, or words shortened."""
    words = base.split()
    if kind in _OWNED and drawn.random() < 0.3:
        owner = drawn.choice(tables()["people"]["owners"])
        words = [owner, *words] if drawn.random() < 0.85 else [*words, drawn.choice(("of", "for", "")), owner]
    if drawn.random() < 0.05:
        place = drawn.randrange(len(words))
        word = words[place]
        if len(word) > 4:
            words[place] = word[0] + re.sub("[aeiouäöüéèáó]", "", word[1:])
    elif drawn.random() < 0.05:
        words = [word[: drawn.randrange(3, 6)] for word in words]
    if drawn.random() < 0.03:
        words.append(drawn.choice(("1", "2", "01", "new", "old", "value", "field", "text")))
    return " ".join(word for word in words if word)


def _styled(drawn: random.Random, name: str, style: str) -> str:
    if drawn.random() < 0.4:
        name = name.replace("ß", "ss").translate(_WITHOUT_ACCENTS)
    words = [word for word in re.split(r"[^\w#&]+", name) if word] or [name]
    return _STYLES[style](words, name)


_WITHOUT_ACCENTS = str.maketrans("äöüéèêëàáâãçñóôõíìîúùû", "aoueeeeaaaacnoooiiiuuu")
_STYLES: dict[str, Callable[[list[str], str], str]] = {
    "snake": lambda words, name: "_".join(words).lower(),
    "camel": lambda words, name: words[0].lower() + "".join(word.capitalize() for word in words[1:]),
    "pascal": lambda words, name: "".join(word.capitalize() for word in words),
    "upper": lambda words, name: "_".join(words).upper(),
    "kebab": lambda words, name: "-".join(words).lower(),
    "joined": lambda words, name: "".join(words).lower(),
    "title": lambda words, name: " ".join(word.capitalize() for word in words),
    "capital": lambda words, name: name.upper(),
    "first": lambda words, name: name[:1].upper() + name[1:],
    "lower": lambda words, name: name,
}


class _Cells:
    """Cells of every kind, drawn from pools that are made once."""

    def __init__(self, drawn: random.Random) -> None:
        from faker import Faker

        self.drawn = drawn
        self._fakers = [Faker(locale) for locale in LOCALES]
        for each in self._fakers:
            each.seed_instance(drawn.randrange(1 << 30))
        self._pools: dict[str, list[str]] = {}

    def under(self, kind: str, base: str, rows: int, about_people: bool) -> tuple[str, list[str]]:
        """What stands under a name, and of what kind that is: its cells may say that it is of another."""
        roll = self.drawn.random()
        if base in _ACCOUNTS and roll > 0.93:
            known, pool = NONE, "figures"
        elif kind == ROLE:
            known, pool = self.drawn.choices(_UNDER_ROLES, (70, 8, 10, 9, 3))[0]
        elif kind == NONE:
            known, pool = self._of_nothing(base, roll)
        elif kind == FREE:
            pool = "text" if roll < 0.5 else self.drawn.choice(("words", "phrase", "phrase", "thing"))
            known = FREE
        elif base in _SHORT and roll < 0.12:
            known, pool = NONE, self.drawn.choice(("figures", "decimal", "flag"))
        elif base in _SHORT and not about_people and roll < 0.3:
            known, pool = NONE, "thing"
        elif kind in ("region", "marital status") and base in ("state", "estado", "married") and roll < 0.4:
            known, pool = NONE, "status" if base != "married" else "flag"
        elif kind == "account" and base in ("account", "compte", "conto", "cuenta", "konto") and roll < 0.3:
            known, pool = "organization", "company"
        elif kind == "handle" and base in _OF_PEOPLE and roll < 0.3:
            known, pool = "name", "person"
        else:
            known, pool = kind, _POOLS.get(kind, kind)
            pool = "given name" if base == "name" == kind and roll < 0.4 else pool
        return known, [] if roll > 0.93 else self.several(pool, rows)

    def several(self, pool: str, rows: int) -> list[str]:
        """Some cells, of which a few hold nothing."""
        cells = [self.drawn.choice(self.pool(pool)) for _ in range(rows)]
        change: Callable[[str], str] = str
        roll = self.drawn.random()
        if pool in ("person", "given name", "family name", "city", "job"):
            change = str.lower if roll < 0.12 else str.upper if roll < 0.22 else str
        if pool == "status":
            change = str.capitalize if roll < 0.5 else str.upper if roll < 0.6 else str
        return [
            self.drawn.choice(("", "n/a", "-", "unknown"))
            if rows > 1 and self.drawn.random() < 0.06
            else change(cell)
            for cell in cells
        ]

    def pool(self, name: str) -> list[str]:
        """All cells of a pool."""
        if name not in self._pools:
            self._pools[name] = [self._made(name, self.drawn.choice(self._fakers)) for _ in range(_POOL)]
        return self._pools[name]

    def _of_nothing(self, base: str, roll: float) -> tuple[str, str]:
        """Under a name that says nothing; a status may name who has it."""
        pools = next(
            (each["pools"] for each in tables()["under"] if re.search(each["names"], base)),
            ("thing", "word", "words", "figures", "decimal", "code", "status", "phrase"),
        )
        if pools[0] == "status" and roll < 0.12:
            return (FREE, "passed on") if roll < 0.05 else ("name", "person" if roll < 0.1 else "given name")
        return NONE, self.drawn.choice(pools)

    def _made(self, name: str, fake: Any) -> str:
        if name in _MAKERS:
            return str(_MAKERS[name](self, fake))
        return self.figure(name) if name in tables()["shapes"] else self.of(name)

    def of(self, name: str) -> str:
        """One of the words for cells."""
        return str(self.drawn.choice(tables()["cells"][name]))

    def rolled(self, share: float) -> bool:
        """Whether something happens that happens in this share of cells."""
        return self.drawn.random() < share

    def figure(self, name: str) -> str:
        """A number in one of the shapes of a name: # is a figure, ? a capital letter."""
        signs = {"#": "0123456789", "?": "ABCDEFGHJKLMNPRSTUVWXYZ"}
        shape = self.drawn.choice(tables()["shapes"][name])
        return "".join(self.drawn.choice(signs.get(sign, sign)) for sign in shape)

    def given_name(self, fake: Any) -> str:
        """One, seldom two, and often one that is a word as well."""
        roll = self.drawn.random()
        if roll < 0.25:
            return self.of("given words")
        return f"{fake.first_name()} {fake.first_name()}" if roll > 0.93 else str(fake.first_name())

    def family_name(self, fake: Any) -> str:
        """Often one that is a word as well."""
        return self.of("family words") if self.rolled(0.3) else str(fake.last_name())

    def person(self, fake: Any) -> str:
        """A name in one of its forms."""
        given, family = self.given_name(fake), self.family_name(fake)
        initial = self.drawn.choice("ABCDEFGHJKLMPRSTW")
        return self.drawn.choices(
            (
                f"{given} {family}", f"{family}, {given}", f"{family} {given}", f"{initial}. {family}",
                f"{self.drawn.choice(('Dr', 'Mrs', 'Mr', 'Dr.', 'Herr', 'Mme'))} {family}", given, family,
                f"{given} {initial}. {family}", f"{family} {initial}.",
            ),
            (45, 14, 5, 4, 6, 10, 6, 6, 4),
        )[0]  # fmt: skip

    def date_of_birth(self, fake: Any) -> str:
        """As a day, seldom in seconds."""
        born = fake.date_of_birth(minimum_age=0, maximum_age=95)
        seconds = (born.toordinal() - _EPOCH) * 86_400
        return str(seconds * self.drawn.choice((1, 1000))) if self.rolled(0.1) else self.written(born, _DAYS)

    def written(self, moment: Any, forms: Sequence[str]) -> str:
        """A day or moment in one of the forms."""
        return str(moment.strftime(self.drawn.choice(forms)))

    def moment(self, fake: Any) -> str:
        """A moment, sometimes in seconds."""
        when = fake.date_time_between("-5y")
        return str(int(when.timestamp())) if self.rolled(0.2) else self.written(when, _MOMENTS)

    def handle(self, fake: Any) -> str:
        """The name of an account."""
        made = str(fake.user_name())
        dotted = f"{fake.random_lowercase_letter()}.{str(fake.last_name()).lower()}"
        return self.drawn.choice((made, made, dotted, f"@{made}", self.figure("handle figures")))

    def address(self, fake: Any) -> str:
        """A street, mostly with a number, sometimes with its place."""
        streets = (fake.street_address(), fake.street_address())
        return str(self.drawn.choice((*streets, fake.address().replace("\n", ", "), fake.street_name())))

    def text(self, fake: Any) -> str:
        """Two phrases."""
        words = tables()["cells"]["phrase"]
        form = self.drawn.choice(("{}. {}.", "{}; {}", "{} and then {}.", "{}", "Says {}, {}."))
        return form.format(self.drawn.choice(words).capitalize(), self.drawn.choice(words))

    def figures(self) -> str:
        """A number of any size."""
        return str(self.drawn.randrange(0, 10 ** self.drawn.randrange(1, 8)))

    def decimal(self, fake: Any) -> str:
        """1204.5, and as people write it: 1,204.50, 1.204,50 or 1 204,50."""
        sign, most = self.drawn.choice(("", "", "-")), 10 ** self.drawn.randrange(0, 5)
        amount = self.drawn.uniform(0, most)
        if self.rolled(0.4):
            return f"{sign}{amount:.{self.drawn.randrange(1, 4)}f}"
        signs = self.drawn.choice((",.", ".,", " ,"))
        return f"{sign}{amount:,.2f}".translate(str.maketrans(",.", signs))


_DAYS = "%Y-%m-%d,%d.%m.%Y,%d/%m/%Y,%m/%d/%Y,%Y%m%d,%b %d %Y,%d %B %Y,%d.%m.%y,%d-%b-%Y,%Y".split(",")
_MOMENTS = "%Y-%m-%dT%H:%M:%SZ,%Y-%m-%d %H:%M:%S,%Y-%m-%d %H:%M,%Y-%m-%d,%H:%M:%S".split(",")
_AGES = ("", "", "", "", " years", "y")
_MAKERS: dict[str, Callable[[_Cells, Any], Any]] = {
    "given name": _Cells.given_name,
    "family name": _Cells.family_name,
    "person": _Cells.person,
    "date of birth": _Cells.date_of_birth,
    "date": lambda cells, fake: cells.written(fake.date_between("-15y", "+3y"), _DAYS),
    "moment": _Cells.moment,
    "age": lambda cells, fake: f"{cells.drawn.randrange(0, 99)}{cells.drawn.choice(_AGES)}",
    "phone": lambda cells, fake: fake.phone_number() if cells.rolled(0.5) else cells.figure("phone figures"),
    "email": lambda cells, fake: fake.email(),
    "handle": _Cells.handle,
    "account": lambda cells, fake: fake.iban() if cells.rolled(0.3) else cells.figure("account figures"),
    "card": lambda cells, fake: fake.credit_card_number(),
    "address": _Cells.address,
    "city": lambda cells, fake: cells.of("city words") if cells.rolled(0.3) else fake.city(),
    "postcode": lambda cells, fake: fake.postcode(),
    "country": lambda cells, fake: cells.drawn.choice((fake.country(), fake.country_code())),
    "company": lambda cells, fake: fake.company(),
    "job": lambda cells, fake: fake.job().split(",")[0],
    "plate": lambda cells, fake: fake.license_plate(),
    "ip": lambda cells, fake: fake.ipv4() if cells.rolled(0.8) else fake.ipv6(),
    "password": lambda cells, fake: cells.drawn.choice(
        (fake.password(length=10), cells.figure("pin"), fake.sha1())
    ),
    "text": _Cells.text,
    "figures": lambda cells, fake: cells.figures(),
    "decimal": _Cells.decimal,
    # With Hope, waiting for Mr Long.
    "passed on": lambda cells, fake: f"{cells.of('passed on')} {cells.person(fake)}",
    "measure": lambda cells, fake: cells.figures() + cells.of("unit"),
    "file": lambda cells, fake: fake.file_name() if cells.rolled(0.5) else fake.file_path(depth=2),
    "host": lambda cells, fake: cells.drawn.choice((fake.hostname(), cells.figure("host"))),
    "uuid": lambda cells, fake: cells.drawn.choice((fake.uuid4(), fake.sha1()[:12], cells.figure("serial"))),
    "link": lambda cells, fake: fake.uri(),
}
"""How a cell of a pool is made; those of other pools are figures in a shape, or drawn from a list."""
_UNDER_ROLES = (
    *(("name", "person"), ("customer number", "figures")),
    *((FREE, "text"), (FREE, "status"), (NONE, "flag")),
)
"""What stands under a word for people: a kind, and its pool."""
_POOLS = {
    **{"name": "person", "organization": "company"},
    **dict.fromkeys(("insurance", "record", "employee number", "customer number"), "number"),
}
_SHORT = frozenset(
    "first, last, given, family, middle, called, born, birth, age, alter, place, location, house, position, "
    "title at work, org, plate, badge, chart, account, license, pass, pin, token, address, contact, land, "
    "via, cap, cp, cf, ip, mail, mobile, cell, state".split(", ")
)
_OFTEN = {ROLE: 10, "handle": 3, "name": 3, "given name": 2, "family name": 2, "city": 2}
_ACCOUNTS = frozenset(("user", "owner", "login"))
"""Names of fields that in programs hold the number of an account of a machine."""
_OF_PEOPLE = frozenset(
    ("user", "created by", "updated by", "modified by", "usuario", "utente", "utilisateur", "benutzer")
)


FeaturesOf = Callable[[Sequence[str], Sequence[str], Sequence[str]], Iterable[Feature]]
"""The features of a field, from its path, the names beside it and its cells."""
HELD_BACK = 10
"""Every tenth name is learned last: until then it measures how names are read that were not learned."""


@dataclass(frozen=True, slots=True)
class FieldRecipe:
    """Hyperparameters of the shipped head; the penalty is on weights, at each step."""

    seed: int = 20261128
    records: int = 24_000
    epochs: int = 5
    batch: int = 128
    rate: float = 0.02
    penalty: float = 0.0005
    left_out: float = 0.15
    """The share of features that an example loses, anew in each epoch."""


def is_held_back(example: FieldExample) -> bool:
    """Whether the name that a field was made of is one of those that measure."""
    return bool(example.base) and crc32(example.base.encode()) % HELD_BACK == 0


def train_head(examples: Sequence[FieldExample], features_of: FeaturesOf, recipe: FieldRecipe) -> FieldHead:
    """The head of all examples; the same examples and recipe give the same head."""
    import torch

    names = kinds()
    read = [hashed(features_of(each.path, each.beside, each.cells)) for each in examples]
    truths = torch.tensor([names.index(each.kind) for each in examples])
    torch.manual_seed(recipe.seed)
    weights = torch.nn.EmbeddingBag(BUCKETS, len(names), mode="sum")
    torch.nn.init.zeros_(weights.weight)
    priors = torch.zeros(len(names), requires_grad=True)
    optimizer = torch.optim.AdamW(
        [weights.weight, priors], lr=recipe.rate, weight_decay=recipe.penalty / recipe.rate
    )
    steps = recipe.epochs * (1 + (len(read) - 1) // recipe.batch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    for _ in range(recipe.epochs):
        for batch in torch.randperm(len(read)).split(recipe.batch):
            rows = []
            for places, amounts in (read[number] for number in batch.tolist()):
                kept = torch.rand(len(places)).numpy() >= recipe.left_out
                rows.append((places[kept], amounts[kept]))
            places, amounts = (torch.from_numpy(np.concatenate(each)) for each in zip(*rows, strict=True))
            starts = torch.from_numpy(np.cumsum([0, *(len(row[0]) for row in rows[:-1])]))
            scores = priors + weights(places, starts, per_sample_weights=amounts)
            loss = torch.nn.functional.cross_entropy(scores, truths[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return FieldHead(tuple(names), weights.weight.detach().numpy(), priors.detach().numpy())


def right_share(
    head: FieldHead, examples: Sequence[FieldExample], features_of: FeaturesOf
) -> dict[str, float]:
    """The share of fields that are read rightly, of each kind that is among them and of "all"."""
    tried: dict[str, list[bool]] = {}
    for each in examples:
        kind, _ = most_likely(head.probabilities(features_of(each.path, each.beside, each.cells)))
        for name in (each.kind, "all"):
            tried.setdefault(name, []).append(kind == each.kind)
    return {name: round(sum(hits) / len(hits), 3) for name, hits in sorted(tried.items())}
