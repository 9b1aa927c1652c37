"""Makes everything that follows from the measurements, and writes what differs from the files.

    python -m experiments publish            writes, and names each file that it wrote
    python -m experiments publish --check    changes nothing; names each file that it would write

That is, in this order:

- the digest of a new run*.json, when what it holds has been checked: this alone seals one
- the summaries in results/*.json, from the trials in them
- results/claims.json, the verdicts on all claims
- the numbers between the marks of the pages (highways/lab/showing/pages.py)
- results/results.csv, a row a trial (experiments/results_table.py)
- the pictures in viz/, highway_networks.gif, pages/index.html, pages/explorer.html and
  pages/claims.html
- the pictures of the first two pages, for which a browser is needed

JSON and Markdown are made and compared.  Pictures and browser pages take longer, and their bytes
depend on the versions of matplotlib and others.  They are compared by viz/digests.json, which has
for each of them the digest of what it was made from (its data and the code that draws it), the
digest of the file, and the versions.  Only those with another digest are made anew.  Each is
written as soon as it is made: after an interrupt the same command goes on with the next one.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import imageio
import matplotlib
import numpy as np
import PIL
from matplotlib import ft2font

from experiments import all_questions, register_pictures_and_tables, results_table
from experiments.judging import is_judged_already, judged_record, read_results, with_summary
from highways.files import ROOT, InputError, is_committed, json_bytes, read_json
from highways.lab import committed
from highways.lab.question import PROGRAM
from highways.lab.showing import registry
from highways.lab.showing.pages import changed_pages
from highways.lab.showing.style import drawing, house_style, picture_bytes
from highways.records import COMMANDS, RESULTS, RUN, load_results, path_of, record_bytes

LEDGER = "results/claims.json"
DIGESTS = "viz/digests.json"
PUBLISHED = ("published", "authors_logs_cifar")  # sources of pictures that lie in data/
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
DRAWING = re.compile(
    r"experiments\.\w+\.(show|\w+_trial)|highways\.lab\.(showing|judging)\.\w+|highways\.statistics|pages\.\w+"
    "|visualize_highway_networks"
)  # modules that decide what a picture looks like, or what a browser page holds
MACHINE = ("env", "digest", "seconds", "wallclock_sec")  # what differs when a measurement is repeated

# ---- JSON and Markdown --------------------------------------------------------------------------


def runs_without_digest() -> dict[str, bytes]:
    """The run*.json that highway_networks.py wrote since the last publish, checked and with their digests."""
    found = {}
    for name in COMMANDS:
        path = ROOT / path_of(name)
        record = read_json(path) if path.exists() else {"digest": None}
        if "digest" not in record:
            found[path_of(name)] = record_bytes(record, RUN)
            committed.checked(name, record)
    return found


def current_records() -> dict[str, dict]:
    """{file: record} of the questions' results and of the ledger, as they should be."""
    results = {}
    judged_by = read_results(ROOT)
    for question in all_questions():
        path = ROOT / path_of(question.name)
        if question.run is None or not path.exists():
            continue
        record = judged_by.get(question.name) or committed.checked(question.name, load_results(path))
        record = with_summary(question, record)
        results[path_of(question.name)] = record
        if question.name in judged_by:
            judged_by[question.name] = record
    ledger = judged_record(judged_by)
    if is_judged_already(ROOT / LEDGER, ledger):
        ledger = read_json(ROOT / LEDGER)  # with the commit at which it was judged
    return {**results, LEDGER: ledger}


def reader(records: dict[str, dict]):
    """Returns read(file), which gives the JSON of a file of the repository, or the record that will
    replace it."""

    @functools.cache
    def read(name: str) -> dict:
        return records[name] if name in records else committed.read_committed(name)

    return read


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


