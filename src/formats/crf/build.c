/* Constant diagonals: see crf.h. */
#include "formats/crf/crf.h"

#include "matrix/entries.h"

#include <stdlib.h>

typedef struct term {
    int32_t offset;
    _Alignas(double) unsigned char value[16]; /* of any type, zeros behind */
} term;

/* Which terms per row has, and whether an entry on the main diagonal. */
typedef struct shape {
    uint64_t terms;
    bool main;
} shape;

/* What a thread finds; then, of all of them, sorted. */
typedef struct findings {
    int terms, shapes;
    bool many_terms, many_shapes;
    term term[CRF_MOST_TERMS];
    shape shape[CRF_MOST_SHAPES];
} findings;

/* --- terms and shapes ------------------------------------------------------------------------ */

static term term_of(const matrix_arrays *A, int64_t row, int64_t k)
{
    const size_t size = spry_type_size(A->type);
    term t = {.offset = (int32_t)(A->col_index[k] - row)};
    memcpy(t.value, (const char *)A->values + (size_t)k * size, size);
    return t;
}

static int compare_terms(const void *a, const void *b)
{
    const term *first = a, *second = b;
    if (first->offset != second->offset)
        return first->offset < second->offset ? -1 : 1;
    return memcmp(first->value, second->value, sizeof first->value);
}

static int compare_shapes(const void *a, const void *b)
{
    const shape *first = a, *second = b;
    if (first->terms != second->terms)
        return first->terms < second->terms ? -1 : 1;
    return first->main - second->main;
}

/* Whether a row differs from the one before only in its place, and on the main diagonal. */
ALWAYS_INLINE bool alike_sized(const matrix_arrays *A, int64_t row, size_t size)
{
    const int64_t k = A->offsets[row], before = A->offsets[row - 1], count = k - before;
    const char *values = (const char *)A->values;
    if (A->offsets[row + 1] - k != count)
        return false;
    bool same = true;
    for (int64_t i = 0; i < count && same; i++)
        same =
            A->col_index[k + i] == A->col_index[before + i] + 1 &&
            (A->col_index[k + i] == row || memcmp(values + (size_t)(k + i) * size,
                                                  values + (size_t)(before + i) * size, size) == 0);
    return same;
}

/* Called for nearly all rows, and true for nearly all of them. */
static bool alike(const matrix_arrays *A, int64_t row)
{
    switch (A->type) {
    case SPRY_TYPE_S:
        return alike_sized(A, row, sizeof(float));
    case SPRY_TYPE_D:
    case SPRY_TYPE_C:
        return alike_sized(A, row, sizeof(double));
    case SPRY_TYPE_Z:
    default:
        return alike_sized(A, row, 2 * sizeof(double));
    }
}

/* The number of a term, looked for from `hint` on; -1: there is none. */
static int find_term(const findings *f, const term *t, int hint)
{
    for (int i = 0; i < f->terms; i++) {
        const int at = hint + i < f->terms ? hint + i : hint + i - f->terms;
        if (compare_terms(&f->term[at], t) == 0)
            return at;
    }
    return -1;
}

static void note_terms(findings *f, const matrix_arrays *A, range rows)
{
    for (int64_t row = rows.begin; row < rows.end; row++) {
        int hint = 0;
        if (row > rows.begin && alike(A, row))
            continue;
        for (int64_t k = A->offsets[row]; k < A->offsets[row + 1]; k++) {
            if (A->col_index[k] == row)
                continue;
            const term t = term_of(A, row, k);
            int at = find_term(f, &t, hint);
            if (at < 0 && f->terms == CRF_MOST_TERMS) {
                f->many_terms = true;
                return;
            }
            if (at < 0)
                f->term[at = f->terms++] = t;
            hint = at + 1 < f->terms ? at + 1 : 0;
        }
    }
}

