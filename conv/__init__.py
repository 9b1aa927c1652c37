"""Convolutional highway networks: layers, nets, CIFAR's images."""

import conv.normalised  # noqa: F401  it adds kinds to those of conv/layers.py
