/* Rows and vectors distributed to ranks, which are threads here. */
#include "support/ranked.h"

#include "matrix/matrix.h"
#include "ranks/redistribute.h"

#include <stdlib.h>

/* A matrix that every rank knows, of which each gives some rows. */
enum { N = 90, GIVERS = 4 };
typedef enum giving { IN_ORDER, SCRAMBLED, ONE_GIVES_ALL } giving;

typedef struct problem {
    const spry_matrix *A; /* sorted CSR */
    giving how;
    ranks_wish wish;
    int64_t old_of_new[N];
} problem;

static int giver_of(giving how, int ranks, int64_t row)
{
    switch (how) {
    case IN_ORDER: /* rank 1 gives nothing */
        return ranks == 1 || row < N / 3 ? 0 : ranks - 1;
    case SCRAMBLED:
        return (int)(base_random(3, (uint64_t)row) % (uint64_t)ranks);
    default:
        return ranks - 1;
    }
}

/* This rank's part of what is given. */
typedef struct part {
    ranks_given g;
    int64_t numbers[N], offsets[N + 1], *columns;
    char *values;
} part;

static void give(const problem *p, int rank, int ranks, part *out)
{
    const matrix_arrays *a = &p->A->a;
    const size_t size = spry_type_size(a->type);
    out->columns = malloc((size_t)(a->nnz + 1) * sizeof *out->columns);
    out->values = malloc((size_t)(a->nnz + 1) * size);
    out->g = (ranks_given){.type = a->type,
                           .all_rows = a->rows,
                           .all_cols = a->cols,
                           .numbers = p->how == IN_ORDER ? NULL : out->numbers,
                           .offsets = out->offsets,
                           .columns = out->columns,
                           .values = out->values};
    out->offsets[0] = 0;
    for (int64_t k = 0; k < a->rows; k++) {
        const int64_t i = p->how == SCRAMBLED ? (k * 37 + 11) % a->rows : k;
        if (giver_of(p->how, ranks, i) != rank)
            continue;
        int64_t at = out->offsets[out->g.rows];
        for (int64_t e = a->offsets[i + 1] - 1; e >= a->offsets[i]; e--, at++) { /* falling */
            out->columns[at] = a->col_index[e];
            memcpy(out->values + (size_t)at * size, (const char *)a->values + (size_t)e * size,
                   size);
        }
        out->numbers[out->g.rows++] = i;
        out->offsets[out->g.rows] = at;
    }
}

static void part_free(part *p)
{
    free(p->columns);
    free(p->values);
}

/* The rows of this rank are those of A, by the old numbers. */
static const char *compare_rows(spry_context *ctx, const problem *p, const redistributed_matrix *d)
{
    const matrix_arrays *a = &p->A->a;
    const ranks_rows *r = &d->rows;
    CHECK(r->begin == d->first[team_rank(ctx)]);
    CHECK(r->begin + r->rows == d->first[team_rank(ctx) + 1]);
    CHECK(r->all_rows == a->rows && r->all_cols == a->cols);
    for (int64_t i = 0; i < r->rows; i++) {
        const int64_t old = p->old_of_new[r->begin + i];
        CHECK(r->offsets[i + 1] - r->offsets[i] == a->offsets[old + 1] - a->offsets[old]);
        for (int64_t k = r->offsets[i]; k < r->offsets[i + 1]; k++) {
            CHECK(k == r->offsets[i] || r->columns[k] > r->columns[k - 1]);
            const int64_t j = a->rows == a->cols ? p->old_of_new[r->columns[k]] : r->columns[k];
            int64_t e = a->offsets[old];
            while (e < a->offsets[old + 1] && a->col_index[e] != j)
                e++;
            CHECK(e < a->offsets[old + 1]);
            const spry_scalar x = value_get(a->type, a->values, e),
                              y = value_get(r->type, r->values, k);
            CHECK(x.re == y.re && x.im == y.im);
        }
    }
    return NULL;
}

/* Numbers of 24 bytes to the owners and back. */
typedef struct triple {
    double a, b, c;
} triple;

static const char *compare_vectors(spry_context *ctx, const problem *p, const part *mine,
                                   const redistributed_matrix *d)
{
    triple in[N], own[N], out[N];
    memset(in, 0, sizeof in);
    for (int64_t k = 0; k < mine->g.rows; k++)
        in[k] = (triple){(double)mine->numbers[k], 0.5, (double)(-mine->numbers[k])};
    CHECK_OK(ctx, ranks_move_in(ctx, &d->move, sizeof *in, in, own));
    for (int64_t i = 0; i < d->rows.rows; i++) {
        const double old = (double)p->old_of_new[d->rows.begin + i];
        CHECK(own[i].a == old && own[i].b == 0.5 && own[i].c == -old);
    }
    CHECK_OK(ctx, ranks_move_back(ctx, &d->move, sizeof *in, own, out));
    CHECK(memcmp(in, out, (size_t)mine->g.rows * sizeof *in) == 0);
    return NULL;
}

