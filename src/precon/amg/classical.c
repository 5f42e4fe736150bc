/*
 * Classical multigrid: points are coarse or fine (pmis.c), and fine ones are interpolated from
 * coarse ones at most two steps away, by extended+i interpolation (H. De Sterck, R. D. Falgout, J.
 * W. Nolting, U. M. Yang, Distance-two interpolation for parallel algebraic multigrid, Numer.
 * Linear Algebra Appl. 15 (2008), 115-139), cut to a few entries per row. On the first levels this
 * can be done twice without a level between (U. M. Yang, On long-range interpolation operators for
 * aggressive coarsening, Numer. Linear Algebra Appl. 17 (2010), 453-472): the second time with the
 * coarse rows of A P_1 in place of a matrix, so that P = P_1 P_2.
 */
#include "precon/amg/amg.h"

#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"

#include <omp.h>

#define AMG_CLASSICAL(item)                                                                      \
    item(REAL, theta, "0.25", 0, 1, NULL,                                                        \
         "a row depends on entries of at least theta times its largest; 0.5 is better in three " \
         "dimensions")                                                                           \
    item(REAL, dominance, "0.9", 0, 10, NULL,                                                    \
         "rows whose sum is larger than that share of the diagonal are left to the smoother")    \
    item(INT, most, "5", 1, AMG_CLASSICAL_MOST, NULL, "entries of a row of the interpolation")   \
    item(REAL, small, "0.01", 0, 1, NULL, "weights below that share of a row's largest go")      \
    item(INT, aggressive, "1", 0, 40, NULL, "levels that are coarsened twice at once")

typedef struct classical_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    AMG_COMMON(SPRY_OPTION_FIELD)
    AMG_CLASSICAL(SPRY_OPTION_FIELD)
} classical_options;
SPRY_OPTION_TABLE(table, classical_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) AMG_COMMON(SPRY_OPTION_ROW)
                      AMG_CLASSICAL(SPRY_OPTION_ROW))

enum { ROWS = 1024 };

static int64_t end_of(int64_t part, int64_t n)
{
    return (part + 1) * ROWS < n ? (part + 1) * ROWS : n;
}

/* What each row depends on. */
static spry_status find_strong(const spry_matrix *A, const classical_options *o, amg_graph *g)
{
    spry_context *ctx = A->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, A->a.type);
    const host_csr csr = {A->a.offsets, A->a.col_index, A->a.values};
    const int64_t n = A->a.rows, parts = (n + ROWS - 1) / ROWS;
    spry_status status = SPRY_STATUS_OK;
    *g = (amg_graph){.nodes = n, .block = 1, .offsets = A->a.offsets};
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *g->lengths, &g->lengths));
    SPRY_GO(ctx, base_alloc(ctx, A->a.nnz, sizeof *g->columns, &g->columns));
#pragma omp parallel for num_threads(host_threads(ctx, A->a.nnz)) schedule(dynamic, 8)
    for (int64_t part = 0; part < parts; part++)
        kernels->amg_depends(&csr, o->theta, o->dominance, part * ROWS, end_of(part, n), g->lengths,
                             g->columns);
done:
    if (status != SPRY_STATUS_OK)
        amg_graph_clear(ctx, g);
    return status;
}

/* Rows of at most `most` entries, brought together. */
static spry_status gather(spry_context *ctx, const amg_classical_job *job, spry_type type,
                          int64_t rows, int64_t cols, spry_matrix **P)
{
    const size_t size = spry_type_size(type);
    matrix_arrays p = {.type = type, .format = SPRY_FORMAT_CSR, .rows = rows, .cols = cols};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof *p.offsets, &p.offsets));
    p.offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++)
        p.offsets[i + 1] = p.offsets[i] + job->counts[i];
    p.nnz = p.offsets[rows];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &p));
#pragma omp parallel for num_threads(host_threads(ctx, p.nnz)) schedule(static)
    for (int64_t i = 0; i < rows; i++) {
        const size_t count = (size_t)job->counts[i];
        const int64_t from = i * job->most;
        memcpy(p.col_index + p.offsets[i], job->columns + from, count * sizeof *p.col_index);
        memcpy((char *)p.values + (size_t)p.offsets[i] * size,
               (const char *)job->values + (size_t)from * size, count * size);
    }
done:
    return matrix_finish(ctx, status, &p, P);
}

static void free_rooms(spry_context *ctx, int threads, amg_classical_job *jobs)
{
    for (int t = 0; jobs && t < threads; t++) {
        base_free(ctx, jobs[t].at.mark);
        base_free(ctx, jobs[t].at.list);
        base_free(ctx, jobs[t].places);
        base_free(ctx, jobs[t].weights);
        base_free(ctx, jobs[t].shared);
    }
    base_free(ctx, jobs);
}

/* Before it is cut a row has what its neighbours have, or `most` entries for each of its own
 * in B. */
