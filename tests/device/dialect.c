/* Every word of the dialect does what it says, bit by bit the same as on the host. */
#include "support/devices.h"

#include "formats/shared/reduced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 128, GROUPS = 3, COUNT = GROUP * GROUPS, WIDTHS = 6, CALLS = 8 };

/* Results are written as numbers: doubles, or pairs of them. */
static const char *const text =
    "SP_KERNEL lanes(SP_GLOBAL const scalar *a, SP_GLOBAL scalar *out)\n"
    "{\n"
    "    SP_LANE_ROOM(room);\n"
    "    const offset i = SP_GLOBAL_ID, n = (offset)SP_GROUPS * SP_GROUP;\n"
    "    out[i] = sp_lanes_sum(a[i], 1, SP_LANES_PASS(room));\n"
    "    out[i + n] = sp_lanes_sum(a[i], 2, SP_LANES_PASS(room));\n"
    "    out[i + 2 * n] = sp_lanes_sum(a[i], 4, SP_LANES_PASS(room));\n"
    "    out[i + 3 * n] = sp_lanes_sum(a[i], 8, SP_LANES_PASS(room));\n"
    "    out[i + 4 * n] = sp_lanes_sum(a[i], 16, SP_LANES_PASS(room));\n"
    "    out[i + 5 * n] = sp_lanes_sum(a[i], 32, SP_LANES_PASS(room));\n"
    "}\n"
    "SP_KERNEL sums(SP_GLOBAL const scalar *a, SP_GLOBAL number *out)\n"
    "{\n"
    "    SP_SUM_ROOM(room);\n"
    "    const number once = sp_group_sum(sp_number(sp_once(a + SP_GLOBAL_ID)), room);\n"
    "    const number twice = sp_group_sum(sp_number_add(once, once), room);\n"
    "    if (SP_LOCAL_ID == SP_GROUP - 1) {\n" /* all of them have it */
    "        out[2 * SP_GROUP_ID] = once;\n"
    "        out[2 * SP_GROUP_ID + 1] = twice;\n"
    "    }\n"
    "}\n"
    "SP_KERNEL arithmetic(SP_GLOBAL const scalar *a, SP_GLOBAL number *out)\n"
    "{\n"
    "    const offset i = SP_GLOBAL_ID, n = (offset)SP_GROUPS * SP_GROUP;\n"
    "    const scalar x = sp_often(a + i), y = a[(i + 1) % n], z = a[(i + 2) % n];\n"
    "    out[i] = sp_number(sp_add(x, y));\n"
    "    out[i + n] = sp_number(sp_sub(x, y));\n"
    "    out[i + 2 * n] = sp_number(sp_fma(x, y, z));\n"
    "    out[i + 3 * n] = sp_number(sp_mul(sp_conj(x), y));\n"
    "    out[i + 4 * n] = sp_number(sp_scale((real)1.25, x));\n"
    "    out[i + 5 * n] = sp_number_fma(sp_number(x), sp_number(y), sp_number(z));\n"
    "    out[i + 6 * n] = SP_NUMBER_CONJ(sp_number(sp_scalar(sp_number(x))));\n"
    "    out[i + 7 * n] = sp_number_add(SP_NUMBER_ZERO, sp_number(sp_add(SP_ZERO, z)));\n"
    "}\n"
    "SP_KERNEL widen(const offset n, SP_GLOBAL const stored *values, SP_GLOBAL scalar *out)\n"
    "{\n"
    "    for (offset i = SP_GLOBAL_ID; i < n; i += (offset)SP_GROUPS * SP_GROUP)\n"
    "        out[i] = sp_value(values, i);\n"
    "}\n"
    "SP_KERNEL tickets(SP_GLOBAL int *next, SP_GLOBAL int *seen)\n"
    "{\n"
    "    seen[SP_GLOBAL_ID] = SP_ATOMIC_NEXT(next);\n"
    "    SP_FENCE();\n"
    "}\n"
    "SP_KERNEL words(SP_GLOBAL const sp_u64 *a, SP_GLOBAL sp_u64 *out)\n"
    "{\n"
    "    SP_GLOBAL sp_u32 *low = (SP_GLOBAL sp_u32 *)(out + SP_GROUPS * SP_GROUP);\n"
    "    const sp_u64 seen = sp_peek64(a + SP_GLOBAL_ID);\n"
    "    const sp_u32 part = sp_peek32((SP_GLOBAL const sp_u32 *)a + SP_GLOBAL_ID);\n"
    "    sp_store64(out + SP_GLOBAL_ID, sp_double_bits(sp_bits_double(seen)));\n"
    "    sp_store32(low + SP_GLOBAL_ID, sp_float_bits(sp_bits_float(part)));\n"
    "}\n"
    "SP_KERNEL sizes(SP_GLOBAL offset *out)\n"
    "{\n"
    "    if (SP_GLOBAL_ID > 0)\n"
    "        return;\n"
    "    out[0] = (offset)sizeof(offset);\n"
    "    out[1] = (offset)sizeof(sp_u64);\n"
    "    out[2] = (offset)sizeof(sp_u32);\n"
    "    out[3] = (offset)sizeof(sp_u16);\n"
    "    out[4] = (offset)sizeof(sp_u8);\n"
    "    out[5] = (offset)sizeof(scalar);\n"
    "    out[6] = (offset)sizeof(number);\n"
    "    out[7] = (offset)-1 < 0 && (sp_u64)-1 > 0 && (sp_u32)-1 > 0 && (sp_u16)-1 > 0;\n"
    "    out[8] = SP_DOUBLE_MAX > 1e308;\n"
    "}\n";

