/* Matrix powers: the object, its basis, applications, and the operator. */
#include "powers/powers.h"

#include "base/team.h"
#include "device/linalg/operator.h"
#include "ranks/distributed.h"

SPRY_OPTION_TABLE(rows, powers_options, POWERS_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);
static const base_sized sized = BASE_SIZED(spry_powers_info, wait_seconds);

spry_option_list powers_option_list(void)
{
    return list;
}

void spry_powers_free(spry_powers *p)
{
    if (!p)
        return;
    powers_way_clear(p->ctx, &p->way);
    powers_ranks_clear(p->ctx, &p->ranks);
    if (p->matrix)
        spry_operator_free(p->product);
    spry_matrix_free(p->copy);
    stream_close(p->file);
    base_object_free(p->ctx, p);
}

/* --- the basis -----------------------------------------------------------------------------------
 */

static spry_status set_basis(spry_powers *p)
{
    const powers_options *o = &p->options;
    p->ready = o->basis != BASIS_NEWTON;
    if (o->basis == BASIS_POWERS)
        power_steps_plain((int)o->k, p->steps);
    if (o->basis == BASIS_CHEBYSHEV) {
        if (!(o->low < o->high) || !isfinite(o->low) || !isfinite(o->high - o->low))
            return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                             "basis=chebyshev needs an interval: low=%g high=%g is none; bounds of "
                             "A's eigenvalues are one",
                             o->low, o->high);
        power_steps_chebyshev((int)o->k, o->low, o->high, p->steps);
    }
    return SPRY_STATUS_OK;
}

/* Of real types, whether shift j has its conjugate behind it, or is the last. */
static bool is_pair(const spry_scalar *shifts, int j, int count)
{
    return j + 1 == count ||
           (shifts[j + 1].re == shifts[j].re && shifts[j + 1].im == -shifts[j].im);
}

spry_status spry_powers_set_shifts(spry_powers *p, int count, const spry_scalar *shifts)
{
    SPRY_NEED(CTX_OF(p), p, shifts);
    const bool real = !spry_type_is_complex(p->type);
    if (p->options.basis != BASIS_NEWTON)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "shifts are for basis=newton");
    if (count != p->options.k)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "%d shifts for k=%d", count,
                         (int)p->options.k);
    for (int j = 0; j < count; j++)
        if (!value_finite(shifts[j]))
            return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "shift %d is not finite", j + 1);
    for (int j = 0; real && j < count; j++) {
        if (shifts[j].im == 0)
            continue;
        if (!is_pair(shifts, j, count))
            return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                             "shift %d, %g%+gi, is not followed by its conjugate, which real "
                             "arithmetic needs",
                             j + 1, shifts[j].re, shifts[j].im);
        j++;
    }
    power_steps_newton(count, shifts, real, p->steps);
    p->ready = true;
    return SPRY_STATUS_OK;
}

/* --- making --------------------------------------------------------------------------------------
 */

/* Of a matrix that is distributed: gain is messages for messages. */
static spry_status prepare_ranks(spry_powers *p)
{
    const int k = (int)p->options.k;
    const int64_t size = (int64_t)spry_type_size(p->type);
    const part_set *set = &p->ranks.parts;
    spry_powers_info *info = &p->way.info;
    spry_status status = SPRY_STATUS_OK;
    powers_ranks_clear(p->ctx, &p->ranks);
    p->way.version = -1;
    SPRY_GO(p->ctx,
            powers_ranks_make(p->matrix, k,
                              p->options.schedule == SCHEDULE_PLAIN ? 1 : (int)p->options.depth,
                              &p->ranks));
    const int depth = p->ranks.depth, passes = (k + depth - 1) / depth;
    *info = (spry_powers_info){.cut = "rows",
                               .steps = k,
                               .depth = depth,
                               .parts = spry_context_ranks(p->ctx),
                               .part_bytes = set->largest_bytes,
                               .memory = set->bytes + (depth + 3) * set->largest * size,
                               .plain_bytes = k * p->product->bytes,
                               .bytes = k * p->product->bytes,
                               .gain = (double)k / passes};
    for (int j = 0; j < k; j++) {
        info->ghost_rows[j] = set->ghost_rows[j % depth];
        info->ghost_entries[j] = set->ghost_entries[j % depth];
    }
    snprintf(info->schedule, sizeof info->schedule, "%s", depth > 1 ? "parts" : "plain");
    p->way.version = matrix_version(p->matrix);
done:
    return status;
}

