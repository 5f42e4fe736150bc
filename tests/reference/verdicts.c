/*
 * What is said of an x, of random systems that are hard in every way, against arithmetic of 113
 * bits: `converged` by the true residual, a true residual that is true, an error bound that is one,
 * numbers that are finite, `singular` of matrices that are.
 *
 *     SPRY_VERDICTS=100000 SPRY_VERDICTS_FROM=0 build/test/tests/test_reference verdicts
 *
 * takes so many systems, from a first one on, the same on every machine. A verdict that is wrong is
 * printed with the number of its system; with that and SPRY_VERDICTS=1 the system is printed, too.
 */
#include "support/numeric.h"
#include "support/quad.h"

#include "matrix/entries.h"
#include "matrix/matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = QUAD_MOST, SHOWN = 40 };

/* Where random numbers come from. */
typedef struct source {
    uint64_t seed, count;
} source;

static uint64_t draw(source *s, uint64_t below)
{
    return (base_random(s->seed, s->count++) >> 11) % below;
}

static int between(source *s, int least, int most)
{
    return least + (int)draw(s, (uint64_t)most - (uint64_t)least + 1);
}

static bool chance(source *s, int percent)
{
    return between(s, 0, 99) < percent;
}

static double uniform(source *s)
{
    return (double)(base_random(s->seed, s->count++) >> 11) * 0x1p-52 - 1;
}

/* --- systems ------------------------------------------------------------------------------------
 */

/* A system in double precision, and what it was made to be. */
typedef struct system_made {
    uint64_t number;
    spry_type type;
    int rows, cols;
    spry_scalar A[MOST][MOST], b[MOST], x[MOST]; /* x: the first guess */
    bool deficient;                              /* by its pattern or its whole numbers */
    const char *kind;
    char options[160];
} system_made;

static spry_scalar number(source *s, bool is_complex, bool whole)
{
    spry_scalar v;
    v.re = whole ? between(s, -4, 4) : uniform(s);
    v.im = !is_complex ? 0 : whole ? between(s, -4, 4) : uniform(s);
    return v;
}

static spry_scalar times(spry_scalar a, double f)
{
    return (spry_scalar){a.re * f, a.im * f};
}

static void fill(source *s, system_made *m, bool whole, int density)
{
    const bool is_complex = spry_type_is_complex(m->type);
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            if (chance(s, density) || (i == j && chance(s, 80)))
                m->A[i][j] = number(s, is_complex, whole);
}

static void make_random(source *s, system_made *m)
{
    fill(s, m, chance(s, 40), between(s, 20, 100));
}
/* The last row is a sum of others, exactly. */
static void make_dependent(source *s, system_made *m)
{
    fill(s, m, true, between(s, 40, 100));
    for (int j = 0; j < m->cols; j++) {
        spry_scalar sum = {0, 0};
        for (int i = 0; i < m->rows - 1; i += 2)
            sum = (spry_scalar){sum.re + m->A[i][j].re, sum.im + m->A[i][j].im};
        m->A[m->rows - 1][j] = sum;
    }
    m->deficient = true;
}
/* The same but for a few bits. */
static void make_near(source *s, system_made *m)
{
    make_dependent(s, m);
    m->deficient = false;
    m->A[m->rows - 1][between(s, 0, m->cols - 1)].re += ldexp(1, between(s, -50, -2));
}
static void make_steps(source *s, system_made *m)
{
    const int first = between(s, 0, 3);
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            m->A[i][j].re = first + i * m->cols + j;
    m->deficient = m->rows > 2 && m->cols > 2;
}
static void make_hilbert(source *s, system_made *m)
{
    const int first = between(s, 1, 3);
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++)
            m->A[i][j].re = 1.0 / (i + j + first);
}
static void make_empty(source *s, system_made *m)
{
    make_random(s, m);
    const bool row = chance(s, 50), column = !row || chance(s, 30);
    const int i = between(s, 0, m->rows - 1), j = between(s, 0, m->cols - 1);
    for (int k = 0; k < m->cols && row; k++)
        m->A[i][k] = (spry_scalar){0, 0};
    for (int k = 0; k < m->rows && column; k++)
        m->A[k][j] = (spry_scalar){0, 0};
    m->deficient = true;
}
/* sign: A^T = sign A; else A^H is. */
static void mirror(system_made *m, double sign, bool conjugate)
{
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j <= i && j < m->cols; j++) {
            const spry_scalar v = m->A[i][j];
            if (i == j && sign < 0)
                m->A[i][j] = (spry_scalar){0, 0};
            else if (i == j && conjugate)
                m->A[i][j].im = 0;
            if (j < m->rows && i < m->cols && i != j)
                m->A[j][i] = (spry_scalar){sign * v.re, conjugate ? -sign * v.im : sign * v.im};
        }
}
static void make_skew(source *s, system_made *m)
{
    make_random(s, m);
    mirror(m, -1, false);
    m->deficient = m->rows == m->cols && m->rows % 2 == 1;
}
static void make_symmetric(source *s, system_made *m)
{
    make_random(s, m);
    mirror(m, 1, false);
}
static void make_hermitian(source *s, system_made *m)
{
    make_random(s, m);
    mirror(m, 1, true);
}
static void make_definite(source *s, system_made *m)
{
    make_hermitian(s, m);
    for (int i = 0; i < m->rows && i < m->cols; i++)
        m->A[i][i] = (spry_scalar){8 + m->A[i][i].re, 0};
}
static void make_triangle(source *s, system_made *m)
{
    make_random(s, m);
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < i && j < m->cols; j++)
            m->A[i][j] = (spry_scalar){0, 0};
}
static void make_diagonal(source *s, system_made *m)
{
    for (int i = 0; i < m->rows && i < m->cols; i++)
        m->A[i][i] =
            times(number(s, spry_type_is_complex(m->type), false), ldexp(1, between(s, -40, 40)));
}
static void make_dominant(source *s, system_made *m)
{
    fill(s, m, false, 60);
    for (int i = 0; i < m->rows && i < m->cols; i++)
        m->A[i][i].re += chance(s, 50) ? 6 : 2;
}