typedef struct pair {
    double re, im;
} pair;

static device_program *program(spry_context *ctx, spry_device *d, spry_type type, int kind)
{
    char options[96];
    device_program *p = NULL;
    snprintf(options, sizeof options, "-DSP_TYPE=%d -DSP_KIND=%d -DSP_GROUP=%d", (int)type, kind,
             (int)GROUP);
    assert_ok(ctx, device_build(d, text, options, &p));
    return p;
}

/* Runs a kernel on `in` and reads `out`. */
static void run(spry_context *ctx, spry_device *d, device_program *p, const char *name,
                const void *in, int64_t in_bytes, void *out, int64_t out_bytes)
{
    device_memory *from = NULL, *to = NULL;
    assert_ok(ctx, device_alloc(d, in_bytes, &from));
    assert_ok(ctx, device_alloc(d, out_bytes, &to));
    assert_ok(ctx, device_put(from, 0, in, in_bytes));
    const device_arg args[] = {device_arg_memory(from), device_arg_memory(to)};
    assert_ok(ctx, device_launch(p, name, NULL, GROUPS, GROUP, args, 2));
    assert_ok(ctx, device_get(to, 0, out, out_bytes));
    device_free(from);
    device_free(to);
}

/* Numbers of all sizes that floats hold, so that the order of additions shows. */
static void fill(spry_type type, pair *numbers, void *array)
{
    const bool complex = spry_type_is_complex(type);
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    for (int i = 0; i < COUNT; i++) {
        for (int part = 0; part < 2; part++) {
            const uint64_t index = 2 * (uint64_t)i + (uint64_t)part;
            const float value =
                (float)((base_uniform(7, index) - 0.5) * exp2(20 * base_uniform(8, index) - 10));
            *(part ? &numbers[i].im : &numbers[i].re) = part && !complex ? 0 : (double)value;
            if (part && !complex)
                continue;
            const int place = complex ? 2 * i + part : i;
            if (single)
                ((float *)array)[place] = value;
            else
                ((double *)array)[place] = (double)value;
        }
    }
}

static pair element(spry_type type, const void *array, int64_t i)
{
    const float *f = array;
    const double *r = array;
    switch (type) {
    case SPRY_TYPE_S:
        return (pair){(double)f[i], 0};
    case SPRY_TYPE_D:
        return (pair){r[i], 0};
    case SPRY_TYPE_C:
        return (pair){(double)f[2 * i], (double)f[2 * i + 1]};
    default:
        return (pair){r[2 * i], r[2 * i + 1]};
    }
}

static pair number_at(spry_type type, const double *array, int64_t i)
{
    return element(spry_type_is_complex(type) ? SPRY_TYPE_Z : SPRY_TYPE_D, array, i);
}

static bool is_single(spry_type type)
{
    return type == SPRY_TYPE_S || type == SPRY_TYPE_C;
}

/* A number rounded as the type's arithmetic does. */
static double rounded(spry_type type, double a)
{
    return is_single(type) ? (double)(float)a : a;
}

static pair add(spry_type type, pair a, pair b)
{
    return (pair){rounded(type, a.re + b.re), rounded(type, a.im + b.im)};
}

