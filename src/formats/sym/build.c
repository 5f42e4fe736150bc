/* Half of a symmetric, hermitian or skew matrix: see sym.h. */
#include "formats/sym/sym.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"
#include "matrix/half.h"

#define SYM_OPTIONS(item)                                                                          \
    item(                                                                                          \
        WORD, columns, "auto", 0, 0, "auto 16 32",                                                 \
        "bits of a column, stored as a distance from the diagonal; auto: 16 where that is enough") \
    item(INT, parts, "0", 0, 65536, NULL,                                                          \
         "parts of rows that threads can share; 0: as many as cost little")                        \
    LAYOUT_VALUES_OPTION(item)

typedef struct sym_options {
    SYM_OPTIONS(SPRY_OPTION_FIELD)
} sym_options;

SPRY_OPTION_TABLE(options_table, sym_options, SYM_OPTIONS(SPRY_OPTION_ROW))

/* --- groups of rows -----------------------------------------------------------------------------
 */

/* A unit while its groups are found: where the next one goes; counted only where L is NULL. */
typedef struct laying {
    const matrix_arrays *A;
    int64_t begin, end; /* rows */
    int64_t value, distance, group, count, inside;
    layout *L;
} laying;

static const int32_t *row_columns(const laying *u, int64_t i)
{
    return u->A->col_index + u->A->offsets[i];
}

/* Whether `places` rows from row c on, less than i, lie on one side of the unit's first row. */
static bool one_side(const laying *u, int64_t c, int places)
{
    return c >= u->begin || c + places <= u->begin;
}

static bool is_run(const laying *u, int64_t i, const int32_t *c, int64_t count)
{
    enum { PLACES = SYM_SHIFTED_ROWS + SYM_RUN - 1 };
    return count >= SYM_RUN && c[1] == c[0] + 1 && c[2] == c[0] + 2 && c[0] + PLACES <= i &&
           one_side(u, c[0], PLACES);
}

/* Whether four rows from i on are shifted, each with n entries left of the diagonal. */
static bool find_shifted(const laying *u, int64_t i, int64_t n, sym_group *g)
{
    if (i + SYM_SHIFTED_ROWS > u->end)
        return false;
    const int32_t *c = row_columns(u, i);
    for (int l = 1; l < SYM_SHIFTED_ROWS; l++) {
        const int32_t *other = row_columns(u, i + l);
        if (half_lower(u->A, i + l) != n)
            return false;
        for (int64_t k = 0; k < n; k++)
            if (other[k] != c[k] + l)
                return false;
    }
    *g = (sym_group){.shape = SYM_SHIFTED, .rows = SYM_SHIFTED_ROWS};
    if (n > 0 && c[n - 1] == i - 1) {
        g->near_diagonal = 1;
        n--;
    }
    if (g->near_diagonal && i == u->begin)
        return false;
    for (int64_t k = 0; k < n;) {
        if (is_run(u, i, c + k, n - k)) {
            g->runs++;
            k += SYM_RUN;
        } else if (c[k] + SYM_SHIFTED_ROWS <= i && one_side(u, c[k], SYM_SHIFTED_ROWS)) {
            g->singles++;
            k++;
        } else {
            return false;
        }
        if (g->runs > SYM_MOST_RUNS || g->singles > SYM_MOST_SINGLES)
            return false;
    }
    return true;
}

/* How many rows from i on, at most three, have the n columns of row i and all up to the diagonal.
 */
static int find_alike(const laying *u, int64_t i, int64_t n)
{
    const int32_t *c = row_columns(u, i);
    int rows = 1;
    for (; rows < 3 && i + rows < u->end; rows++) {
        const int32_t *other = row_columns(u, i + rows);
        if (half_lower(u->A, i + rows) != n + rows || other[n] != i ||
            memcmp(c, other, (size_t)n * sizeof *c) != 0)
            break;
    }
    return rows;
}

