"""Does the page of `copyback report` draw, answer and print, in a real browser?

It is opened in Debian's Chromium, headless. Without one the tests are skipped, unless COPYBACK_NEEDS_CHROMIUM says that
they must not be.
"""

import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from PIL import Image, ImageChops, ImageFilter, ImageStat

sync_api = pytest.importorskip("playwright.sync_api")

pytestmark = pytest.mark.once

PICTURE = Path(__file__).parent / "pictures" / "report.png"
RUNS = ("compare", "--schemes", "baseline,pgc", "--requests", "4000", "--warmup", "1000", "--quiet")
UNIT_NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
# For each chart of a page: the number of shapes in a colour of a run or a cause, or the number of drawn pixels.
DRAWN = """() => [...document.querySelectorAll(".chart")].map((chart) => {
  const title = chart.closest("section").querySelector("h3").textContent;
  const canvas = chart.querySelector("canvas");
  if (canvas) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let drawn = 0;
    for (let at = 0; at < data.length; at += 4) drawn += Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 60;
    return [title, drawn];
  }
  const own = ["#E69F00", "#D55E00", "#56B4E9", "#0072B2", "#009E73"];
  const marks = [...chart.querySelectorAll("path, polyline, polygon")].filter((shape) => own.some((colour) =>
    [shape.getAttribute("fill"), shape.getAttribute("stroke")].some((paint) => (paint || "").toLowerCase() === colour.toLowerCase())));
  return [title, marks.length];
})"""  # noqa: E501


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        assert "COPYBACK_NEEDS_CHROMIUM" not in os.environ, "there is no Chromium: apt-get install chromium"
        pytest.skip("there is no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        own = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield own
        own.close()


@pytest.fixture(scope="session")
def folder(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    program(*RUNS, "--out", "runs", cwd=folder)
    program("report", "runs", "-o", "runs.html", cwd=folder)
    return folder


@pytest.fixture(scope="session")
def tab(browser):
    """One page for all tests: to start a process for another one takes longer than to load a report."""
    return browser.new_context().new_page()


@pytest.fixture
def opened(tab):
    """Opens a page; fails if the page logs a message, requests a resource, or raises an error."""
    wrong, asked = [], []
    hears = {
        "console": lambda message: wrong.append(message.text),
        "pageerror": lambda error: wrong.append(str(error)),
        "request": lambda request: wrong.append(request.url) if request.url not in asked else None,
    }

    def call(path: Path, width: int = 1000, theme: str = "light"):
        asked.append(path.as_uri())
        tab.set_viewport_size({"width": width, "height": 800})
        tab.emulate_media(color_scheme=theme)
        tab.mouse.move(0, 0)
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]", state="attached")
        return tab

    for event, hear in hears.items():
        tab.on(event, hear)
    yield call
    # Messages of the page that was opened last belong to this test, and its work does not go on in the next one.
    tab.goto("about:blank")
    for event, hear in hears.items():
        tab.remove_listener(event, hear)
    assert wrong == []


def panel(page, title: str):
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def chart(page, title: str):
    found = panel(page, title).locator(".chart")
    found.scroll_into_view_if_needed()
    return found


def span(found) -> list[float]:
    """The part of its axis that a chart shows, in per cent."""
    return found.evaluate(
        "(e) => { const z = echarts.getInstanceByDom(e).getOption().dataZoom[0]; return [z.start, z.end]; }"
    )


def nanoseconds(text: str) -> float:
    number, unit = text.split()
    return float(number.replace(",", "")) * UNIT_NS[unit]


def hover(page, found, share_x: float, share_y: float) -> str:
    box = found.bounding_box()
    page.mouse.move(box["x"] + box["width"] * share_x, box["y"] + box["height"] * share_y)
    page.mouse.move(box["x"] + box["width"] * share_x + 1, box["y"] + box["height"] * share_y)
    tooltip = found.locator(".tip")
    tooltip.wait_for(state="visible")
    return tooltip.inner_text()


def test_every_panel_is_drawn_in_both_themes_and_wide_or_narrow(folder, opened):
    for width, theme in [(1000, "light"), (1000, "dark"), (400, "light")]:
        page = opened(folder / "runs.html", width, theme)
        drawn = dict(page.evaluate(DRAWN))
        assert len(drawn) == 8 and all(marks > 0 for marks in drawn.values()), drawn
        assert page.evaluate("document.documentElement.scrollWidth") == width, "the page is as wide as the window"
        assert page.evaluate("document.documentElement.dataset.theme") == theme


def test_the_page_is_small_the_same_and_shows_the_headline(folder, program, opened):
    program("report", "runs", "-o", "again.html", cwd=folder)
    html = (folder / "runs.html").read_bytes()
    assert html == (folder / "again.html").read_bytes()
    assert len(html) <= 3_000_000
    results = json.loads((folder / "runs" / "results.json").read_text())["results"]
    rows = panel(opened(folder / "runs.html"), "Headline").locator("tbody tr")
    for at, result in enumerate(results):
        cells = rows.nth(at).locator("th, td").all_inner_texts()
        assert cells[0].splitlines()[0] == result["scheme"]
        mean = result["report"]["response"]["read"]["mean_ns"]
        assert nanoseconds(cells[1].splitlines()[0]) == pytest.approx(mean, rel=5e-3)


def test_the_package_makes_the_same_page(folder, program, monkeypatch):
    import copyback

    monkeypatch.chdir(folder)
    assert copyback.report("runs", out="package.html").startswith("package.html: runs, 2 runs")
    assert (folder / "package.html").read_bytes() == (folder / "runs.html").read_bytes()
    program("report", "runs", "-o", "where.html", "--where", "wa < 3", "--title", "T", cwd=folder)
    copyback.report("runs", out="package.html", where="wa < 3", title="T")
    assert (folder / "package.html").read_bytes() == (folder / "where.html").read_bytes()


def test_hovering_tells_what_the_tables_hold(folder, opened):
    page = opened(folder / "runs.html")
    text = hover(page, chart(page, "Response times: causes"), 0.5, 0.45)
    results = json.loads((folder / "runs" / "results.json").read_text())["results"]
    parts = dict(results[0]["report"]["latency_breakdown"]["read_mean_ns"])
    shown = re.search(r"garbage collection\s+(\S+ \S+)", text).group(1)
    assert text.startswith("baseline") and nanoseconds(shown) == pytest.approx(parts["gc"], rel=5e-3)

    text = hover(page, chart(page, "Response times: distribution"), 0.35, 0.3)
    bins = pl.read_parquet(folder / "runs" / "latency_histograms.parquet").filter(pl.col("class") == "read")
    ns = nanoseconds(re.match(r"longer than (\S+ \S+)", text).group(1))
    found = re.findall(r"(baseline|pgc)\s+(\S+) %", text)
    assert len(found) == 2, text
    for scheme, share in found:
        own = bins.filter(pl.col("scheme") == scheme)
        # Three digits are shown, and a line has a point for each hundredth of a decade.
        most, least = (own.filter(pl.col("to_ns") > ns * by)["count"].sum() / own["count"].sum() for by in (0.96, 1.01))
        assert least * 0.99 <= float(share) / 100 <= most * 1.01, (scheme, share, ns)


def test_keys_and_the_wheel_zoom_and_panels_over_time_zoom_together(folder, opened):
    page = opened(folder / "runs.html")
    response, free = chart(page, "Over time: response"), chart(page, "Over time: free blocks")
    labels = response.locator("svg text").all_inner_texts()
    response.focus()
    page.keyboard.press("+")
    assert span(response) == [25, 75] == span(free)
    assert response.locator("svg text").all_inner_texts() != labels, "the axis says so"
    page.keyboard.press("ArrowRight")
    assert span(response) == [37.5, 87.5]
    page.keyboard.press("0")
    assert span(response) == [0, 100]
    assert response.locator("svg text").all_inner_texts() == labels
    distribution = chart(page, "Response times: distribution")
    box = distribution.bounding_box()
    page.mouse.move(box["x"] + 500, box["y"] + 150)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_timeout(200)
    assert span(distribution) != [0, 100]


def test_it_is_used_by_keyboard(folder, opened):
    page = opened(folder / "runs.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.locator(".chart:not([tabindex='0'])").count() == 0
    for at in range(page.locator(".chart").count()):
        data = page.locator("details.data").nth(at)
        data.locator("summary").focus()
        page.keyboard.press("Enter")
        data.locator("tbody td").first.wait_for()
    # A hidden scheme is hidden in all charts.
    page.get_by_role("button", name="pgc").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".legend [aria-pressed='false']").count() == page.locator(".legend").count()
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_it_prints_light_and_on_several_pages(folder, opened):
    page = opened(folder / "runs.html", theme="dark")
    themes = """addEventListener('beforeprint', () => {
        window.printed = document.documentElement.dataset.theme;
        window.widest = Math.max(...[...document.querySelectorAll('.chart > div > *')].map((e) => e.clientWidth));
    })"""
    page.evaluate(themes)
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF-") and len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3
    assert page.evaluate("window.printed") == "light"
    assert 600 < page.evaluate("window.widest") <= 688, "paper of A4 between margins is 688 wide"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


SIZE = (64, 24)


def seen(page, tmp_path) -> Image.Image:
    """All charts, one below another, in grey at low resolution, without most of their texts."""
    charts = page.locator(".chart")
    strip = Image.new("L", (SIZE[0], SIZE[1] * charts.count()), 255)
    for at in range(charts.count()):
        charts.nth(at).screenshot(path=tmp_path / "chart.png")
        with Image.open(tmp_path / "chart.png") as image:
            inner = image.convert("L").crop((image.width // 12, 0, image.width, image.height * 3 // 4))
            strip.paste(inner.resize(SIZE, Image.Resampling.BOX), (0, at * SIZE[1]))
    return strip.filter(ImageFilter.GaussianBlur(1))


def differences(strip: Image.Image, kept: Image.Image) -> list[float]:
    """The difference of each chart from the kept one, as a share of the kept chart's ink."""
    boxes = [(0, top, SIZE[0], top + SIZE[1]) for top in range(0, kept.height, SIZE[1])]
    apart, ink = ImageChops.difference(strip, kept), ImageChops.invert(kept)
    mean = [(ImageStat.Stat(apart.crop(box)).mean[0], ImageStat.Stat(ink.crop(box)).mean[0]) for box in boxes]
    return [of_apart / of_ink for of_apart, of_ink in mean]


def test_charts_look_as_in_the_picture_that_is_kept(folder, opened, tmp_path):
    """Each chart equals the kept one: UPDATE_PICTURES=1 replaces it.

    Fonts and the edges of lines differ between machines; the positions of lines and the darkness of areas do not.
    Charts are therefore compared at low resolution and blurred, and may differ by a quarter of their ink. The test
    also checks that each chart without its marks differs by more than that.
    """
    page = opened(folder / "runs.html", 1000)
    strip = seen(page, tmp_path)
    if "UPDATE_PICTURES" in os.environ:
        PICTURE.parent.mkdir(exist_ok=True)
        strip.save(PICTURE)
    with Image.open(PICTURE) as kept:
        assert kept.size == strip.size
        assert max(differences(strip, kept)) <= 0.25
        for scheme in ["baseline", "pgc"]:
            page.get_by_role("button", name=scheme).first.click()
        assert min(differences(seen(page, tmp_path), kept)) > 0.25


def test_the_first_table_fits_a_page_of_1280_pixels(folder, program, tmp_path, opened):
    document = json.loads((folder / "runs" / "results.json").read_text())
    for result, name in zip(
        document["results"], ["ggc-proactive-soft-limit", "a-scheme_of.my-own+with-a-name"], strict=True
    ):
        result["scheme"] = name
    (tmp_path / "long.json").write_text(json.dumps(document))
    program("report", "long.json", "-o", "long.html", cwd=tmp_path)
    for path in [folder / "runs.html", tmp_path / "long.html"]:
        table = opened(path, 1280).locator(".scroll.first").first
        assert table.evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_a_page_says_what_it_is_what_was_found_and_draws_what_is_asked(folder, program, opened):
    program("report", "runs", "-o", "asked.html", "--where", "read.p99 < 3 ms", "--title", "Tails & <b>", cwd=folder)
    page = opened(folder / "asked.html")
    assert page.locator("h1").inner_text() == "Tails & <b>" and page.title() == "Tails & <b> - Copyback"
    found = page.locator("#found").inner_text()
    assert found.startswith(
        ("pgc does best: 99.9 % of reads", "No scheme has shorter tails than baseline: 99.9 % of reads")
    )
    assert "read.p99 < 3 ms" in found
    labels = chart(page, "Response times: distribution").locator("text", has_text="read p99 < 3 ms")
    assert labels.count() == 1
    # It has no sentence on another class.
    panel(page, "Response times: distribution").locator("select").select_option("write")
    assert labels.count() == 0


def test_a_page_opens_on_the_number_that_is_asked(folder, program, tmp_path, opened):
    # The limit is beyond all data: the axis reaches it.
    program("report", "runs", "-o", "writes.html", "--where", "write.p99_9 < 20 s", cwd=folder)
    page = opened(folder / "writes.html")
    for title in ("Response times: distribution", "Response times: causes"):
        assert panel(page, title).locator("select").input_value() == "write"
    assert chart(page, "Response times: distribution").locator("text", has_text="write p99.9 < 20 s").count() == 1
    (tmp_path / "s.toml").write_text(
        'schemes = ["baseline", "pgc"]\nrequests = 2000\nworkload = "mixed-70-30"\n'
        "[vary]\ntrigger.soft = [0.05, 0.07]\n"
    )
    program("sweep", "s.toml", "--quiet", cwd=tmp_path)
    program("report", "s.parquet", "-o", "s.html", "--where", "write.p99 < 20 s", cwd=tmp_path)
    page = opened(tmp_path / "s.html")
    assert panel(page, "Cell by cell").locator("select").input_value() == "response.write.p99_ns"
    assert chart(page, "Cell by cell").locator("text", has_text="write p99 < 20 s").count() == 1
    for title in ("Response times: distribution", "Response times: causes"):
        assert panel(page, title).locator("select").last.input_value() == "write"


def test_numbers_that_a_run_does_not_have_are_dashes(program, tmp_path, opened):
    # Reads alone have no write amplification, and trims alone no rate; an array's drives may have no requests.
    (tmp_path / "t.csv").write_text("arrival_us,op,offset_bytes,length_bytes\n0,T,0,65536\n10,T,65536,65536\n")
    words = {
        "reads": ("run", "-w", "random-read", "--requests", "300"),
        "writes": ("run", "-w", "random-write", "--requests", "300"),
        "trims": ("run", "--trace", "t.csv"),
        "array": ("run", "-a", "raid-0", "--trace", "t.csv"),
    }
    for name, asked in words.items():
        program(*asked, "--quiet", "--out", name, cwd=tmp_path)
        program("report", name, "-o", f"{name}.html", cwd=tmp_path)
        page = opened(tmp_path / f"{name}.html")
        headline = panel(page, "Headline").locator("tbody tr").first.inner_text()
        assert (
            "\N{EN DASH}" in headline
            and "null" not in headline
            and "NaN" not in headline
            and "undefined" not in headline
        )
        expected = {"reads": "read", "writes": "write"}.get(name)
        if expected:
            assert panel(page, "Response times: causes").locator("select").input_value() == expected
    # A sweep without reads has no numbers of reads: no dash, no zero, and no whisker without a bar.
    (tmp_path / "s.toml").write_text(
        'schemes = ["baseline", "pgc"]\nrequests = 200\nworkload = "random-write"\nseeds = [1, 2]\n'
        "[vary]\ntrigger.soft = [0.05, 0.07]\n"
    )
    program("sweep", "s.toml", "--quiet", cwd=tmp_path)
    with (tmp_path / "s.csv").open(newline="") as file:
        assert [row["response.read.mean_ns"] for row in csv.DictReader(file)] == [""] * 8
    program("report", "s.parquet", "-o", "s.html", cwd=tmp_path)
    page = opened(tmp_path / "s.html")
    assert "read" not in panel(page, "Headline").locator("thead").inner_text()
    select = panel(page, "Cell by cell").locator("select")
    assert not any(name.startswith("read") for name in select.locator("option").all_inner_texts())
    assert select.input_value().startswith("response.write")


def test_lines_of_a_scheme_are_dashed_as_its_name_is(folder, opened):
    page = opened(folder / "runs.html")
    found = chart(page, "Response times: distribution")
    for scheme, colour, is_dashed in [("baseline", "#D55E00", False), ("pgc", "#0072B2", True)]:
        line = found.locator(f'path[stroke="{colour}"][fill="none"]').first
        assert bool(line.get_attribute("stroke-dasharray")) == is_dashed
        button = panel(page, "Response times: distribution").get_by_role("button", name=scheme, exact=True)
        mark = button.locator("path")
        assert mark.get_attribute("stroke") == colour
        assert mark.get_attribute("stroke-dasharray") == ("10 3" if is_dashed else "")


def test_names_of_schemes_are_texts_and_nothing_else(program, tmp_path, opened):
    name = "a</script><script>alert(1)</script><b>"
    program(*RUNS[:1], "--schemes", "baseline", "--requests", "300", "--quiet", "--out", "runs", cwd=tmp_path)
    document = json.loads((tmp_path / "runs" / "results.json").read_text())
    document["results"][0]["scheme"] = name
    (tmp_path / "named.json").write_text(json.dumps(document))
    program("report", "named.json", "-o", "named.html", cwd=tmp_path)
    page = opened(tmp_path / "named.html")
    assert panel(page, "Headline").locator("tbody th").first.inner_text().splitlines()[0] == name
    assert "b" not in page.evaluate("[...document.querySelectorAll('main b')].map((e) => e.localName)")


def test_a_sweep_has_intervals_and_a_cell_to_choose(program, tmp_path, opened):
    (tmp_path / "s.toml").write_text(
        'schemes = ["baseline", "pgc"]\nrequests = 4000\nseeds = [1, 2]\n[vary]\ntrigger.soft = [0.05, 0.1]\n'
    )
    program("sweep", "s.toml", "--quiet", cwd=tmp_path)
    program("report", "s.parquet", "-o", "s.html", cwd=tmp_path)
    page = opened(tmp_path / "s.html")
    # Fewer requests have no p99.9, which the page draws.
    drawn = dict(page.evaluate(DRAWN))
    assert len(drawn) == 3 and all(marks > 0 for marks in drawn.values()), drawn
    rows = panel(page, "Headline").locator("tbody tr")
    assert rows.count() == 4 and all("±" in text for text in rows.all_inner_texts())
    # A column has one number format.
    titles = panel(page, "Headline").locator("thead th").all_inner_texts()
    cells = [row.locator("th, td").all_inner_texts() for row in rows.all()]
    for title, number in [
        ("read mean", r"(\d\.\d\d|\d\d\.\d|\d\d\d|\d,\d{3}) (ns|µs|ms|s)"),
        ("write amplification", r"\d+\.\d{3}"),
        ("erases", r"[\d,]+"),
    ]:
        for row in cells:
            assert re.fullmatch(f"{number} ± {number}", row[titles.index(title)]), row
    distribution = panel(page, "Response times: distribution")
    before = distribution.locator(".chart svg").inner_html()
    distribution.get_by_label("Cell:").select_option(label="trigger.soft=0.1")
    assert distribution.locator(".chart svg").inner_html() != before


def rows_of(found) -> list[list[str]]:
    """The body of a panel's first table, with the first line of each cell's text, and all lines of its first cell."""
    rows = found.locator("table").first.locator("tbody tr")
    cells = [rows.nth(at).locator("th, td").all_inner_texts() for at in range(rows.count())]
    return [[first, *(text.splitlines()[0] for text in others)] for first, *others in cells]


def test_each_workload_has_its_numbers_and_each_die_its_work_for_whom(program, tmp_path, opened):
    (tmp_path / "two.toml").write_text(
        'schemes = ["baseline"]\n[workloads.reader]\nrequests = 2000\nread_share = 1.0\nshare = 0.5\n'
        'size = { kind = "fixed", mean = "16 KiB" }\narrivals = { kind = "poisson", rate = 2000 }\n'
        "[workloads.writer]\nrequests = 2000\nread_share = 0.0\nshare = 0.5\n"
        'size = { kind = "fixed", mean = "16 KiB" }\narrivals = { kind = "poisson", rate = 2000 }\n'
    )
    program("run", "two.toml", "--scheme", "baseline", "--quiet", "--out", "two", "--out-commands", cwd=tmp_path)
    program("report", "two", "-o", "two.html", cwd=tmp_path)
    report = json.loads((tmp_path / "two" / "results.json").read_text())["results"][0]["report"]
    page = opened(tmp_path / "two.html")
    rows = rows_of(panel(page, "Each workload"))
    assert [row[0].split()[0] for row in rows] == ["reader", "writer"]
    reader, gc = report["workloads"]["reader"], dict(report["workloads"]["reader"]["latency_breakdown"]["read_mean_ns"])
    numbers = [reader["response"]["read"]["mean_ns"], reader["response"]["read"]["p99_ns"], gc["gc"]]
    shown = [nanoseconds(rows[0][at]) for at in (4, 5, 7)]
    assert shown == pytest.approx(numbers, rel=5e-3) and rows[0][8:] == ["0", *["\N{EN DASH}"] * 4]

    found = panel(page, "Die by die")
    found.get_by_label("Drawn:").select_option(label="the host's commands")
    found.locator("details.data summary").click()
    # A program and a read may overlap on a die: the time of their overlap counts once.
    commands = pl.read_parquet(tmp_path / "two" / "commands.parquet").filter(pl.col("source") == "host")
    start_ns = 0
    end_ns = pl.read_parquet(tmp_path / "two" / "time_series.parquet")["time_ns"].max()
    of_die = commands.filter(pl.col("die") == 0).sort("array_start_ns")
    until, busy = start_ns, 0
    for begin, end in of_die.select("array_start_ns", "array_end_ns").iter_rows():
        busy += max(0, min(end, end_ns) - max(begin, until))
        until = max(until, end)
    share = float(rows_of(found)[0][2].split()[0]) / 100
    assert share == pytest.approx(busy / (end_ns - start_ns), rel=0.02)


def test_each_drive_of_an_array_has_its_numbers(program, tmp_path, opened):
    asked = ("--array", "raid-5", "--workload", "mixed-70-30", "--requests", "1500", "--quiet")
    program("compare", *asked, "--schemes", "uncoordinated,ggc-reactive-inclusive", "--out", "array", cwd=tmp_path)
    program("report", "array", "-o", "array.html", cwd=tmp_path)
    results = json.loads((tmp_path / "array" / "results.json").read_text())["results"]
    found = panel(opened(tmp_path / "array.html"), "Each drive")
    rows = found.locator("table").nth(1).locator("tbody tr")
    drives = results[0]["report"]["array"]["drives"]
    assert rows.count() == 2 * len(drives)
    cells = rows.nth(1).locator("td").all_inner_texts()
    assert int(cells[3].replace(",", "")) == drives[1]["erases"]
    assert nanoseconds(cells[6]) == pytest.approx(drives[1]["read"]["mean_ns"], rel=5e-3)


def test_nothing_but_a_page_is_replaced(program, tmp_path):
    program("run", "--requests", "300", "--quiet", "--out", "run", cwd=tmp_path)
    kept = (tmp_path / "run" / "latency_histograms.parquet").read_bytes()
    for name, why in [("grid.parquet", "another ending"), ("grid.html", "is no page")]:
        (tmp_path / name).write_bytes(kept)
        with pytest.raises(subprocess.CalledProcessError) as refused:
            program("report", "run", "-o", name, cwd=tmp_path)
        assert why in " ".join(refused.value.stderr.split())
        assert (tmp_path / name).read_bytes() == kept
    for _ in range(2):
        program("report", "run", "-o", "page.html", cwd=tmp_path)


def test_tables_of_other_runs_are_refused(program, tmp_path):
    for requests in ("300", "400"):
        program("run", "--requests", requests, "--quiet", "--out", requests, cwd=tmp_path)
    for table in ["latency_histograms", "time_series", "gc_events"]:
        shutil.copytree(tmp_path / "300", tmp_path / table)
        shutil.copy(tmp_path / "400" / f"{table}.parquet", tmp_path / table)
        with pytest.raises(subprocess.CalledProcessError) as refused:
            program("report", table, "-o", "page.html", cwd=tmp_path)
        assert "of other runs" in " ".join(refused.value.stderr.split())
