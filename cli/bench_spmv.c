/* The measurement itself: the best of several products, and how wrong the result is. */
#include "bench.h"

#include <math.h>
#include <string.h>

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
    case SPRY_TYPE_S:
        return (spry_scalar){f[k], 0};
    case SPRY_TYPE_D:
        return (spry_scalar){d[k], 0};
    case SPRY_TYPE_C:
        return (spry_scalar){f[2 * k], f[2 * k + 1]};
    case SPRY_TYPE_Z:
        break;
    }
    return (spry_scalar){d[2 * k], d[2 * k + 1]};
}

/* The largest error of y = A x over |A| |x|, against a compensated sum; A is general CSR, numbers
 * are a step apart. */
static double largest_error(const spry_matrix *A, const void *x, int64_t x_stride, const void *y,
                            int64_t y_stride)
{
    spry_arrays a = SPRY_ARRAYS_INIT;
    spry_matrix_arrays(A, &a);
    const int64_t *offsets = a.offsets;
    const int32_t *columns = a.col_index;
    double worst = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        sum re = {0, 0}, im = {0, 0};
        double scale = 0;
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            spry_scalar v = number(a.type, a.values, k),
                        u = number(a.type, x, columns[k] * x_stride);
            add_product(&re, v.re, u.re);
            add_product(&re, -v.im, u.im);
            add_product(&im, v.re, u.im);
            add_product(&im, v.im, u.re);
            scale += hypot(v.re, v.im) * hypot(u.re, u.im);
        }
        spry_scalar got = number(a.type, y, i * y_stride);
        double error = hypot((got.re - re.hi) - re.lo, (got.im - im.hi) - im.lo);
        double relative = error == 0 ? 0 : error / scale;
        if (isnan(relative))
            return relative;
        worst = relative > worst ? relative : worst;
    }
    return worst;
}

/* Numbers in 1/2 to 3/2 that differ, the same in every run. */
static void fill(spry_type type, int64_t n, void *data)
{
    bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    uint32_t state = 1;
    n *= spry_type_is_complex(type) ? 2 : 1;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        double value = 0.5 + state / 4294967291.0; /* a prime, so that all bits of x are in use */
        if (single)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
}

/* The operands of a product: x and y hold all columns, in the host's memory. */
typedef struct operands {
    const spry_operator *op;
    spry_device *device; /* NULL: the host */
    spry_vector *x, *y;
    spry_vector *device_x, *device_y; /* the same on the device */
    spry_dense B, C;
    bool dense;
} operands;

static spry_status multiply(const operands *o)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    return o->dense
               ? spry_operator_multiply_dense(o->op, SPRY_TRANSPOSE_NO, one, &o->B, zero, &o->C)
               : spry_operator_apply(o->op, o->device ? o->device_x : o->x,
                                     o->device ? o->device_y : o->y);
}

/* One product, by the device's clock where it is on one. */
static spry_status time_one(const operands *o, double *seconds)
{
    const double begin = cli_clock();
    spry_status status = o->device ? spry_device_mark(o->device) : SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK)
        status = multiply(o);
    *seconds = cli_clock() - begin;
    return status == SPRY_STATUS_OK && o->device ? spry_device_elapsed(o->device, seconds) : status;
}

static spry_status best_of(const operands *o, int64_t repeat, double *seconds)
{
    spry_status status = multiply(o); /* warms up */
    *seconds = INFINITY;
    for (int64_t i = 0; i < repeat && status == SPRY_STATUS_OK; i++) {
        double took = INFINITY;
        status = time_one(o, &took);
        *seconds = took < *seconds ? took : *seconds;
    }
    return status;
}

