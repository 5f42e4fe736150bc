/* The prolongation of smoothed aggregation: near-null vectors, T and P of a level. */
#include "precon/amg/smoothed.h"

#include "matrix/stats.h"

#include <omp.h>

enum { NODES = 2048, MOST_BLOCK = 16 };

/* --- the first level -----------------------------------------------------------------------------
 */

/* Near-null vectors: the matrix's own, or a constant for each kind of unknown. */
spry_status amg_first_vectors(amg *h, const precon_job *job, int block)
{
    spry_context *ctx = h->ctx;
    const int64_t n = job->A->a.rows;
    const int given = job->near ? job->near->near_count : 0, count = given > 0 ? given : block;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, n * count, spry_type_size(h->type), &h->near.values));
    h->near.count = count;
#pragma omp parallel for num_threads(host_threads(ctx, n)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < given; c++) {
            const spry_vector *v = job->near->near_null[c];
            value_store(h->type, h->near.values, i * count + c, value_load(v->type, v->data, i));
        }
        if (given == 0)
            value_store(h->type, h->near.values, i * count + i % block, (spry_scalar){1, 0});
    }
done:
    return status;
}

spry_status amg_smoothed_begin(amg *h, const precon_job *job, amg_level *level)
{
    const smoothed_options *options = h->options;
    const int64_t n = level->rows;
    level->block = options->block > 0 ? (int)options->block : stats_find_block(job->A);
    if (n % level->block != 0)
        return SPRY_FAIL(h->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon amg: block=%d, but the matrix has %" PRId64
                         " rows, which is no multiple of it",
                         level->block, n);
    if (job->near && job->near->near_count > MOST_BLOCK)
        return SPRY_FAIL(h->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon amg: %d near-null vectors; at most %d can be used",
                         job->near->near_count, MOST_BLOCK);
    return amg_first_vectors(h, job, level->block);
}

/* --- the tentative prolongation ------------------------------------------------------------------
 */

/* The nodes of each aggregate, in their order. */
static spry_status list_members(const amg *h, const amg_level *level, int64_t **starts,
                                int32_t **nodes, int64_t *longest)
{
    const int64_t count = level->A->a.rows / level->block, groups = level->coarse;
    int64_t *at = NULL;
    spry_status status = SPRY_STATUS_OK;
    *longest = 0;
    SPRY_GO(h->ctx, base_calloc(h->ctx, groups + 2, sizeof **starts, starts));
    SPRY_GO(h->ctx, base_alloc(h->ctx, count, sizeof **nodes, nodes));
    at = *starts + 1; /* at[a] goes from the first place of a to that of a + 1 */
    for (int64_t i = 0; i < count; i++)
        if (level->map[i] >= 0)
            at[level->map[i] + 1]++;
    for (int64_t a = 0; a < groups; a++) {
        *longest = at[a + 1] > *longest ? at[a + 1] : *longest;
        at[a + 1] += at[a];
    }
    for (int64_t i = 0; i < count; i++)
        if (level->map[i] >= 0)
            (*nodes)[at[level->map[i]]++] = (int32_t)i;
done:
    return status;
}

/* T, a row of h->near.count numbers for each row; h->near becomes the next level's. */
spry_status amg_make_tentative(amg *h, const amg_level *level, void **tentative)
{
    spry_context *ctx = h->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, h->type);
    const size_t size = spry_type_size(h->type);
    const int count = h->near.count, threads = host_threads(ctx, level->A->a.rows * count);
    const int64_t groups = level->coarse, parts = (groups + NODES - 1) / NODES;
    int64_t *starts = NULL, longest = 0;
    int32_t *nodes = NULL;
    char *work = NULL;
    void *coarse = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, list_members(h, level, &starts, &nodes, &longest));
    SPRY_GO(ctx, base_alloc(ctx, level->A->a.rows * count, size, tentative));
    SPRY_GO(ctx, base_alloc(ctx, groups * count * count, size, &coarse));
    const int64_t room = longest * level->block * count;
    SPRY_GO(ctx, base_alloc(ctx, room * threads, size, &work));
    const amg_tentative_job job = {.block = level->block,
                                   .count = count,
                                   .starts = starts,
                                   .nodes = nodes,
                                   .near = h->near.values,
                                   .tentative = *tentative,
                                   .coarse = coarse};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t part = 0; part < parts; part++)
        kernels->amg_tentative(&job, part * NODES,
                               (part + 1) * NODES < groups ? (part + 1) * NODES : groups,
                               work + (size_t)(room * omp_get_thread_num()) * size);
    base_free(ctx, h->near.values);
    h->near.values = coarse;
    coarse = NULL;
