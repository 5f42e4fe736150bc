/* All formats with all options worth trying, and what a product in each will read. */
#include "matrix/entries.h"
#include "matrix/reduced.h"
#include "tune/tune.h"

static const char *const kind_names[STORED_KINDS] = {"own", "f32", "f16", "bf16"};

/* --- which shorter numbers hold all values exactly ------------------------------------------- */

static unsigned real_kinds(double v)
{
    if (!isfinite(v))
        return 0;
    unsigned kinds = 0;
    if ((double)(float)v == v)
        kinds |= 1u << STORED_F32;
    if (f16_fits(v) && (double)f16_value(f16_from(v)) == v)
        kinds |= 1u << STORED_F16;
    if (bf16_fits(v) && (double)bf16_value(bf16_from(v)) == v)
        kinds |= 1u << STORED_BF16;
    return kinds;
}

static unsigned kinds_of(const spry_arrays *a, int64_t begin, int64_t end)
{
    unsigned kinds = ~0u;
    for (int64_t k = begin; k < end && kinds; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        kinds &= real_kinds(v.re) & (spry_type_is_complex(a->type) ? real_kinds(v.im) : ~0u);
    }
    return kinds;
}

/* Looked at once for all candidates. Numbers of single precision are short already. */
static unsigned exact_kinds(const spry_matrix *A)
{
    enum { BLOCK = 4096 };
    const spry_arrays *a = &A->a;
    if (a->type == SPRY_S || a->type == SPRY_C)
        return 1u << STORED_OWN;
    /* Most matrices give themselves away soon. */
    unsigned kinds = kinds_of(a, 0, a->nnz < BLOCK ? a->nnz : BLOCK);
    if (kinds == 0)
        return 1u << STORED_OWN;
    const int64_t blocks = (a->nnz + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) reduction(& : kinds)
    for (int64_t b = 0; b < blocks; b++)
        if (kinds)
            kinds &= kinds_of(a, b * BLOCK, (b + 1) * BLOCK < a->nnz ? (b + 1) * BLOCK : a->nnz);
    return kinds | 1u << STORED_OWN;
}

/* --- the list -------------------------------------------------------------------------------- */

static spry_status add(tune_list *list, const tune_candidate *c)
{
    if (list->count == list->room) {
        const int room = list->room == 0 ? 64 : 2 * list->room;
        const spry_status status =
            base_grow(list->ctx, list->count, room, sizeof *list->all, &list->all);
        if (status != SPRY_OK)
            return status;
        list->room = room;
    }
    list->all[list->count++] = *c;
    return SPRY_OK;
}

void tune_list_free(tune_list *list)
{
    for (int i = 0; i < list->count; i++)
        spry_operator_free(list->all[i].op);
    base_free(list->ctx, list->all);
    *list = (tune_list){.ctx = list->ctx};
}

/* A grid is "C=4|8|16 sigma=1|256": the choices of axis number `axis`, and how many there are. */
typedef struct grid_axis {
    char name[TUNE_NAME];
    const char *choices;
    int count;
} grid_axis;

static int read_grid(const char *grid, grid_axis axes[TUNE_AXES - 1])
{
    int count = 0;
    for (const char *p = grid ? grid : ""; *(p += strspn(p, " ")) && count < TUNE_AXES - 1;) {
        grid_axis *axis = &axes[count++];
        const size_t name = strcspn(p, "="), whole = strcspn(p, " ");
        snprintf(axis->name, sizeof axis->name, "%.*s", (int)name, p);
        axis->choices = p + name + (p[name] == '=');
        axis->count = 1;
        for (size_t i = name; i < whole; i++)
            axis->count += p[i] == '|';
        p += whole;
    }
    return count;
}

static void write_spec(tune_candidate *c, const grid_axis *axes, int count)
{
    char *spec = c->row.format;
    const size_t size = sizeof c->row.format;
    size_t used = (size_t)snprintf(spec, size, "%s", c->class->name);
    char separator = ':';
    for (int i = 0; i < count && used < size; i++, separator = ',') {
        const char *choice = axes[i].choices;
        for (int k = 0; k < c->at[i]; k++)
            choice += strcspn(choice, "| ") + 1;
        used += (size_t)snprintf(spec + used, size - used, "%c%s=%.*s", separator, axes[i].name,
                                 (int)strcspn(choice, "| "), choice);
    }
    if (c->kind != STORED_OWN && used < size)
        snprintf(spec + used, size - used, "%cvalues=%s", separator, kind_names[c->kind]);
}

