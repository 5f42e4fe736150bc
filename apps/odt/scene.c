/* Directions, places and sizes as texts, and particles at random places. */
#include "odt/odt.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <private/marks.h>
#include <stdlib.h>
#include <string.h>

spry_status odt_fail(spry_context *ctx, const char *text)
{
    spry_context_set_message(ctx, text);
    return SPRY_STATUS_BAD_INPUT;
}

/* Of views, and of particles; files have no more. */
enum { MOST_ROWS = 10000 };

/* A text that is read from its beginning: what it is, and where the reader is. */
typedef struct reader {
    spry_context *ctx;
    const char *what; /* "views", or a file */
    int line, column; /* where the text begins */
    const char *text, *at;
} reader;

/* Of an option: in the configuration where that sets it. */
static reader read_option(const odt_run *run, const char *name, const char *text)
{
    reader r = {run->ctx, name, 1, 1, text, text};
    app_place(run->config, name, &r.what, &r.line, &r.column);
    return r;
}

static void skip(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == ',' || *r->at == '\r')
        r->at++;
}

static spry_status fault(const reader *r, const char *what)
{
    char message[512];
    int line = r->line, column = r->column;
    for (const char *p = r->text; p < r->at; p++) {
        line += *p == '\n';
        column = *p == '\n' ? 1 : column + 1;
    }
    snprintf(message, sizeof message, "%.200s:%d:%d: %.200s", r->what, line, column, what);
    return odt_fail(r->ctx, message);
}

static spry_status read_three(reader *r, double *three)
{
    memset(three, 0, 3 * sizeof *three);
    for (int a = 0; a < 3; a++) {
        char *end = NULL;
        skip(r);
        three[a] = strtod(r->at, &end);
        if (end == r->at)
            return fault(r, "expected three numbers");
        if (!isfinite(three[a]))
            return fault(r, "expected a finite number");
        r->at = end;
    }
    skip(r);
    return SPRY_STATUS_OK;
}

/* All of a file as a text. */
static spry_status read_text(spry_context *ctx, const char *path, char **text)
{
    enum { MOST = 1 << 24 };
    char message[512];
    FILE *file = fopen(path, "rb");
    *text = file ? spry_alloc(ctx, MOST + 1) : NULL;
    if (!file) {
        snprintf(message, sizeof message, "%.300s: %s", path, strerror(errno));
        return odt_fail(ctx, message);
    }
    const size_t got = *text ? fread(*text, 1, MOST, file) : 0;
    size_t zero;
    const char *why = *text && ferror(file) ? strerror(errno)
                      : got == MOST         ? "more than 16 MB of text"
                      : got                 ? text_is_binary(*text, got, &zero)
                                            : NULL;
    fclose(file);
    if (!*text)
        return SPRY_STATUS_NO_MEMORY;
    (*text)[got] = '\0';
    memmove(*text, *text + text_mark(*text, got), got + 1 - text_mark(*text, got));
    snprintf(message, sizeof message, "%.300s: %s", path, why ? why : "");
    return why ? odt_fail(ctx, message) : SPRY_STATUS_OK;
}

/* Room for one more row of an array that grows. */
static spry_status grow(spry_context *ctx, double **rows, int count, int width)
{
    double *more = spry_alloc(ctx, (size_t)(count + 1) * (size_t)width * sizeof *more);
    if (!more)
        return SPRY_STATUS_NO_MEMORY;
    if (*rows)
        memcpy(more, *rows, (size_t)count * (size_t)width * sizeof *more);
    spry_free(ctx, *rows);
    *rows = more;
    return SPRY_STATUS_OK;
}

/* --- views ---------------------------------------------------------------------------------------
 */

static spry_status check_direction(const reader *r, const double *d)
{
    return hypot(hypot(d[0], d[1]), d[2]) > 0 ? SPRY_STATUS_OK : fault(r, "0 0 0 is no direction");
}

/* To the next row: rows have ; or an end of line between them. */
static void skip_rows(reader *r)
{
    while (*r->at == ';' || isspace((unsigned char)*r->at))
        r->at++;
}

