/*
 * The product A v = (alpha J - beta I) v by the stored factors of a period's steps, on the host and
 * on a device, against J made of the same steps by dense elimination in long double, and against
 * differences of whole periods.
 */
#include "support/support.h"

#include "circuit/circuit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

static const char *const netlist =
    "A converter with all kinds of steps: corners, a switch, a diode, a transistor\n"
    "Vin in 0 12\n"
    "Vg g 0 PULSE(0 5 1u 50n 50n 4u 10u)\n"
    "S1 in sw g 0 gate\n"
    "D1 0 sw fast\n"
    "L1 sw out 47u\n"
    "L2 f 0 10u\n"
    "K1 L1 L2 0.3\n"
    "R2 f 0 100\n"
    "C1 out 0 22u\n"
    "R1 out b 5\n"
    "Q1 out b 0 small\n"
    ".model gate sw(vt=2.5 vh=0.1 ron=0.05 roff=1meg)\n"
    ".model fast d(is=1e-9 n=1.2 rs=0.02 cjo=100p tt=5n)\n"
    ".model small npn(is=1e-15 bf=100 cje=10p cjc=5p tf=1n)\n"
    ".pss period=10u steps=40\n"
    ".end\n";

typedef long double dense[MOST][MOST];

/* A = A^-1 B, by elimination with pivots. */
static void divide(int n, dense a, dense b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k; i < n; i++)
            pivot = fabsl(a[i][k]) > fabsl(a[pivot][k]) ? i : pivot;
        assert_true(a[pivot][k] != 0);
        for (int j = 0; j < n; j++) {
            const long double x = a[k][j], y = b[k][j];
            a[k][j] = a[pivot][j];
            b[k][j] = b[pivot][j];
            a[pivot][j] = x;
            b[pivot][j] = y;
        }
        for (int i = 0; i < n; i++) {
            const long double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (int j = 0; j < n; j++) {
                a[i][j] -= factor * a[k][j];
                b[i][j] -= factor * b[k][j];
            }
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] /= a[i][i];
}

/* to += factor values M */
static void add_product(const equations *s, long double factor, const double *values, dense m,
                        dense to)
{
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            for (int64_t j = 0; j < s->rows; j++)
                to[i][j] += factor * values[k] * m[s->columns[k]][j];
}

/* J of the steps that a period has kept. */
static void sensitivity(const period *p, dense last)
{
    const equations *s = &p->r->s;
    const double *C = p->C0.values, *C_before = NULL;
    static dense unit, before, right, matrix;
    memset(unit, 0, sizeof unit);
    for (int i = 0; i < MOST; i++)
        unit[i][i] = 1;
    memcpy(last, unit, sizeof unit);
    for (int64_t i = 0; i < p->count; i++) {
        const kept_step *k = &p->steps[i];
        memset(right, 0, sizeof right);
        memset(matrix, 0, sizeof matrix);
        add_product(s, (long double)k->a1 / k->h, C, last, right);
        if (k->a2 != 0)
            add_product(s, (long double)k->a2 / k->h, C_before, before, right);
        add_product(s, 1, k->J.values, unit, matrix);
        divide((int)s->rows, matrix, right);
        memcpy(before, last, sizeof before);
        memcpy(last, right, sizeof right);
        C_before = C;
        C = k->C.values;
    }
}

typedef struct fixture {
    circuit c;
    run r;
    circuit_options o;
    period p;
} fixture;

static void open_fixture(spry_context *ctx, fixture *f, const char *device)
{
    char path[64];
    snprintf(path, sizeof path, "circuit-test-%d.cir", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(netlist, file) >= 0 && fclose(file) == 0);
    memset(f, 0, sizeof *f);
    strcpy(f->o.method, "direct");
    strcpy(f->o.device, device);
    circuit_read(&f->c, path);
    unlink(path);
    f->r = (run){.c = &f->c, .o = &f->o};
    assert_true(equations_make(ctx, &f->o, &f->c, &f->r.s));
    assert_true(f->r.s.rows <= MOST);
    f->c.tol.gear = true;
    f->c.tol.relative = 1e-10; /* ends of periods are compared by differences */
    f->c.tol.voltage = f->c.tol.current = 1e-13;
    assert_true(period_make(&f->p, &f->r, 10e-6, 40));
}

static void close_fixture(fixture *f)
{
    period_free(&f->p);
    equations_free(&f->r.s);
    circuit_free(&f->c);
}

/* y = A v, on the host or the device. */
static void multiply(spry_context *ctx, fixture *f, double *v, double *y)
{
    spry_vector *vectors[2];
    assert_true(equations_vectors(&f->r.s, v - 1, y - 1, vectors));
    assert_ok(ctx, spry_operator_apply(f->p.op, vectors[0], vectors[1]));
    spry_vector_free(vectors[0]);
    spry_vector_free(vectors[1]);
}

