"""National identity numbers, by country."""

from ingest.detection.patterns.checksums import digits_of, standard
from ingest.detection.patterns.page import hints
from ingest.detection.patterns.pattern import ID_VALUE, STRONG_LINK, TIGHT, Pattern, cued

_SSN = r"(?!000|666|9[0-9]{2})[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w]|[.-][0-9])"
"""With hyphens only: three numbers of a table row look the same with blanks or dots."""
_ITIN = r"9[0-9]{2}-(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-24-9])-[0-9]{4}(?!\w|-[0-9])"
_NINO = (
    r"(?![DFIQUV]|[A-Z][DFIQUVO]|BG|GB|KN|NK|NT|TN"
    r"|ZZ)[A-Z]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?[A-D](?!\w)"
)

# Name, label, format, validator: unambiguous formats with valid check digits.
_BARE: tuple[tuple[str, str, str, str], ...] = (
    ("es.dni", "national id number", r"[0-9]{8}[ -]?[A-HJ-NP-TV-Z]", "es.dni"),
    ("es.nie", "national id number", r"[XYZ][ -]?[0-9]{7}[ -]?[A-HJ-NP-TV-Z]", "es.nie"),
    (
        "it.cf",
        "national id number",
        r"[A-Za-z]{6}[0-9LMNP-Vlmnp-v]{2}[A-Za-z][0-9LMNP-Vlmnp-v]{2}[A-Za-z]"
        r"[0-9LMNP-Vlmnp-v]{3}[A-Za-z]",
        "it.codicefiscale",
    ),
    (
        "fr.nir",
        "national id number",
        r"[12][ ]?[0-9]{2}[ ]?[0-9]{2}[ ]?(?:[0-9]{2}|2[ABab])[ ]?[0-9]{3}[ ]?[0-9]{3}[ ]?[0-9]{2}",
        "fr.nir",
    ),
    ("se.personnummer", "national id number", r"(?:19|20)?[0-9]{6}[-+][0-9]{4}", "se.personnummer"),
    ("fi.hetu", "national id number", r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]", "fi.hetu"),
    ("ch.ssn", "national id number", r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", "ch.ssn"),
    ("be.nn", "national id number", r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}[-.][0-9]{3}[-.][0-9]{2}", "be.nn"),
    ("br.cpf", "national id number", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", "br.cpf"),
    ("cn.ric", "national id number", r"[1-9][0-9]{16}[0-9Xx]", "cn.ric"),
    ("kr.rrn", "national id number", r"[0-9]{6}-[1-8][0-9]{6}", "kr.rrn"),
    ("mx.curp", "national id number", r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9]", "mx.curp"),
    ("cl.rut", "national id number", r"[0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk]", "cl.rut"),
    ("ro.cnp", "national id number", r"[1-8][0-9]{12}", "ro.cnp"),
    ("in.pan", "tax number", r"[A-Z]{3}[ABCFGHLJPTK][A-Z][0-9]{4}[A-Z]", "in_.pan"),
    ("mx.rfc", "tax number", r"[A-Z&Ñ]{4}-?[0-9]{6}-?[0-9A-Z]{3}", "mx.rfc"),
)

_NINE, _TEN, _ELEVEN = (
    r"[0-9]{3}[ .-]?[0-9]{3}[ .-]?[0-9]{3}",
    r"[0-9]{3}[ .-]?[0-9]{3}[ .-]?[0-9]{4}",
    r"[0-9]{2,6}(?:[ .-]?[0-9]{2,5}){1,4}",
)

# Name, label, format, validator, cue, hints: bare digits, accepted only after a cue word.
_CUED: tuple[tuple[str, str, str, str, str, tuple[str, ...]], ...] = (
    ("gb.nhs", "health insurance number", _TEN, "gb.nhs", r"nhs|h&c|hsc", ("nhs", "h&c", "hsc")),
    ("ca.sin", "national id number", _NINE, "ca.sin", r"sin|social insurance", ("sin", "social insurance")),
    (
        "au.medicare",
        "health insurance number",
        r"[2-6][0-9]{3}[ -]?[0-9]{5}[ -]?[0-9]",
        "",
        r"medicare",
        ("medicare",),
    ),
    ("au.tfn", "tax number", _NINE, "au.tfn", r"tfn|tax file", ("tfn", "tax file")),
    (
        "gb.utr",
        "tax number",
        r"[0-9]{5}[ ]?[0-9]{5}",
        "gb.utr",
        r"utr|unique taxpayer(?: reference)?",
        ("utr", "unique taxpayer"),
    ),
    (
        "us.ein",
        "tax number",
        r"[0-9]{2}-?[0-9]{7}",
        "us.ein",
        r"ein|fein|employer identification|tax id(?:entification)?",
        hints("ein|fein|employer id|tax id"),
    ),
    (
        "de.idnr",
        "tax number",
        _ELEVEN,
        "de.idnr",
        r"steuer-?id(?:entifikationsnummer|nr)?|idnr|tin|steuerliche identifikationsnummer",
        hints("steuer|idnr|tin"),
    ),
    (
        "nl.bsn",
        "national id number",
        r"[0-9]{2,4}[ .-]?[0-9]{2,3}[ .-]?[0-9]{2,3}",
        "nl.bsn",
        r"bsn|burgerservice(?:nummer)?|sofi(?:nummer)?",
        hints("bsn|burgerservice|sofi"),
    ),
    (
        "no.fnr",
        "national id number",
        r"[0-9]{6}[ ]?[0-9]{5}",
        "no.fodselsnummer",
        r"fødselsnummer|fodselsnummer|fnr|personnummer|national id(?:entity|entification)?",
        hints("fødselsnummer|fodselsnummer|personnummer|fnr|national id"),
    ),
    (
        "dk.cpr",
        "national id number",
        r"[0-9]{6}[ -]?[0-9]{4}",
        "",
        r"cpr|personnummer",
        ("cpr", "personnummer"),
    ),
    (
        "se.cued",
        "national id number",
        r"(?:19|20)?[0-9]{6}[-+]?[0-9]{4}",
        "se.personnummer",
        r"personnummer|personal identity|pnr",
        hints("personnummer|personal id|pnr"),
    ),
    (
        "in.aadhaar",
        "national id number",
        r"[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}",
        "in_.aadhaar",
        r"aadhaar|aadhar|uidai|uid",
        ("aadha", "uid"),
    ),
    ("pl.pesel", "national id number", r"[0-9]{11}", "pl.pesel", r"pesel", ("pesel",)),
    (
        "pl.nip",
        "tax number",
        r"[0-9]{3}-?[0-9]{3}-?[0-9]{2}-?[0-9]{2}|[0-9]{3}-?[0-9]{2}-?[0-9]{2}-?[0-9]{3}",
        "pl.nip",
        r"nip",
        ("nip",),
    ),
    (
        "br.cued",
        "national id number",
        r"[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}",
        "br.cpf",
        r"cpf",
        ("cpf",),
    ),
    ("za.id", "national id number", r"[0-9]{6}[ ]?[0-9]{4}[ ]?[0-9]{3}", "za.idnr", r"id|identity", ("id",)),
    (
        "il.id",
        "national id number",
        r"[0-9]{9}",
        "il.idnr",
        r"teudat zehut|israeli id|identity",
        hints("teudat|israeli|identity"),
    ),
    ("pt.nif", "tax number", _NINE, "pt.nif", r"nif|contribuinte", ("nif", "contribuinte")),
    (
        "cz.rc",
        "national id number",
        r"[0-9]{6}/?[0-9]{3,4}",
        "cz.rc",
        r"rodné číslo|birth number|r\.? ?č\.?",
        hints("rodné|birth number|r.|rč|r č"),
    ),
    (
        "tr.tckimlik",
        "national id number",
        r"[1-9][0-9]{10}",
        "tr.tckimlik",
        r"tc|t\.c\.|kimlik",
        hints("tc|t.c.|kimlik"),
    ),
)

_SPACED_ID = (
    r"(?:(?=[A-Z]{0,4}[ -]?[0-9]|[A-Z]{5}[0-9])[A-Z0-9]{1,20}+|(?=[a-z]{1,3}[0-9])[A-Za-z0-9]{1,20}+)"
    r"(?:[ .\-/](?=[A-Z]{0,4}[0-9])[A-Za-z0-9]{1,20}+){0,5}+(?!\w)"
)


def _is_long(value: str) -> bool:
    return sum(char.isalnum() for char in value) >= 6 and len(digits_of(value)) >= 4


def _is_ssn_length(value: str) -> bool:
    return len(digits_of(value)) == 9


def _bare(name: str, label: str, regex: str, module: str) -> Pattern:
    guarded = rf"(?<![\w.+/-])(?:{regex})(?![\w]|[./-][0-9])"
    return Pattern(name, label, guarded, 0.95, TIGHT, standard(module))


def _with_cue(name: str, label: str, regex: str, module: str, cue: str, near: tuple[str, ...]) -> Pattern:
    check = standard(module) if module else None
    return cued(name, label, cue, rf"(?:{regex})(?![\w]|[./-][0-9])", near, confidence=0.95, check=check)


PATTERNS: tuple[Pattern, ...] = (
    Pattern("us.ssn", "social security number", rf"(?<![\w.+/-]){_SSN}", 0.93, TIGHT),
    cued(
        "us.ssn-cue",
        "social security number",
        r"ssn|social security|social",
        r"[0-9]{3}[ .-]?[0-9]{2}[ .-]?[0-9]{4}(?!\w)",
        ("ssn", "social"),
        confidence=0.95,
        check=_is_ssn_length,
    ),
    cued(
        "us.ssn-end",
        "social security number",
        r"(?:last|final) (?:four|4)(?: digits)?(?: of (?:\w{1,6} )?(?:ssn|social(?: security)?))|(?:ssn"
        r"|social)"
        r" (?:\w{1,6} )?ending(?: in| with)?",
        r"(?:[x*]{3}-?[x*]{2}-?)?[0-9]{4}(?!\w)",
        hints("ssn|social|last four|last 4|final four|final 4"),
        confidence=0.75,
    ),
    Pattern("us.itin", "tax number", rf"(?<![\w.+/-]){_ITIN}", 0.93, TIGHT),
    Pattern("gb.nino", "national id number", rf"(?<![\w-]){_NINO}", 0.95, TIGHT),
    *(_bare(*row) for row in _BARE),
    *(_with_cue(*row) for row in _CUED),
    cued(
        "national-id",
        "national id number",
        r"national (?:id(?:entity|entification)?|insurance)(?: card)?|identity (?:card|document)"
        r"|id[ -]card|personalausweis"
        r"|ausweis(?:nummer|nr)?|(?-i:DNI|NIE|CURP|HETU|NINO)|cédula|cedula|ni number|carte d'identité"
        r"|citizen id",
        _SPACED_ID,
        hints(
            "national i|identity|id card|id-card|personalausweis|ausweis|dni|nie|cédula|cedula|curp|hetu|nino"
            "|ni number|carte d'|citizen id"
        ),
        confidence=0.85,
        check=_is_long,
    ),
    cued(
        "passport",
        "passport number",
        r"passport(?: (?:card|book))?|passports(?= ?(?:[:#]|n))|pasaporte|passeport|reisepass(?:nummer)?"
        r"|paspoort(?:nummer)?",
        _SPACED_ID,
        hints("passport|pasaporte|passeport|reisepass|paspoort"),
        check=_is_long,
    ),
    cued(
        "driving-licence",
        "driving licence number",
        r"driv(?:ing|er'?s?'?) ?licen[cs]es?|(?-i:DL|DLN|D\.L\.)(?<!/..)(?= ?(?:[:#]|(?i:n[or]|num)))"
        r"|führerschein(?:nummer)?"
        r"|permis de conduire|rijbewijs"
        r"|licencia de conducir|permiso de conducir",
        _SPACED_ID,
        hints("driv|dl|d.l.|führerschein|permis|rijbewijs|licencia"),
        check=_is_long,
    ),
    cued(
        "tax",
        "tax number",
        r"tax(?:payer)?(?: id(?:entification)?| reference| registration)?|tin|itin|vat(?: reg(?:istration)?)?"
        r"|ust-?id(?:nr)?|steuernummer|st-?nr|tva|partita iva|p\.? ?iva|siren|siret|abn|inn",
        ID_VALUE,
        hints(
            "tax|tin|itin|vat|ust|steuernummer|st-nr|stnr|tva|partita|p.iva|p. iva|p iva|piva|siren|siret"
            "|abn|inn"
        ),
        confidence=0.85,
        link=STRONG_LINK,
        check=_is_long,
    ),
)
