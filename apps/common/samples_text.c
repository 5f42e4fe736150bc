/* Samples as text: arrays, points, ESRI ASCII grids. */
#include "common/samples.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Where a reader is; `begin` is that of the line. */
typedef struct place {
    const char *at, *begin;
    int64_t line;
} place;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';';
}

/* To the next number or word; false: the line has ended. */
static bool skip(place *p)
{
    while (is_blank(*p->at))
        p->at++;
    if (*p->at == '#' || *p->at == '%')
        p->at += strcspn(p->at, "\n");
    return *p->at && *p->at != '\n';
}

/* To the next line that has something; false: the text has ended. */
static bool next_line(place *p)
{
    while (!skip(p)) {
        if (!*p->at)
            return false;
        p->begin = ++p->at;
        p->line++;
    }
    return true;
}

static spry_status take_number(const app_samples *s, place *p, double *number)
{
    char *after = NULL;
    *number = strtod(p->at, &after);
    const bool ends = after != p->at && (!*after || *after == '\n' || is_blank(*after) ||
                                         *after == '#' || *after == '%');
    if (!ends || isinf(*number))
        return app_samples_fail(s, p->line, p->at - p->begin + 1, "%.*s is no number",
                                (int)fmin((double)strcspn(p->at, " \t\r\n,;"), 40), p->at);
    p->at = after;
    return SPRY_STATUS_OK;
}

/* Rows of numbers, all of the same length. A number and what is before it are two bytes. */
static spry_status read_rows(app_samples *s, const char *text, size_t size, int64_t *columns,
                             int64_t *rows)
{
    place p = {text, text, 1};
    spry_status status = SPRY_STATUS_OK;
    int64_t n = 0;
    *columns = *rows = 0;
    s->value = spry_alloc(s->ctx, (size / 2 + 1) * sizeof *s->value);
    if (!s->value)
        return SPRY_STATUS_NO_MEMORY;
    while (next_line(&p)) {
        int64_t count = 0;
        while (status == SPRY_STATUS_OK && skip(&p)) {
            status = take_number(s, &p, &s->value[n++]);
            count++;
        }
        if (status != SPRY_STATUS_OK)
            return status;
        if (*rows > 0 && count != *columns)
            return app_samples_fail(s, p.line, 1,
                                    "%" PRId64 " numbers, expected %" PRId64 " as in the first row",
                                    count, *columns);
        *columns = count;
        (*rows)++;
    }
    return n > 0 ? SPRY_STATUS_OK : app_samples_fail(s, 0, 0, "has no numbers");
}

spry_status app_samples_array(app_samples *s, const char *text, size_t size)
{
    return read_rows(s, text, size, &s->axis[0].count, &s->axis[1].count);
}

/* --- ESRI ----------------------------------------------------------------------------------------
 */

enum { NCOLS, NROWS, CELLSIZE, XLLCORNER, XLLCENTER, YLLCORNER, YLLCENTER, NODATA, WORDS };
static const char *const words[WORDS] = {"ncols",     "nrows",     "cellsize",  "xllcorner",
                                         "xllcenter", "yllcorner", "yllcenter", "nodata_value"};

static spry_status take_head(const app_samples *s, place *p, double *head)
{
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < WORDS; i++)
        head[i] = NAN;
    while (status == SPRY_STATUS_OK && next_line(p) && isalpha((unsigned char)*p->at) &&
           strncasecmp(p->at, "nan", 3) != 0) {
        const size_t length = strcspn(p->at, " \t\r\n");
        int i = 0;
        while (i < WORDS &&
               !(strlen(words[i]) == length && strncasecmp(p->at, words[i], length) == 0))
            i++;
        if (i == WORDS || !isnan(head[i]))
            return app_samples_fail(s, p->line, p->at - p->begin + 1,
                                    i == WORDS ? "%.*s is no word of the header"
                                               : "%.*s is given twice",
                                    (int)fmin((double)length, 40), p->at);
        p->at += length;
        if (!skip(p))
            return app_samples_fail(s, p->line, p->at - p->begin + 1, "a number is missing");
        status = take_number(s, p, &head[i]);
    }
    return status;
}

/* Columns or rows: how many, and where. */
static spry_status make_axis(app_samples *s, const double *head, int axis)
{
    const double count = head[axis == 0 ? NCOLS : NROWS], cell = head[CELLSIZE];
    const double corner = head[axis == 0 ? XLLCORNER : YLLCORNER];
    const double centre = head[axis == 0 ? XLLCENTER : YLLCENTER];
    const double from = isnan(centre) ? corner + cell / 2 : centre;
    app_axis *a = &s->axis[axis];
    if (!(count >= 1 && count <= 1e15 && count == floor(count) && cell > 0 && isfinite(from)))
        return app_samples_fail(s, 1, 1,
                                "the header has to give ncols, nrows, cellsize, xllcorner or "
                                "xllcenter, yllcorner or yllcenter");
    a->count = (int64_t)count;
    return SPRY_STATUS_OK;
}

static spry_status place_axis(app_samples *s, const double *head, int axis)
{
    const double cell = head[CELLSIZE], corner = head[axis == 0 ? XLLCORNER : YLLCORNER];
    const double centre = head[axis == 0 ? XLLCENTER : YLLCENTER];
    app_axis *a = &s->axis[axis];
    a->at = spry_alloc(s->ctx, (size_t)a->count * sizeof *a->at);
    if (!a->at)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t i = 0; i < a->count; i++) /* rows are from the north */
        a->at[i] = (isnan(centre) ? corner + cell / 2 : centre) +
                   cell * (double)(axis == 0 ? i : a->count - 1 - i);
    return app_samples_sort(s, axis);
}

