/* Kernels of the caller's: arguments of all types, ranges of one to three dimensions, what is
 * refused, and what the compiler says. */
#include "support/devices.h"
#include "support/numeric.h"

#include "device/engine/cache.h"
#include "device/engine/engine.h"
#include "device/linalg/vector.h"

#include <stdlib.h>
#include <string.h>

/* The numbers of a vector of doubles, wherever it is. */
static double *fetch(const spry_vector *v)
{
    double *numbers = malloc((size_t)(v->n + 1) * sizeof *numbers);
    spry_vector *on_host = NULL;
    assert_non_null(numbers);
    assert_ok(v->ctx,
              spry_vector_new(v->ctx, SPRY_TYPE_D, v->n, numbers, SPRY_OWN_BORROW, &on_host));
    assert_ok(v->ctx, spry_vector_copy(v, on_host));
    spry_vector_free(on_host);
    return numbers;
}

static spry_kernel *make(spry_device *d, const char *text, const char *name, const char *options)
{
    spry_kernel *k = NULL;
    assert_ok(d->ctx, spry_kernel_new(d, text, name, options, &k));
    return k;
}

/* --- arguments ----------------------------------------------------------------------------------
 */

static const char all_types[] =
    "SP_KERNEL all_types(const int a, const offset b, const sp_u8 c, const sp_u16 d,\n"
    "                    const sp_u32 e, const sp_u64 f, const real g, const scalar h,\n"
    "                    const number i, const float j, const double k,\n"
    "                    SP_GLOBAL const scalar *SP_RESTRICT x, SP_GLOBAL double *SP_RESTRICT y,\n"
    "                    SP_GLOBAL const int *none)\n"
    "{\n"
    "    if (SP_GLOBAL_ID == 0) {\n"
    "        y[0] = a; y[1] = (double)b; y[2] = c; y[3] = d; y[4] = e; y[5] = (double)f;\n"
    "        y[6] = g; y[9] = j; y[10] = k; y[13] = none == 0;\n"
    "        const number s = sp_number(h), t = sp_number(x[1]);\n"
    "#if SP_COMPLEX\n"
    "        y[7] = s.x + 10 * s.y; y[8] = i.x + 10 * i.y; y[11] = t.x; y[12] = t.y;\n"
    "#else\n"
    "        y[7] = s; y[8] = i; y[11] = t; y[12] = 0;\n"
    "#endif\n"
    "    }\n"
    "}\n";

static void check_types(spry_device *d, spry_type type)
{
    static const double expected[] = {
        -7,    -1099511627776.0, 200, 65535, 4294967295.0, 9007199254740992.0, 0.5, 0, 0, 0.75,
        -0.125};
    spry_context *ctx = d->ctx;
    const bool is_complex = spry_type_is_complex(type);
    const spry_scalar value = {1.5, is_complex ? -2 : 0};
    char options[16];
    snprintf(options, sizeof options, "type=%s", spry_type_name(type));
    spry_kernel *k = make(d, all_types, "all_types", options);
    spry_vector *x = numeric_random(ctx, d, type, 2, 0),
                *y = numeric_random(ctx, d, SPRY_TYPE_D, 14, 0);
    assert_ok(ctx, spry_vector_fill(x, value));
    assert_int_equal(kernel_group(k, 0), 256);
    assert_int_equal(kernel_group(k, 1), 1);
    assert_ok(ctx, spry_kernel_set_int(k, "a", -7));
    assert_ok(ctx, spry_kernel_set_int(k, "b", -1099511627776));
    assert_ok(ctx, spry_kernel_set_int(k, "c", 200));
    assert_ok(ctx, spry_kernel_set_int(k, "d", 65535));
    assert_ok(ctx, spry_kernel_set_int(k, "e", 4294967295));
    assert_ok(ctx, spry_kernel_set_int(k, "f", 9007199254740992));
    assert_ok(ctx, spry_kernel_set_real(k, "g", 0.5));
    assert_ok(ctx, spry_kernel_set_scalar(k, "h", value));
    assert_ok(ctx, spry_kernel_set_scalar(k, "i", value));
    assert_ok(ctx, spry_kernel_set_real(k, "j", 0.75));
    assert_ok(ctx, spry_kernel_set_real(k, "k", -0.125));
    assert_ok(ctx, spry_kernel_set_input(k, "x", x));
    assert_ok(ctx, spry_kernel_set_vector(k, "y", y));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_kernel_launch(k, 1, (int64_t[]){1}));
    support_message_has(ctx, "none");
    assert_ok(ctx, spry_kernel_set_memory(k, "none", NULL));
    assert_ok(ctx, spry_kernel_launch(k, 1, (int64_t[]){1}));
    double *found = fetch(y);
    for (int i = 0; i < 11; i++)
        assert_true(found[i] == (i == 7 || i == 8 ? value.re + 10 * value.im : expected[i]));
    assert_true(found[11] == value.re && found[12] == value.im && found[13] == 1);
    free(found);
    spry_kernel_free(k);
    spry_vector_free(x);
    spry_vector_free(y);
}