static sym_group find_group(const laying *u, int64_t i)
{
    const int64_t n = half_lower(u->A, i);
    sym_group g;
    if (!find_shifted(u, i, n, &g)) {
        g = (sym_group){.rows = find_alike(u, i, n), .columns = n};
        g.shape = g.rows - 1;
        g.distances = n;
        g.values = g.rows * (1 + n) + g.rows * (g.rows - 1) / 2;
    } else {
        g.distances = g.runs + g.singles;
        g.values = SYM_SHIFTED_ROWS * (1 + SYM_RUN * g.runs + g.singles + g.near_diagonal);
    }
    return g;
}

static void put_word(const laying *u, const sym_group *g)
{
    uint16_t *words = u->L->array[SYM_GROUPS].data;
    int64_t *counts = u->L->array[SYM_COUNTS].data;
    int64_t word = g->shape;
    if (g->shape == SYM_SHIFTED)
        word |= (int64_t)g->runs << SYM_SHAPE_BITS | (int64_t)g->singles << SYM_SINGLES_BIT |
                (int64_t)g->near_diagonal << SYM_NEAR_BIT;
    else
        word |= (g->columns < SYM_LONG ? g->columns : SYM_LONG) << SYM_SHAPE_BITS;
    words[u->group] = (uint16_t)word;
    if (g->columns >= SYM_LONG)
        counts[u->count] = g->columns;
}

static void put_distance(const laying *u, int64_t at, int64_t distance)
{
    void *data = u->L->array[SYM_DISTANCES].data;
    if (u->L->number[SYM_WIDE])
        ((uint32_t *)data)[at] = (uint32_t)distance;
    else
        ((uint16_t *)data)[at] = (uint16_t)distance;
}

/* Stores the diagonal of row i, or fill. */
static void put_diagonal(const laying *u, int64_t i, int64_t place)
{
    static const double zero[2] = {0, 0}; /* of any type */
    uint8_t *absent = u->L->array[SYM_ABSENT].data;
    const int64_t k = u->A->offsets[i] + half_lower(u->A, i);
    absent[i] = !(k < u->A->offsets[i + 1] && u->A->col_index[k] == i);
    if (absent[i])
        layout_store(u->L, place, zero, 0);
    else
        layout_store(u->L, place, u->A->values, k);
}

static void put_alike(const laying *u, int64_t i, const sym_group *g)
{
    const int64_t *offsets = u->A->offsets;
    const int32_t *c = row_columns(u, i);
    int64_t place = u->value + g->rows;
    for (int64_t k = 0; k < g->columns; k++) {
        put_distance(u, u->distance + k, i - 1 - c[k]);
        for (int l = 0; l < g->rows; l++)
            layout_store(u->L, place++, u->A->values, offsets[i + l] + k);
    }
    for (int l = 1; l < g->rows; l++)
        for (int m = 0; m < l; m++)
            layout_store(u->L, place++, u->A->values, offsets[i + l] + g->columns + m);
}

/* Stores the entries k of four rows. */
static int64_t put_four(const laying *u, int64_t i, int64_t k, int64_t place)
{
    for (int l = 0; l < SYM_SHIFTED_ROWS; l++)
        layout_store(u->L, place + l, u->A->values, u->A->offsets[i + l] + k);
    return place + SYM_SHIFTED_ROWS;
}

static void put_shifted(const laying *u, int64_t i, const sym_group *g)
{
    const int64_t n = half_lower(u->A, i) - g->near_diagonal;
    const int32_t *c = row_columns(u, i);
    int64_t run = u->value + SYM_SHIFTED_ROWS, distance = u->distance;
    int64_t single = run + (int64_t)SYM_SHIFTED_ROWS * SYM_RUN * g->runs;
    int64_t single_distance = distance + g->runs;
    for (int64_t k = 0; k < n;) {
        if (is_run(u, i, c + k, n - k)) {
            put_distance(u, distance++, i - 1 - c[k]);
            for (int q = 0; q < SYM_RUN; q++)
                run = put_four(u, i, k++, run);
        } else {
            put_distance(u, single_distance++, i - 1 - c[k]);
            single = put_four(u, i, k++, single);
        }
    }
    if (g->near_diagonal)
        put_four(u, i, n, single);
}

