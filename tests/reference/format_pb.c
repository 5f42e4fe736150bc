/* Chunks and bins: where the entries of a matrix with several of both are, long rows, what cannot
 * be held. Products are those of tests/reference/formats.c. */
#include "support/layouts.h"

#include "formats/pb/pb.h"

#include <stdlib.h>

/* 300 rows with columns all over 400, and one full row: with room=1 (64 columns, 48 items of z) six
 * chunks and many bins, of which some carry. */
static spry_matrix *several(spry_context *ctx, spry_type type)
{
    return support_sorted(ctx, type, SUPPORT_ONE_ROW, 300, 400, 2500, 5);
}

/* Every piece is within its chunk and its bin, and no longer than it may be. */
static void check_pieces(const layout *L)
{
    const int32_t *first = L->array[PB_FIRST].data;
    const uint32_t *runs = L->array[PB_RUNS].data;
    const uint16_t *places = L->array[PB_PLACES].data;
    const int64_t *heads = L->array[PB_HEADS].data, *starts = L->array[PB_STARTS].data;
    int64_t all = 0, chunk;
    for (int64_t u = 0; u < L->units; u++) {
        int64_t at = 0;
        for (int64_t p = first[u]; p < first[u + 1]; p++) {
            const int64_t end =
                p + 1 < first[u + 1] ? places[p + 1] : starts[2 * u + 3] - starts[2 * u + 1];
            assert_int_equal(places[p], at);
            assert_true(end > at && end - at <= PB_PIECE);
            for (chunk = 0; heads[chunk + 1] <= runs[p]; chunk++)
                assert_true(chunk < L->number[PB_CHUNKS]);
            assert_true(runs[p] + (end - at) <= heads[chunk + 1]);
            all += end - at;
            at = end;
        }
    }
    assert_int_equal(all, L->nnz);
    assert_int_equal(heads[L->number[PB_CHUNKS]], L->nnz);
}

static void test_cuts(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = several(ctx, support_types[t]);
        layout *L = NULL;
        assert_ok(ctx, layout_build(A, "pb:room=1", &L));
        assert_int_equal(L->number[PB_WIDTH], 1024 / spry_type_size(support_types[t]));
        assert_true(L->units > 2 && L->number[PB_CHUNKS] > 1);
        assert_true(L->carry_at[L->units] > 0);
        check_pieces(L);
        layout_free(L);
        layouts_check(ctx, A, "pb:room=1");
        spry_matrix_free(A);
    }
}

/* More chunks in bins than entries: two rows of entries far apart in a very long x. */
static void test_refuses(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_long_row(ctx, SPRY_TYPE_Z, 70001);
    layout *L = NULL;
    layout_forecast f;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_build(A, "pb:room=1", &L));
    support_message_has(ctx, "take a larger room");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_estimate(A, "pb:room=1", &f));
    assert_ok(ctx, layout_estimate(A, "pb", &f));
    spry_matrix_free(A);
}

static void test_failures(void **state)
{
    spry_matrix *A = several(*state, SPRY_TYPE_D);
    layouts_torture(*state, A, "pb:room=1");
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cuts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refuses, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_failures, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
