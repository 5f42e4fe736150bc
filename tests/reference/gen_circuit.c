/* The circuit generator: conductances, nets, sources. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Off the diagonal nothing is positive, and a row adds up to what leaks to ground, 1/1024. */
static void assert_conductances(const support_dense *A)
{
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0, diagonal = generated_at(A, i, i).re;
        for (int64_t j = 0; j < A->cols; j++) {
            assert_true(i == j || generated_at(A, i, j).re <= 0);
            sum += generated_at(A, i, j).re;
        }
        /* As many additions as entries, twice, of numbers that add up to the diagonal. */
        assert_true(fabs(sum - 0x1p-10) <= 2 * (double)A->rows * DBL_EPSILON * diagonal);
    }
}

static void symmetric_without_sources(void **state)
{
    support_dense A = generated_dense(*state, "circuit", "size=150 transistors=0");
    assert_conductances(&A);
    assert_true(generated_symmetric(&A, false));
    assert_true(generated_definite(&A));
    support_dense_free(&A);
    A = generated_dense(*state, "circuit", "size=150 transistors=0 type=z");
    assert_true(generated_symmetric(&A, false));
    assert_false(generated_symmetric(&A, true));
    support_dense_free(&A);
}

/* A conductance alone lies between 1/64 and 128, and both ends of the range are used. */
static void conductances_span_four_decades(void **state)
{
    support_dense A = generated_dense(*state, "circuit", "size=500 nets=0 transistors=0");
    double least = 1, most = 1;
    for (int64_t i = 0; i < A.rows; i++) {
        for (int64_t j = 0; j < i; j++) {
            double g = -generated_at(&A, i, j).re;
            least = g > 0 && g < least ? g : least;
            most = g > most ? g : most;
        }
    }
    assert_true(least >= 0x1p-6 && least < 0x1p-5);
    assert_true(most <= 128 && most > 64);
    support_dense_free(&A);
}

static void sources_make_it_nonsymmetric(void **state)
{
    support_dense A = generated_dense(*state, "circuit", "size=150 transistors=0.5");
    assert_conductances(&A);
    assert_false(generated_symmetric(&A, false));
    int64_t single = 0; /* entries whose mirror image is missing */
    for (int64_t i = 0; i < 150; i++)
        for (int64_t j = 0; j < 150; j++)
            single += A.entries[i * 150 + j] && !A.entries[j * 150 + i];
    assert_in_range(single, 30, 75); /* half of the nodes, less those onto a wire or outside */
    support_dense_free(&A);
}

/* Nets have about net_share of all nodes in their rows and columns; the others have few entries. */
static void nets_are_huge(void **state)
{
    const int64_t n = 4001;
    spry_matrix *A = generated(*state, "circuit", "size=4001 nets=3 net-share=0.3");
    matrix_arrays a = A->a;
    int64_t huge = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t length = a.offsets[i + 1] - a.offsets[i];
        if (i % (n / 3) == 0 && i / (n / 3) < 3) {
            huge++;
            assert_true(fabs((double)length - 1200) < 5 * sqrt(4001 * 0.3 * 0.7) + 22);
        } else {
            assert_true(length <= 21 + 3);
        }
    }
    assert_int_equal(huge, 3);
    spry_matrix_free(A);
    A = generated(*state, "circuit", "size=4001 nets=0");
    /* Itself, two wires, and 18 more with a chance of one in six each; ends have fewer; a few
     * sources. */
    assert_true(fabs((double)spry_matrix_nnz(A) / (double)n - 6) < 0.3);
    spry_matrix_free(A);
}

static void all_sizes_work(void **state)
{
    for (int n = 1; n < 40; n++) {
        char options[64];
        snprintf(options, sizeof options, "size=%d nets=%d per-row=%d", n, n % 7, 1 + n % 30);
        support_dense A = generated_dense(*state, "circuit", options);
        assert_int_equal(A.rows, n);
        assert_conductances(&A);
        support_dense_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_without_sources),
        cmocka_unit_test(conductances_span_four_decades),
        cmocka_unit_test(sources_make_it_nonsymmetric),
        cmocka_unit_test(nets_are_huge),
        cmocka_unit_test(all_sizes_work),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
