"""How long does the explorer take from a change to the frame that shows its answer, in Chromium?

    python -m benchmarks.explorer        -> results/benchmark_explorer.json

Three changes take turns: a lesion closes or opens a block, a stroke is drawn, and b_T is shifted.
After each change two times are measured.

`to_frame` ends when the next frame is drawn, which shows the answer and the map.  `to_effects` ends
when the frame is drawn that shows what the page's worker computes: the effect of closing each block.
Both include waiting for the screen, 17 ms at most.

Once a round, `effects` measures how long the page itself takes to compute what its worker computes.
Without a worker every frame would be late by that time.

Warm-up is discarded; the numbers are medians over the rounds, with quartiles beside them.
"""

from __future__ import annotations

import os

from benchmarks.report import Report, arguments, end, summarise
from highways.commands import number
from highways.files import InputError
from pages import screenshots
from pages.screenshots import SETTLED

WARM_UP = 5  # rounds discarded
BLOCK = 24  # closed and opened in turn, counted from 0
CHANGES = {
    "lesion": f"closeBlocks([{BLOCK}], !shown.closed.has({BLOCK}))",
    "stroke": "stroke(60 + 160 * Math.random(), 60 + 160 * Math.random())",
    "shift": "shiftBy(shown.shift ? 0 : -2)",
}
NAMES = (
    "lesion_to_frame", "lesion_to_effects",
    "stroke_to_frame", "stroke_to_effects",
    "shift_to_frame", "shift_to_effects",
    "effects",
)  # fmt: skip
TO_THE_FRAMES = """
const done = arguments[0];
const start = performance.now();
const timeOfNextFrame = (resolve) => {
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
};
const toEffects = new Promise((resolve) => {
  document.addEventListener("found", () => timeOfNextFrame(resolve), { once: true });
});
%s;
const toFrame = new Promise(timeOfNextFrame);
Promise.all([toFrame, toEffects]).then(done);
"""
EFFECTS = """
const start = performance.now();
net.effects(now, shown.closed, shown.shift);
return performance.now() - start;
"""


def measure(driver, rounds: int) -> dict:
    """{what: [milliseconds, one for each round]} of the page that the driver has open."""
    times = {name: [] for name in NAMES}
    driver.execute_script("shown.shift = 0; only([]); startDrawing()")
    driver.execute_async_script(SETTLED)
    for _ in range(rounds + WARM_UP):
        for change, script in CHANGES.items():
            frame, effects = driver.execute_async_script(TO_THE_FRAMES % script)
            times[f"{change}_to_frame"].append(frame)
            times[f"{change}_to_effects"].append(effects)
        times["effects"].append(driver.execute_script(EFFECTS))
    return {name: values[WARM_UP:] for name, values in times.items()}


def load_average() -> float | None:
    """The system's load over the last minute: how many programs wanted a core."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def main(argv=None) -> int:
    parser = arguments("explorer", __doc__)
    parser.add_argument("--rounds", type=number(int, 1), default=60, help="turns of each change (%(default)s)")
    args = parser.parse_args(argv)
    report = Report(parser, args)
    if screenshots.missing():
        raise InputError(f"there is no {screenshots.missing()}")
    settings = {"rounds": args.rounds, "cores": os.cpu_count()}
    settings["load_average_before"] = load_average()
    with screenshots.browser() as driver:
        browser = driver.capabilities
        settings["browser"] = f"{browser['browserName']} {browser['browserVersion']}"
        times = measure(driver, args.rounds)
    trials = {}
    summary = {}
    for name, milliseconds in times.items():
        trials[name] = summarise([value / 1000 for value in milliseconds])
        summary[f"{name}_ms"] = trials[name]["median_ms"]
        low, high = trials[name]["quartiles_ms"]
        print(f"{name:18}{trials[name]['median_ms']:7.1f} ms  {low:6.1f} {high:6.1f}")
    return report.save(settings, summary, trials)


if __name__ == "__main__":
    end(main)