/* Goes through a unit's groups. */
static void lay_unit(laying *u)
{
    for (int64_t i = u->begin; i < u->end;) {
        const sym_group g = find_group(u, i);
        const int64_t first = u->A->offsets[i];
        if (g.distances + g.near_diagonal > 0 && u->A->col_index[first] < u->begin)
            u->inside = i + g.rows;
        if (u->L) {
            put_word(u, &g);
            for (int l = 0; l < g.rows; l++)
                put_diagonal(u, i + l, u->value + l);
            if (g.shape == SYM_SHIFTED)
                put_shifted(u, i, &g);
            else
                put_alike(u, i, &g);
        }
        u->value += g.values;
        u->distance += g.distances;
        u->count += g.columns >= SYM_LONG;
        u->group++;
        i += g.rows;
    }
}

/* --- the whole matrix ---------------------------------------------------------------------------
 */

/* What is known before anything is stored. */
typedef struct sizes {
    half_cut half;
    bool wide;
    int64_t *units; /* SYM_UNITS */
} sizes;

static void sizes_clear(spry_context *ctx, sizes *s)
{
    half_clear(ctx, &s->half);
    base_free(ctx, s->units);
    s->units = NULL;
}

static void count_units(spry_context *ctx, const matrix_arrays *A, const sizes *s)
{
    const int64_t units = s->half.parts;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->nnz + A->rows)) schedule(dynamic, 1)
    for (int64_t p = 0; p < units; p++) {
        laying u = {.A = A,
                    .begin = s->half.rows[p],
                    .end = s->half.rows[p + 1],
                    .inside = s->half.rows[p]};
        lay_unit(&u);
        int64_t *next = s->units + (p + 1) * SYM_UNIT_NUMBERS;
        next[SYM_AT_VALUE] = u.value;
        next[SYM_AT_DISTANCE] = u.distance;
        next[SYM_AT_GROUP] = u.group;
        next[SYM_AT_COUNT] = u.count;
        next[SYM_INSIDE - SYM_UNIT_NUMBERS] = u.inside;
    }
    for (int64_t p = 0; p <= units; p++) {
        int64_t *mine = s->units + p * SYM_UNIT_NUMBERS;
        mine[SYM_AT_ROW] = s->half.rows[p];
        for (int n = SYM_AT_VALUE; n <= SYM_AT_COUNT; n++)
            mine[n] = p == 0 ? 0 : mine[n] + mine[n - SYM_UNIT_NUMBERS];
    }
    s->units[units * SYM_UNIT_NUMBERS + SYM_INSIDE] = A->rows;
}

static spry_status find_sizes(spry_context *ctx, const matrix_arrays *A, const sym_options *o,
                              sizes *s)
{
    enum { AUTO, NARROW, WIDE };
    const int64_t value = (int64_t)layout_value_size(A->type, (stored_kind)o->values);
    spry_status status = SPRY_STATUS_OK;
    *s = (sizes){.units = NULL};
    SPRY_GO(ctx, half_find(ctx, A, o->parts, value + 2, &s->half));
    s->wide = o->columns == WIDE || s->half.reach > UINT16_MAX + 1;
    if (o->columns == NARROW && s->wide) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "an entry lies %" PRId64 " places left of the diagonal, which 16 bits "
                           "cannot hold: take columns=32, or reorder the matrix",
                           s->half.reach);
        goto done;
    }
    SPRY_GO(ctx,
            base_alloc(ctx, (s->half.parts + 1) * SYM_UNIT_NUMBERS, sizeof *s->units, &s->units));
    count_units(ctx, A, s);
