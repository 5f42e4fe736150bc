/* Numbers that an analysis has found: which ones, and as CSV, as raw files of SPICE, as pictures.
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 5000, MOST_LINES = 12, MOST_POINTS = 4000 };

static const char *const abscissae[] = {"point", "sweep", "time", "frequency", "time", "time"};

/* v(a), v(a,b), i(a), and of complex numbers vm, vdb, vp, vr, vi and those of i: the letters behind
 * the first are handed back. */
static bool take_apart(const char *word, char kind[8], char a[WORD_SIZE], char b[WORD_SIZE])
{
    const char *open = strchr(word, '('), *at = open;
    char rest[WORD_SIZE];
    if (!open || open == word || open - word > 3 || (*word != 'v' && *word != 'i'))
        return false;
    snprintf(kind, 8, "%.*s", (int)(open - word), word);
    *b = '\0';
    if (!text_word_next(&at, false, a))
        return false;
    return !text_word_next(&at, false, b) || !text_word_next(&at, false, rest);
}

static void add_column(results *r, int64_t *room, const char *name, int a, int b)
{
    r->columns = grow(r->columns, r->count, room, sizeof *r->columns);
    r->columns[r->count] = (shown_column){.a = a, .b = b};
    snprintf(r->columns[r->count++].name, sizeof r->columns->name, "%s", name);
}

int results_column(const results *r, const char *word, char part[8])
{
    char kind[8], a[WORD_SIZE], b[WORD_SIZE];
    int unknowns[2] = {0, 0};
    if (!take_apart(word, kind, a, b) ||
        !circuit_reference((void *)(uintptr_t)r->c, *kind, a, b, unknowns))
        return -1;
    snprintf(part, 8, "%s", kind + 1);
    for (int k = 1; k < r->count; k++)
        if (r->columns[k].a == unknowns[0] && r->columns[k].b == unknowns[1])
            return k;
    return -1;
}

/* Columns named in a text; what is not one is a fault of the line, or (NULL) of --show. */
static void add_named(results *r, int64_t *room, const char *text, const text_line *l, bool lenient)
{
    char word[WORD_SIZE], kind[8], a[WORD_SIZE], b[WORD_SIZE], part[8];
    while (text_word_next(&text, true, word)) {
        int unknowns[2] = {0, 0};
        const bool known = take_apart(word, kind, a, b);
        if (lenient && !known)
            continue;
        if (!known || !circuit_reference((void *)(uintptr_t)r->c, *kind, a, b, unknowns))
            text_fault(&r->c->text, l, "%sthere is no %.100s",
                       l ? "" : "--show: ", l ? word : text_name(word));
        if (results_column(r, word, part) < 0)
            add_column(r, room, word, unknowns[0], unknowns[1]);
    }
}

static void add_lines(results *r, int64_t *room, const int64_t *lines, int64_t count, bool lenient)
{
    for (int64_t k = 0; k < count; k++) {
        const text_line *l = &r->c->text.lines[lines[k]];
        add_named(r, room, l->text + strcspn(l->text, " \t"), l, lenient);
    }
}

void results_make(results *r, const circuit *c, const char *show, int kind)
{
    int64_t room = 0;
    char name[WORD_SIZE];
    *r = (results){.c = c, .kind = kind, .complex = kind == ANALYSIS_AC};
    add_column(r, &room, abscissae[kind], -1, 0);
    if (*show)
        add_named(r, &room, show, NULL, false);
    else
        add_lines(r, &room, c->saves, c->save_count, false);
    if (r->count == 1 && c->size - 1 <= MOST_COLUMNS)
        for (int k = 1; k < c->size; k++) {
            snprintf(name, sizeof name, "%c(%.400s)", c->unknowns[k].current ? 'i' : 'v',
                     c->unknowns[k].name);
            add_column(r, &room, name, k, 0);
        }
    r->shown = r->count;
    add_lines(r, &room, c->measures, c->measure_count, true);
    if (r->count == 1)
        text_fault(&c->text, NULL,
                   "%s: %s unknowns are too many to write; .save or --show says which",
                   text_name(c->text.files[0]), text_count(c->size - 1));
}

void results_free(results *r)
{
    free(r->columns);
    free(r->numbers);
}

/* Numbers of a row: the abscissa, then one or two for each column. */
static int64_t width_of(const results *r)
{
    return 1 + (int64_t)(r->count - 1) * (1 + r->complex);
}