/* Each of some 50 steps rounds A's product by its condition times 1e-16: 1e-10 is what the
 * application states. */
static void check_product(spry_context *ctx, const char *device)
{
    static dense J;
    fixture f;
    double x[MOST + 1], end[MOST + 1], v[MOST], y[MOST];
    uint64_t seed = 43;
    open_fixture(ctx, &f, device);
    const int64_t n = f.r.s.rows;
    assert_true(state_initial(&f.r, false, x));
    for (int k = 0; k < 5; k++)
        assert_true(period_run(&f.p, 10e-6 * k, x));
    memcpy(end, x, sizeof x);
    f.p.keeps = true;
    assert_true(period_run(&f.p, 50e-6, end));
    assert_true(f.p.count >= 40);
    int64_t second = 0;
    for (int64_t k = 0; k < f.p.count; k++)
        second += f.p.steps[k].a2 != 0;
    assert_true(second > 30); /* recurrences of Gear's method, not of backward Euler's alone */
    sensitivity(&f.p, J);
    f.p.alpha = 99;
    f.p.beta = 100;
    double size = 0;
    for (int trial = 0; trial < 10; trial++) {
        for (int64_t i = 0; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            v[i] = (double)(seed >> 11) * 0x1p-53 - 0.5;
        }
        multiply(ctx, &f, v, y);
        double error = 0;
        for (int64_t i = 0; i < n; i++) {
            long double sum = -f.p.beta * (long double)v[i];
            for (int64_t j = 0; j < n; j++)
                sum += f.p.alpha * J[i][j] * v[j];
            error = fmax(error, (double)fabsl(sum - y[i]));
            size = fmax(size, (double)fabsl(sum));
        }
        assert_true(error <= 1e-10 * size);
    }
    /* GMRES ends at 1e-7 of the right-hand side, here the last product. */
    double right[MOST + 1] = {0}, change[MOST + 1], norm = 0, lack = 0;
    memcpy(right + 1, y, (size_t)n * sizeof *y);
    assert_true(period_solve(&f.p, right, change) && f.r.krylov > 0);
    multiply(ctx, &f, change + 1, y);
    for (int64_t i = 0; i < n; i++) {
        norm = hypot(norm, right[i + 1]);
        lack = hypot(lack, right[i + 1] - y[i]);
    }
    assert_true(lack <= 1e-6 * norm);
    close_fixture(&f);
}

static void test_product(void **given)
{
    check_product(*given, "cpu");
}

/* The factors are ilutp's, whose pivots may be a tenth of the largest: the bound is the same. */
static void test_device(void **given)
{
    spry_context *ctx = *given;
    spry_device *device;
    if (spry_device_open(ctx, "opencl", &device) != SPRY_STATUS_OK)
        skip();
    check_product(ctx, "opencl");
    spry_device_close_all(ctx);
}

/* Central differences of step 1e-4 are off by 1e-8 of third derivatives, and by Newton's 1e-10
 * divided by the step. */
static void test_differences(void **given)
{
    spry_context *ctx = *given;
    fixture f;
    double x[MOST + 1], end[2][MOST + 1], v[MOST] = {0}, y[MOST];
    open_fixture(ctx, &f, "cpu");
    bool found;
    const int unknowns[2] = {circuit_unknown(&f.c, "out", &found),
                             circuit_unknown(&f.c, "#l1", &found)};
    assert_true(state_initial(&f.r, false, x));
    for (int k = 0; k < 5; k++)
        assert_true(period_run(&f.p, 10e-6 * k, x));
    for (int k = 0; k < 2; k++) {
        const int at = unknowns[k];
        const double step = 1e-4;
        for (int way = 0; way < 2; way++) {
            memcpy(end[way], x, sizeof x);
            end[way][at] += way == 0 ? -step : step;
            assert_true(period_run(&f.p, 50e-6, end[way]));
        }
        double middle[MOST + 1];
        memcpy(middle, x, sizeof x);
        f.p.keeps = true;
        assert_true(period_run(&f.p, 50e-6, middle));
        f.p.keeps = false;
        f.p.alpha = 1;
        f.p.beta = 0;
        v[at - 1] = 1;
        multiply(ctx, &f, v, y);
        v[at - 1] = 0;
        for (int j = 0; j < 2; j++) {
            const int row = unknowns[j];
            const double slope = (end[1][row] - end[0][row]) / (2 * step);
            assert_true(fabs(slope - y[row - 1]) <= 1e-4 * fmax(1, fabs(slope)));
        }
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_product, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_device, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_differences, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
