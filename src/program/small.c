/*
 * Small matrices, of which each right-hand side has a column: a number for each right-hand side.
 * Those that are taken for hermitian are positive semidefinite as matrices of inner products are;
 * where their vectors depend on each other, as those of equal right-hand sides do, they have lost
 * rank, and the directions that are left are worked with: Cholesky's factors with pivots, of the
 * matrix scaled to ones on its diagonal (N. J. Higham, in Reliable numerical computation, Oxford
 * 1990, 161-185).
 */
#include "program/dense.h"
#include "program/sweep.h"

#include <math.h>

typedef struct small_system {
    int n, rank;
    spry_scalar a[PROGRAM_COLUMNS][PROGRAM_COLUMNS]; /* G, then its factor L in the pivots' order */
    double scale[PROGRAM_COLUMNS]; /* 1 / sqrt of the diagonal; 0 where that is 0 */
    int pivot[PROGRAM_COLUMNS];    /* rows in the order of elimination */
} small_system;

/* a -= conj(b) c, or b c */
static void subtract(spry_scalar *a, spry_scalar b, spry_scalar c, bool conjugated)
{
    const double im = conjugated ? -b.im : b.im;
    a->re -= b.re * c.re - im * c.im;
    a->im -= b.re * c.im + im * c.re;
}

static spry_scalar *column_of(const runner *r, int member, int e)
{
    const scalars *s = &r->rhs[r->host->members[member]].scalars;
    return s->values + s->offset[s->program->exprs[e].name];
}

/* G without its rounding errors that are not hermitian, scaled; false: it is not what it should be.
 */
static bool gather(const runner *r, int e, small_system *s)
{
    const int *members = r->host->members;
    s->n = r->host->member_count;
    for (int i = 0; i < s->n; i++) {
        const double diagonal = column_of(r, i, e)[members[i]].re;
        if (!isfinite(diagonal) || diagonal < 0)
            return false;
        s->scale[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 0;
    }
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j <= i; j++) {
            const spry_scalar below = column_of(r, j, e)[members[i]];
            const spry_scalar above = column_of(r, i, e)[members[j]];
            const double half = s->scale[i] / 2 * s->scale[j];
            s->a[i][j] = (spry_scalar){half * (below.re + above.re), half * (below.im - above.im)};
            if (!value_finite(s->a[i][j]))
                return false;
            s->a[j][i] = (spry_scalar){s->a[i][j].re, -s->a[i][j].im};
        }
    return true;
}

static void exchange(small_system *s, int i, int j)
{
    const int kept = s->pivot[i];
    s->pivot[i] = s->pivot[j];
    s->pivot[j] = kept;
}

/*
 * Inner products are known to a few roundings of the type; a pivot that is no more than what those
 * of all columns make says nothing. One that is as far below 0 as no rounding makes says that G is
 * not positive semidefinite: false. Rows keep their order where pivots are large enough, so that
 * factors are triangular as they stand, and sums with them half the work.
 */
static bool factor(small_system *s, double eps)
{
    const double least = s->n * eps, negative = -sqrt(eps), enough = 0.1;
    for (int i = 0; i < s->n; i++)
        s->pivot[i] = i;
    for (s->rank = 0; s->rank < s->n; s->rank++) {
        const int k = s->rank;
        double most = 0;
        int next = k;
        for (int i = k; i < s->n; i++) {
            const double value = s->a[s->pivot[i]][s->pivot[i]].re;
            if (value < negative)
                return false;
            most = value > most ? value : most;
        }
        while (next < s->n - 1 && s->a[s->pivot[next]][s->pivot[next]].re < enough * most)
            next++;
        exchange(s, k, next);
        const int p = s->pivot[k];
        if (!(s->a[p][p].re > least))
            break;
        s->a[p][p] = (spry_scalar){sqrt(s->a[p][p].re), 0};
        for (int i = k + 1; i < s->n; i++) {
            spry_scalar *l = &s->a[s->pivot[i]][p];
            *l = (spry_scalar){l->re / s->a[p][p].re, l->im / s->a[p][p].re};
        }
        for (int i = k + 1; i < s->n; i++)
            for (int j = k + 1; j < s->n; j++)
                subtract(&s->a[s->pivot[i]][s->pivot[j]], s->a[s->pivot[j]][p],
                         s->a[s->pivot[i]][p], true);
    }
    return true;
}

/* c becomes L^-1 c in the rows that have pivots, 0 in others. */
static void go_down(const small_system *s, spry_scalar *c)
{
    for (int k = 0; k < s->rank; k++) {
        const int p = s->pivot[k];
        for (int j = 0; j < k; j++)
            subtract(&c[p], s->a[p][s->pivot[j]], c[s->pivot[j]], false);
        c[p] = (spry_scalar){c[p].re / s->a[p][p].re, c[p].im / s->a[p][p].re};
    }
    for (int k = s->rank; k < s->n; k++)
        c[s->pivot[k]] = (spry_scalar){0, 0};
}

