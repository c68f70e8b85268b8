"""How countries write addresses and telephone numbers, and whose names their people bear."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Country:
    """One country. ``layouts`` and ``units`` are in the notation of ``marked.compose`` and of digits.

    ``locale`` names a source of towns, ``roads`` the ways to write a road around a ``{name}``,
    ``weight`` how often somebody lives here.
    """

    name: str
    nationality: str
    locale: str
    weight: float
    layouts: tuple[str, ...]
    roads: tuple[str, ...]
    units: tuple[str, ...]
    zips: tuple[str, ...]
    phones: tuple[str, ...]


_ENGLISH_ROADS = (
    "{name} Street",
    "{name} Road",
    "{name} Avenue",
    "{name} Lane",
    "{name} Drive",
    "{name} Court",
    "{name} St",
    "{name} Ave.",
    "{name} Rd",
    "{name} Blvd",
    "{name} Way",
    "{name} Terrace",
)
_AMERICAN = (
    "{number} {road}, {city}, {state} {zip}",
    "{number} {road}, {unit}, {city}, {state} {zip}",
    "{number} {road} {unit}, {city}, {state} {zip}",
    "{number} {road}\n{city}, {state} {zip}",
    "{number} {road}, {city} {state}",
    "{number} {road}, {city}, {state}",
)
_AMERICAN_UNITS = ("Apt %", "Apt. %##", "Suite %##", "Unit %", "#%#", "Apt %?", "Floor %", "Ste %00")
_CONTINENTAL = ("{road} {number}, {zip} {city}", "{road} {number}\n{zip} {city}", "{road} {number}, {city}")

COUNTRIES = (
    Country(
        "United States",
        "American",
        "en_US",
        30,
        _AMERICAN,
        (*_ENGLISH_ROADS, "N {name} St", "West {name} Avenue", "{name} Pkwy", "{name} Circle"),
        _AMERICAN_UNITS,
        ("#####", "#####", "#####-####"),
        (
            "(%##) ###-####",
            "%##-###-####",
            "+1 %## ### ####",
            "%##.###.####",
            "%## ### ####",
            "1-%##-###-####",
        ),
    ),
    Country(
        "United Kingdom",
        "British",
        "en_GB",
        16,
        (
            "{number} {road}, {city} {zip}",
            "{number} {road}, {city}, {county}, {zip}",
            "{unit}, {number} {road}, {city}, {zip}",
            "{number} {road}\n{city}\n{zip}",
            "{number} {road}, {city}",
        ),
        (*_ENGLISH_ROADS, "{name} Close", "{name} Gardens", "{name} Crescent", "{name} Mews", "The {name}s"),
        ("Flat %", "Flat %?", "Unit %", "Flat %#"),
        (),
        (
            "07### ######",
            "+44 7### ######",
            "020 #### ####",
            "01### ######",
            "+44 (0)20 #### ####",
            "07#########",
        ),
    ),
    Country(
        "Canada",
        "Canadian",
        "en_CA",
        6,
        _AMERICAN[:5],
        _ENGLISH_ROADS,
        _AMERICAN_UNITS,
        (),
        ("(%##) ###-####", "%##-###-####", "+1-%##-###-####"),
    ),
    Country(
        "Australia",
        "Australian",
        "en_AU",
        5,
        ("{number} {road}, {city} {state} {zip}", "{unit}, {number} {road}, {city} {state} {zip}"),
        (*_ENGLISH_ROADS, "{name} Parade", "{name} Crescent"),
        ("Unit %", "Unit %#", "Apt %"),
        ("%###",),
        ("04## ### ###", "+61 4## ### ###", "(0%) #### ####"),
    ),
    Country(
        "India",
        "Indian",
        "en_IN",
        6,
        (
            "{number}, {road}, {city}, {state} {zip}",
            "{unit}, {number} {road}, {city} - {zip}",
            "{number} {road}, {city} {zip}, {state}",
        ),
        ("{name} Road", "{name} Nagar", "{name} Marg", "{name} Street", "{name} Chowk", "{name} Colony"),
        ("Flat No. %##", "Plot %#", "Flat %?", "%nd Floor"),
        ("%#####",),
        ("+91 9#### #####", "+91-98########", "98########", "0%#-########"),
    ),
    Country(
        "Germany",
        "German",
        "de_DE",
        6,
        _CONTINENTAL,
        ("{name}straße", "{name}weg", "{name} Str.", "{name}gasse", "Am {name}platz", "{name}strasse"),
        ("Whg. %",),
        ("%####",),
        ("+49 30 #######", "0151 ########", "+49 (0)89 ######", "0221/######", "+49 17# #######"),
    ),
    Country(
        "France",
        "French",
        "fr_FR",
        5,
        (
            "{number} {road}, {zip} {city}",
            "{number}, {road}\n{zip} {city}",
            "{number} {road}, {unit}, {zip} {city}",
        ),
        ("rue {name}", "avenue {name}", "rue de la {name}", "boulevard {name}", "place {name}", "Rue {name}"),
        ("Apt %", "Bât. ?", "appt %#"),
        ("%####",),
        ("06 ## ## ## ##", "+33 6 ## ## ## ##", "01 ## ## ## ##"),
    ),
    Country(
        "Spain",
        "Spanish",
        "es_ES",
        4,
        ("{road} {number}, {zip} {city}", "{road}, {number}, {unit}, {zip} {city}"),
        ("Calle {name}", "Calle de {name}", "Avenida {name}", "C/ {name}", "Plaza de {name}", "Paseo {name}"),
        ("%º ?", "Piso %", "%º izq."),
        ("%####",),
        ("+34 6## ### ###", "6## ## ## ##", "91 ### ## ##"),
    ),
    Country(
        "Italy",
        "Italian",
        "it_IT",
        4,
        ("{road} {number}, {zip} {city}", "{road}, {number}\n{zip} {city}"),
        ("Via {name}", "Viale {name}", "Piazza {name}", "Corso {name}", "Via dei {name}"),
        ("Int. %",),
        ("%####",),
        ("+39 3## #######", "06 #######", "3## ### ####"),
    ),
    Country(
        "Poland",
        "Polish",
        "pl_PL",
        4,
        ("{road} {number}, {zip} {city}",),
        ("ul. {name}", "ulica {name}", "al. {name}"),
        ("m. %",),
        ("%#-###",),
        ("+48 %## ### ###", "%## ### ###"),
    ),
    Country(
        "Turkey",
        "Turkish",
        "tr_TR",
        3,
        ("{road} No: {number}, {zip} {city}", "{road} {number}, {city}"),
        ("{name} Caddesi", "{name} Sokak", "{name} Cad."),
        ("Daire %", "D: %"),
        ("%####",),
        ("+90 5## ### ## ##", "05## ### ## ##"),
    ),
    Country(
        "Netherlands",
        "Dutch",
        "nl_NL",
        3,
        _CONTINENTAL,
        ("{name}straat", "{name}laan", "{name}weg", "{name}gracht", "{name}plein"),
        ("%-hoog",),
        ("%### ??",),
        ("06-########", "+31 6 ########", "020 ### ####"),
    ),
    Country(
        "Sweden",
        "Swedish",
        "sv_SE",
        2,
        _CONTINENTAL,
        ("{name}gatan", "{name}vägen", "Stora {name}gatan"),
        ("lgh 1%0%",),
        ("%## ##",),
        ("070-### ## ##", "+46 70 ### ## ##"),
    ),
    Country(
        "Brazil",
        "Brazilian",
        "pt_BR",
        3,
        ("{road}, {number}, {city} - {state}, {zip}", "{road}, {number}, {unit}, {city}, {zip}"),
        ("Rua {name}", "Avenida {name}", "Travessa {name}", "Rua dos {name}"),
        ("Apto %#", "Bloco ?"),
        ("%####-###",),
        ("+55 11 9####-####", "(21) 9####-####"),
    ),
    Country(
        "Czech Republic",
        "Czech",
        "cs_CZ",
        2,
        _CONTINENTAL,
        ("{name}ova", "{name}ská", "ulice {name}"),
        ("byt %",),
        ("%## ##",),
        ("+420 %## ### ###", "%## ### ###"),
    ),
    Country(
        "Finland",
        "Finnish",
        "fi_FI",
        2,
        _CONTINENTAL,
        ("{name}nkatu", "{name}ntie", "{name}nkuja"),
        ("as. %",),
        ("%####",),
        ("+358 40 #######", "050 #######"),
    ),
)

# People whose names come from the lists, with where they mostly live when they write English.
ORIGINS = (
    ("Chinese", 4.0),
    ("Japanese", 2.5),
    ("Korean", 2.5),
    ("Arabic", 4.0),
    ("Vietnamese", 2.0),
    ("Indian", 3.0),
    ("Nigerian", 3.0),
)
