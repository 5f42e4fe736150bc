/*
 * Matrix powers by parts in a device's local memory: they have the bits of the device's products,
 * for all cuts, types, bases and numbers of steps; ghosts are as many as forecasts say; what does
 * not go by parts is made by products.
 */
#include "support/devices.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/stepped.h"

#include "host/powers.h"

#include <spry/spry.h>

#include <string.h>

static spry_powers *powers_of(spry_context *ctx, spry_device *d, const spry_matrix *A, int k,
                              const char *more, spry_powers_info *info)
{
    static const spry_scalar shifts[MOST_POWERS] = {{0.5, 0}, {1, 2},     {1, -2},
                                                    {3, 0},   {-1, 0.25}, {-1, -0.25}};
    char options[160];
    spry_powers *p = NULL;
    snprintf(options, sizeof options, "k=%d device=%s %s", k, d->facts.name, more);
    assert_ok(ctx, spry_powers_new(A, options, &p));
    if (strstr(more, "newton"))
        assert_ok(ctx, spry_powers_set_shifts(p, k, shifts));
    *info = (spry_powers_info)SPRY_POWERS_INFO_INIT;
    assert_ok(ctx, spry_powers_forecast(p, info));
    return p;
}

/* p and q make vectors with the same bits, all of them. */
static void same_bits(spry_context *ctx, spry_device *d, const spry_matrix *A, int k,
                      const char *options, spry_powers *p, spry_powers *q)
{
    const int64_t n = A->a.rows;
    spry_vector *x = numeric_random(ctx, d, A->a.type, n, 7), *v[MOST_POWERS], *w[MOST_POWERS];
    stepped_make(ctx, d, A->a.type, n, k, v);
    stepped_make(ctx, d, A->a.type, n, k, w);
    assert_ok(ctx, spry_powers_apply(p, x, v));
    assert_ok(ctx, spry_powers_apply(q, x, w));
    for (int j = 0; j < k; j++)
        stepped_same(v[j], w[j], "%s: power %d", options, j + 1);
    spry_vector_free(x);
    stepped_free(k, v);
    stepped_free(k, w);
}

/* With these options powers are made as `schedule` says, and have the bits of products. */
static spry_powers_info check(spry_context *ctx, spry_device *d, const spry_matrix *A, int k,
                              const char *basis, const char *more, const char *schedule)
{
    char options[128], plainly[128];
    spry_powers_info info, other;
    snprintf(options, sizeof options, "%s %s", basis, more);
    snprintf(plainly, sizeof plainly, "%s schedule=plain", basis);
    spry_powers *p = powers_of(ctx, d, A, k, options, &info);
    spry_powers *q = powers_of(ctx, d, A, k, plainly, &other);
    if (strcmp(info.schedule, schedule) != 0)
        fail_msg("%s: %s, expected %s", options, info.schedule, schedule);
    assert_string_equal(other.schedule, "plain");
    same_bits(ctx, d, A, k, options, p, q);
    spry_powers_free(p);
    spry_powers_free(q);
    return info;
}

static const char *const bases[] = {"", "basis=newton", "basis=chebyshev low=-1 high=11"};

/* 9 entries per row, and rows that no part divides. */
static void types_cuts_and_bases(spry_context *ctx, spry_device *d)
{
    static const char *const cuts[] = {"cut=rows depth=3", "cut=rcm depth=2", "cut=metis"};
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = generated_as(ctx, support_types[t], "poisson2d", "nx=19 ny=23 points=9");
        if (spry_type_is_complex(support_types[t]))
            generated_turn(A, 0.3, (spry_scalar){0.8, 0.6});
        const int memory = 3000 * ((int)spry_type_size(support_types[t]) + 2); /* by entries */
        for (int c = 0; c < 3; c++)
            for (int b = 0; b < 3; b++) {
                char options[64];
                snprintf(options, sizeof options, "schedule=parts memory=%d %s", memory, cuts[c]);
                const spry_powers_info info = check(ctx, d, A, 5, bases[b], options, "parts");
                assert_true(info.parts > 1);
                assert_true(info.part_bytes <= memory);
                assert_true(info.ghost_rows[0] > 0);
            }
        spry_matrix_free(A);
    }
}