/* c becomes L^-H c. */
static void go_up(const small_system *s, spry_scalar *c)
{
    for (int k = s->rank - 1; k >= 0; k--) {
        const int p = s->pivot[k];
        for (int j = k + 1; j < s->rank; j++)
            subtract(&c[p], s->a[s->pivot[j]][p], c[s->pivot[j]], true);
        c[p] = (spry_scalar){c[p].re / s->a[p][p].re, c[p].im / s->a[p][p].re};
    }
}

static void scale(const small_system *s, spry_scalar *c)
{
    for (int i = 0; i < s->n; i++)
        c[i] = (spry_scalar){c[i].re * s->scale[i], c[i].im * s->scale[i]};
}

/* Column j of what a function makes of a hermitian matrix: of G^-1 C; of G^-1; of a W such that
 * W^H G W is 1 in the rows that have pivots, and 0 in others. */
static void make_column(const runner *r, const small_system *s, const expr *e, int j,
                        spry_scalar *c)
{
    for (int i = 0; i < s->n; i++)
        c[i] = e->small == SMALL_SOLVE ? column_of(r, j, e->arg[1])[r->host->members[i]]
                                       : (spry_scalar){i == j, 0};
    if (e->small != SMALL_ORTH) {
        scale(s, c);
        go_down(s, c);
    }
    for (int k = s->rank; k < s->n; k++)
        c[s->pivot[k]] = (spry_scalar){0, 0};
    go_up(s, c);
    scale(s, c);
}

/* Column j of A B, or of A^H. */
static void make_product(const runner *r, const expr *e, int j, spry_scalar *c)
{
    const int *members = r->host->members;
    for (int i = 0; i < r->host->member_count; i++) {
        const spry_scalar other = column_of(r, i, e->arg[0])[members[j]];
        c[i] = e->small == SMALL_ADJOINT ? (spry_scalar){other.re, -other.im} : (spry_scalar){0, 0};
    }
    for (int k = 0; e->small == SMALL_TIMES && k < r->host->member_count; k++) {
        const spry_scalar b = column_of(r, j, e->arg[1])[members[k]];
        for (int i = 0; i < r->host->member_count; i++)
            subtract(&c[i], (spry_scalar){-b.re, -b.im}, column_of(r, k, e->arg[0])[members[i]],
                     false);
    }
}

/* --- functions of larger matrices ---------------------------------------------------------------
 */

/* An array of a right-hand side, as a matrix. */
typedef struct small_array {
    spry_scalar *values;
    int64_t rows, cols;
} small_array;

static small_array array_of(const rhs *l, int e)
{
    const scalars *s = &l->scalars;
    const int name = s->program->exprs[e].name;
    return (small_array){s->values + s->offset[name], s->extent[name][0], s->extent[name][1]};
}

int64_t small_room(const plan *p, const plan_op *o)
{
    const expr *e = o->kind == OP_SMALL ? &p->program->exprs[o->expr] : NULL;
    if (!e || e->kind != EXPR_SMALL || e->small < SMALL_LEAST)
        return 0;
    const int64_t *extent = p->extent[p->program->exprs[e->arg[0]].name];
    const int64_t each = p->program->block ? PROGRAM_COLUMNS : 1;
    if (e->small > SMALL_EIG) /* steps of a basis */
        return 0;
    return e->small == SMALL_EIG ? dense_eig_room(extent[0])
                                 : extent[0] * extent[1] * each +      /* the matrix */
                                       extent[0] * each +              /* right-hand sides */
                                       (extent[1] * each + 1) * each + /* what solves them */
                                       extent[1] * each;               /* pivots */
}

/* Where right-hand sides see each other, row i * columns + m of each is that of vector i of
 * right-hand side m, and all of their columns make the matrix; else they have matrices of their
 * own. */
typedef struct least_problem {
    const int *sides;
    int count;      /* right-hand sides of which it is made */
    int64_t each;   /* rows of an array for each of its vectors */
    int rows, cols; /* as far as they are not 0 */
} least_problem;

static spry_scalar entry_at(const runner *r, const least_problem *s, const expr *e, int row,
                            int col)
{
    const small_array H = array_of(&r->rhs[s->sides[col % s->count]], e->arg[0]);
    const int64_t at = row / s->count * s->each + (s->each > 1 ? s->sides[row % s->count] : 0);
    return H.values[at * H.cols + col / s->count];
}

static void trim(const runner *r, const expr *e, least_problem *s)
{
    const small_array H = array_of(&r->rhs[s->sides[0]], e->arg[0]);
    const int rows = (int)(H.rows / s->each) * s->count, cols = (int)H.cols * s->count;
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) {
            const spry_scalar a = entry_at(r, s, e, i, j);
            if (a.re != 0 || a.im != 0) { /* also what is no number */
                s->rows = i >= s->rows ? i + 1 : s->rows;
                s->cols = j + 1;
            }
        }
}