/* Every place of the grid, as digits that count up. */
static spry_status add_grid(tune_list *list, const layout_class *class, stored_kind kind)
{
    grid_axis axes[TUNE_AXES - 1];
    const int count = read_grid(class->grid, axes);
    tune_candidate c = {.class = class, .kind = kind};
    c.at[TUNE_AXES - 1] = (int)kind;
    for (;;) {
        write_spec(&c, axes, count);
        /* CSR as a layout with values as they are is what is used in place. */
        if (kind != STORED_OWN || strcmp(c.row.format, "csr") != 0) {
            const spry_status status = add(list, &c);
            if (status != SPRY_OK)
                return status;
        }
        int i = 0;
        while (i < count && ++c.at[i] == axes[i].count)
            c.at[i++] = 0;
        if (i == count)
            return SPRY_OK;
    }
}

static spry_status add_class(tune_list *list, const layout_class *class, unsigned kinds)
{
    const bool shorter = spry_options_find(class->options, "values") != NULL &&
                         !(class->grid && strstr(class->grid, "values="));
    spry_status status = SPRY_OK;
    for (int kind = STORED_OWN; kind < STORED_KINDS && status == SPRY_OK; kind++)
        if (kind == STORED_OWN || (shorter && kinds >> kind & 1))
            status = add_grid(list, class, (stored_kind)kind);
    return status;
}

bool tune_neighbours(const tune_candidate *a, const tune_candidate *b)
{
    int steps = 0;
    for (int i = 0; i < TUNE_AXES - 1; i++)
        steps += a->at[i] > b->at[i] ? a->at[i] - b->at[i] : b->at[i] - a->at[i];
    return a->class && a->class == b->class && steps + (a->kind != b->kind) == 1;
}

/* --- forecasts ------------------------------------------------------------------------------- */

/* Bytes for rows of `a`; 0, and the reason in the note, where the format cannot hold them. */
static int64_t foresee(spry_context *ctx, const spry_arrays *a, tune_candidate *c)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    char before[MESSAGE_SIZE];
    const layout_class *class;
    layout_forecast f = {0, 0};
    memcpy(before, ctx->message, sizeof before);
    spry_status status = layout_parse(ctx, c->row.format, &class, options);
    if (status == SPRY_OK)
        status = class->forecast(ctx, a, options, &f);
    c->row.note[0] = '\0';
    if (status != SPRY_OK)
        snprintf(c->row.note, sizeof c->row.note, "%.95s", ctx->message);
    memcpy(ctx->message, before, sizeof before); /* nothing failed for the caller */
    return status == SPRY_OK ? (f.bytes > 0 ? f.bytes : 1) : 0;
}

void tune_foresee(const spry_matrix *A, tune_candidate *c)
{
    c->row.bytes = foresee(A->ctx, &A->a, c);
    c->possible = c->row.bytes > 0;
    c->estimated = false;
}

/* Formats that refuse a part of the rows may well hold all of them. Looking at all takes time, and
 * options seldom matter there: when that has become long, a format is asked once. */
static void estimate(const spry_matrix *A, const spry_matrix *sample, const tune_candidate *before,
                     double *looking, tune_candidate *c)
{
    const double patience = 0.05; /* seconds */
    const int64_t bytes = foresee(A->ctx, &sample->a, c);
    const double scale = (double)A->a.nnz / (double)sample->a.nnz;
    c->row.bytes = (int64_t)((double)bytes * scale);
    c->estimated = c->possible = bytes > 0;
    if (c->possible || (*looking > patience && before->class == c->class && !before->possible))
        return;
    const double begin = base_seconds();
    tune_foresee(A, c);
    *looking += base_seconds() - begin;
}

spry_status tune_list_make(const spry_matrix *A, tune_list *list)
{
    spry_context *ctx = A->ctx;
    spry_matrix *sample = NULL;
    double looking = 0;
    spry_status status = SPRY_OK;
    tune_candidate csr = {.row = {.format = "csr", .note = "in place"}, .possible = true};
    *list = (tune_list){.ctx = ctx};
    csr.row.bytes = A->a.nnz * (int64_t)(spry_type_size(A->a.type) + sizeof(int32_t)) +
                    (A->a.rows + 1) * (int64_t)sizeof(int64_t);
    const unsigned kinds = exact_kinds(A);
    SPRY_GO(ctx, add(list, &csr));
    for (int i = 0; layout_class_at(i); i++)
        SPRY_GO(ctx, add_class(list, layout_class_at(i), kinds));
    SPRY_GO(ctx, tune_sample(A, &sample));
    for (int i = 1; i < list->count; i++) {
        if (sample)
            estimate(A, sample, &list->all[i - 1], &looking, &list->all[i]);
        else
            tune_foresee(A, &list->all[i]);
    }
done:
    spry_matrix_free(sample);
    if (status != SPRY_OK)
        tune_list_free(list);
    return status;
}
