/* Rows sorted by length with teams of lanes: see teams.h. */
#include "formats/teams/teams.h"

#include "matrix/entries.h"

#define TEAMS_OPTIONS(item)                                           \
    item(INT, each, "32", 1, 4096, NULL,                              \
         "most entries that a lane has; longer rows have more lanes") \
    LAYOUT_VALUES_OPTION(item)

typedef struct teams_options {
    TEAMS_OPTIONS(SPRY_OPTION_FIELD)
} teams_options;

SPRY_OPTION_TABLE(options_table, teams_options, TEAMS_OPTIONS(SPRY_OPTION_ROW))

/* Units of a row. */
static int64_t parts_of(int class)
{
    return class < TEAMS_SPLITS ? (int64_t)1 << (TEAMS_SPLITS - class) : 1;
}

/* Teams of a unit. */
static int64_t teams_of(int class)
{
    if (class < TEAMS_SPLITS)
        return 1;
    return class < TEAMS_CLASSES - 1 ? (int64_t)1 << (class - TEAMS_SPLITS) : TEAMS_UNIT;
}

int64_t teams_limit(int64_t each, int class)
{
    enum { ONE_LANE = TEAMS_CLASSES - 2 };
    return class > ONE_LANE ? -1 : class == ONE_LANE ? 0 : each << (ONE_LANE - 1 - class);
}

void teams_find_units(teams_shape *s)
{
    s->units[0] = s->first[0] = 0;
    for (int c = 0; c < TEAMS_CLASSES; c++) {
        const int64_t teams = teams_of(c), rows = s->sorted[c + 1] - s->sorted[c];
        const int64_t units = (rows * parts_of(c) + teams - 1) / teams;
        s->units[c + 1] = s->units[c] + units;
        s->first[c + 1] = s->first[c] + units * teams;
    }
}

/* How A is cut. */
typedef struct cutting {
    teams_shape s;
    int32_t *order;            /* rows by length */
    int64_t *offsets, *firsts; /* of units */
} cutting;

/* The place in the order of lengths of a team of a class. */
static int64_t sorted_of(const teams_shape *s, int class, int64_t team)
{
    return s->sorted[class] + (team - s->first[class]) / parts_of(class);
}

static int64_t length_of(const matrix_arrays *A, int64_t row)
{
    return A->offsets[row + 1] - A->offsets[row];
}

/* Counts rows by length, then places them. */
static spry_status sort_rows(spry_context *ctx, const matrix_arrays *A, cutting *cut)
{
    const int64_t longest = matrix_longest_row(ctx, A);
    int64_t *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, longest + 2, sizeof *next, &next));
    SPRY_GO(ctx, base_alloc(ctx, A->rows, sizeof *cut->order, &cut->order));
    for (int64_t i = 0; i < A->rows; i++)
        next[longest - length_of(A, i) + 1]++;
    for (int64_t k = 0; k <= longest; k++)
        next[k + 1] += next[k];
    for (int c = 0; c < TEAMS_CLASSES; c++) {
        const int64_t limit = teams_limit(cut->s.each, c);
        cut->s.sorted[c + 1] = limit < longest ? next[longest - limit] : 0;
    }
    for (int64_t i = 0; i < A->rows; i++)
        cut->order[next[longest - length_of(A, i)]++] = (int32_t)i;
done:
    base_free(ctx, next);
    return status;
}

/* Units are as wide as their first row needs. */
static void find_widths(const matrix_arrays *A, cutting *cut)
{
    const teams_shape *s = &cut->s;
    cut->offsets[0] = 0;
    for (int c = 0; c < TEAMS_CLASSES; c++) {
        const int64_t teams = teams_of(c), lanes = parts_of(c) * TEAMS_UNIT / teams;
        for (int64_t u = s->units[c]; u < s->units[c + 1]; u++) {
            cut->firsts[u] = s->first[c] + (u - s->units[c]) * teams;
            const int64_t i = cut->order[sorted_of(s, c, cut->firsts[u])];
            const int64_t width = (length_of(A, i) + lanes - 1) / lanes;
            cut->offsets[u + 1] = cut->offsets[u] + width * TEAMS_UNIT;
        }
    }
    cut->firsts[s->units[TEAMS_CLASSES]] = s->first[TEAMS_CLASSES];
}

