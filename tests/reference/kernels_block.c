/* Inner products and sums of blocks of vectors: every type and ISA level against long double. */
#include "support/numeric.h"

#include "program/blocks.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 17, LONG = 600 };

typedef struct blocks {
    const block_kernels *kernels;
    spry_type type;
    int64_t n;
    void *x[MOST], *y[MOST];
} blocks;

static blocks blocks_new(spry_context *ctx, spry_type type, int64_t n)
{
    blocks s = {.kernels = block_kernels_for(ctx, type), .type = type, .n = n};
    for (int k = 0; k < MOST; k++) {
        s.x[k] = numeric_array(type, n, k % 3, 20 + (uint64_t)k);
        s.y[k] = numeric_array(type, n, k % 2, 50 + (uint64_t)k);
    }
    return s;
}

static void blocks_free(blocks *s)
{
    for (int k = 0; k < MOST; k++) {
        numeric_free(s->type, s->x[k], k % 3);
        numeric_free(s->type, s->y[k], k % 2);
    }
}

/* Each sum is added to what was there, has n additions in double precision, and one for each panel;
 * products of complex numbers have two of their own. */
static void check_gram(const blocks *s, int rows, int cols, gram_kind kind)
{
    const bool conjugated = kind != GRAM_PLAIN;
    spry_scalar sums[MOST * MOST];
    const spry_scalar before = {0.25, spry_type_is_complex(s->type) ? -0.5 : 0};
    const spry_type wider = spry_type_is_complex(s->type) ? SPRY_TYPE_Z : SPRY_TYPE_D;
    for (int k = 0; k < rows * cols; k++)
        sums[k] = before;
    s->kernels->gram(s->n, kind, rows, cols, (const void *const *)s->x, (const void *const *)s->y,
                     sums);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) {
            wide sum = {before.re, before.im, 1};
            for (int64_t k = 0; k < s->n; k++)
                sum = numeric_muladd(sum, value_get(s->type, s->x[i], k), conjugated,
                                     value_get(s->type, s->y[j], k));
            numeric_near(wider, sums[j * rows + i], sum, 2 * (double)s->n + 4, "gram",
                         j * rows + i);
        }
}

/* Of a block with itself: the same bits on both sides of the diagonal, and those of all products
 * where they are taken. */
static void check_hermitian(const blocks *s, int count)
{
    spry_scalar half[MOST * MOST] = {{0, 0}}, all[MOST * MOST] = {{0, 0}};
    const void *const *x = (const void *const *)s->x;
    s->kernels->gram(s->n, GRAM_HERMITIAN, count, count, x, x, half);
    s->kernels->gram(s->n, GRAM_CONJUGATED, count, count, x, x, all);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++) {
            const spry_scalar a = half[j * count + i], b = half[i * count + j];
            assert_true(a.re == b.re && a.im == -b.im);
            if (i >= j)
                assert_memory_equal(&a, &all[j * count + i], sizeof a);
        }
}

/* One rounding for each product, and two for each addition where it has complex parts. */
static void check_mix(blocks *s, int terms, int count)
{
    spry_scalar numbers[MOST][MOST];
    const spry_scalar *c[MOST];
    const size_t bytes = (size_t)s->n * spry_type_size(s->type);
    void *old[MOST];
    for (int j = 0; j < count; j++) {
        for (int t = 0; t < terms; t++) {
            const spry_scalar random = support_number(s->type, 7, (uint64_t)(j * MOST + t));
            numbers[j][t] = random;
        }
        c[j] = numbers[j];
        old[j] = malloc(bytes + 1);
        memcpy(old[j], s->y[j], bytes);
    }
    s->kernels->mix(s->n, terms, count, c, (const void *const *)s->x, s->y);
    for (int j = 0; j < count; j++) {
        for (int64_t i = 0; i < s->n; i++) {
            const spry_scalar was = value_get(s->type, old[j], i);
            wide sum = {was.re, was.im, numeric_size(was)};
            for (int t = 0; t < terms; t++)
                sum = numeric_muladd(sum, numbers[j][t], false, value_get(s->type, s->x[t], i));
            numeric_near(s->type, value_get(s->type, s->y[j], i), sum, 2 * terms + 4, "mix", i);
        }
        memcpy(s->y[j], old[j], bytes);
        free(old[j]);
    }
}

static void every_size(spry_context *ctx)
{
    static const int64_t sizes[] = {0, 1, 3, 7, 16, 33, 127, 128, 129, LONG};
    static const int counts[][2] = {{1, 1}, {2, 3}, {4, 4}, {5, 1}, {3, 8}, {16, 16}, {17, 6}};
    for (int t = 0; t < 4; t++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            blocks s = blocks_new(ctx, support_types[t], sizes[k]);
            for (size_t m = 0; m < sizeof counts / sizeof *counts; m++) {
                check_gram(&s, counts[m][0], counts[m][1], m % 2 ? GRAM_PLAIN : GRAM_CONJUGATED);
                check_mix(&s, counts[m][0], counts[m][1]);
            }
            for (int count = 1; count <= MOST; count += 4)
                check_hermitian(&s, count);
            blocks_free(&s);
        }
}

static void test_blocks(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, every_size);
}

/* A vector's sum has the same bits alone and with others: updates that are asked for early are
 * made alone. */
static void alone(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        blocks s = blocks_new(ctx, support_types[t], 301);
        const size_t bytes = (size_t)s.n * spry_type_size(s.type);
        spry_scalar numbers[MOST];
        const spry_scalar *c[MOST];
        void *made[MOST];
        for (int k = 0; k < MOST; k++) {
            numbers[k] = support_number(s.type, 3, (uint64_t)k);
            c[k] = numbers;
        }
        for (int j = 0; j < MOST; j++) {
            made[j] = malloc(bytes);
            memcpy(made[j], s.y[j], bytes);
            s.kernels->mix(s.n, MOST, 1, c, (const void *const *)s.x, &made[j]);
        }
        s.kernels->mix(s.n, MOST, MOST, c, (const void *const *)s.x, s.y);
        for (int j = 0; j < MOST; j++) {
            assert_memory_equal(s.y[j], made[j], bytes);
            free(made[j]);
        }
        blocks_free(&s);
    }
}

static void test_alone(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