static const char *ranks_and_compare(spry_context *ctx, problem *p, const part *mine,
                                     redistributed_matrix *d)
{
    int64_t old[N];
    CHECK_OK(ctx, ranks_matrix(ctx, &mine->g, &p->wish, d));
    CHECK_OK(ctx, ranks_move_in(ctx, &d->move, sizeof *old, mine->numbers, old));
    memcpy(p->old_of_new + d->rows.begin, old, (size_t)d->rows.rows * sizeof *old);
    CHECK_OK(ctx, team_agree(ctx, SPRY_STATUS_OK)); /* all have written theirs */
    const char *wrong = compare_rows(ctx, p, d);
    return wrong ? wrong : compare_vectors(ctx, p, mine, d);
}

static const char *ranks_work(spry_context *ctx, void *data)
{
    part mine = {0};
    redistributed_matrix d = {0};
    give(data, team_rank(ctx), team_ranks(ctx), &mine);
    const char *wrong = ranks_and_compare(ctx, data, &mine, &d);
    redistributed_matrix_clear(ctx, &d);
    part_free(&mine);
    return wrong;
}

static void every_way_to_give(void **state)
{
    static const double shares[] = {2, 0, 1, 3};
    static const partition_limits limits = {9, 10};
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_sorted(*state, support_types[t], SUPPORT_UNIFORM, N, N, 700, 5);
        for (giving how = IN_ORDER; how <= ONE_GIVES_ALL; how++)
            for (ranks_kind kind = RANKS_AS_GIVEN; kind <= RANKS_BY_GRAPH; kind++)
                for (int ranks = 1; ranks <= GIVERS; ranks++) {
                    problem p = {A, how, {kind, NULL, NULL}, {0}};
                    ranked_run(ranks, ranks_work, &p);
                    p.wish = (ranks_wish){kind, shares, &limits};
                    ranked_run(ranks, ranks_work, &p);
                }
        spry_matrix_free(A);
    }
}

/* Not square: columns keep their numbers. More ranks than rows. Empty rows. */
static void odd_shapes(void **state)
{
    spry_matrix *list[] = {
        support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, N, 40, 300, 5),
        support_sorted(*state, SPRY_TYPE_D, SUPPORT_ONE_ROW, 3, 3, 5, 5),
        support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 1, 1, 1, 5),
        support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 7, 7, 0, 5),
        support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 0, 0, 0, 5),
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (ranks_kind kind = RANKS_AS_GIVEN; kind <= RANKS_BY_GRAPH; kind++) {
            if (kind == RANKS_BY_GRAPH && list[k]->a.rows != list[k]->a.cols)
                continue;
            for (giving how = IN_ORDER; how <= ONE_GIVES_ALL; how++) {
                problem p = {list[k], how, {kind, NULL, NULL}, {0}};
                ranked_run(GIVERS, ranks_work, &p);
            }
        }
        spry_matrix_free(list[k]);
    }
}

/* --- what is wrong -------------------------------------------------------------------------------
 */

typedef struct wrong_case {
    int64_t numbers[2][2], columns[2][2];
    const char *message;
} wrong_case;

static const char *refuse_work(spry_context *ctx, void *data)
{
    const wrong_case *c = data;
    const int me = team_rank(ctx);
    const int64_t offsets[] = {0, 1, 2};
    const double values[] = {1, 1};
    const ranks_given g = {SPRY_TYPE_D, 2, 4, 4, c->numbers[me], offsets, c->columns[me], values};
    const ranks_wish wish = {RANKS_BY_WORK, NULL, NULL};
    redistributed_matrix d;
    CHECK_STATUS(ctx, SPRY_STATUS_BAD_INPUT, ranks_matrix(ctx, &g, &wish, &d));
    CHECK(strstr(spry_message(ctx), c->message));
    CHECK(!d.first && !d.rows.offsets);
    return NULL;
}