done:
    if (status != SPRY_STATUS_OK)
        sizes_clear(ctx, s);
    return status;
}

static const int64_t *totals(const sizes *s)
{
    return s->units + s->half.parts * SYM_UNIT_NUMBERS;
}

/* The windows of units, for layout.h. */
static spry_status make_windows(layout *L, const half_cut *half)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, base_alloc(L->ctx, half->parts, sizeof(int64_t), &L->carry_row));
    SPRY_GO(L->ctx, base_alloc(L->ctx, half->parts + 1, sizeof(int64_t), &L->carry_at));
    L->carry_at[0] = 0;
    for (int64_t p = 0; p < half->parts; p++) {
        L->carry_row[p] = half->above[p];
        L->carry_at[p + 1] = L->carry_at[p] + half->rows[p] - half->above[p];
    }
done:
    return status;
}

/* Rows of the ring that walks keep sums of several columns in: a power of two, from the farthest
 * row that entries reach to the end of a group, or a whole unit. */
static int64_t ring_rows(const half_cut *half)
{
    int64_t longest = 0, rows = 1;
    for (int64_t p = 0; p < half->parts; p++)
        if (half->rows[p + 1] - half->rows[p] > longest)
            longest = half->rows[p + 1] - half->rows[p];
    while (rows < longest && rows < half->reach + SYM_SHIFTED_ROWS)
        rows *= 2;
    return rows;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const sym_options *o = given;
    spry_status status = SPRY_STATUS_OK;
    sizes s;
    SPRY_GO(L->ctx, find_sizes(L->ctx, A, o, &s));
    const int64_t *all = totals(&s), units = s.half.parts;
    L->units = units;
    L->symmetry = s.half.symmetry;
    L->exact = L->exact && s.half.exact;
    L->stored = all[SYM_AT_VALUE];
    L->number[SYM_WIDE] = s.wide;
    L->room = ring_rows(&s.half);
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx,
            layout_add(L, SYM_DISTANCES, "distances", all[SYM_AT_DISTANCE], s.wide ? 4 : 2));
    SPRY_GO(L->ctx, layout_add(L, SYM_GROUPS, "groups", all[SYM_AT_GROUP], sizeof(uint16_t)));
    SPRY_GO(L->ctx, layout_add(L, SYM_COUNTS, "counts", all[SYM_AT_COUNT], sizeof(int64_t)));
    SPRY_GO(L->ctx,
            layout_add(L, SYM_UNITS, "units", (units + 1) * SYM_UNIT_NUMBERS, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, SYM_ABSENT, "absent", A->rows, sizeof(uint8_t)));
    L->array[SYM_ABSENT].aside = true;
    memcpy(L->array[SYM_UNITS].data, s.units,
           (size_t)((units + 1) * SYM_UNIT_NUMBERS) * sizeof(int64_t));
    SPRY_GO(L->ctx, make_windows(L, &s.half));
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->nnz + A->rows)) schedule(dynamic, 1)
    for (int64_t p = 0; p < units; p++) {
        const int64_t *at = s.units + p * SYM_UNIT_NUMBERS;
        laying u = {A,
                    s.half.rows[p],
                    s.half.rows[p + 1],
                    at[SYM_AT_VALUE],
                    at[SYM_AT_DISTANCE],
                    at[SYM_AT_GROUP],
                    at[SYM_AT_COUNT],
                    0,
                    L};
        lay_unit(&u);
    }
    layout_note(L, "columns", s.wide ? 32 : 16);
    layout_note(L, "parts", units);
