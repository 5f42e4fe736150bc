/* Patterns that grow, for all rows with all threads: see grow.h. */
#include "precon/factors/grow.h"

#include "precon/inverse/local.h"
#include "precon/kernels.h"

#include <omp.h>

/* A factor of 0 counts as 1. */
static int64_t product_up_to(int64_t a, int64_t b, int64_t most)
{
    b = b > 1 ? b : 1;
    return a > most / b ? most : a * b;
}

/* Entries that row k may come to have. */
static int64_t row_room(const local_problems *p, const local_growth *how, int64_t k)
{
    const int64_t begin = p->pattern_at[k + 1] - p->pattern_at[k];
    const int64_t grown = begin + how->steps * how->add;
    const int64_t most = how->most > begin ? how->most : begin;
    const int64_t columns = p->kind == LOCAL_FACTOR ? k + 1 : p->n;
    if (begin == 0)
        return 0;
    return grown < most ? (grown < columns ? grown : columns) : most < columns ? most : columns;
}

/* The problems without scales and memory for results. */
static grow_problems problems(const spry_matrix *B, const spry_matrix *T, const local_growth *how,
                              const spry_matrix *P)
{
    grow_problems g = {.p = local_problems_of(B, P, how->kind),
                       .eps = how->eps,
                       .steps = how->steps,
                       .add = how->add};
    const bool factor = how->kind == LOCAL_FACTOR;
    const int64_t n = B->a.rows, length = matrix_longest_row(B->ctx, &B->a);
    g.p.shift = how->shift;
    for (int64_t k = 0; k < n; k++) {
        const int64_t room = row_room(&g.p, how, k);
        g.cols = room > g.cols ? room : g.cols;
    }
    g.rows = factor ? g.cols : product_up_to(g.cols, length, n) + 1;
    g.candidates =
        product_up_to(g.rows, factor ? length : matrix_longest_row(T->ctx, &T->a), n) + 1;
    if (!factor) {
        g.t_at = T->a.offsets;
        g.t_columns = T->a.col_index;
        g.t_values = T->a.values;
    }
    return g;
}

static int64_t room_bytes(const spry_matrix *B, const grow_problems *g)
{
    return (precon_kernels_for(B->ctx, B->a.type)->grow_bytes(g) + ALIGNMENT - 1) / ALIGNMENT *
           ALIGNMENT;
}

/* Puts the rows that were found together, in P's place. */
static spry_status collect(spry_context *ctx, const grow_problems *g, spry_matrix *P)
{
    int64_t *offsets = NULL;
    int32_t *columns = NULL;
    const int64_t n = g->p.n;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *offsets, &offsets));
    offsets[0] = 0;
    for (int64_t k = 0; k < n; k++)
        offsets[k + 1] = offsets[k] + g->count[k];
    SPRY_GO(ctx, base_alloc(ctx, offsets[n], sizeof *columns, &columns));
    for (int64_t k = 0; k < n; k++)
        memcpy(columns + offsets[k], g->out + g->room_at[k], (size_t)g->count[k] * sizeof *columns);
    base_free(ctx, P->a.offsets);
    base_free(ctx, P->a.col_index);
    P->a.offsets = offsets;
    P->a.col_index = columns;
    P->a.nnz = offsets[n];
    offsets = NULL;
done:
    base_free(ctx, offsets);
    return status;
}

spry_status local_grow(const spry_matrix *B, const spry_matrix *T, const local_growth *how,
                       spry_matrix *P)
{
    enum { CHUNK = 32 };
    spry_context *ctx = B->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, B->a.type);
    grow_problems g = problems(B, T, how, P);
    const int64_t n = g.p.n, bytes = room_bytes(B, &g), chunks = (n + CHUNK - 1) / CHUNK;
    int64_t *room_at = NULL;
    void *scale = NULL;
    char *rooms = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, local_scales(B, how->kind, &scale));
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof *room_at, &room_at));
    room_at[0] = 0;
    for (int64_t k = 0; k < n; k++)
        room_at[k + 1] = room_at[k] + row_room(&g.p, how, k);
    const int threads = host_threads(ctx, 64 * room_at[n]);
    SPRY_GO(ctx, base_alloc(ctx, room_at[n], sizeof *g.out, &g.out));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *g.count, &g.count));
    SPRY_GO(ctx, base_alloc(ctx, bytes, (size_t)threads, &rooms));
    g.p.scale = scale;
    g.room_at = room_at;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t c = 0; c < chunks; c++)
        if (!spry_context_interrupted(ctx, false))
            kernels->grow_rows(&g, c * CHUNK, (c + 1) * CHUNK < n ? (c + 1) * CHUNK : n,
                               rooms + bytes * omp_get_thread_num());
    SPRY_GO(ctx, base_go_on(ctx, "a pattern that grows"));
    SPRY_GO(ctx, collect(ctx, &g, P));
done:
    base_free(ctx, rooms);
    base_free(ctx, g.out);
    base_free(ctx, g.count);
    base_free(ctx, room_at);
    base_free(ctx, scale);
    return status;
}
