/*
 * A cuDSS that fails on command. The "device's" memory is that of the fake CUDA driver, which is
 * the host's, so factors are real ones: L U in a band, with pivots exchanged in columns. Those of
 * symmetric kinds have none exchanged, and of definite ones must be positive. The variable
 * FAKE_CUDSS says what is wrong, in words separated by blanks:
 *
 *     version=700      0.7; 10000: 1.0; 800: 0.8          bytes=N     KB that analysis estimates
 *     create=1 analysis=1 factor=2 solve=1                the first, second ... ends with `error`
 *     error=2          cudssStatus_t of such calls, 5 by default
 *     refuse=3         matrix kinds from this number on are not supported
 *     useless=1        the first factors solve nothing right
 */
#include "weather.h"

#include "direct/cudss_api.h"

#include <complex.h>
#include <math.h>

static struct {
    int creates, analyses, factors, solves;
} fake;
static weather wrong = {.variable = "FAKE_CUDSS", .counts = &fake, .size = sizeof fake};

typedef struct fake_matrix {
    int64_t n, nnz;
    const int32_t *offsets, *columns;
    void *values;
    int type, kind, view;
} fake_matrix;

/* Row i has columns i - low .. i + high + low; what is exchanged is reported in `rows`. */
typedef struct fake_data {
    int64_t n, low, high;
    double complex *band;
    int64_t *rows;
    int info, useless, matched;
} fake_data;

static int setting(const char *word, int otherwise)
{
    return weather_value(&wrong, word, otherwise);
}

static int turn(const char *word, int *count)
{
    return weather_turn(&wrong, word, count) ? setting("error", CUDSS_EXECUTION_FAILED) : CUDSS_OK;
}

#define FAKE(name, ...)                                           \
    __attribute__((visibility("default"))) int name(__VA_ARGS__); \
    int name(__VA_ARGS__)

FAKE(cudssGetProperty, int property, int *value)
{
    const int version = setting("version", 700);
    *value = property == CUDSS_MAJOR ? version / 10000 : version / 100 % 100;
    return CUDSS_OK;
}

/* --- handles -------------------------------------------------------------------------------------
 */

/* Each is memory of its own, so that what is not given back is found. */
static int give(void **handle, size_t size)
{
    *handle = calloc(1, size);
    return *handle ? CUDSS_OK : CUDSS_ALLOC_FAILED;
}

static int take(void *handle)
{
    free(handle);
    return CUDSS_OK;
}

FAKE(cudssCreate, void **handle)
{
    const int result = turn("create", &fake.creates);
    return result == CUDSS_OK ? give(handle, 1) : result;
}

FAKE(cudssDestroy, void *handle)
{
    return take(handle);
}

FAKE(cudssSetStream, void *handle, void *stream)
{
    return handle && stream ? CUDSS_OK : CUDSS_INVALID_VALUE;
}

FAKE(cudssSetThreadingLayer, void *handle, const char *file)
{
    (void)file;
    return handle ? CUDSS_OK : CUDSS_INVALID_VALUE;
}

FAKE(cudssConfigCreate, void **config)
{
    return give(config, sizeof(int));
}

FAKE(cudssConfigDestroy, void *config)
{
    return take(config);
}

FAKE(cudssConfigSet, void *config, int what, void *value, size_t size)
{
    if (what != CUDSS_0_USE_MATCHING || size != sizeof(int) || setting("version", 700) >= 10000)
        return CUDSS_INVALID_VALUE;
    *(int *)config = *(const int *)value;
    return CUDSS_OK;
}

FAKE(cudssDataCreate, void *handle, void **data)
{
    return handle ? give(data, sizeof(fake_data)) : CUDSS_INVALID_VALUE;
}

FAKE(cudssDataDestroy, void *handle, void *data)
{
    fake_data *f = data;
    (void)handle;
    free(f->band);
    free(f->rows);
    return take(data);
}

FAKE(cudssDataGet, void *handle, void *data, int what, void *value, size_t size, size_t *written)
{
    const fake_data *f = data;
    const int estimates =
        setting("version", 700) >= 10000 ? CUDSS_1_MEMORY_ESTIMATES : CUDSS_0_MEMORY_ESTIMATES;
    (void)handle;
    *written = size;
    if (what == CUDSS_DATA_INFO)
        *(int *)value = f->info;
    else if (what == CUDSS_DATA_NPIVOTS)
        *(int *)value = 0;
    else if (what == CUDSS_DATA_LU_NNZ)
        *(int64_t *)value = f->n * (f->low + f->high + 1);
    else if (what == estimates && size == CUDSS_ESTIMATES * sizeof(int64_t))
        ((int64_t *)value)[1] = (int64_t)setting("bytes", 1) << 10;
    else
        return CUDSS_INVALID_VALUE;
    return CUDSS_OK;
}

