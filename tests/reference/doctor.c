/*
 * The doctor on matrices that were made to have an illness: each is found, in all types, with the
 * rows and figures that the set-up reports; and nothing of severity warning or worse on healthy
 * ones.
 */
#include "doctor/doctor.h"
#include "matrix/matrix.h"
#include "precon/precon.h"
#include "support/diagnosed.h"
#include "support/generated.h"
#include "support/neumann.h"
#include "support/numeric.h"
#include "support/problems.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time enough that no machine is too slow: what is to be found does not depend on it. */
#define OPTIONS "seconds=1000 "

/* Complaints about a matrix that has nothing: none are expected. */
static int complaints(spry_context *ctx, const spry_matrix *A, const char *name)
{
    spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
    const int count = (int)(d.errors + d.warnings);
    for (int k = 0; k < count; k++)
        print_error("%s: %s: %s\n", name, d.findings[k].code, d.findings[k].text);
    spry_diagnosis_clear(ctx, &d);
    return count;
}

static int64_t place(const spry_matrix *A, int64_t i, int64_t j)
{
    for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
        if (A->a.col_index[k] == j)
            return k;
    fail_msg("there is no entry %d, %d", (int)i, (int)j);
    return -1;
}

#define FOR_TYPES for (int t = 0; t < 4; t++)

/* --- healthy ones --------------------------------------------------------------------------------
 */

static void nothing_is_found_in_healthy_matrices(void **state)
{
    static const struct {
        const char *kind, *options;
    } cases[] = {{"poisson2d", "size=24"},
                 {"poisson3d", "size=8"},
                 {"poisson3d", "size=6,points=27"},
                 {"anisotropic", "size=16"},
                 {"convection-diffusion", "size=20"},
                 {"convection-diffusion", "size=20,peclet=1"},
                 {"convection-diffusion", "size=20,peclet=1000"},
                 {"elasticity", "size=4"},
                 {"circuit", "size=500"},
                 {"random", "size=300"},
                 {"tridiagonal", "size=200"},
                 {"arrowhead", "size=100"}};
    spry_context *ctx = *state;
    FOR_TYPES
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_matrix *A = generated_as(ctx, support_types[t], cases[k].kind, "%s", cases[k].options);
        char name[96];
        snprintf(name, sizeof name, "%s %s %s", spry_type_name(support_types[t]), cases[k].kind,
                 cases[k].options);
        assert_int_equal(complaints(ctx, A, name), 0);
        spry_matrix_free(A);
    }
}

static void nothing_is_found_in_healthy_real_matrices(void **state)
{
    /* Symmetric positive definite or nearly so by their documents, and general ones with a whole
     * diagonal, of conditions below 1e10. */
    static const char *const names[] = {
        "1138_bus",      "494_bus",  "662_bus",   "685_bus",  "bcsstk01", "bcsstk02",
        "bcsstk03",      "bcsstk04", "bcsstk05",  "bcsstk06", "bcsstk08", "bcsstk11",
        "bcsstk13",      "bcsstk14", "bcsstk15",  "bcsstk16", "bcsstk22", "bcsstk27",
        "crystm01",      "ex3",      "ex5",       "gr_30_30", "lund_a",   "lund_b",
        "mesh1e1",       "mesh2e1",  "mesh3e1",   "nos1",     "nos2",     "nos3",
        "nos4",          "nos5",     "nos6",      "nos7",     "plat362",  "Trefethen_2000",
        "Trefethen_20b", "cage8",    "sherman4",  "pde900",   "bfwa62",   "recirc_flow",
        "fuego1",        "mhd1280b", "wathen100", "jpwh_991", "orsirr_1", "orsirr_2",
        "Pres_Poisson",  "Kuu",      "Muu",       "bodyy4",   "bodyy5",   "fv1",
        "fv2",           "LFAT5",    "ted_B",     "sts4098",  "cfd1",     "cage5",
        "cage7",         "add32"};
    spry_context *ctx = *state;
    const char *folder = getenv("SPRY_MATRICES");
    int found = 0, bad = 0;
    if (!folder || !*folder) {
        print_message("SPRY_MATRICES names no folder of matrices: not looked at\n");
        skip();
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[4096];
        spry_matrix *A = NULL;
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, names[k]);
        if (spry_matrix_read(ctx, path, NULL, &A) != SPRY_STATUS_OK)
            continue;
        found++;
        bad += complaints(ctx, A, names[k]);
        spry_matrix_free(A);
    }
    print_message("%d matrices\n", found);
    assert_int_equal(bad, 0);
    assert_true(found >= 30);
}

