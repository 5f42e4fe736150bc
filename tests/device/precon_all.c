/*
 * Every preconditioner that can live on devices does on the device what it does on the host:
 * products with M, M^T and M^H, in lower precision too, and new values. Types are two, one of each
 * precision, since processors take long to compile: SPRY_TEST_FULL=1 takes all.
 */
#include "choose/precons.h"
#include "support/devices.h"
#include "support/numeric.h"
#include "support/precons.h"

#include "host/host.h"
#include "operator/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const spry_scalar one = {1, 0}, zero = {0, 0};
enum { SIZE = 9 };

typedef struct subject {
    spry_context *ctx;
    spry_device *d;
} subject;

/* Both have rounding errors of some n units, and what they are made of is well conditioned. Those
 * whose pattern rounding decides are looked at alike: on these matrices nothing is that near. */
static void compare(const subject *s, const char *spec, const spry_operator *on_host,
                    const spry_operator *on_device, double unit)
{
    spry_context *ctx = s->ctx;
    const int64_t n = spry_operator_rows(on_host);
    const spry_type type = spry_operator_type(on_host);
    spry_vector *r = numeric_random(ctx, NULL, type, n, 5),
                *z = numeric_random(ctx, NULL, type, n, 5),
                *back = numeric_random(ctx, NULL, type, n, 5), *far_r = NULL, *far_z = NULL;
    assert_ok(ctx, spry_vector_on(s->d, type, n, NULL, &far_r));
    assert_ok(ctx, spry_vector_on(s->d, type, n, NULL, &far_z));
    assert_ok(ctx, spry_vector_copy(r, far_r));
    for (int op = 0; op < 3; op++) {
        double off, size;
        assert_ok(ctx, spry_operator_multiply(on_host, (spry_transpose)op, one, r, zero, z));
        assert_ok(ctx,
                  spry_operator_multiply(on_device, (spry_transpose)op, one, far_r, zero, far_z));
        assert_ok(ctx, spry_vector_copy(far_z, back));
        assert_ok(ctx, spry_vector_norm(z, &size));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, z, back));
        assert_ok(ctx, spry_vector_norm(back, &off));
        if (!(size > 0 && off <= 8 * (double)n * unit * size))
            fail_msg("%s, type %s, product %d: %g from the host's, allowed %g", spec,
                     spry_type_name(type), op, off, 8 * (double)n * unit * size);
    }
    spry_vector_free(r);
    spry_vector_free(z);
    spry_vector_free(back);
    spry_vector_free(far_r);
    spry_vector_free(far_z);
}

static void check_spec(const subject *s, const spry_matrix *A, const spry_matrix *changed,
                       const char *spec, double unit)
{
    spry_context *ctx = s->ctx;
    spry_operator *on_host = NULL, *on_device = NULL;
    assert_ok(ctx, spry_precon_new(A, NULL, spec, &on_host));
    assert_ok(ctx, spry_precon_new(A, s->d, spec, &on_device));
    if (spry_operator_device(on_device) != s->d || spry_operator_device(on_host))
        fail_msg("%s is not where it was asked for", spec);
    compare(s, spec, on_host, on_device, unit);
    assert_ok(ctx, spry_operator_update(on_host, changed));
    assert_ok(ctx, spry_operator_update(on_device, changed));
    compare(s, spec, on_host, on_device, unit);
    spry_operator_free(on_host);
    spry_operator_free(on_device);
}

static bool on_devices(const precons_case *c)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    return spry_list_find(SPRY_LIST_PRECONS, c->kind, &entry) && entry.on_devices && !c->host;
}

static void check_kind(const precons_case *c, void *data)
{
    const subject *s = data;
    const char *spec = precons_spec(c);
    if (!on_devices(c))
        return;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        if (type != SPRY_TYPE_D && type != SPRY_TYPE_C && !support_full())
            continue;
        spry_matrix *A = precons_matrix(s->ctx, type, c->definite, SIZE),
                    *B = precons_matrix(s->ctx, type, c->definite, SIZE);
        precons_change(B);
        check_spec(s, A, B, spec, numeric_unit(type));
        if (type == SPRY_TYPE_D) {
            char single[128];
            snprintf(single, sizeof single, "%s%sprecision=single", spec,
                     strchr(spec, ':') ? "," : ":");
            check_spec(s, A, B, single, numeric_unit(SPRY_TYPE_S));
        }
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

static void test_alike(spry_context *ctx, spry_device *d)
{
    subject s = {ctx, d};
    precons_each(check_kind, &s);
}

/* One row, and none. */
static void check_small(const precons_case *c, void *data)
{
    const subject *s = data;
    static const precons_fault faults[] = {PRECONS_ONE, PRECONS_NONE};
    if (!on_devices(c))
        return;
    for (int i = 0; i < 2; i++) {
        spry_matrix *A = precons_faulty(s->ctx, SPRY_TYPE_D, faults[i]);
        spry_operator *M = NULL;
        spry_vector *r = NULL, *z = NULL;
        if (spry_precon_new(A, s->d, precons_spec(c), &M) == SPRY_STATUS_OK) {
            assert_ok(s->ctx, spry_vector_on(s->d, SPRY_TYPE_D, A->a.rows, NULL, &r));
            assert_ok(s->ctx, spry_vector_on(s->d, SPRY_TYPE_D, A->a.rows, NULL, &z));
            assert_ok(s->ctx, spry_operator_apply(M, r, z));
        } else if (faults[i] == PRECONS_ONE) {
            fail_msg("%s, %s: %s", precons_spec(c), precons_fault_names[faults[i]],
                     spry_message(s->ctx));
        }
        spry_vector_free(r);
        spry_vector_free(z);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

static void test_small(spry_context *ctx, spry_device *d)
{
    subject s = {ctx, d};
    precons_each(check_small, &s);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_alike), DEVICES_TEST(test_small)};
    return DEVICES_RUN(tests);
}
