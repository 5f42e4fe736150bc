/* The figures of spry bench as pictures, from a run or from its file. */
#include "bench.h"

#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Billions of entries times columns per second: what counts in the end, whatever the bytes. */
static double speed(const bench_record *r)
{
    return r->seconds > 0 ? (double)r->nnz * r->columns / r->seconds / 1e9 : 0;
}

static void put_name(const bench_record *r, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", r->format, *r->params ? ":" : "", r->params);
}

void bench_draw(picture *p, const bench_data *d)
{
    bar *b = cli_alloc(((size_t)d->count + 1) * sizeof *b);
    char note[96];
    int count = 0;
    for (int i = 0; i < d->count; i++) {
        const bench_record *r = &d->records[i];
        const bool csr = strcmp(r->format, "csr") == 0 && !*r->params;
        if (*r->skipped || !(speed(r) > 0))
            continue;
        bar *to = &b[count++];
        snprintf(to->group, sizeof to->group, "%.240s, %s entries, type %s", r->matrix,
                 text_count(r->nnz), spry_type_name(r->type));
        put_name(r, to->label, sizeof to->label);
        to->length = speed(r);
        to->colour = csr ? -1 : 0;
        if (r->times_csr > 0 && !csr)
            snprintf(to->text, sizeof to->text, "%.3g (%.2f x csr)", speed(r), r->times_csr);
        else
            snprintf(to->text, sizeof to->text, "%.3g", speed(r));
    }
    snprintf(note, sizeof note, "billions of entries per second; memory read at %.1f GB/s",
             d->ceilings.read / 1e9);
    draw_bars(p, &(bars){"Products by storage format",
                         "How many entries products handle per second, a bar for a storage format.",
                         note, NULL, NULL, b, count});
    free(b);
}

/* A product takes two operations for an entry and column, eight where numbers are complex. */
static void put_point(const bench_record *r, roof_point *to)
{
    const double operations = (double)r->nnz * r->columns * (spry_type_is_complex(r->type) ? 8 : 2);
    char name[160];
    put_name(r, name, sizeof name);
    to->speed = operations / r->seconds;
    to->intensity = operations / (r->gbps * 1e9 * r->seconds);
    snprintf(to->label, sizeof to->label, "%.150s, %.150s", r->matrix, name);
}

void bench_draw_roof(picture *p, const bench_data *d)
{
    enum { MOST = 12 }; /* more cannot be told apart: the fastest */
    roof_point points[MOST];
    double least[MOST];
    int count = 0;
    for (int i = 0; i < d->count; i++) {
        const bench_record *r = &d->records[i];
        if (*r->skipped || !(speed(r) > 0) || !(r->gbps > 0))
            continue;
        int at = count < MOST ? count : MOST - 1;
        if (count == MOST && speed(r) <= least[at])
            continue;
        for (; at > 0 && least[at - 1] < speed(r); at--) {
            points[at] = points[at - 1];
            least[at] = least[at - 1];
        }
        put_point(r, &points[at]);
        least[at] = speed(r);
        count += count < MOST;
    }
    draw_roof(p, &(roof){d->count > 0 ? d->records[0].device : "cpu", d->ceilings.read,
                         d->ceilings.triad, points, count});
}

/* --- from a file -------------------------------------------------------------------------------*/

static double above_zero(double value)
{
    return value > 0 && isfinite(value) ? value : 0;
}

static bool take_record(const reader *r, const reader_value *v, bench_record *to)
{
    static const char types[] = "sdcz";
    const char *type = reader_text(r, v, "type"), *at = *type ? strchr(types, *type) : NULL;
    const double nnz = reader_number(r, v, "nnz"), columns = reader_number(r, v, "columns");
    if (!at || !(nnz >= 0 && nnz < 1e15))
        return false;
    to->type = (spry_type)(at - types);
    to->nnz = (int64_t)nnz;
    to->columns = columns >= 1 && columns <= 1e6 ? (int)columns : 1;
    to->seconds = above_zero(reader_number(r, v, "seconds"));
    to->gbps = above_zero(reader_number(r, v, "gbps"));
    to->times_csr = above_zero(reader_number(r, v, "times_csr"));
    snprintf(to->matrix, sizeof to->matrix, "%s", reader_text(r, v, "matrix"));
    snprintf(to->format, sizeof to->format, "%s", reader_text(r, v, "format"));
    snprintf(to->params, sizeof to->params, "%s", reader_text(r, v, "params"));
    snprintf(to->device, sizeof to->device, "%s", reader_text(r, v, "device"));
    snprintf(to->skipped, sizeof to->skipped, "%s", reader_text(r, v, "skipped"));
    return true;
}

int bench_read(const char *path, bench_data *d)
{
    reader r;
    int exit_status = runs_load(path, &r), count = 0;
    const reader_value *ceilings =
        exit_status == EXIT_DONE ? reader_member(&r, r.values, "ceilings") : NULL;
    const reader_value *results =
        exit_status == EXIT_DONE ? reader_member(&r, r.values, "results") : NULL;
    for (const reader_value *v = reader_first(&r, results); v; v = reader_next(&r, v))
        count++;
    bool good = above_zero(reader_number(&r, ceilings, "read_gbps")) > 0 && results;
    if (exit_status == EXIT_DONE && good) {
        d->ceilings.read = reader_number(&r, ceilings, "read_gbps") * 1e9;
        d->ceilings.triad = above_zero(reader_number(&r, ceilings, "triad_gbps")) * 1e9;
        d->records = cli_alloc(((size_t)count + 1) * sizeof *d->records);
        const reader_value *v = reader_first(&r, results);
        for (; v && good; v = reader_next(&r, v))
            good = take_record(&r, v, &d->records[d->count++]);
    }
    if (exit_status == EXIT_DONE && !good)
        exit_status = cli_fail(EXIT_INPUT,
                               "%s: no figures of products, which have ceilings and results with "
                               "nnz: spry bench spmv A --json FILE.json writes them",
                               path);
    reader_free(&r);
    return exit_status;
}
