"""Invented cards, accounts, wallets and sums; the wallets are published examples."""

POSITIVE = [
    ("credit card number", "card ‹4111 1111 1111 1111› ok"),
    ("credit card number", "‹5500-0000-0000-0004›, ‹378282246310005›."),
    ("credit card number", "the card ending in ‹4242›"),
    ("credit card CVV", "CVV: ‹123› and security code is ‹9876›."),
    ("IBAN", "pay ‹DE89 3704 0044 0532 0130 00› AND wait"),
    ("IBAN", "‹GB82WEST12345698765432›"),
    ("BIC code", "BIC: ‹COBADEFFXXX›"),
    ("BIC code", "DE89370400440532013000 (‹COBADEFF›)"),
    ("bank account number", "account number ‹12345678›, sort code ‹12-34-56›"),
    ("bank account number", "routing number ‹021000021›"),
    ("bitcoin wallet address", "to ‹1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2› now"),
    ("bitcoin wallet address", "‹bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq›"),
    ("ethereum wallet address", "‹0x52908400098527886E0F7030069857D2E4169EE7›"),
    ("litecoin wallet address", "‹LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1›"),
]

NEGATIVE = [
    ("credit card number", "4111 1111 1111 1112 is broken"),
    ("credit card number", "ISBN 9783161484100"),
    ("credit card number", "the card of 2021 has 12 sides"),
    ("credit card CVV", "the 123 of cv, a security code of conduct"),
    ("IBAN", "DE88 3704 0044 0532 0130 00"),
    ("BIC code", "a swift translation; BICARBONATE 19 mmol"),
    ("bank account number", "the account of 12 March, an account in 1998"),
    ("bitcoin wallet address", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"),
    ("litecoin wallet address", "LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc2"),
]
