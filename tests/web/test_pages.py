"""The page in a real browser, on a real server; every note and name is invented."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, FilePayload, Locator, Page, Request, Route, expect

from tests.browsing import NARROW, PAGES, WIDE, go, page_at, violations
from tests.serving import Served

pytestmark = pytest.mark.slow
QUESTION = "What is broken at the mill?"
TEXT = "Invented note 🐦. Mr Oswin Tarrant was born on 9 February 1978.\n\nHe has asthma."
REPORT = """<!doctype html><html><head><title>Invented</title><style>body { color: red }</style></head><body>
<main><h1>Invented report</h1>
<svg width="9" height="9"><rect style="fill: #ff0000" width="9" height="9"/></svg>
<script>parent.pwned = 1; document.title = "run"</script></main></body></html>"""
REPORT_FILE: FilePayload = {"name": "report.html", "mimeType": "text/html", "buffer": REPORT.encode()}


def ask(page: Page, question: str) -> Locator:
    """The answer, once it is whole."""
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    answer = page.locator(".turn:not(.yours)").last
    expect(answer.locator(".hint").last).to_contain_text("no language model is in use")
    return answer


def body_of(request: Request) -> Any:
    return request.post_data_json


def sanitize(page: Page, text: str) -> None:
    go(page, "playground")
    with page.expect_response("**/v1/sanitize"):
        page.get_by_label("Text", exact=True).fill(text)
    page.locator("#play-before .entity").first.wait_for()


def ingest(page: Page, collection: str, files: list[Path], button: str) -> None:
    """Start a job and wait for its end."""
    go(page, "ingest")
    page.locator("#ingest-collection").fill(collection)
    if page.locator("#ingest-list li").count() == 0:
        page.locator("#ingest-files").set_input_files(files)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#job-now .state")).to_have_text("done", timeout=90_000)


def filled(page: Page, files: list[Path]) -> dict[str, Callable[[], object]]:
    """How each tab is given something to show."""

    def audit() -> None:
        page.locator("#audit-file").set_input_files(REPORT_FILE)

    def chat() -> None:
        ask(page, QUESTION).locator(".mark").first.click()
        page.locator("#passage .quoted").wait_for()

    def search() -> None:
        page.get_by_label("What to look for").fill("the broken boiler")
        page.keyboard.press("Enter")
        page.locator("#search-found mark").first.wait_for()

    def playground() -> None:
        sanitize(page, TEXT)
        page.locator("#play-before .entity").first.focus()

    def collection() -> None:
        go(page, "collections/notes")
        page.locator("svg.histogram").wait_for()

    return {
        "chat": chat,
        "search": search,
        "playground": playground,
        "ingest": lambda: ingest(page, "letters", files, "Try without storing"),
        "collections": collection,
        "audit": audit,
        "trail": lambda: page.locator("#trail-list tbody tr").first.wait_for(),
        "keys": lambda: page.get_by_role("button", name="Create key").wait_for(),
    }


# -- every tab -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_tab_breaks_a_rule_of_accessibility_or_is_wider_than_the_screen(
    server: Served, browser: Browser, files: list[Path], tmp_path: Path, scheme: str, size: dict[str, int]
) -> None:
    options: dict[str, Any] = {"viewport": size, "color_scheme": scheme}
    with page_at(browser, server.url, **options) as page:
        for name, fill in filled(page, files).items():
            go(page, name)
            fill()
            assert violations(page) == [], name
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= size["width"], name
            page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
            assert (tmp_path / f"{name}.png").stat().st_size > 5_000


def test_tabs_have_addresses_titles_and_headings(page: Page) -> None:
    for name in PAGES:
        link = page.get_by_role("navigation").get_by_role("link", name=name.capitalize())
        link.click()
        assert page.url.endswith(f"#{name}")
        expect(page).to_have_title(f"{name.capitalize()} – Lethe")
        expect(link).to_have_attribute("aria-current", "page")
        assert page.locator("nav a[aria-current]").count() == 1
        assert page.locator("h1:visible").all_text_contents() == [name.capitalize()]
    page.go_back()
    expect(page.get_by_role("heading", name="Trail", level=1)).to_be_focused()
    # One that was gone to by keyboard is read out and has no box.
    page.get_by_role("navigation").get_by_role("link", name="Ingest").focus()
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="Ingest", level=1)
    expect(heading).to_be_focused()
    assert heading.evaluate("each => each.matches(':focus-visible')")
    assert heading.evaluate("each => getComputedStyle(each).outlineStyle") == "none"


def test_search_marks_words_and_opens_documents(page: Page) -> None:
    go(page, "search")
    page.get_by_label("What to look for").fill("Is the boiler broken?")
    page.keyboard.press("Enter")
    first = page.locator("#search-found li").first
    expect(first.locator("mark").first).to_have_text("boiler")
    first.get_by_role("button", name="Whole document").click()
    expect(first.locator(".quoted")).to_contain_text("the plumber asks for")
    go(page, "collections/notes")
    page.get_by_role("button", name=re.compile("^Open ")).first.click()
    expect(page.locator("#document h4")).to_be_focused()
    expect(page.locator("#document .quoted")).to_contain_text("Invented note.")


# -- chat ----------------------------------------------------------------------------------------------


def test_a_chat_by_keyboard_alone(page: Page) -> None:
    page.locator("#chat-collection option").first.wait_for(state="attached")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    order = []
    for _ in range(4):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id"))
    assert order == ["chat-collection", "chat-new", "chat-log", "chat-question"]
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answer = page.locator(".turn:not(.yours)")
    expect(answer.locator(".said")).to_contain_text("boiler")
    quoted = "Quoted from the passages; no language model is in use."
    expect(answer.locator(".hint").last).to_have_text(quoted)
    mark = answer.locator(".mark").last
    expect(mark).to_have_accessible_name(re.compile(r"Open passage \d"))
    while not page.evaluate("document.activeElement.matches('.mark')"):
        assert page.evaluate("document.activeElement.matches('#chat-question, .source')")
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#passage-title")).to_be_focused()
    expect(page.locator("#passage .quoted")).to_contain_text("The boiler of the mill is broken")
    page.get_by_role("button", name="Whole document").press("Enter")
    expect(page.locator("#passage .quoted mark")).to_contain_text("The boiler of the mill is broken")
    page.keyboard.press("Escape")
    expect(page.locator("#passage")).to_be_hidden()
    expect(mark).to_be_focused()


def test_the_focus_is_always_visible(page: Page) -> None:
    page.locator("#chat-collection option").first.wait_for(state="attached")
    seen = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.outerHTML, getComputedStyle(document.activeElement).outlineStyle]"
        )
        seen.add(name)
        assert outline == "solid", name
    assert len(seen) > 8


def test_a_question_goes_on_about_the_one_before_and_its_citation_opens(page: Page) -> None:
    ask(page, "Who keeps the lighthouse?")
    with page.expect_request("**/v1/chat/completions") as asked:
        answer = ask(page, "And since when has he had a cough?")
    roles = [turn["role"] for turn in body_of(asked.value)["messages"]]
    assert roles == ["user", "assistant", "user"]
    assert body_of(asked.value)["stream"] is True
    answer.locator(".source").first.click()
    expect(page.locator("#passage .quoted")).to_contain_text("cough for three weeks")
    page.get_by_role("button", name="New chat").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_label("Question", exact=True)).to_be_focused()


def test_an_answer_is_busy_until_it_is_whole_and_a_stopped_one_is_forgotten(page: Page) -> None:
    # Never answered.
    page.route("**/v1/chat/completions", lambda route: None)
    page.get_by_label("Question", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    answer = page.locator(".turn:not(.yours)")
    expect(answer).to_have_attribute("aria-busy", "true")
    assert page.locator("#chat-log").get_attribute("role") == "log"
    page.get_by_role("button", name="Stop").click()
    expect(answer).to_contain_text("Stopped.")
    expect(answer).not_to_have_attribute("aria-busy", "true")
    page.unroute("**/v1/chat/completions")
    with page.expect_request("**/v1/chat/completions") as asked:
        ask(page, QUESTION)
    assert len(body_of(asked.value)["messages"]) == 1


def test_a_question_that_is_asked_early_waits_for_the_collections(page: Page) -> None:
    held: list[Route] = []
    page.route("**/v1/collections", lambda route: held.append(route))
    page.reload()
    page.get_by_label("Question", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    expect(page.locator(".turn")).to_have_count(0)
    held[0].continue_()
    expect(page.locator(".turn:not(.yours)")).to_contain_text("boiler")


def test_markup_of_documents_is_shown_as_text(page: Page) -> None:
    answer = ask(page, "What does the wiki of the choir say in bold?")
    expect(answer.locator(".said").first).to_contain_text("<img src=x onerror=pwned=1>")
    answer.locator(".source").first.click()
    expect(page.locator("#passage .quoted")).to_contain_text("<script>pwned=1</script>")
    sanitize(page, "Invented. Mr Oswin Tarrant wrote <img src=x onerror=pwned=1><script>pwned=1</script>")
    expect(page.locator("#play-after")).to_contain_text("<script>pwned=1</script>")
    assert page.locator("main img, main script").count() == 0
    assert page.evaluate("window.pwned") is None


# -- playground ----------------------------------------------------------------------------------------


def test_both_texts_stand_beside_each_other_with_the_same_marks(page: Page) -> None:
    sanitize(page, TEXT)
    before, after = sides = page.locator("#play-before"), page.locator("#play-after")
    marks = [[word.get_attribute("data-mark") for word in side.locator(".entity").all()] for side in sides]
    assert marks[0] == marks[1] != []
    # Offsets count code points: behind a character of two units they would be one off.
    assert {"Oswin Tarrant", "asthma"} <= {*before.locator(".entity").all_text_contents()}
    assert "Oswin Tarrant" not in after.inner_text()
    boxes = [[line.bounding_box() for line in side.locator(".line").all()] for side in sides]
    assert boxes[0][0] and len({tuple(box["y"] for box in lines if box) for lines in boxes}) == 1
    assert before.locator(".entity.direct.gone").count() == 1
    rows = page.locator("#play-risk tr").all_text_contents()
    assert [re.sub(r"[\d.]+$", "", row) for row in rows] == ["before", "after"]


PARTS = st.lists(
    st.tuples(st.text("a\n🐦é ", max_size=6), st.text("bc\n🐦", min_size=1, max_size=4), st.text("X\n🐦"))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=PARTS, end=st.text("a\n🐦"))
def test_any_text_is_cut_into_the_same_lines_on_both_sides(
    page: Page, parts: list[tuple[str, str, str]], end: str
) -> None:
    before, after, spans, places = "", "", [], []
    for plain, original, replacement in parts:
        before, after = before + plain, after + plain
        spans.append([len(before), len(before) + len(original)])
        places.append([len(after), len(after) + len(replacement)])
        before, after = before + original, after + replacement
    before, after = before + end, after + end
    both = page.evaluate(
        "async given => (await import('/web/spans.js')).pairedLines(...given)", [before, spans, after, places]
    )
    assert len(both[0]) == len(both[1])
    for text, lines in zip((before, after), both, strict=True):
        assert "\n".join("".join(piece["text"] for piece in line) for line in lines) == text
        marks = [piece["mark"] for line in lines for piece in line if piece["mark"] is not None]
        assert marks == list(range(len(parts)))


def test_every_decision_explains_itself_to_the_keyboard(page: Page) -> None:
    sanitize(page, TEXT)
    words = page.locator("#play-before .entity")
    assert [word.get_attribute("tabindex") for word in words.all()].count("0") == 1
    words.first.focus()
    tip = page.get_by_role("tooltip")
    for word in words.all():
        expect(word).to_be_focused()
        expect(tip).to_contain_text("Reason")
        expect(tip).to_contain_text("confidence")
        assert word.get_attribute("aria-describedby") == tip.get_attribute("id")
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    words.first.hover()
    expect(tip).to_contain_text("direct identifier")
    expect(page.locator("#play-after .entity.same")).to_have_count(1)
    tip.hover()
    expect(tip).to_be_visible()
    page.locator("h1:visible").hover()
    expect(tip).to_be_hidden()


def test_the_threshold_changes_the_text_and_the_saved_policy(page: Page, tmp_path: Path) -> None:
    go(page, "playground")
    page.get_by_role("button", name="Example text").click()
    page.locator("#play-before .entity").first.wait_for()
    slider = page.get_by_label("Threshold")
    kept = {}
    for bits in ("0", "8"):
        with page.expect_response("**/v1/sanitize"):
            slider.fill(bits)
        expect(page.locator("#play-pair")).not_to_have_attribute("aria-busy", "true")
        kept[bits] = page.locator("#play-before .entity.kept").count()
    assert kept["0"] < kept["8"]
    expect(page.locator("#play-tau-value")).to_have_text("0.39 of 100 people fit")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save policy").click()
    assert saved.value.suggested_filename == "policy.toml"
    saved.value.save_as(tmp_path / "policy.toml")
    policy = tomllib.loads((tmp_path / "policy.toml").read_text())
    assert (policy["name"], policy["k"], policy["people"]) == ("lethe", 100 / 2**8, 100)
    page.get_by_label("Policy", exact=True).select_option("suppress")
    expect(page.locator("#play-threshold")).to_be_hidden()
    expect(page.locator("#play-before .entity.kept")).to_have_count(0)


def test_a_text_waits_for_the_policies(page: Page) -> None:
    held: list[Route] = []
    page.route("**/v1/policies", lambda route: held.append(route))
    go(page, "playground")
    with page.expect_request("**/v1/policies"):
        page.reload()
    page.get_by_role("button", name="Example text").click()
    expect(page.locator("#play-pair")).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    page.locator("#play-before .entity").first.wait_for()


def test_an_answer_that_is_overtaken_is_dropped_and_one_question_runs_at_a_time(page: Page) -> None:
    go(page, "playground")
    page.evaluate(
        """() => {
            window.seen = [];
            const watch = new MutationObserver(() => {
                const words = document.querySelectorAll("#play-before .entity");
                for (const word of words) seen.push(word.textContent);
            });
            watch.observe(document.querySelector("#play-pair"), {childList: true, subtree: true});
        }"""
    )
    asked: list[Route] = []

    def hold_the_first(route: Route) -> None:
        asked.append(route)
        if len(asked) > 1:
            route.continue_()

    page.route("**/v1/sanitize", hold_the_first)
    box = page.get_by_label("Text", exact=True)
    for name in ("Mr Oswin Tarrant", "Mr Anselm Brock", "Ms Ida Pellworm"):
        box.fill(f"Invented. {name}.")
        page.wait_for_timeout(600)
    assert len(asked) == 1
    asked[0].continue_()
    expect(page.locator("#play-before .entity").first).to_have_text("Ida Pellworm")
    assert len(asked) == 2
    seen = page.evaluate("seen")
    assert seen
    assert [word for word in seen if word != "Ida Pellworm"] == []


# -- ingest, collections, audit ------------------------------------------------------------------------


def test_documents_go_in_after_a_dry_run_and_out_with_a_receipt(
    server: Served, page: Page, files: list[Path]
) -> None:
    with server.client() as client:
        ingest(page, "letters", files, "Try without storing")
        expect(page.locator("#job-now")).to_contain_text("Nothing was stored.")
        expect(page.locator("#job-now")).to_contain_text("person full name")
        assert [row["collection"] for row in client.get("/v1/collections").json()["collections"]] == ["notes"]
        ingest(page, "letters", files, "Ingest")
        expect(page.locator("#job-now")).to_contain_text("visits.jsonl, line 2")
        assert "visits" not in client.get("/v1/jobs").text
        jobs = page.locator("#job-list tbody tr")
        expect(jobs.nth(0)).to_contain_text("ingest")
        expect(jobs.nth(1)).to_contain_text("dry run")
        page.get_by_role("link", name="Open letters").click()
        expect(page.get_by_role("heading", name="letters")).to_be_visible()
        documents = page.locator("#documents tbody tr")
        expect(documents).to_have_count(2)
        documents.first.get_by_role("checkbox").check()
        page.get_by_role("button", name="Erase selected").click()
        page.get_by_role("dialog").get_by_role("button", name="Erase").click()
        expect(page.locator("#receipt")).to_contain_text("1 document erased")
        expect(page.locator("#receipt")).to_contain_text("1 of 1 found")
        expect(page.locator("#receipt")).to_contain_text("0 traces in")
        expect(documents).to_have_count(1)
        page.get_by_role("button", name="Delete collection").click()
        delete = page.get_by_role("dialog").get_by_role("button", name="Delete")
        expect(delete).to_be_disabled()
        page.get_by_label("Type letters to confirm").fill("letters")
        delete.click()
        expect(page.locator("#collections-list tbody tr")).to_have_count(1)
        assert client.get("/v1/collections/letters").status_code == 404


def test_documents_are_looked_through_one_after_the_other(
    server: Served, page: Page, files: list[Path]
) -> None:
    ingest(page, "looked", files, "Ingest")
    go(page, "collections/looked")
    page.get_by_text("Review documents").click()
    expect(page.get_by_text("Review documents (2 left)")).to_be_visible()
    text = page.locator("#review-text")
    expect(page.locator("#review h4")).to_be_focused()
    page.get_by_label("Other words to mask").fill("harbour")
    page.get_by_role("button", name="Mask and go on").click()
    expect(page.locator("#review-error")).to_contain_text("Not in this text as words: harbour.")
    assert violations(page) == []
    if "Invented letter" not in text.inner_text():
        page.get_by_role("button", name="Later").click()
    expect(text).to_contain_text("Invented letter")
    page.get_by_label("Other words to mask").fill("letter")
    page.get_by_label("What to write instead").fill("page")
    page.get_by_role("button", name="Mask and go on").click()
    expect(page.locator("#review [role=status]")).to_have_text("1 place masked in 1 document.")
    page.locator("#review summary").click()
    page.locator("#review summary").click()
    expect(text).to_contain_text("Invented visit")
    page.get_by_role("button", name="All may stay").click()
    expect(page.locator("#review")).to_contain_text("Every document was looked through.")
    with server.client() as client:
        rows = client.get("/v1/collections/looked/documents").json()["documents"]
        texts = [
            client.get(f"/v1/collections/looked/documents/{row['doc_id']}").json()["text"] for row in rows
        ]
        assert any(each.startswith("Invented page. ") for each in texts)
        assert client.delete("/v1/collections/looked").status_code == 200


def test_enter_tries_and_stores_nothing(server: Served, page: Page, files: list[Path]) -> None:
    go(page, "ingest")
    page.locator("#ingest-files").set_input_files(files)
    names = page.locator("#ingest-form button[type=submit]").all_text_contents()
    assert names == ["Try without storing", "Ingest"]
    page.locator("#ingest-collection").fill("tried")
    page.keyboard.press("Enter")
    expect(page.locator("#job-title")).to_have_text("Dry run into tried")
    expect(page.locator("#job-now .state")).to_have_text("done", timeout=90_000)
    with server.client() as client:
        assert client.get("/v1/collections/tried").status_code == 404


def test_what_is_asked_twice_is_not_done_when_it_is_refused(server: Served, page: Page) -> None:
    go(page, "collections/notes")
    page.locator("#documents input").first.check()
    page.get_by_role("button", name="Erase selected").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    with server.client() as client:
        assert client.get("/v1/collections/notes").json()["documents"] == 63


def test_documents_come_page_by_page(page: Page) -> None:
    go(page, "collections/notes")
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Next").click()
    expect(rows).to_have_count(13)
    expect(rows.first).to_contain_text("r0050")
    page.get_by_role("button", name="Previous").click()
    expect(rows.first).to_contain_text("r0000")
    drawn = page.locator("svg.histogram").get_attribute("aria-label") or ""
    after = drawn.split("after: ")[1]
    assert sum(int(found) for found in re.findall(r"(\d+) from", after)) == 63


def test_a_dropped_file_is_chosen_and_a_job_is_cancelled(server: Served, page: Page) -> None:
    go(page, "ingest")
    outside = page.evaluate(
        """() => {
            const dataTransfer = new DataTransfer();
            const drop = new DragEvent("drop", {cancelable: true, bubbles: true, dataTransfer});
            document.querySelector("h1").dispatchEvent(drop);
            return drop.defaultPrevented;
        }"""
    )
    assert outside
    page.evaluate(
        """() => {
            const line = JSON.stringify({text: "Invented. Mr Oswin Tarrant was born in 1978. ".repeat(40)});
            const lines = Array.from({length: 400}, (_, n) => line.replace("1978", String(n)));
            const data = new DataTransfer();
            data.items.add(new File([lines.join("\\n")], "many.jsonl"));
            document.querySelector("#ingest-drop").dispatchEvent(new DragEvent("drop", {dataTransfer: data}));
        }"""
    )
    expect(page.locator("#ingest-list")).to_contain_text("many.jsonl")
    page.locator("#ingest-collection").fill("many")
    page.get_by_role("button", name="Ingest", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#job-now .state")).to_have_text("cancelled", timeout=60_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def test_a_refused_ingest_says_why(server: Served, browser: Browser, files: list[Path]) -> None:
    with page_at(browser, server.url, refused=True) as page:
        go(page, "ingest")
        page.locator("#ingest-collection").fill("letters")
        page.get_by_role("button", name="Try without storing").click()
        expect(page.get_by_role("alert")).to_have_text("Choose at least one file.")
        page.locator("#ingest-files").set_input_files(files)
        page.locator("#ingest-collection").fill("x" * 64 + "y")
        page.route("**/v1/collections/*/documents", lambda route: route.abort())
        page.get_by_role("button", name="Try without storing").click()
        expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")


def test_a_report_is_shown_in_a_frame_that_may_do_nothing(page: Page) -> None:
    go(page, "audit")
    page.locator("#audit-file").set_input_files(REPORT_FILE)
    frame = page.locator("iframe")
    assert frame.get_attribute("sandbox") == "allow-same-origin"
    inside = page.frame_locator("iframe")
    expect(inside.get_by_role("heading")).to_have_text("Invented report")
    expect(inside.locator("rect")).to_have_attribute("fill", "#ff0000")
    # The style of the server holds, and not the one that the file brought.
    shown = inside.locator("body").evaluate(
        "body => [getComputedStyle(body).margin, getComputedStyle(body).color]"
    )
    assert shown == ["0px", "rgb(28, 32, 36)"]
    assert page.evaluate("window.pwned") is None
    assert "pwned" not in (frame.get_attribute("srcdoc") or "")
    page.locator("#audit-file").set_input_files(
        FilePayload(name="a.txt", mimeType="text/plain", buffer=b"I.")
    )
    expect(page.get_by_role("alert")).to_contain_text("This is not an HTML page")
