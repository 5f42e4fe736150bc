/*
 * A matrix in a storage format as an operator: distributes the units of its layout to threads and
 * adds what they carry. Transposed products use A^T in the same format, made at the first one; half
 * of a symmetric matrix serves both.
 */
#include "host/rows.h"
#include "host/stored.h"
#include "matrix/entries.h"

/* A layout with the parts it is distributed in. */
typedef struct layout_shares {
    layout *L;
    const host_walk *walk;
    const host_kernels *kernels;
    bool scattered; /* see host_scattered() */
    int parts;
    int64_t *cuts; /* parts + 1: first units */
    void *carry;   /* room for what units carry, for two packs of columns; NULL: they do not */
    void *room;    /* of all parts, for two packs of columns; NULL until needed */
} layout_shares;

typedef struct layout_state {
    const spry_matrix *matrix; /* as given */
    int64_t version;           /* of the matrix, whose values are stored */
    char *spec;
    layout_shares shares, transposed; /* transposed.L is NULL until needed */
} layout_state;

static int64_t work_before(const layout *L, int64_t unit)
{
    if (L->class->work)
        return L->class->work(L, unit);
    return L->units == 0 ? 0 : (int64_t)((double)L->stored * (double)unit / (double)L->units);
}

/* The unit with about `target` work before it; the nearest, as units may be few. */
static int64_t find_cut(const layout *L, int64_t target)
{
    int64_t low = 0, high = L->units;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (work_before(L, middle) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && target - work_before(L, low - 1) < work_before(L, low) - target ? low - 1
                                                                                      : low;
}

static void shares_clear(spry_context *ctx, layout_shares *shares)
{
    layout_free(shares->L);
    base_free(ctx, shares->cuts);
    base_free(ctx, shares->carry);
    base_free(ctx, shares->room);
    *shares = (layout_shares){0};
}

spry_status host_store(const spry_matrix *A, const char *spec, host_stored *stored)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    spry_status status = SPRY_STATUS_OK;
    *stored = (host_stored){0};
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, layout_build(csr, spec, &stored->L));
    stored->scattered = host_scattered(csr->a.rows, csr->a.cols, csr->a.offsets, csr->a.col_index);
done:
    spry_matrix_free(owned);
    return status;
}

/* Distributes what is stored, which it takes, to threads. On failure *shares is cleared. */
static spry_status shares_distribute(spry_context *ctx, const host_stored *stored,
                                     layout_shares *shares)
{
    enum { UNIT_WEIGHT = 4 }; /* entries that a unit by itself costs */
    layout *L = stored->L;
    spry_status status = SPRY_STATUS_OK;
    *shares = (layout_shares){.L = L,
                              .walk = host_walk_for(L),
                              .kernels = host_kernels_for(ctx, L->type),
                              .scattered = stored->scattered};
    shares->parts = host_threads(ctx, work_before(L, L->units) + UNIT_WEIGHT * L->units);
    SPRY_GO(ctx, base_alloc(ctx, shares->parts + 1, sizeof *shares->cuts, &shares->cuts));
    for (int p = 0; p <= shares->parts; p++)
        shares->cuts[p] =
            find_cut(L, (int64_t)((double)work_before(L, L->units) * p / shares->parts));
    shares->cuts[0] = 0;
    shares->cuts[shares->parts] = L->units;
    if (L->carry_at)
        SPRY_GO(ctx, base_alloc(ctx, L->carry_at[L->units] + 1,
                                HOST_MOST_PACKS * HOST_PACK * sizeof(double), &shares->carry));
done:
    if (status != SPRY_STATUS_OK)
        shares_clear(ctx, shares);
    return status;
}

/* Builds A's layout and distributes it. On failure *shares is cleared. */
static spry_status shares_make(spry_context *ctx, const spry_matrix *A, const char *spec,
                               layout_shares *shares)
{
    host_stored stored;
    const spry_status status = host_store(A, spec, &stored);
    return status == SPRY_STATUS_OK ? shares_distribute(ctx, &stored, shares) : status;
}

