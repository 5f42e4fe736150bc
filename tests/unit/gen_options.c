/* Generators: the kinds by name, options that are refused, sizes that do not fit, no memory. */
#include "support/generated.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "poisson2d",  "poisson3d",  "anisotropic",    "convection-diffusion",
    "elasticity", "helmholtz",  "tridiagonal",    "dense",
    "random",     "rmat",       "arrowhead",      "circuit",
    "diffusion",  "stokes",     "darcy",          "maxwell",
    "graph",      "power-flow", "interior-point", "tiled"};
enum { NAMES = sizeof names / sizeof *names };

static void every_kind_is_described(void **state)
{
    (void)state;
    spry_entry kind = SPRY_ENTRY_INIT;
    for (int k = 0; k < NAMES; k++) {
        assert_true(spry_list_at(SPRY_LIST_GENERATORS, k, &kind));
        assert_string_equal(kind.name, names[k]);
        assert_true(strlen(kind.summary) > 20);
    }
    assert_false(spry_list_at(SPRY_LIST_GENERATORS, NAMES, &kind));
}

static bool reads(const char *kind, const char *option)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    return spry_list_find(SPRY_LIST_GENERATORS, kind, &entry) &&
           spry_options_find(entry.options, option);
}

/* Every option is read by some kind and has a sentence; kinds read what they should. */
static void every_option_has_a_reader(void **state)
{
    (void)state;
    spry_option_list list = spry_options_of("generate");
    for (int k = 0; k < list.count; k++) {
        bool any = false;
        for (int kind = 0; kind < NAMES; kind++)
            any = any || reads(names[kind], spry_options_at(list, k)->name);
        assert_true(any);
        assert_true(strlen(spry_options_at(list, k)->help) > 10);
    }
    assert_true(reads("random", "per-row"));
    assert_true(reads("rmat", "a"));
    assert_false(reads("random", "a"));
    assert_false(reads("poisson2d", "nz"));
    assert_false(reads("poisson2d", "nonsense"));
    assert_false(reads("nonsense", "size"));
}

/* Sizes of their own; the type is z for helmholtz and d else. */
static void every_kind_works_without_options(void **state)
{
    for (int k = 0; k < NAMES - 1; k++) {
        spry_matrix *A = generated(*state, names[k], NULL);
        assert_in_range(spry_matrix_rows(A), 1000, 100000);
        assert_int_equal(spry_matrix_type(A),
                         strcmp(names[k], "helmholtz") == 0 ? SPRY_TYPE_Z : SPRY_TYPE_D);
        spry_matrix_free(A);
    }
}

typedef struct refusal {
    const char *kind, *options, *message;
} refusal;

static void wrong_words_are_refused(void **state)
{
    static const refusal refusals[] = {
        {"poison3d", NULL, "did you mean poisson3d?"},
        {"xyz", NULL, "there are: poisson2d poisson3d"},
        {"", NULL, "kind  is unknown; there are: poisson2d"},
        {"tiled", "size=10", "spry_generate_tiled"},
        {"poisson2d", "sise=10", "did you mean size?"},
        {"poisson2d", "nz=10",
         "poisson2d: nz is not an option of this kind; its options are: size type nx"},
        {"tridiagonal", "points=3", "points is not an option"},
        {"random", "epsilon=0.5", "epsilon is not an option"},
        {"dense", "scheme=central", "scheme is not an option"},
        {"poisson2d", "points=7", "points=7: the stencil has 5 or 9 points"},
        {"poisson3d", "points=9", "points=9: the stencil has 7 or 27 points"},
        {"poisson3d", "type=q", "auto s d c z"},
        {"elasticity", "nu=0.5", "nu=0.5 is outside"},
        {"elasticity", "size=1", "two nodes or more in y and z"},
        {"random", "size=10 per-row=11", "per-row=11 is more than there are columns, 10"},
        {"rmat", "a=0.5 b=0.5 c=0.5", "a + b + c = 1.5; the most is 1"},
        {"diffusion", "sigma=2", "sigma is not an option"},
        {"stokes", "elements=p1", "q2q1 q1q1"},
        {"maxwell", "size=1", "1 x 1 x 1 cells make 0 rows; expected 1 to"},
        {"random", "size=-1", "size=-1 is outside"},
    };
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        spry_matrix *A = (spry_matrix *)refusals; /* must be set to NULL */
        assert_status(*state, SPRY_STATUS_BAD_USAGE,
                      spry_generate(*state, refusals[k].kind, refusals[k].options, &A));
        support_message_has(*state, refusals[k].message);
        assert_null(A);
    }
}