static void types(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    for (int t = 0; t < 4; t++)
        check_types(d, support_types[t]);
}

/* Each argument is what the text says, or is refused. */
static void mistakes(spry_context *ctx, spry_device *d)
{
    spry_kernel *k = make(d, all_types, "all_types", "type=s");
    spry_vector *s = numeric_random(ctx, d, SPRY_TYPE_S, 2, 0),
                *z = numeric_random(ctx, d, SPRY_TYPE_Z, 2, 0),
                *on_host = numeric_random(ctx, NULL, SPRY_TYPE_S, 2, 0);
    const int64_t side = 1;
#define REFUSED(call, text)                              \
    do {                                                 \
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, call); \
        support_message_has(ctx, text);                  \
    } while (0)
    REFUSED(spry_kernel_set_int(k, "aa", 1), "argument of kernel all_types");
    REFUSED(spry_kernel_set_int(k, NULL, 1), "argument of kernel all_types");
    REFUSED(spry_kernel_set_int(k, "a", (int64_t)1 << 31), "does not fit argument a, which is int");
    REFUSED(spry_kernel_set_int(k, "a", -((int64_t)1 << 31) - 1), "does not fit");
    REFUSED(spry_kernel_set_int(k, "c", 256), "sp_u8");
    REFUSED(spry_kernel_set_int(k, "c", -1), "sp_u8");
    REFUSED(spry_kernel_set_int(k, "f", -1), "sp_u64");
    REFUSED(spry_kernel_set_int(k, "g", 1), "argument g is real, not a whole number");
    REFUSED(spry_kernel_set_int(k, "x", 1), "const scalar *");
    REFUSED(spry_kernel_set_real(k, "a", 1), "argument a is int, not a number");
    REFUSED(spry_kernel_set_scalar(k, "h", (spry_scalar){1, 1}), "complex");
    REFUSED(spry_kernel_set_input(k, "x", z), "a vector of type z");
    REFUSED(spry_kernel_set_input(k, "x", on_host), "vector x is on cpu");
    REFUSED(spry_kernel_set_input(k, "x", NULL), "NULL");
    REFUSED(spry_kernel_set_input(k, "none", s), "const int *");
    REFUSED(spry_kernel_set_vector(k, "y", s), "a vector of type s");
    REFUSED(spry_kernel_set_vector(k, "a", s), "argument a is int");
    REFUSED(spry_kernel_set_memory(k, "a", NULL), "argument a is int, not memory");
    REFUSED(spry_kernel_launch(k, 1, &side), "argument a (int) was not set");
    REFUSED(spry_kernel_launch(k, 0, &side), "0 dimensions");
    REFUSED(spry_kernel_launch(k, 2, &side), "group=64x4x1");
    REFUSED(spry_kernel_launch(k, 1, NULL), "dimensions");
    REFUSED(spry_kernel_launch(k, 1, (int64_t[]){-1}), "-1 work-items");
    assert_ok(ctx, spry_kernel_set_vector(k, "x", s)); /* what may be written may be read */
    spry_kernel *other = NULL;
    REFUSED(spry_kernel_new(d, all_types, "all_typ", NULL, &other), "all_types");
    REFUSED(spry_kernel_new(d, all_types, "all types", NULL, &other), "name");
    REFUSED(spry_kernel_new(d, all_types, "all_types", "type=q", &other), "type");
    REFUSED(spry_kernel_new(d, all_types, "all_types", "group=0", &other), "group=0");
    REFUSED(spry_kernel_new(d, all_types, "all_types", "group=64x", &other), "group=64x");
    REFUSED(spry_kernel_new(d, all_types, "all_types", "group=4x4x4x4", &other), "group=4x4x4x4");
    REFUSED(spry_kernel_new(d, all_types, "all_types", "group=100000", &other), "work-items on");
    REFUSED(spry_kernel_new(d, all_types, "all_types", "define=3=4", &other), "NAME=VALUE");
    REFUSED(spry_kernel_new(d, NULL, "all_types", NULL, &other), "text");
