"""Device identifiers, coordinates and secrets."""

import ipaddress
import re

from ingest.detection.patterns.checksums import digits_of, is_luhn
from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import LINK, TIGHT, Pattern, cued

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = (
    r"(?<![\w.-])(?<!\w/)(?<!version )(?<!ersion: )(?<!release )(?<!build )(?<!firmware )"
    r"(?<!section )(?<!clause )(?<!table )(?<!Section )(?<!Clause )(?<!Table )(?<!§ )"
    rf"(?:{_OCTET}\.){{3}}{_OCTET}(?:/[0-9]{{1,2}}(?![0-9]))?(?![\w-]|\.\w)"
)
_IPV6 = r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{5,39}+(?:(?<=:)[0-9.]{7,15})?(?![\w:])"


def _is_ipv6(value: str) -> bool:
    if value.count(":") < 3 and not ("::" in value and len(value) > 5):
        return False
    try:
        ipaddress.IPv6Address(value)
    except ipaddress.AddressValueError:
        return False
    return True


_MINUTES = r"[0-9]{1,2}(?:\.[0-9]{1,6})?[ ]?"
_DEGREES = rf"[0-9]{{1,3}}(?:\.[0-9]{{1,8}})?[ ]?°(?:[ ]?{_MINUTES}'(?:[ ]?{_MINUTES}(?:\"|''))?)?"
_GPS_PATTERNS = (
    rf"{_DEGREES}[ ]?[NS](?:,[ ]?|[ ]){_DEGREES}[ ]?[EWO](?!\w)",
    r"[NS][ ]?" + _DEGREES + r"(?:,[ ]?|[ ])[EWO][ ]?" + _DEGREES,
)
_DECIMAL_PAIR = (
    r"(?<![\w.,+-])[+-]?[0-9]{1,2}\.[0-9]{3,15}(?:,[ ]?|[ ]/[ ]|[ ])[+-]?[0-9]{1,3}\.[0-9]{3,15}"
    r"(?!\w|\.[0-9]|,[ ]?[0-9])"
)


def _is_on_earth(value: str) -> bool:
    first, second = (float(part) for part in re.split(r"(?:,\s?|\s/\s|\s)", value, maxsplit=1))
    return 10 <= max(abs(first), abs(second)) and abs(first) <= 90 and abs(second) <= 180


_PASSWORD_CUES = (
    r"pass[ -]?(?:word|code)|(?<![0-9])(?<![0-9] )(?<!month )(?<!week )p/?w|passwort|kennwort|passwd|pwd"
    r"|pass[ -]?phrase|mot de passe|contraseña|clave|wachtwoord"
    r"|parola d'ordine|senha|hasło|lösenord"
)
_PASSWORD_HINTS = hints(
    "pass|kennwort|pw|p/w|mot de passe|contraseña|clave|wachtwoord|parola|senha|hasło|lösenord"
)
_FOR_WHAT = r"(?:[ ](?i:for|to|of|on)(?:[ ][\w.@'-]{1,30}+){1,4}?)?"
_ASSIGNED = _FOR_WHAT + r"[ \t]{0,3}\"?'?[ \t]{0,2}(?:is[ \t]?)?[:=]{1,2}[ \t]{0,3}"
_TOKEN = r"[^\s\"'`<>]{2,127}[^\s\"'`<>.,;:)]|[^\s\"'`<>]{2,127}[^\s\"'`<>]"
_QUOTED = r"(?<=[\"'`])[^\"'`\n]{3,127}(?=[\"'`])"
_STARRED = re.compile(r"[*•x.\-_]+|\[.*\]?|<.*|\{.*", re.IGNORECASE)
_NOT_A_SECRET = frozenset(
    "and are been change changed empty expired field for forgot has incorrect input invalid must none not"
    " null please protected protection required reset should string the true false undefined was"
    " will wrong".split()
)


_PHRASE_CUES = r"pass[ -]?phrase|(?:seed|recovery|mnemonic|backup|wallet)[ ]phrase"
_ORDINARY = frozenset(
    "a about also an as at be but by can could do does enough has have i if in it its kept known long made my"
    " no nobody of on only or our shared so some that there they this to too used we when which who with"
    " without you your".split()
)
"""Words of sentences about a passphrase, unlikely within one."""


