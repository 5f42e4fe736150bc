/*
 * The block triangular form: A. L. Dulmage, N. S. Mendelsohn, Coverings of bipartite graphs, Canad.
 * J. Math. 10 (1958), 517-534; A. Pothen, C.-J. Fan, Computing the block triangular form of a
 * sparse matrix, ACM Trans. Math. Softw. 16 (1990), 303-324. Strong components by R. Tarjan,
 * Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972), 146-160, without
 * recursion.
 *
 * Coarse: rows and columns that are reached from columns without a partner (wide: more columns than
 * rows), those reached from rows without one (tall), and the rest, in which all have one. Fine: the
 * rest is a graph in which row i points at the row that has column j wherever a_ij is an entry; its
 * strong components are the blocks.
 */
#include "matrix/algebra/algebra.h"

#include "matrix/entries.h"

void algebra_block_form_clear(spry_context *ctx, block_form *f)
{
    base_free(ctx, f->row_perm);
    base_free(ctx, f->col_perm);
    base_free(ctx, f->row_start);
    base_free(ctx, f->col_start);
    *f = (block_form){0};
}

bool algebra_is_entry(const matrix_arrays *a, int64_t k)
{
    const spry_scalar v = value_load(a->type, a->values, k);
    return isfinite(v.re) && isfinite(v.im) && (v.re != 0 || v.im != 0);
}

/* Which part a row or column is in; blocks of SQUARE are numbered from 0. */
enum { WIDE = -3, TALL = -2, SQUARE = -1 };

typedef struct forming {
    spry_context *ctx;
    const matrix_arrays *a;
    const matching *m;
    int32_t *row_part, *col_part; /* WIDE, TALL, or the block */
    int32_t *stack;               /* rows and columns at most */
    int32_t *low, *number;        /* Tarjan's, of rows */
    int64_t *next;                /* entry of a row that is looked at next */
    int64_t *count;               /* rows before each block, while blocks are filled */
    int32_t blocks;               /* strong components */
} forming;

/* Marks what is reached from the majors (rows of `a`, or of its transpose) without a partner, by
 * entries to minors and by partners back. */
static void reach(const forming *f, const matrix_arrays *a, const int32_t *minor_of_major,
                  const int32_t *major_of_minor, int32_t mark, int32_t *major_part,
                  int32_t *minor_part)
{
    int64_t waiting = 0;
    for (int64_t i = 0; i < a->rows; i++)
        if (minor_of_major[i] < 0) {
            major_part[i] = mark;
            f->stack[waiting++] = (int32_t)i;
        }
    while (waiting > 0) {
        const int32_t i = f->stack[--waiting];
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            if (minor_part[j] == mark || !algebra_is_entry(a, k))
                continue;
            minor_part[j] = mark;
            const int32_t partner = major_of_minor[j]; /* there is one: no path can be longer */
            if (major_part[partner] != mark) {
                major_part[partner] = mark;
                f->stack[waiting++] = partner;
            }
        }
    }
}

static spry_status find_parts(const forming *f)
{
    spry_context *ctx = f->ctx;
    const matrix_arrays *a = f->a;
    matrix_arrays transposed = {0};
    spry_status status = SPRY_STATUS_OK;
    for (int64_t i = 0; i < a->rows; i++)
        f->row_part[i] = SQUARE;
    for (int64_t j = 0; j < a->cols; j++)
        f->col_part[j] = SQUARE;
    if (f->m->rank < a->rows)
        reach(f, a, f->m->column_of, f->m->row_of, TALL, f->row_part, f->col_part);
    if (f->m->rank < a->cols) {
        SPRY_GO(ctx, matrix_transpose_arrays(ctx, a, &transposed));
        reach(f, &transposed, f->m->row_of, f->m->column_of, WIDE, f->col_part, f->row_part);
    }
done:
    matrix_free_arrays(ctx, &transposed);
    return status;
}

/* The row that entry k of a row points at; -1: none that matters. */
static int32_t points_at(const forming *f, int64_t k)
{
    const int32_t j = f->a->col_index[k];
    return f->col_part[j] == TALL || !algebra_is_entry(f->a, k) ? -1 : f->m->row_of[j];
}

/* Takes the component whose first row is i from the end of the stack of `open` rows. */
static int64_t close_block(forming *f, const int32_t *open, int64_t count, int32_t i)
{
    int32_t row;
    do {
        row = open[--count];
        f->row_part[row] = f->col_part[f->m->column_of[row]] = f->blocks;
    } while (row != i);
    f->blocks++;
    return count;
}

/* Tarjan's search from one row. The rows on the way are in f->stack, those whose component is not
 * yet known in `open`. */
static void search_from(forming *f, int32_t root, int32_t *open, int32_t *numbered)
{
    int64_t depth = 0, count = 0;
    f->stack[0] = root;
    f->next[root] = f->a->offsets[root];
    f->number[root] = f->low[root] = ++*numbered;
    open[count++] = root;
    while (depth >= 0) {
        const int32_t i = f->stack[depth];
        int32_t to = -1;
        while (to < 0 && f->next[i] < f->a->offsets[i + 1])
            to = points_at(f, f->next[i]++);
        if (to >= 0 && f->number[to] == 0) {
            f->next[to] = f->a->offsets[to];
            f->number[to] = f->low[to] = ++*numbered;
            open[count++] = to;
            f->stack[++depth] = to;
        } else if (to >= 0) {
            if (f->row_part[to] == SQUARE && f->number[to] < f->low[i]) /* still open */
                f->low[i] = f->number[to];
        } else {
            if (f->low[i] == f->number[i])
                count = close_block(f, open, count, i);
            if (--depth >= 0 && f->low[i] < f->low[f->stack[depth]])
                f->low[f->stack[depth]] = f->low[i];
        }
    }
}

