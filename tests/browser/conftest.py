"""One server and one browser for all journeys of a worker; each test gets a page, and a picture of it when it fails."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

try:
    import playwright  # noqa: F401
except ImportError:
    if os.environ.get("CI"):
        raise
    collect_ignore_glob = ["test_*.py"]

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
ARGS = [
    "--no-sandbox",  # needed as root
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",  # containers have a small /dev/shm
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP = {"width": 1360, "height": 900}
ZOOMED = {"width": 680, "height": 450}
"""What a desktop window shows at 200 %."""
PHONE = {"width": 390, "height": 844}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="session")
def app_url(tmp_path_factory):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log_path = tmp_path_factory.mktemp("server") / "streamlit.log"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    options = ["--server.headless=true", "--server.fileWatcherType=none"]
    with log_path.open("w") as log:
        server = subprocess.Popen([*command, *options], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 60
        while True:
            if server.poll() is not None:
                pytest.fail("the app stopped: " + log_path.read_text())
            try:
                with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                    if answer.read() == b"ok":
                        break
            except OSError:
                pass
            if time.monotonic() > deadline:
                pytest.fail("the app was not up after 60 s: " + log_path.read_text())
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture(scope="session")
def browser(app_url):
    if not CHROMIUM:
        if os.environ.get("CI"):
            pytest.fail("chromium is not on PATH")
        pytest.skip("chromium is not on PATH")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)  # a busy machine draws late
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def contexts(browser, app_url):
    """A context for each size and colour scheme, kept open so that the front end's files stay cached."""
    opened = {}

    def get(size=None, scheme="light"):
        size = size or DESKTOP
        key = (size["width"], scheme)
        if key not in opened:
            opened[key] = browser.new_context(
                base_url=app_url, locale="en-US", accept_downloads=True, viewport=size, color_scheme=scheme
            )
        return opened[key]

    return get


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    setattr(item, "report_" + report.when, report)
    return report


@pytest.fixture
def new_page(contexts, request):
    """Opens pages of a given size and scheme; all must stay free of script errors."""
    pages = []
    js_errors: list[str] = []

    def open_page(size=None, scheme="light"):
        page = contexts(size, scheme).new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: js_errors.append(str(error)))
        pages.append(page)
        return page

    yield open_page
    report = getattr(request.node, "report_call", None)
    for number, page in enumerate(pages):
        if report is not None and report.failed:
            shots = ROOT / "test-results"
            shots.mkdir(exist_ok=True)
            page.screenshot(path=shots / f"{request.node.name}-{number}.png", full_page=True)
        page.close()
    assert js_errors == []


@pytest.fixture
def page(new_page):
    return new_page()
