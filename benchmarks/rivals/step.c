/* The training step of a fully connected net: its products are made by NumPy's BLAS, all else here.

   Arrays are row-major and float32.  A state is (hidden + 1, images): the features of all images
   over a row of ones, which multiplies the biases.  c_rival.py has the same struct and makes the arrays. */

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef int64_t whole;
typedef void (*Sgemm)(int order, int transpose_a, int transpose_b, whole rows, whole columns, whole inner,
                      float alpha, const float *a, whole lda, const float *b, whole ldb, float beta, float *c, whole ldc);
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

typedef struct {
    whole d_in, d_out, hidden, depth, gated, images, size;
    float clip, lr, beta1, beta2, eps;
    Sgemm sgemm;
    float *parameters, *W_in, *b_in, *blocks, *output;       /* the last four lie in the first */
    float *gradient, *dW_in, *db_in, *d_blocks, *d_output;   /* likewise */
    float *m, *v;                                            /* Adam's */
    float *x;                                                /* (images, d_in) */
    float *states;                                           /* (depth + 1, hidden + 1, images) */
    float *H, *T;                                            /* (depth, hidden, images) */
    float *z, *dz;                                           /* (2 hidden, images), rows of H over rows of T */
    float *dy, *dx;                                          /* (hidden, images) */
    float *transposed;                                       /* (images, hidden + 1), of a state */
    float *logits;                                           /* (d_out, images), then their gradient */
} Net;

/* c = a b, (rows, inner) (inner, columns); the transposes are of what lies in memory. */
static void product(const Net *net, int transpose_a, int transpose_b, whole rows, whole columns, whole inner,
                    const float *a, const float *b, float *c)
{
    whole lda = transpose_a == AS_IT_IS ? inner : rows;
    whole ldb = transpose_b == AS_IT_IS ? columns : inner;
    net->sgemm(ROW_MAJOR, transpose_a, transpose_b, rows, columns, inner, 1, a, lda, b, ldb, 0, c, columns);
}

/* y = x + T (H - x), which is eq. 3. */
static void highway(whole n, const float *restrict z_H, const float *restrict z_T, const float *restrict x,
                    float *restrict H, float *restrict T, float *restrict y)
{
    for (whole i = 0; i < n; i++) {
        H[i] = tanhf(z_H[i]);
        T[i] = 1 / (1 + expf(-z_T[i]));
        y[i] = x[i] + T[i] * (H[i] - x[i]);
    }
}

/* The gradient of z; that of x past the product replaces dy. */
static void highway_backward(whole n, float *restrict dy, const float *restrict x, const float *restrict H,
                             const float *restrict T, float *restrict dz_H, float *restrict dz_T)
{
    for (whole i = 0; i < n; i++) {
        float dH = T[i] * dy[i];
        float carried = dy[i] - dH;
        dz_H[i] = (1 - H[i] * H[i]) * dH;
        dz_T[i] = T[i] * (H[i] - x[i]) * carried;
        dy[i] = carried;
    }
}

static void add_to(whole n, float *restrict sum, const float *restrict term)
{
    for (whole i = 0; i < n; i++)
        sum[i] += term[i];
}

static void tanh_of(whole n, const float *restrict z, float *restrict H)
{
    for (whole i = 0; i < n; i++)
        H[i] = tanhf(z[i]);
}

static void tanh_backward(whole n, const float *restrict dy, const float *restrict H, float *restrict dz)
{
    for (whole i = 0; i < n; i++)
        dz[i] = (1 - H[i] * H[i]) * dy[i];
}

/* (rows, columns) -> (columns, rows), 16 columns at a time. */
static void transpose(whole rows, whole columns, const float *restrict a, float *restrict b)
{
    for (whole first = 0; first < columns; first += 16)
        for (whole i = 0; i < rows; i++)
            for (whole j = first; j < first + 16 && j < columns; j++)
                b[j * rows + i] = a[i * columns + j];
}

/* The mean loss; its gradient replaces the logits. */
static float softmax_cross_entropy(const Net *net, const whole *y)
{
    whole n = net->images;
    float loss = 0;
    for (whole i = 0; i < n; i++) {
        float *logit = net->logits + i;
        float largest = logit[0], sum = 0;
        for (whole k = 1; k < net->d_out; k++)
            largest = fmaxf(largest, logit[k * n]);
        for (whole k = 0; k < net->d_out; k++)
            sum += expf(logit[k * n] - largest);
        loss += logf(sum) + largest - logit[y[i] * n];
        for (whole k = 0; k < net->d_out; k++)
            logit[k * n] = (expf(logit[k * n] - largest) / sum - (k == y[i])) / n;
    }
    return loss / n;
}

