/* New values for a matrix, and what was made from it on a device; values from the device. */
#include "support/devices.h"
#include "support/layouts.h"
#include "support/numeric.h"
#include "support/renewed.h"

#include "formats/shared/device_formats.h"

typedef struct place {
    spry_context *ctx;
    spry_device *d;
} place;

static void one_format(const char *spec, void *data)
{
    const place *p = data;
    if (!strchr(spec, ':')) { /* the options change nothing about which is copied to which */
        renewed_operator(p->ctx, p->d, SPRY_TYPE_D, spec);
        renewed_operator(p->ctx, p->d, SPRY_TYPE_C, spec);
    }
}

static void operators(spry_context *ctx, spry_device *d)
{
    place p = {ctx, d};
    layouts_each(one_format, &p);
}

static void one_precon(const precons_case *c, void *data)
{
    const place *p = data;
    if (!c->spec && !c->host)
        renewed_precon(p->ctx, p->d, SPRY_TYPE_D, c);
}

static void precons(spry_context *ctx, spry_device *d)
{
    place p = {ctx, d};
    precons_each(one_precon, &p);
}

static void solvers(spry_context *ctx, spry_device *d)
{
    static const char *const options[] = {"method=cg precon=jacobi", "method=bicg precon=none",
                                          "method=cg precon=amg format=sell"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        char text[128];
        snprintf(text, sizeof text, "%s tol=1e-5 device=%s", options[k], spry_device_name(d));
        renewed_solver(ctx, SPRY_TYPE_D, text);
    }
}

/* A vector of the device's is as good as an array of the host's. */
static void values_on_device(spry_context *ctx, spry_device *d)
{
    DEVICES_EACH_TYPE (d, t) {
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 30, 30, 200, 3);
        const int64_t nnz = A->a.nnz;
        const size_t size = spry_type_size(support_types[t]);
        spry_vector *on_device = numeric_random(ctx, d, support_types[t], nnz, 5),
                    *on_host = numeric_random(ctx, NULL, support_types[t], nnz, 5);
        const int64_t before = matrix_version(A);
        assert_ok(ctx, spry_matrix_set_values_from(A, on_device));
        assert_memory_equal(A->a.values, on_host->data, (size_t)nnz * size);
        assert_true(matrix_version(A) > before);
        spry_vector_free(on_device);
        on_device = numeric_random(ctx, d, support_types[t], nnz + 1, 5);
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_set_values_from(A, on_device));
        support_message_has(ctx, "new values are");
        assert_memory_equal(A->a.values, on_host->data, (size_t)nnz * size);
        spry_vector_free(on_device);
        spry_vector_free(on_host);
        spry_matrix_free(A);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(operators), DEVICES_TEST(precons),
                                         DEVICES_TEST(solvers), DEVICES_TEST(values_on_device)};
    return DEVICES_RUN(tests);
}
