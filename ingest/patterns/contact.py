"""Electronic addresses: e-mail, links, the names people use on a service."""

import re

from ingest.patterns.page import Where, hints
from ingest.patterns.pattern import Pattern, cued

_EMAIL = r"(?<![\w.+%@-])\w[\w.+%&'=-]{0,63}(?<!\.)@(?:[^\W_][\w-]{0,62}+\.){1,8}[^\W\d_]{2,24}(?![\w@])"

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
    return value.lower() not in _NOT_A_LOGIN


_LOGIN_CUES = (
    r"user[ _-]?(?:name|id)|login(?:[ _-]?(?:name|id))?|log-?in|logged[ _-]in|screen[ _-]?name|handle"
    r"|nickname"
    r"|gamer[ _-]?tag|skype(?:[ _-]?id)?|discord|telegram|instagram|insta|snapchat|snap|twitter|tiktok"
    r"|benutzername|nom d'utilisateur|identifiant|nombre de usuario|usuario|gebruikersnaam"
)
_LOGIN_HINTS = hints(
    "user|login|log-in|logged|screen|handle|nickname|nom|nombre|gamer|skype|discord|telegram|insta|snap|twitter|tiktok|benutzername|identifiant|usuario|gebruikersnaam"
)
_LOGIN = r"@?[A-Za-z0-9][\w.#-]{1,31}(?<![.-])(?![\w@])"
_MARKED_LOGIN = r"(?=[A-Za-z]{0,30}[0-9_.-]\w)" + _LOGIN

PATTERNS: tuple[Pattern, ...] = (
    Pattern("email", "email address", _EMAIL, 0.99, Where(("@",), 70, 80)),
    Pattern("email-spelled", "email address", _SPELLED, 0.85, Where(_SPELLED_HINTS, 100, 80)),
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
        r"(?:@[\w-]{1,40}(?:\.[\w-]{1,20}){1,3})?(?![\w@/])",
        0.8,
        Where(("@",), 1, 80),
        _is_handle,
    ),
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