static void least_of(runner *r, const plan_op *o, const expr *e, const int *sides, int count)
{
    const int64_t each = r->p->program->block ? PROGRAM_COLUMNS : 1;
    least_problem s = {.sides = sides, .count = count, .each = each};
    double left[PROGRAM_COLUMNS];
    trim(r, e, &s);
    const small_array c = array_of(&r->rhs[sides[0]], e->arg[1]);
    const int rights = (int)(c.rows / each) * count; /* their rows */
    const int rows = s.rows > rights ? s.rows : rights;
    spry_scalar *a = r->host->small, *g = a + (int64_t)rows * s.cols,
                *y = g + (int64_t)rows * count;
    int *pivot = (int *)(void *)(y + (int64_t)s.cols * count);
    for (int j = 0; j < s.cols; j++)
        for (int i = 0; i < rows; i++)
            a[(int64_t)j * rows + i] = i < s.rows ? entry_at(r, &s, e, i, j) : (spry_scalar){0, 0};
    for (int j = 0; j < count; j++) {
        const small_array own = array_of(&r->rhs[sides[j]], e->arg[1]);
        for (int i = 0; i < rows; i++) {
            const int64_t at = i / count * each + (each > 1 ? sides[i % count] : 0);
            g[(int64_t)j * rows + i] = i < rights ? own.values[at] : (spry_scalar){0, 0};
        }
    }
    const bool made = dense_least(&(dense_problem){.rows = rows,
                                                   .cols = s.cols,
                                                   .rights = count,
                                                   .eps = r->rhs[sides[0]].scalars.eps,
                                                   .a = a,
                                                   .g = g,
                                                   .y = y,
                                                   .left = left,
                                                   .pivot = pivot});
    for (int j = 0; j < count; j++) {
        const small_array to = array_of(&r->rhs[sides[j]], o->target);
        if (!r->host->active[sides[j]])
            continue;
        for (int64_t i = 0; i < to.rows; i++)
            to.values[i] = (spry_scalar){made ? 0 : NAN, 0};
        for (int i = 0; made && i < s.cols; i++) {
            const int64_t at = i / count * each + (each > 1 ? sides[i % count] : 0);
            to.values[at] = y[(int64_t)j * s.cols + i];
        }
        to.values[to.rows - 1].re = made ? left[j] : NAN;
    }
}

static void eig_of(const runner *r, const plan_op *o, const expr *e, const rhs *l)
{
    const small_array b = array_of(l, e->arg[0]), to = array_of(l, o->target);
    const bool made =
        dense_eig((int)b.rows, (int)to.cols, b.values, l->scalars.real, to.values, r->host->small);
    for (int64_t i = 0; !made && i < to.rows * to.cols; i++)
        to.values[i] = (spry_scalar){NAN, NAN};
}

/* The steps of a better basis; what nothing is known of stays. */
static void basis_of(const plan_op *o, const expr *e, const rhs *l)
{
    const small_array g = array_of(l, e->arg[0]), b = array_of(l, e->arg[1]),
                      to = array_of(l, o->target);
    const program_array G = {g.rows, g.cols, g.values}, B = {to.rows, to.cols, to.values};
    if (to.values != b.values)
        memcpy(to.values, b.values, (size_t)(b.rows * b.cols) * sizeof *b.values);
    program_basis(e->small, &G, &B, l->scalars.real);
}

static void dense_function(runner *r, const plan_op *o, const expr *e)
{
    if (e->small == SMALL_LEAST && r->p->program->block) {
        least_of(r, o, e, r->host->members, r->host->member_count);
        return;
    }
    for (int k = 0; k < r->rhs_count; k++)
        if (r->host->active[k] && e->small == SMALL_LEAST)
            least_of(r, o, e, &k, 1);
        else if (r->host->active[k] && e->small == SMALL_EIG)
            eig_of(r, o, e, &r->rhs[k]);
        else if (r->host->active[k])
            basis_of(o, e, &r->rhs[k]);
}

/* Nothing is stored before all is made: the result may go over what it is made of. */
void sweep_small(runner *r, const plan_op *o)
{
    const expr *e = &r->p->program->exprs[o->expr];
    if (e->kind == EXPR_SMALL && e->small >= SMALL_LEAST) {
        dense_function(r, o, e);
        return;
    }
    const int n = r->host->member_count, *members = r->host->members;
    spry_scalar made[PROGRAM_COLUMNS][PROGRAM_COLUMNS];
    small_system s = {0};
    const bool copies = e->kind == EXPR_SLICE, factors = !copies && e->small <= SMALL_ORTH;
    const bool fails =
        factors && !(gather(r, e->arg[0], &s) && factor(&s, r->rhs[members[0]].scalars.eps));
    for (int j = 0; j < n && !fails; j++) {
        if (factors)
            make_column(r, &s, e, j, made[j]);
        else if (!copies)
            make_product(r, e, j, made[j]);
        for (int i = 0; copies && i < n; i++)
            made[j][i] = column_of(r, j, o->expr)[members[i]];
    }
    for (int j = 0; j < n; j++) {
        spry_scalar *to = column_of(r, j, o->target);
        for (int i = 0; i < PROGRAM_COLUMNS && r->host->active[members[j]]; i++)
            to[i] = fails ? (spry_scalar){NAN, NAN} : (spry_scalar){0, 0};
        for (int i = 0; i < n && !fails && r->host->active[members[j]]; i++)
            to[members[i]] = made[j][i];
    }
}