#undef REFUSED
    assert_null(other);
    assert_int_equal(spry_kernel_new(NULL, all_types, "all_types", NULL, &other),
                     SPRY_STATUS_BAD_USAGE);
    assert_int_equal(spry_kernel_launch(NULL, 1, &side), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(spry_kernel_set_int(NULL, "a", 1), SPRY_STATUS_BAD_USAGE);
    spry_kernel_free(NULL);
    spry_kernel_free(k);
    spry_vector_free(s);
    spry_vector_free(z);
    spry_vector_free(on_host);
}

/* --- ranges -------------------------------------------------------------------------------------
 */

/* Counts how often each point is visited, notes the number of each work-item, and adds up the
 * points of a group. */
static const char visit[] =
    "SP_KERNEL visit(const int nx, const int ny, const int nz, SP_GLOBAL double *count,\n"
    "                SP_GLOBAL double *numbers, SP_GLOBAL double *sums)\n"
    "{\n"
    "    SP_SUM_ROOM(room);\n"
    "    const offset i = SP_GLOBAL_ID_0, j = DIMENSIONS > 1 ? SP_GLOBAL_ID_1 : 0,\n"
    "                 k = DIMENSIONS > 2 ? SP_GLOBAL_ID_2 : 0;\n"
    "    const bool inside = i < nx && j < ny && k < nz;\n"
    "    if (inside)\n"
    "        count[(k * ny + j) * nx + i] += 1;\n"
    "    numbers[SP_GLOBAL_ID] += 1;\n"
    "    const number sum = sp_group_sum(inside ? 1.0 : 0.0, room);\n"
    "    if (SP_LOCAL_ID == 0)\n"
    "        sums[SP_GROUP_ID] = sum;\n"
    "}\n";

static void check_all(const spry_vector *v, int64_t n, double sum, bool ones)
{
    double *found = fetch(v), all = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_true(!ones || found[i] == 1);
        all += found[i];
    }
    assert_true(all == sum);
    free(found);
}

static void check_range(spry_device *d, int dimensions, const char *group, const int64_t sides[3])
{
    spry_context *ctx = d->ctx;
    char options[80];
    int64_t items = 1, groups = 1;
    snprintf(options, sizeof options, "group=%s define=DIMENSIONS=%d", group, dimensions);
    spry_kernel *k = make(d, visit, "visit", options);
    for (int i = 0; i < 3; i++) {
        const int64_t side = kernel_group(k, i), count = (sides[i] + side - 1) / side;
        items *= count * side;
        groups *= count;
    }
    const int64_t points = sides[0] * sides[1] * sides[2];
    spry_vector *count = numeric_random(ctx, d, SPRY_TYPE_D, points, 0),
                *numbers = numeric_random(ctx, d, SPRY_TYPE_D, items, 0),
                *sums = numeric_random(ctx, d, SPRY_TYPE_D, groups, 0);
    assert_ok(ctx, spry_kernel_set_int(k, "nx", sides[0]));
    assert_ok(ctx, spry_kernel_set_int(k, "ny", sides[1]));
    assert_ok(ctx, spry_kernel_set_int(k, "nz", sides[2]));
    assert_ok(ctx, spry_kernel_set_vector(k, "count", count));
    assert_ok(ctx, spry_kernel_set_vector(k, "numbers", numbers));
    assert_ok(ctx, spry_kernel_set_memory(k, "sums", spry_vector_handle(sums)));
    assert_ok(ctx, spry_kernel_launch(k, dimensions, sides));
    check_all(count, points, (double)points, true);
    check_all(numbers, items, (double)items, true);
    check_all(sums, groups, (double)points, false);
    assert_ok(ctx, spry_kernel_launch(k, dimensions, (int64_t[]){sides[0], 0, 0}));
    spry_kernel_free(k);
    spry_vector_free(count);
    spry_vector_free(numbers);
    spry_vector_free(sums);
}

