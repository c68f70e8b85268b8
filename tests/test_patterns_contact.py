"""Invented addresses, links, handles and telephone numbers."""

import pytest

from tests.patterns_table import assert_absent, assert_found

POSITIVE = [
    ("email address", "Write to ‹ada.quill@example.org›."),
    ("email address", "<‹a+b_c@mail.example.co.uk›> and mailto:‹tom@example.com›, please"),
    ("email address", "it is ‹ada dot quill at example dot com› I think"),
    ("email address", "reach ‹ada [at] example [dot] org› or ‹bo(at)example.net›"),
    ("email address", "full width ‹ada＠example.org› too"),
    ("phone number", "Call ‹555-0143› today"),
    ("phone number", "tel. ‹(212) 555-0143›, fax ‹212-555-0199 ext. 12›"),
    ("phone number", "I am on ‹+44 20 7946 0958› or ‹+49 (0)30 901820›."),
    ("phone number", "mobile: ‹07700 900123›"),
    ("phone number", "appelez le ‹01 42 68 53 00›"),
    ("phone number", "Room 300 ‹(415) 555-0132› after six"),
    ("phone number", "Unit #300 ‹(415) 555-0132›"),
    ("phone number", "tel ‹415-555-0132›/‹415-555-0188›"),
    ("phone number", "‹415-555-0132›,‹415-555-0188›"),
    ("phone number", "Phones: ‹415-555-0132› / ‹415-555-0188›"),
    ("phone number", "Call ‹415-555-0132› ‹415-555-0188› any time"),
    ("phone number", "call me on ‹07700 900123› ‹07700 900456›"),
    ("phone number", "‹07700 900123› / ‹07700 900456›"),
    ("phone number", "Desk: ‹5403926876› Fax"),
    ("phone number", "tel=‹4155550132›"),
    ("phone number", "my number=‹415-555-0132›"),
    ("phone number", "Phone #‹415-555-0132›"),
    ("phone number", "Fax #‹020 7946 0958›"),
    ("phone number", "phone no.‹415-555-0132›"),
    ("phone number", "Bed 12 ‹415-555-0132›"),
    ("phone number", "2. ‹415-555-0132›"),
    ("phone number", "On 2026-01-02 ‹415-555-0132› rang"),
    ("phone number", "12 34 2020 05 5555 8899"),
    ("phone number", "BP 140/90 98/60 130/80 12 33"),
    ("phone number", "my number is ‹4155550132›"),
    ("phone number", "call me on ‹x34703› or at extension ‹4521›"),
    ("phone number", "dashes ‹212‑555‑0143› of another kind"),
    ("phone number", "logs (via phone #‹0439853238›)"),
    ("phone number", "Ticket #88 ‹(020) 7946-0018›"),
    ("URL link", "see ‹https://www.example.org/a/b?c=1›."),
    ("URL link", "at ‹www.example.com/page› (or ‹example.org›)"),
    ("personal web link", "on ‹https://github.com/adaquill› now"),
    ("personal web link", "‹https://www.linkedin.com/in/ada-quill-9› and ‹http://example.edu/~quill›"),
    ("personal web link", "‹https://ada:secret1@host.example.org/x›"),
    ("personal web link", "‹facebook.com/ada.quill› and ‹https://site.example/users/ada›"),
    ("account handle", "follow ‹@ada_quill›!"),
    ("account handle", "username: ‹aquill99›, Skype: ‹ada.quill›"),
    ("account handle", "she logged in as ‹ada_q7› again"),
]

NEGATIVE = [
    ("email address", "meet me @ 5 or look at the dot com boom; a@b is no address"),
    ("phone number", "On 12.03.2021 and 2021-03-12 at 10:30 we met"),
    ("phone number", "application no. 40593/04, case 2301234/2021"),
    ("phone number", "It cost 1 250 000 dollars, or $212 555 0143"),
    ("phone number", "TRL 476 970 000 and 150,000,000,000 liras"),
    ("phone number", "ISBN 978-3-16-148410-0"),
    ("phone number", "order number #4155550132"),
    ("phone number", "Card 4111 1111 1111 1111"),
    ("phone number", "SSN 078-05-1121"),
    ("phone number", "pressure 140/90 mmHg, 500 mg, 1.2.3.4.5"),
    ("phone number", "see pages 112-134 of 2003-2004"),
    ("personal web link", "https://github.com/features and https://www.facebook.com/privacy"),
    ("URL link", "It ended.Then we left. i.e. nothing"),
    ("account handle", "a css @media rule, a @param, ada@example.org"),
    ("account handle", "the username is required and the login page"),
]


@pytest.mark.parametrize(("label", "sentence"), POSITIVE)
def test_is_found(label: str, sentence: str) -> None:
    assert_found(label, sentence)


@pytest.mark.parametrize(("label", "text"), NEGATIVE)
def test_look_alike_is_not(label: str, text: str) -> None:
    assert_absent(label, text)