def products(read) -> list[Product]:
    """All pictures that matplotlib draws, the GIF, and the browser pages."""
    found = []

    def add(name, make, program, sources, files=()):
        records = [as_bytes(numbers(read(source))) for source in sources]
        others = [path.read_bytes() for path in files]
        made_from = digest([*code_of(program), *records, *others])
        found.append(Product(name, made_from, make))

    for name, picture in registry.PICTURES.items():
        program = Path(sys.modules[picture.draw.__module__].__file__)
        sources = [file_of(source) for source in picture.sources]
        if all((ROOT / source).exists() for source in sources):  # a question may await its results
            add(f"viz/{name}.png", partial(draw, picture, sources, read), program, sources)
    for name, source in CARD.items():
        add(f"viz/{name}.png", partial(draw_for_card, name), ROOT / VISUALIZE, [source])
    add("highway_networks.gif", make_gif, ROOT / GIF, ["run.json"])

    for page in registry.BROWSER_PAGES:
        folder = page.program.PARTS
        parts = [folder / part for part in ("page.html", *page.program.PAGE_PARTS)]
        program = Path(page.program.__file__)
        add(
            f"pages/{folder.name}.html",
            partial(bytes_of, page),
            program,
            page.sources,
            [*parts, *page.files],
        )
    return found


def bytes_of(page: registry.BrowserPage) -> bytes:
    return page.program.whole_page().encode()


def photographs(pages: list[Product]) -> list[Product]:
    """The pictures that a browser takes of these pages.  It opens their files."""
    page_digests = {product.name: product.made_from for product in pages}
    found = []
    for camera in registry.CAMERAS:
        take_all = functools.cache(camera.pictures)
        program = Path(camera.__file__).read_bytes()
        for name, picture in camera.PICTURES.items():
            page = picture.page.relative_to(ROOT).as_posix()
            made_from = digest([program, page_digests[page].encode()])
            path = ROOT / "viz" / f"{name}.png"
            found.append(Product(f"viz/{name}.png", made_from, partial(taken, take_all, path)))
    return found


def taken(take_all: Callable[[], dict[Path, bytes]], path: Path) -> bytes:
    """The picture of this file, of all that a camera takes at once."""
    return take_all()[path]


def draw(picture: registry.Picture, sources: list[str], read) -> bytes:
    with house_style(), drawing(" or ".join(sources), picture.draw.__name__):
        return picture_bytes(picture.draw(*map(read, sources)))