/* On a device: where the matrix is copied to it, its bytes count; where it is in its memory, steps
 * may go by parts. */
static spry_status prepare_device(spry_powers *p)
{
    const int schedule = (int)p->options.schedule;
    const int k = (int)p->options.k;
    const int depth = schedule == SCHEDULE_PLAIN ? 1 : device_powers_depth(p->product, k);
    const int passes = (k + depth - 1) / depth;
    spry_powers_info *info = &p->way.info;
    powers_way_clear(p->ctx, &p->way);
    p->way.version = matrix_version(p->matrix);
    *info = (spry_powers_info){.cut = "rows",
                               .steps = k,
                               .depth = depth,
                               .parts = 1,
                               .plain_bytes = k * p->product->bytes,
                               .bytes = passes * p->product->bytes,
                               .gain = (double)k / passes};
    if (depth == 1)
        info->bytes = info->plain_bytes;
    snprintf(info->schedule, sizeof info->schedule, "%s", depth > 1 ? "skewed" : "plain");
    return depth == 1 && (schedule == SCHEDULE_AUTO || schedule == SCHEDULE_PARTS)
               ? powers_choose_local(p)
               : SPRY_STATUS_OK;
}

/* The product, where it is to be. */
static spry_status make_product(spry_powers *p)
{
    spry_device *device = NULL;
    if (strcmp(p->options.device, "cpu") == 0)
        return host_csr_operator(p->matrix, &p->product);
    if (p->matrix->distributed)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_UNSUPPORTED,
                         "powers on ranks are made by processors: device=cpu");
    spry_status status = spry_device_open(p->ctx, p->options.device, &device);
    if (status == SPRY_STATUS_OK)
        status = device_operator(device, p->matrix, "csr", &p->product);
    if (status == SPRY_STATUS_OK)
        operator_made_from(p->product, p->matrix, NULL);
    return status;
}

/* The matrix as CSR and the way, in the place of those before. */
static spry_status prepare(spry_powers *p)
{
    spry_status status = SPRY_STATUS_OK;
    if (!p->matrix)
        return powers_choose_operator(p);
    if (p->product->device)
        return prepare_device(p);
    if (p->matrix->distributed)
        return prepare_ranks(p);
    spry_matrix_free(p->copy);
    p->copy = NULL;
    powers_way_clear(p->ctx, &p->way);
    p->way.version = -1; /* until all is set up */
    matrix_follow(p->matrix);
    SPRY_GO(p->ctx, matrix_as_csr(p->matrix, &p->csr, &p->copy));
    SPRY_GO(p->ctx, powers_choose(p));
done:
    return status;
}

spry_status powers_begin(spry_context *ctx, const char *options, spry_powers **out)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_object_new(ctx, sizeof **out, out));
    (*out)->ctx = ctx;
    SPRY_GO(ctx, options_take(ctx, list, &(*out)->options, options));
    SPRY_GO(ctx, set_basis(*out));
done:
    return status;
}

spry_status powers_need_all(const spry_powers *p)
{
    if (p->options.results == RESULTS_ALL)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                     "results=last is for spry_powers_from_operator(): of a matrix "
                     "spry_operator_from_matrix() makes one");
}

spry_status powers_end(spry_context *ctx, spry_status status, spry_powers *p, spry_powers **out)
{
    if (status == SPRY_STATUS_OK)
        *out = p;
    else
        spry_powers_free(p);
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    return status;
}

spry_status spry_powers_new(const spry_matrix *A, const char *options, spry_powers **out)
{
    SPRY_NEED(CTX_OF(A), A, out);
    spry_context *ctx = A->ctx;
    spry_powers *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    if (!matrix_is_square(A))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the matrix is %" PRId64 " x %" PRId64 ": powers are of square ones",
                         A->a.rows, A->a.cols);
    status = powers_begin(ctx, options, &p);
    if (status == SPRY_STATUS_OK)
        status = powers_need_all(p);
    if (A->distributed)
        status = team_agree(ctx, status);
    SPRY_GO(ctx, status);
    p->type = A->a.type;
    p->n = A->a.rows;
    p->matrix = A;
    SPRY_GO(ctx, make_product(p));
    SPRY_GO(ctx, prepare(p));