static void cutting_free(spry_context *ctx, cutting *cut)
{
    base_free(ctx, cut->order);
    base_free(ctx, cut->offsets);
    base_free(ctx, cut->firsts);
}

static spry_status make_cutting(spry_context *ctx, const matrix_arrays *A, int64_t each,
                                cutting *cut)
{
    spry_status status = SPRY_STATUS_OK;
    *cut = (cutting){.s.each = each};
    SPRY_GO(ctx, sort_rows(ctx, A, cut));
    teams_find_units(&cut->s);
    const int64_t units = cut->s.units[TEAMS_CLASSES];
    SPRY_GO(ctx, base_alloc(ctx, units + 1, sizeof *cut->offsets, &cut->offsets));
    SPRY_GO(ctx, base_alloc(ctx, units + 1, sizeof *cut->firsts, &cut->firsts));
    find_widths(A, cut);
done:
    return status;
}

/* Units that are not the first of their row carry to it. */
static void list_carries(layout *L, const cutting *cut)
{
    const teams_shape *s = &cut->s;
    L->carry_at[0] = 0;
    for (int c = 0; c < TEAMS_CLASSES; c++)
        for (int64_t u = s->units[c]; u < s->units[c + 1]; u++) {
            const bool carries = (u - s->units[c]) % parts_of(c) > 0;
            L->carry_row[u] = carries ? cut->order[sorted_of(s, c, cut->firsts[u])] : 0;
            L->carry_at[u + 1] = L->carry_at[u] + carries;
        }
}

/* Entries of a unit's row that are in units before it. */
static int64_t entries_before(const layout *L, int64_t u)
{
    const int64_t *offsets = L->array[TEAMS_OFFSETS].data;
    int64_t first = u;
    while (L->carry_at[first + 1] > L->carry_at[first])
        first--;
    return offsets[u] - offsets[first];
}

/* The rows of teams, and how many of their entries they have. */
static void list_rows(const layout *L, const matrix_arrays *A, const cutting *cut)
{
    const teams_shape *s = &cut->s;
    int32_t *rows = L->array[TEAMS_ROWS].data, *lengths = L->array[TEAMS_LENGTHS].data;
    for (int c = 0; c < TEAMS_CLASSES; c++)
        for (int64_t p = s->first[c]; p < s->first[c + 1]; p++) {
            const int64_t i = sorted_of(s, c, p);
            rows[p] = i < s->sorted[c + 1] ? cut->order[i] : -1;
            lengths[p] = rows[p] >= 0 ? (int32_t)length_of(A, rows[p]) : 0;
        }
    for (int64_t u = 0; u < s->units[TEAMS_SPLITS]; u++) {
        const int64_t places = cut->offsets[u + 1] - cut->offsets[u];
        const int64_t left = lengths[u] - entries_before(L, u);
        lengths[u] = (int32_t)(left < 0 ? 0 : left < places ? left : places);
    }
}

