/* Runs as curves. */
#include "runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All of a file, in memory of malloc's; NULL after a message. */
static char *load(const char *path, size_t *size)
{
    const size_t most = (size_t)1 << 28;
    const bool standard = file_is_stdout(path); /* "-" */
    FILE *in = standard ? stdin : fopen(path, "rb");
    char *text = NULL;
    size_t room = 0, got = 1;
    *size = 0;
    if (!in) {
        cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
        return NULL;
    }
    while (got > 0 && *size <= most) {
        if (*size == room) {
            room = room ? 2 * room : 65536;
            char *more = realloc(text, room);
            if (!more)
                break;
            text = more;
        }
        got = fread(text + *size, 1, room - *size, in);
        *size += got;
    }
    const bool bad = got > 0 || ferror(in);
    if (!standard)
        fclose(in);
    if (bad) {
        cli_fail(EXIT_INPUT, "%s: %s", path,
                 *size > most ? "larger than 256 MB, so it is no file of runs" : "cannot be read");
        free(text);
        text = NULL;
    }
    return text;
}

int runs_load(const char *path, reader *r)
{
    size_t size;
    *r = (reader){0};
    char *text = load(path, &size);
    if (!text)
        return EXIT_INPUT;
    const bool good = reader_parse(r, text, size);
    free(text);
    return good ? EXIT_DONE : cli_fail(EXIT_INPUT, "%s:%zu: no JSON: %s", path, r->line, r->fault);
}

/* Room for one more, cleared. */
static curve *add_curve(runs *all)
{
    if (all->count == all->room) {
        const int room = all->room ? 2 * all->room : 4;
        curve *curves = cli_alloc((size_t)room * sizeof *curves);
        double **histories = cli_alloc((size_t)room * sizeof *histories);
        if (all->count > 0) {
            memcpy(curves, all->curves, (size_t)all->count * sizeof *curves);
            memcpy(histories, all->histories, (size_t)all->count * sizeof *histories);
        }
        free(all->curves);
        free(all->histories);
        all->curves = curves;
        all->histories = histories;
        all->room = room;
    }
    return &all->curves[all->count++];
}

static void put_end(curve *c, bool converged, bool accepted, double iterations, const char *reason,
                    const char *detail)
{
    c->converged = converged || accepted;
    if (c->converged)
        snprintf(c->end, sizeof c->end, "%s after %s iteration%s",
                 converged ? "converged" : "accepted", text_count((int64_t)iterations),
                 iterations == 1 ? "" : "s");
    else
        snprintf(c->end, sizeof c->end, "not converged after %s iteration%s: %.40s%s%.120s",
                 text_count((int64_t)iterations), iterations == 1 ? "" : "s", reason,
                 *detail ? "; " : "", cli_spell(detail));
}

static void take_warnings(const reader *r, const reader_value *record, curve *c)
{
    const reader_value *v = reader_first(r, reader_member(r, record, "warnings"));
    for (; v; v = reader_next(r, v))
        curve_take_warning(c, v->text);
}

static bool take_record(runs *all, const reader *r, const reader_value *record, const char *path,
                        int system)
{
    const reader_value *history = reader_member(r, record, "history");
    const double iterations = reader_number(r, record, "iterations");
    if (!history || history->kind != '[' || !(iterations >= 0 && iterations < 1e15))
        return false;
    curve *c = add_curve(all);
    int64_t count = 0;
    for (const reader_value *v = reader_first(r, history); v; v = reader_next(r, v))
        count++;
    double *numbers = cli_alloc(((size_t)count + 1) * sizeof *numbers);
    all->histories[all->count - 1] = numbers;
    for (const reader_value *v = reader_first(r, history); v; v = reader_next(r, v))
        *numbers++ = v->number; /* NaN where it is null */
    c->history = all->histories[all->count - 1];
    c->count = count;
    c->first = reader_number(r, record, "initial_residual");
    c->truth = reader_number(r, record, "true_residual");
    c->tolerance = reader_number(r, record, "tolerance");
    char column[24] = "";
    if (system > 0)
        snprintf(column, sizeof column, ", b %d", system);
    snprintf(c->label, sizeof c->label, "%.60s%s, %.31s, precon %.31s", draw_name(path), column,
             reader_text(r, record, "method"), reader_text(r, record, "precon"));
    const char *reason = reader_text(r, record, "reason");
    put_end(c, strcmp(reason, "converged") == 0, strcmp(reason, "accepted") == 0, iterations,
            reason, reader_text(r, record, "detail"));
    take_warnings(r, record, c);
    return true;
}

int runs_read(runs *all, const char *path)
{
    reader r;
    int exit_status = runs_load(path, &r);
    if (exit_status == EXIT_DONE) {
        const reader_value *systems = reader_member(&r, r.values, "systems");
        const bool several = systems && systems->kind == '['; /* of a plan it is a number */
        bool good =
            several ? reader_first(&r, systems) != NULL : take_record(all, &r, r.values, path, 0);
        int number = 0;
        for (const reader_value *v = several ? reader_first(&r, systems) : NULL; v && good;
             v = reader_next(&r, v))
            good = take_record(all, &r, v, path, ++number);
        if (!good)
            exit_status = cli_fail(EXIT_INPUT,
                                   "%s: no record of a solve, which has iterations and history: "
                                   "spry solve A --json FILE.json writes one",
                                   path);
    }
    reader_free(&r);
    return exit_status;
}

curve *runs_add(runs *all, const spry_result *result, const char *label)
{
    curve *c = add_curve(all);
    c->history = result->history;
    c->count = result->history_size;
    c->first = result->initial_residual;
    c->truth = result->true_residual;
    c->tolerance = result->tolerance;
    snprintf(c->label, sizeof c->label, "%s", label);
    put_end(c, result->converged, result->reason == SPRY_REASON_ACCEPTED,
            (double)result->iterations, spry_reason_name(result->reason), result->detail);
    char line[512];
    for (const char *p = result->warnings ? result->warnings : ""; *p; p += *p == '\n') {
        const size_t length = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, p);
        curve_take_warning(c, line);
        p += length;
    }
    return c;
}

void runs_free(runs *all)
{
    for (int k = 0; k < all->count; k++)
        free(all->histories[k]);
    free(all->histories);
    free(all->curves);
    *all = (runs){0};
}
