"""Numbers in words, and the names of months and weekdays: fragments of regular expressions."""

UNITS = "one|two|three|four|five|six|seven|eight|nine"
TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
TENS = "twenty|thirty|forty|fourty|fifty|sixty|seventy|eighty|ninety"

CARDINAL = rf"(?:(?:{TENS})(?:[ -]?(?:{UNITS}))?|{TEENS}|{UNITS})"
"""One to ninety-nine, in words."""

DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
"""The digits in words, each at its own place."""

MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
"""English months in full and in short."""

FOREIGN_MONTHS = (
    "januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
    "|janvier|février|fevrier|mars|avril|juin|juillet|août|aout|septembre|octobre|novembre|décembre"
    "|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre"
    "|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|novembre|dicembre"
    "|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
    "|januari|februari|maart|mei|augustus|augusti|desember|december|marts|maj"
    "|stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia"
)
"""The months of German, French, Spanish, Italian, Portuguese, Dutch, the Nordic languages and Polish."""

WEEKDAYS = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