static void faults_are_everybodys(void **state)
{
    wrong_case list[] = {
        {{{0, 1}, {1, 3}}, {{0, 1}, {2, 3}}, "row 1 is given twice"},
        {{{0, 1}, {2, 4}}, {{0, 1}, {2, 3}}, "rank 1: row 4 is outside 0..3"},
        {{{0, -1}, {2, 3}}, {{0, 1}, {2, 3}}, "rank 0: row -1 is outside 0..3"},
        {{{0, 1}, {2, 3}}, {{0, 1}, {2, 4}}, "rank 1: column 4 is outside 0..3"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        ranked_run(2, refuse_work, &list[k]);
}

static const char *too_few_work(spry_context *ctx, void *data)
{
    const int64_t offsets[] = {0, 0, 0}, numbers[] = {0, 1};
    const ranks_given g = {.type = SPRY_TYPE_D,
                           .rows = 1,
                           .all_rows = 5,
                           .all_cols = 5,
                           .numbers = numbers,
                           .offsets = offsets};
    const ranks_wish wish = {RANKS_BY_WORK, NULL, NULL};
    redistributed_matrix d;
    (void)data;
    CHECK_STATUS(ctx, SPRY_STATUS_BAD_INPUT, ranks_matrix(ctx, &g, &wish, &d));
    CHECK(strstr(spry_message(ctx), "give 3 rows of 5"));
    return NULL;
}

static void too_few_rows(void **state)
{
    (void)state;
    ranked_run(3, too_few_work, NULL);
}

/* --- beyond 32 bits ------------------------------------------------------------------------------
 */

/* The ranks have three rows each, behind 2^33 of none. */
static const char *large_work(spry_context *ctx, void *data)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    const int64_t base = INT64_C(1) << 33, shift = INT64_C(1) << 40;
    int64_t first[9], row[9], col[9], numbers[3];
    double values[9];
    (void)data;
    for (int r = 0; r <= ranks; r++)
        first[r] = base + 3 * r;
    /* Rank r gives the rows of the next one, entries falling. */
    const int64_t next = first[(me + 1) % ranks];
    for (int k = 0; k < 9; k++) {
        row[k] = next + k / 3;
        col[k] = shift - k;
        values[k] = (double)(row[k] - base) + k % 3 / 4.0;
    }
    const ranks_entries e = {SPRY_TYPE_D, 9, row, col, values};
    ranks_rows rows;
    CHECK_OK(ctx, ranks_gather_rows(ctx, &e, first, shift + 1, &rows));
    bool fine = rows.begin == first[me] && rows.rows == 3 && rows.all_rows == first[ranks];
    for (int k = 0; k < 9; k++)
        fine = fine && rows.offsets[k / 3] == k / 3 * 3 &&
               rows.columns[k] == shift - (k / 3 * 3 + 2 - k % 3) &&
               ((double *)rows.values)[k] == (double)(first[me] - base + k / 3) + (2 - k % 3) / 4.0;
    ranks_rows_clear(ctx, &rows);
    CHECK(fine);
    ranks_move move;
    double given[3], own[3];
    for (int k = 0; k < 3; k++)
        given[k] = (double)(numbers[k] = next + k);
    CHECK_OK(ctx, ranks_move_make(ctx, 3, numbers, first, &move));
    const spry_status status = ranks_move_in(ctx, &move, sizeof *own, given, own);
    ranks_move_clear(ctx, &move);
    CHECK_OK(ctx, status);
    for (int k = 0; k < 3; k++)
        CHECK(own[k] == (double)(first[me] + k));
    return NULL;
}

static void beyond_32_bits(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 4; ranks++)
        ranked_run(ranks, large_work, NULL);
}

static void duplicates(void **state)
{
    int64_t offsets[] = {0, 3, 3, 6}, columns[] = {1, 1, 4, 0, 2, 2}, row = -1;
    double values[] = {1, 2, 3, 4, 5, 6};
    ranks_rows r = {SPRY_TYPE_D, 10, 3, 20, 20, offsets, columns, values};
    assert_int_equal(ranks_find_duplicate(&r, &row), 1);
    assert_int_equal(row, 10);
    ranks_sum_duplicates(&r);
    assert_memory_equal(offsets, ((int64_t[]){0, 2, 2, 4}), sizeof offsets);
    assert_memory_equal(columns, ((int64_t[]){1, 4, 0, 2}), 4 * sizeof *columns);
    assert_true(values[0] == 3 && values[1] == 3 && values[2] == 4 && values[3] == 11);
    assert_int_equal(ranks_find_duplicate(&r, &row), 4);
    (void)state;
}

static spry_status torture_call(spry_context *ctx, void *data)
{
    const problem *p = data;
    part mine = {0};
    redistributed_matrix d = {0};
    give(p, team_rank(ctx), team_ranks(ctx), &mine);
    const spry_status status = ranks_matrix(ctx, &mine.g, &p->wish, &d);
    redistributed_matrix_clear(ctx, &d);
    part_free(&mine);
    return status;
}

static void torture(void **state)
{
    spry_matrix *A = support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, N, N, 200, 5);
    for (ranks_kind kind = RANKS_AS_GIVEN; kind <= RANKS_BY_GRAPH; kind++) {
        problem p = {A, SCRAMBLED, {kind, NULL, NULL}, {0}};
        ranked_torture(3, torture_call, &p);
    }
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_way_to_give, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(odd_shapes, support_setup, support_teardown),
        cmocka_unit_test(faults_are_everybodys),
        cmocka_unit_test(too_few_rows),
        cmocka_unit_test(beyond_32_bits),
        cmocka_unit_test(duplicates),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
