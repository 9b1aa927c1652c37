"""The browser pages that `python -m experiments publish` makes, with what each is made from."""

from __future__ import annotations

from experiments import file_of, question_names
from highways.files import ROOT
from highways.lab.showing.registry import BROWSER_PAGES, CAMERAS, BrowserPage
from pages import make_claims, make_explorer, make_index, measure_pointers, screenshots
from pages.explorer_net import NET

IMAGES = tuple(sorted((ROOT / "data" / "mnist").glob("*.gz")))
OF_EXPLORER = tuple(f"results/{name}.json" for name in ("gates", "lesion", "explorer"))
OF_INDEX = tuple(f"results/{name}.json" for name in make_index.RECORDS)
SHOTS = tuple(sorted((make_index.PARTS / "pictures").glob("*.webp")))
RULES = tuple(file_of(name) for name in question_names())

BROWSER_PAGES += [
    BrowserPage(make_explorer, OF_EXPLORER, (ROOT / NET, *IMAGES)),
    BrowserPage(make_index, OF_INDEX, (measure_pointers.NET, *IMAGES, *SHOTS)),
    BrowserPage(make_claims, ("results/claims.json",), RULES),
]
CAMERAS.append(screenshots)