done:
    return powers_end(ctx, status, p, out);
}

spry_status spry_powers_from_operator(const spry_operator *A, const char *options,
                                      spry_powers **out)
{
    SPRY_NEED(CTX_OF(A), A, out);
    spry_context *ctx = A->ctx;
    spry_powers *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    if (operator_all_rows(A) != operator_all_cols(A))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "operator %s is %" PRId64 " x %" PRId64 ": powers are of square ones",
                         spry_operator_name(A), operator_all_rows(A), operator_all_cols(A));
    status = powers_begin(ctx, options, &p);
    if (status == SPRY_STATUS_OK && (p->options.schedule == SCHEDULE_PARTS ||
                                     (p->options.cut != CUT_AUTO && p->options.cut != CUT_ROWS)))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "parts and other orders are made of a matrix's entries: "
                           "spry_operator_to_matrix() and spry_powers_new() are for them");
    if (A->rows_part.is)
        status = team_agree(ctx, status);
    SPRY_GO(ctx, status);
    p->type = A->type;
    p->n = A->rows;
    p->product = (spry_operator *)(uintptr_t)A; /* which nothing here changes */
    SPRY_GO(ctx, prepare(p));
done:
    return powers_end(ctx, status, p, out);
}

spry_status spry_powers_forecast(const spry_powers *p, spry_powers_info *info)
{
    SPRY_NEED(CTX_OF(p), p, info);
    const spry_status status = base_blank(p->ctx, info, &sized);
    if (status != SPRY_STATUS_OK)
        return status;
    spry_powers_info known = p->way.info;
    if (p->file) {
        known.read_bytes = p->file->read_bytes;
        known.read_seconds = p->file->read_seconds;
        known.wait_seconds = p->file->wait_seconds;
    }
    base_give(info, &known, &sized);
    return SPRY_STATUS_OK;
}

/* --- applications --------------------------------------------------------------------------------
 */

/* Whether it is of all ranks. */
static bool is_distributed(const spry_powers *p)
{
    return !p->file && p->product->rows_part.is;
}

/* What the way was made for, as it is now. */
static int64_t current_version(const spry_powers *p)
{
    return p->matrix ? matrix_version(p->matrix) : p->product->changes;
}

/* Any basis, count of 1 to MOST_POWERS, on the host. */
static spry_status run_steps(spry_powers *p, int count, const power_step *steps, const void *x,
                             void *const *v)
{
    spry_status status = SPRY_STATUS_OK;
    if (p->file)
        return stream_steps(p->file, count, steps, x, v);
    if (current_version(p) != p->way.version)
        SPRY_GO(p->ctx, prepare(p));
    const bool by_ranks = p->matrix && p->matrix->distributed;
    const int depth = by_ranks ? p->ranks.depth : p->way.depth;
    if (depth == 1) {
        spry_vector from = vector_over(p->ctx, p->type, p->n, (void *)(uintptr_t)x);
        from.part = p->product->cols_part;
        spry_vector to[MOST_POWERS], *all[MOST_POWERS];
        for (int j = 0; j < count; j++) {
            to[j] = vector_over(p->ctx, p->type, p->n, v[j]);
            to[j].part = p->product->rows_part;
            all[j] = &to[j];
        }
        return operator_powers(p->product, SPRY_TRANSPOSE_NO, count, steps, &from, all);
    }
    for (int j = 0; j < count; j += depth) {
        const int together = count - j < depth ? count - j : depth;
        const void *before = j > 1 ? v[j - 2] : j == 1 ? x : NULL, *at = j > 0 ? v[j - 1] : x;
        if (by_ranks)
            SPRY_GO(p->ctx,
                    powers_ranks_run(p->ctx, &p->ranks, together, steps + j, before, at, v + j));
        else
            powers_way_run(p, together, steps + j, before, at, v + j);
    }
done:
    return status;
}

