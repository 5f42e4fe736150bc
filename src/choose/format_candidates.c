/* All formats with all options worth trying, and what a product in each will read. */
#include "choose/tune.h"
#include "device/linalg/operator.h"
#include "formats/bsr/bsr.h"
#include "formats/shared/device_formats.h"
#include "host/walk.h"
#include "matrix/entries.h"

/* --- which shorter numbers hold all values exactly ------------------------------------------- */

/* What the bits of real numbers have in common. */
typedef struct bits {
    uint64_t digits;   /* after the point, of any */
    int64_t low, high; /* exponents, of all but 0 */
} bits;

static void look_at(const double *v, int64_t n, bits *b)
{
    uint64_t digits = b->digits;
    int64_t low = b->low, high = b->high;
    for (int64_t k = 0; k < n; k++) {
        uint64_t word;
        memcpy(&word, v + k, sizeof word);
        digits |= word;
        const int64_t exponent = word << 1 == 0 ? 1023 : (int64_t)(word >> 52 & 0x7ff);
        low = exponent < low ? exponent : low;
        high = exponent > high ? exponent : high;
    }
    *b = (bits){digits, low, high};
}

/* Numbers with `digits` digits after the point and exponents from low to high. Those below the
 * least normal one are not looked for. */
static bool holds(const bits *b, int digits, int low, int high)
{
    return b->digits << (12 + digits) == 0 && b->low >= 1023 + low && b->high <= 1023 + high;
}

static unsigned kinds_of(const bits *b)
{
    return (unsigned)holds(b, 23, -126, 127) << STORED_F32 |
           (unsigned)holds(b, 10, -14, 15) << STORED_F16 |
           (unsigned)holds(b, 7, -126, 127) << STORED_BF16;
}

/* The kinds that hold the first values, and others from all over: most matrices give themselves
 * away so. Bytes of 10,000 entries, none of the device's products. */
static unsigned likely_kinds(const double *values, int64_t n)
{
    enum { FIRST = 4096, STRETCH = 8, STRETCHES = 512 };
    bits b = {0, 1023, 1023};
    look_at(values, n < FIRST ? n : FIRST, &b);
    for (uint64_t k = 0; k < STRETCHES && n > FIRST && kinds_of(&b) != 0; k++)
        look_at(values + base_random(5, k) % (uint64_t)(n - STRETCH), STRETCH, &b);
    return kinds_of(&b);
}

/* Looked at once for all candidates. Numbers of single precision are short already. Where formats
 * are made on a device what is likely is enough: the device finds out when it shortens values. */
static unsigned exact_kinds(const spry_matrix *A, bool likely)
{
    enum { GRAIN = 1024 };
    const matrix_arrays *a = &A->a;
    const double *values = a->values;
    const int64_t n = a->nnz * (spry_type_is_complex(a->type) ? 2 : 1);
    if (type_is_single(a->type))
        return 1u << STORED_OWN;
    unsigned kinds = likely_kinds(values, n);
    if (kinds == 0 || likely)
        return kinds | 1u << STORED_OWN;
    const int parts = matrix_parts(A->ctx, n);
#pragma omp parallel for num_threads(parts) reduction(& : kinds) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = base_share(n, parts, part, GRAIN);
        bits b = {0, 1023, 1023};
        look_at(values + mine.begin, mine.end - mine.begin, &b);
        kinds &= kinds_of(&b);
    }
    return kinds | 1u << STORED_OWN;
}

/* Of a format's options; what is unknown is found when they are parsed. */
static stored_kind kind_in(const char *format)
{
    const char *values = strstr(format, "values=");
    for (int kind = 0; kind < STORED_KINDS && values; kind++) {
        const size_t length = strlen(stored_kind_names[kind]);
        const char *name = values + strlen("values=");
        if (strncmp(name, stored_kind_names[kind], length) == 0 &&
            (name[length] == ',' || name[length] == '\0'))
            return (stored_kind)kind;
    }
    return STORED_OWN;
}

