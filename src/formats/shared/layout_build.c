/* The formats by name, and building a layout from CSR. */
#include "formats/shared/layout.h"
#include "formats/shared/reduced.h"
#include "matrix/entries.h"

const char *const stored_kind_names[STORED_KINDS] = {"own", "f32", "f16", "bf16"};

#define FORMAT_POINTER(name) &format_##name,
static const layout_class *const classes[] = {LAYOUT_FORMATS(FORMAT_POINTER)};
enum { CLASSES = sizeof classes / sizeof *classes };

const layout_class *layout_class_at(int index)
{
    return index >= 0 && index < CLASSES ? classes[index] : NULL;
}

static const layout_class *find_class(const char *name, size_t length)
{
    for (int i = 0; i < CLASSES; i++)
        if (strlen(classes[i]->name) == length && strncmp(classes[i]->name, name, length) == 0)
            return classes[i];
    return NULL;
}

static spry_status unknown_class(spry_context *ctx, const char *spec)
{
    char names[512] = "auto", name[SPRY_OPTION_TEXT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    for (int i = 0; i < CLASSES; i++)
        base_add_word(names, sizeof names, classes[i]->name);
    return base_unknown_word(ctx, "format", name, names);
}

spry_status layout_parse(spry_context *ctx, const char *spec, const layout_class **class,
                         void *options)
{
    const char *colon = strchr(spec, ':');
    *class = find_class(spec, strcspn(spec, ":"));
    if (!*class)
        return unknown_class(ctx, spec);
    if (colon && (*class)->options.count == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "format %s has no options, but was given %.64s", (*class)->name,
                         colon + 1);
    memset(options, 0, LAYOUT_OPTIONS_SIZE);
    spry_status status = spry_options_default(ctx, (*class)->options, options);
    if (status == SPRY_STATUS_OK)
        status = spry_options_parse(ctx, (*class)->options, options, colon ? colon + 1 : NULL);
    return status == SPRY_STATUS_OK ? status : SPRY_CAUSE(ctx, status, "format %s", (*class)->name);
}

spry_status layout_find_kind(spry_context *ctx, const layout_class *class, void *options,
                             spry_type type, stored_kind *kind)
{
    const spry_option *option = spry_options_find(class->options, "values");
    *kind = STORED_OWN;
    if (!option)
        return SPRY_STATUS_OK;
    int *word = (int *)((char *)options + option->offset);
    if (type_is_single(type)) {
        if (*word == STORED_F16 || *word == STORED_BF16)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                             "format %s: values of 16 bits are for types d and z, this is %s",
                             class->name, spry_type_name(type));
        *word = STORED_OWN;
    }
    *kind = (stored_kind)*word;
    return SPRY_STATUS_OK;
}

static bool real_fits(stored_kind kind, double value)
{
    return kind == STORED_F32   ? isfinite(value) && isfinite((float)value)
           : kind == STORED_F16 ? f16_fits(value)
                                : bf16_fits(value);
}

static bool real_exact(stored_kind kind, double value)
{
    return value == (double)(kind == STORED_F32   ? (float)value
                             : kind == STORED_F16 ? f16_value(f16_from(value))
                                                  : bf16_value(bf16_from(value)));
}

/* Whether values fit the kind, and whether exactly. The place of the first that does not is
 * reported.
 */
static spry_status check_values(const layout_class *class, const spry_matrix *A, stored_kind kind,
                                bool *exact)
{
    const matrix_arrays *a = &A->a;
    *exact = true;
    if (kind == STORED_OWN)
        return SPRY_STATUS_OK;
    int64_t bad = INT64_MAX;
    bool same = true;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) reduction(min : bad) \
    reduction(&& : same)
    for (int64_t k = 0; k < a->nnz; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        if (!real_fits(kind, v.re) || !real_fits(kind, v.im))
            bad = k < bad ? k : bad;
        else
            same = same && real_exact(kind, v.re) && real_exact(kind, v.im);
    }
    if (bad == INT64_MAX) {
        *exact = same;
        return SPRY_STATUS_OK;
    }
    char text[VALUE_TEXT];
    const spry_scalar v = value_load(a->type, a->values, bad);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "format %s: row %" PRId64 ", column %d (from 0): %s does not fit values=%s",
                     class->name, matrix_major_of(a, bad), a->col_index[bad],
                     value_text(a->type, v, text), stored_kind_names[kind]);
}

/* The first entry that is not to the right of the one before in its row. */
static spry_status check_sorted(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    if (a->format != SPRY_FORMAT_CSR || a->symmetry != SPRY_SYMMETRY_GENERAL)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE, "formats are built from general CSR");
    if (matrix_is_sorted(A->ctx, A, true))
        return SPRY_STATUS_OK;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i] + 1; k < a->offsets[i + 1]; k++)
            if (a->col_index[k] <= a->col_index[k - 1])
                return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                                 "row %" PRId64 " (from 0): column %d comes after %d; "
                                 "spry_matrix_sum_duplicates() sorts and adds up what is there "
                                 "twice",
                                 i, a->col_index[k], a->col_index[k - 1]);
    return SPRY_STATUS_OK;
}

void layout_csr_instead(spry_context *ctx, const base_kept *before, stored_kind kind,
                        char spec[LAYOUT_CSR_SPEC])
{
    base_log(ctx, SPRY_LOG_INFO, "A^T is kept as csr: %s", spry_message(ctx));
    base_forgive(ctx, before); /* nothing failed for the caller */
    snprintf(spec, LAYOUT_CSR_SPEC, "csr:values=%s", stored_kind_names[kind]);
}

void layout_note_kind(layout *L)
{
    if (L->kind != STORED_OWN)
        layout_note_word(L, "values", stored_kind_names[L->kind]);
}

spry_status layout_build(const spry_matrix *A, const char *spec, layout **out)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    spry_context *ctx = A->ctx;
    const layout_class *class;
    layout *L = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, layout_parse(ctx, spec, &class, options));
    SPRY_GO(ctx, check_sorted(A));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *L, &L));
    *L = (layout){.ctx = ctx,
                  .class = class,
                  .type = A->a.type,
                  .rows = A->a.rows,
                  .cols = A->a.cols,
                  .nnz = A->a.nnz};
    SPRY_GO(ctx, layout_find_kind(ctx, class, options, L->type, &L->kind));
    SPRY_GO(ctx, check_values(class, A, L->kind, &L->exact));
    SPRY_GO(ctx, class->build(L, &A->a, options));
    layout_note_kind(L);
    *out = L;
    L = NULL;
done:
    layout_free(L);
    return status;
}

spry_status layout_estimate(const spry_matrix *A, const char *spec, layout_forecast *f)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    spry_context *ctx = A->ctx;
    const layout_class *class;
    stored_kind kind;
    bool exact;
    spry_status status = SPRY_STATUS_OK;
    *f = (layout_forecast){0, 0};
    SPRY_GO(ctx, layout_parse(ctx, spec, &class, options));
    SPRY_GO(ctx, check_sorted(A));
    SPRY_GO(ctx, layout_find_kind(ctx, class, options, A->a.type, &kind));
    SPRY_GO(ctx, check_values(class, A, kind, &exact));
    SPRY_GO(ctx, class->forecast(ctx, &A->a, options, f));
done:
    return status;
}