/* The shares for op(A), made if it has to be, and whether its conjugate is meant. */
static spry_status find_shares(const spry_operator *op, spry_transpose transpose,
                               const layout_shares **shares, bool *conjugate)
{
    layout_state *state = op->state;
    const spry_symmetry symmetry = state->shares.L->symmetry;
    spry_matrix *transposed = NULL;
    spry_status status = SPRY_STATUS_OK;
    *shares = &state->shares;
    *conjugate = transpose == SPRY_TRANSPOSE_CONJUGATE;
    if (transpose == SPRY_TRANSPOSE_NO || symmetry == SPRY_SYMMETRY_SYMMETRIC)
        return SPRY_STATUS_OK;
    if (symmetry == SPRY_SYMMETRY_HERMITIAN) { /* A^T = conj(A) */
        *conjugate = transpose == SPRY_TRANSPOSE_YES;
        return SPRY_STATUS_OK;
    }
    *shares = &state->transposed;
    if (state->transposed.L)
        return SPRY_STATUS_OK;
    const base_kept before = base_try(op->ctx);
    SPRY_GO(op->ctx, operator_check_transpose(op, state->matrix, state->version));
    SPRY_GO(op->ctx, spry_matrix_transpose(state->matrix, false, &transposed));
    status = shares_make(op->ctx, transposed, state->spec, &state->transposed);
    if (status == SPRY_STATUS_UNSUPPORTED) { /* A^T may have other shapes of rows than A */
        char spec[LAYOUT_CSR_SPEC];
        layout_csr_instead(op->ctx, &before, state->shares.L->kind, spec);
        status = shares_make(op->ctx, transposed, spec, &state->transposed);
    }
    SPRY_GO(op->ctx, status);
done:
    spry_matrix_free(transposed);
    return status;
}

/* Room for products with several columns, at the first of them. */
enum { ROOM_SIZE = HOST_MOST_PACKS * HOST_PACK * sizeof(double) };
static spry_status make_room(const spry_operator *op, const layout_shares *found)
{
    layout_state *state = op->state;
    layout_shares *shares = found == &state->shares ? &state->shares : &state->transposed;
    if (shares->L->room == 0 || shares->room)
        return SPRY_STATUS_OK;
    return base_alloc(op->ctx, shares->parts * shares->L->room, ROOM_SIZE, &shares->room);
}

/* Adds what units carry to rows of y that are this thread's, in the order of units. */
static void add_carries(const layout_shares *shares, range rows, int width, int count,
                        void *const *y, int64_t y_stride)
{
    const layout *L = shares->L;
    const int64_t size = (int64_t)spry_type_size(L->type);
    for (int64_t u = 0; u < L->units; u++) {
        const int64_t first = L->carry_row[u], end = first + L->carry_at[u + 1] - L->carry_at[u];
        const int64_t from = first > rows.begin ? first : rows.begin;
        const int64_t to = end < rows.end ? end : rows.end;
        void *at[HOST_MOST_PACKS * HOST_PACK];
        if (from >= to)
            continue;
        for (int c = 0; c < count; c++)
            at[c] = (char *)y[c] + from * y_stride * size;
        shares->kernels->carry_add(to - from, width,
                                   (const char *)shares->carry +
                                       (L->carry_at[u] + from - first) * width * size,
                                   count, at, y_stride);
    }
}

typedef struct carries_job {
    const layout_shares *shares;
    int width, count;
    void *const *y;
    int64_t y_stride;
} carries_job;

static void add_share(void *argument, int part, int parts)
{
    const carries_job *j = argument;
    add_carries(j->shares, base_share(j->shares->L->rows, parts, part, 8), j->width, j->count, j->y,
                j->y_stride);
}