/* Terms must be known. */
static shape shape_of(const findings *f, const matrix_arrays *A, int64_t row)
{
    shape s = {0, false};
    int hint = 0;
    for (int64_t k = A->offsets[row]; k < A->offsets[row + 1]; k++) {
        if (A->col_index[k] == row) {
            s.main = true;
            continue;
        }
        const term t = term_of(A, row, k);
        const int at = find_term(f, &t, hint);
        s.terms |= (uint64_t)1 << at;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): loses f in OpenMP's loops */
        hint = at + 1 < f->terms ? at + 1 : 0;
    }
    return s;
}

static void note_shape(findings *f, const shape *s)
{
    for (int i = f->shapes - 1; i >= 0; i--) /* the latest are the likeliest */
        if (compare_shapes(&f->shape[i], s) == 0)
            return;
    if (f->shapes == CRF_MOST_SHAPES)
        f->many_shapes = true;
    else
        f->shape[f->shapes++] = *s;
}

static int shape_number(const findings *f, const shape *s)
{
    const shape *found = bsearch(s, f->shape, (size_t)f->shapes, sizeof *f->shape, compare_shapes);
    return (int)(found - f->shape);
}

/* --- runs ------------------------------------------------------------------------------------ */

/* Where the runs of a unit go; counts only while `runs` is NULL. */
typedef struct writer {
    const findings *f;
    crf_run *runs;
    int64_t count, values;
} writer;

/* The place of the entry on the main diagonal in its row: the same in all rows of a run. */
static int64_t main_place(const matrix_arrays *A, int64_t row)
{
    int64_t k = A->offsets[row];
    while (A->col_index[k] != row)
        k++;
    return k - A->offsets[row];
}

static bool same_main(const matrix_arrays *A, int64_t place, int64_t row, int64_t other)
{
    const size_t size = spry_type_size(A->type);
    const char *values = A->values;
    return memcmp(values + (size_t)(A->offsets[row] + place) * size,
                  values + (size_t)(A->offsets[other] + place) * size, size) == 0;
}

static void put_run(writer *w, int64_t first_value, int64_t rows, const shape *s, crf_main kind)
{
    if (rows == 0)
        return;
    if (w->runs)
        w->runs[w->count] = (crf_run){first_value + w->values, (int32_t)rows,
                                      (uint16_t)shape_number(w->f, s), (uint16_t)kind};
    w->count++;
    w->values += kind == CRF_EACH ? rows : kind == CRF_SAME;
}

/* Rows of one shape: those with one number on the main diagonal for long are runs of their own. */
static void cut_rows(writer *w, const matrix_arrays *A, range rows, const shape *s, int64_t first)
{
    if (!s->main) {
        put_run(w, first, rows.end - rows.begin, s, CRF_NONE);
        return;
    }
    const int64_t place = main_place(A, rows.begin);
    int64_t begin = rows.begin;
    for (int64_t row = rows.begin; row < rows.end;) {
        int64_t end = row + 1;
        while (end < rows.end && same_main(A, place, row, end))
            end++;
        if (end - row >= CRF_LEAST_SAME) {
            put_run(w, first, row - begin, s, CRF_EACH);
            put_run(w, first, end - row, s, CRF_SAME);
            begin = end;
        }
        row = end;
    }
    put_run(w, first, rows.end - begin, s, CRF_EACH);
}

/* The runs of a unit; `first` is the place of its first value. Shapes are noted in `note` unless it
 * is NULL. */
