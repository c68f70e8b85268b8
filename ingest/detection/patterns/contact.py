"""Electronic addresses: e-mail, links, user names; mobile numbers of East Asia."""

import re

from ingest.detection.patterns.page import Where, hints
from ingest.detection.patterns.pattern import TIGHT, Pattern, cued

_EMAIL = (
    r"(?<![\w.+%@-])\w[\w.+%&'=-]{0,63}(?<!\.)@(?:(?:[^\W_][\w-]{0,62}+\.){1,8}[^\W\d_]{2,24}"
    r"|(?:[^\W_][\w-]{0,62}+[\u3002\uff61]){1,8}[A-Za-z]{2,24})(?![\w@])"
)
"""The Chinese and Japanese full stop counts as a dot in a host without other dots."""
_EASTERN = "一-鿿ぁ-ヿ가-힣"
_EASTERN_EMAIL = (
    rf"(?<![\w.+%@-])\w[\w.+%&'=-]{{0,63}}(?<!\.)@(?=[{_EASTERN}])(?:\w[\w-]{{0,62}}+\.){{1,8}}"
    rf"(?:[A-Za-z]{{2,24}}|[{_EASTERN}]{{2,4}})(?![A-Za-z0-9_@])"
)

_TOP = (
    "com|org|net|edu|gov|mil|int|info|biz|name|dev|app|io|ai|co|me|tv|uk|us|ca|au|nz|ie|de|at|ch|fr|be|nl"
    "|lu|es|pt|it|se|no|dk|fi|is|pl|cz|sk|hu|ro|bg|gr|hr|si|ee|lv|lt|ru|ua|tr|il|in|jp|cn|kr|br|mx|ar|za|eu"
)
_OPEN, _CLOSE = r"[ \t]{0,3}[\[({<]?", r"[\])}>]?[ \t]{0,3}"
_SPELLED = (
    rf"(?<![\w.-])\w[\w-]{{0,40}}+(?:(?:\.|{_OPEN}(?i:dot){_CLOSE})\w[\w-]{{0,40}}+){{0,3}}"
    rf"(?:[ \t]{{1,3}}(?i:at)[ \t]{{1,3}}|{_OPEN}(?i:at){_CLOSE}(?<!\w))"
    rf"(?!(?i:the|a|an|this|that|our|my)\b)\w[\w-]{{0,40}}+"
    rf"(?:(?:\.|{_OPEN}(?<!\w)(?i:dot)(?!\w){_CLOSE})\w[\w-]{{0,40}}+){{0,2}}"
    rf"(?:\.|{_OPEN}(?<!\w)(?i:dot)(?!\w){_CLOSE})(?i:{_TOP})\b"
)
_DOT = rf"{_OPEN}(?<!\w)(?i:dot)(?!\w){_CLOSE}"
_LABEL = r"\w[\w-]{0,40}+"
_HOST_SAID = (
    rf"[ \t]{{1,3}}(?i:at)[ \t]{{1,3}}(?!(?i:the|a|an|this|that|our|my)\b){_LABEL}(?:{_DOT}{_LABEL}){{0,2}}"
    rf"{_DOT}(?!(?i:in|on|at|of|to|and|or|the|is|by|for|a|an)\b)[A-Za-z]{{2,24}}\b"
)
_SAID = (
    ("dotted", rf"(?<![\w.-]){_LABEL}(?:{_DOT}{_LABEL}){{1,3}}{_HOST_SAID}"),
    (
        "cued",
        r"(?<![^\W_])(?i:e-?mail(?:ed)?|mail|address|write|reach)(?i:[ ]me|[ ]us|[ ]her|[ ]him|[ ]them)?"
        rf"(?i:[ ]is|[ ]on|[ ]to|[ ]at)?:?[ ](?P<id>(?!(?i:me|us|her|him|them)\b){_LABEL}{_HOST_SAID})",
    ),
)
"""A dictated address with any host: ada dot quill at larkmail dot example."""
_NOT_DICTATED = re.compile(
    r"(?i:meet|look|looks|arrive|be|see|work|works|stay|live|lives|is|was|are|were|me|us|him|her|them|it|start"
    r"|starts|begin|begins|met|meeting|left|leave|stop|stops|shop|buy|available|online|sold|found)\s+at\b"
    r"|.*\bat\s+(?:noon|midnight|night|home|work|school|lunch|dinner|least|most|first|last|once|all|dawn)\b",
    re.IGNORECASE | re.DOTALL,
)