static double fma_of(spry_type type, double a, double b, double c)
{
    return is_single(type) ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static pair fma_pair(spry_type type, pair a, pair b, pair c)
{
    if (!spry_type_is_complex(type))
        return (pair){fma_of(type, a.re, b.re, c.re), 0};
    return (pair){fma_of(type, a.re, b.re, fma_of(type, -a.im, b.im, c.re)),
                  fma_of(type, a.re, b.im, fma_of(type, a.im, b.re, c.im))};
}

static void assert_pair(pair found, pair expected)
{
    if (found.re != expected.re || found.im != expected.im)
        print_error("found %a %a, expected %a %a\n", found.re, found.im, expected.re, expected.im);
    assert_true(found.re == expected.re && found.im == expected.im);
}

static void lane_sums(spry_context *ctx, spry_device *d)
{
    pair numbers[COUNT], now[COUNT];
    double in[2 * COUNT], out[2 * COUNT * WIDTHS];
    for (spry_type type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        const int64_t size = (int64_t)spry_type_size(type);
        fill(type, numbers, in);
        run(ctx, d, program(ctx, d, type, 0), "lanes", in, COUNT * size, out,
            COUNT * WIDTHS * size);
        for (int w = 0, lanes = 1; w < WIDTHS; w++, lanes *= 2) {
            memcpy(now, numbers, sizeof now);
            for (int mask = lanes / 2; mask > 0; mask /= 2) {
                pair before[COUNT];
                memcpy(before, now, sizeof before);
                for (int i = 0; i < COUNT; i++)
                    now[i] = add(type, before[i], before[i ^ mask]);
            }
            for (int i = 0; i < COUNT; i++)
                assert_pair(element(type, out, w * COUNT + i), now[i]);
        }
    }
}

static void group_sums(spry_context *ctx, spry_device *d)
{
    pair numbers[COUNT];
    double in[2 * COUNT], out[4 * GROUPS];
    for (spry_type type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        fill(type, numbers, in);
        run(ctx, d, program(ctx, d, type, 0), "sums", in, COUNT * (int64_t)spry_type_size(type),
            out, 2 * GROUPS * (spry_type_is_complex(type) ? 16 : 8));
        for (int g = 0; g < GROUPS; g++) {
            pair *a = numbers + (ptrdiff_t)g * GROUP;
            for (int width = GROUP / 2; width > 0; width /= 2) {
                for (int i = 0; i < width; i++)
                    a[i] = add(SPRY_TYPE_Z, a[i], a[i + width]);
            }
            assert_pair(number_at(type, out, 2 * g), a[0]);
            const pair all = {2.0 * GROUP * a[0].re, 2.0 * GROUP * a[0].im}; /* exact */
            assert_pair(number_at(type, out, 2 * g + 1), all);
        }
    }
}

static void arithmetic(spry_context *ctx, spry_device *d)
{
    pair numbers[COUNT];
    double in[2 * COUNT], out[2 * COUNT * CALLS];
    for (spry_type type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        const bool complex = spry_type_is_complex(type);
        const spry_type wide = complex ? SPRY_TYPE_Z : SPRY_TYPE_D;
        fill(type, numbers, in);
        run(ctx, d, program(ctx, d, type, 0), "arithmetic", in,
            COUNT * (int64_t)spry_type_size(type), out,
            (int64_t)COUNT * CALLS * (complex ? 16 : 8));
        for (int i = 0; i < COUNT; i++) {
            const pair x = numbers[i], y = numbers[(i + 1) % COUNT], z = numbers[(i + 2) % COUNT];
            const pair zero = {0, 0}, other = {x.re, -x.im};
            const pair expected[CALLS] = {
                add(type, x, y),
                add(type, x, (pair){-y.re, -y.im}),
                fma_pair(type, x, y, z),
                fma_pair(type, other, y, zero),
                {rounded(type, 1.25 * x.re), rounded(type, 1.25 * x.im)},
                fma_pair(wide, x, y, z),
                other,
                z,
            };
            for (int c = 0; c < CALLS; c++)
                assert_pair(number_at(type, out, c * COUNT + i), expected[c]);
        }
    }
}

/* All 65,536 numbers of 16 bits but infinities and NaN, which are not stored; floats as they are.
 */
static void widening(spry_context *ctx, spry_device *d)
{
    enum { ALL = 65536 };
    uint32_t *stored = calloc(ALL, sizeof *stored);
    double *out = calloc(ALL, sizeof *out);
    assert_true(stored && out);
    for (spry_type type = SPRY_TYPE_D; type <= SPRY_TYPE_Z; type += SPRY_TYPE_Z - SPRY_TYPE_D) {
        for (int kind = 1; kind <= 3; kind++) {
            const int64_t n = ALL / (type == SPRY_TYPE_Z ? 2 : 1),
                          bytes = ALL * (kind == 1 ? 4 : 2);
            for (int i = 0; i < ALL; i++) {
                const float value = (float)i * 0.1f;
                if (kind == 1)
                    memcpy(stored + i, &value, sizeof value);
                else
                    ((uint16_t *)stored)[i] = (uint16_t)i;
            }
            device_memory *from = NULL, *to = NULL;
            assert_ok(ctx, device_alloc(d, bytes, &from));
            assert_ok(ctx, device_alloc(d, ALL * 8, &to));
            assert_ok(ctx, device_put(from, 0, stored, bytes));
            const device_arg args[] = {DEVICE_VALUE(n), device_arg_memory(from),
                                       device_arg_memory(to)};
            assert_ok(ctx, device_launch(program(ctx, d, type, kind), "widen", NULL, GROUPS, GROUP,
                                         args, 3));
            assert_ok(ctx, device_get(to, 0, out, ALL * 8));
            for (int i = 0; i < ALL; i++) {
                const uint16_t bits = (uint16_t)i;
                const float expected = kind == 1   ? (float)i * 0.1f
                                       : kind == 2 ? f16_value((f16){bits})
                                                   : bf16_value((bf16){bits});
                const bool finite = kind == 1 || (kind == 2 ? (bits & 0x7c00) != 0x7c00
                                                            : (bits & 0x7f80) != 0x7f80);
                if (!finite)
                    continue;
                if (out[i] != (double)expected || !signbit(out[i]) != !signbit(expected))
                    print_error("kind %d bits %04x: %a, expected %a\n", kind, i, out[i],
                                (double)expected);
                assert_true(out[i] == (double)expected && !signbit(out[i]) == !signbit(expected));
            }
            device_free(from);
            device_free(to);
        }
    }
    free(stored);
    free(out);
}

static void tickets(spry_context *ctx, spry_device *d)
{
    int next = 0, seen[COUNT], times[COUNT] = {0};
    run(ctx, d, program(ctx, d, SPRY_TYPE_D, 0), "tickets", &next, sizeof next, seen, sizeof seen);
    for (int i = 0; i < COUNT; i++) {
        assert_in_range(seen[i], 0, COUNT - 1);
        times[seen[i]]++;
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(times[i], 1);
}

/* Bits of numbers come through as they are, those of NaNs too. */
static void words(spry_context *ctx, spry_device *d)
{
    uint64_t in[COUNT], out[COUNT + COUNT / 2];
    for (int i = 0; i < COUNT; i++)
        in[i] = i % 3 == 0 ? ~(uint64_t)i : UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1);
    run(ctx, d, program(ctx, d, SPRY_TYPE_D, 0), "words", in, sizeof in, out, sizeof out);
    assert_memory_equal(out, in, sizeof in);
    assert_memory_equal(out + COUNT, in, COUNT * sizeof(uint32_t));
}

static void sizes(spry_context *ctx, spry_device *d)
{
    for (spry_type type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        int64_t out[9] = {0};
        const int64_t expected[9] = {
            8, 8, 4, 2, 1, (int64_t)spry_type_size(type), spry_type_is_complex(type) ? 16 : 8,
            1, 1};
        device_memory *m = NULL;
        assert_ok(ctx, device_alloc(d, sizeof out, &m));
        const device_arg arg = device_arg_memory(m);
        assert_ok(ctx, device_launch(program(ctx, d, type, 0), "sizes", NULL, 1, GROUP, &arg, 1));
        assert_ok(ctx, device_get(m, 0, out, sizeof out));
        assert_memory_equal(out, expected, sizeof out);
        device_free(m);
    }
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(lane_sums), DEVICES_TEST(group_sums), DEVICES_TEST(arithmetic),
        DEVICES_TEST(widening),  DEVICES_TEST(tickets),    DEVICES_TEST(words),
        DEVICES_TEST(sizes),
    };
    return DEVICES_RUN(tests);
}