def _is_secret(value: str) -> bool:
    return not _STARRED.fullmatch(value) and value.lower() not in _NOT_A_SECRET


def _is_phrase(value: str) -> bool:
    said = value.lower().split()
    return len(said) > 1 and said[0] not in _NOT_A_SECRET and _STARRED.fullmatch(value) is None


def _is_bare_phrase(value: str) -> bool:
    return not set(value.lower().split()) & (_NOT_A_SECRET | _ORDINARY)


def _has_figure_or_sign(value: str) -> bool:
    return _is_secret(value) and any(not char.isalpha() and char != "-" for char in value)


_KEY_SHAPES = (
    r"sk-(?:proj-|ant-[a-z0-9]{2,6}-)?[A-Za-z0-9_-]{20,200}|[sprk]{2}_(?:live|test)_[A-Za-z0-9]{16,200}"
    r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?!\w)|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_\w{22,255}"
    r"|glpat-[\w-]{20,40}|xox[abeoprs]-[A-Za-z0-9-]{10,200}|AIza[\w-]{35}(?![\w-])|ya29\.[\w-]{20,300}"
    r"|hf_[A-Za-z0-9]{30,50}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,300}|SG\.[\w-]{16,32}\.[\w-]{16,64}"
    r"|EAA[A-Za-z0-9]{40,300}|dop_v1_[a-f0-9]{64}"
)
_KEY_HINTS = hints(
    "sk-|sk_|pk_|rk_|akia|asia|aroa|aida|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xox|aiza|ya29.|hf_|npm_|pypi-|sg.|eaa|dop_v1_"
)
_KEY_CUES = (
    r"(?:api|app|access|secret|private|client|auth|aws|licen[cs]e|encryption|consumer)[ _-]?(?:access[ _-]?)?"
    r"(?:key|token|secret)(?:[ _-]?id)?|api[ _-]?secret|bearer|token|secret"
)


def _is_key(value: str) -> bool:
    letters = sum(char.isalpha() for char in value)
    return len(digits_of(value)) >= 2 and letters >= 4


_IMEI_CUED = r"[0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{6}[ -]?[0-9](?:[ -]?[0-9])?(?![0-9])"
# The first two digits name the body that issued the type allocation code.
_IMEI_BARE = (
    r"(?<![\w.+/-])(?:0[1-9]|35|44|45|49|5[0-4]|86|91|9[89])"
    r"(?:[0-9]{13}|-[0-9]{6}-[0-9]{6}-[0-9]|[ ][0-9]{6}[ ][0-9]{6}[ ][0-9])(?![\w]|[./-][0-9])"
)


def _is_mac(value: str) -> bool:
    return len(set(value.lower()) - set(":-.")) > 1


