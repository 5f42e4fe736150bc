/* The values of scalar expressions, real and complex, and indices outside their arrays. */
#include "support/notation.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 32 };

/* Room for the numbers of a program of the frame: arrays have 4, or 4 times 3. */
typedef struct store {
    int64_t offset[MOST], extent[MOST][2];
    spry_scalar values[256];
    scalars s;
} store;

static void store_init(store *st, const program *p, bool real)
{
    int64_t used = 0;
    assert_true(p->name_count <= MOST);
    memset(st, 0, sizeof *st);
    for (int i = 0; i < p->name_count; i++) {
        const program_name *n = &p->names[i];
        st->offset[i] = used;
        st->extent[i][0] = n->extent[0] != NONE ? 4 : 1;
        st->extent[i][1] = n->extent[1] != NONE ? 3 : 1;
        if (n->kind != NAME_VECTOR && n->kind != NAME_VECTORS)
            used += st->extent[i][0] * st->extent[i][1];
        if (n->kind == NAME_OPTION)
            st->values[st->offset[i]].re = n->value;
    }
    assert_true(used <= 256);
    st->s = (scalars){.program = p,
                      .offset = st->offset,
                      .extent = (const int64_t(*)[2])st->extent,
                      .values = st->values,
                      .real = real,
                      .eps = DBL_EPSILON,
                      .fault = NONE};
}

/* The expression, with these values for rho and tau, k = 2. The imaginary parts of real types hold
 * what must not be read. */
static spry_scalar value_of(spry_context *ctx, const char *text, bool real, spry_scalar rho,
                            spry_scalar tau, int *fault)
{
    char lines[256];
    store st;
    snprintf(lines, sizeof lines, "tau = rho; T = 2; result = %s", text);
    program *p = notation_program(ctx, lines);
    store_init(&st, p, real);
    if (real)
        for (int i = 0; i < 256; i++)
            st.values[i].im = NAN;
    st.values[st.offset[program_find_name(p, "rho")]] = rho;
    st.values[st.offset[program_find_name(p, "tau")]] = tau;
    st.values[st.offset[program_find_name(p, "k")]].re = 2;
    for (int i = 0; i < 4; i++)
        st.values[st.offset[program_find_name(p, "h")] + i].re = 10 + i;
    for (int i = 0; i < 12; i++)
        st.values[st.offset[program_find_name(p, "H")] + i].re = 100 + i;
    const spry_scalar found =
        program_eval(&st.s, notation_last(p, p->section[SECTION_LOOP])->value);
    int line;
    *fault = NONE;
    if (st.s.fault != NONE)
        program_locate(p, st.s.fault, &line, fault);
    program_free(p);
    return found;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* rho = 3, tau = -2. All of these are exact. */
static const struct {
    const char *text;
    double value;
} reals[] = {
    {"rho + tau", 1},
    {"rho - tau", 5},
    {"-rho", -3},
    {"rho tau", -6},
    {"rho / tau", -1.5},
    {"rho / tau rho", -4.5},
    {"2^10", 1024},
    {"tau^3", -8},
    {"tau^-2", 0.25},
    {"rho^0", 1},
    {"4^0.5", 2},
    {"tau^0.5", NAN},
    {"2^3^2", 512},
    {"-2^2", -4},
    {"rho < tau", 0},
    {"rho > tau", 1},
    {"rho <= 3", 1},
    {"rho >= 4", 0},
    {"rho == 3", 1},
    {"rho != 3", 0},
    {"rho and tau", 1},
    {"rho and 0", 0},
    {"0 or tau", 1},
    {"0 or 0", 0},
    {"not rho", 0},
    {"not 0", 1},
    {"sqrt(16)", 4},
    {"sqrt(tau)", NAN},
    {"|tau|", 2},
    {"conj(rho)", 3},
    {"real(rho)", 3},
    {"imag(rho)", 0},
    {"sign(tau)", -1},
    {"sign(rho)", 1},
    {"sign(0)", 1},
    {"sign(-inf)", -1},
    {"max(rho, tau)", 3},
    {"min(rho, tau)", -2},
    {"max(sqrt(tau), 1)", NAN},
    {"max(1, sqrt(tau))", NAN},
    {"min(sqrt(tau), 1)", NAN},
    {"mod(7, 3)", 1},
    {"mod(-7, 3)", 2},
    {"mod(-6, 3)", 0},
    {"mod(-7, -3)", 2},
    {"mod(7, 0)", NAN},
    {"where(rho > 0, 5, 6)", 5},
    {"where(rho < 0, 5, 6)", 6},
    {"positive(rho)", 1},
    {"positive(tau)", 0},
    {"positive(0)", 0},
    {"positive(inf)", 0},
    {"positive(sqrt(tau))", 0},
    {"finite(rho)", 1},
    {"finite(inf)", 0},
    {"finite(sqrt(tau))", 0},
    {"eps", DBL_EPSILON},
    {"inf", INFINITY},
    {"inf - inf", NAN},
    {"h[k] + h[k - 1]", 23},
    {"H[1, k]", 105},
    {"H[3, 2]", 111},
    {"m + w", 3.5},
    {"side == right", 1},
    {"side != right", 0},
    {"k > 2 and h[k + 5] > 0", 0}, /* no fault: not looked at */
    {"k == 2 or h[k + 5] > 0", 1},
    {"where(k > 2, h[k + 5], 1)", 1},
};

static void test_real(void **state)
{
    int fault;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        const spry_scalar rho = {3, NAN}, tau = {-2, NAN};
        const spry_scalar found = value_of(*state, reals[i].text, true, rho, tau, &fault);
        if (!same(found.re, reals[i].value) || found.im != 0)
            fail_msg("%s is %g + %g i, not %g", reals[i].text, found.re, found.im, reals[i].value);
        assert_int_equal(fault, NONE);
    }
}

