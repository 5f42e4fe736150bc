/*
 * solve(G, C): the small system of all tracks. Each track has a column of G, of C, and of the
 * result, with a number for each of them. G is hermitian and positive semidefinite as matrices of
 * inner products are; where its vectors depend on each other, as those of equal right-hand sides
 * do, it has lost rank, and the directions that are left are solved for: Cholesky's factors with
 * pivots, of G scaled to ones on the diagonal (N. J. Higham, in Reliable numerical computation,
 * Oxford 1990, 161-185). So a step in a space of vectors P is the same whatever spans the space.
 */
#include "program/sweep.h"

#include <math.h>

typedef struct small_system {
    int n, rank;
    spry_scalar a[PROGRAM_COLUMNS][PROGRAM_COLUMNS]; /* G, then its factor L below the diagonal */
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
    const scalars *s = &r->tracks[r->host->members[member]].scalars;
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
 * not positive semidefinite: false.
 */
static bool factor(small_system *s, double eps)
{
    const double least = s->n * eps, negative = -sqrt(eps);
    for (int i = 0; i < s->n; i++)
        s->pivot[i] = i;
    for (s->rank = 0; s->rank < s->n; s->rank++) {
        const int k = s->rank;
        int best = k;
        for (int i = k; i < s->n; i++) {
            const double here = s->a[s->pivot[i]][s->pivot[i]].re;
            if (here < negative)
                return false;
            best = here > s->a[s->pivot[best]][s->pivot[best]].re ? i : best;
        }
        exchange(s, k, best);
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

/* L L^H y = c for the rows that have pivots. */
static void substitute(const small_system *s, spry_scalar *c)
{
    for (int k = 0; k < s->rank; k++) {
        const int p = s->pivot[k];
        for (int j = 0; j < k; j++)
            subtract(&c[p], s->a[p][s->pivot[j]], c[s->pivot[j]], false);
        c[p] = (spry_scalar){c[p].re / s->a[p][p].re, c[p].im / s->a[p][p].re};
    }
    for (int k = s->rank - 1; k >= 0; k--) {
        const int p = s->pivot[k];
        for (int j = k + 1; j < s->rank; j++)
            subtract(&c[p], s->a[s->pivot[j]][p], c[s->pivot[j]], true);
        c[p] = (spry_scalar){c[p].re / s->a[p][p].re, c[p].im / s->a[p][p].re};
    }
    for (int k = s->rank; k < s->n; k++)
        c[s->pivot[k]] = (spry_scalar){0, 0};
}

void sweep_solve(runner *r, const plan_op *o)
{
    const expr *source = &r->p->program->exprs[o->expr];
    small_system s = {0};
    const bool solves =
        gather(r, source->arg[0], &s) && factor(&s, r->tracks[r->host->members[0]].scalars.eps);
    for (int j = 0; j < r->host->member_count; j++) {
        spry_scalar c[PROGRAM_COLUMNS];
        const spry_scalar *right = column_of(r, j, source->arg[1]);
        spry_scalar *to = column_of(r, j, o->target);
        for (int i = 0; i < s.n; i++) {
            const spry_scalar value = right[r->host->members[i]];
            c[i] = (spry_scalar){value.re * s.scale[i], value.im * s.scale[i]};
        }
        if (solves)
            substitute(&s, c);
        for (int i = 0; i < PROGRAM_COLUMNS && r->host->active[r->host->members[j]]; i++)
            to[i] = solves ? (spry_scalar){0, 0} : (spry_scalar){NAN, NAN};
        for (int i = 0; solves && i < s.n && r->host->active[r->host->members[j]]; i++)
            to[r->host->members[i]] = (spry_scalar){c[i].re * s.scale[i], c[i].im * s.scale[i]};
    }
}
