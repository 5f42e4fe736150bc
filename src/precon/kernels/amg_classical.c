/* Set-up of classical multigrid: which neighbours a row depends on, and what it is interpolated
 * from. */
#include "precon/kernels/kernel.h"

/* In double precision, and without squares, which might overflow or vanish. */
ALWAYS_INLINE double size(scalar a)
{
#if KERNEL_COMPLEX
    return hypot((double)a.re, (double)a.im);
#else
    return fabs((double)a);
#endif
}

/* How much an entry pulls against the diagonal d: the negated entry where d is positive, the size
 * of complex ones. */
ALWAYS_INLINE double pull(scalar a, scalar d)
{
#if KERNEL_COMPLEX
    (void)d;
    return size(a);
#else
    return (double)(real_of(d) < 0 ? a : -a);
#endif
}

void X(amg_depends)(const host_csr *A, double theta, double dominance, int64_t begin, int64_t end,
                    int32_t *lengths, int32_t *columns)
{
    const scalar *values = A->values;
    for (int64_t i = begin; i < end; i++) {
        scalar d = number(0), sum = number(0);
        double most = 0;
        int32_t count = 0;
        int32_t *out = columns + A->offsets[i];
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
            sum = add(sum, values[k]);
            if (A->columns[k] == i)
                d = values[k];
        }
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
            const double here = A->columns[k] == i ? 0 : pull(values[k], d);
            most = here > most ? here : most;
        }
        const bool alone = most == 0 || size(sum) > dominance * size(d);
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1] && !alone; k++) {
            out[count] = A->columns[k];
            count += A->columns[k] != i && pull(values[k], d) > theta * most;
        }
        lengths[i] = count;
    }
}

/* Places among the columns that row i is interpolated from; -1: it is not. */
ALWAYS_INLINE int32_t place_of(const amg_classical_job *job, const int32_t *mark, int64_t column)
{
    const int32_t place = mark[column];
    return place >= 0 && place < job->found[0] && job->list[place] == column ? place : -1;
}

/* The coarse points that i depends on, or that those depend on which it depends on. */
static void collect(amg_classical_job *job, int64_t i, int32_t *mark)
{
    int32_t found = 0;
    job->found[0] = 0;
    const int32_t *near = job->depends + job->A.offsets[i];
    for (int32_t k = -1; k < job->lengths[i]; k++) {
        /* Those of i first, then those of its fine neighbours. */
        const int64_t of = k < 0 ? i : near[k];
        if (k >= 0 && job->map[of] >= 0)
            continue;
        const int32_t *next = job->depends + job->A.offsets[of];
        for (int32_t l = 0; l < job->lengths[of]; l++) {
            const int32_t j = next[l];
            if (job->map[j] < 0 || place_of(job, mark, j) >= 0)
                continue;
            mark[j] = found;
            job->list[found++] = j;
            job->found[0] = found;
        }
    }
}

/* Whether an entry of row k has the sign of its diagonal. */
ALWAYS_INLINE bool same_sign(scalar a, scalar d)
{
#if KERNEL_COMPLEX
    (void)a;
    (void)d;
    return false;
#else
    return (a > 0) == (d > 0);
#endif
}

static scalar diagonal_of(const host_csr *A, int64_t i)
{
    const scalar *values = A->values;
    for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++)
        if (A->columns[k] == i)
            return values[k];
    return number(0);
}

/* a_ik is spread over what row k shares with i; false where that is nothing. */
static bool spread(const amg_classical_job *job, int64_t i, int64_t k, scalar a,
                   const int32_t *mark, scalar *weights, scalar *own)
{
    const host_csr *A = &job->A;
    const scalar *values = A->values;
    const scalar d = diagonal_of(A, k);
    scalar sum = number(0);
    for (int64_t l = A->offsets[k]; l < A->offsets[k + 1]; l++) {
        const int32_t j = A->columns[l];
        if (j != k && !same_sign(values[l], d) && (j == i || place_of(job, mark, j) >= 0))
            sum = add(sum, values[l]);
    }
    const scalar factor = mul(a, inverse(sum));
    if (is_zero(sum) || !finite_number(factor))
        return false;
    for (int64_t l = A->offsets[k]; l < A->offsets[k + 1]; l++) {
        const int32_t j = A->columns[l];
        if (j == k || same_sign(values[l], d))
            continue;
        const int32_t place = j == i ? -1 : place_of(job, mark, j);
        if (j == i)
            *own = muladd(factor, values[l], *own);
        else if (place >= 0)
            weights[place] = muladd(factor, values[l], weights[place]);
    }
    return true;
}