/* 2147483647 rows: 46340^2, 1290^3, 3 * 894^3. Nothing is allocated for a size that is too large.
 */
static void sizes_past_32_bits_are_refused(void **state)
{
    static const refusal refusals[] = {
        {"poisson2d", "size=46341", "46341 x 46341 x 1 points make 2147488281 rows"},
        {"poisson2d", "size=46341", "the most is 2147483647, the largest size 46340"},
        {"poisson3d", "size=1291", "the largest size 1290"},
        {"elasticity", "size=895", "the largest size 894"},
        {"poisson3d", "size=2147483647", "the largest size 1290"},
        {"poisson3d", "nx=2147483647 ny=2 nz=1", "2147483647 x 2 x 1 points make 4294967294 rows"},
        {"convection-diffusion", "size=46340 nz=2", "the largest size 46340"},
        {"diffusion", "size=46341", "the largest size 46340"},
        {"stokes", "size=20000", "20000 x 20000 x 1 cells make 3599960001 rows; expected 1 to"},
        {"power-flow", "size=2G", "the largest size 1073741823"},
        {"tridiagonal", "size=3G", "size=3G is outside"},
        {"dense", "size=1048577", "the largest size is 1048576"},
    };
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        spry_matrix *A = NULL;
        base_fail_allocation(*state, 1, true);
        assert_status(*state, SPRY_STATUS_BAD_USAGE,
                      spry_generate(*state, refusals[k].kind, refusals[k].options, &A));
        base_fail_allocation(*state, 0, false);
        support_message_has(*state, refusals[k].message);
        assert_null(A);
    }
}

/* A limit on memory is met with a message, also where the entries are the trouble. */
static void a_memory_limit_is_kept(void **state)
{
    (void)state;
    spry_context *ctx = support_context("memory-limit=10M");
    spry_matrix *A = NULL;
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, spry_generate(ctx, "dense", "size=1000000", &A));
    support_message_has(ctx, "dense: ");
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, spry_generate(ctx, "tridiagonal", "size=1G", &A));
    assert_null(A);
    support_context_free(ctx);
}

static spry_status generate_and_free(spry_context *ctx, void *data)
{
    const refusal *what = data;
    spry_matrix *A = NULL;
    spry_status status = spry_generate(ctx, what->kind, what->options, &A);
    assert_true((A != NULL) == (status == SPRY_STATUS_OK));
    spry_matrix_free(A);
    return status;
}

static spry_status tile_and_free(spry_context *ctx, void *data)
{
    (void)ctx;
    spry_matrix *A = NULL;
    spry_status status = spry_generate_tiled(data, 50, &A);
    assert_true((A != NULL) == (status == SPRY_STATUS_OK));
    spry_matrix_free(A);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    static refusal work[] = {{"poisson3d", "size=4 type=z", ""},
                             {"elasticity", "size=3", ""},
                             {"rmat", "size=40", ""},
                             {"circuit", "size=40", ""},
                             {"stokes", "size=3", ""},
                             {"graph", "size=40", ""},
                             {"graph", "size=40 model=preferential", ""}};
    for (size_t k = 0; k < sizeof work / sizeof *work; k++)
        support_torture(*state, generate_and_free, &work[k]);
    support_recipe recipe = {.format = SPRY_FORMAT_COO,
                             .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                             .type = SPRY_TYPE_C,
                             .rows = 20,
                             .cols = 20,
                             .nnz = 50};
    spry_matrix *base = support_matrix(*state, &recipe);
    support_torture(*state, tile_and_free, base);
    spry_matrix_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_described),
        cmocka_unit_test(every_option_has_a_reader),
        cmocka_unit_test_setup_teardown(every_kind_works_without_options, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(wrong_words_are_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(sizes_past_32_bits_are_refused, support_setup,
                                        support_teardown),
        cmocka_unit_test(a_memory_limit_is_kept),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
