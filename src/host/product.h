/*
 * Rows of a product of two CSR matrices, C = A B (F. G. Gustavson, Two fast algorithms for sparse
 * matrices: multiplication and permuted transposition, ACM Trans. Math. Softw. 4 (1978), 250-269):
 * row i of C is the sum of the rows of B that row i of A names. Where its numbers are gathered
 * depends on the row.
 *
 * Window: most matrices have rows whose columns lie within a range that is not long. A table has a
 * place for each column of the range (the column's low bits), a bit for each place that is in use,
 * and a bit for each word of such bits. Walking through the bits gives the columns in order:
 * nothing is sorted. Neighbouring rows use the same places, so that the table's lines stay in the
 * cache.
 *
 * Hash: rows whose columns are far apart go into a table with open addressing, twice as large as
 * the row can be long, and their columns are sorted.
 *
 * Which way a row goes follows from A and B alone.
 */
#ifndef SPRY_HOST_PRODUCT_H
#define SPRY_HOST_PRODUCT_H

#include "host/host.h"

enum {
    PRODUCT_GROUP = 4096,    /* places whose words of bits share a word of bits */
    PRODUCT_WINDOW = 1 << 18 /* places that are always worth it: two megabytes of double */
};

/* C = A B, with conj(A) in A's place; lower: only entries on and below the diagonal. All three
 * sorted; columns and values of C are NULL while its rows are only counted. */
typedef struct product_job {
    host_csr A, B;
    bool conjugate, lower;
    int64_t *offsets;
    int32_t *columns;
    void *values;
} product_job;

/* One thread's tables: no bit set, keys -1 and sums 0 between rows. */
typedef struct product_table {
    int64_t places, slots; /* powers of two: of the window and of the hash table */
    uint64_t *marks;       /* a bit per place */
    uint64_t *groups;      /* a bit a word of marks */
    int32_t *keys;         /* the column in each slot of the hash table */
    uint64_t *list;        /* column - first << 32 | slot, as they came; then room to sort them */
    void *sums;            /* of places, or of slots */
} product_table;

/* How a row of C will be made. */
typedef struct product_row {
    int64_t first, last; /* columns lie within; first > last: the row is empty */
    int64_t bound;       /* entries at most */
    int64_t work;        /* multiplications */
    bool window;
} product_row;

/* Entries of row k of B that count for row i of C. */
static inline range product_part(const product_job *p, int64_t i, int32_t k)
{
    range r = {p->B.offsets[k], p->B.offsets[k + 1]};
    if (!p->lower)
        return r;
    int64_t low = r.begin; /* columns before it count, those from r.end on do not */
    while (low < r.end) {
        const int64_t middle = low + (r.end - low) / 2;
        if (p->B.columns[middle] <= i)
            low = middle + 1;
        else
            r.end = middle;
    }
    return r;
}

static inline product_row product_look(const product_job *p, int64_t i)
{
    product_row row = {.first = INT32_MAX, .last = -1};
    for (int64_t k = p->A.offsets[i]; k < p->A.offsets[i + 1]; k++) {
        const int64_t *ends = p->B.offsets + p->A.columns[k];
        if (ends[0] == ends[1])
            continue;
        const int32_t first = p->B.columns[ends[0]], last = p->B.columns[ends[1] - 1];
        row.first = first < row.first ? first : row.first;
        row.last = last > row.last ? last : row.last;
        row.work += ends[1] - ends[0];
    }
    if (p->lower && row.last > i)
        row.last = i;
    const int64_t columns = row.last - row.first + 1;
    row.bound = row.work < columns ? row.work : columns > 0 ? columns : 0;
    const int64_t places = row.last - (row.first & -(int64_t)PRODUCT_GROUP) + 1;
    row.window = places <= PRODUCT_WINDOW || places / 8 <= row.bound;
    return row;
}

/* Whether row i of C has the columns of the row before, as row i of A has: so it is where unknowns
 * come in blocks. */
static inline bool product_same(const product_job *p, int64_t i)
{
    const int64_t *offsets = p->A.offsets + i;
    const int64_t n = offsets[1] - offsets[0];
    return !p->lower && n == offsets[0] - offsets[-1] &&
           memcmp(p->A.columns + offsets[0], p->A.columns + offsets[-1],
                  (size_t)n * sizeof *p->A.columns) == 0;
}

static inline int64_t product_power(int64_t least, int64_t n)
{
    while (least < n)
        least *= 2;
    return least;
}

/* Places of the window, or slots of the hash table, that a row needs. */
static inline int64_t product_places(const product_row *row)
{
    return product_power(PRODUCT_GROUP, row->last - (row->first & -(int64_t)PRODUCT_GROUP) + 1);
}
static inline int64_t product_slots(int64_t entries)
{
    return product_power(16, 2 * entries);
}

/* Marks the places of rising columns, a word at a time. */
static inline void product_mark(const product_table *t, uint32_t mask, const int32_t *columns,
                                int64_t n)
{
    for (int64_t k = 0; k < n;) {
        const uint32_t word = ((uint32_t)columns[k] & mask) >> 6;
        uint64_t bits = 0;
        do {
            bits |= UINT64_C(1) << (columns[k++] & 63);
        } while (k < n && ((uint32_t)columns[k] & mask) >> 6 == word);
        t->groups[word >> 6] |= UINT64_C(1) << (word & 63);
        t->marks[word] |= bits;
    }
}

/* The slot of a column, which is new where its key is -1. Fibonacci hashing: columns of a grid have
 * their low bits in common. */
static inline uint32_t product_slot(const int32_t *keys, int shift, uint32_t mask, int32_t column)
{
    uint32_t slot = (uint32_t)column * UINT32_C(0x9e3779b1) >> shift;
    while (keys[slot] != column && keys[slot] >= 0)
        slot = (slot + 1) & mask;
    return slot;
}
static inline int product_shift(int64_t slots)
{
    return 32 - __builtin_ctzll((uint64_t)slots);
}

#endif