static const struct {
    const char *name;
    void (*make)(source *s, system_made *m);
} kinds[] = {
    {"random", make_random},     {"dependent", make_dependent}, {"nearly dependent", make_near},
    {"steps", make_steps},       {"Hilbert", make_hilbert},     {"empty", make_empty},
    {"skew", make_skew},         {"symmetric", make_symmetric}, {"hermitian", make_hermitian},
    {"definite", make_definite}, {"triangle", make_triangle},   {"diagonal", make_diagonal},
    {"dominant", make_dominant}};

/* Scales rows, columns, or all, by powers of two: rank and pattern stay, unless numbers are lost.
 */
static void scale(source *s, system_made *m)
{
    const bool single = type_is_single(m->type);
    const int widest = single ? 60 : 480, spread = chance(s, 30) ? widest : 30;
    const int lowest = single ? -148 : -1073, highest = single ? 127 : 1023;
    const int whole = chance(s, 20)   ? between(s, -2 * spread, 2 * spread)
                      : chance(s, 10) ? between(s, lowest, lowest + 60)
                      : chance(s, 10) ? between(s, highest - 20, highest)
                                      : 0;
    const int row = chance(s, 15) ? between(s, 1, spread) : 0,
              col = chance(s, 15) ? between(s, 1, spread) : 0;
    const bool graded = chance(s, 40), alike = chance(s, 50);
    for (int i = 0; i < m->rows; i++) {
        const int e = graded ? row * i / m->rows : between(s, -row, row);
        for (int j = 0; j < m->cols; j++)
            m->A[i][j] = times(m->A[i][j], ldexp(1, e + whole));
    }
    for (int j = 0; j < m->cols; j++) {
        const int e = graded ? col * j / m->cols : between(s, -col, col);
        for (int i = 0; i < m->rows; i++)
            m->A[i][j] = times(m->A[i][j], ldexp(1, e));
    }
    const int right = alike ? whole : chance(s, 20) ? between(s, -2 * spread, 2 * spread) : 0;
    for (int i = 0; i < m->rows; i++)
        m->b[i] = times(m->b[i], ldexp(1, right));
}

static void make_sides(source *s, system_made *m)
{
    const bool is_complex = spry_type_is_complex(m->type), whole = chance(s, 50);
    const int kind = between(s, 0, 9);
    for (int i = 0; i < m->rows; i++)
        m->b[i] = kind < 5 ? number(s, is_complex, whole) : (spry_scalar){kind == 5, 0};
    if (kind == 6)
        m->b[between(s, 0, m->rows - 1)].re = 1;
    for (int j = 0; j < m->cols && kind > 6; j++) { /* in the range of A, nearly or exactly */
        const spry_scalar x = kind == 7 ? (spry_scalar){1, 0} : number(s, is_complex, whole);
        for (int i = 0; i < m->rows; i++) {
            m->b[i].re += m->A[i][j].re * x.re - m->A[i][j].im * x.im;
            m->b[i].im += m->A[i][j].re * x.im + m->A[i][j].im * x.re;
        }
    }
    for (int j = 0; j < m->cols; j++)
        m->x[j] = (spry_scalar){0, 0};
    if (chance(s, 15))
        for (int j = 0; j < m->cols; j++)
            m->x[j] = number(s, is_complex, false);
}

