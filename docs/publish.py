"""Makes everything that follows from the measurements, and writes what differs from the files.

    python -m docs.publish            writes, and names each file that it wrote
    python -m docs.publish --check    changes nothing; names each file that it would write

That is, in this order:

- the digest of a new run*.json, when what it holds has been checked: nothing else gives it one
- the summaries in experiments/results/*.json, from the trials in them
- experiments/results/claims.json, the verdicts on all claims
- the numbers between the marks of the pages (highways/lab/showing/pages.py)
- the pictures in viz/, highway_networks.gif, pages/index.html, pages/explorer.html and
  pages/claims.html
- the pictures that a browser takes of the first two pages; without a browser they stay, and are named

JSON and Markdown are made and compared.  Pictures and browser pages take longer, and their bytes depend on the
versions of matplotlib and others.  Of each, viz/digests.json has the digest of what it was made from (its data, and
the syntax of the code that draws it, without words) and the digest of the file.  Those with another digest are made
anew.  Each is written as soon as it is made: after an interrupt the same command goes on with the next one.  A page
that holds pictures of itself is made, they are taken of it if anything else in it has changed, and it is made again.

This program stands above all that it publishes, and nothing imports it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import benchmarks.records.show
import benchmarks.show
import docs.article.show
from experiments import all_questions, committed, index, register_pictures_and_tables
from experiments.judging import judged_record, keeping_what_agrees, read_results, with_summary
from experiments.study import COMMANDS
from experiments.table1 import protocols_table
from highways.commands import Parser, first_line, run_command, run_program
from highways.files import ROOT, InputError, Lock, json_bytes, read_json
from highways.lab.showing import ledger, registry, trained_nets
from highways.lab.showing.pages import changed_pages
from highways.lab.showing.style import drawing, house_style, picture_bytes
from highways.records import RESULTS, RUN, load_results, path_of, record_bytes
from highways.trial_code import code_of, source_of
from pages import screenshots
from pages.show import BROWSER_PAGES, BrowserPage

PUBLISH = "python -m docs.publish"
# modules that register pictures and tables when they are imported, beside the rooms' show.py
SHARED = (benchmarks.show, benchmarks.records.show, docs.article.show, index, ledger, protocols_table, trained_nets)
LEDGER = "experiments/results/claims.json"
DIGESTS = "viz/digests.json"
VISUALIZE = "visualize_highway_networks.py"
GIF = "make_highway_networks_gif.py"
CARD = {  # {picture that VISUALIZE draws: the record it is drawn from}
    "learning_curves": "run.json",
    "plain_loss_collapse": "run.json",
    "T_gate_evolution": "run.json",
    "T_gate_final": "run.json",
    "depth_sweep": "run_sweep.json",
    "seeds": "run_seeds.json",
}
SHOT = re.compile(rb"data:image/webp;base64,[^\"]*")  # a picture of a page in the page
MACHINE = ("digest", "seconds", "wallclock_sec")  # what differs when a measurement is repeated, beside "env"
SHOWN_OF_ENV = ("processor", "data_sets")  # what pictures and pages say of it


# ---- JSON and Markdown --------------------------------------------------------------------------


def runs_without_digest() -> dict[str, bytes]:
    """The run*.json that highway_networks.py wrote since the last publish, checked and with their digests."""
    found = {}
    for name in COMMANDS:
        path = ROOT / path_of(name)
        if not path.exists():
            continue
        record = read_json(path)
        if "digest" not in record:
            found[path_of(name)] = record_bytes(record, RUN)
            committed.as_evidence(name, record)
    return found


def current_records() -> dict[str, dict]:
    """{file: record} of the questions' results and of the ledger, as they should be."""
    results = {}
    judged_by = read_results(ROOT)
    for question in all_questions():
        path = ROOT / path_of(question.name)
        if question.run is None or not path.exists():
            continue
        record = judged_by.get(question.name) or committed.as_evidence(question.name, load_results(path))
        record = with_summary(question, record)
        results[path_of(question.name)] = record
        if question.name in judged_by:
            judged_by[question.name] = record
    return {**results, LEDGER: keeping_what_agrees(ROOT / LEDGER, judged_record(judged_by))}


def reader(records: dict[str, dict]):
    """Returns read(file), which gives the JSON of a file of the repository, or the record that will
    replace it."""

    @functools.cache
    def read(name: str) -> dict:
        return records[name] if name in records else committed.read_committed(name)

    return read


def is_written(name: str, record: dict) -> bool:
    """Whether the file holds this record.  To write it as text and compare bytes would take ten times as long."""
    path = ROOT / name
    return path.exists() and read_json(path) == record


