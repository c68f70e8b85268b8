"""Amounts of money."""

from random import Random

from models.training.synthetic.marked import Marked, join, mark

_CURRENCIES = (
    ("$", "USD", "dollars"),
    ("$", "USD", "US dollars"),
    ("£", "GBP", "pounds"),
    ("€", "EUR", "euros"),
    ("₹", "INR", "rupees"),
    ("kr", "SEK", "kronor"),
    ("zł", "PLN", "zlotys"),
    ("₺", "TRY", "Turkish liras"),
    ("R$", "BRL", "reais"),
    ("¥", "JPY", "yen"),
    ("₦", "NGN", "naira"),
    ("Fr.", "CHF", "Swiss francs"),
)
_BEFORE = ("$", "£", "€", "₹", "R$", "¥", "₦")


def amount(random: Random, style: str) -> Marked:
    """A sum; inside it the symbol, the code or the name of the currency is marked too."""
    symbol, code, name = random.choice(_CURRENCIES[:4] if random.random() < 0.6 else _CURRENCIES)
    number = _number(random)
    form = style or random.choice(("symbol", "symbol", "symbol", "code", "name"))
    if form == "symbol" and symbol in _BEFORE:
        return join((mark(symbol, "currency symbol"), Marked(number)))
    if form == "symbol":
        return join((Marked(f"{number} "), mark(symbol, "currency symbol")))
    if form == "code" and random.random() < 0.5:
        return join((mark(code, "currency ISO code"), Marked(f" {number}")))
    if form == "code":
        return join((Marked(f"{number} "), mark(code, "currency ISO code")))
    return join((Marked(f"{number} "), mark(name, "currency full name")))


def bitcoin_amount(random: Random) -> str:
    """A sum of bitcoin."""
    number = f"{random.uniform(0.0001, 4):.{random.choice((2, 3, 4, 8))}f}"
    return f"{number} {random.choice(('BTC', 'BTC', 'bitcoin', 'btc', 'bitcoins'))}"


def _number(random: Random) -> str:
    whole = random.choice(
        (random.randrange(5, 100), random.randrange(100, 10000), random.randrange(10**4, 10**6))
    )
    return random.choice(
        (
            f"{whole:,}",
            f"{whole:,}.{random.randrange(100):02d}",
            str(whole),
            f"{whole}.{random.randrange(100):02d}",
        )
    )