/* --- matrices ------------------------------------------------------------------------------------
 */

static int make_csr(void **matrix, const fake_matrix *m)
{
    const int result = give(matrix, sizeof *m);
    if (result == CUDSS_OK)
        *(fake_matrix *)*matrix = *m;
    return result;
}

/* Of version 1; that of version 0 has one argument less, and all of them up to there alike. */
FAKE(cudssMatrixCreateCsr, void **matrix, int64_t rows, int64_t cols, int64_t nnz, void *offsets,
     void *ends, void *columns, void *values, int offset_type, int index_type, int type, int kind,
     int view, int base)
{
    const int first = setting("version", 700) >= 10000;
    const fake_matrix m = {.n = rows,
                           .nnz = nnz,
                           .offsets = offsets,
                           .columns = columns,
                           .values = values,
                           .type = first ? type : index_type,
                           .kind = first ? kind : type,
                           .view = first ? view : kind};
    if (rows != cols || ends || offset_type != CUDSS_R_32I ||
        (first && index_type != CUDSS_R_32I) || (first ? base : view) != CUDSS_BASE_ZERO ||
        m.offsets[rows] != nnz)
        return CUDSS_INVALID_VALUE;
    return make_csr(matrix, &m);
}

FAKE(cudssMatrixCreateDn, void **matrix, int64_t rows, int64_t cols, int64_t stride, void *values,
     int type, int layout)
{
    const fake_matrix m = {.n = rows, .values = values, .type = type};
    if (cols != 1 || stride < rows || layout != CUDSS_COLUMN_MAJOR)
        return CUDSS_INVALID_VALUE;
    return make_csr(matrix, &m);
}

FAKE(cudssMatrixSetValues, void *matrix, void *values)
{
    ((fake_matrix *)matrix)->values = values;
    return CUDSS_OK;
}

FAKE(cudssMatrixDestroy, void *matrix)
{
    return take(matrix);
}

static double complex load(const fake_matrix *m, int64_t k)
{
    return m->type == CUDSS_R_32F   ? (double)((const float *)m->values)[k]
           : m->type == CUDSS_R_64F ? ((const double *)m->values)[k]
           : m->type == CUDSS_C_32F ? (double complex)((const float complex *)m->values)[k]
                                    : ((const double complex *)m->values)[k];
}

static void store(const fake_matrix *m, int64_t k, double complex value)
{
    if (m->type == CUDSS_R_32F)
        ((float *)m->values)[k] = (float)creal(value);
    else if (m->type == CUDSS_R_64F)
        ((double *)m->values)[k] = creal(value);
    else if (m->type == CUDSS_C_32F)
        ((float complex *)m->values)[k] = (float complex)value;
    else
        ((double complex *)m->values)[k] = value;
}

/* --- factors -------------------------------------------------------------------------------------
 */

static double complex *at(const fake_data *f, int64_t i, int64_t j)
{
    return &f->band[i * (2 * f->low + f->high + 1) + j - i + f->low];
}

static int analyse(const fake_matrix *m, fake_data *f, int matched)
{
    const int result = turn("analysis", &fake.analyses);
    if (result != CUDSS_OK)
        return result;
    if (m->kind >= setting("refuse", 5))
        return CUDSS_NOT_SUPPORTED;
    f->n = m->n;
    f->matched = matched;
    for (int64_t i = 0; i < m->n; i++)
        for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
            const int64_t d = m->columns[k] - i;
            f->high = d > f->high ? d : f->high;
            f->low = -d > f->low ? -d : f->low;
        }
    const size_t width = (size_t)(2 * f->low + f->high + 1);
    f->band = calloc((size_t)f->n * width, sizeof *f->band);
    f->rows = calloc((size_t)f->n, sizeof *f->rows);
    return f->band && f->rows ? CUDSS_OK : CUDSS_ALLOC_FAILED;
}

