"""Waiting and finding: the only place that knows Streamlit's own ids and classes."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def open_app(page: Page, path: str = "/") -> None:
    page.goto(path)
    settled(page)


def settled(page: Page, timeout: float = 30_000) -> None:
    """After goto: the page is drawn and idle."""
    app = page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-connection-state", "CONNECTED", timeout=timeout)
    expect(app).to_have_attribute("data-test-script-state", "notRunning", timeout=timeout)
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=timeout)
    no_app_error(page)


_TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def at_rest(page: Page) -> None:
    """Nothing is running, fading or waiting for its font: what is seen can be measured."""
    settled(page)
    page.evaluate("() => document.fonts.ready.then(() => true)")
    page.evaluate(_TWO_FRAMES)  # what has changed begins to fade with the next frame
    page.wait_for_function(
        """() => document.getAnimations().every((a) => a.playState !== 'running'
            || a.effect.getComputedTiming().iterations === Infinity)"""
    )


def no_app_error(page: Page) -> None:
    expect(page.get_by_test_id("stException")).to_have_count(0)


def metric(page: Page, label: str):
    return page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")


def open_group(page: Page, name: str) -> None:
    page.locator(f".st-key-group_{name}").get_by_role("button").first.click()


def close_popover(page: Page) -> None:
    page.keyboard.press("Escape")


def enter(page: Page, label: str, value: str) -> None:
    box = page.get_by_label(label, exact=True)
    box.fill(value)
    box.press("Enter")  # without Enter (or leaving the field) nothing is sent


def charts_drawn(page: Page, count: int) -> None:
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts).to_have_count(count)
    for index in range(count):
        expect(charts.nth(index).locator("canvas, svg").first).to_be_visible()


def side_scroll(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return page.evaluate(
        """() => {
            const main = document.querySelector('[data-testid="stMain"]');
            return Math.max(
                document.documentElement.scrollWidth - window.innerWidth,
                main.scrollWidth - main.clientWidth
            );
        }"""
    )


CUT = """(scrolling) => {
    const main = document.querySelector('[data-testid="stMain"]');
    const left_out = 'svg, canvas, input, textarea, [data-baseweb="select"], [data-testid="stMultiSelect"] span, '
        + '[data-testid="stDataFrame"], [data-testid="stIconMaterial"]' + scrolling;
    const found = [];
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const e = node.parentElement;
        if (!node.textContent.trim() || ['STYLE', 'SCRIPT'].includes(e.tagName) || e.closest(left_out)
            || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const words = range.getBoundingClientRect();
        if (words.width < 2) continue;
        for (let n = e; n && n !== main; n = n.parentElement) {
            const style = getComputedStyle(n), box = n.getBoundingClientRect();
            if (style.overflowX !== 'visible' && box.width > 2
                && (words.right > box.right + 1.5 || words.left < box.left - 1.5)) {
                found.push(node.textContent.trim().slice(0, 60));
                break;
            }
        }
    }
    return found;
}"""


def cut_texts(page: Page) -> list[str]:
    """Texts of which a part is hidden; fields and long tables, which scroll by themselves, are left out.

    A small table has to fit, except on a phone, where it scrolls too.
    """
    at_rest(page)
    scrolling = ', [data-testid="stTable"], [data-testid="stMarkdownContainer"]:has(>table), [class*="st-key-wide_"]'
    return page.evaluate(CUT, scrolling if page.viewport_size["width"] < 600 else "")


CONTRAST = """(selector) => {
    const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
    const lum = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
    const written = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    return [...document.querySelectorAll(selector)]
        .flatMap((root) => [root, ...root.querySelectorAll('*')])
        .filter((e) => e.offsetParent !== null && e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})
            && written(e) && e.dataset.testid !== 'stIconMaterial'
            && !['STYLE', 'SCRIPT'].includes(e.tagName) && e.closest('svg, canvas') === null)
        .map((e) => {
            let layers = [], opacity = 1;
            for (let n = e; n; n = n.parentElement) {
                const style = getComputedStyle(n);
                layers.unshift(parse(style.backgroundColor));
                opacity *= Number(style.opacity);
            }
            const ground = layers.reduce((below, top) => over(top, below), [255, 255, 255]);
            const ink = parse(getComputedStyle(e).color);
            const text = over([...ink.slice(0, 3), ink[3] * opacity], ground);
            const [a, b] = [lum(text), lum(ground)].sort((x, y) => y - x);
            return [(e.textContent || '').slice(0, 40), (a + 0.05) / (b + 0.05)];
        });
}"""


def contrasts(page: Page, selector: str) -> list[tuple[str, float]]:
    """All visible texts inside the selected elements, charts left out, with their contrast against what lies behind."""
    page.mouse.move(0, 0)  # what lies under it has a colour of its own
    at_rest(page)
    return [(text, ratio) for text, ratio in page.evaluate(CONTRAST, selector)]


_MOST_COLUMNS = 40


def go_to_cell(page: Page, column: str, row: int):
    """Select a cell by keyboard, for the table is drawn on a canvas; returns what screen readers get of it."""
    grid = page.get_by_test_id("stDataFrame")
    heads = grid.locator("[role=columnheader]")
    expect(heads.first).to_be_attached()
    first = int(grid.locator("[role=gridcell]").first.get_attribute("id").split("-")[2])
    box = grid.bounding_box()
    _click(page, box["x"] + 100, box["y"] + 52)  # some cell of the first row
    page.keyboard.press("Control+Home")
    expect(grid.get_by_test_id(f"glide-cell-{first}-0")).to_have_attribute("aria-selected", "true")
    for _ in range(row):
        page.keyboard.press("ArrowDown")
    at = first
    while column not in heads.all_text_contents():  # columns out of sight aren't there yet
        assert at < _MOST_COLUMNS, f"no column {column}"
        page.keyboard.press("ArrowRight")
        at += 1
        expect(grid.get_by_test_id(f"glide-cell-{at}-{row}")).to_have_attribute("aria-selected", "true")
    head = heads.filter(has_text=re.compile(f"^{re.escape(column)}$"))
    wanted = int(head.get_attribute("aria-colindex")) - 1 + first
    for _ in range(wanted - at):
        page.keyboard.press("ArrowRight")
    for _ in range(at - wanted):
        page.keyboard.press("ArrowLeft")
    cell = grid.get_by_test_id(f"glide-cell-{wanted}-{row}")
    expect(cell).to_have_attribute("aria-selected", "true")
    return cell


def edit_cell(page: Page, column: str, row: int, text: str) -> None:
    cell = go_to_cell(page, column, row)
    page.keyboard.press("Enter")
    field = page.locator("input.gdg-input, textarea.gdg-input")
    expect(field).to_be_visible()
    field.fill(text)
    field.press("Enter")
    expect(cell).to_have_text(text)


def choose_in_cell(page: Page, column: str, row: int, option: str, value: str) -> None:
    cell = go_to_cell(page, column, row)
    page.keyboard.press("Enter")
    menu = page.locator("#portal")
    expect(menu.locator("input")).to_be_focused()
    page.keyboard.type(option)
    expect(menu.get_by_text(re.compile(f"^{re.escape(option)}"))).to_have_count(1)
    page.keyboard.press("Enter")
    expect(cell).to_have_text(value)  # the id behind the option


def add_row(page: Page) -> None:
    """Click the grey row below the last one."""
    grid = page.get_by_test_id("stDataFrame")
    box = grid.bounding_box()
    _click(page, box["x"] + 100, box["y"] + box["height"] - 18)


def _click(page: Page, x: float, y: float) -> None:
    page.mouse.move(x + 20, y + 8)  # the table takes a click only where it saw the pointer come
    page.mouse.move(x, y, steps=4)
    page.mouse.click(x, y)
