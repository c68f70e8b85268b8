"""Addresses, whole and in parts."""

from functools import cache

from models.corpora.countries import Country
from models.training.synthetic.frames import word
from models.training.synthetic.marked import MarkedPiece, compose, mark
from models.training.synthetic.stage import Address, Stage, digits

_ENGLISH = ("en_US", "en_GB", "en_CA", "en_AU")
_TOWNS_OF_THEIR_OWN = {"en_US": "_american city", "en_GB": "_british city", "en_CA": "_canadian city"}
_STATES = {
    "en_US": "_american state",
    "en_CA": "_canadian province",
    "en_AU": "_australian state",
    "en_IN": "_indian state",
    "pt_BR": "_brazilian state",
}


def new_address(stage: Stage, country: Country) -> Address:
    """An address in that country."""
    random = stage.random
    american = country.locale == "en_US"
    numbers = "%## %### %# %####" if american else "% %# %# %## %## %### %#A %#/%"
    code = digits(random, random.choice(country.zips or ("",))) or stage.fakers[country.locale].postcode()
    return Address(
        country,
        random.choice(country.layouts),
        digits(random, random.choice(numbers.split())),
        _road(stage, country),
        digits(random, random.choice(country.units)),
        _city(stage, country),
        _state(stage, country),
        word(random, "_british county"),
        code,
    )


def _road(stage: Stage, country: Country) -> str:
    """In English mostly after a tree or a church, elsewhere after somebody."""
    random = stage.random
    if country.locale in _ENGLISH and random.random() < 0.7:
        name = word(random, "_road")
    else:
        name = stage.fakers[country.locale].last_name()
    return random.choice(country.roads).replace("{name}", name)


def _city(stage: Stage, country: Country) -> str:
    own = _TOWNS_OF_THEIR_OWN.get(country.locale)
    if own and stage.random.random() < 0.6:
        return word(stage.random, own)
    if country.locale == "it_IT":
        return stage.random.choice(italian_towns())
    city: str = stage.fakers[country.locale].city()
    # The library's lists hold a few towns with a space behind them.
    return city.strip()


@cache
def italian_towns() -> tuple[str, ...]:
    """In their own order: the library keeps them as a set, which another process goes through differently."""
    from faker.providers.address.it_IT import Provider

    return tuple(sorted(Provider.cities))


def _state(stage: Stage, country: Country) -> str:
    """The name or the letters of a state, empty where addresses name none."""
    kind = _STATES.get(country.locale)
    if kind is None:
        return ""
    name, _, letters = word(stage.random, kind).partition("=")
    return letters if letters and stage.random.random() < 0.6 else name


def whole(address: Address) -> MarkedPiece:
    """The address as one mention, its parts marked inside."""
    return mark(compose(address.layout, parts(address)), "street address")


def line(address: Address) -> MarkedPiece:
    """Road and number alone, as one mention."""
    layout = "{road} {number}" if address.layout.startswith("{road}") else "{number} {road}"
    return mark(compose(layout, parts(address)), "street address")


def parts(address: Address) -> dict[str, MarkedPiece]:
    """Every part by its name in a layout, marked with its label."""
    return {
        "number": mark(address.number, "building number"),
        "road": MarkedPiece(address.road),
        "unit": mark(address.unit, "secondary address unit"),
        "city": mark(address.city, "city name", "place"),
        "state": mark(address.state, "state or province", "place") if address.state else MarkedPiece(""),
        "county": mark(address.county, "county", "place"),
        "zip": mark(address.zip, "zip postal code"),
        "country": mark(address.country.name, "country", "place"),
    }
