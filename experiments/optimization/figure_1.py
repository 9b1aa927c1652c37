"""The ranges in which rates of Figure 1's nets are searched, by several questions."""

from __future__ import annotations

# lr / (1 - momentum), drawn log-uniformly: ranges in which nets of this kind had learned in pilots
RATES = {
    ("highway", 10): {"tanh": (2, 7), "relu": (1, 3)},
    ("highway", 20): {"tanh": (2, 6), "relu": (1, 3)},
    ("highway", 50): {"tanh": (2, 5), "relu": (1, 2.5)},
    ("highway", 100): {"tanh": (2, 5), "relu": (1, 2.5)},
    ("plain", 10): {"tanh": (0.3, 1), "relu": (0.1, 0.4)},
    ("plain", 20): {"tanh": (0.1, 0.4), "relu": (0.03, 0.2)},
    ("plain", 50): {"tanh": (0.03, 0.2), "relu": (0.01, 0.1)},
    ("plain", 100): {"tanh": (0.01, 0.08), "relu": (0.003, 0.05)},
}