def draw_for_card(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        run_program(VISUALIZE, "--only", name, "--out", folder)
        return (Path(folder) / f"{name}.png").read_bytes()


def make_gif() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "highway_networks.gif"
        run_program(GIF, "--out", out)
        return out.read_bytes()


def run_program(program: str, *words) -> None:
    """Runs a drawing program of the card, which nothing here imports."""
    process = subprocess.run([sys.executable, ROOT / program, *words], capture_output=True, text=True, check=False)
    if process.returncode:
        raise InputError(f"{program} failed: {process.stderr.strip()}")


def file_of(source: str) -> str:
    """The file of a record that pictures name so."""
    if source in PUBLISHED:
        return f"data/{source}.json"
    return path_of(source)


def numbers(value):
    """What a record says, without what differs when the measurement is repeated."""
    if isinstance(value, dict):
        return {name: numbers(entry) for name, entry in value.items() if name not in MACHINE}
    if isinstance(value, list):
        return [numbers(entry) for entry in value]
    return value


def as_bytes(value) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def digest(parts: list[bytes]) -> str:
    """The SHA-256 of these parts, in this order."""
    of_each = [hashlib.sha256(part).digest() for part in parts]
    return hashlib.sha256(b"".join(of_each)).hexdigest()


def code_of(program: Path) -> list[bytes]:
    """The text of a program, and of the DRAWING modules that it imports, directly or not."""
    texts = {}
    waiting = [program]
    while waiting:
        path = waiting.pop()
        if path in texts:
            continue
        texts[path] = path.read_bytes()
        for module in imported_by(texts[path]):
            file = ROOT / f"{module.replace('.', '/')}.py"
            if DRAWING.fullmatch(module) and file.exists():
                waiting.append(file)
    return [texts[path] for path in sorted(texts)]


@functools.cache
def imported_by(text: bytes) -> list[str]:
    """The modules that a program imports, and what it imports from them, which may be modules."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def versions() -> str:
    """The versions on which the bytes of a picture depend."""
    found = {
        "matplotlib": matplotlib.__version__,
        "freetype": ft2font.__freetype_version__,
        "numpy": np.__version__,
        "pillow": PIL.__version__,
        "imageio": imageio.__version__,
    }
    return ", ".join(f"{name} {version}" for name, version in found.items())


def entry_of(product: Product, data: bytes) -> dict:
    """What viz/digests.json says of a product that was made now."""
    return {"made_from": product.made_from, "file": hashlib.sha256(data).hexdigest(), "made_with": versions()}


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
        return name_differences(new_runs, {}, read_digests())
    write(new_runs, save)
    records = current_records()
    read = reader(records)
    changed = differing({name: json_bytes(record) for name, record in records.items()})
    texts = {name: record_bytes(records[name], RESULTS) for name in changed}
    for page, text in changed_pages(read).items():
        texts[page.relative_to(ROOT).as_posix()] = text
    texts |= differing({results_table.FILE: results_table.table(records)})

    drawn = products(read)
    photographed = photographs(drawn)
    digests = read_digests()
    reasons = {product.name: why_stale(product, digests) for product in [*drawn, *photographed]}
    digests = {name: digests[name] for name, why in reasons.items() if not why}
    if check:
        return name_differences(texts, reasons, digests)

    digests_before = (ROOT / DIGESTS).read_bytes() if (ROOT / DIGESTS).exists() else b""
    n_written = len(new_runs) + write(texts, save)
    for batch in (drawn, photographed):
        stale = [product for product in batch if reasons[product.name]]
        if not stale:
            continue
        missing = " and ".join(camera.missing() for camera in registry.CAMERAS if camera.missing())
        if batch is photographed and missing:
            names = ", ".join(product.name for product in stale)
            raise InputError(f"{names} must be taken anew, and there is no {missing}")
        for product in stale:
            data = product.make()
            digests[product.name] = entry_of(product, data)
            files = {product.name: data, DIGESTS: digests_file(digests)}
            n_written += write(differing(files), save)
    n_written += write(differing({DIGESTS: digests_file(digests)}), save)
    if digests_file(digests) != digests_before:
        print(f"wrote {DIGESTS}")
    elif not n_written:
        print("nothing differs: nothing was written")
    return 0


def write(files: dict[str, bytes], save) -> int:
    """Writes files and names them; returns how many they are.

    The digests, which are written with every picture, are not named."""
    if files:
        save({ROOT / name: data for name, data in files.items()})
    for name in files:
        if name != DIGESTS:
            print(f"wrote {name}", flush=True)
    return len(files)


def name_differences(texts: dict[str, bytes], reasons: dict[str, str], digests: dict[str, dict]) -> int:
    """Names each file that publish would write, and each picture that it does not make; returns the
    exit status, 1 if there is one."""
    lines = [f"{name} is not what its data give" for name in texts]
    lines += [f"{name} {why}" for name, why in reasons.items() if why]
    if not any(reasons.values()) and differing({DIGESTS: digests_file(digests)}):
        lines.append(f"{DIGESTS} is not what was written")
    for path in sorted((ROOT / "viz").glob("*.png")):
        name = f"viz/{path.name}"
        if name not in reasons and is_committed(path):
            lines.append(f"{name} is a picture that nothing makes")
    print("".join(f"{line}\n" for line in lines), end="")
    if not lines:
        print("nothing differs")
        return 0
    print(f"{PROGRAM} publish makes them anew")
    return 1