static void every_number_of_steps(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = generated(ctx, "tridiagonal", "size=777");
    for (int k = 1; k <= MOST_POWERS; k += k < 6 ? 1 : 5)
        for (int depth = 0; depth <= 4; depth += 2) {
            char options[64];
            snprintf(options, sizeof options, "schedule=parts cut=rows memory=6000 depth=%d",
                     depth);
            const spry_powers_info info =
                check(ctx, d, A, k, bases[k % 3], options, k > 1 ? "parts" : "plain");
            assert_int_equal(info.steps, k);
            assert_true(info.depth <= k && (depth == 0 || info.depth <= depth));
        }
    /* in one launch: what each step does, of the last one v_(j-1) as well */
    check(ctx, d, A, MOST_POWERS, bases[2], "schedule=parts cut=rows memory=6000 depth=16",
          "parts");
    spry_matrix_free(A);
}

/* Of a line: every part but the first and the last has a row more on each side for each step that
 * follows. */
static void ghosts_are_counted(spry_context *ctx, spry_device *d)
{
    enum { K = 6 };
    spry_matrix *A = generated(ctx, "tridiagonal", "size=2000");
    const spry_powers_info info =
        check(ctx, d, A, K, "", "schedule=parts cut=rows memory=6000 depth=6", "parts");
    assert_int_equal(info.depth, K);
    for (int j = 0; j < K; j++)
        assert_int_equal(info.ghost_rows[j], 2 * (info.parts - 1) * (K - 1 - j));
    /* 12 bytes of an entry and 8 of a row K times, or 10 and 6 and the ghosts' once: more than 2.
     */
    assert_true(info.bytes < info.plain_bytes / 2);
    assert_true(info.gain > 1.5);
    spry_matrix_free(A);
}

/* Empty rows, rows by themselves, one part, one row, none. */
static void patterns(spry_context *ctx, spry_device *d)
{
    static const support_shape shapes[] = {SUPPORT_UNIFORM, SUPPORT_BANDED};
    static const char parts[] = "schedule=parts cut=rows memory=6000 depth=2";
    for (int s = 0; s < 2; s++) {
        const support_recipe recipe = {.type = SPRY_TYPE_D,
                                       .format = SPRY_FORMAT_CSR,
                                       .rows = 300,
                                       .cols = 300,
                                       .nnz = s == 0 ? 60 : 600,
                                       .shape = shapes[s],
                                       .seed = 5};
        spry_matrix *A = support_matrix(ctx, &recipe);
        check(ctx, d, A, 3, bases[2], parts, "parts");
        spry_matrix_free(A);
    }
    spry_matrix *small = generated(ctx, "tridiagonal", "size=20");
    assert_int_equal(check(ctx, d, small, 4, "", parts, "parts").parts, 1);
    spry_matrix_free(small);
    spry_matrix *one = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, (const double[]){0.5});
    check(ctx, d, one, 3, bases[1], parts, "parts");
    spry_matrix_free(one);
    spry_matrix *none = support_from_rows(ctx, SPRY_TYPE_D, 0, 0, (const double[]){0});
    check(ctx, d, none, 3, "", parts, "plain");
    spry_matrix_free(none);
}

/* A part would need all rows, or a row all of local memory; nothing is gained by a matrix that the
 * cache holds. */
static void products_where_parts_do_not_pay(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = generated(ctx, "arrowhead", "size=2000");
    check(ctx, d, A, 4, "", "schedule=parts cut=rows memory=6000", "plain");
    spry_matrix_free(A);
    A = support_long_row(ctx, SPRY_TYPE_D, 3000);
    check(ctx, d, A, 2, "", "schedule=parts cut=rows memory=6000", "plain");
    spry_matrix_free(A);
    A = generated(ctx, "tridiagonal", "size=300");
    check(ctx, d, A, 4, "", "", "plain");
    spry_matrix_free(A);
}