done:
    sizes_clear(L->ctx, &s);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const sym_options *o = given;
    const int64_t value = (int64_t)layout_value_size(A->type, (stored_kind)o->values);
    sizes s;
    const spry_status status = find_sizes(ctx, A, o, &s);
    if (status != SPRY_STATUS_OK)
        return status;
    const int64_t *all = totals(&s);
    f->stored = all[SYM_AT_VALUE];
    f->bytes = f->stored * value + all[SYM_AT_DISTANCE] * (s.wide ? 4 : 2) + all[SYM_AT_GROUP] * 2 +
               all[SYM_AT_COUNT] * 8 + (s.half.parts + 1) * SYM_UNIT_NUMBERS * 8;
    sizes_clear(ctx, &s);
    return SPRY_STATUS_OK;
}

/* --- entries ------------------------------------------------------------------------------------
 */

/* A group of a layout: its first row, value and distance. */
typedef struct place {
    int64_t row, value, distance;
} place;

static int64_t column_of(const layout *L, int64_t row, int64_t distance)
{
    const void *data = L->array[SYM_DISTANCES].data;
    return row - 1 -
           (L->number[SYM_WIDE] ? (int64_t)((const uint32_t *)data)[distance]
                                : (int64_t)((const uint16_t *)data)[distance]);
}

static void list_alike(const layout *L, const sym_group *g, place at, layout_visit visit,
                       void *data)
{
    int64_t k = at.value + g->rows;
    for (int64_t c = 0; c < g->columns; c++) {
        const int64_t column = column_of(L, at.row, at.distance + c);
        for (int l = 0; l < g->rows; l++)
            visit(data, at.row + l, column, k++);
    }
    for (int l = 1; l < g->rows; l++)
        for (int m = 0; m < l; m++)
            visit(data, at.row + l, at.row + m, k++);
}

static void list_shifted(const layout *L, const sym_group *g, place at, layout_visit visit,
                         void *data)
{
    int64_t k = at.value + g->rows;
    for (int d = 0; d < g->runs + g->singles + g->near_diagonal; d++) {
        const int64_t column =
            d < g->runs + g->singles ? column_of(L, at.row, at.distance + d) : at.row - 1;
        for (int q = 0; q < (d < g->runs ? SYM_RUN : 1); q++)
            for (int l = 0; l < SYM_SHIFTED_ROWS; l++)
                visit(data, at.row + l, column + q + l, k++);
    }
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *units = L->array[SYM_UNITS].data;
    const int64_t *first = units + begin * SYM_UNIT_NUMBERS, *last = units + end * SYM_UNIT_NUMBERS;
    const uint16_t *words = L->array[SYM_GROUPS].data;
    const int64_t *counts = (const int64_t *)L->array[SYM_COUNTS].data + first[SYM_AT_COUNT];
    const uint8_t *absent = L->array[SYM_ABSENT].data;
    place at = {first[SYM_AT_ROW], first[SYM_AT_VALUE], first[SYM_AT_DISTANCE]};
    for (int64_t w = first[SYM_AT_GROUP]; w < last[SYM_AT_GROUP]; w++) {
        const sym_group g = sym_take(words[w], &counts);
        for (int l = 0; l < g.rows; l++)
            if (!absent[at.row + l])
                visit(data, at.row + l, at.row + l, at.value + l);
        if (g.shape == SYM_SHIFTED)
            list_shifted(L, &g, at, visit, data);
        else
            list_alike(L, &g, at, visit, data);
        at = (place){at.row + g.rows, at.value + g.values, at.distance + g.distances};
    }
}

static int64_t work(const layout *L, int64_t unit)
{
    return ((const int64_t *)L->array[SYM_UNITS].data)[unit * SYM_UNIT_NUMBERS + SYM_AT_VALUE];
}

const layout_class format_sym = {.name = "sym",
                                 .summary = "half of a symmetric, hermitian or skew matrix",
                                 .options = SPRY_OPTION_LIST(options_table),
                                 .grid = "columns=auto|32",
                                 .cost = {.byte = 1.25, .conversion = 15},
                                 .walk = WALK_mirrored,
                                 .whole = true,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = entries,
                                 .work = work};
