/* The tuner on devices: whatever it takes gives A's own products, is remembered for that device and
 * no other, and survives what goes wrong there. */
#include "support/devices.h"
#include "support/opened.h"

#include "choose/tune.h"
#include "formats/shared/device_formats.h"

#include <stdlib.h>

static const char forced[] = "always=yes budget=6 remember=no products=100000";

static spry_matrix *some_matrix(spry_context *ctx, spry_type type)
{
    return support_matrix(ctx, &(support_recipe){.type = type,
                                                 .format = SPRY_FORMAT_CSR,
                                                 .shape = SUPPORT_BANDED,
                                                 .rows = 2000,
                                                 .cols = 2000,
                                                 .nnz = 12000,
                                                 .seed = 33});
}

/* The device's clock: nothing before a mark, and never less for more work. */
static void clock_of(spry_context *ctx, spry_device *d)
{
    spry_vector *v = NULL, *w = NULL;
    double first = -1, both = -1;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_device_elapsed(d, &first));
    support_message_has(ctx, "nothing was marked");
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 1 << 16, NULL, &v));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 4, NULL, SPRY_OWN_COPY, &w));
    assert_ok(ctx, spry_device_mark(d));
    assert_ok(ctx, spry_vector_fill(v, (spry_scalar){2, 0}));
    assert_ok(ctx, spry_device_elapsed(d, &first));
    assert_ok(ctx, spry_vector_scale((spry_scalar){2, 0}, v));
    assert_ok(ctx, spry_device_elapsed(d, &both));
    assert_true(first > 0 && both > first);
    assert_non_null(spry_vector_handle(v));
    assert_ptr_equal(spry_vector_handle(w), spry_vector_data(w));
    spry_vector_free(v);
    spry_vector_free(w);
}

static void types(spry_context *ctx, spry_device *d)
{
    for (int t = 1; t < 3; t++) { /* each type is a dozen programs to compile */
        spry_matrix *A = some_matrix(ctx, support_types[t]);
        spry_operator *op = NULL;
        assert_ok(ctx,
                  spry_operator_from_matrix(A, d, "auto:always=yes,budget=6,remember=no", &op));
        assert_ptr_equal(device_of(op), d);
        support_exact(ctx, A, op);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

/* The name of a format without its options. */
static const layout_class *class_of(const char *format)
{
    const size_t length = strcspn(format, ":");
    for (int i = 0; layout_class_at(i); i++)
        if (strlen(layout_class_at(i)->name) == length &&
            strncmp(layout_class_at(i)->name, format, length) == 0)
            return layout_class_at(i);
    return NULL;
}

static void report(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = some_matrix(ctx, SPRY_TYPE_D);
    spry_tune_report r = SPRY_TUNE_REPORT_INIT;
    int timed = 0;
    bool found = false;
    assert_ok(ctx, spry_tune(A, d, forced, &r));
    assert_false(r.remembered || r.untried);
    assert_string_equal(r.rows[0].format, "csr");
    assert_true(r.rows[0].conversion_seconds > 0); /* it, too, is brought to the device */
    for (int64_t i = 0; i < r.count; i++) {
        const spry_tune_row *row = &r.rows[i];
        assert_non_null(device_format_for(class_of(row->format)));
        timed += row->seconds > 0;
        if (strcmp(row->format, r.format) == 0) {
            found = true;
            assert_true(i == 0 || row->seconds < r.rows[0].seconds);
        }
    }
    assert_true(found && timed > 1);
    spry_tune_report_clear(ctx, &r);
    assert_ok(ctx, spry_tune(A, d, "remember=no", &r)); /* it is small */
    assert_true(r.untried);
    spry_tune_report_clear(ctx, &r);
    spry_matrix_free(A);
}

/* Where nothing is timed, a row that is far longer than others does not keep a work-item busy for
 * long. */
static void untimed(spry_context *ctx, spry_device *d)
{
    enum { ROWS = 6000 };
    spry_tune_report r = SPRY_TUNE_REPORT_INIT;
    spry_matrix *A = NULL;
    matrix_arrays a = {.type = SPRY_TYPE_D,
                       .format = SPRY_FORMAT_CSR,
                       .rows = ROWS,
                       .cols = ROWS,
                       .nnz = 2 * ROWS - 1};
    assert_ok(ctx, matrix_allocate(ctx, &a));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < ROWS; i++)
        a.offsets[i + 1] = ROWS + i; /* the first row is full, others have their diagonal */
    for (int64_t k = 0; k < a.nnz; k++) {
        a.col_index[k] = (int32_t)(k < ROWS ? k : k - ROWS + 1);
        ((double *)a.values)[k] = 1;
    }
    assert_ok(ctx, matrix_wrap(ctx, &a, &A));
    assert_ok(ctx, spry_tune(A, d, "remember=no products=5", &r));
    assert_true(r.untried);
    assert_string_equal(r.format, "merge");
    spry_tune_report_clear(ctx, &r);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, d, "auto:products=5", &op));
    support_exact(ctx, A, op);
    spry_operator_free(op);
    assert_ok(ctx, spry_tune(A, NULL, "remember=no products=5", &r));
    assert_string_equal(r.format, "csr");
    spry_tune_report_clear(ctx, &r);
    spry_matrix_free(A);
}

