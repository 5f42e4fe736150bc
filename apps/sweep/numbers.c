/*
 * The numbers of runs, from the JSON that applications write: numbers, words and truths of the
 * whole, those of objects within it as `measures.gain`; of a list of objects how many there are,
 * `steps.count`, and those of the last, `steps.residual`.
 */
#include "sweep/sweep.h"

#include "cli/reader.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 512, JSON_BYTES = 64 << 20 };

/* A name that a column of the sweep has is another one of a number. */
static bool is_taken(const sweep *s, const char *name)
{
    bool taken = cli_has_word("run exit run_seconds message", name);
    for (int i = 0; i < s->grid.count; i++)
        taken = taken || strcmp(s->grid.list[i].name, name) == 0;
    return taken;
}

static int column_of(sweep *s, const char *number)
{
    char name[2 * CLI_NAME + 8];
    snprintf(name, sizeof name, "%s%s", is_taken(s, number) ? "result." : "", number);
    for (int i = 0; i < s->column_count; i++)
        if (strcmp(s->columns[i], name) == 0)
            return i;
    if (s->column_count == COLUMNS)
        return -1;
    if (!s->columns)
        s->columns = cli_alloc(COLUMNS * sizeof *s->columns);
    memcpy(s->columns[s->column_count], name, sizeof name);
    return s->column_count++;
}

static void put_cell(sweep *s, sweep_run *r, const char *name, const char *text)
{
    const int column = column_of(s, name);
    if (column < 0)
        return;
    if (!r->cells) {
        r->cells = cli_alloc(COLUMNS * sizeof *r->cells);
        memset(r->cells, 0, COLUMNS * sizeof *r->cells);
    }
    free(r->cells[column]);
    r->cells[column] = cli_alloc(strlen(text) + 1);
    memcpy(r->cells[column], text, strlen(text) + 1);
    r->cell_count = column >= r->cell_count ? column + 1 : r->cell_count;
}

static void take_value(sweep *s, sweep_run *r, const reader *d, const reader_value *v,
                       const char *name, int depth);

static void take_members(sweep *s, sweep_run *r, const reader *d, const reader_value *v,
                         const char *before, int depth)
{
    char name[2 * CLI_NAME];
    for (const reader_value *m = reader_first(d, v); m; m = reader_next(d, m)) {
        snprintf(name, sizeof name, "%.60s%s%.60s", before, *before ? "." : "",
                 m->key ? m->key : "");
        take_value(s, r, d, m, name, depth);
    }
}

static void take_list(sweep *s, sweep_run *r, const reader *d, const reader_value *v,
                      const char *name, int depth)
{
    const reader_value *last = NULL;
    char text[40], size[2 * CLI_NAME + 8];
    int64_t count = 0;
    for (const reader_value *m = reader_first(d, v); m; m = reader_next(d, m), count++)
        last = m;
    if (last && last->kind != '{')
        return; /* a list of numbers is none */
    snprintf(text, sizeof text, "%lld", (long long)count);
    snprintf(size, sizeof size, "%s.count", name);
    put_cell(s, r, size, text);
    if (last)
        take_members(s, r, d, last, name, depth);
}

static void take_value(sweep *s, sweep_run *r, const reader *d, const reader_value *v,
                       const char *name, int depth)
{
    char text[40];
    if (v->kind == '{' && depth < 3) {
        take_members(s, r, d, v, name, depth + 1);
    } else if (v->kind == '[' && depth < 3) {
        take_list(s, r, d, v, name, depth + 1);
    } else if (v->kind == '0') {
        snprintf(text, sizeof text, "%.10g", v->number);
        put_cell(s, r, name, text);
    } else if (v->kind == '"' || v->kind == 't' || v->kind == 'f') {
        put_cell(s, r, name, v->kind == '"' ? v->text : v->kind == 't' ? "true" : "false");
    }
}

