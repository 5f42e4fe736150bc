/*
 * Rows of incomplete factors whose pattern follows from the sizes of numbers: what is smaller than
 * tau times the mean magnitude of A's row is dropped, and of the rest each row of a triangle keeps
 * the largest, a given number more than A's (Y. Saad, ILUT: a dual threshold incomplete LU
 * factorization, Numer. Linear Algebra Appl. 1 (1994), 387-402). For hermitian matrices rows of L
 * alone are made, from columns of L that are linked lists.
 */
#include "precon/kernels/sparse_row.h"

#include "matrix/entries.h"

/* A row in the making. Columns before the diagonal that are still to be taken are a heap with the
 * least on top; those that were stand in `lower`, those behind the diagonal in `upper`. */
typedef struct row {
    const ilut_job *p;
    scalar *w;
    int64_t i, heap, lower, upper; /* the place, and how many there are of each */
    int64_t before, behind;        /* entries of A */
    real size, least;
} row;

/* w_j += a; a column that is new gets into the row. */
static void add_to(row *r, int32_t j, scalar a)
{
    if (r->p->mark[j] == 0) {
        r->p->mark[j] = 1;
        r->w[j] = number(0);
        if (j < r->i)
            heap_push(r->p->heap, &r->heap, j);
        else if (j > r->i)
            r->p->upper[r->upper++] = j;
    }
    r->w[j] = add(r->w[j], a);
}

static void load_row(row *r)
{
    const ilut_job *p = r->p;
    const scalar *values = p->a_values;
    const int64_t from = p->rows ? p->rows[r->i] : r->i;
    const int64_t begin = p->a_offsets[from], end = p->a_offsets[from + 1];
    add_to(r, (int32_t)r->i, number(0));
    for (int64_t k = begin; k < end; k++) {
        const int32_t j = p->places ? p->places[p->a_columns[k]] : p->a_columns[k];
        r->size += size_of(values[k]);
        r->before += j < r->i;
        r->behind += j > r->i;
        if (j <= r->i || !p->hermitian)
            add_to(r, j, values[k]);
    }
    r->least = (real)p->tau * r->size / (real)(end > begin ? end - begin : 1);
    if (p->shift != 0) {
        scalar *d = &r->w[r->i];
        const real by = (real)p->shift * r->size, length = size_of(*d);
        *d = p->hermitian || length == 0 ? add(*d, number(by)) : times(1 + by / length, *d);
    }
}

/* Takes row k of U, or of L^H, from the rest of the row. */
static void take(row *r, int32_t k)
{
    const ilut_job *p = r->p;
    const scalar minus = sub(number(0), r->w[k]);
    if (!p->hermitian) {
        const scalar *u = p->u_values;
        for (int64_t e = p->u_offsets[k]; e < p->u_offsets[k + 1]; e++)
            add_to(r, p->u_columns[e], mul(minus, u[e]));
        return;
    }
    const scalar *l = p->l_values;
    for (int64_t e = p->head[k]; e >= 0; e = p->next[e])
        add_to(r, p->row_of[e], mul(minus, conjugate(l[e])));
}

static void eliminate(row *r)
{
    while (r->heap > 0) {
        const int32_t k = heap_pop(r->p->heap, &r->heap);
        if (size_of(r->w[k]) < r->least || is_zero(r->w[k])) {
            r->p->mark[k] = 0;
            continue;
        }
        r->p->lower[r->lower++] = k;
        take(r, k);
    }
}

/* Drops what is small and what there is too much of; gives how many are left, in order. */
static int64_t choose(row *r, int32_t *columns, int64_t n, int64_t most)
{
    int64_t left = 0;
    for (int64_t k = 0; k < n; k++) {
        r->p->mark[columns[k]] = 0;
        if (size_of(r->w[columns[k]]) >= r->least && !is_zero(r->w[columns[k]]))
            columns[left++] = columns[k];
    }
    select_largest(r->w, columns, left, most);
    left = left < most ? left : most;
    matrix_sort_columns(columns, left);
    return left;
}

/* Puts an entry of L at the end of its column's list. */
static void link_entry(const ilut_job *p, int64_t e, int32_t column, int64_t i)
{
    p->row_of[e] = (int32_t)i;
    p->next[e] = -1;
    if (p->head[column] < 0)
        p->head[column] = e;
    else
        p->next[p->tail[column]] = e;
    p->tail[column] = e;
}

/* Stores the row of L; hermitian: the diagonal follows from what was kept. */
static bool finish_lower(row *r)
{
    const ilut_job *p = r->p;
    const scalar *inverses = p->inverse;
    scalar *l = p->l_values;
    int64_t to = p->l_offsets[r->i];
    bool fine = true;
    const int64_t count = choose(r, p->lower, r->lower, r->before + p->fill);
    for (int64_t k = 0; k < count; k++, to++) {
        const int32_t column = p->lower[k];
        const scalar v = r->w[column];
        l[to] = mul(v, inverses[column]);
        p->l_columns[to] = column;
        fine = fine && finite_number(l[to]);
        if (p->hermitian) {
            r->w[r->i] = sub(r->w[r->i], number(real_of(mul(v, conjugate(l[to])))));
            link_entry(p, to, column, r->i);
        }
    }
    p->l_offsets[r->i + 1] = to;
    return fine;
}

static bool finish_upper(row *r, scalar by)
{
    const ilut_job *p = r->p;
    scalar *u = p->u_values;
    int64_t to = p->u_offsets[r->i];
    bool fine = true;
    const int64_t count = choose(r, p->upper, r->upper, r->behind + p->fill);
    for (int64_t k = 0; k < count; k++, to++) {
        u[to] = mul(r->w[p->upper[k]], by);
        p->u_columns[to] = p->upper[k];
        fine = fine && finite_number(u[to]);
    }
    p->u_offsets[r->i + 1] = to;
    return fine;
}

int64_t X(ilut_rows)(const ilut_job *p, int64_t begin, int64_t end)
{
    scalar *inverses = p->inverse;
    for (int64_t i = begin; i < end; i++) {
        row r = {.p = p, .w = p->w, .i = i};
        load_row(&r);
        eliminate(&r);
        bool fine = finish_lower(&r);
        scalar d = r.w[i];
        p->mark[i] = 0;
        if (p->hermitian)
            d = number(real_of(d));
        fine = fine && (p->hermitian ? real_of(d) : size_of(d)) > UNIT * r.size;
        inverses[i] = inverse(d);
        fine = fine && finite_number(inverses[i]);
        if (!p->hermitian)
            fine = finish_upper(&r, inverses[i]) && fine;
        if (!fine)
            return i;
    }
    return end;
}
