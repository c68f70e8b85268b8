"""What fills a slot whose value is made, not listed."""

from collections.abc import Callable
from random import Random

from models.training.synthetic import addresses, clinical, dates, identifiers, money, phrases
from models.training.synthetic.casting import new_person
from models.training.synthetic.countries import COUNTRIES
from models.training.synthetic.marked import Marked
from models.training.synthetic.stage import Stage, digits, weighted

Maker = Callable[[Stage, str], Marked]

_SHARE_OF_WORLD_TOWNS = 0.35


def _plain(make: Callable[[Random], str]) -> Maker:
    return lambda stage, style: Marked(make(stage.random))


def _pattern(*patterns: str) -> Maker:
    return lambda stage, style: Marked(digits(stage.random, stage.random.choice(patterns)))


def _address(part: str) -> Maker:
    def make(stage: Stage, style: str) -> Marked:
        country = weighted(stage.random, [(country, country.weight) for country in COUNTRIES])
        address = addresses.new_address(stage, country)
        if part == "state" and not address.state:
            address = addresses.new_address(stage, COUNTRIES[0])
        found = addresses.parts(address)[part]
        return Marked(found.text)

    return make


def _city(stage: Stage, style: str) -> Marked:
    # Beside no address, a town may lie where no layout of addresses is known.
    if stage.random.random() < _SHARE_OF_WORLD_TOWNS:
        return Marked(phrases.word(stage.random, "_world city"))
    return _address("city")(stage, style)


def _street_address(stage: Stage, style: str) -> Marked:
    home = new_person(stage).home
    made = addresses.line(home) if style == "line" else addresses.whole(home)
    return Marked(made.text, made.mentions[1:])


def _gps(stage: Stage, style: str) -> Marked:
    random = stage.random
    latitude, longitude = random.uniform(-60, 65), random.uniform(-170, 170)
    north, east = "NS"[latitude < 0], "EW"[longitude < 0]
    return Marked(
        random.choice(
            (
                f"{latitude:.4f}, {longitude:.4f}",
                f"[{latitude:.4f},{longitude:.4f}]",
                f"{latitude:.6f},{longitude:.6f}",
                f"{abs(latitude):.4f}° {north}, {abs(longitude):.4f}° {east}",
                f"{abs(latitude):.3f}{north} {abs(longitude):.3f}{east}",
            )
        )
    )


def _user_agent(stage: Stage, style: str) -> Marked:
    return Marked(stage.fakers["en_US"].user_agent())


def _email(stage: Stage, style: str) -> Marked:
    random = stage.random
    word = stage.fakers["en_US"].word
    box = random.choice(("info", "support", "billing", "office", "hr", "noreply", "contact", "help", word()))
    domain = random.choice((f"{word()}-{word()}", f"{word()}{word()}"))
    return Marked(f"{box}@{domain}.{random.choice(('com', 'org', 'co.uk', 'net', 'example', 'de', 'io'))}")


def _url(stage: Stage, style: str) -> Marked:
    random = stage.random
    word = stage.fakers["en_US"].word
    first, last = random.choice(("www.", "", "portal.", "app.")), random.choice(("com", "org", "net"))
    host = f"{first}{word()}{word()}.{last}"
    path = random.choice(
        ("", f"/{word()}", f"/{word()}/{word()}?id={random.randrange(9999)}", f"/{word()}.html")
    )
    return Marked(random.choice(("https://", "https://", "http://", "")) + host + path)


def _phone(stage: Stage, style: str) -> Marked:
    country = weighted(stage.random, [(country, country.weight) for country in COUNTRIES])
    return Marked(digits(stage.random, stage.random.choice(country.phones)))


def _age(stage: Stage, style: str) -> Marked:
    years = stage.random.randrange(1, 19) if style == "child" else stage.random.randrange(18, 96)
    made = dates.age(stage, years, "" if style == "child" else style)
    return Marked(made.text)