bool tune_holds(const spry_matrix *A, const char *format)
{
    const stored_kind kind = kind_in(format);
    layout_forecast f;
    if (strcmp(format, "csr") == 0)
        return true;
    if (kind != STORED_OWN && !(exact_kinds(A, false) >> kind & 1))
        return false;
    const base_kept before = base_try(A->ctx);
    const bool holds_all = layout_estimate(A, format, &f) == SPRY_STATUS_OK;
    base_forgive(A->ctx, &before); /* nothing failed for the caller */
    return holds_all;
}

/* --- the list -------------------------------------------------------------------------------- */

static spry_status add(tune_list *list, const tune_candidate *c)
{
    if (list->count == list->room) {
        const int room = list->room == 0 ? 64 : 2 * list->room;
        const spry_status status =
            base_grow(list->ctx, list->count, room, sizeof *list->all, &list->all);
        if (status != SPRY_STATUS_OK)
            return status;
        list->room = room;
    }
    list->all[list->count++] = *c;
    return SPRY_STATUS_OK;
}

void tune_list_free(tune_list *list)
{
    for (int i = 0; i < list->count; i++)
        spry_operator_free(list->all[i].op);
    base_free(list->ctx, list->all);
    *list = (tune_list){.ctx = list->ctx, .device = list->device};
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
        snprintf(spec + used, size - used, "%cvalues=%s", separator, stored_kind_names[c->kind]);
}

/* The options worth trying. */
static const char *grid_of(const tune_list *list, const layout_class *class)
{
    const device_format *format = list->device ? device_format_for(class) : NULL;
    return format && format->grid ? format->grid : class->grid;
}

/* Every place of the grid, as digits that count up. */
static spry_status add_grid(tune_list *list, const layout_class *class, stored_kind kind)
{
    grid_axis axes[TUNE_AXES - 1];
    const int count = read_grid(grid_of(list, class), axes);
    tune_candidate c = {.class = class, .kind = kind};
    c.at[TUNE_AXES - 1] = (int)kind;
    for (;;) {
        write_spec(&c, axes, count);
        /* The name alone is CSR in place; as a layout it has shorter offsets. On a device it is a
         * layout already, and the first of the list. */
        const bool plain = strcmp(c.row.format, "csr") == 0;
        if (plain)
            snprintf(c.row.format, sizeof c.row.format, "csr:values=own");
        const spry_status status = plain && list->device ? SPRY_STATUS_OK : add(list, &c);
        if (status != SPRY_STATUS_OK)
            return status;
        int i = 0;
        while (i < count && ++c.at[i] == axes[i].count)
            c.at[i++] = 0;
        if (i == count)
            return SPRY_STATUS_OK;
    }
}

static spry_status add_class(tune_list *list, const layout_class *class, unsigned kinds)
{
    const char *grid = grid_of(list, class);
    const bool shorter =
        spry_options_find(class->options, "values") != NULL && !(grid && strstr(grid, "values="));
    spry_status status = SPRY_STATUS_OK;
    if (list->device && !device_format_for(class))
        return SPRY_STATUS_OK;
    for (int kind = STORED_OWN; kind < STORED_KINDS && status == SPRY_STATUS_OK; kind++)
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
static void estimate_one(spry_context *ctx, const matrix_arrays *a, tune_candidate *c)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    const layout_class *class;
    layout_forecast f = {0, 0};
    const base_kept before = base_try(ctx);
    spry_status status = layout_parse(ctx, c->row.format, &class, options);
    if (status == SPRY_STATUS_OK)
        status = class->forecast(ctx, a, options, &f);
    c->possible = status == SPRY_STATUS_OK;
    c->row.note[0] = '\0';
    if (status != SPRY_STATUS_OK)
        snprintf(c->row.note, sizeof c->row.note, "%.95s", ctx->message);
    base_forgive(ctx, &before); /* nothing failed for the caller */
    c->row.bytes = c->possible ? (f.bytes > 0 ? f.bytes : 1) : 0;
    c->stored = c->possible ? f.stored : 0;
}

void tune_estimate(const spry_matrix *A, tune_candidate *c)
{
    estimate_one(A->ctx, &A->a, c);
    c->estimated = false;
}