static spry_status read_view(reader *r, const double *camera, double *row)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(read_three(r, row));
    ODT_GO(check_direction(r, row));
    memcpy(row + 3, camera ? camera : row, 3 * sizeof *row);
    if (*r->at == '>') {
        r->at++;
        ODT_GO(read_three(r, row + 3));
        ODT_GO(check_direction(r, row + 3));
    }
    if (*r->at && *r->at != ';' && *r->at != '\n')
        return fault(r, "expected ; or > after three numbers");
    skip_rows(r);
done:
    return status;
}

spry_status odt_read_views(odt_run *run)
{
    odt_record *f = &run->record;
    spry_status status = SPRY_STATUS_OK;
    double camera[3] = {0};
    char *text = NULL;
    const bool has_camera = *run->o->camera;
    if (has_camera) {
        reader r = read_option(run, "camera", run->o->camera);
        ODT_GO(read_three(&r, camera));
        ODT_GO(check_direction(&r, camera));
        if (*r.at)
            ODT_GO(fault(&r, "a camera has one direction, of three numbers"));
    }
    reader r = read_option(run, "views", run->o->views);
    if (run->o->directions) {
        ODT_GO(read_text(run->ctx, run->o->directions, &text));
        r = (reader){run->ctx, run->o->directions, 1, 1, text, text};
    }
    skip_rows(&r);
    do {
        if (f->views == MOST_ROWS)
            ODT_GO(fault(&r, "these are more than 10000 views"));
        ODT_GO(grow(run->ctx, &f->directions, f->views, 6));
        ODT_GO(read_view(&r, has_camera ? camera : NULL, f->directions + 6 * (ptrdiff_t)f->views));
        f->views++;
    } while (*r.at);
done:
    spry_free(run->ctx, text);
    return status;
}

/* --- sizes ---------------------------------------------------------------------------------------
 */

spry_status odt_read_size(odt_run *run)
{
    reader r = read_option(run, "size", run->o->size);
    double *n = run->record.setup + SETUP_nx;
    int count = 0;
    for (;;) {
        char *end = NULL;
        const long long value = strtoll(r.at, &end, 10);
        if (end == r.at || value < 8 || value > 4096)
            return fault(&r, "expected a whole number from 8 to 4096");
        n[count++] = (double)value;
        r.at = end;
        if (*r.at != 'x' || count == 3)
            break;
        r.at++;
    }
    if (*r.at || count == 2)
        return fault(&r, "expected one number, or three with x between them");
    if (count == 1)
        n[1] = n[2] = n[0];
    return SPRY_STATUS_OK;
}

/* --- particles -----------------------------------------------------------------------------------
 */

/* The unit at the end of a text, which stands for all of it. */
static spry_status take_unit(reader *r, double *factor)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"m", 1}, {"mm", 1e-3}, {"um", 1e-6}, {"nm", 1e-9}};
    size_t length = strlen(r->text), end;
    while (length > 0 && isspace((unsigned char)r->text[length - 1]))
        length--;
    end = length;
    while (length > 0 && isalpha((unsigned char)r->text[length - 1]))
        length--;
    r->at = r->text + length;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strlen(units[k].name) == end - length &&
            strncmp(r->at, units[k].name, end - length) == 0) {
            *factor = units[k].factor;
            return SPRY_STATUS_OK;
        }
    return fault(r, end == length ? "a unit is missing at the end; there are: m mm um nm"
                                  : "this is no unit of length; there are: m mm um nm");
}

static spry_status read_places(odt_run *run, reader *r, double **rows, int *count)
{
    spry_status status = SPRY_STATUS_OK;
    double factor = 1;
    ODT_GO(take_unit(r, &factor));
    const char *end = r->at;
    r->at = r->text;
    for (;;) {
        skip_rows(r);
        if (r->at >= end)
            return SPRY_STATUS_OK;
        if (*count == MOST_ROWS)
            ODT_GO(fault(r, "these are more than 10000 particles"));
        ODT_GO(grow(run->ctx, rows, *count, 3));
        double *row = *rows + 3 * (ptrdiff_t)*count;
        ODT_GO(read_three(r, row));
        for (int a = 0; a < 3; a++)
            row[a] *= factor;
        (*count)++;
        if (r->at < end && *r->at != ';' && *r->at != '\n')
            return fault(r, "expected ; after three numbers");
    }
done:
    return status;
}