/* rho = 3 + 4i, tau = -2i; within the error of a few roundings. */
static const struct {
    const char *text;
    double re, im;
} complexes[] = {
    {"rho + tau", 3, 2},
    {"rho - tau", 3, 6},
    {"-rho", -3, -4},
    {"rho tau", 8, -6},
    {"rho / tau", -2, 1.5},
    {"tau / rho", -0.32, -0.24},
    {"rho / 2", 1.5, 2},
    {"rho^2", -7, 24},
    {"rho^-1", 0.12, -0.16},
    {"rho^0.5", 2, 1},
    {"(-4)^0.5", 0, 2},
    {"4^0.5", 2, 0},
    {"sqrt(rho)", 2, 1},
    {"sqrt(conj(rho))", 2, -1},
    {"sqrt(-rho)", 1, -2},
    {"sqrt(-4)", 0, 2},
    {"sqrt(0)", 0, 0},
    {"|rho|", 5, 0},
    {"conj(rho)", 3, -4},
    {"real(rho)", 3, 0},
    {"imag(rho)", 4, 0},
    {"sign(rho)", 0.6, 0.8},
    {"sign(tau)", 0, -1},
    {"sign(1e300 rho)", 0.6, 0.8},
    {"sign(1e-320 tau)", 0, -1},
    {"sign(0)", 1, 0},
    {"max(rho, tau)", 3, 4},
    {"min(rho, tau)", 0, -2},
    {"rho > tau", 1, 0},
    {"rho == rho", 1, 0},
    {"rho == 3", 0, 0},
    {"rho != 3", 1, 0},
    {"not tau", 0, 0},
    {"tau and 1", 1, 0},
    {"0 or tau", 1, 0},
    {"where(tau, rho, 1)", 3, 4},
    {"positive(rho)", 0, 0},
    {"positive(3 + tau / 1000)", 1, 0},
    {"positive(3 + tau / 500)", 0, 0},
    {"positive(-3)", 0, 0},
    {"finite(rho)", 1, 0},
    {"finite(tau / 0)", 0, 0},
    {"mod(rho, 2)", 1, 0},
};

static void test_complex(void **state)
{
    int fault;
    for (size_t i = 0; i < sizeof complexes / sizeof complexes[0]; i++) {
        const spry_scalar rho = {3, 4}, tau = {0, -2};
        const char *text = complexes[i].text;
        const double re = complexes[i].re, im = complexes[i].im;
        const spry_scalar found = value_of(*state, text, false, rho, tau, &fault);
        /* A dozen operations of half an eps each, log and exp among them, which carry the error of
         * an argument below 4. */
        const double bound = 24 * DBL_EPSILON * (fabs(re) + fabs(im));
        if (!(fabs(found.re - re) <= bound && fabs(found.im - im) <= bound))
            fail_msg("%s is %.17g + %.17g i, not %g + %g i", text, found.re, found.im, re, im);
        assert_int_equal(fault, NONE);
    }
}