def differing(files: dict[str, bytes]) -> dict[str, bytes]:
    """Those of the files that are missing, or have other bytes."""
    found = {}
    for name, data in files.items():
        path = ROOT / name
        if not path.exists() or path.read_bytes() != data:
            found[name] = data
    return found


# ---- Pictures and browser pages -----------------------------------------------------------------


class Product(NamedTuple):
    """A picture or a browser page."""

    name: str  # of its file in the repository
    made_from: str  # the digest of its data and its code
    make: Callable[[], bytes]
    lacks: str = ""  # what is needed to make it, and is missing here


def products(read) -> Iterator[Product]:
    """All pictures that matplotlib draws, the GIF, the browser pages, and the pictures of these.

    What is made from another file is asked for after that."""
    for name, picture in registry.PICTURES.items():
        if all((ROOT / source).exists() for source in picture.files):  # a question may await its results
            yield product_of_picture(name, picture, read)
    for name, source in CARD.items():
        made_from = digest_of_sources(ROOT / VISUALIZE, [read(source)])
        yield Product(f"viz/{name}.png", made_from, partial(draw_for_card, name))
    yield Product("highway_networks.gif", digest_of_sources(ROOT / GIF, [read("run.json")]), make_gif)
    for page in BROWSER_PAGES:
        yield product_of_page(page, read)
        if page.shots:
            for shot in page.shots:
                yield photograph(shot, screenshots.INDEX_PAGE, partial(screenshots.picture_of_scene, shot.stem))
            yield product_of_page(page, read)  # again: it shows these pictures
    for path, picture in screenshots.PICTURES.items():
        yield photograph(path, picture.page, partial(screenshots.picture_of, picture))


def product_of_picture(name: str, picture: registry.Picture, read) -> Product:
    program = Path(sys.modules[picture.draw.__module__].__file__)
    records = [read(source) for source in picture.files]
    return Product(f"viz/{name}.png", digest_of_sources(program, records), partial(draw, picture, records))


def product_of_page(page: BrowserPage, read) -> Product:
    folder = page.program.PARTS
    parts = [folder / part for part in ("page.html", *page.program.PAGE_PARTS)]
    shots = [shot for shot in page.shots if shot.exists()]
    records = [read(source) for source in page.sources]
    program = Path(page.program.__file__)
    made_from = digest_of_sources(program, records, [*parts, *page.files, *shots])
    return Product(f"pages/{folder.name}.html", made_from, partial(bytes_of, page))


def digest_of_sources(program: Path, records: list[dict], files: Iterable[Path] = ()) -> str:
    """The digest of what is made from: the code that makes it, what of records is repeatable, and other files."""
    of_records = [as_bytes(repeatable(record)) for record in records]
    contents = [content_of(file) for file in files]
    return digest([as_bytes(code_of(program)), *of_records, *contents])


def content_of(path: Path) -> bytes:
    """What a page is made from in a file: the syntax of a program, without words; all of another."""
    return source_of(path).checksum.encode() if path.suffix == ".py" else path.read_bytes()


def bytes_of(page: BrowserPage) -> bytes:
    return page.program.whole_page().encode()


def photograph(path: Path, page: Path, take: Callable[[], bytes]) -> Product:
    """A picture that a browser takes of a page."""
    program = content_of(Path(screenshots.__file__))
    shown = SHOT.sub(b"", page.read_bytes()) if page.exists() else b""
    return Product(path.relative_to(ROOT).as_posix(), digest([program, shown]), take, screenshots.missing())


def draw(picture: registry.Picture, records: list[dict]) -> bytes:
    with house_style(), drawing(" or ".join(picture.files), picture.draw.__name__):
        return picture_bytes(picture.draw(*records))