static void add_all_carries(const layout_shares *shares, int width, int count, void *const *y,
                            int64_t y_stride)
{
    if (!shares->carry)
        return;
    const int parts = shares->L->carry_at[shares->L->units] < 4096 ? 1 : shares->parts;
    carries_job job = {shares, width, count, y, y_stride};
    base_share_out(shares->L->ctx, parts, add_share, &job);
}

typedef struct multiply_job {
    const layout_shares *shares;
    const host_product *p;
} multiply_job;

static void multiply_share(void *argument, int part, int parts)
{
    const multiply_job *j = argument;
    (void)parts;
    j->shares->walk->multiply(j->shares->L, j->shares->cuts[part], j->shares->cuts[part + 1], j->p);
}

static spry_status layout_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const layout_shares *shares;
    host_product p = {.alpha = alpha, .beta = beta, .x = x, .y = y};
    const spry_status status = find_shares(op, transpose, &shares, &p.conjugate);
    if (status != SPRY_STATUS_OK)
        return status;
    p.carry = shares->carry;
    multiply_job job = {shares, &p};
    base_share_out(op->ctx, shares->parts, multiply_share, &job);
    add_all_carries(shares, 1, 1, &y, 1);
    return SPRY_STATUS_OK;
}

typedef struct columns_job {
    const layout_shares *shares;
    const host_columns *p;
} columns_job;

static void columns_share(void *argument, int part, int parts)
{
    const columns_job *j = argument;
    const layout_shares *shares = j->shares;
    host_columns mine = *j->p;
    (void)parts;
    if (shares->room)
        mine.room = (char *)shares->room + (size_t)(part * shares->L->room) * ROOM_SIZE;
    shares->walk->columns(shares->L, shares->cuts[part], shares->cuts[part + 1], &mine);
}

static spry_status layout_multiply_columns(const spry_operator *op, spry_transpose transpose,
                                           const host_columns *columns)
{
    const layout_shares *shares;
    host_columns p = *columns;
    spry_status status = find_shares(op, transpose, &shares, &p.conjugate);
    if (status == SPRY_STATUS_OK)
        status = make_room(op, shares);
    if (status != SPRY_STATUS_OK)
        return status;
    p.carry = shares->carry;
    p.scattered = shares->scattered;
    columns_job job = {shares, &p};
    base_share_out(op->ctx, shares->parts, columns_share, &job);
    add_all_carries(shares, p.packs * HOST_PACK / (1 + spry_type_is_complex(op->type)), p.count,
                    p.y, p.y_stride);
    return SPRY_STATUS_OK;
}

/* --- by rows ------------------------------------------------------------------------------------
 */

static range units_of(const layout *L, int64_t begin, int64_t end)
{
    return (range){begin / L->unit_rows, (end + L->unit_rows - 1) / L->unit_rows};
}

static void run_rows(const operator_rows *rows, int64_t begin, int64_t end, const void *x, void *y)
{
    const layout_shares *shares = rows->state;
    const range units = units_of(shares->L, begin, end);
    const host_product p = {
        .conjugate = rows->conjugate, .alpha = {1, 0}, .x = x, .y = y, .first = begin};
    shares->walk->multiply(shares->L, units.begin, units.end, &p);
}

static void run_packed(const operator_rows *rows, int64_t begin, int64_t end, int packs,
                       const void *x, int count, void *const *y)
{
    const layout_shares *shares = rows->state;
    const range slices = units_of(shares->L, begin, end);
    const host_columns p = rows_columns(rows, begin, shares->scattered, packs, x, count, y);
    shares->walk->columns(shares->L, slices.begin, slices.end, &p);
}

static int64_t row_work(const operator_rows *rows, int64_t row)
{
    const layout_shares *shares = rows->state;
    const layout *L = shares->L;
    return work_before(L, units_of(L, 0, row).end);
}