/* As the type stores it; false: it cannot. */
static bool store(spry_type type, spry_scalar *v)
{
    if (type_is_single(type))
        *v = (spry_scalar){(float)v->re, (float)v->im};
    return isfinite(v->re) && isfinite(v->im);
}

static bool fits(system_made *m)
{
    bool fine = true;
    for (int i = 0; i < m->rows; i++) {
        fine = store(m->type, &m->b[i]) && fine;
        for (int j = 0; j < m->cols; j++)
            fine = store(m->type, &m->A[i][j]) && fine;
    }
    for (int j = 0; j < m->cols; j++)
        fine = store(m->type, &m->x[j]) && fine;
    return fine;
}

static void choose_options(source *s, system_made *m)
{
    static const char *const precons[] = {"none", "auto",   "jacobi", "ilu",
                                          "auto", "direct", "none",   "direct:kind=dense"};
    static const char *const least[] = {"lsqr", "lsmr", "cgls", "auto"};
    static const char *const factors[] = {"direct", "direct:kind=dense", "direct:kind=sparse",
                                          "direct:regular=no"};
    int methods = 0;
    spry_entry entry = SPRY_ENTRY_INIT;
    const bool square = m->rows == m->cols;
    const char *method = "auto", *precon = precons[between(s, 0, 7)];
    while (spry_list_at(SPRY_LIST_METHODS, methods, &entry))
        methods++;
    const int way = between(s, 0, 9);
    if (!square) {
        method = least[between(s, 0, 3)];
        precon = chance(s, 80) ? "none" : "auto";
    } else if (way < 3) {
        method = "direct";
        precon = factors[between(s, 0, 3)];
    } else if (way < 9) {
        spry_list_at(SPRY_LIST_METHODS, between(s, 0, methods - 1), &entry);
        method = entry.name;
    } else {
        precon = "auto";
    }
    int used = snprintf(m->options, sizeof m->options, "device=cpu max-iter=200 method=%s", method);
    if (strcmp(method, "direct") == 0 && way < 3)
        used = snprintf(m->options, sizeof m->options, "device=cpu method=%s", precon);
    else if (strcmp(precon, "auto") != 0 || way < 9)
        used += snprintf(m->options + used, sizeof m->options - (size_t)used, " precon=%s", precon);
    if (chance(s, 50))
        snprintf(m->options + used, sizeof m->options - (size_t)used, " tol=1e-%d",
                 type_is_single(m->type) ? between(s, 3, 7) : between(s, 6, 15));
}

static void make_system(uint64_t at, system_made *m)
{
    source s = {.seed = 0x5e1f + at};
    do {
        *m = (system_made){.number = at, .type = support_types[between(&s, 0, 3)]};
        m->rows = m->cols = between(&s, 1, chance(&s, 15) ? MOST : 5);
        if (chance(&s, 20))
            m->cols = between(&s, 1, 5);
        const int kind = between(&s, 0, (int)(sizeof kinds / sizeof *kinds) - 1);
        m->kind = kinds[kind].name;
        kinds[kind].make(&s, m);
        make_sides(&s, m);
        scale(&s, m);
    } while (!fits(m));
    choose_options(&s, m);
}

/* --- what is said of them -----------------------------------------------------------------------
 */

typedef struct verdicts {
    spry_context *ctx;
    int64_t failures, converged, bounded, singular, refused;
    bool shows;
} verdicts;

static double printable(double v)
{
    return v == 0 ? 0 : v;
}

static void show(const system_made *m)
{
    for (int i = 0; i < m->rows; i++) {
        for (int j = 0; j < m->cols; j++)
            printf(" (%.17g, %.17g)", printable(m->A[i][j].re), printable(m->A[i][j].im));
        printf("   b (%.17g, %.17g)\n", printable(m->b[i].re), printable(m->b[i].im));
    }
    for (int j = 0; j < m->cols; j++)
        printf("   x (%.17g, %.17g)\n", m->x[j].re, m->x[j].im);
}