void numbers_take(sweep *s, int64_t run, const char *path)
{
    FILE *file = fopen(path, "r");
    reader d = {0};
    if (!file)
        return;
    size_t room = 1 << 16, size = 0, got;
    char *text = cli_alloc(room);
    while ((got = fread(text + size, 1, room - size, file)) > 0 && size < JSON_BYTES) {
        size += got;
        if (size < room)
            continue;
        char *more = cli_alloc(2 * room);
        memcpy(more, text, size);
        free(text);
        text = more;
        room *= 2;
    }
    fclose(file);
    if (reader_parse(&d, text, size) && d.count > 0 && d.values[0].kind == '{')
        take_members(s, &s->runs[run], &d, &d.values[0], "", 0);
    reader_free(&d);
    free(text);
}

/* --- tables --------------------------------------------------------------------------------------
 */

static const char *state_of(const sweep_run *r, char text[16])
{
    if (r->state == RUN_ENDED || r->state == RUN_KEPT)
        snprintf(text, 16, "%d", r->exit_status);
    else
        snprintf(text, 16, "%s", r->state == RUN_WAITS ? "not run" : "stopped");
    return text;
}

static const char *cell_of(const sweep_run *r, int column)
{
    return r->cells && column < r->cell_count && r->cells[column] ? r->cells[column] : "";
}

/* A field of CSV (RFC 4180). */
static void put_field(FILE *out, const char *text, const char *after)
{
    const bool plain = !text[strcspn(text, ",\"\r\n")];
    if (!plain)
        fputc('"', out);
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            fputc('"', out);
        fputc(*p, out);
    }
    fprintf(out, "%s%s", plain ? "" : "\"", after);
}

static void write_csv(FILE *out, const void *data)
{
    const sweep *s = data;
    char state[16], number[32];
    fputs("run,", out);
    for (int i = 0; i < s->grid.count; i++)
        put_field(out, s->grid.list[i].name, ",");
    fputs("exit,run_seconds,", out);
    for (int i = 0; i < s->column_count; i++)
        put_field(out, s->columns[i], ",");
    fputs("message\n", out);
    for (int64_t run = 0; run < s->grid.runs; run++) {
        const sweep_run *r = &s->runs[run];
        fprintf(out, "%lld,", (long long)run + 1);
        for (int i = 0; i < s->grid.count; i++)
            put_field(out, values_of(&s->grid, run, i), ",");
        snprintf(number, sizeof number, "%.3f", r->seconds);
        put_field(out, r->state == RUN_GOES ? "stopped" : state_of(r, state), ",");
        put_field(out, r->state == RUN_WAITS || r->state == RUN_GOES ? "" : number, ",");
        for (int i = 0; i < s->column_count; i++)
            put_field(out, cell_of(r, i), ",");
        put_field(out, r->message, "\n");
    }
}

int numbers_write(const sweep *s)
{
    char path[SWEEP_PATH];
    snprintf(path, sizeof path, "%s/table.csv", s->folder);
    return file_write_text(s->ctx, path, write_csv, s);
}

/* Whether runs have different values; times always have. */
static bool differs(const sweep *s, int column)
{
    const char *first = NULL, *name = s->columns[column];
    const size_t length = strlen(name), tail = strlen("seconds");
    if (length >= tail && strcmp(name + length - tail, "seconds") == 0)
        return false;
    for (int64_t run = 0; run < s->grid.runs; run++) {
        const char *cell = cell_of(&s->runs[run], column);
        if (*cell && first && strcmp(cell, first) != 0)
            return true;
        first = *cell ? cell : first;
    }
    return false;
}

static const char *short_cell(const char *text, char cell[24])
{
    char *end;
    const double value = strtod(text, &end);
    if (*text && !*end && strlen(text) > 8)
        snprintf(cell, 24, "%.5g", value);
    else
        snprintf(cell, 24, "%s", text);
    return cell;
}

