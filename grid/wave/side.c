/* Transforms of one length: its factors and roots of unity. */
#include "grid/wave/wave.h"

#include <math.h>

int64_t wave_good_length(int64_t n)
{
    static const int64_t factors[] = {2, 3, 5};
    for (;; n++) {
        int64_t left = n;
        for (int i = 0; i < 3; i++)
            while (left % factors[i] == 0)
                left /= factors[i];
        if (left == 1)
            return n;
    }
}

/* 4 before 2, which costs less for both together; then 3, 5, and whatever else there is. */
static void find_factors(int64_t n, wave_side *side)
{
    static const int64_t ours[] = {5, 4, 3, 2};
    side->stages = 0;
    for (int i = 0; i < 4; i++)
        for (; n % ours[i] == 0; n /= ours[i])
            side->radix[side->stages++] = ours[i];
    for (int64_t p = 7; n > 1; p += 2) {
        if (p * p > n)
            p = n;
        for (; n % p == 0; n /= p)
            side->radix[side->stages++] = p;
    }
}

static bool is_ours(int64_t radix)
{
    return radix <= 5;
}

/* exp(-2 pi i j / n), rounded once. */
static spry_scalar root_of(int64_t j, int64_t n)
{
    const long double turn =
        -2 * 3.14159265358979323846264338327950288L * (long double)(j % n) / (long double)n;
    return (spry_scalar){(double)cosl(turn), (double)sinl(turn)};
}

static void put_root(spry_type type, wave_side *side, int64_t *at, spry_scalar root)
{
    value_set(type, side->roots, *at / 2, root);
    *at += 2;
}

spry_status wave_side_make(spry_context *ctx, spry_type type, int64_t n, wave_side *side)
{
    *side = (wave_side){.n = n};
    find_factors(n, side);
    int64_t m = n, numbers = 0;
    for (int i = 0; i < side->stages; i++) {
        const int64_t r = side->radix[i];
        m /= r;
        side->roots_at[i] = numbers;
        numbers += 2 * m * (r - 1) + (is_ours(r) ? 0 : 2 * r);
    }
    side->roots_count = numbers;
    const spry_status status = base_alloc(ctx, numbers / 2 + 1, spry_type_size(type), &side->roots);
    if (status != SPRY_STATUS_OK)
        return status;
    m = n;
    for (int i = 0; i < side->stages; i++) {
        const int64_t r = side->radix[i], whole = m;
        int64_t at = side->roots_at[i];
        m /= r;
        for (int64_t j = 0; !is_ours(r) && j < r; j++)
            put_root(type, side, &at, root_of(j, r));
        for (int64_t p = 0; p < m; p++)
            for (int64_t k = 1; k < r; k++)
                put_root(type, side, &at, root_of(p * k, whole));
    }
    return status;
}

void wave_side_clear(spry_context *ctx, wave_side *side)
{
    base_free(ctx, side->roots);
    side->roots = NULL;
}
