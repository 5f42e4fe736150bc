/*
 * Sparse factors against LAPACK's dense ones: solutions against gesv, sysv, hesv and posv,
 * determinants of all kinds, and the signs of D against those of sytrf and hetrf, for matrices that
 * need their pivots. Bounds are those of elimination (N. J. Higham, Accuracy and stability of
 * numerical algorithms, 2nd ed., SIAM 2002, theorems 9.4 and 11.4) with the largest numbers that
 * the factors have, so growth is in them. LAPACK is loaded where it exists; else tests are
 * skipped.
 */
#include "support/lapack.h"
#include "support/numeric.h"

#include "direct/inside.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

typedef enum shape { RANDOM, GRADED, KAHAN, GROWTH, SADDLE, SHAPES } shape;
static const char *const names[] = {"random", "graded", "Kahan", "growth", "saddle point"};

static void *zeros(int64_t count, size_t size)
{
    void *block = calloc(count > 0 ? (size_t)count : 1, size);
    assert_non_null(block);
    return block;
}

static number chance(uint64_t seed, int64_t i, int64_t j, bool is_complex)
{
    const spry_scalar v =
        support_number(is_complex ? SPRY_TYPE_Z : SPRY_TYPE_D, seed, (uint64_t)(i * 1000 + j));
    return v.re + v.im * I;
}

/* Half of the places off the diagonal, which is as large as any. */
static number random_at(uint64_t seed, int64_t i, int64_t j, bool is_complex)
{
    const number v = chance(seed, i, j, is_complex);
    return i == j || creal(chance(seed + 1, i, j, false)) > 0 ? v : 0;
}

/* s^i (1, -c, -c, ...) with s = sin 1.2; all ones in the last column, -1 below the diagonal. */
static number shaped_at(shape s, int64_t n, int64_t i, int64_t j, uint64_t seed, bool is_complex)
{
    const number turn = is_complex ? cexp(I * (double)(i + 2 * j)) : 1;
    if (s == RANDOM || s == GRADED) {
        const double grade = s == RANDOM ? 0 : 20.0 / (double)n; /* over 2^20 in all */
        return random_at(seed, i, j, is_complex) *
               exp2(-floor(grade * (double)i) - floor(grade * (double)j));
    }
    if (s == KAHAN)
        return i > j ? 0 : turn * pow(sin(1.2), (double)i) * (i == j ? 1 : -cos(1.2));
    if (s == GROWTH)
        return turn * (i == j || j == n - 1 ? 1 : i > j ? -1 : 0);
    const int64_t first = n - n / 3; /* H is dominant; nothing among the constraints */
    if (i >= first && j >= first)
        return n == 1 ? 1 : 0;
    if (i < first && j < first)
        return i == j ? 4 * turn : i - j == 1 || j - i == 1 ? turn : 0;
    const int64_t row = i < first ? i : j, bound = (i < first ? j : i) - first;
    return row == 2 * bound || row == 2 * bound + 1 ? (row % 2 ? -0.5 : 1) * turn : 0;
}

/* Written out by columns, as LAPACK has it: A, A + A^T, A + A^H, or R R^H + 1 of it. */
static number *dense_of(shape s, frontal_kind kind, int64_t n, uint64_t seed, bool is_complex)
{
    number *r = zeros(n * n, sizeof *r), *a = zeros(n * n, sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            r[j * n + i] = shaped_at(s, n, i, j, seed, is_complex);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            number sum = r[j * n + i];
            if (kind == FRONTAL_DEFINITE) {
                sum = i == j;
                for (int64_t k = 0; k < n; k++)
                    sum += r[k * n + i] * conj(r[k * n + j]);
            } else if (kind != FRONTAL_GENERAL) {
                sum += kind == FRONTAL_SYMMETRIC ? r[i * n + j] : conj(r[i * n + j]);
            }
            a[j * n + i] = sum;
        }
    free(r);
    return a;
}

/* As sparse rows of a type, and *a as that rounds it. */
static spry_matrix *sparse_of(spry_context *ctx, spry_type type, int64_t n, number *a)
{
    int64_t *offsets = zeros(n + 1, sizeof *offsets), to = 0;
    int32_t *columns = zeros(n * n, sizeof *columns);
    void *values = zeros(n * n, spry_type_size(type));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (a[j * n + i] == 0)
                continue;
            columns[to] = (int32_t)j;
            value_set(type, values, to, (spry_scalar){creal(a[j * n + i]), cimag(a[j * n + i])});
            const spry_scalar v = value_get(type, values, to++);
            a[j * n + i] = v.re + v.im * I;
        }
        offsets[i + 1] = to;
    }
    return support_from_csr(ctx, type, n, n, offsets, columns, values);
}

/* --- what factors are ----------------------------------------------------------------------------
 */

typedef struct made {
    double lower, upper; /* the largest of L, and of U or of D L^H */
    double log_det;      /* of A, not scaled */
    int64_t positive, negative;
} made;