/* Of symmetric kinds the upper triangle alone is looked at. */
static void fill(const fake_matrix *m, const fake_data *f)
{
    const int whole = m->kind == CUDSS_GENERAL;
    const int hermitian = m->kind == CUDSS_HERMITIAN || m->kind == CUDSS_HPD;
    memset(f->band, 0, (size_t)(f->n * (2 * f->low + f->high + 1)) * sizeof *f->band);
    for (int64_t i = 0; i < m->n; i++)
        for (int32_t k = m->offsets[i]; k < m->offsets[i + 1]; k++) {
            const int64_t j = m->columns[k];
            if (whole || j >= i)
                *at(f, i, j) = load(m, k);
            if (!whole && j > i)
                *at(f, j, i) = hermitian ? conj(load(m, k)) : load(m, k);
        }
}

static void exchange(const fake_data *f, int64_t k, int64_t with)
{
    f->rows[k] = with;
    for (int64_t j = k; with != k && j < f->n && j <= k + f->high + f->low; j++) {
        const double complex held = *at(f, k, j);
        *at(f, k, j) = *at(f, with, j);
        *at(f, with, j) = held;
    }
}

static int factor(const fake_matrix *m, fake_data *f)
{
    const int definite = m->kind == CUDSS_SPD || m->kind == CUDSS_HPD;
    const int result = turn("factor", &fake.factors);
    if (result != CUDSS_OK || !f->band)
        return result != CUDSS_OK ? result : CUDSS_INVALID_VALUE;
    f->info = 0;
    f->useless = fake.factors == setting("useless", 0);
    fill(m, f);
    for (int64_t k = 0; k < f->n; k++) {
        const int64_t last = k + f->low < f->n ? k + f->low : f->n - 1;
        int64_t pivot = k;
        for (int64_t i = k; m->kind == CUDSS_GENERAL && i <= last; i++)
            pivot = cabs(*at(f, i, k)) > cabs(*at(f, pivot, k)) ? i : pivot;
        exchange(f, k, pivot);
        double complex p = *at(f, k, k);
        if (definite && !(creal(p) > 0))
            f->info = f->info ? f->info : (int)k + 1;
        if (cabs(p) < 1e-13) /* is perturbed */
            *at(f, k, k) = p = 1e-13;
        for (int64_t i = k + 1; i <= last; i++) {
            const double complex l = *at(f, i, k) /= p;
            for (int64_t j = k + 1; j < f->n && j <= k + f->high + f->low; j++)
                if (l != 0)
                    *at(f, i, j) -= l * *at(f, k, j);
        }
    }
    return CUDSS_OK;
}

static int solve(const fake_data *f, const fake_matrix *x, const fake_matrix *b)
{
    const int result = turn("solve", &fake.solves);
    if (result != CUDSS_OK || !f->band)
        return result != CUDSS_OK ? result : CUDSS_INVALID_VALUE;
    double complex *z = malloc((size_t)f->n * sizeof *z);
    if (!z)
        return CUDSS_ALLOC_FAILED;
    for (int64_t i = 0; i < f->n; i++)
        z[i] = load(b, i);
    for (int64_t k = 0; k < f->n; k++) {
        const double complex held = z[k];
        z[k] = z[f->rows[k]];
        z[f->rows[k]] = held;
        for (int64_t i = k + 1; i < f->n && i <= k + f->low; i++)
            z[i] -= *at(f, i, k) * z[k];
    }
    for (int64_t k = f->n - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < f->n && j <= k + f->high + f->low; j++)
            z[k] -= *at(f, k, j) * z[j];
        z[k] /= *at(f, k, k);
    }
    for (int64_t i = 0; i < f->n; i++)
        store(x, i, f->useless ? 3 * z[i] : z[i]);
    free(z);
    return CUDSS_OK;
}

FAKE(cudssExecute, void *handle, int phase, void *config, void *data, void *matrix, void *solution,
     void *right)
{
    fake_data *f = data;
    const int matched = *(const int *)config;
    if (!handle || (phase != CUDSS_ANALYSIS && matched != f->matched))
        return CUDSS_INVALID_VALUE;
    return phase == CUDSS_ANALYSIS                     ? analyse(matrix, f, matched)
           : phase == CUDSS_SOLVE                      ? solve(f, solution, right)
           : phase == CUDSS_FACTORIZATION              ? factor(matrix, f)
           : phase == CUDSS_REFACTORIZATION && f->rows ? factor(matrix, f)
                                                       : CUDSS_INVALID_VALUE;
}