static spry_status make_rooms(const spry_matrix *A, int threads, amg_classical_job *jobs)
{
    spry_context *ctx = A->ctx;
    const size_t size = spry_type_size(A->a.type);
    const int64_t longest = matrix_longest_row(ctx, &A->a), cols = jobs[0].at.cols;
    const int64_t bound = longest * (jobs[0].map ? longest + 1 : jobs[0].most);
    const int64_t most = (bound < cols ? bound : cols) + 1;
    spry_status status = SPRY_STATUS_OK;
    for (int t = 0; t < threads; t++) {
        amg_places *at = &jobs[t].at;
        SPRY_GO(ctx, base_calloc(ctx, cols, sizeof *at->mark, &at->mark));
        SPRY_GO(ctx, base_alloc(ctx, most, sizeof *at->list, &at->list));
        SPRY_GO(ctx, base_alloc(ctx, most, size, &jobs[t].weights));
        if (!jobs[t].map)
            continue;
        SPRY_GO(ctx, base_alloc(ctx, longest, sizeof *jobs[t].places, &jobs[t].places));
        SPRY_GO(ctx, base_alloc(ctx, longest, size, &jobs[t].shared));
    }
done:
    return status;
}

/* All rows of an interpolation as `all` says, with all threads. */
static spry_status make_rows(const spry_matrix *A, amg_classical_job all, int64_t coarse,
                             spry_matrix **P)
{
    spry_context *ctx = A->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, A->a.type);
    const int64_t n = A->a.rows, parts = (n + ROWS - 1) / ROWS;
    const int threads = host_threads(ctx, A->a.nnz);
    amg_classical_job *jobs = NULL;
    spry_status status = SPRY_STATUS_OK;
    *P = NULL;
    SPRY_GO(ctx, base_calloc(ctx, threads, sizeof *jobs, &jobs));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *all.counts, &all.counts));
    SPRY_GO(ctx, base_alloc(ctx, n * all.most, sizeof *all.columns, &all.columns));
    SPRY_GO(ctx, base_alloc(ctx, n * all.most, spry_type_size(A->a.type), &all.values));
    for (int t = 0; t < threads; t++)
        jobs[t] = all;
    SPRY_GO(ctx, make_rooms(A, threads, jobs));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4)
    for (int64_t part = 0; part < parts; part++) {
        const int t = omp_get_thread_num();
        if (spry_context_interrupted(ctx, false))
            continue;
        (all.map ? kernels->amg_interpolate : kernels->amg_further)(&jobs[t], part * ROWS,
                                                                    end_of(part, n));
    }
    SPRY_GO(ctx, base_go_on(ctx, "interpolation"));
    SPRY_GO(ctx, gather(ctx, &all, A->a.type, n, coarse, P));
done:
    free_rooms(ctx, threads, jobs);
    base_free(ctx, all.counts);
    base_free(ctx, all.columns);
    base_free(ctx, all.values);
    return status;
}

/* Brings the coarse points that each row depends on before the fine ones, in their order; `rooms`
 * has places for the longest row, for each thread. */
static void part_points(amg_graph *g, const int32_t *map, int threads, int64_t longest,
                        int32_t *rooms, int32_t *coarse)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < g->nodes; i++) {
        int32_t *near = g->columns + g->offsets[i], *fine = rooms + longest * omp_get_thread_num();
        int32_t kept = 0, moved = 0;
        for (int32_t k = 0; k < g->lengths[i]; k++) {
            const int32_t j = near[k];
            if (map[j] < 0)
                fine[moved++] = j;
            else
                near[kept++] = j;
        }
        memcpy(near + kept, fine, (size_t)moved * sizeof *near);
        coarse[i] = kept;
    }
}

/* Interpolation for the points that map says. */
static spry_status interpolate(const spry_matrix *A, amg_graph *g, const int32_t *map,
                               int64_t coarse, const classical_options *o, spry_matrix **P)
{
    spry_context *ctx = A->ctx;
    const int threads = host_threads(ctx, A->a.nnz);
    const int64_t longest = matrix_longest_row(ctx, &A->a);
    int32_t *counts = NULL, *rooms = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof *counts, &counts));
    SPRY_GO(ctx, base_alloc(ctx, longest * threads, sizeof *rooms, &rooms));
    part_points(g, map, threads, longest, rooms, counts);
    const amg_classical_job job = {.A = {A->a.offsets, A->a.col_index, A->a.values},
                                   .lengths = g->lengths,
                                   .coarse = counts,
                                   .depends = g->columns,
                                   .map = map,
                                   .most = (int32_t)o->most,
                                   .at = {.cols = (int32_t)A->a.rows},
                                   .small = o->small};
    SPRY_GO(ctx, make_rows(A, job, coarse, P));
done:
    base_free(ctx, counts);
    base_free(ctx, rooms);
    return status;
}

/* A B, cut. */
static spry_status multiply_and_cut(const spry_matrix *A, const spry_matrix *B,
                                    const classical_options *o, spry_matrix **P)
{
    const amg_classical_job job = {.A = {A->a.offsets, A->a.col_index, A->a.values},
                                   .B = {B->a.offsets, B->a.col_index, B->a.values},
                                   .most = (int32_t)o->most,
                                   .at = {.cols = (int32_t)B->a.cols},
                                   .small = o->small};
    return make_rows(A, job, B->a.cols, P);
}

