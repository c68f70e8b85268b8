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
from numpy.typing import NDArray

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
    above = _owner(drawn) if drawn.random() < 0.2 else ""
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
    (
        "name",
        "given name",
        "family name",
        "date of birth",
        "age",
        "gender",
        "phone",
        "email",
        "address",
        "city",
    )
    + ("postcode", "country", "social security", "passport", "region", "nationality", "job", "account", "tax")
    + ("national id", "driving licence")
)


def _owner(drawn: random.Random) -> str:
    owner: str = drawn.choice(tables()["people"]["owners"])
    return owner


def _varied(drawn: random.Random, kind: str, base: str) -> str:
    """A name with whose it is, a number, or words shortened."""
    words = base.split()
    if kind in _OWNED and drawn.random() < 0.3:
        owner = _owner(drawn)
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

        self._drawn = drawn
        self._fakers = [Faker(locale) for locale in LOCALES]
        for each in self._fakers:
            each.seed_instance(drawn.randrange(1 << 30))
        self._pools: dict[str, list[str]] = {}

    def under(self, kind: str, base: str, rows: int, about_people: bool) -> tuple[str, list[str]]:
        """What stands under a name, and of what kind that is: its cells may say that it is of another."""
        roll = self._drawn.random()
        if base in _ACCOUNTS and roll > 0.93:
            known, pool = NONE, "figures"
        elif kind == ROLE:
            known, pool = self._drawn.choices(
                (
                    ("name", "person"),
                    ("customer number", "figures"),
                    (FREE, "text"),
                    (FREE, "status"),
                    (NONE, "flag"),
                ),
                (70, 8, 10, 9, 3),
            )[0]
        elif kind == NONE:
            known, pool = self._of_nothing(base, roll)
        elif kind == FREE:
            known, pool = (
                FREE,
                "text" if roll < 0.5 else self._drawn.choice(("words", "phrase", "phrase", "thing")),
            )
        elif base in _SHORT and roll < 0.12:
            known, pool = NONE, self._drawn.choice(("figures", "decimal", "flag"))
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
        cells = [self._drawn.choice(self.pool(pool)) for _ in range(rows)]
        change: Callable[[str], str] = str
        roll = self._drawn.random()
        if pool in ("person", "given name", "family name", "city", "job"):
            change = str.lower if roll < 0.12 else str.upper if roll < 0.22 else str
        if pool == "status":
            change = str.capitalize if roll < 0.5 else str.upper if roll < 0.6 else str
        return [
            self._drawn.choice(("", "n/a", "-", "unknown"))
            if rows > 1 and self._drawn.random() < 0.06
            else change(cell)
            for cell in cells
        ]

    def pool(self, name: str) -> list[str]:
        """All cells of a pool."""
        if name not in self._pools:
            self._pools[name] = [self._made(name, self._drawn.choice(self._fakers)) for _ in range(_POOL)]
        return self._pools[name]

    def _of_nothing(self, base: str, roll: float) -> tuple[str, str]:
        """Under a name that says nothing; a status may name who has it."""
        pools = next(
            (each["pools"] for each in tables()["under"] if re.search(each["names"], base)),
            ("thing", "word", "words", "figures", "decimal", "code", "status", "phrase"),
        )
        if pools[0] == "status" and roll < 0.12:
            return (FREE, "passed on") if roll < 0.05 else ("name", "person" if roll < 0.1 else "given name")
        return NONE, self._drawn.choice(pools)

    def _made(self, name: str, fake: Any) -> str:
        if maker := getattr(self, f"_{name.replace(' ', '_')}", None):
            return str(maker(fake))
        return (
            self._figure(name)
            if name in tables()["shapes"]
            else str(self._drawn.choice(tables()["cells"][name]))
        )

    def _figure(self, name: str) -> str:
        """A number in one of the shapes of a name: # is a figure, ? a capital letter."""
        drawn = {"#": "0123456789", "?": "ABCDEFGHJKLMNPRSTUVWXYZ"}
        shape = self._drawn.choice(tables()["shapes"][name])
        return "".join(self._drawn.choice(drawn.get(sign, sign)) for sign in shape)

    def _given_name(self, fake: Any) -> str:
        roll = self._drawn.random()
        if roll < 0.25:
            return str(self._drawn.choice(tables()["cells"]["given words"]))
        return f"{fake.first_name()} {fake.first_name()}" if roll > 0.93 else str(fake.first_name())

    def _family_name(self, fake: Any) -> str:
        return (
            str(self._drawn.choice(tables()["cells"]["family words"]))
            if self._drawn.random() < 0.3
            else str(fake.last_name())
        )

    def _person(self, fake: Any) -> str:
        given, family = self._given_name(fake), self._family_name(fake)
        initial = self._drawn.choice("ABCDEFGHJKLMPRSTW")
        return self._drawn.choices(
            (
                f"{given} {family}", f"{family}, {given}", f"{family} {given}", f"{initial}. {family}",
                f"{self._drawn.choice(('Dr', 'Mrs', 'Mr', 'Dr.', 'Herr', 'Mme'))} {family}", given, family,
                f"{given} {initial}. {family}", f"{family} {initial}.",
            ),
            (45, 14, 5, 4, 6, 10, 6, 6, 4),
        )[0]  # fmt: skip

    def _date_of_birth(self, fake: Any) -> str:
        born = fake.date_of_birth(minimum_age=0, maximum_age=95)
        seconds = (born.toordinal() - _EPOCH) * 86_400
        return str(seconds * self._drawn.choice((1, 1000))) if self._drawn.random() < 0.1 else self._day(born)

    def _date(self, fake: Any) -> str:
        return self._day(fake.date_between("-15y", "+3y"))

    def _day(self, day: Any) -> str:
        forms = (
            "%Y-%m-%d",
            "%d.%m.%Y",
            "%d/%m/%Y",
            "%m/%d/%Y",
            "%Y%m%d",
            "%b %d %Y",
            "%d %B %Y",
            "%d.%m.%y",
            "%d-%b-%Y",
            "%Y",
        )
        return str(day.strftime(self._drawn.choice(forms)))

    def _moment(self, fake: Any) -> str:
        when = fake.date_time_between("-5y")
        forms = ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%H:%M:%S")
        return (
            str(int(when.timestamp()))
            if self._drawn.random() < 0.2
            else str(when.strftime(self._drawn.choice(forms)))
        )

    def _age(self, fake: Any) -> str:
        return str(self._drawn.randrange(0, 99)) + self._drawn.choice(("", "", "", "", " years", "y"))

    def _phone(self, fake: Any) -> str:
        return str(fake.phone_number()) if self._drawn.random() < 0.5 else self._figure("phone figures")

    def _email(self, fake: Any) -> str:
        return str(fake.email())

    def _handle(self, fake: Any) -> str:
        made = str(fake.user_name())
        dotted = f"{fake.random_lowercase_letter()}.{str(fake.last_name()).lower()}"
        return self._drawn.choice((made, made, dotted, f"@{made}", self._figure("handle figures")))

    def _account(self, fake: Any) -> str:
        return str(fake.iban()) if self._drawn.random() < 0.3 else self._figure("account figures")

    def _card(self, fake: Any) -> str:
        return str(fake.credit_card_number())

    def _address(self, fake: Any) -> str:
        return self._drawn.choice(
            (
                str(fake.street_address()),
                str(fake.street_address()),
                str(fake.address()).replace("\n", ", "),
                str(fake.street_name()),
            )
        )

    def _city(self, fake: Any) -> str:
        return (
            str(self._drawn.choice(tables()["cells"]["city words"]))
            if self._drawn.random() < 0.3
            else str(fake.city())
        )

    def _postcode(self, fake: Any) -> str:
        return str(fake.postcode())

    def _country(self, fake: Any) -> str:
        return self._drawn.choice((str(fake.country()), str(fake.country_code())))

    def _company(self, fake: Any) -> str:
        return str(fake.company())

    def _job(self, fake: Any) -> str:
        return str(fake.job()).split(",")[0]

    def _plate(self, fake: Any) -> str:
        return str(fake.license_plate())

    def _ip(self, fake: Any) -> str:
        return str(fake.ipv4() if self._drawn.random() < 0.8 else fake.ipv6())

    def _password(self, fake: Any) -> str:
        return self._drawn.choice((str(fake.password(length=10)), self._figure("pin"), str(fake.sha1())))

    def _text(self, fake: Any) -> str:
        words = tables()["cells"]["phrase"]
        return self._drawn.choice(("{}. {}.", "{}; {}", "{} and then {}.", "{}", "Says {}, {}.")).format(
            self._drawn.choice(words).capitalize(), self._drawn.choice(words)
        )

    def _figures(self, fake: Any) -> str:
        return str(self._drawn.randrange(0, 10 ** self._drawn.randrange(1, 8)))

    def _decimal(self, fake: Any) -> str:
        """1204.5, and as people write it: 1,204.50, 1.204,50 or 1 204,50."""
        sign, most = self._drawn.choice(("", "", "-")), 10 ** self._drawn.randrange(0, 5)
        amount = self._drawn.uniform(0, most)
        if self._drawn.random() < 0.4:
            return f"{sign}{amount:.{self._drawn.randrange(1, 4)}f}"
        signs = self._drawn.choice((",.", ".,", " ,"))
        return f"{sign}{amount:,.2f}".translate(str.maketrans(",.", signs))

    def _passed_on(self, fake: Any) -> str:
        """With Hope, waiting for Mr Long."""
        return f"{self._drawn.choice(tables()['cells']['passed on'])} {self._person(fake)}"

    def _measure(self, fake: Any) -> str:
        return f"{self._figures(fake)}{self._drawn.choice(tables()['cells']['unit'])}"

    def _file(self, fake: Any) -> str:
        return str(fake.file_name() if self._drawn.random() < 0.5 else fake.file_path(depth=2))

    def _host(self, fake: Any) -> str:
        return self._drawn.choice((str(fake.hostname()), self._figure("host")))

    def _uuid(self, fake: Any) -> str:
        return self._drawn.choice((str(fake.uuid4()), str(fake.sha1()[:12]), self._figure("serial")))

    def _link(self, fake: Any) -> str:
        return str(fake.uri())


