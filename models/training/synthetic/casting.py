"""Who plays in an example."""

from datetime import date, timedelta

from models.training.synthetic import addresses
from models.training.synthetic.countries import COUNTRIES, ORIGINS
from models.training.synthetic.nouns import Gender, Person
from models.training.synthetic.phrases import word
from models.training.synthetic.stage import Stage, weighted

_ENGLISH_COUNTRIES = ("United States", "United Kingdom", "Canada", "Australia")
_SHARE_FROM_LISTS = 0.22


def new_person(stage: Stage, child: bool = False) -> Person:
    """An adult of up to ninety years, or a child of two to seventeen."""
    random = stage.random
    gender: Gender = random.choice(("female", "male"))
    years = (2, 18) if child else (19, 90)
    age = timedelta(days=random.randrange(years[0] * 365, years[1] * 365))
    born = stage.today - age
    if random.random() < _SHARE_FROM_LISTS:
        return _from_lists(stage, gender, born)
    country = weighted(random, [(country, country.weight) for country in COUNTRIES])
    faker = stage.fakers[country.locale]
    given, middle = _given(stage, country.locale, gender), _given(stage, country.locale, gender)
    family = faker.last_name_female() if gender == "female" else faker.last_name_male()
    home = addresses.new_address(stage, country)
    return Person(given, middle, family, gender, born, country.name, country.nationality, home)


def _given(stage: Stage, locale: str, gender: Gender) -> str:
    faker = stage.fakers[locale]
    name: str = faker.first_name_female() if gender == "female" else faker.first_name_male()
    return name


def _from_lists(stage: Stage, gender: Gender, born: date) -> Person:
    random = stage.random
    origin = weighted(random, ORIGINS)
    given, middle = (word(random, f"_{origin} {gender}") for _ in range(2))
    family = word(random, f"_{origin} family")
    country = random.choice(_ENGLISH_COUNTRIES)
    family_first = origin in ("Chinese", "Korean", "Vietnamese") and random.random() < 0.25
    home = addresses.new_address(stage, addresses.country_named(country))
    return Person(given, middle, family, gender, born, country, origin, home, family_first)
