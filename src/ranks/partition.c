/* Contiguous partitions by work, and the numbering that every partition ends in. */
#include "ranks/partition.h"

spry_status partition_check_shares(spry_context *ctx, int ranks, const double *shares)
{
    double sum = 0;
    for (int r = 0; shares && r < ranks; r++) {
        if (!(shares[r] >= 0) || !isfinite(shares[r]))
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "the share of rank %d is %g; shares are 0 or more, and finite", r,
                             shares[r]);
        sum += shares[r];
    }
    if (shares && !(sum > 0 && isfinite(sum)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the shares of %d ranks add up to %g; one at least must be above 0", ranks,
                         sum);
    return SPRY_STATUS_OK;
}

double partition_target(double all, int ranks, const double *shares, int rank)
{
    double sum = 0, before = 0;
    if (!shares)
        return all * rank / ranks;
    for (int r = 0; r < ranks; r++) {
        before += r < rank ? shares[r] : 0;
        sum += shares[r];
    }
    return all * (before / sum);
}

/* The limit nearest to a row. */
static int64_t nearest_limit(int64_t rows, const partition_limits *limits, int64_t row)
{
    if (!limits || limits->parts <= 0 || row <= 0 || row >= rows)
        return row < 0 ? 0 : row > rows ? rows : row;
    const int part = base_share_of(rows, limits->parts, row, limits->grain);
    const range found = base_share(rows, limits->parts, part, limits->grain);
    return row - found.begin <= found.end - row ? found.begin : found.end;
}

/* Work of the piece's rows before row i of them. */
static double work_before(const partition_piece *p, int64_t i)
{
    return p->before + (double)(p->offsets[i] - p->offsets[0]) + (double)i;
}

void partition_cut_piece(const partition_piece *p, int ranks, const double *shares, int64_t *first)
{
    for (int r = 1; r < ranks; r++) {
        const double target = partition_target(p->all, ranks, shares, r);
        int64_t low = 0, high = p->count;
        /* Every target belongs to one piece: from its first row's work on, below the next one's. */
        if (p->count == 0 || target < work_before(p, 0) || target >= work_before(p, p->count))
            continue;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (work_before(p, middle) < target)
                low = middle + 1;
            else
                high = middle;
        }
        /* The cut before or after the row that the target is in, whichever is nearer. */
        if (low > 0 && target - work_before(p, low - 1) < work_before(p, low) - target)
            low--;
        first[r] = p->begin + low;
    }
}

void partition_settle(int64_t rows, const partition_limits *limits, int ranks, int64_t *first)
{
    first[0] = 0;
    first[ranks] = rows;
    for (int r = 1; r < ranks; r++) {
        first[r] = nearest_limit(rows, limits, first[r]);
        if (first[r] < first[r - 1])
            first[r] = first[r - 1];
    }
}

void partition_number(int64_t rows, const int32_t *owner, int ranks, int64_t *first,
                      int64_t *number)
{
    memset(first, 0, (size_t)(ranks + 1) * sizeof *first);
    for (int64_t i = 0; i < rows; i++)
        first[owner[i] + 1]++;
    for (int r = 0; r < ranks; r++)
        first[r + 1] += first[r];
    for (int64_t i = 0; i < rows; i++)
        number[i] = first[owner[i]]++;
    for (int r = ranks; r > 0; r--)
        first[r] = first[r - 1];
    first[0] = 0;
}

int partition_owner(int ranks, const int64_t *first, int64_t number)
{
    int low = 0, high = ranks - 1;
    /* The last rank that begins at or before the number; ranks without rows begin where the next
     * one does. */
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (first[middle] <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