static spry_status find_blocks(forming *f)
{
    spry_context *ctx = f->ctx;
    int32_t *open = NULL, numbered = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, f->a->rows, sizeof *open, &open));
    SPRY_GO(ctx, base_alloc(ctx, f->a->rows, sizeof *f->low, &f->low));
    SPRY_GO(ctx, base_calloc(ctx, f->a->rows, sizeof *f->number, &f->number));
    SPRY_GO(ctx, base_alloc(ctx, f->a->rows, sizeof *f->next, &f->next));
    for (int32_t i = 0; i < f->a->rows; i++)
        if (f->row_part[i] == SQUARE && f->number[i] == 0) {
            search_from(f, i, open, &numbered);
            if (spry_context_interrupted(ctx, false)) {
                status = SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "block form: interrupted");
                goto done;
            }
        }
done:
    base_free(ctx, open);
    return status;
}

/* The block of the form that a part is: the wide one first, the tall one last. A component is
 * closed after all that it points at, so components come in the opposite order. */
static int64_t block_of(const forming *f, const block_form *form, int32_t part)
{
    if (part == WIDE)
        return 0;
    if (part == TALL)
        return form->blocks - 1;
    return form->wide + (f->blocks - 1 - part);
}

/* Rows by block, in each by number, and each one's column at the same place from the end of the
 * wide block on: in that, columns without a partner come first. */
static void fill_form(const forming *f, const block_form *form)
{
    const matrix_arrays *a = f->a;
    for (int64_t i = 0; i < a->rows; i++)
        form->row_start[block_of(f, form, f->row_part[i]) + 1]++;
    for (int64_t j = 0; j < a->cols; j++)
        form->col_start[block_of(f, form, f->col_part[j]) + 1]++;
    for (int64_t b = 0; b < form->blocks; b++) {
        form->row_start[b + 1] += form->row_start[b];
        form->col_start[b + 1] += form->col_start[b];
        f->count[b] = form->row_start[b];
    }
    const int64_t alone = a->cols - f->m->rank; /* columns without a partner */
    for (int pass = 0; pass < 2; pass++)        /* rows without one after the others */
        for (int64_t i = 0; i < a->rows; i++) {
            const int32_t j = f->m->column_of[i];
            if ((j >= 0) != (pass == 0))
                continue;
            const int64_t place = f->count[block_of(f, form, f->row_part[i])]++;
            form->row_perm[place] = (int32_t)i;
            if (j >= 0)
                form->col_perm[place + alone] = j;
        }
    int64_t place = 0;
    for (int64_t j = 0; j < a->cols; j++)
        if (f->m->row_of[j] < 0)
            form->col_perm[place++] = (int32_t)j;
}

static spry_status make_form(forming *f, block_form *form)
{
    spry_context *ctx = f->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t j = 0; j < f->a->cols; j++)
        form->wide = form->wide || f->col_part[j] == WIDE;
    for (int64_t i = 0; i < f->a->rows; i++)
        form->tall = form->tall || f->row_part[i] == TALL;
    form->blocks = f->blocks + form->wide + form->tall;
    SPRY_GO(ctx, base_alloc(ctx, f->a->rows, sizeof *form->row_perm, &form->row_perm));
    SPRY_GO(ctx, base_alloc(ctx, f->a->cols, sizeof *form->col_perm, &form->col_perm));
    SPRY_GO(ctx, base_calloc(ctx, form->blocks + 1, sizeof *form->row_start, &form->row_start));
    SPRY_GO(ctx, base_calloc(ctx, form->blocks + 1, sizeof *form->col_start, &form->col_start));
    SPRY_GO(ctx, base_alloc(ctx, form->blocks, sizeof *f->count, &f->count));
    fill_form(f, form);
done:
    return status;
}

spry_status algebra_block_form(spry_context *ctx, const matrix_arrays *a, const matching *m,
                               block_form *form)
{
    forming f = {.ctx = ctx, .a = a, .m = m};
    const int64_t most = a->rows > a->cols ? a->rows : a->cols;
    spry_status status = SPRY_STATUS_OK;
    *form = (block_form){0};
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *f.row_part, &f.row_part));
    SPRY_GO(ctx, base_alloc(ctx, a->cols, sizeof *f.col_part, &f.col_part));
    SPRY_GO(ctx, base_alloc(ctx, most, sizeof *f.stack, &f.stack));
    SPRY_GO(ctx, find_parts(&f));
    SPRY_GO(ctx, find_blocks(&f));
    SPRY_GO(ctx, make_form(&f, form));
done:
    base_free(ctx, f.row_part);
    base_free(ctx, f.col_part);
    base_free(ctx, f.stack);
    base_free(ctx, f.low);
    base_free(ctx, f.number);
    base_free(ctx, f.next);
    base_free(ctx, f.count);
    return status;
}
