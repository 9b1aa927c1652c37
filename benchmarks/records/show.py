"""The table of benchmarks/records/README.md, from the logs of the records."""

from pathlib import Path

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from highways.records import load_results

FOLDER = Path(__file__).parent
FOLDERS = {"mnist": "mnist_99", "cifar": "cifar_94"}  # of the records, in the order of the table
HEADER = (
    "| date | record | accuracy, mean of n seeds | lowest | seconds of processor time | by the clock "
    "| processor | kernels | commit | who |"
)


@table("records")
def table_of_records(read) -> str:
    """A row for each log; the names of the logs begin with the date."""
    logs = [path for name in FOLDERS.values() for path in sorted((FOLDER / name).glob("[0-9]*.json"))]
    return markdown_table(HEADER, [row_of(path) for path in logs])


def row_of(path: Path) -> str:
    """The row of a log."""
    log = load_results(path)
    settings = log["settings"]
    folder = FOLDERS[settings["record"]]
    summary = log["summary"]
    env = log["env"]
    kernels = (env["blas"] or "not known").split()
    cells = [
        settings["date"],
        f"[{settings['record']}]({folder}/README.md), [log]({folder}/{path.name})",
        f"{100 * summary['test_accuracy']:.2f} % of {summary['seeds']}",
        f"{100 * summary['lowest_test_accuracy']:.2f} %",
        f"**{summary['processor_seconds']:.2f}**",
        f"{summary['seconds']:.2f}",
        env["processor"],
        f"{kernels[0]} {kernels[-1]}",
        (env["git"] or "not known")[:8],
        settings["who"] + (f"; {settings['beside']}" if settings["beside"] else ""),
    ]
    return f"| {' | '.join(cells)} |"