/* Splits the points of A, where *map is not known, and interpolates. */
static spry_status split(const spry_matrix *A, const classical_options *o, int32_t **map,
                         int64_t *coarse, spry_matrix **P)
{
    spry_context *ctx = A->ctx;
    amg_graph g = {0};
    spry_status status = SPRY_STATUS_OK;
    *P = NULL;
    SPRY_GO(ctx, find_strong(A, o, &g));
    if (!*map) {
        SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof **map, map));
        SPRY_GO(ctx, amg_pmis(ctx, &g, *map, coarse));
    }
    if (*coarse > 0)
        SPRY_GO(ctx, interpolate(A, &g, *map, *coarse, o, P));
done:
    amg_graph_clear(ctx, &g);
    return status;
}

/* The rows of A that belong to coarse points. */
static spry_status coarse_rows(const spry_matrix *A, const int32_t *map, int64_t coarse,
                               spry_matrix **out)
{
    spry_context *ctx = A->ctx;
    const size_t size = spry_type_size(A->a.type);
    matrix_arrays a = {
        .type = A->a.type, .format = SPRY_FORMAT_CSR, .rows = coarse, .cols = A->a.cols};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, coarse + 1, sizeof *a.offsets, &a.offsets));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < A->a.rows; i++)
        if (map[i] >= 0)
            a.offsets[map[i] + 1] = a.offsets[map[i]] + A->a.offsets[i + 1] - A->a.offsets[i];
    a.nnz = a.offsets[coarse];
    SPRY_GO(ctx, matrix_allocate_entries(ctx, &a));
#pragma omp parallel for num_threads(host_threads(ctx, a.nnz)) schedule(static)
    for (int64_t i = 0; i < A->a.rows; i++) {
        if (map[i] < 0)
            continue;
        const size_t count = (size_t)(A->a.offsets[i + 1] - A->a.offsets[i]);
        memcpy(a.col_index + a.offsets[map[i]], A->a.col_index + A->a.offsets[i],
               count * sizeof *a.col_index);
        memcpy((char *)a.values + (size_t)a.offsets[map[i]] * size,
               (const char *)A->a.values + (size_t)A->a.offsets[i] * size, count * size);
    }
done:
    return matrix_finish(ctx, status, &a, out);
}

/* P = P_1 P_2, cut. */
static spry_status go_further(amg_level *level, const classical_options *o, spry_matrix **P)
{
    spry_context *ctx = level->A->ctx;
    spry_matrix *rows = NULL, *between = NULL, *further = NULL, *product = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, coarse_rows(level->A, level->map, level->between, &rows));
    SPRY_GO(ctx, algebra_multiply(rows, *P, false, false, &between));
    SPRY_GO(ctx, split(between, o, &level->second, &level->coarse, &further));
    if (!further)
        goto done;
    SPRY_GO(ctx, multiply_and_cut(*P, further, o, &product));
    spry_matrix_free(*P);
    *P = product;
done:
    spry_matrix_free(rows);
    spry_matrix_free(between);
    spry_matrix_free(further);
    return status;
}

static spry_status coarsen(amg *h, const precon_job *job, int l, spry_matrix **P)
{
    spry_context *ctx = h->ctx;
    const classical_options *o = h->options;
    amg_level *level = &h->levels[l];
    spry_status status = SPRY_STATUS_OK;
    (void)job;
    level->block = 1;
    SPRY_GO(ctx, split(level->A, o, &level->map, &level->between, P));
    if (*P && l < o->aggressive)
        SPRY_GO(ctx, go_further(level, o, P));
done:
    if (status != SPRY_STATUS_OK) {
        spry_matrix_free(*P);
        *P = NULL;
    }
    return status;
}

static spry_status coarsen_on_device(amg_on_device *w, int l, device_matrix *P, int64_t *vanished)
{
    const classical_options *o = w->h->options;
    const amg_classical_rules rules = {o->theta, o->dominance, o->small, o->most};
    *vanished = 0; /* coarse points are interpolated from themselves */
    return amg_classical_coarsen_on_device(w, &rules, l < o->aggressive, P);
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    static const amg_kind kind = {.name = "amg-classical",
                                  .options = sizeof(classical_options),
                                  .coarsen = coarsen,
                                  .coarsen_on_device = coarsen_on_device};
    return amg_make(job, &kind, M);
}

const precon_kind precon_kind_amg_classical = {.name = "amg-classical",
                                               .summary = "classical algebraic multigrid",
                                               .options = SPRY_OPTION_LIST(table),
                                               .make = make,
                                               .on_devices = true,
                                               .half = true,
                                               .cost = {.kept = 2.5,
                                                        .work = 2,
                                                        .products = 130,
                                                        .solve = 160,
                                                        .vectors = 8,
                                                        .made_on_device = true,
                                                        .iterations = 25,
                                                        .sweeps = 12}};
