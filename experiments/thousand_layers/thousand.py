from experiments.thousand_layers.trial import BEST, setting_of  # noqa: F401  until very_deep imports these
