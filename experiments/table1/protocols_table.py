"""The table of docs/convolution.md: the numbers of the protocols by which convolutional nets are trained."""

from highways.conv.protocols import PROTOCOLS
from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table

COLUMNS = {
    "MNIST, released": ("mnist", "paper"),
    "MNIST, short": ("mnist", "short"),
    "CIFAR, released": ("cifar-10", "paper"),
    "CIFAR, short": ("cifar-10", "short"),
}
ROWS = {
    "epochs": "epochs",
    "highest rate": "lr",
    "dropout, of the input and after each pooling": "dropout",
    "weight decay": "weight_decay",
    "weight decay of the last layer": "decay_of_last",
    "pixels by which images are shifted, at most": "shift",
}


@table("protocols")
def numbers_of_protocols(read) -> str:
    """A row for each setting, a column for each protocol."""
    rows = []
    for words, setting in ROWS.items():
        values = [PROTOCOLS[data][protocol][setting] for data, protocol in COLUMNS.values()]
        rows.append(f"| {words} | {' | '.join(map(rates_as_text, values))} |")
    return markdown_table(f"| | {' | '.join(COLUMNS)} |", rows)


def rates_as_text(value) -> str:
    rates = value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{rate:g}" for rate in rates)
