"""Numbers that stand for a person, an account or a thing, with their check digits where they have any."""

import hashlib
from random import Random

from models.training.synthetic.stage import digits

_PREFIXES = ("4%##", "4%##", "5%##", "2###", "35##", "6011")
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_HEX = "0123456789abcdef"
_VIN_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
_VIN_VALUES = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), 1, 2, 3, 4, 5, 7, 9, *range(2, 10)), strict=True)
)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_IBANS = (
    ("DE", "##################"),
    ("GB", "????##############"),
    ("FR", "#######################"),
    ("ES", "####################"),
    ("NL", "????##########"),
    ("IT", "?######################"),
    ("PL", "########################"),
    ("CH", "#################"),
    ("TR", "######################"),
)


def luhn_digit(number: str) -> str:
    """The digit that makes the number pass the check of ISO/IEC 7812-1."""
    total = 0
    for place, character in enumerate(reversed(number)):
        value = int(character) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def card_number(random: Random) -> str:
    """A card number that passes its check; in groups, with hyphens or solid."""
    body = digits(random, random.choice(_PREFIXES) + "#" * 11)
    number = body + luhn_digit(body)
    separator = random.choice((" ", " ", "-", ""))
    return separator.join(number[place : place + 4] for place in range(0, 16, 4))


def iban(random: Random) -> str:
    """An IBAN with its two check digits (ISO 13616); in groups of four or solid."""
    country, pattern = random.choice(_IBANS)
    account = digits(random, pattern)
    spelled = "".join(str(int(c, 36)) for c in account + country + "00")
    number = f"{country}{98 - int(spelled) % 97:02d}{account}"
    separator = random.choice((" ", " ", ""))
    return separator.join(number[place : place + 4] for place in range(0, len(number), 4))


def bic(random: Random) -> str:
    """Eight or eleven characters (ISO 9362)."""
    country = random.choice(("DE", "GB", "FR", "ES", "NL", "IT", "PL", "US", "CH", "SE"))
    return digits(random, f"????{country}?*") + random.choice(("", "", "XXX", digits(random, "###")))


def vin(random: Random) -> str:
    """Seventeen characters with the check digit in the ninth place (49 CFR 565)."""
    characters = [random.choice(_VIN_LETTERS) for _ in range(17)]
    total = sum(
        weight * (int(c) if c.isdigit() else _VIN_VALUES[c])
        for c, weight in zip(characters, _VIN_WEIGHTS, strict=True)
    )
    characters[8] = "0123456789X"[total % 11]
    return "".join(characters)


def imei(random: Random) -> str:
    """Fifteen digits with a check digit, solid or in the groups in which it is read out."""
    body = digits(random, random.choice(("35", "01", "86")) + "#" * 12)
    number = body + luhn_digit(body)
    if random.random() < 0.4:
        return f"{number[:2]}-{number[2:8]}-{number[8:14]}-{number[14]}"
    return number


def bitcoin_wallet(random: Random) -> str:
    """An address of one of the three usual kinds; its checksum is not computed."""
    if random.random() < 0.4:
        return "bc1q" + _many(random, _BECH32, 38)
    return random.choice("13") + _many(random, _BASE58, random.choice((32, 33)))


def ethereum_wallet(random: Random) -> str:
    """Forty hexadecimal digits, at times in mixed case as the checksummed form has them."""
    digest = hashlib.sha256(random.randbytes(16)).hexdigest()[:40]
    if random.random() < 0.5:
        digest = "".join(c.upper() if random.random() < 0.5 else c for c in digest)
    return "0x" + digest


def litecoin_wallet(random: Random) -> str:
    """An address of one of the usual kinds."""
    if random.random() < 0.3:
        return "ltc1q" + _many(random, _BECH32, 38)
    return random.choice("LM") + _many(random, _BASE58, 33)


def mac(random: Random) -> str:
    """Six octets, with colons or hyphens."""
    octets = [_many(random, _HEX, 2) for _ in range(6)]
    text = random.choice((":", ":", "-")).join(octets)
    return text.upper() if random.random() < 0.5 else text


def ip(random: Random) -> str:
    """An address of version 4, or at times of version 6."""
    if random.random() < 0.2:
        groups = [_many(random, _HEX, 4) for _ in range(8)]
        return ":".join(groups) if random.random() < 0.5 else ":".join(groups[:3]) + "::" + groups[7]
    return ".".join(str(random.randrange(1, 255)) for _ in range(4))


def secret_key(random: Random) -> str:
    """A key or token in the shape of a service that issues such."""
    letters = _BASE58
    return random.choice(
        (
            "sk_live_" + _many(random, letters, 24),
            "sk-" + _many(random, letters, 40),
            "AKIA" + digits(random, "*" * 16),
            "ghp_" + _many(random, letters, 36),
            "xoxb-" + digits(random, "%###########-") + _many(random, letters, 24),
            "AIza" + _many(random, letters, 35),
            _many(random, _HEX, 32),
            _many(random, _HEX, 64),
            "eyJ"
            + _many(random, letters, 30)
            + "."
            + _many(random, letters, 40)
            + "."
            + _many(random, letters, 22),
        )
    )


def vrm(random: Random) -> str:
    """A number plate of one of several countries."""
    pattern = random.choice(
        (
            "??## ???",
            "??##???",
            "%???###",
            "???-####",
            "??? %##",
            "B-?? ####",
            "M ?? ####",
            "?? ### ??",
            "####???",
        )
    )
    return digits(random, pattern)


def password(random: Random) -> str:
    """A password as people choose them, or as a machine does."""
    word = random.choice(
        (
            "sunshine",
            "Dragon",
            "winter",
            "football",
            "Liverpool",
            "monkey",
            "Blue",
            "pizza",
            "hunter",
            "qwerty",
        )
    )
    tail = digits(random, random.choice(("##", "####", "20##", "#")))
    mark = random.choice(("!", "!!", "#", "@", "$", "_", "*", "?"))
    machine = "".join(random.choice(_BASE58 + "!#$%&*+-=?@^_") for _ in range(random.randrange(9, 16)))
    return random.choice(
        (word + tail + mark, word + mark + tail, f"{word.capitalize()}{tail}{mark}", "a" + machine)
    )


def _many(random: Random, alphabet: str, count: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(count))