static void ranges(spry_context *ctx, spry_device *d)
{
    (void)ctx;
    check_range(d, 1, "256", (int64_t[]){1000, 1, 1});
    check_range(d, 2, "32x4", (int64_t[]){100, 7, 1});
    check_range(d, 3, "16x2x4", (int64_t[]){33, 5, 9});
    check_range(d, 3, "auto", (int64_t[]){70, 6, 3}); /* the text has SP_GLOBAL_ID_2 */
}

/* --- compiling ----------------------------------------------------------------------------------
 */

static void complaints(spry_context *ctx, spry_device *d)
{
    static const char wrong[] = "SP_KERNEL wrong(const int n)\n"
                                "{\n"
                                "    const int m = n + nowhere;\n"
                                "}\n";
    spry_kernel *k = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_kernel_new(d, wrong, "wrong", NULL, &k));
    assert_null(k);
    support_message_has(ctx, "nowhere");
    support_message_has(ctx, d->facts.has_pointers ? "wrong(3)" : "wrong:3");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_kernel_new(d, wrong, "wrong", "define=[A=1 B=2,C]", &k));
    support_message_has(ctx, d->facts.has_pointers ? "wrong(3)" : "wrong:3");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_kernel_new(d, "SP_KERNEL it(long n) {}", "it", NULL, &k));
    spry_kernel_free(make(d, wrong, "wrong", "define=nowhere=1")); /* the device goes on */
    device_fail_next(d, WORK_COMPILE, 1);
    assert_status(ctx, SPRY_STATUS_DEVICE,
                  spry_kernel_new(d, wrong, "wrong", "define=nowhere=2", &k));
    assert_null(k);
}

static const char twice[] = "SP_KERNEL first(SP_GLOBAL scalar *x) { x[0] = 1 + EXTRA; }\n"
                            "SP_KERNEL second(SP_GLOBAL scalar *x) { x[0] *= 2; }\n";

static spry_status use(spry_context *ctx, void *data)
{
    spry_device *d = data;
    spry_kernel *k = NULL;
    (void)ctx;
    spry_status status = spry_kernel_new(d, twice, "second", "define=EXTRA=2 type=s", &k);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_memory(k, "x", d); /* never launched: any address will do */
    spry_kernel_free(k);
    return status;
}

/* One text is compiled once, kernels of it have arguments of their own, and any allocation may
 * fail.
 */
static void sharing(spry_context *ctx, spry_device *d)
{
    spry_vector *x = numeric_random(ctx, d, SPRY_TYPE_D, 1, 0);
    spry_kernel *first = make(d, twice, "first", "define=EXTRA=2");
    const int64_t before = d->cache->compiled + d->cache->loaded, one = 1;
    spry_kernel *again = make(d, twice, "first", "define=EXTRA=2");
    assert_int_equal(d->cache->compiled + d->cache->loaded, before);
    assert_ok(ctx, spry_kernel_set_vector(first, "x", x));
    assert_ok(ctx, spry_kernel_launch(first, 1, &one));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_kernel_launch(again, 1, &one));
    device_fail_next(d, WORK_LAUNCH, 1);
    assert_status(ctx, SPRY_STATUS_DEVICE, spry_kernel_launch(first, 1, &one));
    check_all(x, 1, 3, false);
    spry_kernel_free(first);
    spry_kernel_free(again);
    spry_vector_free(x);
    assert_ok(ctx, use(ctx, d)); /* its program stays with the device */
    support_torture(ctx, use, d);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(types), DEVICES_TEST(mistakes),
                                         DEVICES_TEST(ranges), DEVICES_TEST(complaints),
                                         DEVICES_TEST(sharing)};
    return DEVICES_RUN(tests);
}
