"""Audits in the page: begun, followed and read; every note and name is invented."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from eval.studies.audit.options import LEAKS, USES
from tests.browsing import NARROW, WIDE, go, page_at, violations
from tests.commands import lethe, write_records
from tests.serving import Served, served
from tests.web.test_keys_page import give, made

pytestmark = pytest.mark.slow
NOTES = [
    "Invented note. Mr Tobias Keller keeps the lighthouse. His mail is tobias.keller@example.org.",
    "Invented note. Mrs Anna Gruber was told to rest her knee. She writes from anna.gruber@example.org.",
    "Invented note. The boiler of the mill is broken. The plumber asks for 400 euros, in cash, by Monday.",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("audit") / "data"
    data.mkdir()
    settings = 'threads = 1\n[detector]\nlearned = false\n[risk]\nkind = "prior"\n[ingest]\nkeep_ids = true\n'
    (data / "settings.toml").write_text(settings)
    notes = write_records(data.parent / "notes.jsonl", NOTES)
    assert lethe(data, "ingest", str(notes), "-c", "notes").code == 0
    return data


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Served]:
    with served(data, "--host", "127.0.0.1") as running:
        yield running


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_an_audit_is_begun_followed_and_read(
    server: Served, data: Path, browser: Browser, viewport: dict[str, int]
) -> None:
    with page_at(browser, server.url, viewport=viewport) as page:
        go(page, "audit")
        page.locator("#audit-suite").select_option("quick")
        page.locator("#audit-originals").set_input_files(str(data.parent / "notes.jsonl"))
        page.locator("#audit-form button[type=submit]").click()
        expect(page.locator("#audit-now h2")).to_have_text("Audit of notes: done", timeout=200_000)
        expect(page.locator("#audit-now p").first).to_contain_text("There are too few cases for a figure.")
        report = page.frame_locator("#audit-frame iframe")
        expect(report.locator("h1")).to_have_text("Audit of notes")
        expect(page.locator("#audit-list tbody tr").first).to_contain_text("done")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_suite_is_the_quick_one_and_no_suite_is_cut(
    server: Served, browser: Browser, viewport: dict[str, int]
) -> None:
    with page_at(browser, server.url, viewport=viewport) as page:
        go(page, "audit")
        expect(page.locator("#audit-collection")).to_have_value("notes")
        expect(page.locator("#audit-suite")).to_have_value("quick")
        left = page.locator("#audit-suite").evaluate(
            """select => {
                const pen = document.createElement("canvas").getContext("2d");
                pen.font = getComputedStyle(select).font;
                const widths = [...select.options].map((each) => pen.measureText(each.text).width);
                return select.clientWidth - Math.max(...widths);
            }"""
        )
        # Room for the paddings and the arrow.
        assert left > 40


def test_gates_are_sent_as_limits_of_leaks_and_of_usefulness(
    server: Served, data: Path, browser: Browser
) -> None:
    with page_at(browser, server.url, refused=True) as page:
        go(page, "audit")
        expect(page.locator("#audit-collection")).to_have_value("notes")
        for _ in range(3):
            page.get_by_role("button", name="Add a limit").click()
        rows = page.locator("#audit-gate-list li")
        offered = {
            group: rows.first.locator(f"optgroup[data-gate={group}] option").evaluate_all(
                "all => all.map(each => each.value)"
            )
            for group in ("at_most", "at_least")
        }
        # Who wrote what, and what is known of people, are in no file that the page takes.
        never = {"inferred", "same-person"}
        assert offered == {"at_most": [each for each in LEAKS if each not in never], "at_least": [*USES]}
        expect(rows.nth(0)).to_contain_text("at most")
        rows.nth(0).get_by_label("Limit").fill("0.05")
        rows.nth(1).get_by_label("Limit").fill("0.1")
        rows.nth(2).get_by_label("Limit").fill("0.1")
        page.locator("#audit-form button[type=submit]").click()
        expect(page.locator("#audit-begin-error")).to_contain_text(
            "left-direct has two limits: leave one out."
        )
        rows.nth(1).get_by_label("Measure").select_option("found-first")
        expect(rows.nth(1)).to_contain_text("at least")
        rows.nth(1).get_by_label("Limit").fill("0.8")
        rows.nth(2).get_by_role("button", name="Leave out").click()
        expect(page.get_by_role("button", name="Add a limit")).to_be_focused()
        assert violations(page) == []
        begin = page.locator("#audit-form button[type=submit]")
        with page.expect_request("**/v1/collections/notes/audits") as sent:
            begin.click()
        assert sent.value.post_data_json == {
            "suite": "quick",
            "at_most": {"left-direct": 0.05},
            "at_least": {"found-first": 0.8},
        }
        expect(page.locator("#audit-begin-error")).to_contain_text("vault")
        page.locator("#audit-originals").set_input_files(str(data.parent / "notes.jsonl"))
        with page.expect_response("**/v1/collections/notes/audits") as answered:
            begin.click()
        assert answered.value.status == 202
        page.get_by_role("button", name="Cancel").click()
        job = answered.value.json()["job_id"]
        expect(page.locator("#audit-now h2")).to_contain_text("cancelled", timeout=60_000)
        with server.client() as client:
            assert client.get(f"/v1/audits/{job}").json()["state"] == "cancelled"


def test_the_form_waits_for_the_collections(server: Served, browser: Browser) -> None:
    with page_at(browser, server.url) as page:
        held: list[Route] = []
        page.route("**/v1/collections", lambda route: held.append(route))
        with page.expect_request("**/v1/collections"):
            go(page, "audit")
        page.wait_for_timeout(300)
        # A browser would not send it: no collection could be chosen.
        expect(page.locator("#audit-form")).to_be_hidden()
        for each in held:
            each.continue_()
        expect(page.locator("#audit-form")).to_be_visible()
        expect(page.locator("#audit-collection")).to_have_value("notes")


def test_a_key_without_the_scope_reads_files_only(data: Path, tmp_path: Path, browser: Browser) -> None:
    folder = tmp_path / "keyed"
    folder.mkdir()
    asker = made(folder, "query")
    with (
        served(folder, "--host", "127.0.0.1") as running,
        page_at(browser, running.url, refused=True) as page,
    ):
        give(page, asker)
        go(page, "audit")
        expect(page.locator("#audit-elsewhere")).to_be_visible()
        expect(page.locator("#audit-form")).to_be_hidden()
