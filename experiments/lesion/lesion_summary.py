"""The rows that sum up lesions of nets without gates that learned."""

from __future__ import annotations

from experiments.lesion.groups import EARLY, FIRST_40, MIDDLE, idle_share_among
from highways.records import by_data_set
from highways.statistics import mean_sd_n


def rows_of(nets: list[dict]) -> list[dict]:
    """A row for each data set."""
    result = []
    for data, nets_on_set in by_data_set(nets).items():
        row = {"data": data, "control": nets_on_set[0]["control"]}
        for name in ("error", "idle_share", "error_all_idle", "test_accuracy"):
            row[name] = mean_sd_n([net[name] for net in nets_on_set])
        for name, blocks in (("1_to_14", EARLY), ("15_to_45", MIDDLE), ("first_40", FIRST_40)):
            row[f"idle_share_{name}"] = mean_sd_n([idle_share_among(blocks, net) for net in nets_on_set])
        result.append(row)
    return result