/* From 0 to 1, by splitmix64. */
static double random_number(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double odt_normal(uint64_t *state)
{
    const double u = random_number(state), v = random_number(state);
    return sqrt(-2 * log(1 - u)) * cos(2 * acos(-1) * v);
}

/* How far from the middle a particle may be along an axis, so that it is inside. */
static double room_for(const odt_run *run, int axis)
{
    const double *s = run->record.setup;
    return (0.5 * (s[SETUP_nx + axis] - 1) - 2) * s[SETUP_voxel] -
           0.5 * s[SETUP_diameter] * (1 + 3 * run->o->spread);
}

static spry_status place_at_random(odt_run *run, uint64_t *state, double **rows, int *count)
{
    enum { TRIES = 20000 };
    const odt_options *o = run->o;
    const double gap = o->gap > 0 ? o->gap : 1.5 * o->diameter;
    char message[200];
    int tries = 0;
    while (*count < o->count) {
        double at[3];
        bool free_place = true;
        const spry_status status = grow(run->ctx, rows, *count, 3);
        if (status != SPRY_STATUS_OK)
            return status;
        for (int a = 0; a < 3; a++)
            at[a] = (2 * random_number(state) - 1) * room_for(run, a);
        for (int j = 0; j < *count && free_place; j++) {
            const double *other = *rows + 3 * (ptrdiff_t)j;
            free_place = hypot(hypot(at[0] - other[0], at[1] - other[1]), at[2] - other[2]) >= gap;
        }
        if (free_place) {
            memcpy(*rows + 3 * (ptrdiff_t)*count, at, sizeof at);
            ++*count;
            tries = 0;
        } else if (++tries > TRIES) {
            snprintf(message, sizeof message,
                     "count = %lld: no room for more than %d particles with gaps of %g m; take a "
                     "larger size or a smaller gap",
                     (long long)o->count, *count, gap);
            return odt_fail(run->ctx, message);
        }
    }
    return SPRY_STATUS_OK;
}

static spry_status check_place(const odt_run *run, int number, const double *at)
{
    char message[240];
    for (int a = 0; a < 3; a++)
        if (fabs(at[a]) > room_for(run, a)) {
            snprintf(message, sizeof message,
                     "particle %d is at %c = %.4g um; to be inside the volume, two voxels from its "
                     "faces, it has to be within %.4g um of the middle",
                     number, "xyz"[a], 1e6 * at[a], 1e6 * room_for(run, a));
            return odt_fail(run->ctx, message);
        }
    return SPRY_STATUS_OK;
}

spry_status odt_read_particles(odt_run *run)
{
    const odt_options *o = run->o;
    odt_particles *truth = &run->record.truth;
    spry_status status = SPRY_STATUS_OK;
    uint64_t state = (uint64_t)o->seed;
    double *rows = NULL;
    char *text = NULL;
    int count = 0;
    if (o->places) {
        ODT_GO(read_text(run->ctx, o->places, &text));
        ODT_GO(read_places(run, &(reader){run->ctx, o->places, 1, 1, text, text}, &rows, &count));
    } else if (*o->particles) {
        reader r = read_option(run, "particles", o->particles);
        ODT_GO(read_places(run, &r, &rows, &count));
    } else {
        ODT_GO(place_at_random(run, &state, &rows, &count));
    }
    if (count == 0)
        ODT_GO(
            odt_fail(run->ctx, "there are no particles; set particles = x y z; ... um, or count"));
    truth->p = spry_alloc(run->ctx, (size_t)count * sizeof *truth->p);
    if (!truth->p)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    for (int j = 0; j < count; j++) {
        odt_particle *p = &truth->p[truth->count++];
        *p = (odt_particle){
            .diameter = o->diameter, .index = o->index, .absorption = o->absorption, .score = 1};
        memcpy(p->at, rows + 3 * (ptrdiff_t)j, sizeof p->at);
        const double by = o->spread > 0 ? fmin(fmax(odt_normal(&state), -3), 3) : 0;
        p->diameter *= 1 + o->spread * by;
        ODT_GO(check_place(run, j + 1, p->at));
    }
done:
    spry_free(run->ctx, rows);
    spry_free(run->ctx, text);
    return status;
}