static spry_status check_vector(const spry_powers *p, const char *name, int number,
                                const spry_vector *v)
{
    char place[16] = "";
    if (number > 0)
        snprintf(place, sizeof place, " %d", number);
    if (!v)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "%s%s is NULL", name, place);
    if (v->ctx != p->ctx || v->type != p->type || v->n != p->n)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s%s has %" PRId64 " numbers of type %s; %" PRId64
                         " of type %s and of the same context are needed",
                         name, place, v->n, spry_type_name(v->type), p->n, spry_type_name(p->type));
    const spry_device *where = p->file ? NULL : p->product->device;
    if (v->device != where)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s%s is on %s, and powers are made on %s; the option device says where",
                         name, place, place_name(v->device), place_name(where));
    return SPRY_STATUS_OK;
}

/* Whether the vectors fit; the one of each step, which takes turns where the last is wanted. */
static spry_status check_vectors(const spry_powers *p, const spry_vector *x, spry_vector *const *v,
                                 spry_vector **steps)
{
    const int k = (int)p->options.k, given = p->options.results == RESULTS_LAST && k > 2 ? 2 : k;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, check_vector(p, "x", 0, x));
    SPRY_GO(p->ctx, vector_fetch(x));
    for (int j = 0; j < given; j++) {
        SPRY_GO(p->ctx, check_vector(p, "vector", j + 1, v[j]));
        SPRY_GO(p->ctx, vector_fetch(v[j]));
        for (int i = 0; i <= j; i++)
            if (vector_same(i > 0 ? v[i - 1] : x, v[j]))
                SPRY_GO(p->ctx,
                        SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE, "vector %d is the same as %s",
                                  j + 1, i > 0 ? "one before it" : "x"));
    }
    for (int j = 0; j < k; j++)
        steps[j] = p->options.results == RESULTS_LAST ? v[(k - 1 - j) % 2] : v[j];
done:
    return status;
}

/* On a device; new values of the matrix are copied to it. */
static spry_status run_on_device(spry_powers *p, const spry_vector *x, spry_vector *const *v)
{
    spry_status status = SPRY_STATUS_OK;
    if (p->matrix && matrix_version(p->matrix) != p->way.version) {
        SPRY_GO(p->ctx, spry_operator_update(p->product, p->matrix));
        SPRY_GO(p->ctx, prepare(p));
    }
    if (p->way.local.count > 0)
        return powers_local_run(&p->way.local, (int)p->options.k, p->steps, x, v);
    SPRY_GO(p->ctx, p->options.schedule == SCHEDULE_PLAIN || p->options.results == RESULTS_LAST
                        ? operator_powers_plain(p->product, SPRY_TRANSPOSE_NO, (int)p->options.k,
                                                p->steps, x, v)
                        : operator_powers(p->product, SPRY_TRANSPOSE_NO, (int)p->options.k,
                                          p->steps, x, v));
done:
    return status;
}

spry_status spry_powers_apply(spry_powers *p, const spry_vector *x, spry_vector *const *v)
{
    SPRY_NEED(CTX_OF_ANY(p, x), p, x, v);
    spry_vector *steps[MOST_POWERS];
    void *arrays[MOST_POWERS];
    if (!p->ready)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_BAD_USAGE,
                         "basis=newton needs shifts: spry_powers_set_shifts() gives them");
    spry_status status = check_vectors(p, x, v, steps);
    if (is_distributed(p))
        status = team_agree(p->ctx, status);
    for (int j = 0; j < p->options.k && status == SPRY_STATUS_OK; j++)
        arrays[j] = steps[j]->data;
    if (status == SPRY_STATUS_OK && !p->file && p->product->device)
        status = run_on_device(p, x, steps);
    else if (status == SPRY_STATUS_OK)
        status = run_steps(p, (int)p->options.k, p->steps, x->data, arrays);
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(p->ctx);
    return status;
}

/* --- the operator --------------------------------------------------------------------------------
 */

static spry_status powers_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    const spry_powers *p = op->state;
    return p->file ? stream_multiply(p->file, alpha, x, beta, y)
                   : p->product->class->multiply(p->product, transpose, alpha, x, beta, y);
}

