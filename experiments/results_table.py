"""Makes experiments/results/results.csv: a row for each trial of every question.

A column is a setting or a result that several questions have.  The columns are listed here, so that a
new question adds its lines and changes no other; a new column stands last.  What few questions measure,
and lists such as histories, are in the question's JSON.  A cell is empty where a trial has no such entry.
"""

from __future__ import annotations

import csv
import io

from experiments import all_questions

FILE = "experiments/results/results.csv"
COLUMNS = """
question group seconds seed n_test epochs n_train block depth diverged gate_bias loss test_accuracy activation clip
decay momentum effective_lr diverged_at train_accuracy width data data_dir lr kind skipped_accuracy scale start control
gain images draws error error_all_idle idle_share init last n_parameters decay_of_last distribution first net of_each
protocol schedule shift sum_of_mean_T validation weight_decay
"""


def table(records: dict[str, dict]) -> bytes:
    """The CSV of {file: record of a question}, in the questions' order."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS.split(), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for question in all_questions():
        record = records.get(f"experiments/results/{question.name}.json")
        if record:
            writer.writerows(rows_of(question.name, record["trials"]))
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
