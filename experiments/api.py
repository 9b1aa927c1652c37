"""Makes docs/api.md, the list of functions and classes, from their signatures and docstrings: of most
the first paragraph, of some all but what they raise."""

from __future__ import annotations

import inspect
from types import ModuleType

import highway_networks as hn
import highways
from highways import check_block
from highways.nets import activations, extra_blocks, optimizers

PAGE = "docs/api.md"
BEGIN = """# Functions and classes

[Make it yours](make_it_yours.md) shows how they are used, [a block of your own](your_own_block.md) what a block has.
`help(name)` in Python shows the whole docstring, and which errors are raised.
"""
CHAPTERS = (  # (import line, module, names)
    ("from highway_networks import ...", hn, sorted([*hn.__all__, "one_blas_thread"])),
    ("from highways import ...", highways, sorted(highways.HOMES)),
    ("from highways.check_block import ...", check_block, ("check_block",)),
    (
        "from highways.nets.extra_blocks import ...",
        extra_blocks,
        ("Residual", "HighwayCarry", "LSTM", "Maxout", "HighwayMaxout"),
    ),
    ("from highways.nets.activations import ...", activations, ("Sigmoid",)),
    ("from highways.nets.optimizers import ...", optimizers, ("SGD", "Nesterov")),
)
METHODS = {  # those that a user calls
    "Dataset": ("of",),
    "DeepNet": ("save", "load", "forward", "predict", "classify", "gates", "backward"),
    "Optimizer": ("step", "update"),
    "TrainedNet": ("inputs", "predict", "classify", "gates", "accuracy"),
}
# docstrings of which no paragraph is left out
WHOLE = ("DeepNet", "Optimizer", "backward", "of", "run_one", "train", "check_layer")


def page() -> str:
    parts = [BEGIN]
    for line, module, names in CHAPTERS:
        parts.append(f"## `{line}`\n")
        parts += [entry(module, name) for name in names]
    return "\n".join(parts)


def entry(module: ModuleType, name: str) -> str:
    """A heading, the signature, and the docstring; of a class, also those of its METHODS."""
    thing = getattr(module, name)
    lines = [f"### {name}\n", "```text", f"{name}{signature(thing)}", "", documentation(thing)]
    for method_name in METHODS.get(name, ()):
        method = getattr(thing, method_name)
        lines += ["", f"{name}.{method_name}{signature(method)}"]
        lines += [f"    {line}".rstrip() for line in documentation(method).splitlines()]
    return "\n".join([*lines, "```\n"])


def documentation(thing) -> str:
    """The docstring's first paragraph, and what follows if it ends in a colon; of a WHOLE one all
    paragraphs but those that say what is raised."""
    paragraphs = inspect.getdoc(thing).split("\n\n")
    if thing.__name__ in WHOLE:
        return "\n\n".join(paragraph for paragraph in paragraphs if not paragraph.startswith("Raises"))
    n = 2 if paragraphs[0].endswith(":") else 1
    return "\n\n".join(paragraphs[:n])


def signature(function) -> str:
    """The names of the arguments, with the defaults that are numbers or text; functions and classes
    by their names."""
    if isinstance(function, type) and issubclass(function, Exception):
        return "(message)"
    words = []
    kind_before = None
    for argument in inspect.signature(function).parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and kind_before not in (
            argument.KEYWORD_ONLY,
            argument.VAR_POSITIONAL,
        ):
            words.append("*")
        kind_before = argument.kind
        word = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "") + argument.name
        if argument.default is not argument.empty:
            word += f"={default(argument.default)}"
        words.append(word)
    return f"({', '.join(words)})"


def default(value) -> str:
    if isinstance(value, hn.Settings):
        return "Settings()"
    return getattr(value, "__name__", repr(value))
