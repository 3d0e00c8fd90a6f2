"""Pages in a browser: at the width of a telephone, a tablet and a desk, by keyboard, in print.

They need Chromium with its driver (in Debian: chromium and chromium-driver) and the extra
"browser" (Selenium, and axe-core-python, which bundles axe.min.js); without them they are
skipped. The environment variable AXE may name another axe.min.js, such as that of the npm
package axe-core.
"""

import base64
import os
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from skfairfr.report import (
    EmbeddingData,
    audit_data,
    certify_data,
    compare_systems,
    explain,
    identify_data,
    monitor_log,
)
from tests.report.audits import HOSTILE, synthetic, systems

WIDTHS = (1280, 820, 390)
PAGES = ("audit", "comparison", "search", "certificate", "monitor", "explain")
PATIENCE = 600  # seconds
BROWSER, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
MISSING = [
    name
    for name, found in (
        ("chromium", BROWSER),
        ("chromedriver", DRIVER),
        ("selenium", find_spec("selenium")),
    )
    if not found
]
pytestmark = [
    pytest.mark.slow,  # .ci/run runs them on their own
    pytest.mark.usefixtures("real_figures"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    # Selenium and what it builds on warn of each other's versions.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def driver():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    # No sandbox within a container, whose shared memory is small.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    # A busy machine takes minutes for axe on a long page; Selenium waits for two by default.
    driver.command_executor.client_config.timeout = PATIENCE
    driver.set_script_timeout(PATIENCE)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files of an audit by two attributes, one label of which is hostile, and others."""
    folder = tmp_path_factory.mktemp("pages")
    X, y, groups = synthetic()
    groups = np.where(groups == "male", HOSTILE, "a group with rather a long name")
    age = np.array([f"age {i % 4}" for i in y])
    data = EmbeddingData(X, y, {"sex": groups, "age": age})
    limits = {"max_fnmr": 0.4, "max_fmr": 0.2, "max_bfar": 3.0}
    report = audit_data(data, far=[0.1, 0.05], limits=limits)
    (folder / "audit.html").write_text(report.to_html("faces.npz"), encoding="utf-8")
    # Paths, as a command names its systems, are longer than a telephone is wide.
    names = [f"/{'folder/' * 8}{name}.npz" for name in ("first", "second")]
    found = compare_systems(*systems(1.0), names=names, far=[1e-2])
    (folder / "comparison.html").write_text(found.to_html(), encoding="utf-8")
    rng = np.random.default_rng(0)
    others = {
        "search": searched(data),
        "certificate": certify_data(data, limits={"max_fmr": 0.2, "max_fnmr": 0.4}),
        "monitor": watched(folder),
        "explain": explain(
            replace(data, covariates={"quality": rng.random(y.size)}),
            far=0.1,
            curves="quality",
            interactions=[("sex", "age")],
            limits={"max_fnmr": 0.4},
        ),
    }
    for name, found in others.items():
        (folder / f"{name}.html").write_text(found.to_html("a file"), encoding="utf-8")
    return folder


def searched(data):
    """An audit of searches: an image of two thirds of the people is enrolled."""
    first = np.unique(data.y, return_index=True)[1]
    enrolled = np.isin(np.arange(data.y.size), first) & (data.y % 3 > 0)
    gallery, probes = (
        EmbeddingData(
            data.X[rows], data.y[rows], {n: c[rows] for n, c in data.columns.items()}
        )
        for rows in (enrolled, ~enrolled)
    )
    return identify_data(probes, gallery=gallery, fpir=0.1)


def watched(folder):
    """What is known of two logs of decisions by a group of hostile name."""
    rng = np.random.default_rng(0)
    for month in (1, 2):
        rows = [
            f"{i % 150},{int(rng.random() > 0.1)},{HOSTILE if i % 2 else 'm'},"
            f"2026-0{month}-{1 + i // 20:02d}"
            for i in range(400)
        ]
        path = folder / f"log_{month}.csv"
        path.write_text("\n".join(["person,accepted,sex,day", *rows]))
        limits = {"max_fnmr": 0.08, "max_fnmr_ratio": 1.5}
        asked = {"time": "day", "state": folder / "state.json", "limits": limits}
        found = monitor_log(path, "sex", **asked)
    return found


def show(driver, pages, name, width=1280):
    size = {
        "width": width,
        "height": 900,
        "deviceScaleFactor": 1,
        "mobile": width < 500,
    }
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get((pages / f"{name}.html").as_uri())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_width_and_runs_nothing(driver, pages, name, width):
    show(driver, pages, name, width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert driver.execute_script("return document.scripts.length") == 0
    assert driver.get_log("browser") == []
    # Figures keep the size that their text is made for, or are as wide as the page.
    widths = driver.execute_script(
        "return [...document.images].map(i => i.width / i.naturalWidth)"
    )
    assert len(widths) > (2 if name in PAGES[:2] else 0) and min(widths) > 0.7


def axe():
    """The source of axe-core: the file that AXE names, or the one that is installed."""
    if "AXE" in os.environ:
        return Path(os.environ["AXE"]).read_text(encoding="utf-8")
    # Importing the package would import Playwright, which is not needed.
    found = find_spec("axe_core_python")
    if found is None:
        pytest.skip("axe-core-python is not installed, and AXE names no axe.min.js")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


# Half a minute a page; between a desk and a telephone only the layout changes.
@pytest.mark.parametrize(
    "width", [1280, pytest.param(820, marks=pytest.mark.slow), 390]
)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(driver, pages, name, width):
    show(driver, pages, name, width)
    driver.execute_script(axe())
    found = driver.execute_async_script("axe.run().then(arguments[0])")["violations"]
    told = [(v["id"], v["impact"], [n["html"][:90] for n in v["nodes"]]) for v in found]
    assert told == []


def test_the_keyboard_reaches_every_link_and_every_wide_table(driver, pages):
    from selenium.webdriver.common.keys import Keys

    show(driver, pages, "audit")
    wanted = [
        element
        for element in driver.find_elements("css selector", "a, summary, .scroll")
        if element.tag_name == "summary" or not folded(driver, element)
    ]
    reached = []
    for _ in wanted:
        driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(driver.switch_to.active_element)
    assert reached == wanted
    assert reached[0].get_attribute("href").endswith("#verdict")
    assert {element.tag_name for element in reached} == {"a", "div", "summary"}
    assert folded(driver, driver.find_element("css selector", "details table"))
    *_, last = reached
    last.send_keys(Keys.ENTER)
    assert last.find_element("xpath", "..").get_attribute("open") == "true"


def folded(driver, element):
    """Whether an element is within a part that is not unfolded."""
    return driver.execute_script("return !arguments[0].checkVisibility()", element)


def test_what_is_folded_is_open_in_print(driver, pages):
    show(driver, pages, "audit")
    tables = driver.find_elements("css selector", "details table")
    assert tables and all(folded(driver, table) for table in tables)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    heights = [table.size["height"] for table in tables]
    still = [table for table in tables if folded(driver, table)]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert still == [] and min(heights) > 20


def test_no_table_is_wider_than_paper(driver, pages):
    """What scrolls on a screen would be cut on paper: A4 within margins is 718 pixels."""
    show(driver, pages, "audit", 718)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    widths = driver.execute_script(
        "return [...document.querySelectorAll('table')].map(t => t.scrollWidth)"
    )
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(widths) > 5 and max(widths) <= 718


def test_a_page_prints(driver, pages):
    show(driver, pages, "audit")
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    data = base64.b64decode(printed["data"])
    assert data.startswith(b"%PDF") and len(data) > 50_000