/* (-2i)^(-2i) = exp(-2i log(-2i)), log(-2i) = log 2 - i pi / 2 */
static void test_complex_power(void **state)
{
    const spry_scalar rho = {0, 0}, tau = {0, -2};
    const double size = exp(-acos(-1)), angle = -2 * log(2);
    int fault;
    const spry_scalar found = value_of(*state, "tau^tau", false, rho, tau, &fault);
    /* exp carries the rounding errors of an argument below 4, and there are as many again */
    assert_true(fabs(found.re - size * cos(angle)) <= 16 * DBL_EPSILON * size);
    assert_true(fabs(found.im - size * sin(angle)) <= 16 * DBL_EPSILON * size);
}

/* Column of the index that is at fault. */
static const struct {
    const char *text;
    int column;
} faults[] = {
    {"h[-1]", 30},        {"h[4]", 30},     {"h[0.5]", 30},      {"H[0, 3]", 33},
    {"H[4, 0]", 30},      {"h[inf]", 30},   {"h[0] + h[9]", 37}, {"h[-9] + h[9]", 30},
    {"h[mod(1, 0)]", 30}, {"h[1e300]", 30},
};

static void test_faults(void **state)
{
    const spry_scalar zero = {0, 0};
    int fault;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        value_of(*state, faults[i].text, i % 2 == 0, zero, zero, &fault);
        assert_int_equal(fault, faults[i].column);
    }
}

static void test_counts(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *text;
        int64_t count;
        bool fault;
    } counts[] = {{"k - 5", -3, false}, {"m", 3, false},
                  {"m / 2", 0, true},   {"1e15", 1000000000000000, false},
                  {"1e16", 0, true},    {"-inf", 0, true}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char lines[128];
        store st;
        snprintf(lines, sizeof lines, "result = %s", counts[i].text);
        program *p = notation_program(ctx, lines);
        store_init(&st, p, true);
        st.values[st.offset[program_find_name(p, "k")]].re = 2;
        const int e = notation_last(p, p->section[SECTION_LOOP])->value;
        assert_int_equal(program_eval_count(&st.s, e), counts[i].count);
        assert_int_equal(st.s.fault, counts[i].fault ? p->exprs[e].place : NONE);
        program_free(p);
    }
}

/* Where elements live, and none after a fault. */
static void test_place(void **state)
{
    store st;
    program *p = notation_program(*state, "H[3, 1] = 5; h[4] = 1");
    store_init(&st, p, true);
    const stmt *bad = notation_last(p, p->section[SECTION_LOOP]);
    const stmt *good = &p->stmts[p->stmts[p->section[SECTION_LOOP]].next];
    assert_ptr_equal(program_scalar_at(&st.s, good->target),
                     st.values + st.offset[program_find_name(p, "H")] + 3 * 3 + 1);
    assert_null(program_scalar_at(&st.s, bad->target));
    assert_int_not_equal(st.s.fault, NONE);
    assert_null(program_scalar_at(&st.s, good->target));
    program_free(p);
}

/* Products and quotients of numbers whose squares would overflow. */
static void test_arithmetic(void **state)
{
    (void)state;
    const spry_scalar a = {3e200, 4e200}, b = {4e200, -3e200}, c = {2, 3}, d = {-1, 5};
    const spry_scalar q = scalar_divide(a, b), r = scalar_divide(b, a);
    const spry_scalar m = scalar_multiply(c, d);
    assert_true(fabs(q.re) <= 4 * DBL_EPSILON && fabs(q.im - 1) <= 4 * DBL_EPSILON);
    assert_true(fabs(r.re) <= 4 * DBL_EPSILON && fabs(r.im + 1) <= 4 * DBL_EPSILON);
    assert_true(m.re == -17 && m.im == 7);
    const spry_scalar tiny = scalar_divide((spry_scalar){1e-300, 0}, (spry_scalar){0, 1e-300});
    assert_true(tiny.re == 0 && tiny.im == -1);
    assert_true(isinf(scalar_divide(c, (spry_scalar){0, 0}).re));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_real),   CASE(test_complex), CASE(test_complex_power), CASE(test_faults),
        CASE(test_counts), CASE(test_place),   CASE(test_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
