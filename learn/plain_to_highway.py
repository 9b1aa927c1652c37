# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From a plain net to a highway net
#
# Thirty layers read handwritten digits, or they do not: equation 3 of [the paper](https://arxiv.org/abs/1507.06228)
# makes the difference. The nets are [`straightforward.py`](../straightforward.py)'s, in NumPy alone.

# %%
import inspect
import sys

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, "..")  # the programs of this project
sys.path.append("exercises")
from checks import check

import straightforward as net_of
from highways import check_layer

DEPTH = 30  # layers between the first and the last
EPOCHS = 5
N_TRAIN = 6000

# %% [markdown]
# ## Images
# Each image is a row of 784 numbers from -1 to 1.

# %%
x, y, x_test, y_test = net_of.headline_images()
x, y = x[:N_TRAIN], y[:N_TRAIN]
figure, axes = plt.subplots(1, 8, figsize=(8, 1.3))
for image, label, axis in zip(x[:8], y[:8], axes, strict=True):
    axis.imshow(image.reshape(28, 28), cmap="gray")
    axis.set_title(label)
    axis.axis("off")
plt.show()

# %% [markdown]
# ## A plain layer
# It replaces its input x by H. A batch has an image in each row, so W x is `x @ W.T`. The function also returns what
# [the backward pass](../docs/how_it_works.md#the-way-back) needs.

# %%
print(inspect.getsource(net_of.plain))


# %%
def train(net, lr=0.005):
    """Trains the net in place; returns the test accuracy after each epoch."""
    optimizer = net_of.Adam(net, lr)
    shuffle = np.random.default_rng([0, 1])
    accuracies = []
    for _ in range(EPOCHS):
        for rows in shuffle.permutation(len(x))[: len(x) // 128 * 128].reshape(-1, 128):
            logits, kept = net_of.forward(net, x[rows])
            _, d_logits = net_of.softmax_cross_entropy(logits, y[rows])
            optimizer.step(net_of.backward(net, kept, d_logits))  # a framework's loss.backward(), then Adam
        logits, _ = net_of.forward(net, x_test)
        accuracies.append((logits.argmax(axis=1) == y_test).mean())
    return accuracies


def new_net(block, depth):
    return net_of.make_net(np.random.default_rng(0), x.shape[1], 10, 50, depth, block)


curves = {}
curves["plain, 3 layers"] = train(new_net("plain", 3))
curves[f"plain, {DEPTH} layers"] = train(new_net("plain", DEPTH))
for name, accuracies in curves.items():
    print(f"{name}: test accuracy {accuracies[-1]:.2f}")

# %% [markdown]
# Three layers learn. Thirty guess: one digit in ten is right. Before you read on, write down why.
#
# ## A highway layer
# Equation 3: for each unit and each image a gate T decides how much of H to take; 1 - T of x stays:
#
# y = H T + x (1 - T), where H = tanh(W_H x + b_H), T = sigmoid(W_T x + b_T)
#
# Write it yourself, with `np.tanh` and `net_of.sigmoid`. Here a layer is a dict, `layer["W_H"]`. The cell says what is
# wrong, as the test of [exercise 2](exercises/README.md) does.


# %%
def highway(layer, x):
    """`layer` is a dict of W_H, b_H, W_T and b_T. Returns y, and the tuple (x, H, T)."""
    raise NotImplementedError("write equation 3 here, in place of this line")


check(2, highway)

# %% [markdown]
# Ours:

# %%
print(inspect.getsource(net_of.highway))

# %% [markdown]
# The gate's bias b_T starts at -2, so T begins near 0.12: most of x is *carried*, handed on as it is. Is our layer
# right? `check_layer` lists faults: it compares y with equation 3, and the gradient with a numerical one.


# %%
def layer(x, W_H, b_H, W_T, b_T):
    return net_of.highway(net_of.Layer(W_H=W_H, b_H=b_H, W_T=W_T, b_T=b_T), x)[0]


def layer_backward(x, dy, W_H, b_H, W_T, b_T):
    arrays = net_of.Layer(W_H=W_H, b_H=b_H, W_T=W_T, b_T=b_T)
    _, kept = net_of.highway(arrays, x)
    dx, gradient = net_of.highway_backward(arrays, kept, dy)
    return dx, gradient.W_H, gradient.b_H, gradient.W_T, gradient.b_T


print("faults found:", check_layer(layer, 12, layer_backward))

# %% [markdown]
# ## Train it

# %%
curves[f"highway, {DEPTH} layers"] = train(new_net("highway", DEPTH))

figure, axis = plt.subplots(figsize=(6, 3.5))
for name, accuracies in curves.items():
    colour = {"plain, 3 layers": "#777777", f"plain, {DEPTH} layers": "#D55E00"}.get(name, "#0072B2")
    axis.plot(range(1, EPOCHS + 1), accuracies, color=colour, marker="o", label=f"{name}: {accuracies[-1]:.2f}")
axis.set_xticks(range(1, EPOCHS + 1))
axis.axhline(0.1, color="gray", linestyle=":", label="guessing")
axis.set(xlabel="epoch", ylabel="test accuracy", ylim=(0, 1), title="Thirty layers learn if x has a way past them")
axis.legend(fontsize=8)
plt.show()

# %% [markdown]
# ## Which part of it helps?
# The gates? Hold them shut: with b_T = -20 every T is below a millionth, and each layer hands on its input.

# %%
shut = new_net("highway", DEPTH)
for block in shut.blocks:
    block.b_T[:] = -20
print(f"gates shut: test accuracy {train(shut)[-1]:.2f}")
print(f"gates open: test accuracy {curves[f'highway, {DEPTH} layers'][-1]:.2f}")

# %% [markdown]
# Shut gates are no worse. So thirty layers can be *trained* if the input has a way past them. Whether what they
# compute is of use is not shown: MNIST hardly needs depth. [Ten seeds say the
# same](../experiments/headline/README.md).
#
# **Go on:** [why the plain net fails, and what cures it](why_it_fails.ipynb).