/* Parameters with several values are columns, others are the same in all rows. */
static bool is_shown(const sweep *s, int parameter)
{
    return s->grid.list[parameter].count > 1;
}

static int width_of(const sweep *s, int column)
{
    char cell[24];
    size_t width = strlen(s->columns[column]);
    for (int64_t run = 0; run < s->grid.runs; run++) {
        const size_t length = strlen(short_cell(cell_of(&s->runs[run], column), cell));
        width = length > width ? length : width;
    }
    return (int)width + 2;
}

/* Numbers that were asked for; or those that differ, as many as a line has room for. */
static int choose(const sweep *s, int *chosen, int most)
{
    int count = 0, room = TEXT_COLUMNS - 24;
    for (int i = 0; i < s->grid.count; i++)
        room -= is_shown(s, i) ? (int)strlen(s->grid.list[i].name) + 4 : 0;
    for (int i = 0; i < s->column_count && count < most; i++) {
        const bool asked = *s->o->show && cli_has_word(s->o->show, s->columns[i]);
        const bool echo = strncmp(s->columns[i], "result.", 7) == 0;
        if (!asked && (*s->o->show || echo || !differs(s, i) || width_of(s, i) > room))
            continue;
        room -= width_of(s, i);
        chosen[count++] = i;
    }
    return count;
}

/* Names that were asked for and that no run has. */
static void print_missing(const sweep *s)
{
    char name[2 * CLI_NAME];
    const char *p = s->o->show + strspn(s->o->show, " ");
    while (*p) {
        const size_t length = strcspn(p, " ");
        bool found = false;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 1), p);
        for (int i = 0; i < s->column_count; i++)
            found = found || strcmp(s->columns[i], name) == 0;
        if (!found)
            printf("--show: no run has a number %s; table.csv names all there are\n",
                   text_name(name));
        p += length + strspn(p + length, " ");
    }
}

static void print_row(const sweep *s, int64_t run, const int *chosen, int count, table *t)
{
    char state[16], cell[24];
    const sweep_run *r = &s->runs[run];
    table_cell(t, "%lld", (long long)run + 1);
    for (int i = 0; i < s->grid.count; i++)
        if (is_shown(s, i))
            table_cell(t, "%s", values_of(&s->grid, run, i));
    table_cell(t, "%s", state_of(r, state));
    if (r->state == RUN_WAITS)
        table_cell(t, "%s", "");
    else
        table_cell(t, "%.3g", r->seconds);
    for (int i = 0; i < count; i++)
        table_cell(t, "%s", short_cell(cell_of(r, chosen[i]), cell));
}

void numbers_print(const sweep *s)
{
    enum { MOST = 16, OWN = 3 }; /* columns of a table; run, exit, seconds */
    int chosen[MOST], most = MOST - OWN;
    char heads[SWEEP_WORDS] = ">run";
    size_t used = strlen(heads);
    for (int i = 0; i < s->grid.count; i++) {
        if (!is_shown(s, i))
            continue;
        used += (size_t)snprintf(heads + used, sizeof heads - used, "|>%s", s->grid.list[i].name);
        most--;
    }
    const int count = choose(s, chosen, most);
    used += (size_t)snprintf(heads + used, sizeof heads - used, "|>exit|>seconds");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(heads + used, sizeof heads - used, "|>%s", s->columns[chosen[i]]);
    table *t = table_new(heads);
    for (int64_t run = 0; run < s->grid.runs; run++)
        print_row(s, run, chosen, count, t);
    table_print(t, stdout);
    print_missing(s);
}

void numbers_free(sweep *s)
{
    for (int64_t run = 0; s->runs && run < s->grid.runs; run++) {
        for (int i = 0; i < s->runs[run].cell_count; i++)
            free(s->runs[run].cells[i]);
        free(s->runs[run].cells);
    }
    free(s->runs);
    free(s->columns);
}
