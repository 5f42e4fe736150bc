/*
 * The scalar work of methods on devices against program_eval(): every word with every pair out of a
 * set of special numbers, statements with arrays, loops and branches, indices outside. One kernel a
 * type does it all; a work-item has one pair.
 *
 * Bits must be the same, but for functions of the mathematical library, whose errors OpenCL C
 * bounds in units of the last place (7.4 of its specification; CUDA's are smaller): hypot 4, pow
 * 16, exp 3, log 3, sin and cos 4, atan2 6. The host's are below 1.
 */
#include "support/devices.h"
#include "support/support.h"

#include "device/engine/cuda.h"
#include "program/emit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_CASES = 8192, MOST_STATEMENTS = 256, MOST_TURNS = 1000, COUNTER = 2, GROUP = 64 };

typedef enum slack { EXACT, HYPOT, ROOT, SIGN, POWER } slack;

/* Expressions of rho and tau; h[i] and H[i, j] are what they are after `statements`. The slack is
 * that of complex types; in real types POWER alone has any. */
static const struct {
    const char *text;
    slack slack;
} expressions[] = {
    {"rho + tau", EXACT},
    {"rho - tau", EXACT},
    {"-rho", EXACT},
    {"rho tau", EXACT},
    {"rho tau + 3 rho", EXACT}, /* not to be fused */
    {"rho / tau", EXACT},
    {"rho^2", EXACT},
    {"rho^-3", EXACT},
    {"rho^0", EXACT},
    {"rho^7 + tau", EXACT},
    {"rho^tau", POWER},
    {"rho^0.5", POWER},
    {"2^tau", POWER},
    {"rho < tau", EXACT},
    {"rho <= tau", EXACT},
    {"rho > tau", EXACT},
    {"rho >= tau", EXACT},
    {"rho == tau", EXACT},
    {"rho != tau", EXACT},
    {"rho and tau", EXACT},
    {"rho or tau", EXACT},
    {"not rho", EXACT},
    {"not (rho < tau) or tau and rho > 2", EXACT},
    {"sqrt(rho)", ROOT},
    {"|rho|", HYPOT},
    {"conj(rho)", EXACT},
    {"real(rho)", EXACT},
    {"imag(rho)", EXACT},
    {"sign(rho)", SIGN},
    {"max(rho, tau)", EXACT},
    {"min(rho, tau)", EXACT},
    {"mod(rho, tau)", EXACT},
    {"mod(tau, 3)", EXACT},
    {"where(rho, tau, 5)", EXACT},
    {"where(rho < tau, rho, 2 tau)", EXACT},
    {"positive(rho)", EXACT},
    {"positive(3 + tau / 1000)", EXACT},
    {"finite(rho tau)", EXACT},
    {"eps", EXACT},
    {"inf", EXACT},
    {"-inf", EXACT},
    {"inf - inf", EXACT},
    {"0.1 rho + 1e-320 + 1e300 - 12345678901234567890", EXACT},
    {"m + w + rho", EXACT},
    {"where(side == right, rho, tau)", EXACT},
    {"h[k] + h[k - 1]", EXACT},
    {"H[1, k] rho", EXACT},
    {"H[3, 2] + H[k, mod(k, 3)]", EXACT},
    {"k > 2 and h[k + 5] > 0", EXACT}, /* no faults: not looked at */
    {"k == 2 or h[k + 5] > 0", EXACT},
    {"where(k > 2, h[k + 5], 1)", EXACT},
    {"where(rho < tau, 1, h[k + 5])", EXACT}, /* a fault where the data says so */
    {"k + n", EXACT},
    /* faults */
    {"h[-1]", EXACT},
    {"h[4]", EXACT},
    {"h[0.5]", EXACT},
    {"H[0, 3]", EXACT},
    {"H[4, 0]", EXACT},
    {"H[4, 5]", EXACT},
    {"h[inf]", EXACT},
    {"h[n]", EXACT},
    {"h[k / 4]", EXACT},
    {"h[0] + h[n + 1]", EXACT},
    {"h[-9] + h[9]", EXACT},
    {"h[n + 9] + h[n + 1]", EXACT},
    {"H[n, mod(n, 0)] + 1", EXACT},
    {"h[mod(1, 0)]", EXACT},
    {"h[1e300]", EXACT},
};
enum { EXPRESSIONS = sizeof expressions / sizeof expressions[0] };

