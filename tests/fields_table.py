"""Records of invented people and things: of each schema the fields of a person, the others, and some records.

What stands in the others identifies nobody and has to stay; values are words and numbers that say nothing
without the names of their fields.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schema:
    """``personal`` and ``other`` name the fields in the order of ``rows``, separated by blanks."""

    name: str
    personal: str
    other: str
    rows: tuple[str, ...]

    def records(self) -> list[dict[str, str]]:
        """A dictionary for each row."""
        names = (*self.personal.split(), *self.other.split())
        return [dict(zip(names, row.split("|"), strict=True)) for row in self.rows]


SCHEMAS = (
    Schema(
        "clinic",
        "first_name last_name dob mrn ssn",
        "smoker score status",
        (
            "Summer|Frost|1971-02-03|480113|219099871|false|4.5|active",
            "Art|Winters|03.04.55|0480114|19099872|true|7|closed",
            "hope|savage|1980|480115|219-09-9873|false|3|active",
            "GRANT|SHARP|19611231|480116|219099874|true|2.25|new",
            "Xi|Wu|Jan 4 1990|480117|9099875|false|0|active",
        ),
    ),
    Schema(
        "employees",
        "firstName lastName dateOfBirth employeeId jobTitle",
        "isActive gradeLevel costCenter",
        (
            "Will|Bishop|1964-05-06|10234|Plumber|true|7|CC-410",
            "Faith|Moody|1977-08-09|10235|Head of Sales|false|3|CC-411",
            "Mark|Rich|12/11/1969|10236|Nurse|true|4|CC-410",
            "Joy|Noble|1984-01-30|10237|Accountant|true|5|CC-412",
            "Bill|Early|1958-07-21|10238|Driver|false|2|CC-411",
        ),
    ),
    Schema(
        "customers",
        "CustomerName Email Phone City ZIP",
        "Segment LifetimeValue Newsletter",
        (
            "May Field|may@quelby.example|16175550151|Reading|02139|premium|1204.50|yes",
            "Rich Long|rl@quelby.example|4420794601|Bath|10115|basic|88.10|no",
            "Young, Dawn|dawn@quelby.example|0161 4960 210|Sandwich|SW1A 1AA|basic|0.00|no",
            "Heath Park|park@quelby.example|+44 7700 900181|Deal|75008|premium|920.75|yes",
            "Sue Case|case@quelby.example|555-0177|Battle|28013|basic|15.20|yes",
        ),
    ),
    Schema(
        "schule",
        "Vorname Nachname Geburtsdatum Wohnort PLZ",
        "Klassenstufe Bemerkungscode Aktiv",
        (
            "Linde|Sommer|03.04.2012|Essen|45127|7|B2|ja",
            "Wolf|Klein|12.11.2011|Singen|78224|8|A1|nein",
            "Rose|König|01.02.2013|Hamm|59065|6|B1|ja",
            "Frank|Lang|30.09.2012|Kiel|24103|7|A2|ja",
        ),
    ),
    Schema(
        "consulta",
        "nombre apellidos fecha_nacimiento dni municipio",
        "importe estado_pedido moneda",
        (
            "Paz|Blanco|04/05/1961|12345678Z|Toro|12.50|pendiente|EUR",
            "Ángel|Bueno|1971-09-30|87654321X|Vigo|80.00|cerrado|EUR",
            "Mar|Rey|02.03.1988|23456789D|Lugo|7.25|abierto|EUR",
            "Luz|Romero|11/12/1954|34567890V|Soria|33.10|cerrado|EUR",
        ),
    ),
    Schema(
        "paie",
        "prénom nom_de_famille date_de_naissance numéro_de_sécurité_sociale ville",
        "montant devise actif",
        (
            "Claire|Petit|12/03/1977|277037511600142|Tours|2450.00|EUR|oui",
            "Pierre|Grand|1969-11-02|169117511600143|Lens|1980.50|EUR|non",
            "Rose|Blanc|05.06.1983|283067511600144|Nice|2100.00|EUR|oui",
            "Martin|Roy|1990-01-17|190017511600145|Dole|1750.75|EUR|oui",
        ),
    ),
    Schema(
        "affitti",
        "nome_di_battesimo cognome codice_fiscale indirizzo telefono",
        "prezzo valuta attivo",
        (
            "Bianca|Rossi|RSSBNC70A41F205X|Via Verde 3|0247110|640.00|EUR|true",
            "Felice|Conti|CNTFLC66B12H501Y|Corso Lungo 12|0647111|720.00|EUR|false",
            "Vera|Costa|CSTVRE81C55L219Z|Piazza Nuova 1|01147112|510.00|EUR|true",
            "Angelo|Villa|VLLNGL59D03A944W|Viale Alto 44|05147113|480.00|EUR|true",
        ),
    ),
    Schema(
        "klanten",
        "voornaam achternaam geboortedatum bsn woonplaats",
        "bedrag aantal kleur",
        (
            "Roos|Bakker|03-04-1982|111222333|Goes|12.95|3|rood",
            "Beer|de Wit|1979-10-11|123456782|Best|8.50|1|blauw",
            "Joy|Groot|21-01-1990|987654329|Ede|99.00|2|groen",
            "Vlinder|Bos|1966-06-06|192837465|Oss|4.25|7|geel",
        ),
    ),
    Schema(
        "utentes",
        "primeiro_nome apelido data_de_nascimento número_de_utente localidade",
        "quantidade preço moeda",
        (
            "Rosa|Pereira|12/08/1959|471100251|Braga|2|14.90|EUR",
            "Luz|Branco|1981-02-28|471100252|Faro|1|7.00|EUR",
            "Vitória|Ramos|03/03/1993|471100253|Tomar|5|21.50|EUR",
            "Lírio|Rocha|1974-12-24|471100254|Ovar|3|9.99|EUR",
        ),
    ),
    Schema(
        "guests",
        "guest_surname guest_forename passport_no nationality",
        "room_type nights rate",
        (
            "White|Lily|533380006|British|double|3|89.00",
            "Cash|Penny|X1234567|Irish|single|1|64.50",
            "Price|Dale|C01X00T47|German|double|2|92.00",
            "Bush|Ivy|08FV75921|French|suite|4|140.00",
        ),
    ),
    Schema(
        "accounts",
        "account_holder account_number gender username",
        "currency balance overdraft",
        (
            "Art Best|47110815|M|abest|EUR|120.50|false",
            "Sky Waters|00471123|F|skyw|USD|-14.00|true",
            "Bond, June|47110917|f|june.b|GBP|7820.10|false",
            "Chase Rivers|47110918|male|criv77|EUR|0.00|false",
        ),
    ),
    Schema(
        "licences",
        "fname lname driving_licence plate postcode",
        "vehicle_class points expired",
        (
            "Rusty|Pike|D1234567|AB12 CDE|LS1 4AP|B|3|false",
            "Crystal|Lake|PIKER752116SM9IJ|HH-QX 471|20095|C1|0|true",
            "Victor|Young|47110024|7ABC123|94016|A|6|false",
            "Robin|Fox|WX-4471902|KL09 MNO|YO1 7HH|B|0|false",
        ),
    ),
    Schema(
        "products",
        "",
        "sku product_name unit_price stock colour version",
        (
            "RS-100|Rose Soap|4.50|120|pink|1.2.0",
            "GH-220|Garden Hose|19.90|14|green|2.0.1",
            "MT-310|Desk Lamp|9.10|75|blue|1.0.0",
            "AK-450|Allen Key|2.25|900|grey|3.1.4",
        ),
    ),
    Schema(
        "servers",
        "",
        "hostname status build latency_ms retries environment",
        (
            "web-03|active|4711|12.4|0|prod",
            "db-primary|failed|4712|88.0|3|staging",
            "worker-7|active|4713|5.25|1|prod",
            "cache-02|draining|4714|0.75|0|dev",
        ),
    ),
    Schema(
        "parts",
        "",
        "part_number batch material weight_kg file_name checked",
        (
            "4471-09|B2024|steel|12.50|drawing_4471.dwg|true",
            "4471-10|B2025|oak|3.20|drawing_4472.dwg|false",
            "5512-01|B2026|cotton|0.45|label_5512.svg|true",
            "5512-02|B2027|brass|1.75|label_5513.svg|true",
        ),
    ),
)

MARKED = (
    Schema(
        "Lieferungen",
        "Rufname Familienname",
        "Anmerkung Nettobetrag Auftragsstatus",
        ("Silke|Ohlendorf||3.480,75|unterwegs", "Arne|Petzold||12,00|angekommen"),
    ),
    Schema(
        "dossiers",
        "prénom nom_de_famille",
        "précision solde statut_du_dossier",
        ("Maëlle|Quentel||2 905,10|classé", "Ronan|Kerdraon||88,00|relancé"),
    ),
    Schema(
        "envíos",
        "nombre apellido",
        "observación cuota situación artículo",
        ("Iker|Zubigar||1.015,20|repartido|Perla Oscura", "Naroa|Ugaldegi||7,50|perdido|Dulce Aurora"),
    ),
    Schema(
        "spedizioni",
        "nome_proprio cognome",
        "commento tariffa stato modello",
        ("Ilaria|Bonfante||2.100,00|partito|Stella Alpina", "Tullio|Vezzani||9,90|smarrito|Bella Elena"),
    ),
    Schema(
        "leveringen",
        "voornaam achternaam",
        "toelichting kosten status_levering merk",
        ("Sietske|Hoekema||1.750,25|onderweg|Blauwe Anna", "Jurre|Wiarda||4,10|bezorgd|Gouden Roos"),
    ),
    Schema(
        "encomendas",
        "primeiro_nome sobrenome",
        "descrição taxa estado_da_encomenda produto",
        ("Telma|Queirós||1.330,40|expedido|Dona Amélia", "Duarte|Falcato||3,20|extraviado|Santa Rita"),
    ),
    Schema(
        "refunds",
        "given_name family_name dob",
        "remarks deposit refund_status product",
        (
            "Tamsin|Orrell|-281836800||2,450.00|withheld|Lady Jane",
            "Corwin|Haddow|171072000||15.00|granted|Sweet Pauline",
        ),
    ),
    Schema(
        "Rechnungen",
        "Vorname Nachname",
        "Hinweis Bruttobetrag Zahlungsstatus Sorte",
        ("Frauke|Dierksen||10.204,00|angemahnt|Rote Emma", "Malte|Köpke||-80,10|verbucht|Goldene Berta"),
    ),
    Schema(
        "factures",
        "prénoms nom_de_naissance",
        "remarques montant_ht état marque",
        ("Solenn|Le Bihan||1 204,00|encaissé|Belle Hélène", "Gwenaël|Tanguy||41,60|contesté|Reine Margot"),
    ),
    Schema(
        "pagos",
        "nombre apellidos born_at",
        "notas importe_total estado tarifa",
        ("Aitor|Elizalde|-11836800||3.204,99|devuelto|1.100,00", "Leire|Otxoa|90072000||6,00|vencido|12,00"),
    ),
)
"""Records with empty fields, amounts and words of status, for a detector that takes all for people."""