done:
    base_free(ctx, coarse);
    base_free(ctx, work);
    base_free(ctx, starts);
    base_free(ctx, nodes);
    return status;
}

/* --- smoothing it --------------------------------------------------------------------------------
 */

static void run_prolong(const amg *h, const amg_prolong_job *job, int64_t nodes, int64_t room,
                        int threads, int32_t *marks)
{
    const precon_kernels *kernels = precon_kernels_for(h->ctx, h->type);
    const int64_t parts = (nodes + NODES - 1) / NODES;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int64_t part = 0; part < parts; part++)
        kernels->amg_prolong(job, part * NODES,
                             (part + 1) * NODES < nodes ? (part + 1) * NODES : nodes,
                             marks + room * omp_get_thread_num());
}

spry_status amg_make_prolongation(const amg *h, const amg_level *level, const amg_graph *g,
                                  const amg_prolong_from *from, spry_matrix **P)
{
    spry_context *ctx = h->ctx;
    const matrix_arrays *a = from->a;
    const int count = h->near.count, threads = host_threads(ctx, a->nnz);
    const int64_t coarse = from->coarse, nodes = from->rows / level->block;
    matrix_arrays p = {
        .type = h->type, .format = SPRY_FORMAT_CSR, .rows = from->rows, .cols = coarse * count};
    /* The bound by rows where it is sharp, else what was found out for the smoother. */
    double largest = from->largest;
    if (largest > 2.1 && level->smoother.largest > 0 && level->smoother.largest < largest)
        largest = level->smoother.largest;
    int32_t *marks = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, coarse * threads, sizeof *marks, &marks));
    memset(marks, 0xff, (size_t)(coarse * threads) * sizeof *marks);
    SPRY_GO(ctx, base_alloc(ctx, p.rows + 1, sizeof *p.offsets, &p.offsets));
    p.offsets[0] = 0;
    amg_prolong_job job = {.A = {a->offsets, a->col_index, a->values},
                           .block = level->block,
                           .count = count,
                           .lengths = g->lengths,
                           .strong = g->columns,
                           .map = from->map,
                           .tentative = from->tentative,
                           .inverse = g->inverse,
                           .omega = largest > 0 ? from->smoothing / largest : 0,
                           .offsets = p.offsets};
    run_prolong(h, &job, nodes, coarse, threads, marks);
    SPRY_GO(ctx, base_prefix_sum(ctx, p.offsets, p.rows));
    p.nnz = p.offsets[p.rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &p));
    job.columns = p.col_index;
    job.values = p.values;
    run_prolong(h, &job, nodes, coarse, threads, marks);
done:
    base_free(ctx, marks);
    return matrix_finish(ctx, status, &p, P);
}

/*
 * The largest neighbour of a row relative to its diagonal, in the mean over a sample of rows
 * that do not dominate their neighbours; 1 where there are few of those.
 */
static double largest_share(const spry_matrix *A)
{
    enum { SAMPLE = 4096 };
    const matrix_arrays *a = &A->a;
    const int64_t step = a->rows / SAMPLE + 1;
    double shares = 0;
    int64_t seen = 0, counted = 0;
    for (int64_t i = 0; i < a->rows; i += step, seen++) {
        double diagonal = 0, most = 0, sum = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            const double length = v.im == 0 ? fabs(v.re) : hypot(v.re, v.im);
            if (a->col_index[k] == i) {
                diagonal = length;
            } else {
                sum += length;
                most = length > most ? length : most;
            }
        }
        if (sum > diagonal / 2 && diagonal > 0) {
            shares += most / diagonal;
            counted++;
        }
    }
    return counted > seen / 2 ? shares / (double)counted : 1;
}

double amg_smoothed_theta(const amg *h, const spry_matrix *A, int block)
{
    const smoothed_options *options = h->options;
    if (options->theta >= 0)
        return options->theta;
    if (block > 1)
        return 0.02;
    /* Half of the largest, as it is where each of the six neighbours in a grid has a sixth of the
     * diagonal: of 26 neighbours none would be strong by 0.08. */
    const double half = 0.48 * largest_share(A);
    return half < 0.08 ? half : 0.08;
}
