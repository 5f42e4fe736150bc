/* Cutting work among threads, sums over counts. */
#include "base/base.h"

#include <omp.h>

range base_share(int64_t n, int parts, int index, int64_t grain)
{
    /* Whole grains are distributed, so that only the last part ends off a multiple. */
    int64_t grains = n / grain + (n % grain != 0);
    int64_t each = grains / parts, extra = grains % parts;
    int64_t begin = index * each + (index < extra ? index : extra);
    int64_t end = begin + each + (index < extra ? 1 : 0);
    begin *= grain;
    end *= grain;
    return (range){begin < n ? begin : n, end < n ? end : n};
}

int base_share_of(int64_t n, int parts, int64_t element, int64_t grain)
{
    const int64_t grains = n / grain + (n % grain != 0);
    const int64_t each = grains / parts, extra = grains % parts, at = element / grain;
    const int64_t wide = extra * (each + 1); /* grains in the parts that have one more */
    return (int)(at < wide ? at / (each + 1) : extra + (at - wide) / each);
}

spry_status base_prefix_sum(spry_context *ctx, int64_t *array, int64_t n)
{
    int threads = n < 1 << 15 ? 1 : spry_context_threads(ctx);
    int64_t *totals = NULL;
    spry_status status = base_calloc(ctx, threads + 1, sizeof *totals, &totals);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel num_threads(threads)
    {
        /* The team may be smaller than asked for. */
        int parts = omp_get_num_threads(), me = omp_get_thread_num();
        range part = base_share(n, parts, me, 1);
        int64_t sum = 0;
        for (int64_t i = part.begin; i < part.end; i++)
            sum += array[i + 1];
        totals[me + 1] = sum;
#pragma omp barrier
        int64_t running = array[0];
        for (int t = 0; t < me; t++)
            running += totals[t + 1];
        for (int64_t i = part.begin; i < part.end; i++)
            array[i + 1] = running += array[i + 1];
    }
    base_free(ctx, totals);
    return SPRY_STATUS_OK;
}