def _is_dictated(value: str) -> bool:
    return not _NOT_DICTATED.match(value)


_SPELLED_HINTS = hints(" dot |(dot)|[dot]|{dot}|[at]|(at)|{at}|<at>| at]| at)")

_URL_END = r"[^\s<>\"`|\\^{}]{0,2000}[^\s<>\"`|\\^{}.,;:!?)\]'*]"
_SCHEME_URL = rf"(?<![A-Za-z])(?i:https?|ftps?|sftp|ssh)://{_URL_END}"
_WWW_URL = rf"(?<![\w.@/-])(?i:www[0-9]?\.)[\w-]{{1,63}}\.{_URL_END}"
_BARE_TOP = "com|org|net|edu|gov|info|io|dev|app|me|ai|co\\.uk|ac\\.uk|org\\.uk|de|fr|ch|nl|eu|es|it"
_BARE_URL = (
    rf"(?<![\w.@/:-])(?!(?i:www)\.)(?:[^\W_][\w-]{{0,62}}+\.){{1,4}}(?:{_BARE_TOP})"
    rf"(?:/(?:{_URL_END})?|(?![\w@-]|\.\w))"
)
_BARE_HINTS = tuple(f".{top.replace(chr(92), '')}" for top in _BARE_TOP.split("|"))

_PROFILE_HOST = (
    r"(?:github|gitlab|bitbucket|facebook|fb|twitter|x|instagram|threads|tiktok|pinterest|flickr|twitch|vk"
    r"|soundcloud|snapchat|venmo|paypal|patreon|medium|reddit|youtube|quora|strava|goodreads)\.(?:com|org|tv)"
    r"|(?:t|about|paypal)\.me|linktr\.ee|keybase\.io|orcid\.org|codeberg\.org|gravatar\.com|ko-fi\.com"
)
_NOT_A_NAME = (
    r"about|account|accounts|blog|business|careers|contact|docs|events|explore|features|groups|hashtag|help"
    r"|home|jobs|legal|login|marketplace|news|pages|policies|pricing|privacy|product|products|search|security"
    r"|settings|share|sharer|signup|status|store|support|terms|topics|trending|watch|intent|feed|r|p"
)
_PERSONAL = re.compile(
    r"^[a-z]+://[^/\s@]{1,200}@"
    r"|/~[a-z]"
    r"|[^/]/@[a-z0-9_]"
    r"|[^/]/(?:in|u|user|users|people|person|profile|profiles|member|members|author|authors|staff|add)"
    r"/[^/\s?#]{2,}"
    r"|[?&](?:user|username|user_?id|uid|email|e-mail|login|name|member)=[^&\s]"
    rf"|^(?:[a-z]+://)?(?:www\.|m\.)?(?:{_PROFILE_HOST})/(?!(?:{_NOT_A_NAME})(?:[/?#.]|$))[^/\s?#]{{2,}}"
    r"|^(?:[a-z]+://)?(?!www\.)[a-z0-9-]+\.(?:github\.io|gitlab\.io|wordpress\.com|blogspot\.com"
    r"|substack\.com|tumblr\.com|livejournal\.com|medium\.com|bsky\.social|carrd\.co)",
    re.IGNORECASE,
)


def _is_personal(url: str) -> bool:
    return _PERSONAL.search(url) is not None


def _is_impersonal(url: str) -> bool:
    return not _is_personal(url)


_LINKS = (
    ("url", _SCHEME_URL, ("://",), 0.95),
    ("www", _WWW_URL, ("www",), 0.95),
    ("domain", _BARE_URL, _BARE_HINTS, 0.75),
)


def _mobile(country: str, trunk: str, rest: str) -> str:
    """A mobile number with country code, or in national notation."""
    code = rf"(?:(?:\(?\+|00){country}\)?|\({country}\)|{country})[ -]?(?:\(0\))?"
    return rf"(?<![\w.$€£¥+-])(?<![/#])(?:{code}|{trunk}){rest}(?![\w%]|[.,/-][0-9]|[ ]?[$€£¥%])"


_MOBILES = (
    ("cn", _mobile("86", "", r"1[3-9][0-9](?:(?P<joint>[ -])[0-9]{4}(?P=joint)[0-9]{4}|[0-9]{8})")),
    ("jp", _mobile("81", "0", r"[5789]0[ -]?[0-9]{4}[ -]?[0-9]{4}")),
    ("kr", _mobile("82", "0", r"1[016-9][ -]?[0-9]{3,4}[ -]?[0-9]{4}")),
)

