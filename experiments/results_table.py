"""Makes results/results.csv: a row for each trial of every question.

A column is a setting or a result that at least three questions have.  What few questions measure,
and lists such as histories, are in its JSON.  A cell is empty where a trial has no such entry.
"""

from __future__ import annotations

import csv
import io

from experiments import all_questions

FILE = "results/results.csv"
FEWEST = 3  # questions that have a column
FIRST = ("question", "group")


def table(records: dict[str, dict]) -> bytes:
    """The CSV of {file: record of a question}, in the questions' order."""
    rows = []
    for question in all_questions():
        record = records.get(f"results/{question.name}.json")
        if record:
            rows += rows_of(question.name, record["trials"])
    questions_with = {}
    for row in rows:
        for name in row:
            questions_with.setdefault(name, set()).add(row["question"])
    shared = [name for name, questions in questions_with.items() if len(questions) >= FEWEST and name not in FIRST]
    most_common_first = sorted(shared, key=lambda name: (-len(questions_with[name]), name))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [*FIRST, *most_common_first], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def rows_of(question: str, trials: list | dict) -> list[dict]:
    """A row for each trial; `group` is empty where a question has one group of trials only."""
    groups = trials if isinstance(trials, dict) else {"": trials}
    rows = []
    for group, found in groups.items():
        for trial in found:
            numbers = {name: value for name, value in trial.items() if not isinstance(value, (dict, list))}
            rows.append({"question": question, "group": group, **numbers})
    return rows