static void cut_unit(writer *w, const matrix_arrays *A, int64_t u, findings *note, int64_t first)
{
    const int64_t begin = u * CRF_UNIT_ROWS;
    const int64_t end = begin + CRF_UNIT_ROWS < A->rows ? begin + CRF_UNIT_ROWS : A->rows;
    for (int64_t row = begin; row < end;) {
        const shape now = shape_of(w->f, A, row);
        int64_t stop = row + 1;
        while (stop < end && alike(A, stop)) /* the same terms, then */
            stop++;
        if (note)
            note_shape(note, &now);
        cut_rows(w, A, (range){row, stop}, &now, first);
        row = stop;
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

/* What is known before anything is stored. */
typedef struct survey {
    int parts;
    int64_t units;
    findings *found;  /* one per part; then all in the first */
    int64_t *runs;    /* units + 1: runs before each unit */
    int64_t *numbers; /* units + 1: values on the main diagonal before each unit */
    int64_t listed;   /* terms of all shapes */
} survey;

static void survey_free(spry_context *ctx, survey *p)
{
    base_free(ctx, p->found);
    base_free(ctx, p->runs);
    base_free(ctx, p->numbers);
}

static spry_status refuse_terms(spry_context *ctx)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "format crf: off the main diagonal there are more than %d pairs of a diagonal "
                     "and a number; dia holds diagonals of any numbers",
                     CRF_MOST_TERMS);
}

static spry_status refuse_shapes(spry_context *ctx)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "format crf: rows have more than %d different sets of diagonals; dia has no "
                     "such limit",
                     CRF_MOST_SHAPES);
}

static spry_status find_terms(spry_context *ctx, const matrix_arrays *A, survey *p)
{
    findings *all = p->found;
#pragma omp parallel for num_threads(p->parts) schedule(static, 1)
    for (int part = 0; part < p->parts; part++)
        note_terms(&p->found[part], A, base_share(A->rows, p->parts, part, CRF_UNIT_ROWS));
    bool many = all->many_terms;
    for (int part = 1; part < p->parts; part++) {
        const findings *f = &p->found[part];
        many = many || f->many_terms;
        for (int i = 0; i < f->terms && !many; i++) {
            if (find_term(all, &f->term[i], 0) >= 0)
                continue;
            many = all->terms == CRF_MOST_TERMS;
            if (!many)
                all->term[all->terms++] = f->term[i];
        }
    }
    qsort(all->term, (size_t)all->terms, sizeof *all->term, compare_terms);
    return many ? refuse_terms(ctx) : SPRY_STATUS_OK;
}

static void count_unit(survey *p, const matrix_arrays *A, int64_t u, findings *note)
{
    writer w = {.f = p->found};
    cut_unit(&w, A, u, note, 0);
    p->runs[u + 1] = w.count;
    p->numbers[u + 1] = w.values;
}

static spry_status find_runs(spry_context *ctx, const matrix_arrays *A, survey *p)
{
    findings *all = p->found;
    p->runs[0] = p->numbers[0] = 0;
#pragma omp parallel for num_threads(p->parts) schedule(static, 1)
    for (int part = 0; part < p->parts; part++) {
        const range mine = base_share(p->units, p->parts, part, 1);
        for (int64_t u = mine.begin; u < mine.end; u++)
            count_unit(p, A, u, &p->found[part]);
    }
    for (int part = 0; part < p->parts; part++) {
        const findings *f = &p->found[part];
        all->many_shapes = all->many_shapes || f->many_shapes;
        for (int i = 0; part > 0 && i < f->shapes; i++)
            note_shape(all, &f->shape[i]);
    }
    qsort(all->shape, (size_t)all->shapes, sizeof *all->shape, compare_shapes);
    for (int64_t u = 0; u < p->units; u++) {
        p->runs[u + 1] += p->runs[u];
        p->numbers[u + 1] += p->numbers[u];
    }
    for (int i = 0; i < all->shapes; i++)
        p->listed += __builtin_popcountll(all->shape[i].terms);
    return all->many_shapes ? refuse_shapes(ctx) : SPRY_STATUS_OK;
}

