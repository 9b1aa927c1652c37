from highways.lab.judging.more_seeds import LEVEL, LOOKS, with_more_seeds  # noqa: F401
