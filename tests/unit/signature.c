/* The arguments of kernels, read from their texts. */
#include "support/support.h"

#include "device/engine/signature.h"

#include <string.h>

static void parse(spry_context *ctx, const char *text, const char *name, spry_type type,
                  kernel_parameter *to, int most, int *count)
{
    kernel_parameter *found = NULL;
    assert_ok(ctx, signature_parse(ctx, text, name, type, &found, count));
    assert_true(*count <= most);
    if (*count > 0)
        memcpy(to, found, (size_t)*count * sizeof *to);
    spry_free(ctx, found);
}

static void refused(spry_context *ctx, const char *text, const char *why)
{
    kernel_parameter *found = NULL;
    int count = -1;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  signature_parse(ctx, text, "it", SPRY_TYPE_D, &found, &count));
    assert_null(found);
    assert_int_equal(count, 0);
    support_message_has(ctx, why);
}

static const char everything[] =
    "/* SP_KERNEL it(int not_this) */\n"
    "SP_INLINE int helper(int a) { return a; } // SP_KERNEL it(\n"
    "SP_KERNEL other(void_is_not_looked_at x)\n{\n}\n"
    "SP_KERNEL it(const int a, offset b /* , here */, const sp_u8 c, sp_u16 d, sp_u32 e,\n"
    "             sp_u64 f, real g, scalar h, number i, float j, const double k,\n"
    "             SP_GLOBAL const scalar *SP_RESTRICT l, SP_GLOBAL real *const SP_RESTRICT m,\n"
    "             const SP_GLOBAL int*n,SP_GLOBAL number * restrict o)\n{\n}\n";

static void test_types(void **state)
{
    static const char shown[][24] = {"int",    "offset",      "sp_u8",   "sp_u16",
                                     "sp_u32", "sp_u64",      "real",    "scalar",
                                     "number", "float",       "double",  "const scalar *",
                                     "real *", "const int *", "number *"};
    enum { COUNT = sizeof shown / sizeof *shown };
    static const int sizes[4][COUNT] = {{4, 8, 1, 2, 4, 8, 4, 4, 8, 4, 8, 4, 4, 4, 8},
                                        {4, 8, 1, 2, 4, 8, 8, 8, 8, 4, 8, 8, 8, 4, 8},
                                        {4, 8, 1, 2, 4, 8, 4, 8, 16, 4, 8, 8, 4, 4, 16},
                                        {4, 8, 1, 2, 4, 8, 8, 16, 16, 4, 8, 16, 8, 4, 16}};
    kernel_parameter p[COUNT];
    for (int t = 0; t < 4; t++) {
        int count;
        parse(*state, everything, "it", support_types[t], p, COUNT, &count);
        assert_int_equal(count, COUNT);
        for (int k = 0; k < COUNT; k++) {
            const char name[] = {(char)('a' + k), '\0'};
            assert_string_equal(p[k].name, name);
            assert_string_equal(p[k].shown, shown[k]);
            assert_int_equal(p[k].pointer, k > 10);
            assert_int_equal(p[k].pointer && p[k].constant, k == 11 || k == 13);
            assert_int_equal(p[k].whole, k < 6 || k == 13);
            assert_int_equal(p[k].size, sizes[t][k]);
            if (!p[k].whole)
                assert_int_equal(spry_type_size(p[k].type), p[k].size);
        }
    }
}

static void test_shapes(void **state)
{
    kernel_parameter p[1];
    int count;
    parse(*state, "SP_KERNEL it ( ) { }", "it", SPRY_TYPE_D, p, 1, &count);
    assert_int_equal(count, 0);
    assert_int_equal(signature_dimensions("SP_GLOBAL_ID SP_GLOBAL_ID_0 /* SP_LOCAL_ID_2 */"), 1);
    assert_int_equal(signature_dimensions("a+SP_GROUPS_1*SP_GROUP_ID_3"), 2);
    assert_int_equal(signature_dimensions("MY_SP_LOCAL_ID_1 SP_LOCAL_ID_2;SP_GROUP_1"), 3);
    assert_true(signature_is_name("_a1", 3, 4));
    assert_false(signature_is_name("_a12", 4, 4));
    assert_false(signature_is_name("1a", 2, 9));
    assert_false(signature_is_name("a b", 3, 9));
    assert_false(signature_is_name("", 0, 9));
}

static void test_refused(void **state)
{
    spry_context *ctx = *state;
    kernel_parameter *found = NULL;
    int count;
    refused(ctx, "int it(int a);", "no kernel");
    refused(ctx, "", "no kernel");
    refused(ctx, "SP_KERNEL it(int a", "line 1");
    refused(ctx, "SP_KERNEL\nit(int a,\n long b)", "line 3");
    refused(ctx, "SP_KERNEL it(unsigned int a)", "not understood");
    refused(ctx, "SP_KERNEL it(size_t a)", "sp_u64");
    refused(ctx, "SP_KERNEL it(int)", "a type and a name");
    refused(ctx, "SP_KERNEL it(void)", "a type and a name");
    refused(ctx, "SP_KERNEL it(int a,)", "a type and a name");
    refused(ctx, "SP_KERNEL it(int a[3])", "not understood");
    refused(ctx, "SP_KERNEL it(SP_GLOBAL int **a)", "not understood");
    refused(ctx, "SP_KERNEL it(int *a)", "SP_GLOBAL");
    refused(ctx, "SP_KERNEL it(SP_GLOBAL int a)", "SP_GLOBAL");
    refused(ctx, "SP_KERNEL it(SP_LOCAL int *a)", "SP_SHARED");
    refused(ctx, "SP_KERNEL it(int a1234567890123456789012345678901234567890123456789)",
            "not understood");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  signature_parse(ctx, everything, "ti", SPRY_TYPE_D, &found, &count));
    support_message_has(ctx, "it");
    support_message_has(ctx, "other");
}

static spry_status parse_all(spry_context *ctx, void *data)
{
    kernel_parameter *found = NULL;
    int count;
    (void)data;
    const spry_status status = signature_parse(ctx, everything, "it", SPRY_TYPE_Z, &found, &count);
    spry_free(ctx, found);
    return status;
}

static void test_torture(void **state)
{
    support_torture(*state, parse_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_torture),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
