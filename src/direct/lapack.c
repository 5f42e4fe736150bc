/* Factors by LAPACK, whose routines are Fortran's: all arguments are pointers. OpenBLAS has them in
 * it and is the fastest. */
#include "direct/factor.h"
#include "direct/library.h"

/* getrf(rows, columns, matrix, column step, pivots, info) and gbtrf with the numbers of diagonals
 * after the sizes, for each type; laswp exchanges rows, trsm and gemm are BLAS. Lengths of texts
 * come last. */
typedef void getrf(const int *m, const int *n, void *a, const int *step, int *pivots, int *info);
typedef void gbtrf(const int *m, const int *n, const int *low, const int *high, void *a,
                   const int *step, int *pivots, int *info);
typedef void laswp(const int *columns, void *a, const int *step, const int *first, const int *last,
                   const int *pivots, const int *each);
typedef void trsm(const char *side, const char *part, const char *transposed, const char *diagonal,
                  const int *m, const int *n, const void *alpha, const void *a, const int *step_a,
                  void *b, const int *step_b, size_t, size_t, size_t, size_t);
typedef void gemm(const char *transposed_a, const char *transposed_b, const int *m, const int *n,
                  const int *k, const void *alpha, const void *a, const int *step_a, const void *b,
                  const int *step_b, const void *beta, void *c, const int *step_c, size_t, size_t);

static struct {
    getrf *dense[4];
    gbtrf *band[4];
    laswp *exchange[4];
    trsm *solve[4];
    gemm *product[4];
} routines;

#define ROUTINE(name, member, type)                                             \
    {                                                                           \
        name, offsetof(__typeof__(routines), member) + (type) * sizeof(getrf *) \
    }
#define ROUTINES(name, member)                                                      \
    ROUTINE("s" name, member, SPRY_TYPE_S), ROUTINE("d" name, member, SPRY_TYPE_D), \
        ROUTINE("c" name, member, SPRY_TYPE_C), ROUTINE("z" name, member, SPRY_TYPE_Z)
static const base_symbol symbols[] = {
    ROUTINES("getrf_", dense), ROUTINES("gbtrf_", band),   ROUTINES("laswp_", exchange),
    ROUTINES("trsm_", solve),  ROUTINES("gemm_", product),
};

static factor_library lapack = {
    .name = "LAPACK",
    .variable = "SPRY_LAPACK_LIBRARY",
    .files = {"libopenblas.so.0", "liblapack.so.3"},
    .symbols = symbols,
    .count = sizeof symbols / sizeof *symbols,
    .table = &routines,
};

/* The meaning of info: the first column whose pivot is 0, from 1, or 0. */
static int64_t first_bad(int info, int64_t n)
{
    return info > 0 ? info - 1 : n;
}

/* A dense matrix under elimination. */
typedef struct dense_job {
    spry_context *ctx;
    spry_type type;
    int n;
    char *a;
    int32_t *rows;
} dense_job;

static char *dense_at(const dense_job *job, int64_t i, int64_t j)
{
    return job->a + (size_t)(j * job->n + i) * spry_type_size(job->type);
}

/* One and minus one as numbers of a type. */
static const void *constant_one(spry_type type, bool minus)
{
    static const float s[2][2] = {{1, 0}, {-1, 0}};
    static const double d[2][2] = {{1, 0}, {-1, 0}};
    return type_is_single(type) ? (const void *)s[minus] : (const void *)d[minus];
}

/* Columns j..j+m-1 by the panel of k columns from `begin` on. */
static void update_columns(const dense_job *job, int begin, int k, int j, int m)
{
    const spry_type type = job->type;
    const int first = begin + 1, last = begin + k, each = 1, rest = job->n - begin - k;
    const void *one = constant_one(type, false), *minus = constant_one(type, true);
    routines.exchange[type](&m, dense_at(job, 0, j), &job->n, &first, &last, job->rows, &each);
    routines.solve[type]("L", "L", "N", "U", &k, &m, one, dense_at(job, begin, begin), &job->n,
                         dense_at(job, begin, j), &job->n, 1, 1, 1, 1);
    if (rest > 0)
        routines.product[type]("N", "N", &rest, &m, &k, minus, dense_at(job, begin + k, begin),
                               &job->n, dense_at(job, begin, j), &job->n, one,
                               dense_at(job, begin + k, j), &job->n, 1, 1);
}

/* Columns begin..begin+k-1, and all others by them; the first column without a pivot, or n. */
static int64_t eliminate_panel(const dense_job *job, int begin, int k)
{
    enum { COLUMNS = 256 }; /* at a time: a tenth of a second for 20,000 rows */
    const int n = job->n, left = n - begin, first = begin + 1, last = begin + k, each = 1;
    int info = 0;
    routines.dense[job->type](&left, &k, dense_at(job, begin, begin), &n, job->rows + begin, &info);
    for (int i = begin; i < begin + k; i++)
        job->rows[i] += begin;
    routines.exchange[job->type](&begin, job->a, &n, &first, &last, job->rows, &each);
    for (int j = last; j < n && !spry_context_interrupted(job->ctx, false); j += COLUMNS)
        update_columns(job, begin, k, j, n - j < COLUMNS ? n - j : COLUMNS);
    return info > 0 ? begin + first_bad(info, n) : n;
}

/* By panels, between which a request to stop is looked for. */
bool lapack_dense_factor(spry_context *ctx, spry_type type, int64_t n, void *a, int32_t *rows,
                         int64_t *bad)
{
    enum { PANEL = 128 };
    dense_job job = {.ctx = ctx, .type = type, .n = (int)n, .a = a};
    job.rows = rows;
    if (factor_library_load(ctx, &lapack) != SPRY_STATUS_OK)
        return false;
    *bad = n;
    for (int begin = 0; begin < n && *bad == n && !spry_context_interrupted(ctx, false);
         begin += PANEL)
        *bad = eliminate_panel(&job, begin, job.n - begin < PANEL ? job.n - begin : PANEL);
    return true;
}

bool lapack_band_factor(spry_context *ctx, spry_type type, const band_factors *f, int64_t *bad)
{
    const int size = (int)f->n, low = (int)f->low, high = (int)f->high;
    const int step = 2 * low + high + 1;
    int info = 0;
    if (factor_library_load(ctx, &lapack) != SPRY_STATUS_OK)
        return false;
    routines.band[type](&size, &size, &low, &high, f->factors, &step, f->rows, &info);
    *bad = first_bad(info, f->n);
    return true;
}