void results_add(results *r, double abscissa, const double *x, const double *imaginary)
{
    const int64_t width = width_of(r);
    r->numbers = grow(r->numbers, r->rows, &r->room, (size_t)width * sizeof *r->numbers);
    double *to = r->numbers + r->rows++ * width;
    *to++ = abscissa;
    for (int k = 1; k < r->count; k++) {
        const shown_column *n = &r->columns[k];
        *to++ = x[n->a] - x[n->b];
        if (r->complex)
            *to++ = imaginary[n->a] - imaginary[n->b];
    }
}

double results_at(const results *r, int64_t row, int k, bool imaginary)
{
    const double *from = r->numbers + row * width_of(r);
    if (k == 0)
        return imaginary ? 0 : *from;
    return r->complex ? from[2 * k - 1 + imaginary] : from[k];
}

/* --- files ------------------------------------------------------------------------------------ */

/* NAME, and NAME-2 and so on of later analyses. */
static void path_of(const char *name, int number, char *path, size_t size)
{
    const char *dot = strrchr(name, '.');
    if (number <= 1 || file_is_stdout(name))
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%.*s-%d%s", (int)(dot - name), name, number, dot);
}

static void write_csv(FILE *out, const void *data)
{
    const results *r = data;
    fprintf(out, "%s", r->columns[0].name);
    for (int k = 1; k < r->shown; k++)
        if (r->complex)
            fprintf(out, ",\"re %.200s\",\"im %.200s\"", r->columns[k].name, r->columns[k].name);
        else
            fprintf(out, strchr(r->columns[k].name, ',') ? ",\"%.400s\"" : ",%.400s",
                    r->columns[k].name);
    for (int64_t i = 0; i < r->rows; i++) {
        fprintf(out, "\n%.12g", results_at(r, i, 0, false));
        for (int k = 1; k < r->shown; k++)
            for (int part = 0; part <= r->complex; part++)
                fprintf(out, ",%.9g", results_at(r, i, k, part));
    }
    fprintf(out, "\n");
}

/* The raw file of SPICE3; complex numbers have a real abscissa with an imaginary part of 0. */
static void write_raw(FILE *out, const results *r, bool ascii)
{
    static const char *const names[] = {"Operating Point",       "DC transfer characteristic",
                                        "Transient Analysis",    "AC Analysis",
                                        "Periodic Steady State", "Envelope"};
    fprintf(out,
            "Title: %.300s\nDate: -\nPlotname: %s\nFlags: %s\nNo. Variables: %d\n"
            "No. Points: %lld\nVariables:\n",
            r->c->title, names[r->kind], r->complex ? "complex" : "real", r->shown,
            (long long)r->rows);
    for (int k = 0; k < r->shown; k++)
        fprintf(out, "\t%d\t%.400s\t%s\n", k, r->columns[k].name,
                k == 0                       ? abscissae[r->kind]
                : *r->columns[k].name == 'v' ? "voltage"
                                             : "current");
    fprintf(out, ascii ? "Values:\n" : "Binary:\n");
    for (int64_t i = 0; i < r->rows; i++) {
        if (ascii)
            fprintf(out, " %lld", (long long)i);
        for (int k = 0; k < r->shown; k++) {
            const double re = results_at(r, i, k, false), im = results_at(r, i, k, true);
            if (!ascii) {
                fwrite(&re, sizeof re, 1, out);
                if (r->complex)
                    fwrite(&im, sizeof im, 1, out);
            } else if (r->complex) {
                fprintf(out, "\t%.15e,%.15e\n", re, im);
            } else {
                fprintf(out, "\t%.15e\n", re);
            }
        }
    }
}

static void write_raw_text(FILE *out, const void *data)
{
    write_raw(out, data, true);
}

