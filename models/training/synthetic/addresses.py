"""Addresses, whole and in parts."""

from functools import cache

from models.training.synthetic.countries import COUNTRIES, Country
from models.training.synthetic.marked import Marked, compose, mark
from models.training.synthetic.nouns import Address
from models.training.synthetic.phrases import word
from models.training.synthetic.stage import Stage, digits

_ENGLISH = ("en_US", "en_GB", "en_CA", "en_AU")
_TOWNS_OF_THEIR_OWN = {"en_US": "_american city", "en_GB": "_british city", "en_CA": "_canadian city"}
_STATES = {
    "en_US": "_american state",
    "en_CA": "_canadian province",
    "en_AU": "_australian state",
    "en_IN": "_indian state",
    "pt_BR": "_brazilian state",
}


def country_named(name: str) -> Country:
    """The country of that English name."""
    return next(country for country in COUNTRIES if country.name == name)


def new_address(stage: Stage, country: Country) -> Address:
    """An address in that country."""
    random = stage.random
    number = digits(random, random.choice(("%", "%#", "%#", "%##", "%##", "%###", "%#A", "%#/%")))
    if country.locale == "en_US":
        number = digits(random, random.choice(("%##", "%###", "%#", "%####")))
    return Address(
        country,
        random.choice(country.layouts),
        number,
        new_road(stage, country),
        digits(random, random.choice(country.units)),
        new_city(stage, country),
        new_state(stage, country),
        word(random, "_british county"),
        new_zip(stage, country),
    )


def new_road(stage: Stage, country: Country) -> str:
    """The name of a road; in English mostly after a tree or a church, elsewhere after somebody."""
    random = stage.random
    if country.locale in _ENGLISH and random.random() < 0.7:
        name = word(random, "_road")
    else:
        name = stage.fakers[country.locale].last_name()
    return random.choice(country.roads).replace("{name}", name)


def new_city(stage: Stage, country: Country) -> str:
    """The name of a town."""
    own = _TOWNS_OF_THEIR_OWN.get(country.locale)
    if own and stage.random.random() < 0.6:
        return word(stage.random, own)
    if country.locale == "it_IT":
        return stage.random.choice(_italian_towns())
    city: str = stage.fakers[country.locale].city()
    # The library's lists hold a few towns with a space behind them.
    return city.strip()


@cache
def _italian_towns() -> tuple[str, ...]:
    """In their own order: the library keeps them as a set, which another process goes through differently."""
    from faker.providers.address.it_IT import Provider

    return tuple(sorted(Provider.cities))


def new_state(stage: Stage, country: Country) -> str:
    """The name or the letters of a state, empty where addresses name none."""
    kind = _STATES.get(country.locale)
    if kind is None:
        return ""
    name, _, letters = word(stage.random, kind).partition("=")
    return letters if letters and stage.random.random() < 0.6 else name


def new_zip(stage: Stage, country: Country) -> str:
    """A postal code."""
    if country.zips:
        return digits(stage.random, stage.random.choice(country.zips))
    code: str = stage.fakers[country.locale].postcode()
    return code


def whole(address: Address) -> Marked:
    """The address as one mention, its parts marked inside."""
    return mark(compose(address.layout, parts(address)), "street address")


def line(address: Address) -> Marked:
    """Road and number alone, as one mention."""
    layout = "{road} {number}" if address.layout.startswith("{road}") else "{number} {road}"
    return mark(compose(layout, parts(address)), "street address")


def parts(address: Address) -> dict[str, Marked]:
    """Every part by its name in a layout, marked with its label."""
    return {
        "number": mark(address.number, "building number"),
        "road": Marked(address.road),
        "unit": mark(address.unit, "secondary address unit"),
        "city": mark(address.city, "city name", "place"),
        "state": mark(address.state, "state or province", "place") if address.state else Marked(""),
        "county": mark(address.county, "county", "place"),
        "zip": mark(address.zip, "zip postal code"),
        "country": mark(address.country.name, "country", "place"),
    }
