"""Makes a folder that any web server serves, and that works from disk as well.

    python -m pages.make_site FOLDER

The folder holds the browser pages, the documents, the questions' pages, the notebooks and the article
as HTML, the results as one table, and every file that one of these links to.  No page needs the
network.  Needs requirements-site.txt.

Markdown becomes HTML, and so does a notebook with its outputs, without being run.  A program or
another text becomes a page that shows it.  Pictures are made small, and records are packed.  The folder is
written whole or not at all.  One that holds anything but a site that this command made is refused.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import importlib.util
import io
import itertools
import os
import posixpath
import re
import shutil
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from highways.commands import Parser, path_name, run_command, run_program
from highways.files import ROOT, InputError, json_bytes, printable, read_json
from highways.lab.showing.pages import pages as markdown_pages
from highways.processes import interrupts_deferred
from pages.parts import ICON, STYLE, file_of, page_of

PARTS = ROOT / "pages" / "site"
STYLESHEET = "site.css"
ICON_FILE = "icon.png"
FILES = "files.json"  # names all other files of a site
HOME = "README.md"
LICENSE = "LICENSE"
FRONT = "pages/index.html"  # to which the address of the site leads
PICTURE = "viz/how_deep.png"  # that others show beside a link to a page
# What a site holds beside the Markdown pages, whether or not a page links to it.
FIRST = (
    LICENSE,
    "CITATION.cff",
    "pages/*.html",
    PICTURE,
    "docs/article/*.md",
    "docs/article/*.pdf",
)
NAVIGATION = {  # as in pages/shared/menu.html
    "Highway networks": FRONT,
    "See": FRONT,
    "Read": "docs/article/article.md",
    "Check": "pages/claims.html",
    "Learn": "learn/README.md",
}
BESIDE_A_PAGE = (HOME, "pages/README.md")  # in their folders index.html is another page
REDIRECT = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title>\
<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">{title}</a></html>
"""
COPIED = (".html", ".pdf")  # what a browser shows as it is
PICTURES = (".png", ".gif")  # what becomes WebP
PACKED = (".json", ".jsonl")  # what readers load down: with gzip a fifth of the size
COLORS = 128  # of a picture
NEEDED = "markdown_it", "mdit_py_plugins", "latex2mathml", "pygments"  # requirements-site.txt
SAID = "text", "code_inline", "math_inline"  # the kinds of Markdown's parts that have words of their own
FEW = 4  # headings of a page that needs no list of them
LONGEST_DESCRIPTION = 160  # in letters; what search engines show
# what a reader of Markdown does not see; code is matched first and stays
COMMENT = re.compile(r"(^```.*?^```$|`[^`\n]+`)|<!--.*?-->", re.M | re.S)
# a link in a browser page, where its programs write it, too
LINK = re.compile(r"""(href[=:] ?["'`])([^"'`#:]+\.(?:md|py|ipynb|jsonl?))(?=["'`#])""")
TEXT_FILE = re.compile(r"\s*\((?:a )?(?:text file|notebook)\)")  # what the browser pages say of links


class Page(NamedTuple):
    """What becomes a page of the site."""

    title: str
    description: str
    content: str  # HTML
    headings: list[tuple[str, str]]  # (anchor, text) of those of the second level
    links: list[str]  # the files of the repository that it links to


def missing() -> str:
    """A package that the command needs and that is not installed; "" if all are."""
    return next((package for package in NEEDED if not importlib.util.find_spec(package)), "")


# ---- Names and links -----------------------------------------------------------------------------


def served_as(name: str) -> str:
    """The name in the site of a file of the repository."""
    path = Path(name)
    if path.name == "README.md" and name not in BESIDE_A_PAGE:
        return (path.parent / "index.html").as_posix()
    if path.suffix in (".md", ".ipynb"):
        return path.with_suffix(".html").as_posix()
    if path.suffix in PACKED:
        return f"{name}.gz"
    if path.suffix in PICTURES and name != PICTURE:
        return path.with_suffix(".webp").as_posix()
    return name if path.suffix in COPIED or name == PICTURE else f"{name}.html"