SPRY_PRINTF(3, 4)
static void wrong(verdicts *v, const system_made *m, const char *format, ...)
{
    va_list arguments;
    if (v->failures++ >= SHOWN)
        return;
    printf("system %" PRIu64 " (%s, %d x %d, type %s, %s): ", m->number, m->kind, m->rows, m->cols,
           spry_type_name(m->type), m->options);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

typedef struct solved {
    spry_status status;
    spry_result result;
    spry_scalar x[MOST];
    double backward, bound;
    char message[400];
} solved;

static spry_matrix *build(spry_context *ctx, const system_made *m)
{
    enum { ROOM = MOST * MOST };
    int64_t *offsets = calloc(MOST + 1, sizeof *offsets);
    int32_t *columns = calloc(ROOM, sizeof *columns);
    void *values = calloc(ROOM, spry_type_size(m->type));
    int64_t count = 0;
    assert_true(offsets && columns && values);
    offsets[0] = 0;
    for (int i = 0; i < m->rows; i++) {
        for (int j = 0; j < m->cols; j++)
            if (m->A[i][j].re != 0 || m->A[i][j].im != 0) {
                columns[count] = j;
                value_set(m->type, values, count++, m->A[i][j]);
            }
        offsets[i + 1] = count;
    }
    return support_from_csr(ctx, m->type, m->rows, m->cols, offsets, columns, values);
}

static void solve(spry_context *ctx, const system_made *m, solved *out)
{
    spry_matrix *A = build(ctx, m);
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    *out = (solved){.result = SPRY_RESULT_INIT, .backward = NAN, .bound = NAN};
    assert_ok(ctx, spry_vector_new(ctx, m->type, m->rows, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_new(ctx, m->type, m->cols, NULL, SPRY_OWN_COPY, &x));
    for (int i = 0; i < m->rows; i++)
        value_set(m->type, b->data, i, m->b[i]);
    for (int j = 0; j < m->cols; j++)
        value_set(m->type, x->data, j, m->x[j]);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, m->options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    out->status = spry_solve(solver, b, x, &out->result);
    snprintf(out->message, sizeof out->message, "%s", spry_message(ctx));
    if (out->status == SPRY_STATUS_OK)
        assert_ok(ctx, spry_solver_errors(solver, b, x, &out->backward, &out->bound));
    for (int j = 0; j < m->cols; j++)
        out->x[j] = value_get(m->type, x->data, j);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* Whether A is far from singular, some digits more than rounding takes. */
static bool is_clear(const system_made *m, const quad_inverse *inverse)
{
    const double digits = 1e-3;
    return inverse->known && inverse->condition * m->rows * numeric_unit(m->type) < digits;
}

/* A refusal says nothing that is not so. */
static void check_refusal(verdicts *v, const system_made *m, const solved *s,
                          const quad_inverse *inverse)
{
    v->refused++;
    if (strstr(s->message, "matrix is singular") && is_clear(m, inverse))
        wrong(v, m, "refused, of condition %.3g: %s", inverse->condition, s->message);
    if (strstr(s->message, "value is") || strstr(s->message, "vectors have") ||
        (s->status != SPRY_STATUS_BAD_INPUT && s->status != SPRY_STATUS_BAD_USAGE &&
         s->status != SPRY_STATUS_UNSUPPORTED))
        wrong(v, m, "refused: %s", s->message);
}

/* What the true residual may be off by where it is not a part of itself: residuals are made in
 * twice the precision, of numbers that may be below the range of the type. */
static double least_residual(const system_made *m, const quad_residual *truth)
{
    const double unit = numeric_unit(m->type), sums = 4 * m->cols + 4;
    const double lost = type_is_single(m->type) ? FLT_TRUE_MIN : DBL_TRUE_MIN;
    return quad_ratio(truth->all * (sums * sums * DBL_EPSILON * unit) + (quad)lost * sums,
                      truth->b_norm);
}

static void check_residual(verdicts *v, const system_made *m, const solved *s,
                           const quad_residual *truth)
{
    const spry_result *r = &s->result;
    const double share = 0.05; /* of itself, that rounding may have */
    const double relative = quad_ratio(truth->norm, truth->b_norm), told = r->true_residual;
    const double doubt = share * relative + least_residual(m, truth);
    if (truth->b_norm > 0 && !(fabs(told - relative) <= doubt) &&
        r->reason != SPRY_REASON_NONFINITE)
        wrong(v, m, "%s: true residual told %.3g, is %.3g", spry_reason_name(r->reason), told,
              relative);
    if (!r->converged)
        return;
    v->converged++;
    if (strstr(r->detail, "least-squares")) {
        /* a share that rounding of r makes */
        const double rounding =
            quad_ratio(truth->all, truth->norm) * numeric_unit(m->type) * (m->cols + m->rows + 4);
        if (!(truth->slope <= 1.1 * fmax(r->tolerance, 1e-8) + 4 * rounding))
            wrong(v, m, "converged to least squares: the cosine is %.3g, told: %s", truth->slope,
                  r->detail);
    } else if (!(relative <= r->tolerance * (1 + 1e-6) + least_residual(m, truth))) {
        wrong(v, m, "converged: the residual is %.3g, not %.3g", relative, r->tolerance);
    }
}

static void check_singular(verdicts *v, const system_made *m, const solved *s,
                           const quad_inverse *inverse)
{
    const bool says = s->result.reason == SPRY_REASON_SINGULAR;
    v->singular += says;
    if (says && is_clear(m, inverse))
        wrong(v, m, "singular, of condition %.3g: %s", inverse->condition, s->result.detail);
}

static void check_bound(verdicts *v, const system_made *m, const solved *s, const quad_system *q,
                        const quad_inverse *inverse, const quad_number *x)
{
    if (isnan(s->bound) || s->bound == INFINITY)
        return;
    v->bounded++;
    if (inverse->known) {
        const double error = quad_error(q, inverse, x);
        if (!(error <= s->bound * (1 + 1e-12)))
            wrong(v, m, "off by %.3g, bound %.3g", error, s->bound);
    } else if (m->deficient) {
        wrong(v, m, "bound %.3g of a matrix that is singular", s->bound);
    }
}

/* Scaling may have lost some of the numbers that made it so. */
static bool still_deficient(const system_made *m)
{
    const double least = type_is_single(m->type) ? FLT_MIN : DBL_MIN;
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) {
            const spry_scalar a = m->A[i][j];
            if ((a.re != 0 && fabs(a.re) < least) || (a.im != 0 && fabs(a.im) < least))
                return false;
        }
    return m->deficient;
}

static void check(verdicts *v, uint64_t at)
{
    system_made m;
    solved s;
    quad_system q;
    quad_number x[MOST];
    quad_residual truth;
    quad_inverse inverse;
    bool finite = true;
    make_system(at, &m);
    m.deficient = still_deficient(&m);
    if (v->shows)
        show(&m);
    solve(v->ctx, &m, &s);
    if (v->shows)
        printf("%s, %s, residual %.3g, bound %.3g; %s %s\n", spry_status_text(s.status),
               spry_reason_name(s.result.reason), s.result.true_residual, s.bound, s.message,
               s.result.detail);
    q.rows = m.rows;
    q.cols = m.cols;
    for (int i = 0; i < m.rows; i++) {
        q.b[i] = (quad_number){m.b[i].re, m.b[i].im};
        for (int j = 0; j < m.cols; j++)
            q.A[i][j] = (quad_number){m.A[i][j].re, m.A[i][j].im};
    }
    for (int j = 0; j < m.cols; j++) {
        x[j] = (quad_number){s.x[j].re, s.x[j].im};
        finite = finite && isfinite(s.x[j].re) && isfinite(s.x[j].im);
        if (v->shows)
            printf("   found (%.17g, %.17g)\n", s.x[j].re, s.x[j].im);
    }
    quad_invert(&q, &inverse);
    if (s.status != SPRY_STATUS_OK) {
        check_refusal(v, &m, &s, &inverse);
    } else if (!finite) {
        wrong(v, &m, "%s with residual %.3g: x is not finite", spry_reason_name(s.result.reason),
              s.result.true_residual);
    } else {
        quad_measure(&q, x, &truth);
        check_residual(v, &m, &s, &truth);
        check_singular(v, &m, &s, &inverse);
        check_bound(v, &m, &s, &q, &inverse, x);
    }
    spry_result_clear(v->ctx, &s.result);
}

static uint64_t wish(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_verdicts(void **state)
{
    (void)state;
    const uint64_t count = wish("SPRY_VERDICTS", 1000), from = wish("SPRY_VERDICTS_FROM", 0);
    verdicts v = {.ctx = support_context("threads=1"), .shows = count == 1};
    if (!HAS_QUAD)
        skip();
    for (uint64_t k = 0; k < count; k++)
        check(&v, from + k);
    support_context_free(v.ctx);
    printf("%" PRIu64 " systems from %" PRIu64 ": %" PRId64 " converged, %" PRId64
           " with a bound, %" PRId64 " singular, %" PRId64 " refused, %" PRId64 " wrong\n",
           count, from, v.converged, v.bounded, v.singular, v.refused, v.failures);
    fflush(stdout);
    if (v.failures > 0)
        fail_msg("%" PRId64 " of %" PRIu64 " verdicts are wrong", v.failures, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
