/* What the tests of the doctor share. */
#include "support/diagnosed.h"

#include "support/generated.h"

#include <math.h>
#include <string.h>

spry_diagnosis diagnosed(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                         const char *options, const spry_result *result)
{
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    assert_ok(ctx, spry_diagnose(A, b, options, result, &d));
    assert_true(d.complete);
    for (int64_t k = 0; k < d.count; k++) { /* every finding is whole, the worst come first */
        const spry_finding *f = spry_finding_at(&d, k);
        spry_entry entry = SPRY_ENTRY_INIT;
        assert_true(spry_list_find(SPRY_LIST_FINDINGS, f->code, &entry));
        assert_true(strlen(f->text) > 20 && strlen(f->cause) > 20);
        assert_true(strlen(f->next) > 5 || strstr(f->text, "was tried"));
        assert_true(k == 0 || f->severity <= spry_finding_at(&d, k - 1)->severity);
        assert_non_null(spry_severity_name(f->severity));
    }
    assert_null(spry_finding_at(&d, d.count));
    return d;
}

const spry_finding *diagnosed_find(const spry_diagnosis *d, const char *code)
{
    const spry_finding *f;
    for (int64_t k = 0; (f = spry_finding_at(d, k)); k++)
        if (strcmp(f->code, code) == 0)
            return f;
    return NULL;
}

const spry_finding *diagnosed_must(const spry_diagnosis *d, const char *code,
                                   spry_severity severity)
{
    const spry_finding *f = diagnosed_find(d, code);
    for (int64_t k = 0; !f && k < d->count; k++)
        print_error("found: %s\n", spry_finding_at(d, k)->code);
    if (!f)
        fail_msg("%s was not found", code);
    assert_int_equal(f->severity, severity);
    return f;
}

double diagnosed_figure(const spry_finding *f, const char *name)
{
    for (int k = 0; k < f->figure_count; k++)
        if (strcmp(f->figures[k].name, name) == 0)
            return f->figures[k].value;
    fail_msg("%s has no figure %s", f->code, name);
    return NAN;
}

/* Dominant, 5 points of a grid: healthy. Some of its entries are then spoiled. */
spry_matrix *diagnosed_grid(spry_context *ctx, spry_type type)
{
    return generated_as(ctx, type, "poisson2d", "size=6");
}
