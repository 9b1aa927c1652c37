"""The tables of benchmarks/records/README.md: from the logs of the records, and what PyTorch needs for the same."""

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


AIMS = {"mnist": "99 % on MNIST", "cifar": "94 % on CIFAR-10"}


@table("records-in-torch")
def table_in_torch(read) -> str:
    """A row for each program that benchmarks/records/rivals.py timed."""
    record = read("experiments/results/benchmark_records_rivals.json")
    rows = []
    for name, aim in AIMS.items():
        rows += rows_in_torch(aim, record["trials"][name])
    header = (
        "| to | program | ms a step | images a step | steps | whole training, computed, s | ours / theirs "
        "| trained whole, s |"
    )
    return markdown_table(header, rows)


def rows_in_torch(aim: str, timed: dict) -> list[str]:
    """The rows of a record: ours first, then the fastest, by whole trainings."""
    rows = []
    steps = timed["steps"]
    for name in sorted(steps, key=lambda name: (name != next(iter(steps)), steps[name]["seconds_computed"])):
        row = steps[name]
        low, ratio, high = row["ours_over_theirs"]
        whole = "-"
        if name in timed["whole"]:
            trials = timed["whole"][name]
            accuracy = 100 * sum(trial["test_accuracy"] for trial in trials) / len(trials)
            seconds = sum(trial["seconds"] for trial in trials) / len(trials)
            whole = f"{seconds:.2f} ({accuracy:.2f} % of {len(trials)})"
        cells = [
            aim,
            name,
            f"{1e3 * row['seconds_of_step']:.1f}",
            str(row["images_of_step"]),
            str(row["steps"]),
            f"{row['seconds_computed']:.1f}",
            f"{ratio:.2f} ({low:.2f} to {high:.2f})",
            whole,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return rows
