"""Convolutional highway networks: layers, nets, CIFAR's images."""