/* A choice is remembered for the device, not for the host. */
static void memory(spry_context *ctx, spry_device *d)
{
    static const char quick[] = "always=yes budget=6 products=100000";
    cache_place place;
    const char *given = getenv("SPRY_CACHE");
    char before[4096] = "";
    spry_matrix *A = some_matrix(ctx, SPRY_TYPE_D);
    spry_tune_report first = SPRY_TUNE_REPORT_INIT, second = SPRY_TUNE_REPORT_INIT,
                     host = SPRY_TUNE_REPORT_INIT;
    spry_operator *op = NULL;
    if (given)
        snprintf(before, sizeof before, "%s", given);
    place_open(&place);
    assert_ok(ctx, spry_tune(A, d, quick, &first));
    assert_ok(ctx, spry_tune(A, d, quick, &second));
    assert_true(!first.remembered && second.remembered);
    assert_string_equal(first.format, second.format);
    assert_ok(ctx, spry_tune(A, NULL, quick, &host));
    assert_false(host.remembered);
    assert_ok(ctx, tune_decide(d, A, quick, NULL, &op));
    support_exact(ctx, A, op);
    assert_int_not_equal(tune_machine_fingerprint(ctx, d), tune_machine_fingerprint(ctx, NULL));
    spry_operator_free(op);
    spry_tune_report_clear(ctx, &first);
    spry_tune_report_clear(ctx, &second);
    spry_tune_report_clear(ctx, &host);
    spry_matrix_free(A);
    place_close(&place);
    set_variable("SPRY_CACHE", given ? before : NULL);
}

/* Each allocation and launch of a decision fails in turn: racers may be lost, memory is not, and
 * the decision either fails with that status or stands. */
static void torture(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_LAUNCH, WORK_COPY};
    spry_matrix *A = some_matrix(ctx, SPRY_TYPE_D);
    for (int w = 0; w < 3; w++) {
        int failed = 0, stood = 0;
        for (int64_t n = 1; n < 40; n += n < 12 ? 1 : 5) {
            spry_operator *op = NULL;
            device_fail_next(d, works[w], n);
            const spry_status status =
                tune_decide(d, A, "always=yes budget=2 remember=no", NULL, &op);
            device_fail_next(d, works[w], 0);
            failed += status != SPRY_STATUS_OK;
            stood += status == SPRY_STATUS_OK;
            if (status == SPRY_STATUS_OK)
                support_exact(ctx, A, op);
            else
                assert_null(op);
            spry_operator_free(op);
        }
        assert_true(failed > 0 && stood > 0);
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(clock_of), DEVICES_TEST(types),
                                         DEVICES_TEST(report),   DEVICES_TEST(untimed),
                                         DEVICES_TEST(memory),   DEVICES_TEST(torture)};
    return DEVICES_RUN(tests);
}