/* --- illnesses -----------------------------------------------------------------------------------
 */

static void finds_nan(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        spry_vector *b = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        support_put(A, place(A, 3, 3), (spry_scalar){NAN, 0});
        support_put(A, place(A, 7, 8), (spry_scalar){INFINITY, 0});
        spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "nonfinite", SPRY_SEVERITY_ERROR);
        assert_int_equal(f->row_count, 2);
        assert_true(f->rows[0] == 3 && f->rows[1] == 7 && f->rows[2] == -1);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
        /* in b */
        A = diagnosed_grid(ctx, support_types[t]);
        value_set(support_types[t], spry_vector_data(b), 5, (spry_scalar){NAN, 0});
        d = diagnosed(ctx, A, b, OPTIONS, NULL);
        f = diagnosed_must(&d, "nonfinite", SPRY_SEVERITY_ERROR);
        assert_true(f->row_count == 1 && f->rows[0] == 5);
        spry_diagnosis_clear(ctx, &d);
        spry_vector_free(b);
        spry_matrix_free(A);
    }
}

static void finds_zero_rows_and_columns(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        spry_vector *b = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        for (int64_t i = 0; i < A->a.rows; i++)
            for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
                if (i == 4 || A->a.col_index[k] == 9)
                    support_put(A, k, (spry_scalar){0, 0});
        spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "zero-rows", SPRY_SEVERITY_ERROR);
        assert_true(f->row_count == 1 && f->rows[0] == 4);
        f = diagnosed_must(&d, "zero-columns", SPRY_SEVERITY_ERROR);
        assert_true(f->col_count == 1 && f->cols[0] == 9);
        f = diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        assert_true(diagnosed_figure(f, "rank") == 35);
        assert_true(f->rows[0] == 4 && f->cols[0] == 9);
        f = diagnosed_must(&d, "not-in-range", SPRY_SEVERITY_ERROR); /* 0 = 1 */
        assert_int_equal(f->rows[0], 4);
        assert_null(diagnosed_find(&d, "structurally-singular")); /* zero rows explain it all */
        assert_null(diagnosed_find(&d, "index-base"));
        spry_diagnosis_clear(ctx, &d);
        spry_vector_free(b);
        spry_matrix_free(A);
    }
}

/* A grid whose indices were moved by `rows` and `cols` into a matrix with one row and column more.
 */
static spry_matrix *moved(spry_context *ctx, spry_type type, int rows, int cols)
{
    spry_matrix *A = diagnosed_grid(ctx, type), *B = NULL;
    const int64_t n = A->a.rows + 1, nnz = A->a.nnz;
    matrix_arrays coo = {.type = type, .format = SPRY_FORMAT_COO, .rows = n, .cols = n, .nnz = nnz};
    assert_ok(ctx, matrix_allocate(ctx, &coo));
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            coo.row_index[k] = (int32_t)(i + rows);
            coo.col_index[k] = A->a.col_index[k] + cols;
            value_set(type, coo.values, k, value_get(type, A->a.values, k));
        }
    assert_ok(ctx, matrix_wrap(ctx, &coo, &B));
    spry_matrix_free(A);
    return B;
}