/* Whatever they leave in memory is compared, too. */
static const char statements[] =
    "for i = 0 .. 3: h[i] = rho + i tau; H[i, 0] = i; end\n"
    "for i = 3 down to 0: H[i, mod(i, 3)] = h[i] / (tau + 1)\n"
    "    if h[i] > 0: H[i, 0] = i; h[i] = 2 h[i]; else: h[i] = -h[i]; end; end\n"
    "n = 11; q = 0\n"
    "for i = 0 .. m: for j = i .. k: q = q + h[i] H[i, j]; q2 = i - j; end; q3 = q; end\n"
    "for i = 2 .. 1: q = 100; end\n"
    "for i = 1 down to 2: q = 100; end\n"
    "for i = 1 .. 5: h2[i] = i^2; q4 = i; end\n" /* a fault at i = 4 */
    "if rho > tau: q5 = 1; h[n] = 2; q5 = 3; else: q5 = 4; end\n"
    "if h[k + 9] > 0: q6 = 1; else: q6 = 2; end\n"
    "for i = 0 .. m / 2: q7 = 1; end\n" /* no whole number */
    "for i = 0 .. 3: for j = 0 .. 9: h2[j] = j; q8 = i; end; q9 = i; end\n"
    "for i = 0 .. 2000: q10 = i; end\n" /* too many turns */
    "for i = 1 .. 100: for j = 1 .. 100: q11 = i + j; end; end\n"
    "if rho: if tau: q12 = 1; else: q12 = 2; end; else: if tau: q12 = 3; end; end\n"
    "h[n] = rho\n"
    "h[k + 1] = h[n]\n"
    "H[k, k] = rho tau; H[n, 0] = 1; h[1] = H[2, 2]\n";

static const char frame[] = "method numbers \"a test\"\n"
                            "option m = 3 1..10 \"steps\"; option w = 0.5 0..2 \"weight\"\n"
                            "option side = right (left right) \"where M is\"\n"
                            "scalars H[m + 1, m], h[m + 1], h2[4], S[%d]\n"
                            "start:\n"
                            "    r = b - A x; rho = (r, r); tau = rho; k = 0; n = 0\n"
                            "loop:\n"
                            "    residual |r|\n"
                            "%s";

/* A program, its plan, and the statements that both sides run. */
typedef struct subject {
    plan *p;
    int statement[MOST_STATEMENTS]; /* of the program */
    int count;
    int rho, tau; /* where they are among the scalars */
    int results;  /* S */
} subject;

static void subject_open(spry_context *ctx, subject *t)
{
    static char text[1 << 16], lines[1 << 15];
    const plan_setup setup = {.use = {USE_ROWS}, .fuse = true, .square = true};
    size_t used = (size_t)snprintf(lines, sizeof lines, "%s", statements);
    program *g;
    for (int i = 0; i < EXPRESSIONS; i++)
        used += (size_t)snprintf(lines + used, sizeof lines - used, "S[%d] = %s\n", i,
                                 expressions[i].text);
    assert_true((size_t)snprintf(text, sizeof text, frame, EXPRESSIONS, lines) < sizeof text);
    assert_ok(ctx, program_parse(ctx, "numbers", text, strlen(text), &g));
    assert_ok(ctx, plan_make(g, &setup, &t->p));
    g = t->p->program;
    t->count = 0;
    for (int i = g->stmts[g->section[SECTION_LOOP]].next; i != NONE; i = g->stmts[i].next) {
        assert_true(t->count < MOST_STATEMENTS);
        t->statement[t->count++] = i;
    }
    t->rho = (int)t->p->offset[program_find_name(g, "rho")];
    t->tau = (int)t->p->offset[program_find_name(g, "tau")];
    t->results = (int)t->p->offset[program_find_name(g, "S")];
}