def _issued_year(*patterns: str) -> Maker:
    def make(stage: Stage, style: str) -> Marked:
        year = str(stage.today.year)
        pattern = stage.random.choice(patterns)
        return Marked(digits(stage.random, pattern).replace("YYYY", year).replace("YY", year[2:]))

    return make


MAKERS: dict[str, Maker] = {
    "date": dates.any_date,
    "time": dates.clock,
    "date of birth": lambda stage, style: Marked(dates.birth(stage, new_person(stage).born, style).text),
    "person age": _age,
    "monetary amount": lambda stage, style: money.amount(stage.random, style),
    "bitcoin amount": _plain(money.bitcoin_amount),
    "street address": _street_address,
    "building number": _address("number"),
    "secondary address unit": _address("unit"),
    "city name": _city,
    "county": _address("county"),
    "state or province": _address("state"),
    "zip postal code": _address("zip"),
    "nearby GPS coordinate": _gps,
    "email address": _email,
    "phone number": _phone,
    "URL link": _url,
    "user agent string": _user_agent,
    "dosage": _plain(clinical.dosage),
    "frequency": _plain(clinical.frequency),
    "duration": _plain(clinical.duration),
    "test result": _plain(clinical.test_result),
    "person height": _plain(clinical.height),
    "quantity": lambda stage, style: Marked(clinical.quantity(stage.random, style)),
    "IBAN": _plain(identifiers.iban),
    "BIC code": _plain(identifiers.bic),
    "credit card number": _plain(identifiers.card_number),
    "credit card CVV": _pattern("###", "###", "####"),
    "PIN code": _pattern("####", "####", "######"),
    "bank account number": _pattern("%#######", "%#########", "%###########", "XXXX%###", "%#-####-#######"),
    "bitcoin wallet address": _plain(identifiers.bitcoin_wallet),
    "ethereum wallet address": _plain(identifiers.ethereum_wallet),
    "litecoin wallet address": _plain(identifiers.litecoin_wallet),
    "IP address": _plain(identifiers.ip),
    "MAC address": _plain(identifiers.mac),
    "password": _plain(identifiers.password),
    "secret key": _plain(identifiers.secret_key),
    "vehicle VIN": _plain(identifiers.vin),
    "vehicle VRM": _plain(identifiers.vrm),
    "phone IMEI": _plain(identifiers.imei),
    "social security number": _pattern("%##-##-####", "%##-##-####", "%## ## ####", "%########"),
    "passport number": _pattern("%########", "?%#######", "??%######", "?%## ### ##", "C0%?###%#"),
    "national id number": _pattern(
        "?? ## ## ## ?", "%#.###.###-#", "########-?", "%#######?", "%###########", "##.##.##-###.##"
    ),
    "tax number": _pattern(
        "%#-#######", "9##-7#-####", "##########", "## ### ### ###", "?????%###?", "DE%########"
    ),
    "driving licence number": _pattern(
        "?####-#####-#####", "?%######", "?????%#####??%??", "%########", "??-##-####"
    ),
    "medical record number": _pattern(
        "%######", "%#######", "MR%#####", "%##-##-##", "MRN%######", "H%########"
    ),
    "health insurance number": _pattern(
        "?%########", "### ### ####", "%???-??%-??%#", "XK%######", "%#########?"
    ),
    "case number": _issued_year(
        "%####/YY", "%#### / YY", "YY-CV-%####", "C-%##/YY", "%:YY-cr-00%##", "YYYY/%###"
    ),
    "employee number": _pattern("E%#####", "%#####", "EMP-%####", "%####", "P-%##-%##"),
    "_short code": _pattern("?%##", "??-##", "?%-##", "%###", "?-####", "##?%", "%##-*", "??-%-###"),
    "_license": _pattern("RN-%#####", "LPC %####", "%####", "PE-%####", "??%####", "%#/####", "??? %###-?"),
    "reference number": _issued_year(
        "REF-YYYY/%###",
        "YYYY-%#####",
        "??%######",
        "INC%######",
        "%#######",
        "TKT-%####",
        "PO %#####",
        "%###-??-%##",
    ),
}
