# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A gate of your own
#
# Must a gate be a sigmoid? This one needs no exponential:
#
# T = (1 + s) / 2, where s = z / √(1 + z²), and z = W_T x + b_T
#
# It nears 0 more slowly: at z = -10 a sigmoid is 0.00005, this is 0.0025. You check its gradient, and train both.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, "..")  # the programs of this project
sys.path.append("exercises")
from checks import check

import highway_networks as hn

DEPTH = 30
EPOCHS = 6
SEEDS = (0, 1, 2)
N_TRAIN = 6000

# %% [markdown]
# ## Forward above backward
# First the sigmoid gate, y = H T + x (1 - T). A layer kept (x, H, T), and gets dy, the loss's gradient with respect to
# y. Which gradient reaches z_H and z_T, the arguments of tanh and sigmoid? The cell says what is wrong, as the test of
# [exercise 4](exercises/README.md) does.


# %%
def gate_backward(kept, dy):
    """`kept` is the tuple (x, H, T)."""
    raise NotImplementedError("return (dz_H, dz_T) here, in place of this line")


check(4, gate_backward)

# %% [markdown]
# Then the root gate, as [a block](../docs/your_own_block.md): the net makes z_H and z_T, and the block the rest, unit
# by unit. `backward` writes dz_H and dz_T, and returns what reaches x past the weights. The slope of s is
# (1 + z²)^(-3/2) = (1 - s²)^(3/2). T' is half of that, so s is kept, not z.


# %%
class RootGate(hn.Block):
    """y = H T + x (1 - T), T = (1 + s) / 2, s = z_T / sqrt(1 + z_T^2)"""

    name = "root-gate"
    gates = 1
    kept = ("H", "s")

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        layer.s[...] = layer.z_T / np.sqrt(1 + layer.z_T**2)
        layer.y[...] = layer.x + self.transform_gate(layer) * (layer.H - layer.x)

    def backward(self, layer, dy):
        T = self.transform_gate(layer)
        layer.dz_T[...] = (1 - layer.s**2) ** 1.5 / 2 * (layer.H - layer.x) * dy
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        layer.dz_H[...] = layer.H * T * dy
        return (1 - T) * dy

    def transform_gate(self, layer):
        return (1 + layer.s) / 2


# %% [markdown]
# ## Is the gradient right?
# The complex step: add i·10⁻³⁰ to one parameter. The imaginary part of the loss, over 10⁻³⁰, is the derivative, exact
# to rounding. `WrongGate` must fail.


# %%
def largest_error(block):
    """The largest difference between backward() and the complex step, over all parameters of a small net."""
    rng = np.random.default_rng(0)
    net = hn.DeepNet(5, 3, 4, 3, block, rng, dtype=np.complex128)
    x = rng.normal(size=(6, 5)).astype(complex)
    y = rng.integers(0, 3, 6)
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    gradient = net.backward(d_logits).copy()
    error = 0.0
    for i in range(len(net.parameters)):
        before = net.parameters[i]
        net.parameters[i] = before + 1e-30j
        loss, _ = hn.softmax_cross_entropy(net.forward(x), y)
        net.parameters[i] = before
        error = max(error, abs(loss.imag / 1e-30 - gradient[i].real))
    return error


class WrongGate(RootGate):
    """RootGate with a factor forgotten on the way back."""

    name = "wrong-gate"

    def backward(self, layer, dy):
        carried = super().backward(layer, dy)
        layer.dz_T[...] *= 2
        return carried


print(f"largest error of RootGate  {largest_error(RootGate()):.0e}")
print(f"largest error of WrongGate {largest_error(WrongGate()):.0e}")

# %% [markdown]
# ## The two gates

# %%
z = np.linspace(-8, 8, 200)
figure, axis = plt.subplots(figsize=(5, 2.8))
axis.plot(z, 1 / (1 + np.exp(-z)), color="#0072B2", label="sigmoid")
axis.plot(z, (1 + z / np.sqrt(1 + z**2)) / 2, color="#6A3D9A", label="root gate")
axis.set(xlabel="z", ylabel="T", title="The root gate is steeper at 0, and nears 0 and 1 more slowly")
axis.legend()
plt.show()

# %% [markdown]
# ## Does it train?
# Three seeds of each, since accuracies of seeds differ by a hundredth or more.

# %%
runs = {}
for block in ("highway", "root-gate"):
    for seed in SEEDS:
        runs[block, seed] = hn.run_one(block, depth=DEPTH, epochs=EPOCHS, seed=seed, n_train=N_TRAIN)
for block in ("highway", "root-gate"):
    accuracies = [runs[block, seed]["final_test_acc"] for seed in SEEDS]
    print(f"{block:10} test accuracy " + "  ".join(f"{accuracy:.3f}" for accuracy in accuracies))

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3))
for block, colour in (("highway", "#0072B2"), ("root-gate", "#6A3D9A")):
    for seed in SEEDS:
        run = runs[block, seed]
        label = block if seed == SEEDS[0] else None
        axes[0].semilogy(run["history"]["epoch"], run["history"]["train_loss"], color=colour, label=label)
        axes[1].plot(range(1, DEPTH + 1), run["final_T_per_layer"], color=colour)
axes[0].set(xlabel="epoch", ylabel="training loss", title="Both learn")
axes[1].set(xlabel="layer", ylabel="mean T after training", title="How far the gates are open", ylim=(0, None))
axes[0].legend()
plt.tight_layout()
plt.show()

# %% [markdown]
# Both learn, and their accuracies overlap. In the upper layers the sigmoid opens further. To say which is better
# needs more seeds, and a search for bias and rate: [a question of your own](../docs/your_own_question.md).
#
# **Try:** T = 0.1 + 0.9 sigmoid(z_T), which never shuts
# ([solved](../docs/your_own_block.md#a-gate-of-your-own-a-leaky-one)). T = z² / (1 + z²): how open is it at b_T = -2?
#
# **Go on:** [deeper problems, later answers](later_answers.ipynb).
