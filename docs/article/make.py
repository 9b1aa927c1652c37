"""Makes docs/article/article.pdf from docs/article/article.md and the pictures that it shows.

    python -m pip install -r requirements-article.txt
    python -m docs.article.make            -> docs/article/article.pdf

pandoc turns the text into typst's markup, and typst sets it.  The pictures of viz/ are drawn again as vectors, with the
text's font.  The same text, records and versions of both give the same bytes: the date is that of CITATION.cff, and
typst's own fonts are used.  The PDF
holds the digest of what it was made from, so that a test knows whether it is as old as its text.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import re
import sys

import matplotlib
from matplotlib import pyplot as plt

import docs.article.show  # noqa: F401  registers the article's pictures
from docs.article.who_and_when import NOT_THE_PAPERS, authors, cited, date_in_words, version
from experiments import register_pictures_and_tables
from experiments.committed import read_committed
from highways.files import ROOT, write_all
from highways.lab.showing.registry import PICTURES
from highways.lab.showing.style import NO_BREAK, house_style

FOLDER = ROOT / "docs" / "article"
TEXT = FOLDER / "article.md"
STYLE = FOLDER / "style.typ"
PDF = FOLDER / "article.pdf"
COMMENT = re.compile(r"<!--.*?-->", re.S)
BYLINE = re.compile(r"<!-- article-byline -->.*?<!-- end -->", re.S)  # the PDF's title block has it
PICTURE = re.compile(r"!\[[^\]]*\]\(\.\./\.\./(viz/\w+\.png)\)")
IMAGE = re.compile(r'image\("/viz/(\w+)\.png"')  # in typst's markup
FONT = "Libertinus Serif"  # as in style.typ
LINK_IN_CLONE = re.compile(r"(?<!!)\[([^\]]+)\]\((?!http)[^)]*\)")  # leads nowhere from a PDF
END_OF_SUMMARY = "\n## Introduction"
REFERENCES = "\n## References"
SMALL = "\n```{=typst}\n#set text(size: 8.5pt)\n```\n"
# from the second page on pictures stand where there is room for them
PAGE_BREAK = """
```{=typst}
#pagebreak()
#show figure.where(kind: image): set figure(placement: auto)
```
"""


def digest(text: str) -> str:
    """The SHA-256 of all that the PDF is made from: text, pictures, style, and what CITATION.cff says."""
    pictures = [ROOT / name for name in PICTURE.findall(text)]
    words = (authors(), NOT_THE_PAPERS, version(), date_in_words())
    parts = [text.encode(), STYLE.read_bytes(), *(part.encode() for part in words)]
    parts += [path.read_bytes() for path in pictures]
    of_each = [hashlib.sha256(part).digest() for part in parts]
    return hashlib.sha256(b"".join(of_each)).hexdigest()


def is_made_from(pdf: bytes, text: str) -> bool:
    return digest(text).encode() in pdf


def title_and_body(text: str) -> tuple[str, str]:
    """The article's title, and its Markdown for the PDF: without comments and links into the clone."""
    heading, _, body = text.partition("\n")
    body = BYLINE.sub("", body)
    body = COMMENT.sub("", body)
    body = LINK_IN_CLONE.sub(r"\1", body)
    body = re.sub(r"(?<=\d) (?=%|\d{3}\b)", NO_BREAK, body)
    body = body.replace("](../../viz/", "](/viz/")
    body = body.replace(REFERENCES, SMALL + REFERENCES)
    before, after = body.split(END_OF_SUMMARY)
    title = heading.removeprefix("# ").replace("*", "")
    return title, before + PAGE_BREAK + END_OF_SUMMARY + after


def markup(text: str) -> str:
    """The whole article in typst's markup."""
    import pypandoc

    title, body = title_and_body(text)
    body = pypandoc.convert_text(body, "typst", format="markdown-auto_identifiers", extra_args=["--wrap=none"])
    body = IMAGE.sub(lambda found: f'image(bytes({in_quotes(as_vector(found[1]))}), format: "svg"', body)
    made_from = digest(text)
    dated = f"Version {version()}, {date_in_words()}, text {made_from[:12]}"
    question, _, subtitle = title.partition("? ")
    given = {
        "title": f"{question}?",
        "subtitle": subtitle,
        "authors": authors(),
        "who": NOT_THE_PAPERS,
        "dated": dated,
        "digest": made_from,
    }
    settings = ", ".join(f"{name}: {in_quotes(value)}" for name, value in given.items())
    return f"{STYLE.read_text(encoding='utf-8')}\n#show: paper.with({settings})\n\n{body}"


def as_vector(name: str) -> str:
    """A picture of viz/ as SVG.  Its letters stay letters, for typst to set."""
    register_pictures_and_tables()
    picture = PICTURES[name]
    settings = {"svg.fonttype": "none", "svg.hashsalt": name}
    file = io.StringIO()
    with house_style(), matplotlib.rc_context(settings):
        figure = picture.draw(*map(read_committed, picture.files))
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return file.getvalue().replace("DejaVu Sans", FONT)


def in_quotes(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def pdf_of(text: str) -> bytes:
    import typst

    year, month, day = map(int, cited("date-released").split("-"))
    dated = datetime.datetime(year, month, day, tzinfo=datetime.timezone.utc)
    source = markup(text).encode()
    return typst.compile(source, root=str(ROOT), ignore_system_fonts=True, timestamp=dated)


def main() -> int:
    try:
        data = pdf_of(TEXT.read_text(encoding="utf-8"))
    except ImportError as error:
        print(f"{error.name} is not installed: python -m pip install -r requirements-article.txt", file=sys.stderr)
        return 2
    write_all({PDF: data})
    print(f"wrote {PDF.relative_to(ROOT).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