static number at(spry_type type, const void *values, int64_t k)
{
    const spry_scalar v = value_get(type, values, k);
    return v.re + v.im * I;
}

/* Of D: what its blocks are the inverses of. */
static void look_at_blocks(const frontal *f, const front_node *node, made *m, double *largest)
{
    for (int64_t t = 0; t < node->pivots; t++) {
        const number a = at(f->type, node->inverse, t);
        const number b = at(f->type, node->inverse, node->pivots + t);
        if (b == 0) {
            m->log_det -= log(cabs(a));
            *largest = fmax(*largest, 1 / cabs(a));
            m->positive += creal(a) > 0;
            m->negative += creal(a) < 0;
            continue;
        }
        const number c = at(f->type, node->inverse, ++t);
        const number other = f->kind == FRONTAL_SYMMETRIC ? b : conj(b);
        const double det = cabs(a * c - b * other); /* one of each sign */
        m->log_det -= log(det);
        *largest = fmax(*largest, fmax(cabs(b), fmax(cabs(a), cabs(c))) / det);
        m->positive++;
        m->negative++;
    }
}

static made look_at_factors(const frontal *f)
{
    made m = {.lower = 1};
    double largest = 0, below;
    for (int32_t s = 0; s < f->tree.nodes; s++) {
        const front_node *node = &f->nodes[s];
        const int64_t rest = node->order - node->pivots;
        if (f->kind != FRONTAL_GENERAL)
            look_at_blocks(f, node, &m, &largest);
        for (int64_t t = 0; t < node->pivots; t++) {
            if (f->kind == FRONTAL_GENERAL)
                m.log_det -= log(cabs(at(f->type, node->inverse, t)));
            for (int64_t i = 0; i < node->order; i++) {
                const double size = cabs(at(f->type, node->lower, t * node->order + i));
                const bool above = f->kind == FRONTAL_GENERAL && i <= t;
                if (above)
                    m.upper = fmax(m.upper, size);
                else if (i > t)
                    m.lower = fmax(m.lower, size);
            }
            for (int64_t i = 0; i < rest && f->kind == FRONTAL_GENERAL; i++)
                m.upper = fmax(m.upper, cabs(at(f->type, node->upper, t * rest + i)));
        }
    }
    below = 2 * largest * m.lower; /* rows of D L^H have two terms */
    m.upper = f->kind == FRONTAL_GENERAL ? m.upper : below;
    for (int64_t k = 0; k < f->n; k++)
        m.log_det -= log(f->left[k]) + log(f->right[k]);
    return m;
}

/* --- comparisons ---------------------------------------------------------------------------------
 */

typedef struct compared {
    const char *shape;
    spry_type type;
    frontal_kind kind;
    int64_t n;
    const number *a; /* by columns */
    const frontal *f;
    made m;
    double error;   /* bound of the backward error of A, scaled, in its largest norm */
    double inverse; /* of A, scaled: the largest sum of a row */
} compared;

static void wrong(const compared *c, const char *what, double found, double allowed)
{
    fail_msg("%s, kind %d, type %s, %d rows: %s is off by %g, allowed %g", c->shape, c->kind,
             spry_type_name(c->type), (int)c->n, what, found, allowed);
}

static double left_of(const compared *c, int64_t i)
{
    return c->f->left[c->f->row_place[i]];
}

static double right_of(const compared *c, int64_t j)
{
    return c->f->right[c->f->col_place[j]];
}

/* The larger one, or NAN where one is: fmax() would hide that. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* The largest of left (b - A x), and of x / right. */
static void measure(const compared *c, const number *b, const number *x, double *residual,
                    double *size)
{
    *residual = *size = 0;
    for (int64_t i = 0; i < c->n; i++) {
        long double complex sum = b[i];
        for (int64_t j = 0; j < c->n; j++)
            sum -= (long double complex)c->a[j * c->n + i] * x[j];
        *residual = larger(*residual, left_of(c, i) * (double)cabsl(sum));
        *size = larger(*size, cabs(x[i]) / right_of(c, i));
    }
}

/*
 * |left (b - A x)| is at most error |x / right|, for ours; what both differ by is the inverse times
 * both residuals. The last terms are for what rounds x, and the residual, here.
 */
static void check_solution(const compared *c, const number *b, const number *x, const number *other)
{
    double ours, theirs, size, size_other, apart = 0;
    measure(c, b, x, &ours, &size);
    measure(c, b, other, &theirs, &size_other);
    if (!(ours <= c->error * size))
        wrong(c, "the residual", ours, c->error * size);
    for (int64_t i = 0; i < c->n; i++)
        apart = larger(apart, cabs(x[i] - other[i]) / right_of(c, i));
    const double allowed = 1.01 * c->inverse * (c->error * size + theirs);
    if (!(apart <= allowed))
        wrong(c, "x against LAPACK's", apart, allowed);
}

/* log |det| moves by at most the trace of |inverse| |error|; signs of D do not where A stays far
 * from singular on the way. Theirs has an error, too, that is no larger but for its growth. */