static spry_status survey_make(spry_context *ctx, const matrix_arrays *A, survey *p)
{
    spry_status status = SPRY_STATUS_OK;
    p->parts = matrix_parts(ctx, A->nnz);
    p->units = (A->rows + CRF_UNIT_ROWS - 1) / CRF_UNIT_ROWS;
    SPRY_GO(ctx, base_calloc(ctx, p->parts, sizeof *p->found, &p->found));
    if (A->rows > INT32_MAX)
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                               "format crf: %" PRId64 " rows, expected at most %d; sell takes more",
                               A->rows, INT32_MAX));
    SPRY_GO(ctx, base_alloc(ctx, p->units + 1, sizeof *p->runs, &p->runs));
    SPRY_GO(ctx, base_alloc(ctx, p->units + 1, sizeof *p->numbers, &p->numbers));
    SPRY_GO(ctx, find_terms(ctx, A, p));
    SPRY_GO(ctx, find_runs(ctx, A, p));
done:
    return status;
}

/* The shapes' lists, and the values of terms. */
static spry_status write_shapes(layout *L, const findings *f)
{
    const size_t size = spry_type_size(L->type);
    int64_t listed = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < f->shapes; i++)
        listed += __builtin_popcountll(f->shape[i].terms);
    SPRY_GO(L->ctx, layout_add(L, CRF_STARTS, "starts", f->shapes + 1, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, CRF_OFFSETS, "offsets", listed, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, CRF_PLACES, "places", listed, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, CRF_TERMS, "terms", f->terms, size));
    L->array[CRF_TERMS].aside = true;
    int32_t *starts = L->array[CRF_STARTS].data, *offsets = L->array[CRF_OFFSETS].data;
    int32_t *places = L->array[CRF_PLACES].data, at = 0;
    for (int i = 0; i < f->terms; i++)
        memcpy((char *)L->array[CRF_TERMS].data + (size_t)i * size, f->term[i].value, size);
    L->number[CRF_REAL] = 1;
    for (int i = 0; i < f->terms; i++)
        L->number[CRF_REAL] =
            L->number[CRF_REAL] && value_get(L->type, f->term[i].value, 0).im == 0;
    for (int s = 0; s < f->shapes; s++) {
        starts[s] = at;
        for (int i = 0; i < f->terms; i++)
            if (f->shape[s].terms >> i & 1) {
                offsets[at] = f->term[i].offset;
                places[at++] = i;
            }
    }
    starts[f->shapes] = at;
done:
    return status;
}

/* What most rows have, given how many have each shape, and whether any lacks a main entry. */
static void find_common(layout *L, const findings *f, const int64_t *rows)
{
    int common = 0;
    for (int s = 0; s < f->shapes; s++) {
        common = rows[s] > rows[common] ? s : common;
        L->number[CRF_BARE] = L->number[CRF_BARE] || !f->shape[s].main;
    }
    L->number[CRF_COMMON] = common;
    L->number[CRF_COMMON_BARE] = f->shapes > 0 && !f->shape[common].main;
}

/* Copies the main diagonal of a unit's runs, whose places are set. */
static void write_main(layout *L, const matrix_arrays *A, int64_t u)
{
    const int64_t *unit_runs = L->array[CRF_UNIT_RUNS].data;
    const crf_run *runs = L->array[CRF_RUNS].data;
    int64_t row = u * CRF_UNIT_ROWS;
    for (int64_t r = unit_runs[u]; r < unit_runs[u + 1]; row += runs[r++].rows) {
        const int64_t count = runs[r].main == CRF_EACH ? runs[r].rows : runs[r].main == CRF_SAME;
        const int64_t place = count > 0 ? main_place(A, row) : 0;
        for (int64_t i = 0; i < count; i++)
            layout_store(L, runs[r].place + i, A->values, A->offsets[row + i] + place);
    }
}

static void set_units(layout *L)
{
    L->units = (L->rows + CRF_UNIT_ROWS - 1) / CRF_UNIT_ROWS;
    L->unit_rows = CRF_UNIT_ROWS;
}