/* The kernel: all statements one after the other, with the fault of each. */
static char *kernel_text(spry_context *ctx, const subject *t, bool real)
{
    const program *g = t->p->program;
    base_text out = {.ctx = ctx};
    int counter[64];
    char *text;
    assert_true(g->name_count <= 64);
    for (int i = 0; i < g->name_count; i++)
        counter[i] = NONE;
    counter[program_find_name(g, "k")] = 0;
    emitter m = {
        .p = t->p, .real = real, .out = &out, .counter = counter, .most_turns = MOST_TURNS};
    base_text_put(&out, "%s\n#define SP_NUMBERS SP_GLOBAL\n", device_text("numbers"));
    base_text_put(&out,
                  "SP_KERNEL numbers(SP_GLOBAL number *all, SP_GLOBAL int *faults, "
                  "const int cases, const int c0)\n{\n"
                  "if (SP_GLOBAL_ID >= cases) return;\n"
                  "SP_NUMBERS number *num = all + SP_GLOBAL_ID * %" PRId64 ";\n"
                  "faults += SP_GLOBAL_ID * %d;\nint fault;\n",
                  t->p->scalar_count, t->count);
    for (int k = 0; k < t->count; k++) {
        const stmt *s = &g->stmts[t->statement[k]];
        const plan_op o = {.kind = s->kind == STMT_SET ? OP_SCALAR : OP_SCALARS,
                           .target = s->target,
                           .expr = s->value,
                           .stmt = t->statement[k]};
        base_text_put(&out, "fault = -1;\n");
        emit_scalar_op(&m, &o);
        base_text_put(&out, "faults[%d] = fault;\n", k);
    }
    base_text_put(&out, "}\n");
    assert_ok(ctx, base_text_take(&out, &text));
    return text;
}

/* --- the host ------------------------------------------------------------------------------------
 */

/* As src/program/host_run.c does it. */
static void host_run(scalars *s, int first, bool single, int *turns)
{
    const program *g = s->program;
    for (int i = first; i != NONE && s->fault == NONE; i = single ? NONE : g->stmts[i].next) {
        const stmt *x = &g->stmts[i];
        if (x->kind == STMT_SET) {
            const spry_scalar value = program_eval(s, x->value);
            spry_scalar *to = program_scalar_at(s, x->target);
            if (to)
                *to = value;
        } else if (x->kind == STMT_IF) {
            const bool holds = program_holds(s, x->value);
            host_run(s, holds ? x->body : x->other, false, turns);
        } else {
            const int64_t from = program_eval_count(s, x->from);
            const int64_t to = program_eval_count(s, x->to);
            for (int64_t k = from; s->fault == NONE && (x->down ? k >= to : k <= to);
                 k += x->down ? -1 : 1) {
                s->values[s->offset[x->name]] = (spry_scalar){(double)k, 0};
                host_run(s, x->body, false, turns);
                if (++*turns > MOST_TURNS && s->fault == NONE)
                    s->fault = EMIT_TURNS - x->place;
            }
        }
    }
}

static void host_case(const subject *t, spry_type type, spry_scalar *values, int *faults)
{
    const bool small = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    scalars s = {.program = t->p->program,
                 .offset = t->p->offset,
                 .extent = (const int64_t(*)[2])t->p->extent,
                 .values = values,
                 .real = !spry_type_is_complex(type),
                 .eps = small ? FLT_EPSILON : DBL_EPSILON};
    memcpy(values, t->p->options, (size_t)t->p->option_count * sizeof *values);
    for (int k = 0; k < t->count; k++) {
        int turns = 0;
        s.fault = NONE;
        host_run(&s, t->statement[k], true, &turns);
        faults[k] = s.fault;
    }
}

/* --- comparing -----------------------------------------------------------------------------------
 */

