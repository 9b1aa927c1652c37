"""What this study declares of itself: whose claims it judges, and what made its run*.json."""

from highways.records import RESULTS_FOLDER

SOURCES = (  # of claims, in the ledger's order
    "published program",
    "paper",
    "transcript",
    "blog",
    "encyclopedia article",
    "first author",
    "Greff and others 2017",
    "Veit and others 2016",
    "Jastrzebski and others 2018",
)
TEN_SEEDS = "--seeds 0,1,2,3,4,5,6,7,8,9"
COMMANDS = {  # that make the run*.json
    "run": "python highway_networks.py --seed 0",
    "run_sweep": "python highway_networks.py --depths 5,10,20,30,50",
    "run_seeds": f"python highway_networks.py {TEN_SEEDS}",
    "run_seeds_avx2": f"python highway_networks.py {TEN_SEEDS} --out {RESULTS_FOLDER}/run_seeds_avx2.json",
    "run_shallow": f"python highway_networks.py --depths 5,10 {TEN_SEEDS} --out {RESULTS_FOLDER}/run_shallow.json",
    "run_fashion": "python highway_networks.py --seeds 0,1,2 --data-dir fashion-mnist "
    f"--out {RESULTS_FOLDER}/run_fashion.json",
}