static void fill_unit(layout *L, const matrix_arrays *A, int64_t u)
{
    const int64_t *offsets = (const int64_t *)L->array[TEAMS_OFFSETS].data + u;
    const int64_t *firsts = (const int64_t *)L->array[TEAMS_FIRSTS].data + u;
    const int64_t lanes = TEAMS_UNIT / (firsts[1] - firsts[0]);
    const int32_t *rows = (const int32_t *)L->array[TEAMS_ROWS].data + firsts[0];
    const int64_t before = entries_before(L, u);
    int32_t *columns = L->array[TEAMS_COLUMNS].data;
    for (int64_t at = 0; at < offsets[1] - offsets[0]; at++) {
        const int64_t lane = at % TEAMS_UNIT, row = rows[lane / lanes];
        const int64_t k = before + at / TEAMS_UNIT * lanes + lane % lanes;
        const int64_t length = row >= 0 ? length_of(A, row) : 0;
        const int64_t from = row >= 0 ? A->offsets[row] : 0, place = offsets[0] + at;
        columns[place] = length > 0 ? A->col_index[from + (k < length ? k : length - 1)] : 0;
        if (k < length)
            layout_store(L, place, A->values, from + k);
    }
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const teams_options *o = given;
    cutting cut = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, make_cutting(L->ctx, A, o->each, &cut));
    const int64_t teams = cut.s.first[TEAMS_CLASSES];
    layout_note(L, "each", o->each);
    L->units = cut.s.units[TEAMS_CLASSES];
    L->stored = cut.offsets[L->units];
    SPRY_GO(L->ctx, layout_add_values(L, true));
    SPRY_GO(L->ctx, layout_add(L, TEAMS_COLUMNS, "columns", L->stored, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, TEAMS_ROWS, "rows", teams, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, TEAMS_LENGTHS, "lengths", teams, sizeof(int32_t)));
    L->array[TEAMS_LENGTHS].aside = true;
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units, sizeof *L->carry_row, &L->carry_row));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units + 1, sizeof *L->carry_at, &L->carry_at));
    L->array[TEAMS_OFFSETS] = (layout_array){"offsets", L->units + 1, 8, cut.offsets, false};
    L->array[TEAMS_FIRSTS] = (layout_array){"firsts", L->units + 1, 8, cut.firsts, false};
    list_carries(L, &cut);
    list_rows(L, A, &cut);
    cut.offsets = cut.firsts = NULL; /* the layout's now */
#pragma omp parallel for num_threads(matrix_parts(L->ctx, L->stored)) schedule(dynamic, 16)
    for (int64_t u = 0; u < L->units; u++)
        fill_unit(L, A, u);
done:
    cutting_free(L->ctx, &cut);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const teams_options *o = given;
    const int64_t value = (int64_t)layout_value_size(A->type, (stored_kind)o->values);
    cutting cut = {0};
    const spry_status status = make_cutting(ctx, A, o->each, &cut);
    if (status == SPRY_STATUS_OK) {
        const int64_t units = cut.s.units[TEAMS_CLASSES];
        f->stored = cut.offsets[units];
        f->bytes = f->stored * (value + 4) + cut.s.first[TEAMS_CLASSES] * 4 + 2 * (units + 1) * 8;
    }
    cutting_free(ctx, &cut);
    return status;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *offsets = L->array[TEAMS_OFFSETS].data, *firsts = L->array[TEAMS_FIRSTS].data;
    const int32_t *rows = L->array[TEAMS_ROWS].data, *lengths = L->array[TEAMS_LENGTHS].data;
    const int32_t *columns = L->array[TEAMS_COLUMNS].data;
    for (int64_t u = begin; u < end; u++) {
        const int64_t teams = firsts[u + 1] - firsts[u], lanes = TEAMS_UNIT / teams;
        for (int64_t t = 0; t < teams; t++)
            for (int64_t k = 0; k < lengths[firsts[u] + t]; k++) {
                const int64_t place = offsets[u] + k / lanes * TEAMS_UNIT + t * lanes + k % lanes;
                visit(data, rows[firsts[u] + t], columns[place], place);
            }
    }
}

/* Places and teams: both take time. */
static int64_t work(const layout *L, int64_t unit)
{
    return ((const int64_t *)L->array[TEAMS_OFFSETS].data)[unit] +
           ((const int64_t *)L->array[TEAMS_FIRSTS].data)[unit];
}

const layout_class format_teams = {.name = "teams",
                                   .summary =
                                       "rows sorted by length, with as many lanes as they are long",
                                   .options = SPRY_OPTION_LIST(options_table),
                                   .cost = {.byte = 1.5,
                                            .conversion = 15,
                                            .device_byte = 1.1,
                                            .device_uneven = 0.5,
                                            .device_making = 4},
                                   .walk = WALK_teams,
                                   .build = build,
                                   .forecast = forecast,
                                   .entries = entries,
                                   .work = work};