/* The weights of row i: extended+i. */
static void weigh(const amg_classical_job *job, int64_t i, const int32_t *mark, scalar *weights)
{
    const host_csr *A = &job->A;
    const scalar *values = A->values;
    const int32_t *near = job->depends + A->offsets[i];
    scalar own = number(0);
    int32_t at = 0;
    for (int32_t k = 0; k < job->found[0]; k++)
        weights[k] = number(0);
    for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
        const int32_t j = A->columns[k];
        while (at < job->lengths[i] && near[at] < j)
            at++;
        const bool strong = at < job->lengths[i] && near[at] == j;
        const int32_t place = j == i ? -1 : place_of(job, mark, j);
        if (place >= 0)
            weights[place] = add(weights[place], values[k]);
        else if (j == i || !strong || !spread(job, i, j, values[k], mark, weights, &own))
            own = add(own, values[k]);
    }
    const scalar factor = inverse(own);
    const bool good = finite_number(factor);
    for (int32_t k = 0; k < job->found[0]; k++)
        weights[k] = good ? mul(sub(number(0), factor), weights[k]) : number(0);
}

/* The largest weight from place `from` on; of equal ones that of the first column. */
static int32_t largest_of(int32_t from, int32_t count, const int32_t *list, const scalar *weights)
{
    int32_t best = from;
    for (int32_t k = from + 1; k < count; k++) {
        const double a = size(weights[k]), b = size(weights[best]);
        if (a > b || (a == b && list[k] < list[best]))
            best = k;
    }
    return best;
}

/* Keeps the `most` largest weights that are not small beside the largest, and their sum. */
static int32_t truncate_row(double small, int32_t most, int32_t count, int32_t *list,
                            scalar *weights)
{
    scalar all = number(0), kept = number(0);
    double largest = 0;
    int32_t have = 0;
    for (int32_t k = 0; k < count; k++) {
        const double here = size(weights[k]);
        largest = here > largest ? here : largest;
        all = add(all, weights[k]);
    }
    for (; have < most && have < count; have++) {
        const int32_t best = largest_of(have, count, list, weights);
        if (!(size(weights[best]) > small * largest))
            break;
        const scalar weight = weights[best];
        const int32_t column = list[best];
        weights[best] = weights[have];
        list[best] = list[have];
        weights[have] = weight;
        list[have] = column;
        kept = add(kept, weight);
    }
    const scalar factor = mul(all, inverse(kept));
    const bool good = finite_number(factor) && size(factor) < 10 && size(factor) > 0.1;
    for (int32_t k = 0; k < have && good; k++)
        weights[k] = mul(factor, weights[k]);
    return have;
}

/* Writes a row by rising columns. */
static void put_row(int32_t count, const int32_t *list, const scalar *weights, const int32_t *map,
                    int32_t *columns, scalar *values)
{
    for (int32_t k = 0; k < count; k++) {
        const int32_t column = map ? map[list[k]] : list[k];
        int32_t place = k;
        for (; place > 0 && columns[place - 1] > column; place--) {
            columns[place] = columns[place - 1];
            values[place] = values[place - 1];
        }
        columns[place] = column;
        values[place] = weights[k];
    }
}

void X(amg_interpolate)(amg_classical_job *job, int64_t begin, int64_t end, int32_t *mark)
{
    scalar *weights = job->weights;
    for (int64_t i = begin; i < end; i++) {
        int32_t *columns = job->columns + i * job->most;
        scalar *values = (scalar *)job->values + i * job->most;
        job->counts[i] = 0;
        if (job->map[i] >= 0) {
            columns[0] = job->map[i];
            values[0] = number(1);
            job->counts[i] = 1;
            continue;
        }
        collect(job, i, mark);
        weigh(job, i, mark, weights);
        const int32_t kept = truncate_row(job->small, job->most, job->found[0], job->list, weights);
        put_row(kept, job->list, weights, job->map, columns, values);
        job->counts[i] = kept;
    }
}

void X(amg_truncate)(amg_classical_job *job, int64_t begin, int64_t end)
{
    const host_csr *P = &job->A;
    const scalar *from = P->values;
    scalar *weights = job->weights;
    for (int64_t i = begin; i < end; i++) {
        const int32_t count = (int32_t)(P->offsets[i + 1] - P->offsets[i]);
        for (int32_t k = 0; k < count; k++) {
            job->list[k] = P->columns[P->offsets[i] + k];
            weights[k] = from[P->offsets[i] + k];
        }
        const int32_t kept = truncate_row(job->small, job->most, count, job->list, weights);
        put_row(kept, job->list, weights, NULL, job->columns + i * job->most,
                (scalar *)job->values + i * job->most);
        job->counts[i] = kept;
    }
}