static void forward(const Net *net)
{
    whole n = net->images, h = net->hidden, rows = net->gated ? 2 * h : h;
    float *x = net->states;
    product(net, AS_IT_IS, TRANSPOSED, h, n, net->d_in, net->W_in, net->x, net->z);
    for (whole i = 0; i < h; i++)
        for (whole j = 0; j < n; j++)
            x[i * n + j] = tanhf(net->z[i * n + j] + net->b_in[i]);
    for (whole layer = 0; layer < net->depth; layer++) {
        float *y = x + (h + 1) * n;
        product(net, AS_IT_IS, AS_IT_IS, rows, n, h + 1, net->blocks + layer * rows * (h + 1), x, net->z);
        if (net->gated)
            highway(h * n, net->z, net->z + h * n, x, net->H + layer * h * n, net->T + layer * h * n, y);
        else
            tanh_of(h * n, net->z, y);
        x = y;
    }
    product(net, AS_IT_IS, AS_IT_IS, net->d_out, n, h + 1, net->output, x, net->logits);
}

static void backward(const Net *net)
{
    whole n = net->images, h = net->hidden, rows = net->gated ? 2 * h : h;
    float *x = net->states + net->depth * (h + 1) * n;
    transpose(h + 1, n, x, net->transposed);
    product(net, AS_IT_IS, AS_IT_IS, net->d_out, h + 1, n, net->logits, net->transposed, net->d_output);
    net->sgemm(ROW_MAJOR, TRANSPOSED, AS_IT_IS, h, n, net->d_out, 1, net->output, h + 1, net->logits, n, 0, net->dy, n);
    for (whole layer = net->depth - 1; layer >= 0; layer--) {
        float *y = x, *W = net->blocks + layer * rows * (h + 1);
        x -= (h + 1) * n;
        if (net->gated)
            highway_backward(h * n, net->dy, x, net->H + layer * h * n, net->T + layer * h * n, net->dz, net->dz + h * n);
        else
            tanh_backward(h * n, net->dy, y, net->dz);
        net->sgemm(ROW_MAJOR, TRANSPOSED, AS_IT_IS, h, n, rows, 1, W, h + 1, net->dz, n, 0, net->dx, n);
        if (net->gated)
            add_to(h * n, net->dy, net->dx);
        else
            memcpy(net->dy, net->dx, h * n * sizeof(float));
        transpose(h + 1, n, x, net->transposed);
        product(net, AS_IT_IS, AS_IT_IS, rows, h + 1, n, net->dz, net->transposed, net->d_blocks + layer * rows * (h + 1));
    }
    tanh_backward(h * n, net->dy, x, net->dz);
    product(net, AS_IT_IS, AS_IT_IS, h, net->d_in, n, net->dz, net->x, net->dW_in);
    for (whole i = 0; i < h; i++) {
        float sum = 0;
        for (whole j = 0; j < n; j++)
            sum += net->dz[i * n + j];
        net->db_in[i] = sum;
    }
}

/* Step t of Adam, of the gradient clipped to the norm `clip`. */
static void adam(const Net *net, whole t)
{
    const float *restrict g = net->gradient;
    float *restrict p = net->parameters, *restrict m = net->m, *restrict v = net->v;
    float beta1 = net->beta1, beta2 = net->beta2, eps = net->eps, squares = 0;
    for (whole i = 0; i < net->size; i++)
        squares += g[i] * g[i];
    float scale = fminf(1, net->clip / sqrtf(squares));
    float rate = net->lr / (1 - pow(beta1, t)), root = 1 / sqrt(1 - pow(beta2, t));
    for (whole i = 0; i < net->size; i++) {
        float scaled = scale * g[i];
        m[i] = beta1 * m[i] + (1 - beta1) * scaled;
        v[i] = beta2 * v[i] + (1 - beta2) * scaled * scaled;
        p[i] -= rate * m[i] / (sqrtf(v[i]) * root + eps);
    }
}

/* The loss of images that lie in net->x, with labels y; the gradient is written. */
float loss_and_gradient(const Net *net, const whole *y)
{
    forward(net);
    float loss = softmax_cross_entropy(net, y);
    backward(net);
    return loss;
}

/* Step t: gathers the images and labels of these rows, then forward, loss, backward, clip, Adam. */
void step(const Net *net, whole t, const whole *batch, const float *images, const whole *labels)
{
    whole y[net->images];
    for (whole i = 0; i < net->images; i++) {
        memcpy(net->x + i * net->d_in, images + batch[i] * net->d_in, net->d_in * sizeof(float));
        y[i] = labels[batch[i]];
    }
    loss_and_gradient(net, y);
    adam(net, t);
}