def link_to(name: str, page: str) -> str:
    """The link from a page to another file; both are named as in the repository."""
    return posixpath.relpath(served_as(name), posixpath.dirname(served_as(page)) or ".")


def target_of(link: str, page: str) -> str:
    """The file of the repository that a page links to; "" for a place on the page itself or in the
    network."""
    path = link.partition("#")[0]
    if not path or re.match(r"\w+:", path):
        return ""
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if name.startswith("..") or not (ROOT / name).is_file():
        raise InputError(f"{page} links to {path}, and there is no such file")
    return name


def slug(heading: str) -> str:
    """The anchor that a heading has on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# ---- Pages ---------------------------------------------------------------------------------------


def code_box(text: str, language: str = "", kind: str = "code") -> str:
    """A box that scrolls where its lines are too long, with the colours of this language."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, Keyword, Name, Operator, String
    from pygments.util import ClassNotFound

    # elements with short names: they are a fifth of such a page
    styled = {String.Doc: "i", Comment: "i", String: "u", Keyword: "b", Operator.Word: "b"}
    styled |= {Name.Function: "b", Name.Class: "b"}
    try:
        shown = ""
        for token, value in get_lexer_by_name(language, stripnl=False).get_tokens(text):
            element = next((look for group, look in styled.items() if token in group), "")
            words = html.escape(value, quote=False)
            shown += f"<{element}>{words}</{element}>" if element else words
    except ClassNotFound:
        shown = html.escape(text)
    return f'<pre class="{kind}" tabindex="0"><code>{shown.rstrip()}</code></pre>\n'


