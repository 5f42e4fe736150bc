/* Every storage format with every type and matrices of every odd shape. */
#include "support/layouts.h"

#include <stdlib.h>

typedef struct check {
    spry_context *ctx;
    const spry_matrix *A;
    bool plain; /* a matrix that most formats have to hold */
} check;

/* Formats with limits on a matrix's shape or numbers. */
static bool may_refuse(const char *spec)
{
    static const char *const names[] = {"ell", "ellr", "ellr-t", "dia", "crf", "sym"};
    const size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(spec, names[i], length) == 0)
            return true;
    return false;
}

static void check_one(const char *spec, void *data)
{
    const check *c = data;
    /* Formats do not look at the type: options of single precision matter to kernels alone. */
    const spry_type type = c->A->a.type;
    if (!c->plain && (type == SPRY_TYPE_S || type == SPRY_TYPE_C) && strchr(spec, ':'))
        return;
    const bool held = layouts_check(c->ctx, c->A, spec);
    if (!held && c->plain && !may_refuse(spec) && !layouts_too_short(c->A->a.type, spec))
        fail_msg("%s refuses a matrix that it has to hold: %s", spec, spry_message(c->ctx));
}

static void check_types(spry_context *ctx, const support_recipe *recipe, bool plain)
{
    support_recipe typed = *recipe;
    for (int t = 0; t < 4; t++) {
        if (!support_turn(t, recipe->rows))
            continue;
        typed.type = support_types[t];
        typed.sorted = true;
        spry_matrix *A = support_matrix(ctx, &typed);
        check c = {ctx, A, plain};
        layouts_each(check_one, &c);
        spry_matrix_free(A);
    }
}

static void check_all(spry_context *ctx, const support_recipe *recipe)
{
    check_types(ctx, recipe, false);
}

static void test_empty(void **state)
{
    const int64_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 9}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_all(*state, &(support_recipe){
                              .format = SPRY_FORMAT_CSR, .rows = sizes[i][0], .cols = sizes[i][1]});
}

/* Sizes around those of slices, blocks and vectors. */
static void small_sizes(spry_context *ctx)
{
    const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 31, 33, 64, 65};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_types(ctx,
                    &(support_recipe){.format = SPRY_FORMAT_CSR,
                                      .rows = sizes[i],
                                      .cols = sizes[i],
                                      .nnz = 4 * sizes[i],
                                      .seed = 100 + i},
                    true);
}

static void test_small(void **state)
{
    small_sizes(*state);
}

static void shapes(spry_context *ctx)
{
    for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++)
        check_types(ctx,
                    &(support_recipe){.format = SPRY_FORMAT_CSR,
                                      .rows = 301,
                                      .cols = 301,
                                      .nnz = 2500,
                                      .shape = (support_shape)shape,
                                      .seed = 3},
                    true);
}

static void test_shapes(void **state)
{
    shapes(*state);
}

static void test_other_levels(void **state)
{
    (void)state;
    numeric_other_levels(small_sizes);
    numeric_other_levels(shapes);
}

static void test_rectangles(void **state)
{
    check_all(*state,
              &(support_recipe){
                  .format = SPRY_FORMAT_CSR, .rows = 517, .cols = 45, .nnz = 2000, .seed = 4});
    check_all(*state,
              &(support_recipe){
                  .format = SPRY_FORMAT_CSR, .rows = 45, .cols = 1031, .nnz = 2000, .seed = 5});
}

/* Mostly empty rows. */
static void test_empty_rows(void **state)
{
    check_all(*state,
              &(support_recipe){
                  .format = SPRY_FORMAT_CSR, .rows = 1500, .cols = 1500, .nnz = 200, .seed = 6});
}

static void test_symmetric(void **state)
{
    spry_context *ctx = *state;
    for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_HERMITIAN; symmetry++)
        for (int t = 0; t < 4; t++) {
            spry_matrix *half =
                support_matrix(ctx, &(support_recipe){.type = support_types[t],
                                                      .format = SPRY_FORMAT_CSR,
                                                      .symmetry = (spry_symmetry)symmetry,
                                                      .rows = 203,
                                                      .cols = 203,
                                                      .nnz = 900,
                                                      .seed = 7,
                                                      .sorted = true});
            spry_matrix *A = NULL;
            assert_ok(ctx, spry_matrix_expand(half, &A));
            check c = {ctx, A, false};
            layouts_each(check_one, &c);
            spry_matrix_free(A);
            spry_matrix_free(half);
        }
}

/* One full row of more than 65,535 entries, one full column, a diagonal. */
static void test_long_row(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_long_row(ctx, SPRY_TYPE_S, 70001);
    check c = {ctx, A, false};
    layouts_each(check_one, &c);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_empty, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_small, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_shapes, support_setup, support_teardown),
        cmocka_unit_test(test_other_levels),
        cmocka_unit_test_setup_teardown(test_rectangles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_empty_rows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_symmetric, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_long_row, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