static spry_status powers_open_rows(const spry_operator *op, spry_transpose transpose,
                                    operator_rows *opened)
{
    const spry_powers *p = op->state;
    return operator_open_rows(p->product, transpose, opened);
}

static spry_status powers_multiply_columns(const spry_operator *op, spry_transpose transpose,
                                           const struct host_columns *columns)
{
    const spry_powers *p = op->state;
    return p->product->class->blocks.columns(p->product, transpose, columns);
}

/* Steps that are made together on the host. */
static int depth_of(const spry_powers *p)
{
    return p->file                               ? p->file->depth
           : p->matrix && p->matrix->distributed ? p->ranks.depth
           : p->product->device                  ? 1
                                                 : p->way.depth;
}

static spry_status powers_powers(const spry_operator *op, int count, const power_step *steps,
                                 const spry_vector *x, spry_vector *const *v, bool *made)
{
    void *arrays[MOST_POWERS];
    spry_status status = SPRY_STATUS_OK;
    bool usable;
    if (!steps) { /* a question */
        *made = depth_of(op->state) >= count;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(op->ctx, power_arrays(count, x, v, arrays, &usable));
    usable = usable && !power_turns(count, v); /* which parts and rings do not go with */
    if (usable)
        SPRY_GO(op->ctx, run_steps(op->state, count, steps, x->data, arrays));
    *made = usable;
done:
    return status;
}

static const operator_class powers_class = {.name = "powers",
                                            .has_transpose = true,
                                            .multiply = powers_multiply,
                                            .rows.open = powers_open_rows,
                                            .blocks.columns = powers_multiply_columns,
                                            .powers = powers_powers};

/* Of an operator, which need not have products with several columns. */
static const operator_class given_class = {.name = "powers",
                                           .has_transpose = true,
                                           .multiply = powers_multiply,
                                           .rows.open = powers_open_rows,
                                           .powers = powers_powers};

static spry_status file_diagonal(const spry_operator *op, spry_vector **d)
{
    const spry_powers *p = op->state;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, spry_vector_new(p->ctx, p->type, p->n, NULL, SPRY_OWN_COPY, d));
    SPRY_GO(p->ctx, stream_diagonal(p->file, (*d)->data));
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*d);
        *d = NULL;
    }
    return status;
}

static spry_status file_storage(const spry_operator *op, spry_storage *storage)
{
    const spry_powers *p = op->state;
    const int64_t nnz = p->file->sizes.nnz;
    *storage = (spry_storage){.format = "file",
                              .nnz = nnz,
                              .stored = nnz,
                              .bytes = p->file->bytes,
                              .read_bytes = p->file->bytes,
                              .beta = 1,
                              .exact = true};
    return SPRY_STATUS_OK;
}

static const operator_class file_class = {.name = "file",
                                          .multiply = powers_multiply,
                                          .stored.storage = file_storage,
                                          .stored.diagonal = file_diagonal,
                                          .powers = powers_powers};

spry_status spry_powers_operator(spry_powers *p, spry_operator **out)
{
    SPRY_NEED(CTX_OF(p), p, out);
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    const bool given = !p->file && !p->matrix;
    *out = NULL;
    if (given && p->product->device)
        return SPRY_FAIL(p->ctx, SPRY_STATUS_UNSUPPORTED,
                         "the operator lives on %s: apply it by itself",
                         place_name(p->product->device));
    SPRY_GO(p->ctx, operator_new(p->ctx,
                                 p->file ? &file_class
                                 : given ? &given_class
                                         : &powers_class,
                                 p->type, p->n, p->n, &op));
    op->state = p;
    if (!p->file) {
        op->one_way = !spry_operator_has_transpose(p->product);
        op->rows_part = p->product->rows_part;
        op->cols_part = p->product->cols_part;
        op->square = p->product->square;
    }
    op->own_bytes = p->file ? p->file->bytes : p->product->own_bytes;
    op->bytes = op->own_bytes + 2 * p->n * (int64_t)spry_type_size(p->type);
    *out = op;
done:
    return status;
}