/* For formats whose units are rows, so that ranges of rows do not cut them. */
static spry_status layout_open_rows(const spry_operator *op, spry_transpose transpose,
                                    operator_rows *rows)
{
    const layout_shares *shares;
    bool conjugate;
    const spry_status status = find_shares(op, transpose, &shares, &conjugate);
    if (status == SPRY_STATUS_OK && layout_by_rows(shares->L))
        *rows = (operator_rows){.state = shares,
                                .conjugate = conjugate,
                                .run = run_rows,
                                .run_packed = run_packed,
                                .work = row_work};
    return status;
}

/* --- the object ---------------------------------------------------------------------------------
 */

static void layout_destroy(spry_operator *op)
{
    layout_state *state = op->state;
    if (!state)
        return;
    shares_clear(op->ctx, &state->shares);
    shares_clear(op->ctx, &state->transposed);
    base_free(op->ctx, state->spec);
    base_free(op->ctx, state);
}

static const layout *layout_of(const spry_operator *op)
{
    const layout_state *state = op->state;
    return state->shares.L;
}

static spry_status layout_storage(const spry_operator *op, spry_storage *storage)
{
    layout_describe(layout_of(op), storage);
    return SPRY_STATUS_OK;
}

static spry_status layout_to_matrix(const spry_operator *op, spry_matrix **A)
{
    return layout_to_csr(layout_of(op), A);
}

static spry_status layout_matrix_diagonal(const spry_operator *op, spry_vector **d)
{
    return layout_diagonal(layout_of(op), d);
}

static spry_status layout_remake(const spry_operator *op, const spry_matrix *A,
                                 spry_operator **fresh)
{
    const layout_state *state = op->state;
    return host_layout_operator(A, state->spec, fresh);
}

static const operator_class layout_operator_class = {.name = "layout",
                                                     .has_transpose = true,
                                                     .multiply = layout_multiply,
                                                     .destroy = layout_destroy,
                                                     .rows.open = layout_open_rows,
                                                     .blocks.columns = layout_multiply_columns,
                                                     .stored.remake = layout_remake,
                                                     .stored.storage = layout_storage,
                                                     .stored.to_matrix = layout_to_matrix,
                                                     .stored.diagonal = layout_matrix_diagonal};

/* Of what is stored, which it takes, or of A, which is stored then (NULL). */
static spry_status make_operator(const spry_matrix *A, const char *spec, host_stored *stored,
                                 spry_operator **out)
{
    spry_context *ctx = A->ctx;
    const int64_t size = (int64_t)spry_type_size(A->a.type);
    spry_operator *op = NULL;
    layout_state *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, operator_new(ctx, &layout_operator_class, A->a.type, A->a.rows, A->a.cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *state, &state));
    op->state = state;
    state->matrix = A;
    state->version = matrix_version(A);
    state->spec = base_copy_text(ctx, spec);
    if (!state->spec) {
        status = SPRY_STATUS_NO_MEMORY;
        goto done;
    }
    if (stored) {
        const host_stored taken = *stored;
        stored->L = NULL;
        SPRY_GO(ctx, shares_distribute(ctx, &taken, &state->shares));
    } else {
        SPRY_GO(ctx, shares_make(ctx, A, spec, &state->shares));
    }
    operator_made_from(op, A, NULL);
    op->name = state->shares.L->class->name;
    op->own_bytes = layout_read_bytes(state->shares.L);
    op->bytes = op->own_bytes + (op->rows + op->cols) * size;
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

spry_status host_layout_operator(const spry_matrix *A, const char *spec, spry_operator **op)
{
    return make_operator(A, spec, NULL, op);
}

spry_status host_stored_operator(const spry_matrix *A, const char *spec, host_stored *stored,
                                 spry_operator **op)
{
    stored->L->ctx = A->ctx;
    const spry_status status = make_operator(A, spec, stored, op);
    layout_free(stored->L); /* which a failure may have left */
    stored->L = NULL;
    return status;
}
