"""The site: every link leads somewhere, every page has what it needs, and a folder is replaced whole or not at all."""

import html
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT

from pages import make_site, screenshots
from pages.browser import browser_only, complaints, shown, together, violations

MISSING = make_site.missing()
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"{MISSING} is not installed: see requirements-site.txt"),
    together,  # the site is made once
]


class Parts(HTMLParser):
    """What a page has: its links, what it loads, and the places that others may link to."""

    def __init__(self, text: str):
        super().__init__()
        self.links = []
        self.anchors = {""}
        self.resources = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" or "src" in values:
            self.resources.append(values.get("src") or values["href"])


@pytest.fixture(scope="module")
def site() -> dict[str, bytes]:
    """The whole site, whose programs have no colours, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_site, "code_box", lambda text, *_, **kind: f"<pre>{html.escape(text)}</pre>")
        return make_site.whole_site()


@pytest.fixture(scope="module")
def parts(site) -> dict[str, Parts]:
    return {name: Parts(data.decode()) for name, data in site.items() if name.endswith(".html")}


def test_every_link_leads_somewhere(site, parts):
    broken = []
    n_links = 0
    for name, page in parts.items():
        for link in page.links + page.resources:
            if re.match("https?:|data:", link):
                continue
            n_links += 1
            path, _, anchor = link.partition("#")
            anchor = anchor.partition("&")[0]  # a scene, without the state of its controls
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            has_anchors = target.endswith(".html")
            is_there = target in site and (not has_anchors or anchor in parts[target].anchors)
            if not is_there:
                broken.append(f"{name}: {link}")
    assert broken == []
    assert n_links > 2000


def test_no_page_needs_the_network(site, parts):
    for name, page in parts.items():
        for resource in page.resources:
            assert not re.match("https?:|//", resource), name
    assert b"url(" not in site["site.css"]


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.html")), ids=lambda path: path.name)
def test_a_browser_page_loads_nothing_else(path):
    """Nor does it hold a mark /*{NAME}*/, which its program should have replaced."""
    page = path.read_text(encoding="utf-8")
    programs = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.S)
    without_names = programs.replace('"http://www.w3.org/2000/svg"', "")  # it names SVG, and is not loaded
    assert re.findall(r"https?:|\bsrc(?:set)?\s*=(?!\"data:)|@import|url\((?!#)|fetch\(|/\*\{", without_names) == []


def test_markdown_is_shown_as_github_shows_it():
    text = (
        "# A `b` c!\n\nFirst <!-- a.b -->1<!-- end --> and `<!-- kept -->`.\n\n"
        "## Twice\n\n## Twice\n\n| a |\n| --- |\n| b |\n\n[it](how_it_works.md#the-net)\n\n"
        "```python\n1 < 2\n```\n\n$$y = H$$\n\n$x$ costs $5.\n"
    )
    page = make_site.markdown_page(text, "docs/new.md")
    assert page.title == "A b c!"
    assert page.description == "First 1 and <!-- kept -->."
    assert page.headings == [("twice", "Twice"), ("twice-1", "Twice")]
    assert page.links == ["docs/how_it_works.md"]
    assert 'id="a-b-c"' in page.content
    assert '<a href="how_it_works.html#the-net">it</a>' in page.content
    assert "<td>b</td>" in page.content
    assert "&lt;" in page.content
    assert "a.b" not in page.content
    assert page.content.count("<math") == 2
    assert "costs $5." in page.content


@pytest.mark.parametrize("link", ["missing.md", "../../outside.md"])
def test_a_link_that_leads_nowhere_is_named(link):
    with pytest.raises(make_site.InputError):
        make_site.markdown_page(f"[it]({link})", "docs/new.md")


# ---- The folder ----------------------------------------------------------------------------------

SMALL = {"index.html": b"one", "docs/a.html": b"two", make_site.FILES: b'["docs/a.html", "index.html"]\n'}


def held(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def makes_small(monkeypatch):
    monkeypatch.setattr(make_site, "whole_site", lambda: SMALL)


@pytest.mark.usefixtures("makes_small")
def test_a_site_is_replaced_whole(tmp_path):
    folder = tmp_path / "site"
    assert make_site.main([str(folder)]) == 0
    assert held(folder) == SMALL
    (folder / "docs" / "a.html").unlink()  # what is missing stops nobody
    (folder / "index.html").write_text("older")
    assert make_site.main([str(folder)]) == 0
    assert held(folder) == SMALL
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.usefixtures("makes_small")
def test_what_the_command_did_not_make_is_refused(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes").write_text("mine")
    assert make_site.main([str(folder)]) == 2
    assert make_site.main([str(folder / "notes")]) == 2
    assert held(folder) == {"notes": b"mine"}

    site = tmp_path / "site"
    assert make_site.main([str(site)]) == 0
    (site / "docs" / "CNAME").write_text("mine")
    assert make_site.main([str(site)]) == 2
    assert held(site) == {**SMALL, "docs/CNAME": b"mine"}


@pytest.mark.usefixtures("makes_small")
def test_a_site_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    assert make_site.main([str(folder)]) == 0
    rename = Path.rename

    def fails(path, target):
        if path.name.endswith(".new.tmp"):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    assert make_site.main([str(folder)]) == 2
    assert held(folder) == SMALL
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.thorough
@browser_only
@together
def test_in_a_browser_every_page_fits_a_phone_and_is_accessible(parts, tmp_path, opened):
    make_site.write_folder(tmp_path / "site", make_site.whole_site())
    screenshots.look_as(opened, 400, 800)
    faults = []
    for name in parts:
        opened.get((tmp_path / "site" / name).as_uri())
        width = shown(opened, "document.documentElement.scrollWidth")
        if width > 400:
            faults.append(f"{name} is {width} pixels wide")
        if name.endswith("index.html") or name.startswith(("docs/", "learn/", "pages/")):
            faults += [f"{name}: {rule}" for rule in violations(opened)]
    assert faults == []
    assert complaints(opened) == []