static bool check_determinant(const compared *c, const lapack_signs *theirs)
{
    const double moved = 2 * c->inverse * c->error * (double)c->n;
    if (!(moved < 0.1))
        return false; /* nothing can be said */
    if (!(fabs(c->m.log_det - theirs->log_det) <= 2 * moved))
        wrong(c, "log |det|", fabs(c->m.log_det - theirs->log_det), 2 * moved);
    if (theirs->signs && (c->m.positive != theirs->positive || c->m.negative != theirs->negative))
        wrong(c, "the number of negative eigenvalues", (double)c->m.negative,
              (double)theirs->negative);
    return true;
}

/* The largest sum of a row of the inverse of left A right, by LAPACK in double. */
static double scaled_inverse(const compared *c)
{
    const int64_t n = c->n;
    number *a = zeros(n * n, sizeof *a);
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[j * n + i] = left_of(c, i) * c->a[j * n + i] * right_of(c, j);
    const bool inverted = lapack_invert(n, a);
    for (int64_t i = 0; i < n && inverted; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += cabs(a[j * n + i]);
        most = fmax(most, sum);
    }
    free(a);
    return inverted ? most : INFINITY;
}

/* One system; whether determinants could be compared. */
static bool compare(spry_context *ctx, shape s, frontal_kind kind, spry_type type, int64_t n)
{
    const uint64_t seed = (uint64_t)(n * 10 + s);
    number *a = dense_of(s, kind, n, seed, spry_type_is_complex(type));
    spry_matrix *A = sparse_of(ctx, type, n, a);
    number *x = zeros(n, sizeof *x), *b = zeros(n, sizeof *b);
    void *z = zeros(n, spry_type_size(type));
    frontal *f = NULL;
    bool fits = false, determined = false;
    for (int64_t i = 0; i < n; i++) {
        b[i] = chance(seed + 7, i, 0, spry_type_is_complex(type));
        value_set(type, z, i, (spry_scalar){creal(b[i]), cimag(b[i])});
    }
    assert_ok(ctx, frontal_analyse(A, kind, 0, &f));
    assert_ok(ctx, frontal_factor(f, A, &fits));
    assert_true(fits);
    compared c = {.shape = names[s], .type = type, .kind = kind, .n = n, .a = a, .f = f};
    c.inverse = frontal_outcome_of(f)->rank == n ? scaled_inverse(&c) : INFINITY;
    lapack_signs theirs;
    number *other = zeros(n, sizeof *other);
    memcpy(other, b, (size_t)n * sizeof *b);
    /* Singular as far as its type shows: nothing to compare. */
    if (lapack_solve(type, (lapack_kind)kind, n, a, other, &theirs) &&
        c.inverse * numeric_unit(type) < 1e-2) {
        assert_int_equal(frontal_solve(f, SPRY_TRANSPOSE_NO, 1, &z), SPRY_STATUS_OK);
        for (int64_t i = 0; i < n; i++)
            x[i] = at(type, z, i);
        c.m = look_at_factors(f);
        /* 3 n units of |L| |U|, complex products with three more roundings each, all of whose
         * sums have n terms; rows have n. */
        c.error =
            4 * 3 * (double)n * numeric_unit(type) * (double)n * c.m.lower * c.m.upper * (double)n;
        check_solution(&c, b, x, other);
        determined = check_determinant(&c, &theirs);
    }
    frontal_free(f);
    spry_matrix_free(A);
    free(a);
    free(x);
    free(b);
    free(z);
    free(other);
    return determined;
}

static const int64_t sizes[] = {1, 2, 3, 4, 7, 16, 33, 64, 120, 200};

static void test_kind(void **state, frontal_kind kind)
{
    int determined = 0, all = 0;
    if (!lapack_is_present())
        skip();
    for (int s = 0; s < SHAPES; s++)
        for (int t = 0; t < 4; t++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                const bool single = type_is_single(support_types[t]);
                if (s == GROWTH && single && sizes[k] > 120)
                    continue; /* 2^199 is no number of single precision */
                determined += compare(*state, (shape)s, kind, support_types[t], sizes[k]);
                all++;
            }
    if (determined * 3 < all)
        fail_msg("kind %d: %d of %d determinants could be compared", kind, determined, all);
}

static void lu_agrees_with_gesv(void **state)
{
    test_kind(state, FRONTAL_GENERAL);
}

static void ldlt_agrees_with_sysv(void **state)
{
    test_kind(state, FRONTAL_SYMMETRIC);
}

static void ldlh_agrees_with_hesv(void **state)
{
    test_kind(state, FRONTAL_HERMITIAN);
}

static void cholesky_agrees_with_posv(void **state)
{
    test_kind(state, FRONTAL_DEFINITE);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(lu_agrees_with_gesv),
        UNIT(ldlt_agrees_with_sysv),
        UNIT(ldlh_agrees_with_hesv),
        UNIT(cholesky_agrees_with_posv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