spry_status app_samples_esri(app_samples *s, const char *text, size_t size)
{
    place p = {text, text, 1};
    double head[WORDS];
    spry_status status = take_head(s, &p, head);
    for (int axis = 0; axis < 2 && status == SPRY_STATUS_OK; axis++)
        status = make_axis(s, head, axis);
    if (status != SPRY_STATUS_OK)
        return status;
    const double wanted = (double)s->axis[0].count * (double)s->axis[1].count;
    if (wanted > (double)size)
        return app_samples_fail(s, 1, 1,
                                "%g values are promised, and the file has %zu bytes: it is cut off",
                                wanted, size);
    const int64_t n = s->axis[0].count * s->axis[1].count;
    s->value = spry_alloc(s->ctx, (size_t)n * sizeof *s->value);
    if (!s->value)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t i = 0; i < n && status == SPRY_STATUS_OK; i++) {
        if (!next_line(&p))
            return app_samples_fail(s, p.line, 1,
                                    "the file ends after %" PRId64 " of %" PRId64 " values", i, n);
        status = take_number(s, &p, &s->value[i]);
        if (s->value[i] == head[NODATA])
            s->value[i] = NAN;
    }
    if (status == SPRY_STATUS_OK && next_line(&p))
        return app_samples_fail(s, p.line, p.at - p.begin + 1,
                                "more than the %" PRId64 " values of the header", n);
    for (int axis = 0; axis < 2 && status == SPRY_STATUS_OK; axis++)
        status = place_axis(s, head, axis);
    return status;
}

/* --- points --------------------------------------------------------------------------------------
 */

static int by_place(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return p < q ? -1 : p > q;
}

/* Lines X VALUE. */
static spry_status take_profile(app_samples *s, int64_t n)
{
    app_axis *a = &s->axis[0];
    qsort(s->value, (size_t)n, 2 * sizeof *s->value, by_place);
    *a = (app_axis){.count = n, .at = spry_alloc(s->ctx, (size_t)n * sizeof *a->at)};
    s->axis[1].count = 1;
    if (!a->at)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        a->at[i] = s->value[2 * i];
        s->value[i] = s->value[2 * i + 1];
    }
    return app_samples_sort(s, 0);
}

/* Puts points into squares, two to each on average. */
static spry_status sort_points(app_samples *s, const double *rows, int64_t n)
{
    const double width = s->high[0] - s->low[0], height = s->high[1] - s->low[1];
    const double longer = fmax(width, height);
    s->side = fmax(sqrt(2 * width * height / (double)n), 2 * longer / (double)n);
    s->side = s->side > 0 ? s->side : 1;
    s->across = (int64_t)(width / s->side) + 1;
    s->along = (int64_t)(height / s->side) + 1;
    const int64_t squares = s->across * s->along;
    s->square = spry_alloc(s->ctx, (size_t)(squares + 2) * sizeof *s->square);
    s->x = spry_alloc(s->ctx, (size_t)n * sizeof *s->x);
    s->y = spry_alloc(s->ctx, (size_t)n * sizeof *s->y);
    s->value = spry_alloc(s->ctx, (size_t)n * sizeof *s->value);
    if (!s->square || !s->x || !s->y || !s->value)
        return SPRY_STATUS_NO_MEMORY;
    memset(s->square, 0, (size_t)(squares + 2) * sizeof *s->square);
    for (int pass = 0; pass < 2; pass++) { /* counts; then puts, with starts that move */
        for (int64_t i = 0; i < n; i++) {
            const double *row = rows + 3 * i;
            const int64_t a = (int64_t)((row[0] - s->low[0]) / s->side);
            const int64_t b = (int64_t)((row[1] - s->low[1]) / s->side);
            int64_t *next = &s->square[b * s->across + a + 2 - pass];
            if (pass == 1) {
                s->x[*next] = row[0];
                s->y[*next] = row[1];
                s->value[*next] = row[2];
            }
            (*next)++;
        }
        for (int64_t i = 0; i <= squares && pass == 0; i++)
            s->square[i + 1] += s->square[i];
    }
    s->points = n;
    return SPRY_STATUS_OK;
}

spry_status app_samples_xyz(app_samples *s, const char *text, size_t size)
{
    int64_t columns, n;
    spry_status status = read_rows(s, text, size, &columns, &n);
    if (status != SPRY_STATUS_OK)
        return status;
    if (columns != 2 && columns != 3)
        return app_samples_fail(s, 1, 1,
                                "%" PRId64 " numbers in a line, expected X Y VALUE, or X "
                                "VALUE of a profile",
                                columns);
    for (int64_t i = 0; i < n * columns; i++)
        if (isnan(s->value[i]))
            return app_samples_fail(s, 0, 0, "point %" PRId64 " has no place or value",
                                    i / columns + 1);
    if (columns == 2)
        return take_profile(s, n);
    double *rows = s->value;
    s->value = NULL;
    for (int axis = 0; axis < 2; axis++) {
        s->low[axis] = s->high[axis] = rows[axis];
        for (int64_t i = 1; i < n; i++) {
            s->low[axis] = fmin(s->low[axis], rows[3 * i + axis]);
            s->high[axis] = fmax(s->high[axis], rows[3 * i + axis]);
        }
    }
    status = isfinite(s->high[0] - s->low[0]) && isfinite(s->high[1] - s->low[1])
                 ? sort_points(s, rows, n)
                 : app_samples_fail(s, 0, 0, "points are too far apart");
    spry_free(s->ctx, rows);
    return status;
}