static void finds_indices_off_by_one(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    for (int k = 0; k < 4; k++) {
        spry_matrix *A = moved(ctx, support_types[t], k & 1, k >> 1);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        diagnosed_must(&d, "index-base", SPRY_SEVERITY_WARNING);
        diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* Rows 2, 5 and 7 have entries in columns 1 and 4 alone; all others are as in a whole matrix. */
static spry_matrix *structured(spry_context *ctx, spry_type type, bool transposed)
{
    enum { N = 9 };
    double a[N][N] = {{0}}, b[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i == 2 || i == 5 || i == 7 ? (j == 1 || j == 4) * (1 + i + j)
                                                 : (i == j) * 20 + 1 + (i * 7 + j * 3) % 5;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i][j] = transposed ? a[j][i] : a[i][j];
    return support_from_rows(ctx, type, N, N, &b[0][0]);
}

static void finds_structural_singularity(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    for (int back = 0; back < 2; back++) {
        spry_matrix *A = structured(ctx, support_types[t], back);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "structurally-singular", SPRY_SEVERITY_ERROR);
        const int64_t *many = back ? f->cols : f->rows, *few = back ? f->rows : f->cols;
        assert_true(diagnosed_figure(f, "structural_rank") == 8);
        assert_int_equal(back ? f->col_count : f->row_count, 3);
        assert_int_equal(back ? f->row_count : f->col_count, 2);
        assert_true(many[0] == 2 && many[1] == 5 && many[2] == 7);
        assert_true(few[0] == 1 && few[1] == 4);
        f = diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        assert_true(diagnosed_figure(f, "rank") == 8);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* The last row is the sum of rows 3 and 8, in numbers that every type holds. */
static spry_matrix *dependent(spry_context *ctx, spry_type type, double off)
{
    enum { N = 24 };
    double a[N][N] = {{0}};
    for (int i = 0; i < N - 1; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i == j) * 40 + (double)((i * 5 + j * 11) % 7) - 3;
    for (int j = 0; j < N; j++)
        a[N - 1][j] = a[3][j] + a[8][j];
    a[N - 1][N - 1] += off;
    return support_from_rows(ctx, type, N, N, &a[0][0]);
}

static void finds_singular_matrices(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        spry_matrix *A = dependent(ctx, support_types[t], 0);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        assert_true(diagnosed_figure(f, "rank") == 23);
        assert_int_equal(f->row_count, 3); /* (1, 1, -1) in rows 3, 8 and 23 */
        int64_t sum = 0;
        for (int k = 0; k < 3; k++)
            sum += f->rows[k];
        assert_int_equal(sum, 3 + 8 + 23);
        assert_null(diagnosed_find(&d, "structurally-singular"));
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* Three eigenvalues are 0; b is in the range, then it has a part outside. */
static void finds_the_rank_and_the_range(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        problem p;
        problem_make(ctx, PROBLEM_SINGULAR, support_types[t], 40, &p);
        spry_diagnosis d = diagnosed(ctx, p.A, p.b, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        if (diagnosed_figure(f, "rank") != (double)spry_matrix_rows(p.A) - 3)
            fail_msg("%s: %s", spry_type_name(support_types[t]), f->text);
        f = diagnosed_find(&d, "not-in-range");
        assert_non_null(f);
        /* A and b are rounded to the type: condition 100 */
        assert_true(diagnosed_figure(f, "outside") <= 1e4 * numeric_unit(support_types[t]));
        spry_diagnosis_clear(ctx, &d);
        assert_ok(ctx, spry_vector_fill(p.b, (spry_scalar){1, 0}));
        value_set(support_types[t], spry_vector_data(p.b), 1, (spry_scalar){-9, 0});
        d = diagnosed(ctx, p.A, p.b, OPTIONS, NULL);
        f = diagnosed_must(&d, "not-in-range", SPRY_SEVERITY_ERROR);
        assert_true(diagnosed_figure(f, "outside") > 0.01);
        spry_diagnosis_clear(ctx, &d);
        problem_free(&p);
    }
}

/* A row that is off the sum of two others by what the type just holds. */
static void finds_ill_conditioned_matrices(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        const bool single = type_is_single(support_types[t]);
        const double off = ldexp(1, single ? -14 : -40);
        spry_matrix *A = dependent(ctx, support_types[t], off);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "ill-conditioned", SPRY_SEVERITY_WARNING);
        /* |A| is about 40 and the least singular value about off / sqrt(3) */
        assert_true(diagnosed_figure(f, "condition") > 10 / off &&
                    diagnosed_figure(f, "condition") < 4000 / off);
        assert_true(d.condition == diagnosed_figure(f, "condition"));
        assert_int_equal(f->row_count, 3);
        assert_null(diagnosed_find(&d, "singular"));
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

static void finds_the_constant_null_vector(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    for (int cut = 0; cut < 2; cut++) {
        const neumann_grid g = {.nx = 8, .ny = 6, .nz = 1, .cut = cut};
        spry_matrix *A = neumann_matrix(ctx, support_types[t], &g);
        spry_vector *b = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        spry_diagnosis d = diagnosed(ctx, A, b, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "null-space", SPRY_SEVERITY_WARNING);
        assert_non_null(strstr(f->next, "--nullspace constant"));
        f = diagnosed_must(&d, "singular", SPRY_SEVERITY_ERROR);
        assert_true(diagnosed_figure(f, "rank") == 48 - 1 - cut);
        f = diagnosed_must(&d, "not-in-range", SPRY_SEVERITY_ERROR);
        assert_true(diagnosed_figure(f, "outside") > 0.999); /* b is the null vector itself */
        if (cut) {
            f = diagnosed_must(&d, "disconnected", SPRY_SEVERITY_NOTE);
            assert_true(diagnosed_figure(f, "parts") == 2 && diagnosed_figure(f, "largest") == 24);
        }
        spry_diagnosis_clear(ctx, &d);
        spry_vector_free(b);
        spry_matrix_free(A);
    }
}

static void finds_bad_scaling(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        const double factor = ldexp(1, type_is_single(support_types[t]) ? -24 : -40);
        for (int64_t k = A->a.offsets[11]; k < A->a.offsets[12]; k++) {
            const spry_scalar v = value_get(support_types[t], A->a.values, k);
            support_put(A, k, (spry_scalar){factor * v.re, factor * v.im});
        }
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "scaling", SPRY_SEVERITY_WARNING);
        assert_true(f->rows[0] == 11 && diagnosed_figure(f, "row_ratio") == 1 / factor);
        if (diagnosed_find(&d, "ill-conditioned"))
            fail_msg("%s", diagnosed_find(&d, "ill-conditioned")->text);
        assert_null(diagnosed_find(&d, "singular"));
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

static void finds_broken_symmetry(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        const double off = type_is_single(support_types[t]) ? ldexp(1, -10) : ldexp(1, -30);
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        support_put(A, place(A, 4, 5), (spry_scalar){-1 - off, 0});
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "broken-symmetry", SPRY_SEVERITY_WARNING);
        assert_true(f->rows[0] == 4 && f->cols[0] == 5);
        assert_true(diagnosed_figure(f, "entries_that_differ") == 2);
        /* sqrt(2) off over |A|, of 36 rows with 4 and 120 entries of -1 */
        const double expected = sqrt(2) * off / sqrt(36 * 16 + 120);
        assert_true(fabs(diagnosed_figure(f, "asymmetry") / expected - 1) < 1e-3);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* Mirror images that differ by roundings of sqrt(|a_ii a_jj|) are alike, as for all else that asks
 * whether A is symmetric: one entry that is not is counted alone. */
static void broken_symmetry_has_one_measure(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        const bool single = type_is_single(support_types[t]);
        const double off = single ? ldexp(1, -10) : ldexp(1, -30);
        const double rounding = 256 * (single ? 0x1p-24 : 0x1p-53) * 4; /* a_ii are 4 */
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        for (int64_t i = 10; i < 16; i += 2) { /* far more than 1,024 roundings of themselves */
            support_put(A, place(A, i, i + 1), (spry_scalar){rounding / 16, 0});
            support_put(A, place(A, i + 1, i), (spry_scalar){rounding, 0});
        }
        assert_true(complaints(ctx, A, "symmetric up to rounding") == 0);
        support_put(A, place(A, 4, 5), (spry_scalar){-1 - off, 0});
        matrix_changed(A);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "broken-symmetry", SPRY_SEVERITY_WARNING);
        assert_true(f->rows[0] == 4 && f->cols[0] == 5);
        assert_true(diagnosed_figure(f, "entries_that_differ") == 2);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* By a negative entry, a minor of two rows, and by eigenvalues alone. */
static void finds_indefinite_matrices(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    for (int way = 0; way < 4; way++) {
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]);
        problem p = {0};
        if (way == 0)
            support_put(A, place(A, 8, 8), (spry_scalar){-1, 0});
        if (way == 1)
            support_put(A, place(A, 8, 8), (spry_scalar){0.125, 0});
        for (int64_t i = 0; way == 2 && i < A->a.rows; i++) /* eigenvalues are 0.5 to 7.5, less 2 */
            support_put(A, place(A, i, i), (spry_scalar){2, 0});
        if (way == 3) {
            spry_matrix_free(A);
            problem_make(ctx, PROBLEM_INDEFINITE, support_types[t], 40, &p);
            A = p.A;
        }
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS "method=cg", NULL);
        diagnosed_must(&d, "indefinite", SPRY_SEVERITY_WARNING);
        diagnosed_must(&d, "unsuited", SPRY_SEVERITY_WARNING);
        spry_diagnosis_clear(ctx, &d);
        if (way == 3)
            problem_free(&p);
        else
            spry_matrix_free(A);
    }
}

static void finds_a_zero_diagonal(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        spry_matrix *A = diagnosed_grid(ctx, support_types[t]), *B = NULL;
        int32_t perm[36];
        for (int32_t i = 0; i < 36; i++)
            perm[i] = (i + 9) % 36;
        assert_ok(ctx, spry_matrix_permute(A, perm, NULL, &B));
        spry_diagnosis d = diagnosed(ctx, B, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "zero-diagonal", SPRY_SEVERITY_WARNING);
        assert_int_equal(f->row_count, 36);
        assert_int_equal(d.errors, 0);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

static void finds_duplicates(void **state)
{
    spry_context *ctx = *state;
    FOR_TYPES
    {
        const support_recipe recipe = {.type = support_types[t],
                                       .format = SPRY_FORMAT_COO,
                                       .rows = 10,
                                       .cols = 10,
                                       .nnz = 60,
                                       .seed = 3};
        spry_matrix *A = support_matrix(ctx, &recipe);
        spry_stats stats = SPRY_STATS_INIT;
        assert_ok(ctx, spry_matrix_stats(A, &stats));
        assert_true(stats.duplicates > 0);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "duplicates", SPRY_SEVERITY_WARNING);
        assert_true(diagnosed_figure(f, "entries") == (double)stats.duplicates);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* A Jordan block: A^H A - A A^H = e_n e_n^H - e_1 e_1^H, of norm 1, and |A| is nearly 2. */
static void finds_non_normal_matrices(void **state)
{
    enum { N = 20 };
    spry_context *ctx = *state;
    double a[N][N] = {{0}};
    for (int i = 0; i < N; i++) {
        a[i][i] = 0.5;
        if (i + 1 < N)
            a[i][i + 1] = 1;
    }
    FOR_TYPES
    {
        spry_matrix *A = support_from_rows(ctx, support_types[t], N, N, &a[0][0]);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        const spry_finding *f = diagnosed_must(&d, "non-normal", SPRY_SEVERITY_NOTE);
        assert_true(diagnosed_figure(f, "departure") > 0.4 &&
                    diagnosed_figure(f, "departure") < 1.01);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

static void says_that_a_matrix_is_not_square(void **state)
{
    spry_context *ctx = *state;
    problem p;
    problem_make(ctx, PROBLEM_TALL, SPRY_TYPE_D, 20, &p);
    spry_diagnosis d = diagnosed(ctx, p.A, p.b, OPTIONS "method=gmres", NULL);
    diagnosed_must(&d, "rectangular", SPRY_SEVERITY_NOTE);
    diagnosed_must(&d, "unsuited", SPRY_SEVERITY_WARNING);
    spry_diagnosis_clear(ctx, &d);
    problem_free(&p);
}

static void judges_methods_and_preconditioners(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *kind, *options;
        bool suits;
    } cases[] = {
        {"poisson2d", "method=cg precon=jacobi", true},
        {"poisson2d", "method=cg precon=ic", true},
        {"poisson2d", "method=gmres precon=ilu", true},
        {"poisson2d", "method=cg precon=gs", false}, /* not symmetric */
        {"convection-diffusion", "method=cg", false},
        {"convection-diffusion", "method=minres", false},
        {"convection-diffusion", "method=gmres precon=ilu", true},
        {"convection-diffusion", "method=gmres precon=ic", false}, /* cannot be made */
    };
    FOR_TYPES
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char options[128];
        spry_matrix *A = generated_as(ctx, support_types[t], cases[k].kind, "size=12");
        snprintf(options, sizeof options, OPTIONS "%s", cases[k].options);
        spry_diagnosis d = diagnosed(ctx, A, NULL, options, NULL);
        if ((diagnosed_find(&d, "unsuited") == NULL) != cases[k].suits)
            fail_msg("%s, %s: %s", cases[k].kind, cases[k].options,
                     cases[k].suits ? diagnosed_find(&d, "unsuited")->text : "nothing was said");
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

/* Five points with 1.5 on the diagonal: far from dominant, pivots of ilu(0) change their signs and
 * its inverse grows without bound, while A itself is harmless. With 4 on it all is well. */
static void finds_unstable_factors(void **state)
{
    spry_context *ctx = *state;
    for (int t = 1; t < 4; t += 2) /* double precision: growth depends on roundings */
        for (int well = 0; well < 2; well++) {
            spry_matrix *A = generated_as(ctx, support_types[t], "poisson2d", "size=16");
            for (int64_t i = 0; i < A->a.rows; i++)
                support_put(A, place(A, i, i), (spry_scalar){well ? 4 : 1.5, 0});
            spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS "precon=ilu", NULL);
            const spry_finding *f = diagnosed_find(&d, "unsuited");
            assert_int_equal(f == NULL, well);
            assert_true(well || strstr(f->text, "unstable"));
            assert_true(d.condition < 1e4);
            spry_diagnosis_clear(ctx, &d);
            spry_matrix_free(A);
        }
}

static void looks_at_how_a_solve_ended(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated_as(ctx, SPRY_TYPE_D, "poisson2d", "size=12");
    spry_result result = SPRY_RESULT_INIT;
    snprintf(result.method, sizeof result.method, "cg");
    snprintf(result.precon, sizeof result.precon, "jacobi");
    result.reason = SPRY_REASON_STAGNATED;
    result.residual = 1e-12;
    result.true_residual = 1e-5;
    spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, &result);
    const spry_finding *f = diagnosed_must(&d, "drift", SPRY_SEVERITY_WARNING);
    assert_true(diagnosed_figure(f, "true_residual") == 1e-5);
    assert_null(diagnosed_find(&d, "unexplained"));
    spry_diagnosis_clear(ctx, &d);
    result.residual = 1e-5;
    d = diagnosed(ctx, A, NULL, OPTIONS, &result);
    f = diagnosed_must(&d, "unexplained", SPRY_SEVERITY_NOTE);
    assert_true(diagnosed_figure(f, "condition") > 10 && diagnosed_figure(f, "condition") < 1000);
    spry_diagnosis_clear(ctx, &d);
    result.converged = true;
    d = diagnosed(ctx, A, NULL, OPTIONS, &result);
    assert_int_equal(d.count, 0);
    spry_diagnosis_clear(ctx, &d);
    spry_matrix_free(A);
}

/* --- the call ------------------------------------------------------------------------------------
 */

static void reports_what_it_had_no_time_for(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = diagnosed_grid(ctx, SPRY_TYPE_D);
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    assert_ok(ctx, spry_diagnose(A, NULL, "seconds=0", NULL, &d));
    assert_false(d.complete);
    assert_non_null(diagnosed_find(&d, "unchecked"));
    assert_int_equal(d.errors + d.warnings, 0);
    spry_diagnosis_clear(ctx, &d);
    assert_int_equal(d.count, 0);
    spry_matrix_free(A);
}

static void can_be_interrupted(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = diagnosed_grid(ctx, SPRY_TYPE_D);
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    spry_context_interrupt(ctx);
    assert_status(ctx, SPRY_STATUS_INTERRUPTED, spry_diagnose(A, NULL, NULL, NULL, &d));
    spry_diagnosis_clear(ctx, &d);
    assert_false(spry_context_interrupted(ctx, false)); /* taken back */
    assert_int_equal(complaints(ctx, A, "afterwards"), 0);
    spry_matrix_free(A);
}

static void refuses_what_does_not_fit(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = diagnosed_grid(ctx, SPRY_TYPE_D);
    spry_vector *b = NULL;
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 5, NULL, SPRY_OWN_COPY, &b));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_diagnose(A, b, NULL, NULL, &d));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_diagnose(A, NULL, "hours=3", NULL, &d));
    support_message_has(ctx, "hours");
    assert_int_equal(d.count, 0);
    spry_vector_free(b);
    spry_matrix_free(A);
}

