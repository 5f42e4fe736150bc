/* Rows of Gauss-Seidel. What is new is summed last, the neighbour next to the row at the end: rows
 * that follow each other wait for that one product alone. */
#include "precon/kernels/kernel.h"

/* A part, and what its rows read. */
typedef struct sweep {
    const int64_t *offsets;
    const int32_t *columns, *before;
    const scalar *values, *inverse, *b, *old;
    scalar *new;
    int32_t begin, end;
} sweep;

static sweep sweep_of(const amg_sweep_job *job, int64_t begin, int64_t end)
{
    return (sweep){.offsets = job->A.offsets,
                   .columns = job->A.columns,
                   .before = job->before,
                   .values = job->A.values,
                   .inverse = job->inverse,
                   .b = job->b,
                   .old = job->old,
                   .new = job->new,
                   .begin = (int32_t)begin,
                   .end = (int32_t)end};
}

/* from less the entries k, k + step, ... before `stop` times x. */
ALWAYS_INLINE scalar take(const sweep *s, int64_t k, int64_t stop, int step, const scalar *x,
                          scalar from)
{
    for (; k != stop; k += step)
        from = sub(from, mul(s->values[k], x[s->columns[k]]));
    return from;
}

/* Where the columns of the part begin, from k on: those of other parts are the first. */
ALWAYS_INLINE int64_t skip_others(const sweep *s, int64_t k, int64_t stop, int step)
{
    while (k != stop && (step > 0 ? s->columns[k] < s->begin : s->columns[k] >= s->end))
        k += step;
    return k;
}

/*
 * Row i, whose entries from `first` to the diagonal at `middle` are done, and those from `middle`
 * to `stop` are still to come; backward all of them are counted down.
 */
ALWAYS_INLINE void relax_row(const sweep *s, int32_t i, int64_t first, int64_t middle, int64_t stop,
                             int step, bool zero)
{
    if (is_zero(s->inverse[i])) { /* it stays as it is */
        s->new[i] = zero ? number(0) : s->old[i];
        return;
    }
    const int64_t own = skip_others(s, first, middle, step);
    scalar from = s->b[i];
    if (!zero) {
        from = take(s, middle + step, stop, step, s->old, from);
        from = take(s, first, own, step, s->old, from);
    }
    s->new[i] = mul(s->inverse[i], take(s, own, middle, step, s->new, from));
}

ALWAYS_INLINE void relax_rows(const sweep *s, bool backward, bool zero)
{
    if (backward)
        for (int32_t i = s->end; i-- > s->begin;)
            relax_row(s, i, s->offsets[i + 1] - 1, s->offsets[i] + s->before[i], s->offsets[i] - 1,
                      -1, zero);
    else
        for (int32_t i = s->begin; i < s->end; i++)
            relax_row(s, i, s->offsets[i], s->offsets[i] + s->before[i], s->offsets[i + 1], 1,
                      zero);
}

void X(amg_sweep)(const amg_sweep_job *job, int64_t begin, int64_t end)
{
    const sweep s = sweep_of(job, begin, end);
    if (job->old && job->backward)
        relax_rows(&s, true, false);
    else if (job->old)
        relax_rows(&s, false, false);
    else
        relax_rows(&s, job->backward, true);
}

void X(amg_sweep_rest)(const amg_sweep_job *job, int64_t begin, int64_t end)
{
    const sweep s = sweep_of(job, begin, end);
    for (int32_t i = s.begin; i < s.end; i++) {
        const int64_t first = s.offsets[i], last = s.offsets[i + 1], middle = first + s.before[i];
        const bool all = is_zero(s.inverse[i]);
        scalar rest = all ? s.b[i] : number(0);
        if (all)
            rest = take(&s, first, last, 1, s.old, rest);
        else {
            rest = take(&s, first, skip_others(&s, first, middle, 1), 1, s.old, rest);
            rest = take(&s, middle + 1, last, 1, s.old, rest);
        }
        s.new[i] = rest;
    }
}
