/* Set-up of classical multigrid: which neighbours a row depends on, and what it is interpolated
 * from. */
#include "precon/kernels/places.h"

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
            const double strength = A->columns[k] == i ? 0 : pull(values[k], d);
            most = strength > most ? strength : most;
        }
        const bool alone = most == 0 || size(sum) > dominance * size(d);
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1] && !alone; k++) {
            const double strength = A->columns[k] == i ? 0 : pull(values[k], d);
            out[count] = A->columns[k];
            count += strength > 0 && strength >= theta * most;
        }
        lengths[i] = count;
    }
}

/* The coarse points that i depends on, or that those depend on which it depends on, and i after
 * them. */
static void collect(amg_classical_job *job, int64_t i)
{
    const int32_t *near = job->depends + job->A.offsets[i];
    amg_places at = job->at;
    for (int32_t k = job->coarse[i] - 1; k < job->lengths[i]; k++) {
        /* Those of i first, then those of its fine neighbours. */
        const int64_t of = k < job->coarse[i] ? i : near[k];
        const int32_t *next = job->depends + job->A.offsets[of], count = job->coarse[of];
        for (int32_t l = 0; l < count; l++)
            give_place(&at, next[l]);
    }
    at.mark[i] = at.base + at.found;
    job->at = at;
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

/* a_ik is distributed over what row k shares with i; false where that is nothing. */
static bool distributes(const amg_classical_job *job, int64_t k, scalar a)
{
    const amg_places at = job->at;
    const scalar *values = job->A.values;
    const int32_t *columns = job->A.columns;
    const int64_t end = job->A.offsets[k + 1];
    scalar *weights = job->weights, *shared = job->shared;
    scalar d = number(0), sum = number(0);
    int32_t *places = job->places, count = 0;
    for (int64_t l = job->A.offsets[k]; l < end; l++) {
        const int32_t j = columns[l];
        const uint32_t place = place_of(&at, j);
        const scalar value = values[l];
        places[count] = (int32_t)place;
        shared[count] = value;
        count += place <= (uint32_t)at.found;
        d = j == k ? value : d;
    }
    for (int32_t l = 0; l < count; l++) {
        shared[l] = same_sign(shared[l], d) ? number(0) : shared[l];
        sum = add(sum, shared[l]);
    }
    const scalar factor = mul(a, inverse(sum));
    if (is_zero(sum) || !finite_number(factor))
        return false;
    for (int32_t l = 0; l < count; l++)
        weights[places[l]] = muladd(factor, shared[l], weights[places[l]]);
    return true;
}

/* The weights of row i: extended+i. What its own point gets is the last of them. */
static void weigh(const amg_classical_job *job, int64_t i)
{
    const host_csr *A = &job->A;
    const scalar *values = A->values;
    const int32_t *near = job->depends + A->offsets[i], found = job->at.found;
    scalar *weights = job->weights;
    int32_t at = job->coarse[i]; /* coarse ones that it depends on have places */
    for (int32_t k = 0; k <= found; k++)
        weights[k] = number(0);
    for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
        const int32_t j = A->columns[k];
        while (at < job->lengths[i] && near[at] < j)
            at++;
        const bool strong = at < job->lengths[i] && near[at] == j;
        const uint32_t place = place_of(&job->at, j);
        if (place < (uint32_t)found)
            weights[place] = add(weights[place], values[k]);
        else if (j == i || !strong || !distributes(job, j, values[k]))
            weights[found] = add(weights[found], values[k]);
    }
    const scalar factor = inverse(weights[found]);
    const bool good = finite_number(factor);
    for (int32_t k = 0; k < found; k++)
        weights[k] = good ? mul(sub(number(0), factor), weights[k]) : number(0);
}

/* Sorts weight k in among the first `have`, which are the largest so far, by falling size and of
 * equal ones by column; the last of them goes where there are `most`. How many there are then. */
ALWAYS_INLINE int32_t sort_in(int32_t k, int32_t have, int32_t most, double *sizes, int32_t *list,
                              scalar *weights)
{
    const double own = size(weights[k]);
    const scalar weight = weights[k];
    const int32_t column = list[k];
    int32_t at = have < most ? have : most;
    for (; at > 0; at--) {
        if (sizes[at - 1] > own || (sizes[at - 1] == own && list[at - 1] < column))
            break;
        if (at == most)
            continue;
        sizes[at] = sizes[at - 1];
        weights[at] = weights[at - 1];
        list[at] = list[at - 1];
    }
    if (at == most)
        return have;
    sizes[at] = own;
    weights[at] = weight;
    list[at] = column;
    return have < most ? have + 1 : have;
}

/* Keeps the `most` largest weights that are not small relative to the largest, and their sum. */
static int32_t truncate_row(double small, int32_t most, int32_t count, int32_t *list,
                            scalar *weights)
{
    double sizes[AMG_CLASSICAL_MOST];
    scalar all = number(0), kept = number(0);
    int32_t have = 0;
    for (int32_t k = 0; k < count; k++) {
        all = add(all, weights[k]);
        have = sort_in(k, have, most, sizes, list, weights);
    }
    while (have > 0 && !(sizes[have - 1] >= small * sizes[0]))
        have--;
    for (int32_t k = 0; k < have; k++)
        kept = add(kept, weights[k]);
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

/* Row i of the result from the weights that it has. */
static void finish_row(amg_classical_job *job, int64_t i)
{
    int32_t *list = job->at.list;
    const int32_t kept = truncate_row(job->small, job->most, job->at.found, list, job->weights);
    put_row(kept, list, job->weights, job->map, job->columns + i * job->most,
            (scalar *)job->values + i * job->most);
    job->counts[i] = kept;
}

void X(amg_interpolate)(amg_classical_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        if (job->map[i] >= 0) {
            job->columns[i * job->most] = job->map[i];
            ((scalar *)job->values)[i * job->most] = number(1);
            job->counts[i] = 1;
            continue;
        }
        begin_places(&job->at);
        collect(job, i);
        weigh(job, i);
        finish_row(job, i);
    }
}

void X(amg_further)(amg_classical_job *job, int64_t begin, int64_t end)
{
    const host_csr *A = &job->A, *B = &job->B;
    scalar *weights = job->weights;
    for (int64_t i = begin; i < end; i++) {
        amg_places at = job->at;
        begin_places(&at);
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
            const int32_t between = A->columns[k];
            const scalar a = ((const scalar *)A->values)[k];
            for (int64_t l = B->offsets[between]; l < B->offsets[between + 1]; l++)
                add_to(&at, weights, B->columns[l], a, ((const scalar *)B->values)[l]);
        }
        job->at = at;
        finish_row(job, i);
    }
}