static void estimate(const spry_matrix *A, const spry_matrix *sample, tune_candidate *c)
{
    const double scale = (double)A->a.nnz / (double)sample->a.nnz;
    estimate_one(A->ctx, &sample->a, c);
    c->row.bytes = (int64_t)((double)c->row.bytes * scale);
    c->stored = (int64_t)((double)c->stored * scale);
    c->estimated = true;
    if (!c->possible) { /* its figures are those of the sample */
        char why[sizeof c->row.note];
        snprintf(why, sizeof why, "%s", c->row.note);
        snprintf(c->row.note, sizeof c->row.note, "for some of the rows: %.72s", why);
    }
}

/* The candidate that differs from c in the kind of values alone, which are as A has them. */
static const tune_candidate *own_kind(const tune_list *list, const tune_candidate *c)
{
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *d = &list->all[i];
        if (d->class == c->class && d->kind == STORED_OWN &&
            memcmp(d->at, c->at, (TUNE_AXES - 1) * sizeof *c->at) == 0)
            return d;
    }
    return NULL;
}

/* Shorter values take less for each place, and nothing else changes. */
static void derive(const spry_matrix *A, const tune_candidate *own, tune_candidate *c)
{
    const size_t less = spry_type_size(A->a.type) - layout_value_size(A->a.type, c->kind);
    c->possible = own->possible;
    c->estimated = own->estimated;
    c->stored = own->stored;
    c->row.bytes = own->row.bytes - (own->possible ? own->stored * (int64_t)less : 0);
    snprintf(c->row.note, sizeof c->row.note, "%s", own->row.note);
}

/* Whether a good part of the rows has the columns of the row before: blocks of several rows pay. */
static bool has_blocks(const matrix_arrays *a)
{
    enum { PART = 4 };
    int64_t same = 0;
    for (int64_t i = 1; i < a->rows; i++) {
        const int64_t at = a->offsets[i], before = a->offsets[i - 1], length = at - before;
        same += length > 0 && a->offsets[i + 1] - at == length &&
                memcmp(a->col_index + at, a->col_index + before,
                       (size_t)length * sizeof *a->col_index) == 0;
    }
    return same * PART >= a->rows;
}

/* The size of blocks, found once, so that making them need not look for it: by the few rows at the
 * beginning of a sample, whose columns are gone through two dozen times, in a third of a
 * millisecond. */
static void name_blocks(spry_context *ctx, const matrix_arrays *a, tune_candidate *c)
{
    enum { ROWS = 480 };
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    const layout_class *class;
    matrix_arrays part = *a;
    int64_t rows = 1, columns = 1;
    part.rows = a->rows < ROWS ? a->rows : ROWS;
    if (layout_parse(ctx, c->row.format, &class, options) == SPRY_STATUS_OK)
        bsr_choose(&part, options, &rows, &columns);
    snprintf(c->row.format, sizeof c->row.format, "bsr:r=%d,c=%d", (int)rows, (int)columns);
}

/* Whether a device reads x all over the place: its cache does not hold it, and rows do
 * not share what the one before has loaded. */
static bool gathers_far(const spry_device *d, const matrix_arrays *a)
{
    return (int64_t)spry_type_size(a->type) * a->cols > d->facts.cache_bytes &&
           host_scattered(a->rows, a->cols, a->offsets, a->col_index);
}

/* Why a candidate is not looked at on a device; NULL: it is. */
static const char *hopeless_on_device(const tune_list *list, const matrix_arrays *some,
                                      int64_t products, const tune_candidate *c)
{
    if (products < TUNE_MANY && !tune_made_on_device(c))
        return "long to make or compile: for 50000 products or more";
    if (list->uneven && c->class->cost.even) /* much fill, which takes long to look at */
        return "some rows are much longer than others";
    if (c->class->cost.blocks && !has_blocks(some))
        return "neighbouring rows have other columns";
    if (c->class->cost.scatters && !list->without_order)
        return "x is short, or neighbouring rows have columns near each other";
    return NULL;
}

