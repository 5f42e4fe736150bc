/* The measurement itself: the best of several products, and how wrong the result is. */
#include "bench.h"

#include <math.h>

/* A sum as the unevaluated hi + lo: Ogita, Rump, Oishi, "Accurate sum and dot product" (2005). */
typedef struct sum {
    double hi, lo;
} sum;

/*
 * Adds a * b with its rounding error. The volatile keeps the compiler from fusing the product into
 * the addition, which would count the error twice.
 */
static void add_product(sum *s, double a, double b)
{
    volatile double product = a * b;
    double p = product, error = fma(a, b, -p);
    double t = s->hi + p, z = t - s->hi;
    s->lo += (s->hi - (t - z)) + (p - z) + error;
    s->hi = t;
}

/* Number k of an array of any type. */
static spry_scalar number(spry_type type, const void *values, int64_t k)
{
    const float *f = values;
    const double *d = values;
    switch (type) {
    case SPRY_S:
        return (spry_scalar){f[k], 0};
    case SPRY_D:
        return (spry_scalar){d[k], 0};
    case SPRY_C:
        return (spry_scalar){f[2 * k], f[2 * k + 1]};
    case SPRY_Z:
        break;
    }
    return (spry_scalar){d[2 * k], d[2 * k + 1]};
}

double bench_error(const spry_matrix *A, const spry_vector *x, const spry_vector *y)
{
    spry_arrays a = spry_matrix_arrays(A);
    const void *xs = spry_vector_read(x), *ys = spry_vector_read(y);
    double worst = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        sum re = {0, 0}, im = {0, 0};
        double scale = 0;
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++) {
            spry_scalar v = number(a.type, a.values, k), u = number(a.type, xs, a.col_index[k]);
            add_product(&re, v.re, u.re);
            add_product(&re, -v.im, u.im);
            add_product(&im, v.re, u.im);
            add_product(&im, v.im, u.re);
            scale += hypot(v.re, v.im) * hypot(u.re, u.im);
        }
        spry_scalar got = number(a.type, ys, i);
        double error = hypot((got.re - re.hi) - re.lo, (got.im - im.hi) - im.lo);
        double relative = error == 0 ? 0 : error / scale;
        worst = relative <= worst ? worst : relative; /* a NaN stays */
    }
    return worst;
}

/* Numbers in 1/2 to 3/2 that differ, the same in every run. */
static void fill(spry_vector *v)
{
    spry_type type = spry_vector_type(v);
    bool single = type == SPRY_S || type == SPRY_C;
    int64_t n = spry_vector_size(v) * (spry_type_is_complex(type) ? 2 : 1);
    void *data = spry_vector_data(v);
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        double value = 0.5 + state / 4294967291.0; /* a prime, so that all bits of x are in use */
        if (single)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
}

static spry_status best_of(const spry_operator *op, const spry_vector *x, spry_vector *y,
                           int64_t repeat, double *seconds)
{
    spry_status status = spry_operator_apply(op, x, y); /* warms up */
    *seconds = INFINITY;
    for (int64_t i = 0; i < repeat && status == SPRY_OK; i++) {
        double begin = cli_clock();
        status = spry_operator_apply(op, x, y);
        double took = cli_clock() - begin;
        *seconds = took < *seconds ? took : *seconds;
    }
    return status;
}

spry_status bench_spmv(spry_context *ctx, const spry_matrix *A, int64_t repeat,
                       bench_record *record)
{
    spry_operator *op = NULL;
    spry_vector *x = NULL, *y = NULL;
    double begin = cli_clock();
    spry_status status = spry_operator_from_matrix(A, &op);
    record->convert_seconds = cli_clock() - begin;
    if (status == SPRY_OK)
        status = spry_vector_zeros(ctx, A, &x);
    if (status == SPRY_OK)
        status = spry_vector_ones(ctx, A, &y);
    if (status == SPRY_OK) {
        fill(x);
        status = best_of(op, x, y, repeat, &record->seconds);
    }
    if (status == SPRY_OK) {
        double bytes = (double)spry_operator_bytes(op);
        record->type = spry_matrix_type(A);
        record->rows = spry_matrix_rows(A);
        record->nnz = spry_matrix_nnz(A);
        snprintf(record->format, sizeof record->format, "%s", spry_operator_name(op));
        record->gbps = bytes / record->seconds / 1e9;
        record->bytes_per_nnz = bytes / (double)record->nnz;
        record->stored_over_nnz = 1; /* CSR stores what there is */
        record->max_error = bench_error(A, x, y);
    }
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    return status;
}
