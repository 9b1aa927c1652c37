"use strict";
/* What a reader takes away: the settings as Python, and the curves as CSV. */

/* How highway_networks draws weights of this shape, for each start of the page. */
const DRAWN_IN_PYTHON = {
  program: "rng.uniform(-1, 1, shape) / np.sqrt(shape[-1])",
  glorot: "rng.normal(0, np.sqrt(2 / sum(shape[-2:])), shape)",
  he: "rng.normal(0, np.sqrt(2 / shape[-1]), shape)",
  orthogonal: "rows_at_right_angles(shape)",
};

const OPTIMIZERS_IN_PYTHON = {
  adam: (rate) => `hn.Adam(net.parameters, lr=${rate}, clip=5.0)`,
  sgd: (rate) => `SGD(net.parameters, lr=${rate}, clip=5.0, momentum=0)`,
};

const RIGHT_ANGLES = `
def rows_at_right_angles(shape):
    *stack, rows, columns = shape
    q, r = np.linalg.qr(rng.normal(size=(*stack, columns, rows)))
    return np.swapaxes(q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :], -1, -2)

`;

/* A Python program that trains the two nets of these settings.  NumPy draws other random numbers than the page. */
function pythonOf(settings) {
  const { depth, width, rate, init, seed, optimizer, steps } = settings;
  const nets = netsOf(settings);
  const imports = ["import numpy as np\n\nimport highway_networks as hn"];
  if (nets.some(({ kind }) => kind === "residual")) imports.push('import highways.nets.extra_blocks  # for "residual"');
  if (optimizer === "sgd") imports.push("from highways.nets.optimizers import SGD");
  const pairs = nets.map(({ kind, b_T }) => `("${kind}", ${b_T})`).join(", ");
  return `# The same two nets in NumPy.  It draws other weights and batches than the page, so that
# the numbers differ somewhat, as from one seed to another.
${imports.join("\n")}

data = hn.subset(hn.load_mnist(), 0, 2000, 1000)


def small(x):  # means of 2 x 2 pixels, from -1 to 1
    return (x.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 127.5 - 1).reshape(-1, 196)

${init === "orthogonal" ? RIGHT_ANGLES : ""}
for block, gate_bias in (${pairs}):
    rng = np.random.default_rng(${seed})
    net = hn.DeepNet(196, 10, ${width}, ${depth}, block, rng, gate_bias=gate_bias, dtype=np.float64)
    for name in ("W_in", "W_H", "W_T", "W_out"):
        if hasattr(net, name):
            shape = getattr(net, name).shape
            getattr(net, name)[:] = ${DRAWN_IN_PYTHON[init]}
    optimizer = ${OPTIMIZERS_IN_PYTHON[optimizer](rate)}
    order = np.concatenate([rng.permutation(2000)[: 31 * 64] for _ in range(${Math.ceil(steps / 31)})])
    hn.train_epoch(net, optimizer, small(data.x_train), data.y_train, order[: ${steps} * 64], 64)
    print(block, hn.accuracy(net, small(data.x_test), data.y_test))
`;
}

const CSV_COLUMNS = ["step", "net", "loss", "accuracy", "spread_first", "spread_last", "gradient_first", "gradient_last", "mean_T"];

/* A line for each step and net; what was not measured is empty. */
function csvOf(records, names) {
  const lines = [CSV_COLUMNS.join(",")];
  records.forEach(({ nets }, i) => {
    nets.forEach(({ loss, accuracy = "", spreads, gradients, gates }, k) => {
      const mean_T = gates ? gates.reduce((sum, T) => sum + T, 0) / gates.length : "";
      const name = `"${names[k].replaceAll("\u00a0", " ")}"`;
      lines.push([i + 1, name, loss, accuracy, spreads[0], spreads.at(-1), gradients[0], gradients.at(-1), mean_T].join(","));
    });
  });
  return `${lines.join("\n")}\n`;
}

function download(name, text) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text])) });
  link.click();
  URL.revokeObjectURL(link.href);
}

/* Copies a text, and says on the button for a moment whether that worked. */
async function copy(text, button) {
  const words = button.textContent;
  const done = await navigator.clipboard.writeText(text).then(() => "Copied", () => "The browser forbids it");
  button.textContent = done;
  setTimeout(() => (button.textContent = words), 1500);
}

function listenToTakeaway() {
  $("copy-link").addEventListener("click", () => copy(location.href, $("copy-link")));
  $("copy-python").addEventListener("click", () => copy($("python").textContent, $("copy-python")));
  $("csv").addEventListener("click", () => download("curves.csv", csvOf(run.records, namesOfNets())));
}