static void edges_of_size(void **state)
{
    spry_context *ctx = *state;
    const double one[] = {3}, zero[] = {0};
    const struct {
        int64_t rows, cols;
        const double *numbers;
        int64_t errors;
    } cases[] = {{1, 1, one, 0}, {1, 1, zero, 2}, {0, 0, one, 0}, {0, 3, one, 1}, {2, 0, one, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        spry_matrix *A =
            support_from_rows(ctx, SPRY_TYPE_Z, cases[k].rows, cases[k].cols, cases[k].numbers);
        spry_diagnosis d = diagnosed(ctx, A, NULL, OPTIONS, NULL);
        assert_int_equal(d.errors, cases[k].errors);
        spry_diagnosis_clear(ctx, &d);
        spry_matrix_free(A);
    }
}

static spry_status torture_call(spry_context *ctx, void *data)
{
    spry_matrix *A = data;
    spry_vector *b = NULL;
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    spry_status status = spry_vector_ones(ctx, A, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_diagnose(A, b, OPTIONS "method=gmres precon=ilu", NULL, &d);
    spry_diagnosis_clear(ctx, &d);
    spry_vector_free(b);
    return status;
}

static void survives_a_lack_of_memory(void **state)
{
    spry_context *ctx = support_context("threads=1");
    (void)state;
    spry_matrix *A = structured(ctx, SPRY_TYPE_C, false);
    support_torture(ctx, torture_call, A);
    spry_matrix_free(A);
    A = dependent(ctx, SPRY_TYPE_D, 0);
    support_torture(ctx, torture_call, A);
    spry_matrix_free(A);
    support_context_free(ctx);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_found_in_healthy_matrices),
        TEST(finds_nan),
        TEST(finds_zero_rows_and_columns),
        TEST(finds_indices_off_by_one),
        TEST(finds_structural_singularity),
        TEST(finds_singular_matrices),
        TEST(finds_the_rank_and_the_range),
        TEST(finds_ill_conditioned_matrices),
        TEST(finds_the_constant_null_vector),
        TEST(finds_bad_scaling),
        TEST(finds_broken_symmetry),
        TEST(broken_symmetry_has_one_measure),
        TEST(finds_indefinite_matrices),
        TEST(finds_a_zero_diagonal),
        TEST(finds_duplicates),
        TEST(finds_non_normal_matrices),
        TEST(says_that_a_matrix_is_not_square),
        TEST(judges_methods_and_preconditioners),
        TEST(finds_unstable_factors),
        TEST(looks_at_how_a_solve_ended),
        TEST(reports_what_it_had_no_time_for),
        TEST(can_be_interrupted),
        TEST(refuses_what_does_not_fit),
        TEST(edges_of_size),
        TEST(survives_a_lack_of_memory),
        TEST(nothing_is_found_in_healthy_real_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
