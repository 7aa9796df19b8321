"""Display in notebooks: tables in HTML, pictures of the page, progress."""

import html
import inspect
import re
from html.parser import HTMLParser
from pathlib import Path

import packetscale as ps
import pytest


class Cells(HTMLParser):
    """The cells of a table, row by row, and the names of all elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.elements[-1] in ("td", "th") and self.rows:
            self.rows[-1][-1] += data


@pytest.fixture
def results(small: Path) -> ps.Results:
    return ps.run(ps.Scenario.load(small).set({"run.replications": 3}))


def test_results_match_terminal_table(results: ps.Results) -> None:
    shown = Cells(results._repr_html_()).rows
    printed = [re.split(r" {2,}", line.strip()) for line in str(results).splitlines()[: len(shown)]]
    assert len(shown) == 5 and shown == printed
    assert "±" in "".join(shown[1])


def test_table_shows_first_rows_and_length(results: ps.Results) -> None:
    table = results.series
    shown = Cells(table._repr_html_()).rows
    assert shown[0] == table.columns
    assert shown[1:] == [line.split(",") for line in table.to_csv().splitlines()[1:11]]
    assert f"series: {len(table)} rows, of which 10 are shown" in table._repr_html_()
    assert f"runs: {len(results.runs)} rows" in results.runs._repr_html_()


def test_html_has_no_own_colours(results: ps.Results) -> None:
    shown = results._repr_html_() + results.runs._repr_html_()
    assert not re.search(r"color|background|#[0-9a-f]{3}", shown)


def test_markup_in_label_is_escaped(small: Path) -> None:
    text = small.read_text().replace('[compare]\ncontrollers = ["cubic", "newreno"]\n', "")
    text = text.replace('"cubic"', '{ kind = "cubic", label = "<b>one</b>" }')
    results = ps.run(ps.Scenario.from_text(text, small))
    shown = results._repr_html_() + "".join(results.table(name)._repr_html_() for name in results.tables)
    assert "&lt;b&gt;one&lt;/b&gt;" in shown
    assert "b" not in Cells(shown).elements


def test_picture_is_self_contained_page(results: ps.Results, tmp_path: Path) -> None:
    picture = results.plot("delay")
    picture.save(tmp_path / "delay.html")
    page = (tmp_path / "delay.html").read_text()
    assert re.findall(r'<figure data-figure="([^"]+)"', page) == ["delay"]
    assert not re.search(r'(src|href)="(?!data:|#)', page.split("<script")[0])
    shown = picture._repr_html_()
    within = re.fullmatch(r'<iframe title="delay" srcdoc="([^"]*)".*</iframe>', shown, re.S)
    assert within and html.unescape(within[1]) == page


def test_pictures_match_page(results: ps.Results, tmp_path: Path) -> None:
    results.report(tmp_path / "page.html")
    on_page = re.findall(r'<figure data-figure="([^"]+)"', (tmp_path / "page.html").read_text())
    assert sorted(results.pictures) == sorted(on_page)
    assert results.plot().name == results.pictures[0]


def test_unknown_picture_lists_known_ones(results: ps.Results) -> None:
    with pytest.raises(ps.InputError, match="found \"jitter\"; expected one of .*delay.*") as raised:
        results.plot("jitter")
    assert all(name in str(raised.value) for name in results.pictures)


def test_progress_never_repeats_itself(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ps.run(ps.Scenario.load(small), progress=True)
    said = capfd.readouterr().err.strip("\r\n").split("\r")
    assert said[-1] == "8.0 of 8 runs"
    assert all(one != next for one, next in zip(said, said[1:]))


@pytest.mark.parametrize("event", [ps.Start, ps.Left, ps.Ack, ps.Lost, ps.Marks, ps.Expired, ps.Undone])
def test_event_fields_have_docstrings(event: type) -> None:
    fields = [(name, field) for name, field in vars(event).items() if inspect.isgetsetdescriptor(field)]
    assert fields and not [name for name, field in fields if len(field.__doc__ or "") < 10]