_POOLS = {
    "name": "person",
    "insurance": "number",
    "record": "number",
    "employee number": "number",
    "customer number": "number",
    "organization": "company",
}
_SHORT = frozenset(
    (
        "first",
        "last",
        "given",
        "family",
        "middle",
        "called",
        "born",
        "birth",
        "age",
        "alter",
        "place",
        "location",
    )
    + (
        "house",
        "position",
        "title at work",
        "org",
        "plate",
        "badge",
        "chart",
        "account",
        "license",
        "pass",
        "pin",
    )
    + (
        "token",
        "address",
        "contact",
        "land",
        "via",
        "cap",
        "cp",
        "cf",
        "ip",
        "mail",
        "mobile",
        "cell",
        "state",
    )
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
            rows = [_in_part(read[number], recipe.left_out) for number in batch.tolist()]
            places = torch.from_numpy(np.concatenate([row[0] for row in rows]))
            amounts = torch.from_numpy(np.concatenate([row[1] for row in rows]))
            starts = torch.from_numpy(np.cumsum([0, *(len(row[0]) for row in rows[:-1])]))
            scores = priors + weights(places, starts, per_sample_weights=amounts)
            loss = torch.nn.functional.cross_entropy(scores, truths[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return FieldHead(tuple(names), weights.weight.detach().numpy(), priors.detach().numpy())


def _in_part(
    row: tuple[NDArray[np.int64], NDArray[np.float32]], left_out: float
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    import torch

    kept = torch.rand(len(row[0])).numpy() >= left_out
    return row[0][kept], row[1][kept]


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