/* New values are brought, and new factors. */
static void values_change(spry_context *ctx, spry_device *d)
{
    spry_powers_info info;
    spry_matrix *A = generated(ctx, "tridiagonal", "size=777");
    spry_powers *p =
        powers_of(ctx, d, A, 4, "schedule=parts cut=rows memory=6000 basis=newton", &info);
    spry_powers *q = powers_of(ctx, d, A, 4, "schedule=plain basis=newton", &info);
    spry_vector *values = numeric_random(ctx, NULL, SPRY_TYPE_D, A->a.nnz, 3);
    for (int turn = 0; turn < 3; turn++) {
        const spry_scalar shifts[4] = {{turn, 0}, {0.5, 0}, {turn + 1.5, 0}, {0, 0}};
        same_bits(ctx, d, A, 4, "new values", p, q);
        if (turn == 0)
            assert_ok(ctx, spry_matrix_set_values_from(A, values));
        assert_ok(ctx, spry_powers_set_shifts(p, 4, shifts));
        assert_ok(ctx, spry_powers_set_shifts(q, 4, shifts));
    }
    spry_powers_free(p);
    spry_powers_free(q);
    spry_vector_free(values);
    spry_matrix_free(A);
}

/* Every failure of memory, copies and launches is reported and leaves nothing behind. */
typedef struct torture_job {
    spry_device *d;
    const spry_matrix *A;
} torture_job;

static spry_status torture_call(spry_context *ctx, void *data)
{
    const torture_job *job = data;
    char options[96];
    spry_powers *p = NULL;
    spry_vector *x = NULL, *v[2] = {NULL, NULL};
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "k=2 schedule=parts cut=rows memory=6000 device=%s",
             job->d->facts.name);
    SPRY_GO(ctx, spry_powers_new(job->A, options, &p));
    SPRY_GO(ctx, spry_vector_on(job->d, SPRY_TYPE_D, job->A->a.rows, NULL, &x));
    for (int j = 0; j < 2; j++)
        SPRY_GO(ctx, spry_vector_like(x, job->A->a.rows, &v[j]));
    SPRY_GO(ctx, spry_powers_apply(p, x, v));
done:
    spry_powers_free(p);
    spry_vector_free(x);
    for (int j = 0; j < 2; j++)
        spry_vector_free(v[j]);
    return status;
}

static void failures(spry_context *ctx, spry_device *d)
{
    enum { CALLS = 24 };
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    spry_matrix *A = generated(ctx, "tridiagonal", "size=777");
    torture_job job = {d, A};
    int64_t used, now, settled, most;
    assert_ok(ctx, torture_call(ctx, &job));
    device_memory_now(d, &used, &most, NULL);
    spry_context_memory(ctx, &settled, &most);
    for (int w = 0; w < 4; w++) { /* the last are the host's allocations */
        int failed = 0;
        for (int64_t n = 1; n <= CALLS; n++) { /* some of which there is another way for */
            if (w < 3)
                device_fail_next(d, works[w], n);
            else
                base_fail_allocation(ctx, n, false);
            failed += torture_call(ctx, &job) != SPRY_STATUS_OK;
            if (w < 3)
                device_fail_next(d, works[w], 0);
            else
                base_fail_allocation(ctx, 0, false);
            device_memory_now(d, &now, &most, NULL);
            assert_int_equal(now, used);
            spry_context_memory(ctx, &now, &most);
            assert_int_equal(now, settled);
        }
        assert_true(failed > (works[w % 3] == WORK_LAUNCH ? 0 : 4));
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(types_cuts_and_bases),
                                         DEVICES_TEST(every_number_of_steps),
                                         DEVICES_TEST(ghosts_are_counted),
                                         DEVICES_TEST(patterns),
                                         DEVICES_TEST(products_where_parts_do_not_pay),
                                         DEVICES_TEST(values_change),
                                         DEVICES_TEST(failures)};
    return DEVICES_RUN(tests);
}
