/* Set-up of multigrid: strong connections, factors of smoothers, repairs. */
#include "precon/kernels/kernel.h"

/* In double precision, where squares of single precision neither overflow nor vanish. */
ALWAYS_INLINE double square(scalar a)
{
#if KERNEL_COMPLEX
    return (double)a.re * (double)a.re + (double)a.im * (double)a.im;
#else
    return (double)a * (double)a;
#endif
}
ALWAYS_INLINE double size(scalar a)
{
#if KERNEL_COMPLEX
    return sqrt(square(a));
#else
    return fabs((double)a);
#endif
}

void X(amg_sizes)(const host_csr *A, int block, int64_t begin, int64_t end, double *sizes)
{
    const scalar *values = A->values;
    for (int64_t node = begin; node < end; node++) {
        double sum = 0;
        const int64_t first = A->offsets[node], length = A->offsets[node + 1] - first;
        if (block == 1 && length > 0 && A->columns[first + length / 2] == node) {
            sizes[node] = size(values[first + length / 2]); /* in the middle of most rows */
            continue;
        }
        for (int64_t row = node * block; row < (node + 1) * block; row++)
            for (int64_t k = A->offsets[row]; k < A->offsets[row + 1]; k++)
                if (A->columns[k] >= node * block && A->columns[k] < (node + 1) * block)
                    sum += square(values[k]);
        sizes[node] = sqrt(sum);
    }
}

enum { MOST_BLOCK = 16 };

/* The strong neighbours of a node of several rows, whose entries are merged a block at a time. */
static int32_t find_block(const amg_strong_job *job, int64_t node, int32_t *out)
{
    const int b = job->block;
    const scalar *values = job->A.values;
    const int64_t *offsets = job->A.offsets + node * b;
    const double bar = job->theta * job->theta * job->sizes[node];
    int64_t at[MOST_BLOCK];
    int32_t count = 0;
    for (int r = 0; r < b; r++)
        at[r] = offsets[r];
    for (;;) {
        int64_t nearest = INT64_MAX;
        for (int r = 0; r < b; r++)
            if (at[r] < offsets[r + 1] && job->A.columns[at[r]] < nearest)
                nearest = job->A.columns[at[r]];
        if (nearest == INT64_MAX)
            return count;
        const int64_t other = nearest / b;
        double sum = 0;
        for (int r = 0; r < b; r++)
            for (; at[r] < offsets[r + 1] && job->A.columns[at[r]] < (other + 1) * b; at[r]++)
                sum += square(values[at[r]]);
        out[count] = (int32_t)other;
        count += other != node && sum > bar * job->sizes[other];
    }
}

/* The diagonal of a row to which its weak entries are added, inverted; gives the row's bound. */
ALWAYS_INLINE double put_inverse(const amg_strong_job *job, int64_t row, scalar diagonal,
                                 scalar weak, double sum)
{
    scalar kept = add(diagonal, weak);
    /* Positive weak entries, or many, can take the diagonal away. */
    if (!(size(kept) > 0.25 * size(diagonal)))
        kept = diagonal;
    const scalar inverted = inverse(kept);
    const bool good = finite_number(inverted);
    ((scalar *)job->inverse)[row] = good ? inverted : number(0);
    return good ? 1 + sum / size(kept) : 0;
}

/* A row of a node of several. */
static double filter_row(const amg_strong_job *job, int64_t node, int64_t row, int32_t count,
                         const int32_t *strong)
{
    const int b = job->block;
    const scalar *values = job->A.values;
    scalar diagonal = number(0), weak = number(0);
    double sum = 0;
    int32_t at = 0;
    for (int64_t k = job->A.offsets[row]; k < job->A.offsets[row + 1]; k++) {
        const int32_t j = job->A.columns[k];
        const int64_t other = j / b;
        while (at < count && strong[at] < other)
            at++;
        if (j == row)
            diagonal = values[k];
        else if (other == node || (at < count && strong[at] == other))
            sum += size(values[k]);
        else if (j - other * b == row - node * b)
            weak = add(weak, values[k]);
    }
    return put_inverse(job, row, diagonal, weak, sum);
}

/* Neighbours and diagonal of a node of one row. */
static double take_point(const amg_strong_job *job, int64_t i, int32_t *out)
{
    const scalar *values = job->A.values;
    const double bar = job->theta * job->theta * job->sizes[i];
    scalar diagonal = number(0), weak = number(0);
    double sum = 0;
    int32_t count = 0;
    for (int64_t k = job->A.offsets[i]; k < job->A.offsets[i + 1]; k++) {
        const int32_t j = job->A.columns[k];
        const scalar v = values[k];
        out[count] = j;
        if (j == i) {
            diagonal = v;
        } else if (square(v) > bar * job->sizes[j]) {
            count++;
            sum += size(v);
        } else {
            weak = add(weak, v);
        }
    }
    job->lengths[i] = count;
    return put_inverse(job, i, diagonal, weak, sum);
}

static double take_block(const amg_strong_job *job, int64_t node, int32_t *out)
{
    const int32_t count = find_block(job, node, out);
    double largest = 0;
    job->lengths[node] = count;
    for (int64_t row = node * job->block; row < (node + 1) * job->block; row++) {
        const double bound = filter_row(job, node, row, count, out);
        largest = bound > largest ? bound : largest;
    }
    return largest;
}

double X(amg_strong)(const amg_strong_job *job, int64_t begin, int64_t end)
{
    double largest = 0;
    for (int64_t node = begin; node < end; node++) {
        int32_t *out = job->columns + job->A.offsets[node * job->block];
        const double bound =
            job->block == 1 ? take_point(job, node, out) : take_block(job, node, out);
        largest = bound > largest ? bound : largest;
    }
    return largest;
}

int64_t X(amg_factors)(const host_csr *A, bool l1, int64_t begin, int64_t end, void *f,
                       double *largest)
{
    const scalar *values = A->values;
    int64_t first = end;
    for (int64_t i = begin; i < end; i++) {
        scalar diagonal = number(0);
        double sum = 0;
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
            sum += size(values[k]);
            if (A->columns[k] == i)
                diagonal = values[k];
        }
        scalar factor = inverse(diagonal);
        const bool good = finite_number(factor);
        if (!good) {
            first = i < first ? i : first;
            factor = number(0);
        } else if (l1) {
            factor = times((real)(size(diagonal) / sum), factor);
        } else {
            const double bound = sum / size(diagonal);
            *largest = bound > *largest ? bound : *largest;
        }
        ((scalar *)f)[i] = factor;
    }
    if (l1 && *largest < 1)
        *largest = 1;
    return first;
}

void X(amg_mend)(const host_csr *A, int64_t begin, int64_t end, void *values)
{
    scalar *of = values;
    for (int64_t i = begin; i < end; i++) {
        bool empty = true;
        int64_t place = -1;
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
            empty = empty && is_zero(of[k]);
            place = A->columns[k] == i ? k : place;
        }
        if (empty && place >= 0)
            of[place] = number(1);
    }
}

void X(amg_conjugate)(int64_t n, const void *x, void *y)
{
    const scalar *from = x;
    scalar *to = y;
    for (int64_t i = 0; i < n; i++)
        to[i] = conjugate(from[i]);
}
