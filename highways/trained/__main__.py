"""Gives the recorded accuracy of a trained net again.

    python -m highways.trained                              lists the nets
    python -m highways.trained mnist-16                     its accuracy, and the recorded one
    python -m highways.trained highway-a --data-dir DIR     on CIFAR-10, in the folder DIR

The exit status is 1 where they differ.
"""

from __future__ import annotations

from highways.commands import Parser, first_line, path_name, run_command, run_program
from highways.trained.make import images_of, test_images
from highways.trained.nets import cards, load


def check(name: str, data_dir: str | None) -> int:
    """Prints the accuracy; returns 1 if it is not the recorded one."""
    trained = load(name)
    card = trained.about
    x, y = test_images(card, images_of(card, data_dir))
    right = int((trained.classify(x) == y).sum())
    is_same = right == card["right"]
    verdict = "as recorded" if is_same else f"recorded are {card['right']}"
    print(f"{name}: {right} of {len(y)} test images right, {100 * right / len(y):.2f} %; {verdict}")
    return 0 if is_same else 1


def show() -> None:
    for name, card in cards().items():
        share = card["right"] / card["test_images"]["n"]
        print(f"{name:24s}{card['data']:16s}{100 * share:6.2f} %   {card['title']}")


def main(argv=None) -> int:
    parser = Parser(prog="python -m highways.trained", description=first_line(__doc__))
    parser.add_argument("name", nargs="?", help="which net (default: list them)")
    folder = "the folder of the net's data set (default: that of load_mnist() or load_cifar())"
    parser.add_argument("--data-dir", type=path_name, metavar="DIR", help=folder)
    args = parser.parse_args(argv)

    def work(save):
        return check(args.name, args.data_dir) if args.name else show()

    return run_command(parser.prog, work)


if __name__ == "__main__":
    run_program(main)