/* What a candidate will read: from another kind's, a sample or A itself. */
static void forecast(const spry_matrix *A, const spry_matrix *sample, int64_t products,
                     const tune_list *list, tune_candidate *c)
{
    const tune_candidate *own = c->kind == STORED_OWN ? NULL : own_kind(list, c);
    const matrix_arrays *some = sample ? &sample->a : &A->a;
    const char *why = list->device && !own ? hopeless_on_device(list, some, products, c) : NULL;
    const bool blocks = list->device && c->class->cost.blocks;
    if (why) {
        snprintf(c->row.note, sizeof c->row.note, "%s", why);
        return;
    }
    if (own) {
        derive(A, own, c);
        if (blocks)
            snprintf(c->row.format, sizeof c->row.format, "%.64s,values=%s", own->row.format,
                     stored_kind_names[c->kind]);
        return;
    }
    if (blocks)
        name_blocks(list->ctx, some, c);
    if (sample && !c->class->whole)
        estimate(A, sample, c);
    else
        tune_estimate(A, c);
    if (list->device && c->class == &format_axt && strstr(c->row.format, "MODE=com"))
        c->row.bytes -= c->stored * (int64_t)sizeof(int32_t); /* rows' ends take hdr[]'s place */
}

/* Whether some rows are so much longer than the others that formats which cut rows come first. */
void tune_note_longest(tune_list *list, const matrix_arrays *a, int64_t longest)
{
    enum { UNEVEN = 32 };
    list->longest = longest;
    list->uneven = (double)longest * (double)a->rows > UNEVEN * (double)(a->nnz + a->rows);
}

void tune_correct_longest(tune_list *list, const matrix_arrays *a, int64_t longest)
{
    const double more = list->longest > 0 ? (double)longest / (double)list->longest : 1;
    tune_note_longest(list, a, longest);
    for (int i = 1; i < list->count; i++) {
        tune_candidate *c = &list->all[i];
        if (c->possible && c->class->cost.widest)
            c->row.bytes = (int64_t)((double)c->row.bytes * more);
        if (c->possible && list->uneven && c->class->cost.even) {
            c->possible = false;
            snprintf(c->row.note, sizeof c->row.note, "some rows are much longer than others");
        }
        tune_expect(list, c);
    }
}

spry_status tune_list_make(const spry_matrix *A, spry_device *d, int64_t products, tune_list *list)
{
    spry_context *ctx = A->ctx;
    spry_matrix *sample = NULL;
    spry_status status = SPRY_STATUS_OK;
    tune_candidate csr = {.row = {.format = "csr"}, .possible = true};
    *list = (tune_list){.ctx = ctx, .device = d};
    snprintf(csr.row.note, sizeof csr.row.note, "%s", d ? "as it is" : "in place");
    csr.row.bytes = matrix_csr_bytes(A->a.type, A->a.rows, A->a.nnz);
    list->vector_bytes = (double)spry_type_size(A->a.type) * (double)(A->a.cols + A->a.rows);
    const unsigned kinds = exact_kinds(A, d != NULL);
    SPRY_GO(ctx, add(list, &csr));
    for (int i = 0; layout_class_at(i); i++)
        SPRY_GO(ctx, add_class(list, layout_class_at(i), kinds));
    SPRY_GO(ctx, tune_sample(A, d != NULL, &sample));
    const int64_t known = sample || d ? matrix_longest_row(ctx, sample ? &sample->a : &A->a) : 0;
    if (d) { /* the device looks at all of them later */
        tune_note_longest(list, &A->a, known);
        list->without_order = gathers_far(d, &A->a);
    } else
        list->doubtful = sample && matrix_longest_row(ctx, &A->a) > 2 * known;
    for (int i = 1; i < list->count; i++)
        forecast(A, sample, products, list, &list->all[i]);
done:
    spry_matrix_free(sample);
    if (status != SPRY_STATUS_OK)
        tune_list_free(list);
    return status;
}

spry_status tune_build(spry_device *d, const spry_matrix *A, const char *format, spry_operator **op)
{
    if (d)
        return device_operator(d, A, format, op);
    return strcmp(format, "csr") == 0 ? host_csr_operator(A, op)
                                      : host_layout_operator(A, format, op);
}