static spry_status make_operands(spry_context *ctx, const bench_job *job, operands *o)
{
    int64_t rows = spry_matrix_rows(job->A), cols = spry_matrix_cols(job->A);
    int64_t k = job->columns > 0 ? job->columns : 1;
    spry_type type = spry_matrix_type(job->A);
    o->dense = job->columns > 0;
    spry_status status = spry_vector_new(ctx, type, cols * k, NULL, SPRY_OWN_COPY, &o->x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, type, rows * k, NULL, SPRY_OWN_COPY, &o->y);
    if (status != SPRY_STATUS_OK)
        return status;
    fill(type, cols * k, spry_vector_data(o->x));
    o->device = job->device;
    if (o->device)
        status = spry_vector_on(o->device, type, cols * k, NULL, &o->device_x);
    if (o->device && status == SPRY_STATUS_OK)
        status = spry_vector_on(o->device, type, rows * k, NULL, &o->device_y);
    if (o->device && status == SPRY_STATUS_OK)
        status = spry_vector_copy(o->x, o->device_x);
    if (status != SPRY_STATUS_OK)
        return status;
    void *b = spry_vector_handle(o->device ? o->device_x : o->x);
    void *c = spry_vector_handle(o->device ? o->device_y : o->y);
    o->B = (spry_dense){0, cols, k, job->by_rows ? k : cols, job->by_rows, b, o->device};
    o->C = (spry_dense){0, rows, k, job->by_rows ? k : rows, job->by_rows, c, o->device};
    return SPRY_STATUS_OK;
}

/* What is known once the product has been timed. */
static void fill_record(const bench_job *job, const operands *o, bench_record *r)
{
    spry_storage storage = {0};
    double size = (double)spry_type_size(r->type), k = (double)r->columns;
    int64_t ends = spry_matrix_rows(job->A) + spry_matrix_cols(job->A);
    spry_operator_storage(o->op, &storage);
    /* What was chosen is reported with its name. */
    if (strcmp(r->format, "auto") == 0)
        snprintf(r->params, sizeof r->params, "%.31s%s%.63s", storage.format,
                 *storage.options ? ":" : "", storage.options);
    else
        snprintf(r->params, sizeof r->params, "%s", storage.options);
    /* The least traffic: the storage, all of B and all of C once each. */
    double bytes = (double)storage.read_bytes + (double)ends * size * k;
    r->gbps = bytes / r->seconds / 1e9;
    r->bytes_per_nnz = (double)storage.read_bytes / (double)r->nnz;
    r->stored_over_nnz = (double)storage.stored / (double)r->nnz;
    const int64_t step = job->by_rows ? r->columns : 1;
    const char *b = spry_vector_data_const(o->x), *c = spry_vector_data_const(o->y);
    for (int64_t i = 0; i < r->columns && !isnan(r->max_error); i++) {
        double error =
            largest_error(job->A, b + i * (job->by_rows ? 1 : o->B.ld) * (int64_t)size, step,
                          c + i * (job->by_rows ? 1 : o->C.ld) * (int64_t)size, step);
        r->max_error = isnan(error) || error > r->max_error ? error : r->max_error;
    }
}

spry_status bench_product(spry_context *ctx, const bench_job *job, bench_record *record)
{
    operands o = {0};
    spry_operator *op = NULL;
    record->type = spry_matrix_type(job->A);
    record->rows = spry_matrix_rows(job->A);
    record->nnz = spry_matrix_nnz(job->A);
    record->columns = job->columns > 0 ? job->columns : 1;
    snprintf(record->format, sizeof record->format, "%.*s", (int)strcspn(job->format, ":"),
             job->format);
    double begin = cli_clock();
    spry_status status = spry_operator_from_matrix(job->A, job->device, job->format, &op);
    record->convert_seconds = cli_clock() - begin;
    if (status == SPRY_STATUS_UNSUPPORTED || status == SPRY_STATUS_NO_MEMORY ||
        status == SPRY_STATUS_BAD_INPUT) {
        snprintf(record->skipped, sizeof record->skipped, "%s", spry_message(ctx));
        return SPRY_STATUS_OK;
    }
    o.op = op;
    if (status == SPRY_STATUS_OK)
        status = make_operands(ctx, job, &o);
    if (status == SPRY_STATUS_OK)
        status = best_of(&o, job->repeat, &record->seconds);
    if (status == SPRY_STATUS_OK && o.device)
        status = spry_vector_copy(o.device_y, o.y);
    if (status == SPRY_STATUS_OK)
        fill_record(job, &o, record);
    spry_vector_free(o.x);
    spry_vector_free(o.y);
    spry_vector_free(o.device_x);
    spry_vector_free(o.device_y);
    spry_operator_free(op);
    return status;
}
