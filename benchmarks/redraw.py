"""How long a change on each page takes to be drawn, beside a near-empty Streamlit page, in one run.

    python benchmarks/redraw.py

Prints medians and ratios; exits with 1 when a page takes more than 1.5 times the near-empty page plus 100 ms, or the
first drawing of the Plan page more than 6 s.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
CHANGES, WARM_UP = 15, 3
LIMIT_RATIO, LIMIT_EXTRA_S, LIMIT_FIRST_S = 1.5, 0.1, 6.0
NEAR_EMPTY = """
import streamlit as st
st.set_page_config(layout="wide")
value = st.text_input("Value", "1", key="value")
st.title(f"It is {value}")
"""
BODY = '[data-testid="stMainBlockContainer"]'
TRIED = '.st-key-columns_whatif_try [data-testid="stColumn"]:nth-child(2)'
# path, field that is typed into or switch that is turned, and what must have changed then
PAGES = {
    "Plan": ("/", "Runs a month, daily", ".st-key-group_work button"),
    "Start": ("/start", "Budget, with currency", BODY),
    "Work": ("/work", ".st-key-work_job_daily_key", ".st-key-columns_work_job"),
    "What-if": ("/what-if", ".st-key-whatif_slider_rental_prices_0", TRIED),
    "Timeline": ("/timeline", ".st-key-timeline_way_hybrid", ".st-key-timeline_head"),
    "Claims": ("/claims", "Search a GPU or a word", BODY),
    "Accuracy": ("/accuracy", "Show a GPU", ".st-key-accuracy_gpu_words"),
    "Catalog, price": ("/catalog", ".st-key-compare_basis", "h1"),
    "Catalog, view": ("/catalog", ".st-key-catalog_kind", "h1"),
}
VALUES: dict[str, Callable[[int], str]] = {
    "Budget, with currency": lambda value: f"{8000 + 500 * (value - 40)} CNY",
    "Show a GPU": lambda value: ("RTX A6000", "RTX A5500")[value % 2],
    "Search a GPU or a word": lambda value: ("A100", "memory")[value % 2],
}
IDLE = """() =>
    document.querySelector('[data-testid="stApp"]').getAttribute('data-test-script-state') === 'notRunning'"""
# The page is whole, and idle but for a search that says so in its line and may take seconds.
DRAWN = """([selector, before]) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const answer = document.querySelector(selector);
    return answer && answer.innerText !== before
        && (app.getAttribute('data-test-script-state') === 'notRunning'
            || document.querySelector('[class*="st-key-leave_"]') !== null)
        && document.querySelector('[data-stale=true]') === null;
}"""

SIMULATED = """() => document.querySelector('[data-testid="stApp"]').getAttribute('data-test-script-state')
    === 'notRunning' && !document.body.innerText.includes('simulating')"""

HEAVY = ("Work", "What-if", "Timeline", "Accuracy")
GROUPS = (tuple(name for name in PAGES if name not in HEAVY), *((name,) for name in HEAVY))
"""Pages that are open together: one with thousands of points or many charts slows others of the same browser."""


@contextmanager
def serving(script: Path, folder: Path) -> Iterator[str]:
    """Run a Streamlit script on a free port."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    options = ["--server.headless=true", "--server.fileWatcherType=none", "--browser.gatherUsageStats=false"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}", *options]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                if urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).read() == b"ok":
                    break
            except OSError:
                pass
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{script} did not start")
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait()


def first_drawn_s(page: Page, url: str) -> float:
    """Open a page in a new session until it is drawn and idle. [s]"""
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_function(DRAWN, arg=["h1", ""], timeout=60_000)
    return time.perf_counter() - start


def change_s(page: Page, label: str, value: int, answer: str) -> float:
    """Type a value, turn a switch or move a slider, until the answer has changed and nothing old is left. [s]"""
    page.wait_for_function(IDLE, timeout=60_000)
    before = page.locator(answer).first.inner_text()
    if (knob := page.locator(f"{label} input[type=range]") if label.startswith(".") else None) and knob.count():
        start = time.perf_counter()
        knob.press("ArrowLeft")
        page.wait_for_function(DRAWN, arg=[answer, before], timeout=60_000)
        return time.perf_counter() - start
    if label.startswith("."):
        option = page.locator(f"{label} [role=radio]").nth(value % 2)
        start = time.perf_counter()
        option.click()
        page.wait_for_function(DRAWN, arg=[answer, before], timeout=60_000)
        return time.perf_counter() - start
    box = page.get_by_label(label, exact=True)
    box.fill(VALUES[label](value) if label in VALUES else str(value))
    start = time.perf_counter()
    box.press("Enter")
    page.wait_for_function(DRAWN, arg=[answer, before], timeout=60_000)
    return time.perf_counter() - start


def opened(browser: Browser, url: str) -> tuple[Page, float]:
    """A page in a context of its own, with the time of its first drawing. [s]"""
    page = browser.new_context(viewport={"width": 1360, "height": 900}).new_page()
    return page, first_drawn_s(page, url)


def simulate(page: Page) -> None:
    """Show both ways until they are simulated, so that no change is measured while another one computes."""
    _, label, answer = PAGES["Timeline"]
    for value in (1, 2):
        change_s(page, label, value, answer)
        page.wait_for_function(SIMULATED, timeout=60_000)
        page.wait_for_timeout(1000)


def main() -> int:
    """Measure the pages of a group change by change in turn, so that a busy machine slows all of them, and compare."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        script = Path(folder) / "empty.py"
        script.write_text(NEAR_EMPTY, encoding="utf-8")
        with serving(script, Path(folder)) as empty_url, serving(ROOT / "app.py", ROOT) as app_url:
            empty_times: dict[tuple[str, ...], list[float]] = {names: [] for names in GROUPS}
            times: dict[str, list[float]] = {name: [] for name in PAGES}
            first_s = 0.0
            for names in GROUPS:
                browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
                empty, _ = opened(browser, empty_url)
                pages = {}
                for name in names:
                    pages[name], seconds = opened(browser, app_url + PAGES[name][0])
                    first_s = first_s or seconds
                if "Plan" in pages:
                    pages["Plan"].locator(".st-key-group_work").get_by_role("button").first.click()
                if "Timeline" in pages:
                    simulate(pages["Timeline"])
                for value in range(41, 41 + CHANGES + WARM_UP):
                    taken = change_s(empty, "Value", value, "h1")
                    if value >= 41 + WARM_UP:
                        empty_times[names].append(taken)
                    for name in names:
                        _, label, answer = PAGES[name]
                        times[name].append(change_s(pages[name], label, value, answer))
                browser.close()
    within = first_s <= LIMIT_FIRST_S
    for names, found in empty_times.items():
        near_empty_s = statistics.median(found)
        limit_s = LIMIT_RATIO * near_empty_s + LIMIT_EXTRA_S
        print(f"near-empty page   change {near_empty_s * 1e3:6.0f} ms, limit of these {limit_s * 1e3:.0f} ms")
        for name in names:
            median_s = statistics.median(times[name][WARM_UP:])
            within = within and median_s <= limit_s
            print(f"{name:17s} change {median_s * 1e3:6.0f} ms, {median_s / near_empty_s:.2f} times")
    print(f"{next(iter(PAGES)):17s} first  {first_s * 1e3:6.0f} ms, limit {LIMIT_FIRST_S * 1e3:.0f} ms")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