spry_status crf_describe(layout *L, const matrix_arrays *some, const int64_t *weight,
                         uint16_t *shape_at, bool *bare)
{
    survey p = {.parts = 1};
    int64_t rows[CRF_MOST_SHAPES] = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, base_calloc(L->ctx, 1, sizeof *p.found, &p.found));
    SPRY_GO(L->ctx, find_terms(L->ctx, some, &p));
    findings *f = p.found;
    for (int64_t i = 0; i < some->rows; i++) {
        const shape now = shape_of(f, some, i);
        note_shape(f, &now);
    }
    if (f->many_shapes)
        SPRY_GO(L->ctx, refuse_shapes(L->ctx));
    qsort(f->shape, (size_t)f->shapes, sizeof *f->shape, compare_shapes);
    for (int64_t i = 0; i < some->rows; i++) {
        const shape now = shape_of(f, some, i);
        shape_at[i] = (uint16_t)shape_number(f, &now);
        bare[i] = !now.main;
        rows[shape_at[i]] += weight[i];
    }
    set_units(L);
    SPRY_GO(L->ctx, write_shapes(L, f));
    find_common(L, f, rows);
done:
    survey_free(L->ctx, &p);
    return status;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    (void)given;
    survey p = {0};
    int64_t rows[CRF_MOST_SHAPES] = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, survey_make(L->ctx, A, &p));
    const findings *f = p.found;
    set_units(L);
    L->stored = f->terms + p.numbers[p.units];
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, CRF_UNIT_RUNS, "unit_runs", p.units + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, CRF_RUNS, "runs", p.runs[p.units], sizeof(crf_run)));
    SPRY_GO(L->ctx, write_shapes(L, f));
    for (int i = 0; i < f->terms; i++)
        layout_store(L, i, f->term[i].value, 0);
    memcpy(L->array[CRF_UNIT_RUNS].data, p.runs, (size_t)(p.units + 1) * sizeof *p.runs);
#pragma omp parallel for num_threads(p.parts) schedule(static, 1)
    for (int part = 0; part < p.parts; part++) {
        const range mine = base_share(p.units, p.parts, part, 1);
        for (int64_t u = mine.begin; u < mine.end; u++) {
            writer w = {.f = f, .runs = (crf_run *)L->array[CRF_RUNS].data + p.runs[u]};
            cut_unit(&w, A, u, NULL, f->terms + p.numbers[u]);
            write_main(L, A, u);
        }
    }
    const crf_run *runs = L->array[CRF_RUNS].data;
    for (int64_t r = 0; r < L->array[CRF_RUNS].count; r++)
        rows[runs[r].shape] += runs[r].rows;
    find_common(L, f, rows);
done:
    survey_free(L->ctx, &p);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *out)
{
    (void)given;
    survey p = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, survey_make(ctx, A, &p));
    out->stored = p.found->terms + p.numbers[p.units];
    out->bytes = out->stored * (int64_t)spry_type_size(A->type) + 8 * (p.units + 1) +
                 p.runs[p.units] * (int64_t)sizeof(crf_run) + 4 * (p.found->shapes + 1) +
                 8 * p.listed;
done:
    survey_free(ctx, &p);
    return status;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *unit_runs = L->array[CRF_UNIT_RUNS].data;
    const crf_run *runs = L->array[CRF_RUNS].data;
    const int32_t *starts = L->array[CRF_STARTS].data, *offsets = L->array[CRF_OFFSETS].data;
    const int32_t *places = L->array[CRF_PLACES].data;
    if (begin == end)
        return;
    int64_t row = begin * CRF_UNIT_ROWS;
    for (int64_t r = unit_runs[begin]; r < unit_runs[end]; r++)
        for (int64_t i = 0; i < runs[r].rows; i++, row++) {
            for (int32_t t = starts[runs[r].shape]; t < starts[runs[r].shape + 1]; t++)
                visit(data, row, row + offsets[t], places[t]);
            if (runs[r].main != CRF_NONE)
                visit(data, row, row, runs[r].place + (runs[r].main == CRF_EACH ? i : 0));
        }
}

const layout_class format_crf = {.name = "crf",
                                 .summary = "diagonals of one number each, by runs of rows",
                                 .cost = {.byte = 1.6, .conversion = 20},
                                 .walk = WALK_constants,
                                 .whole = true,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = entries};
