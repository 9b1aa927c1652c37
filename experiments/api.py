"""Makes docs/api.md, the list of functions and classes, from their signatures and docstrings, without
what they raise."""

from __future__ import annotations

import inspect
from types import ModuleType

import highway_networks as hn
import highways
from highways.nets import activations, extra_blocks, optimizers

PAGE = "docs/api.md"
BEGIN = """# Functions and classes

[Make it yours](make_it_yours.md) shows how they are used. The docstrings also say which errors are raised:
`help(name)` in Python shows them.
"""
CHAPTERS = (  # (import line, module, names)
    ("from highway_networks import ...", hn, hn.__all__),
    ("from highways import ...", highways, sorted(highways.HOMES)),
    (
        "from highways.nets.extra_blocks import ...",
        extra_blocks,
        ("Residual", "HighwayCarry", "LSTM", "Maxout", "HighwayMaxout"),
    ),
    ("from highways.nets.activations import ...", activations, ("Sigmoid",)),
    ("from highways.nets.optimizers import ...", optimizers, ("SGD", "Nesterov")),
)


def page() -> str:
    parts = [BEGIN]
    for line, module, names in CHAPTERS:
        parts.append(f"## `{line}`\n")
        parts += [entry(module, name) for name in names]
    return "\n".join(parts)


def entry(module: ModuleType, name: str) -> str:
    """A heading, and the docstring; of a class, also those of its methods."""
    thing = getattr(module, name)
    lines = [f"### {name}\n", "```text", f"{name}{signature(thing)}", "", documentation(thing)]
    if inspect.isclass(thing):
        for method_name, method in vars(thing).items():
            function = getattr(method, "__func__", method)
            if method_name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
                continue
            lines += ["", f"{name}.{method_name}{signature(getattr(thing, method_name))}"]
            lines += [f"    {line}".rstrip() for line in documentation(function).splitlines()]
    return "\n".join([*lines, "```\n"])


def documentation(thing) -> str:
    """The docstring without the paragraphs that say what is raised."""
    paragraphs = inspect.getdoc(thing).split("\n\n")
    return "\n\n".join(paragraph for paragraph in paragraphs if not paragraph.startswith("Raises"))


def signature(function) -> str:
    """The names of the arguments, with the defaults that are numbers or text; functions and classes
    by their names."""
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
