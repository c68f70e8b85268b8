"""Doses, durations, results and measures."""

from random import Random

from models.training.synthetic.dates import number_words

_RESULTS = (
    lambda r: f"{r.randrange(90, 190)}/{r.randrange(50, 110)} mmHg",
    lambda r: f"{r.randrange(90, 190)}/{r.randrange(50, 110)}",
    lambda r: f"{r.uniform(4.5, 12):.1f}%",
    lambda r: f"{r.randrange(60, 400)} mg/dL",
    lambda r: f"{r.uniform(6, 17):.1f} g/dL",
    lambda r: f"{r.uniform(0.4, 5):.1f} mmol/L",
    lambda r: f"{r.randrange(48, 140)} bpm",
    lambda r: f"{r.uniform(35.5, 40.5):.1f} C",
    lambda r: f"{r.randrange(82, 100)}% on room air",
    lambda r: r.choice(("negative", "positive", "within normal limits", "unremarkable", "elevated", "low")),
    lambda r: f"{r.randrange(3, 30)}.{r.randrange(10)} x 10^9/L",
)


def dosage(random: Random) -> str:
    """How much of a medicine."""
    amount = random.choice(
        (1, 2, 2.5, 5, 10, 12.5, 20, 25, 40, 50, 75, 100, 150, 200, 250, 400, 500, 850, 1000)
    )
    unit = random.choice(("mg", "mg", "mg", " mg", " mg", "mcg", " units", " mL", " g"))
    if random.random() < 0.15:
        count = random.choice(("one", "two", "half a", "1", "2", "three"))
        return f"{count} {random.choice(('tablet', 'puffs', 'capsules', 'tablets', 'drops', 'teaspoons'))}"
    return f"{amount}{unit}"


def frequency(random: Random) -> str:
    """How often."""
    hours = random.choice((4, 6, 8, 12))
    return random.choice(
        (
            "once daily",
            "twice daily",
            "twice a day",
            "three times a day",
            "every morning",
            "at bedtime",
            "every night",
            f"every {hours} hours",
            f"q{hours}h",
            "BID",
            "TID",
            "QD",
            "b.i.d.",
            "as needed",
            "PRN",
            "once a week",
            "weekly",
            "every other day",
            "every two weeks",
            "four times a day",
            "monthly",
        )
    )


def duration(random: Random) -> str:
    """How long."""
    count = random.randrange(2, 15)
    shown = random.choice((str(count), number_words(count)))
    unit = random.choice(("days", "days", "weeks", "months", "years", "hours"))
    return random.choice(
        (
            f"{shown} {unit}",
            f"{shown} {unit}",
            f"{shown} {unit}",
            f"{count}-{number_words(count + 1)} {unit}" if count < 3 else f"{count} to {count + 2} {unit}",
            "a week",
            "a couple of weeks",
            "several months",
            "a few days",
            "over a year",
        )
    )


def test_result(random: Random) -> str:
    """What a test showed."""
    return random.choice(_RESULTS)(random)


def height(random: Random) -> str:
    """How tall somebody is."""
    feet, inches = random.choice((4, 5, 5, 5, 6)), random.randrange(0, 12)
    centimeters = random.randrange(145, 205)
    return random.choice(
        (
            f"{feet}'{inches}\"",
            f"{feet}'{inches}",
            f"{feet} ft {inches} in",
            f"{feet} feet {inches} inches",
            f"{feet} foot {number_words(inches) if inches else 'one'}",
            f"{centimeters} cm",
            f"{centimeters}cm",
            f"1.{centimeters % 100:02d} m",
        )
    )


def quantity(random: Random, style: str) -> str:
    """An amount that is neither money nor time: a ``share``, a ``length``, or by default any measure."""
    count = random.choice((2, 3, 4, 5, 6, 8, 12, 15, 20, 40, 60, 120, 250, 300))
    number = random.choice(
        (str(count), number_words(count) if count < 100 else str(count), f"{count}.{count % 7}")
    )
    lengths = ("kilometers", "miles", "meters", "km", "yards")
    others = ("kilograms", "hectares", "liters", "square meters", "boxes", "pages", "tons")
    share = (
        f"{random.choice((str(count % 100), f'{count % 50}.{count % 7}'))}{random.choice(('%', ' per cent'))}"
    )
    if style == "share" or (not style and random.random() < 0.3):
        return share
    return f"{number} {random.choice(lengths if style == 'length' else others)}"