def draw_for_card(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        run_drawing(VISUALIZE, "--only", name, "--out", folder)
        return (Path(folder) / f"{name}.png").read_bytes()


def make_gif() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "highway_networks.gif"
        run_drawing(GIF, "--out", out)
        return out.read_bytes()


def run_drawing(program: str, *words) -> None:
    """Runs a drawing program of the card, which nothing here imports."""
    process = subprocess.run([sys.executable, ROOT / program, *words], capture_output=True, text=True, check=False)
    if process.returncode:
        raise InputError(f"{program} failed: {process.stderr.strip()}")


def repeatable(value):
    """What a record says, without what differs when the measurement is repeated on the same machine."""
    if isinstance(value, dict):
        said = {name: repeatable(entry) for name, entry in value.items() if name not in MACHINE}
        if "env" in said:
            said["env"] = {name: said["env"].get(name) for name in SHOWN_OF_ENV}
        return said
    if isinstance(value, list):
        return [repeatable(entry) for entry in value]
    return value


def as_bytes(value) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def digest(parts: list[bytes]) -> str:
    """The SHA-256 of these parts, in this order."""
    of_each = [hashlib.sha256(part).digest() for part in parts]
    return hashlib.sha256(b"".join(of_each)).hexdigest()


def read_digests() -> dict[str, dict]:
    """What viz/digests.json holds; nothing if it cannot be read, as after a merge with conflicts."""
    try:
        return read_json(ROOT / DIGESTS)
    except InputError:
        return {}


def digests_file(digests: dict[str, dict]) -> bytes:
    return json_bytes(dict(sorted(digests.items())))


def why_stale(product: Product, digests: dict[str, dict]) -> str:
    """Why a product must be made anew; "" if it need not."""
    path = ROOT / product.name
    if not path.exists():
        return "is missing"
    if product.name not in digests:
        return f"is not in {DIGESTS}"
    entry = digests[product.name]
    if entry["made_from"] != product.made_from:
        return "was made from other data or by other code"
    if entry["file"] != hashlib.sha256(path.read_bytes()).hexdigest():
        return "is not the file that was made"
    return ""


# ---- The command --------------------------------------------------------------------------------


def make_anew(check: bool, save) -> int:
    """Writes what differs, or only names it; returns the exit status."""
    register_pictures_and_tables()
    new_runs = runs_without_digest()
    if new_runs and check:
        return name_differences(new_runs, {})
    n_written = write(new_runs, save)
    records = current_records()
    read = reader(records)
    texts = {name: record_bytes(record, RESULTS) for name, record in records.items() if not is_written(name, record)}
    for page, text in changed_pages(read).items():
        texts[page.relative_to(ROOT).as_posix()] = text
    if not check:
        n_written += write(texts, save) + make_products(read, save)
        if not n_written:
            print("nothing differs: nothing was written")
        return 0
    digests = read_digests()
    reasons = {product.name: why_stale(product, digests) for product in products(read)}
    if not any(reasons.values()):
        texts |= differing({DIGESTS: digests_file({name: digests[name] for name in reasons})})
    return name_differences(texts, reasons)


def make_products(read, save) -> int:
    """Makes the pictures and pages that are stale; returns how many files were written."""
    digests = read_digests()
    names = set()
    n_written = 0
    for product in products(read):
        names.add(product.name)
        why = why_stale(product, digests)
        if why and product.lacks:
            print(f"{product.name} {why}, and stays as it is: there is no {product.lacks}")
        elif why:
            n_written += make_product(product, digests, save)
    known = {name: entry for name, entry in digests.items() if name in names}  # without the pictures that are no more
    n_written += write(differing({DIGESTS: digests_file(known)}), save)
    if n_written:
        print(f"wrote {DIGESTS}")
    return n_written


def make_product(product: Product, digests: dict[str, dict], save) -> int:
    """Makes a picture or a page, and writes it with its digest if it differs; returns how many files that are."""
    data = product.make()
    digests[product.name] = {"made_from": product.made_from, "file": hashlib.sha256(data).hexdigest()}
    return write(differing({product.name: data, DIGESTS: digests_file(digests)}), save)


def write(files: dict[str, bytes], save) -> int:
    """Writes files and names them, but for the digests, which are written with every picture and named at the end;
    returns how many they are."""
    if files:
        save({ROOT / name: data for name, data in files.items()})
    for name in files:
        if name != DIGESTS:
            print(f"wrote {name}", flush=True)
    return len(files)


def name_differences(texts: dict[str, bytes], reasons: dict[str, str]) -> int:
    """Names each file that publish would write, and returns the exit status, 1 if there is one."""
    lines = [f"{name} is not what its data give" for name in texts]
    lines += [f"{name} {why}" for name, why in reasons.items() if why]
    for line in lines:
        print(line)
    print(f"{PUBLISH} makes them anew" if lines else "nothing differs")
    return 1 if lines else 0


def main(argv: list[str] | None = None) -> int:
    parser = Parser(prog=PUBLISH, description=first_line(__doc__))
    parser.add_argument("--check", action="store_true", help="change nothing; name what differs, with exit status 1")
    check = parser.parse_args(argv).check

    def work(save):
        with contextlib.nullcontext() if check else Lock(ROOT / "experiments" / "results"):
            return make_anew(check, save)

    return run_command(PUBLISH, work)


if __name__ == "__main__":
    run_program(main)