static void write_raw_bytes(FILE *out, const void *data)
{
    write_raw(out, data, false);
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

int results_check(spry_context *ctx, const circuit_options *o)
{
    if (o->output && !file_is_stdout(o->output) && !ends_in(o->output, ".csv") &&
        !ends_in(o->output, ".raw"))
        return cli_fail(EXIT_INPUT, "%s: the name has to end in .csv or .raw", o->output);
    if (o->plot && !ends_in(o->plot, ".svg"))
        return cli_fail(EXIT_INPUT, "%s: the name has to end in .svg", o->plot);
    const char *const paths[] = {o->output, o->plot, o->json, o->matrices};
    int exit_status = EXIT_DONE;
    for (int k = 0; k < 4 && exit_status == EXIT_DONE; k++)
        if (paths[k] && !file_is_stdout(paths[k]))
            exit_status = file_check_text(ctx, paths[k]);
    return exit_status;
}

/* --- pictures --------------------------------------------------------------------------------- */

typedef struct drawing {
    const results *r;
    int64_t count;
    int lines, columns[MOST_LINES];
    double *xs, *ys;
    char labels[MOST_LINES][64];
} drawing;

static double drawn_value(const results *r, int64_t row, int k)
{
    const double re = results_at(r, row, k, false);
    return r->complex ? 20 * log10(hypot(re, results_at(r, row, k, true))) : re;
}

/* Where there are more points than can be seen, the least and the largest of each piece. */
static void take_points(drawing *d)
{
    const results *r = d->r;
    const int64_t pieces = r->rows > MOST_POINTS ? MOST_POINTS / 2 : r->rows;
    d->count = r->rows > MOST_POINTS ? 2 * pieces : r->rows;
    d->xs = cli_alloc((size_t)(2 * d->count * d->lines + 1) * sizeof *d->xs);
    d->ys = d->xs + d->count * d->lines;
    for (int l = 0; l < d->lines; l++)
        for (int64_t p = 0; p < pieces; p++) {
            const int64_t first = p * r->rows / pieces, last = (p + 1) * r->rows / pieces;
            int64_t least = first, most = first;
            for (int64_t i = first; i < last; i++) {
                least = drawn_value(r, i, d->columns[l]) < drawn_value(r, least, d->columns[l])
                            ? i
                            : least;
                most = drawn_value(r, i, d->columns[l]) > drawn_value(r, most, d->columns[l])
                           ? i
                           : most;
            }
            const int64_t rows[2] = {least < most ? least : most, least < most ? most : least};
            for (int64_t i = 0; i < d->count / pieces; i++) {
                const int64_t to = l * d->count + p * (d->count / pieces) + i;
                d->xs[to] = results_at(r, rows[i], 0, false);
                d->ys[to] = drawn_value(r, rows[i], d->columns[l]);
            }
        }
}

static void draw(FILE *out, const void *data)
{
    const drawing *d = data;
    const results *r = d->r;
    static const char *const names[] = {"",        "swept value", "time, s", "frequency, Hz",
                                        "time, s", "time, s"};
    const bool voltage = *r->columns[d->columns[0]].name == 'v';
    const app_chart_text text = {r->c->title,
                                 names[r->kind],
                                 r->complex ? "dB"
                                 : voltage  ? "V"
                                            : "A",
                                 d->labels,
                                 r->complex && results_at(r, 0, 0, false) > 0,
                                 false};
    app_chart(out, &text, d->xs, d->ys, d->count, d->lines);
}

static int plot(spry_context *ctx, const char *path, const results *r)
{
    drawing d = {.r = r};
    char kind = 'i'; /* voltages, where there are any */
    for (int k = 1; k < r->shown; k++)
        kind = *r->columns[k].name == 'v' ? 'v' : kind;
    for (int k = 1; k < r->shown && d.lines < MOST_LINES; k++)
        if (*r->columns[k].name == kind) {
            snprintf(d.labels[d.lines], sizeof d.labels[0], "%.60s", r->columns[k].name);
            d.columns[d.lines++] = k;
        }
    if (d.lines == 0)
        return EXIT_DONE;
    take_points(&d);
    const int exit_status = file_write_text(ctx, path, draw, &d);
    free(d.xs);
    return exit_status;
}

int results_write(spry_context *ctx, const circuit_options *o, const results *r, int number)
{
    char path[4096];
    int exit_status = EXIT_DONE;
    if (o->output && r->rows > 0) {
        path_of(o->output, number, path, sizeof path);
        exit_status = file_write_text(ctx, path,
                                      !ends_in(o->output, ".raw") ? write_csv
                                      : o->ascii                  ? write_raw_text
                                                                  : write_raw_bytes,
                                      r);
    }
    if (exit_status == EXIT_DONE && o->plot && r->rows > 1) {
        path_of(o->plot, number, path, sizeof path);
        exit_status = plot(ctx, path, r);
    }
    return exit_status;
}