@cache
def markdown():
    from latex2mathml.converter import convert
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def formula(text: str, how: dict) -> str:
        if how["display_mode"]:
            return f'<div class="wide" tabindex="0">{convert(text, display="block")}</div>'
        return convert(text)

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, renderer=formula, allow_space=False)
    rules = {
        "table_open": lambda *_: '<div class="wide" tabindex="0"><table>\n',
        "table_close": lambda *_: "</table></div>\n",
        "code_block": lambda self, tokens, i, *_: code_box(tokens[i].content),
        "fence": lambda self, tokens, i, *_: code_box(tokens[i].content, tokens[i].info.strip()),
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def without_comments(text: str) -> str:
    """Markdown without its comments, such as the marks of numbers."""
    return COMMENT.sub(lambda found: found[1] or "", text)


def text_of(inline) -> str:
    """What a heading or a paragraph says, without its marks and links."""
    words = [child.content if child.type in SAID else " " for child in inline.children]
    return " ".join("".join(words).split())


def markdown_page(text: str, name: str) -> Page:
    """The page of a Markdown file of this name."""
    tokens = markdown().parse(without_comments(text))
    headings = with_anchors(tokens)
    links = lead_to_html(tokens, name)
    title = headings[0][2] if headings else name
    second = [(anchor, heading) for tag, anchor, heading in headings if tag == "h2"]
    content = markdown().renderer.render(tokens, markdown().options, {})
    return Page(title, shortened(first_paragraph(tokens)), content, second, links)


def with_anchors(tokens) -> list[tuple[str, str, str]]:
    """Gives every heading its anchor; returns (tag, anchor, text) of all headings."""
    found = []
    slugs = []
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        heading = text_of(inline)
        anchor = slug(heading)
        n_before = slugs.count(anchor)
        slugs.append(anchor)
        if n_before:
            anchor = f"{anchor}-{n_before}"
        opening.attrSet("id", anchor)
        found.append((opening.tag, anchor, heading))
    return found


def lead_to_html(tokens, name: str) -> list[str]:
    """Makes the links and pictures of a page of this name lead to files of the site; returns what
    these files are in the repository."""
    found = []
    for token in tokens:
        for child in token.children or ():
            if child.type not in ("link_open", "image"):
                continue
            attribute = "href" if child.type == "link_open" else "src"
            link = child.attrGet(attribute)
            target = target_of(link, name)
            if target:
                found.append(target)
                _, hash_sign, anchor = link.partition("#")
                child.attrSet(attribute, link_to(target, name) + hash_sign + anchor)
    return found


def first_paragraph(tokens) -> str:
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "paragraph_open":
            return text_of(inline)
    return ""


def shortened(text: str) -> str:
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[:LONGEST_DESCRIPTION].rpartition(" ")[0] + " ..."


def notebook_page(name: str) -> Page:
    """A notebook with its outputs: printed text and pictures."""
    notebook = read_json(ROOT / name)
    parts = []
    pages = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            pages.append(markdown_page(source, name))
            parts.append(pages[-1].content)
            continue
        parts.append(code_box(source, "python"))
        parts += [output_part(output) for output in cell["outputs"]]
    headings = [heading for page in pages for heading in page.headings]
    links = [link for page in pages for link in page.links]
    return Page(pages[0].title, pages[0].description, "".join(parts), headings, links)


def output_part(output: dict) -> str:
    """What a cell has printed or drawn."""
    if output["output_type"] == "stream":
        return code_box("".join(output["text"]), kind="printed")
    data = output["data"]
    if "image/png" in data:
        small = made_small(base64.b64decode(data["image/png"]))
        picture = base64.b64encode(small).decode()
        return f'<p><img alt="What the lines above draw" src="data:image/webp;base64,{picture}"></p>\n'
    return code_box("".join(data["text/plain"]), kind="printed")


def made_small(picture: bytes, form: str = "webp") -> bytes:
    """A picture in fewer colours, or a film, in a quarter of the bytes."""
    from PIL import Image, ImageSequence

    frames = []
    times = []
    with Image.open(io.BytesIO(picture)) as image:
        for frame in ImageSequence.Iterator(image):
            frames.append(frame.convert("RGB"))
            times.append(frame.info.get("duration", 0))
    first, *others = frames
    options = {"save_all": True, "append_images": others, "duration": times, "loop": 0, "method": 4} if others else {}
    if not others:
        first = first.quantize(COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    file = io.BytesIO()
    first.save(file, form, lossless=True, optimize=True, **options)
    return file.getvalue()


def text_page(name: str) -> Page:
    """A page that shows a program or another text."""
    text = (ROOT / name).read_text(encoding="utf-8")
    language = {".py": "python", ".cff": "yaml"}.get(Path(name).suffix, "")
    content = f"<h1>{html.escape(name)}</h1>\n{code_box(text, language)}"
    return Page(name, f"The text of {name}", content, [], [])


def navigation(page: str) -> list[str]:
    """Links from a page to the chief pages."""
    links = []
    for label, name in NAVIGATION.items():
        if (ROOT / name).exists():
            here = ' aria-current="page"' if name == page else ""
            links.append(f'<a href="{link_to(name, page)}"{here}>{label}</a>')
    return links


def contents(page: Page) -> str:
    """A list of the headings, where there are many."""
    if len(page.headings) < FEW:
        return ""
    items = [f'<li><a href="#{anchor}">{html.escape(text)}</a></li>' for anchor, text in page.headings]
    return f'<nav class="contents" aria-label="On this page"><ul>{"".join(items)}</ul></nav>'


def whole_page(page: Page, name: str) -> bytes:
    """The HTML of a page that shows the file of this name."""
    folder = posixpath.dirname(served_as(name)) or "."
    text = page_of(PARTS, (), {
        "title": html.escape(page.title),
        "description": html.escape(page.description),
        "stylesheet": posixpath.relpath(STYLESHEET, folder),
        "icon": posixpath.relpath(ICON_FILE, folder),
        "picture": posixpath.relpath(PICTURE, folder),
        "navigation": "\n".join(navigation(name)),
        "contents": contents(page),
        "file": html.escape(name),
        "license": link_to(LICENSE, name),
        "content": page.content,  # last: it may hold what looks like a mark
    })  # fmt: skip
    return text.encode()


def browser_page(name: str) -> tuple[bytes, list[str]]:
    """A page that runs in the browser, with links to HTML; and the files that it links to."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = text.replace('article.pdf" title="(a PDF)"', 'article.md"')  # a site has it as a page
    links = [target_of(link, name) for link in re.findall(r'<a href="([^"]+)"', text)]
    text = LINK.sub(lambda found: found[1] + link_to(target_of(found[2], name), name), text)
    text = TEXT_FILE.sub("", text)
    return text.encode(), [link for link in links if link]


def made_of(name: str) -> tuple[bytes, list[str]]:
    """The bytes that a file of the repository has in the site, and the files that it links to."""
    suffix = Path(name).suffix
    if suffix == ".html":
        return browser_page(name)
    if suffix in PICTURES:
        return made_small((ROOT / name).read_bytes(), "png" if name == PICTURE else "webp"), []
    if suffix in PACKED:
        return gzip.compress((ROOT / name).read_bytes(), mtime=0), []
    if suffix in COPIED:
        return (ROOT / name).read_bytes(), []
    if suffix == ".md":
        page = markdown_page((ROOT / name).read_text(encoding="utf-8"), name)
    elif suffix == ".ipynb":
        page = notebook_page(name)
    else:
        page = text_page(name)
    return whole_page(page, name), page.links


def whole_site() -> dict[str, bytes]:
    """{name in the site: bytes} of the first pages, and of all that they link to, directly or not."""
    files = {STYLESHEET: file_of(PARTS / STYLESHEET, (STYLE,), {}).encode()}
    waiting = [page.relative_to(ROOT).as_posix() for page in markdown_pages()]
    for pattern in FIRST:
        waiting += [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)]
    while waiting:
        name = waiting.pop()
        if served_as(name) not in files:
            files[served_as(name)], links = made_of(name)
            waiting += links
    files[ICON_FILE] = base64.b64decode(ICON.partition(",")[2])
    files["index.html"] = REDIRECT.format(title="How deep?", address=FRONT).encode()
    files[FILES] = json_bytes(sorted(files))
    return files


# ---- The folder ----------------------------------------------------------------------------------


def check_folder_replaceable(folder: Path) -> None:
    """Raises InputError unless there is nothing, an empty folder, or a site that this command made
    and nobody has added a file to."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: choose another name")
    found = [
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()
    ]
    if not found:
        return
    if FILES not in found:
        raise InputError(f"{folder} holds files and is not a site that this command made: choose another name")
    others = sorted(set(found) - set(read_json(folder / FILES)) - {FILES})
    if others:
        raise InputError(f"{folder} holds {others[0]}, which is not part of the site: move it, or choose another name")


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Writes a folder of these files beside the one that it then replaces."""
    mark = os.urandom(8).hex()
    new = folder.with_name(f".{folder.name}.{mark}.new.tmp")
    old = folder.with_name(f".{folder.name}.{mark}.old.tmp")
    try:
        for name, data in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with interrupts_deferred():
            if folder.exists():
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        for left in (new, old):
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(left)


def make_site(folder: Path, save) -> None:
    if missing():
        raise InputError(f"{missing()} is not installed: python -m pip install -r requirements-site.txt")
    folder = Path(os.path.realpath(folder))
    check_folder_replaceable(folder)
    files = whole_site()
    write_folder(folder, files)
    size = sum(map(len, files.values()))
    print(f"wrote {printable(folder / 'index.html')} and {len(files) - 1} other files, {size / 1e6:.0f} MB", flush=True)


def main(argv=None) -> int:
    parser = Parser(description="Make a folder of HTML that any web server serves, and that works from disk as well.")
    parser.add_argument("folder", metavar="FOLDER", type=path_name, help="what to make; a site made before is replaced")
    return run_command(parser.prog, partial(make_site, Path(parser.parse_args(argv).folder)))


if __name__ == "__main__":
    run_program(main)
