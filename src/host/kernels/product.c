/*
 * Rows of C = A B with their numbers; product.h says how. A multiplication loads per column and a
 * value of B and adds to a place that is in the first or second cache: what bounds the loop over
 * short rows of B is the branch at its end.
 */
#include "host/product.h"

#include "host/kernels/kernel.h"

/* The columns and sums of a window in order; leaves it clean. */
static void take_window(const product_table *t, int64_t places, const product_row *row,
                        int32_t *columns, scalar *values)
{
    scalar *sums = t->sums;
    const int64_t mask = places / PRODUCT_GROUP - 1;
    for (int64_t g = row->first / PRODUCT_GROUP; g <= row->last / PRODUCT_GROUP; g++) {
        uint64_t words = t->groups[g & mask];
        t->groups[g & mask] = 0;
        for (; words; words &= words - 1) {
            const int w = __builtin_ctzll(words);
            const int64_t word = (g & mask) * 64 + w;
            const int32_t base = (int32_t)(g * PRODUCT_GROUP + w * 64);
            scalar *from = sums + word * 64;
            for (uint64_t bits = t->marks[word]; bits; bits &= bits - 1) {
                const int b = __builtin_ctzll(bits);
                *columns++ = base + b;
                *values++ = from[b];
                from[b] = from_scalar((spry_scalar){0, 0});
            }
            t->marks[word] = 0;
        }
    }
}

ALWAYS_INLINE scalar factor(const product_job *p, int64_t k)
{
    const scalar a = ((const scalar *)p->A.values)[k];
    return p->conjugate ? conjugate(a) : a;
}

/* The same when the columns are known, and no bit is set. */
static void take_known(const product_table *t, uint32_t mask, int64_t n, const int32_t *known,
                       int32_t *columns, scalar *values)
{
    scalar *sums = t->sums;
    memcpy(columns, known, (size_t)n * sizeof *columns);
    for (int64_t k = 0; k < n; k++) {
        scalar *from = sums + ((uint32_t)known[k] & mask);
        values[k] = *from;
        *from = from_scalar((spry_scalar){0, 0});
    }
}

static void window_row(const product_job *p, int64_t i, const product_row *row, bool same,
                       const product_table *t)
{
    const int64_t places = product_places(row);
    const uint32_t mask = (uint32_t)(places - 1);
    const scalar *values = p->B.values;
    scalar *restrict sums = t->sums;
    for (int64_t k = p->A.offsets[i]; k < p->A.offsets[i + 1]; k++) {
        const range r = product_part(p, i, p->A.columns[k]);
        const int32_t *columns = p->B.columns;
        const scalar a = factor(p, k);
        for (int64_t l = r.begin; l < r.end; l++) {
            scalar *sum = sums + ((uint32_t)columns[l] & mask);
            *sum = muladd(a, values[l], *sum);
        }
        if (!same)
            product_mark(t, mask, columns + r.begin, r.end - r.begin);
    }
    const int64_t to = p->offsets[i], n = p->offsets[i + 1] - to;
    if (same)
        take_known(t, mask, n, p->columns + (to - n), p->columns + to, (scalar *)p->values + to);
    else
        take_window(t, places, row, p->columns + to, (scalar *)p->values + to);
}

static void sort_short(uint64_t *list, int64_t n)
{
    for (int64_t k = 1; k < n; k++) {
        const uint64_t one = list[k];
        int64_t at = k;
        for (; at > 0 && list[at - 1] > one; at--)
            list[at] = list[at - 1];
        list[at] = one;
    }
}

/* Sorts by the upper half, whose numbers are at most `most`; returns where the result is: the list
 * or the room of n behind it. */
static uint64_t *sort_list(uint64_t *list, int64_t n, uint64_t most)
{
    enum { DIGIT = 8, SHORT = 24 };
    if (n <= SHORT) {
        sort_short(list, n);
        return list;
    }
    uint64_t *other = list + n;
    for (int shift = 32; most > 0; shift += DIGIT, most >>= DIGIT) {
        int64_t count[(1 << DIGIT) + 1] = {0};
        const uint64_t digit = (1 << DIGIT) - 1;
        for (int64_t k = 0; k < n; k++)
            count[(list[k] >> shift & digit) + 1]++;
        for (int d = 0; d < 1 << DIGIT; d++)
            count[d + 1] += count[d];
        for (int64_t k = 0; k < n; k++)
            other[count[list[k] >> shift & digit]++] = list[k];
        uint64_t *swap = list;
        list = other;
        other = swap;
    }
    return list;
}

static void hash_row(const product_job *p, int64_t i, const product_row *row,
                     const product_table *t)
{
    const int64_t to = p->offsets[i], entries = p->offsets[i + 1] - to;
    const int64_t slots = product_slots(entries);
    const uint32_t mask = (uint32_t)(slots - 1);
    const int shift = product_shift(slots);
    const scalar *values = p->B.values;
    scalar *sums = t->sums;
    int64_t n = 0;
    for (int64_t k = p->A.offsets[i]; k < p->A.offsets[i + 1]; k++) {
        const range r = product_part(p, i, p->A.columns[k]);
        const scalar a = factor(p, k);
        for (int64_t l = r.begin; l < r.end; l++) {
            const int32_t column = p->B.columns[l];
            const uint32_t slot = product_slot(t->keys, shift, mask, column);
            if (t->keys[slot] < 0) {
                t->keys[slot] = column;
                t->list[n++] = (uint64_t)(column - row->first) << 32 | slot;
            }
            sums[slot] = muladd(a, values[l], sums[slot]);
        }
    }
    const uint64_t *sorted = sort_list(t->list, n, (uint64_t)(row->last - row->first));
    for (int64_t k = 0; k < n; k++) {
        const uint32_t slot = (uint32_t)sorted[k];
        p->columns[to + k] = t->keys[slot];
        ((scalar *)p->values)[to + k] = sums[slot];
        t->keys[slot] = -1;
        sums[slot] = from_scalar((spry_scalar){0, 0});
    }
}

/* A row of A with one entry: a row of B times a number. */
static void single_row(const product_job *p, int64_t i)
{
    const int64_t k = p->A.offsets[i];
    const range r = product_part(p, i, p->A.columns[k]);
    const scalar a = factor(p, k), *values = (const scalar *)p->B.values + r.begin;
    int32_t *columns = p->columns + p->offsets[i];
    scalar *to = (scalar *)p->values + p->offsets[i];
    for (int64_t l = 0; l < r.end - r.begin; l++) {
        columns[l] = p->B.columns[r.begin + l];
        to[l] = mul(a, values[l]);
    }
}

void X(csr_product)(const product_job *p, int64_t begin, int64_t end, const product_table *t)
{
    for (int64_t i = begin; i < end; i++) {
        if (p->offsets[i] == p->offsets[i + 1])
            continue;
        if (p->A.offsets[i + 1] - p->A.offsets[i] == 1) {
            single_row(p, i);
            continue;
        }
        const product_row row = product_look(p, i);
        if (row.window)
            window_row(p, i, &row, i > begin && product_same(p, i), t);
        else
            hash_row(p, i, &row, t);
    }
}
