"""Invented devices, secrets and vehicles."""

KEY = "sk-" + "a1B2" * 8
HUB = "ghp_" + "Zz09" * 9
AWS = "AKIA" + "Q7EXAMPLE" + "2345678"
TOKEN = "eyJ" + "hbGciOiJI" + "." + "eyJzdWIiOiIx" + "." + "c2lnbmF0dXJl"
PEM = "-----BEGIN " + "PRIVATE KEY-----\nMIIB\nabcd\n-----END PRIVATE KEY-----"

POSITIVE = [
    ("password", "pw for wifi is ‹hunter2banana›"),
    ("password", "Password to the laptop: ‹Bananas›"),
    ("password", "wifi pw = ‹kestrel›"),
    ("password", "the passcode for the gate is ‹4417#›, ask"),
    ("password", "P/W is ‹abc123!›"),
    ("password", "the passphrase for the router: ‹quarrel amber tuba lintel›"),
    ("password", 'passphrase="‹quarrel amber tuba lintel›" # set'),
    ("password", "Seed phrase: ‹quarrel amber tuba, lintel›.\nKeep it"),
    ("password", "the passphrase is ‹quarrel amber tuba lintel›."),
    ("IP address", "from ‹192.168.17.4›, then ‹2001:db8:0:1::7› too"),
    ("MAC address", "mac ‹00:1B:44:11:3A:B7› or ‹001b.4411.3ab7›"),
    ("nearby GPS coordinate", "at ‹52.5200, 13.4050›."),
    ("nearby GPS coordinate", "at ‹40°42'46\"N 74°0'22\"W› there"),
    ("nearby GPS coordinate", "lat: ‹40.7128›, lng: ‹-74.0060›"),
    (
        "user agent string",
        "UA ‹Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/97.3.0.5›",
    ),
    ("password", "password: ‹Tr0ub4dor&3›, ok"),
    ("password", "my password is ‹hunter2›."),
    ("password", 'PASSWORD=‹swordfish› PWD: "‹two words›"'),
    ("PIN code", "PIN: ‹4711› and access code ‹889900›"),
    ("secret key", f"key ‹{KEY}› and ‹{HUB}›"),
    ("secret key", f"‹{AWS}› or ‹{TOKEN}›"),
    ("secret key", f"api key: ‹{'k9' * 12}›"),
    ("secret key", f"‹{PEM}›"),
    ("phone IMEI", "IMEI ‹490154203237518›"),
    ("phone IMEI", "handset ‹490154203237518› was found"),
    ("vehicle VIN", "the ‹1M8GDM9AXKP042788› truck"),
    ("vehicle VIN", "VIN: ‹WVWZZZ1JZ3W386752›"),
    ("vehicle VRM", "a van, ‹AB12 CDE›, and number plate ‹B-XY 1234›"),
]

NEGATIVE = [
    ("password", "£300 pw for 2 weeks is 600"),
    ("password", "rent 300 pw: bills included"),
    ("password", "the password for the laptop is wrong"),
    ("password", "the passcode to the system is never shared"),
    ("password", "400 per week, pwd by cheque"),
    ("password", "the passphrase is long and known to nobody"),
    ("password", "passphrase: required for every login"),
    ("IP address", "section 1.2.3.4.5, version 1.2.3.4 and Chrome/97.3.0.5"),
    ("IP address", "at 10:30:15, std::vector, 300.1.2.3"),
    ("MAC address", "14:30:00 and 12-03-1980"),
    ("nearby GPS coordinate", "values 1.234, 5.6 and 0.5 mg"),
    ("password", "the password is required, password: ********, forgot password?"),
    ("PIN code", "a pin in 3 places, the code of 1998"),
    ("secret key", "the key is under the mat; a token of thanks; api key required"),
    ("phone IMEI", "490154203237519 alone"),
    ("vehicle VIN", "1M8GDM9A1KP042788 without a cue"),
    ("vehicle VRM", "the M11 motorway, Room 12, Article 6"),
]