static bool same_bits(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* How far two sides may be apart, for a result of that size. */
static double bound(slack allowed, bool real, spry_scalar rho, spry_scalar tau, const char *text,
                    double size)
{
    const double unit = DBL_EPSILON * size + DBL_TRUE_MIN;
    if (allowed == HYPOT)
        return 5 * unit; /* 4 and the host's 1 */
    if (allowed == ROOT || allowed == SIGN)
        return 10 * unit; /* that of hypot, and two roundings on either side */
    if (real)
        return 17 * unit; /* 16 and the host's 1 */
    /* exp(w), w = b log a: hypot, log (or atan2) and a product of two terms make an error of 16
     * units of |b| |log a|, and of a little more where log is near 0; exp, cos and the product 16
     * of the result. */
    const spry_scalar a = text[0] == '2' ? (spry_scalar){2, 0} : rho;
    const spry_scalar b = strstr(text, "0.5") ? (spry_scalar){0.5, 0} : tau;
    const double w = hypot(b.re, b.im) * (fabs(log(hypot(a.re, a.im))) + 4);
    return 32 * (w + 1) * unit;
}

/* Whether a result of a function is near enough; NaN and infinity are the same on both sides,
 * unless the bound says nothing. */
static bool near(spry_scalar a, spry_scalar b, double error)
{
    if (same_bits(a.re, b.re) && same_bits(a.im, b.im))
        return true;
    return fabs(a.re - b.re) <= error && fabs(a.im - b.im) <= error;
}

typedef struct tally {
    int64_t exact, near, skipped, faults;
} tally;

static void compare(const subject *t, spry_type type, const spry_scalar *host,
                    const spry_scalar *found, const int *host_faults, const int *faults, tally *sum)
{
    const bool real = !spry_type_is_complex(type);
    const spry_scalar rho = host[t->rho], tau = host[t->tau];
    for (int k = 0; k < t->count; k++) {
        if (host_faults[k] != faults[k])
            fail_msg("statement %d, rho = %g %+gi, tau = %g %+gi: fault %d, not %d", k, rho.re,
                     rho.im, tau.re, tau.im, faults[k], host_faults[k]);
        sum->faults += faults[k] != NONE;
    }
    for (int64_t i = t->p->option_count; i < t->p->scalar_count; i++) {
        const int64_t at = i - t->results;
        const bool named = at >= 0 && at < EXPRESSIONS;
        slack allowed = named ? expressions[at].slack : EXACT;
        if (real && allowed != POWER)
            allowed = EXACT;
        if (same_bits(host[i].re, found[i].re) && same_bits(host[i].im, found[i].im)) {
            sum->exact++;
            continue;
        }
        const double size = fmax(fabs(host[i].re), fabs(host[i].im));
        const double error =
            allowed == EXACT ? 0 : bound(allowed, real, rho, tau, expressions[at].text, size);
        if (allowed == POWER && !real && !(error < 1e-3 * size)) {
            sum->skipped++;
            continue;
        }
        if (!near(host[i], found[i], error))
            fail_msg("%s, rho = %.17g %+.17gi, tau = %.17g %+.17gi: %.17g %+.17gi, not %.17g "
                     "%+.17gi within %g",
                     named ? expressions[at].text : "a scalar", rho.re, rho.im, tau.re, tau.im,
                     found[i].re, found[i].im, host[i].re, host[i].im, error);
        sum->near++;
    }
}

/* --- the cases -----------------------------------------------------------------------------------
 */

/* Numbers that pairs are made of. */
static int special(bool real, spry_scalar *list)
{
    static const double reals[] = {0,       -0.0,    1,     -1,     2,        -2,       3,
                                   0.5,     0.1,     -7.25, 1e-310, -1e-310,  1e-200,   3e-154,
                                   1e153,   1e200,   64,    -1e300, 65,       1.0 / 3,  5e-324,
                                   DBL_MAX, DBL_MIN, NAN,   1e9,    INFINITY, -INFINITY};
    static const double parts[] = {0, -0.0, 1, -2.5, 0.1, 1e-310, -1e200, INFINITY, NAN};
    const int count =
        real ? (int)(sizeof reals / sizeof reals[0]) : (int)(sizeof parts / sizeof parts[0]);
    if (real) {
        for (int i = 0; i < count; i++)
            list[i] = (spry_scalar){reals[i], 0};
        return count;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            list[i * count + j] = (spry_scalar){parts[i], parts[j]};
    return count * count;
}

/* What the device found for all cases, as spry_scalar. */
static void device_run(spry_device *d, spry_type type, const char *text, int cases, int steps,
                       int64_t count, spry_scalar *values, int *faults)
{
    spry_context *ctx = d->ctx;
    const int parts = spry_type_is_complex(type) ? 2 : 1, counter = COUNTER;
    double *numbers = calloc((size_t)(cases * count), sizeof *numbers * (size_t)parts);
    char options[64];
    device_memory *all, *noted;
    device_program *built;
    const int64_t bytes = cases * count * parts * (int64_t)sizeof *numbers;
    const int64_t fault_bytes = (int64_t)cases * steps * (int64_t)sizeof *faults;
    assert_non_null(numbers);
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_GROUP=%d", (int)type, GROUP);
    for (int64_t i = 0; i < cases * count; i++) {
        numbers[i * parts] = values[i].re;
        if (parts == 2)
            numbers[i * parts + 1] = values[i].im;
    }
    assert_ok(ctx, device_build(d, text, options, &built));
    assert_ok(ctx, device_alloc(d, bytes, &all));
    assert_ok(ctx, device_alloc(d, fault_bytes, &noted));
    assert_ok(ctx, device_put(all, 0, numbers, bytes));
    const device_arg args[] = {device_arg_memory(all), device_arg_memory(noted),
                               DEVICE_VALUE(cases), DEVICE_VALUE(counter)};
    assert_ok(ctx,
              device_launch(built, "numbers", NULL, (cases + GROUP - 1) / GROUP, GROUP, args, 4));
    assert_ok(ctx, device_get(all, 0, numbers, bytes));
    assert_ok(ctx, device_get(noted, 0, faults, fault_bytes));
    for (int64_t i = 0; i < cases * count; i++)
        values[i] = (spry_scalar){numbers[i * parts], parts == 2 ? numbers[i * parts + 1] : 0};
    device_free(all);
    device_free(noted);
    free(numbers);
}

/* The text must be CUDA C, too, also where there is no such device; where NVRTC is. */
static void compile_for_cuda(spry_context *ctx, spry_type type, const char *text)
{
    nvrtc_library nvrtc;
    base_text whole = {.ctx = ctx};
    char why[256], options[32], complaint[512] = "", *all;
    void *binary = NULL;
    size_t size;
    if (!nvrtc_load(&nvrtc, 0, why, sizeof why)) {
        print_message("not compiled for CUDA: %s\n", why);
        return;
    }
    snprintf(options, sizeof options, "-DSP_TYPE=%d", (int)type);
    base_text_put(&whole, "%s\n%s", device_text("dialect"), text);
    assert_ok(ctx, base_text_take(&whole, &all));
    if (nvrtc_compile(ctx, &nvrtc, 90, all, options, &binary, &size, complaint, sizeof complaint) !=
        SPRY_STATUS_OK)
        fail_msg("%s: %s", spry_message(ctx), complaint);
    base_free(ctx, binary);
    base_free(ctx, all);
}

static void run_type(spry_context *ctx, spry_device *d, spry_type type, tally *sum)
{
    const bool real = !spry_type_is_complex(type);
    static spry_scalar list[128];
    const int numbers = special(real, list), cases = numbers * numbers;
    subject t;
    subject_open(ctx, &t);
    const int64_t count = t.p->scalar_count;
    spry_scalar *host = calloc((size_t)(cases * count), sizeof *host);
    spry_scalar *found = calloc((size_t)(cases * count), sizeof *found);
    int *host_faults = calloc((size_t)cases * (size_t)t.count, sizeof *host_faults);
    int *faults = calloc((size_t)cases * (size_t)t.count, sizeof *faults);
    assert_true(host && found && host_faults && faults);
    for (int i = 0; i < cases; i++) {
        host[i * count + t.rho] = list[i % numbers];
        host[i * count + t.tau] = list[i / numbers];
        host[i * count + t.p->offset[program_find_name(t.p->program, "k")]].re = COUNTER;
    }
    memcpy(found, host, (size_t)(cases * count) * sizeof *host);
    char *text = kernel_text(ctx, &t, real);
    compile_for_cuda(ctx, type, text);
    device_run(d, type, text, cases, t.count, count, found, faults);
    for (int i = 0; i < cases; i++) {
        host_case(&t, type, &host[i * count], &host_faults[i * t.count]);
        compare(&t, type, &host[i * count], &found[i * count], &host_faults[i * t.count],
                &faults[i * t.count], sum);
    }
    base_free(ctx, text);
    free(faults);
    free(host_faults);
    free(found);
    free(host);
    plan_free(t.p);
}

static void numbers(spry_context *ctx, spry_device *d)
{
    for (int t = 0; t < 4; t++) {
        tally sum = {0};
        run_type(ctx, d, support_types[t], &sum);
        print_message("type %s: %lld numbers alike, %lld near, %lld not comparable; %lld faults\n",
                      spry_type_name(support_types[t]), (long long)sum.exact, (long long)sum.near,
                      (long long)sum.skipped, (long long)sum.faults);
        assert_true(sum.exact > 50 * sum.near && sum.exact > 100 * sum.skipped && sum.faults > 0);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(numbers)};
    return DEVICES_RUN(tests);
}
