/* Generators: the same bits for any number of threads, the same numbers in every type. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct example {
    const char *kind, *options;
} example;

static const example examples[] = {
    {"poisson2d", "nx=37 ny=50 points=9"},
    {"poisson3d", "nx=13 ny=11 nz=12 points=27"},
    {"anisotropic", "size=40 angle=30"},
    {"convection-diffusion", "size=12 nz=11"},
    {"elasticity", "size=7"},
    {"helmholtz", "size=14"},
    {"tridiagonal", "size=3000"},
    {"dense", "size=60"},
    {"random", "size=3000"},
    {"rmat", "size=3000"},
    {"arrowhead", "size=3000"},
    {"circuit", "size=3000"},
    {"diffusion", "nx=20 ny=31 jump=6"},
    {"stokes", "size=4 nz=3"},
    {"stokes", "nx=19 ny=12 elements=q1q1 jump=2"},
    {"darcy", "size=5 nz=7 jump=4"},
    {"maxwell", "size=8 jump=3"},
    {"graph", "size=3000"},
    {"graph", "size=3000 model=preferential"},
    {"power-flow", "size=1500"},
    {"interior-point", "size=3000"},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static spry_matrix *make(spry_context *ctx, const example *e, spry_type type)
{
    spry_matrix *A = generated_as(ctx, type, e->kind, "%s", e->options);
    assert_int_equal(spry_matrix_type(A), type);
    return A;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int k = 0; k < EXAMPLES; k++) {
        spry_context *first = support_context("threads=1");
        spry_matrix *A = make(first, &examples[k], SPRY_TYPE_Z);
        for (int threads = 2; threads <= 5; threads++) {
            char options[32];
            snprintf(options, sizeof options, "threads=%d", threads);
            spry_context *ctx = support_context(options);
            spry_matrix *B = make(ctx, &examples[k], SPRY_TYPE_Z);
            support_same_arrays(A, B);
            spry_matrix_free(B);
            support_context_free(ctx);
        }
        spry_matrix_free(A);
        support_context_free(first);
    }
}

static void assert_rounded(const spry_matrix *wide, const spry_matrix *narrow, bool exactly)
{
    matrix_arrays w = wide->a, n = narrow->a;
    const double *doubles = w.values;
    const float *floats = n.values;
    assert_int_equal(w.nnz, n.nnz);
    assert_memory_equal(w.offsets, n.offsets, (size_t)(w.rows + 1) * sizeof *w.offsets);
    assert_memory_equal(w.col_index, n.col_index, (size_t)w.nnz * sizeof *w.col_index);
    int64_t count = w.nnz * (spry_type_is_complex(w.type) ? 2 : 1);
    for (int64_t k = 0; k < count; k++) {
        if (exactly)
            assert_true(floats[k] == (float)doubles[k]);
        else /* rmat adds in single precision, up to a row's length of numbers */
            assert_true(fabs((double)floats[k] - doubles[k]) <=
                        3000 * FLT_EPSILON * fabs(doubles[k]));
    }
}

static void single_is_double_rounded(void **state)
{
    for (int k = 0; k < EXAMPLES; k++) {
        for (int complex = 0; complex < 2; complex++) {
            spry_matrix *wide = make(*state, &examples[k], complex ? SPRY_TYPE_Z : SPRY_TYPE_D);
            spry_matrix *narrow = make(*state, &examples[k], complex ? SPRY_TYPE_C : SPRY_TYPE_S);
            assert_rounded(wide, narrow, strcmp(examples[k].kind, "rmat") != 0);
            spry_matrix_free(wide);
            spry_matrix_free(narrow);
        }
    }
}

/* Real problems stay what they are when asked for in complex numbers. */
static void real_kinds_have_no_imaginary_part(void **state)
{
    for (int k = 0; k < 5; k++) {
        spry_matrix *A = make(*state, &examples[k], SPRY_TYPE_D);
        spry_matrix *B = make(*state, &examples[k], SPRY_TYPE_Z);
        matrix_arrays a = A->a, b = B->a;
        assert_int_equal(a.nnz, b.nnz);
        for (int64_t p = 0; p < a.nnz; p++) {
            assert_true(((double *)a.values)[p] == ((double *)b.values)[2 * p]);
            assert_true(((double *)b.values)[2 * p + 1] == 0);
        }
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test_setup_teardown(single_is_double_rounded, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(real_kinds_have_no_imaginary_part, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