_DOMAIN_ENDS = hints(".com|.org|.net|.edu|.gov|.co.uk")
_NOT_A_HANDLE = frozenset(
    "all author autowired channel charset component data everyone font-face here import include keyframes"
    " media null override page param private property public return returns see since someone staticmethod"
    " supports test throws type".split()
)


def _is_handle(value: str) -> bool:
    name, at, _ = value[1:].lower().partition("@")
    return name not in _NOT_A_HANDLE and (bool(at) or not name.endswith(_DOMAIN_ENDS))


_NOT_A_LOGIN = frozenset(
    "and any button error failed field for form from here invalid is none not null page password required"
    " screen see string the this true false unknown use username using with your you".split()
)


def _is_login(value: str) -> bool:
    return value.lower() not in _NOT_A_LOGIN and not value.lower().startswith("0x")


_LOGIN_CUES = (
    r"user[ _-]?(?:name|id)|login(?:[ _-]?(?:name|id))?|log-?in|logged[ _-]in|screen[ _-]?name|handle"
    r"|nickname"
    r"|gamer[ _-]?tag|skype(?:[ _-]?id)?|discord|telegram|instagram|insta|snapchat|snap|twitter|tiktok"
    r"|benutzername|nom d'utilisateur|identifiant|nombre de usuario|usuario|gebruikersnaam"
)
_LOGIN_HINTS = hints(
    "user|login|log-in|logged|screen|handle|nickname|nom|nombre|gamer|skype|discord|telegram|insta|snap|twitter|tiktok|benutzername|identifiant|usuario|gebruikersnaam"
)
_LOGIN = r"@?[A-Za-z0-9][\w.#-]{1,31}(?<![.-])(?![\w@(])"
_MARKED_LOGIN = r"(?=[A-Za-z]{0,30}[0-9_.-]\w)" + _LOGIN
_HOME = (
    r"(?i:(?<![\w.])(?:/home/|/users/|[a-z]:\\{1,2}users\\{1,2})|\\{1,2}home\\{1,2})"
    r"(?P<id>[A-Za-z][\w.-]{1,39}(?<!\.))"
)
_NOBODYS = frozenset("admin administrator all default guest public root shared ubuntu user username".split())


def _is_somebodys(value: str) -> bool:
    return value.lower() not in _NOBODYS


PATTERNS: tuple[Pattern, ...] = (
    Pattern("email", "email address", _EMAIL, 0.99, Where(("@",), 70, 80)),
    Pattern("email-eastern", "email address", _EASTERN_EMAIL, 0.9, Where(("@",), 70, 80)),
    *(Pattern(f"mobile-{land}", "phone number", regex, 0.85, TIGHT) for land, regex in _MOBILES),
    Pattern("email-spelled", "email address", _SPELLED, 0.85, Where(_SPELLED_HINTS, 100, 80), _is_dictated),
    *(
        Pattern(f"email-{name}", "email address", regex, 0.8, Where((" dot ",), 120, 80), _is_dictated)
        for name, regex in _SAID
    ),
    *(
        Pattern(f"personal-{name}", "personal web link", regex, sure, Where(near, 80, 2200), _is_personal)
        for name, regex, near, sure in _LINKS
    ),
    *(
        Pattern(name, "URL link", regex, sure, Where(near, 80, 2200), _is_impersonal)
        for name, regex, near, sure in _LINKS
    ),
    Pattern(
        "handle",
        "account handle",
        r"(?<![\w@/.:-])@[A-Za-z_]\w{1,29}+(?:[.-]\w{1,29}+){0,3}+"
        r"(?:@[\w-]{1,40}(?:\.[\w-]{1,20}){1,3})?(?![\w@/(])",
        0.8,
        Where(("@",), 1, 80),
        _is_handle,
    ),
    Pattern("home", "account handle", _HOME, 0.85, Where(hints("home|/users/|users"), 4, 80), _is_somebodys),
    cued(
        "login",
        "account handle",
        _LOGIN_CUES,
        _LOGIN,
        _LOGIN_HINTS,
        link=r"[ \t]{0,3}(?:is[ \t]?)?[:=][ \t]{0,3}[\"']?",
        check=_is_login,
        figures=False,
    ),
    cued(
        "login-said",
        "account handle",
        _LOGIN_CUES,
        _MARKED_LOGIN,
        _LOGIN_HINTS,
        confidence=0.8,
        link=r"[ \t]{1,3}(?:is|was|as|ist|est|es)[ \t]{1,3}[\"']?",
        check=_is_login,
        figures=False,
    ),
)