PATTERNS: tuple[Pattern, ...] = (
    Pattern("ipv4", "IP address", _IPV4, 0.95, TIGHT),
    Pattern("ipv6", "IP address", _IPV6, 0.97, Where((":",), 8, 60), _is_ipv6),
    Pattern(
        "mac",
        "MAC address",
        r"(?<![\w:.-])(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}"
        r"|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![\w:-]|\.\w)",
        0.97,
        TIGHT,
        _is_mac,
    ),
    *(
        Pattern("gps-degrees", "nearby GPS coordinate", rf"(?<!\w){regex}", 0.97, Where(("°",), 10, 60))
        for regex in _GPS_PATTERNS
    ),
    Pattern("gps", "nearby GPS coordinate", _DECIMAL_PAIR, 0.9, TIGHT, _is_on_earth),
    cued(
        "gps-cue",
        "nearby GPS coordinate",
        r"lat(?:itude)?|lon(?:g(?:itude)?)?|lng",
        r"[+-]?[0-9]{1,3}\.[0-9]{2,15}(?:°|[ ]?[NSEW]\b)?",
        hints("lat|lon|lng"),
        link=r"[ \t\"']{0,3}(?:is[ ]|[:=])?[ \t\"']{0,3}",
    ),
    Pattern(
        "user-agent",
        "user agent string",
        r"(?<!\w)Mozilla/[0-9]\.[0-9] \([^()\n]{1,300}\)(?: (?:[A-Za-z][\w.]{0,30}/[\w.+-]{1,40}"
        r"|\([^()\n]{1,120}\)"
        r"|Mobile|Safari)){0,12}",
        0.98,
        Where(("mozilla/",), 0, 700),
    ),
    Pattern(
        "user-agent-client",
        "user agent string",
        r"(?<!\w)(?:Dalvik|Opera|okhttp|curl|Wget|PostmanRuntime|python-requests|CFNetwork)/[0-9][\w.]{0,20}"
        r"(?: \([^()\n]{1,200}\))?(?<!\.)",
        0.9,
        Where(hints("dalvik/|opera/|okhttp/|curl/|wget/|postman|python-|cfnetwork"), 0, 300),
    ),
    Pattern(
        "password",
        "password",
        rf"(?<![^\W_])(?i:{_PASSWORD_CUES}){_ASSIGNED}[\"'`]?(?P<id>{_QUOTED}|{_TOKEN})",
        0.92,
        Where(_PASSWORD_HINTS, 16, 200),
        _is_secret,
    ),
    Pattern(
        "password-said",
        "password",
        rf"(?<![^\W_])(?i:{_PASSWORD_CUES}){_FOR_WHAT}"
        rf"[ ](?i:is|was|to|ist|est|es)[ ](?i:now[ ])?[\"'`]?(?P<id>{_QUOTED}|{_TOKEN})",
        0.85,
        Where(_PASSWORD_HINTS, 16, 320),
        _has_figure_or_sign,
    ),
    Pattern(
        "passphrase",
        "password",
        rf"(?<![^\W_])(?i:{_PHRASE_CUES}){_ASSIGNED}[\"'`]?"
        r"(?P<id>[^\s\"'`<>][^\n\"`<>]{2,300}(?<![\s.,;)\]']))",
        0.93,
        Where(hints("pass|seed|recovery|mnemonic|backup|wallet"), 24, 420),
        _is_phrase,
    ),
    Pattern(
        "passphrase-said",
        "password",
        rf"(?<![^\W_])(?i:{_PHRASE_CUES}){_FOR_WHAT}[ ](?i:is|was)[ ](?i:now[ ])?"
        r"(?P<id>[a-z]{3,12}(?:[ -][a-z]{3,12}){3,23}+)(?=[.;)]?[ ]*(?:\n|$))",
        0.85,
        Where(hints("pass|seed|recovery|mnemonic|backup|wallet"), 24, 420),
        _is_bare_phrase,
    ),
    cued(
        "pin",
        "PIN code",
        r"pin|tan|pass[ -]?code|access code|door code|entry code|gate code|alarm code|verification code"
        r"|confirmation code|one[- ]time (?:code|password|passcode)|otp|unlock code|code pin",
        r"[0-9]{4,8}(?![\w]|[./-][0-9])",
        hints(
            "pin|tan|pass|access|door|entry|gate|alarm|verification|confirmation|one-time|one time|otp"
            "|unlock|code pin"
        ),
        confidence=0.9,
    ),
    Pattern("secret-key", "secret key", rf"(?<![\w-])(?:{_KEY_SHAPES})", 0.98, Where(_KEY_HINTS, 8, 400)),
    Pattern(
        "jwt",
        "secret key",
        r"(?<![\w-])eyJ[\w-]{8,3000}+\.[\w-]{8,6000}+(?:\.[\w-]{0,2000}+)?",
        0.98,
        Where(("eyj",), 0, 12000),
    ),
    Pattern(
        "pem",
        "secret key",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]{1,12000}(?:-----END [A-Z ]{0,40}-----)?",
        0.99,
        Where(("-----begin",), 0, 14000),
    ),
    Pattern(
        "key-cue",
        "secret key",
        rf"(?<![^\W_])(?i:{_KEY_CUES})(?:\"?'?{LINK})\"?(?P<id>[A-Za-z0-9_+/.=-]{{15,300}}[A-Za-z0-9_+/=])",
        0.85,
        Where(hints("api|key|token|secret|bearer|private|access_|client_|auth_|aws_"), 32, 340, figures=True),
        _is_key,
    ),
    cued("imei", "phone IMEI", r"imei(?:sv)?", _IMEI_CUED, ("imei",), confidence=0.97),
    Pattern("imei-bare", "phone IMEI", _IMEI_BARE, 0.8, TIGHT, is_luhn),
)
