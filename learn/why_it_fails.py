# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Why a plain net of thirty layers fails, and what cures it
#
# "The gradient vanishes": it does, but so does the signal. Here you measure both in untrained nets, then train from
# four starts.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, "..")  # the programs of this project
sys.path.append("exercises")
from checks import check

import highway_networks as hn
from highways.nets import initial, layer_by_layer

DEPTH = 30
EPOCHS = 8
N_TRAIN = 6000

data = hn.subset(hn.load_mnist(), seed=0, n_train=N_TRAIN, n_test=2000)
images = hn.scale_pixels(data.x_train[:64], np.float64)
labels = data.y_train[:64]

# %% [markdown]
# ## Five untrained nets
# Four plain nets differ only in how their weights are drawn. All have mean 0; `variance` is that of a block's W_H,
# times the 50 units of a layer: at 1, W_H x is about as long as x. The highway net has the first start.


# %%
def plain(start):
    net = hn.DeepNet(784, 10, 50, DEPTH, "plain", rng=0, init="glorot" if start == "orthogonal" else start)
    if start == "orthogonal":
        initial.redraw(net, "orthogonal", gain=1.0, rng=np.random.default_rng(1))
    return net


STARTS = {
    "plain, uniform": lambda: plain("uniform"),  # in ± 1 / sqrt(inputs), as nn.Linear in PyTorch
    "plain, Glorot": lambda: plain("glorot"),
    "plain, He": lambda: plain("he"),
    "plain, orthogonal": lambda: plain("orthogonal"),
    "highway, uniform": lambda: hn.DeepNet(784, 10, 50, DEPTH, "highway", rng=0, gate_bias=-2),
}
COLOURS = dict(zip(STARTS, ("#D55E00", "#E69F00", "#6A3D9A", "#777777", "#0072B2"), strict=True))
for name, make in STARTS.items():
    print(f"{name:20} variance {50 * make().W_H.var():.2f}")

# %% [markdown]
# Draw the uniform start of a highway layer yourself: W_H and W_T within ± 1 / √d, every b_H 0, every b_T the gate's
# bias. The cell checks it as the test of [exercise 3](exercises/README.md) does.


# %%
def new_layer(rng, d, gate_bias):
    """Returns a dict of W_H and W_T (d, d), b_H and b_T (d,); rng draws."""
    raise NotImplementedError("draw the layer here, in place of this line")


check(3, new_layer)

# %% [markdown]
# ## Forward and backward
# Left, the spread over 64 images of the *state*, what a layer hands on: near 0, all digits look alike to the layers
# above. Right, the length of the loss's gradient with respect to each state.


# %%
def spreads(net):
    net = layer_by_layer.in_dtype(net, np.float64)
    state = layer_by_layer.first_state(net, images)
    found = [state.std(axis=0).mean()]
    for _, _, _, next_state in layer_by_layer.walk(net, state):
        found.append(next_state.std(axis=0).mean())
    return found


def gradients(net):
    return layer_by_layer.gradient_flow(net, images, labels)[0]


spread = {name: spreads(make()) for name, make in STARTS.items()}
gradient = {name: gradients(make()) for name, make in STARTS.items()}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for name in STARTS:
    axes[0].semilogy(spread[name], color=COLOURS[name], label=name)
    axes[1].semilogy(np.divide(gradient[name], gradient[name][-1]), color=COLOURS[name])
axes[0].set(title="Forward: how far the images differ", xlabel="after layer")
axes[1].set(title="Backward: gradient, over that of the last layer", xlabel="at layer")
axes[0].legend(fontsize=8)
plt.tight_layout()
plt.show()

print("                     spread after the last layer    gradient, first layer over last")
for name in STARTS:
    print(f"{name:20} {spread[name][-1]:12.1g} {gradient[name][0] / gradient[name][-1]:32.1g}")

# %% [markdown]
# From the uniform start every plain layer shrinks the spread and the gradient; after thirty of them both are gone.
# So all digits look alike to the upper layers, and next to nothing of the error reaches the lower ones. The other
# three starts keep both ways open. So does the highway net, whose weights are as small: x goes past them.
#
# **Predict:** which of the five nets will learn at the rate 0.005, and which at a fifth of it?
#
# ## Train them
# `train` takes any start and rate, and keeps the result. A class shares these cells out: one half runs the first, the
# other half the second, both the third.

# %%
accuracy = {}


def train(name, lr):
    """Trains the net of this start at this rate, unless it was trained before."""
    if (name, lr) not in accuracy:
        with hn.one_blas_thread():
            run = hn.train(STARTS[name](), data, hn.Settings(epochs=EPOCHS, lr=lr))
        accuracy[name, lr] = run["final_test_acc"] or 0.1  # a net that diverged guesses
    print(f"{name}, rate {lr}: test accuracy {accuracy[name, lr]:.2f}")


# %%
# another start, the same rate
for name in ("plain, uniform", "plain, Glorot", "plain, He", "plain, orthogonal"):
    train(name, 0.005)

# %%
# the same start, another rate
for lr in (0.005, 0.001):
    train("plain, uniform", lr)

# %%
# another start and another rate, and the highway net
for name in STARTS:
    train(name, 0.001)
train("highway, uniform", 0.005)

# %%
rates = sorted({lr for _, lr in accuracy}, reverse=True)
grid = np.array([[accuracy.get((name, lr), np.nan) for lr in rates] for name in STARTS])
figure, axis = plt.subplots(figsize=(5, 3))
axis.imshow(grid, cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
for (row, column), value in np.ndenumerate(grid):
    axis.text(column, row, "not trained" if np.isnan(value) else f"{value:.2f}", ha="center", va="center")
axis.set(title="Start and rate decide whether a plain net learns", xlabel="rate; test accuracy in the cells")
axis.set_xticks(range(len(rates)), rates)
axis.set_yticks(range(len(STARTS)), STARTS)
plt.show()

# %% [markdown]
# What these ten trainings show, each of one seed:
#
# - From the start that loses signal and gradient, the plain net guesses at both rates.
# - From each start that keeps them, it learns at the lower rate alone. So a way for the gradient is not enough: start
#   and rate decide together.
# - The highway net learns at both rates.
#
# So "the gradient vanishes" is true of one start, and can be cured without gates. The highway net spares the search
# for start and rate. [With ten seeds](../experiments/why_plain_fails/README.md) the two starts tried there give the
# same answer. [Over many starts](../experiments/what_trains/README.md) highway nets train from nearly all, plain
# nets from few, at 30 and 100 layers from fewer than at 10.
#
# Not tested here: how a small signal stops the training, although Adam rescales the gradient.
#
# **Go on:** [a gate of your own](your_own_gate.ipynb).
