/* Samples: files by their kind, and what is between the lines of a raster. */
#include "common/samples.h"

#include <errno.h>
#include <math.h>
#include <private/marks.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096 };

/* --- files ---------------------------------------------------------------------------------------
 */

/* All bytes of a file, and a 0 behind them. */
static spry_status read_bytes(const app_samples *s, const char *path, char **bytes, size_t *size)
{
    struct stat about;
    spry_status status = SPRY_STATUS_OK;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)app_samples_fail(s, 0, 0, "%s", file ? "is no regular file" : strerror(errno));
        status = SPRY_STATUS_IO;
    } else {
        *size = (size_t)about.st_size;
        *bytes = spry_alloc(s->ctx, *size + 1);
        status = *bytes ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    }
    if (status == SPRY_STATUS_OK) {
        *size = fread(*bytes, 1, *size, file);
        (*bytes)[*size] = '\0';
    }
    if (file)
        (void)fclose(file);
    return status;
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), more = strlen(ending);
    return length > more && strcasecmp(path + length - more, ending) == 0;
}

/* Arrays of the library's own formats: columns, one after the other. */
static spry_status read_columns(app_samples *s)
{
    spry_vector *read = NULL, *v = NULL;
    int64_t columns = 0;
    spry_status status = spry_columns_read(s->ctx, s->path, "nonfinite=keep", &read, &columns);
    const int64_t n = status == SPRY_STATUS_OK ? spry_vector_size(read) : 0;
    if (status == SPRY_STATUS_OK && (n == 0 || columns == 0))
        status = app_samples_fail(s, 0, 0, "has no numbers");
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(s->ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_TAKE, &v);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(read, v);
    if (status == SPRY_STATUS_OK) {
        s->value = spry_alloc(s->ctx, (size_t)n * sizeof *s->value);
        status = s->value ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    }
    if (status == SPRY_STATUS_OK) {
        const double *from = spry_vector_data_const(v);
        const int64_t rows = n / columns;
        for (int64_t i = 0; i < n; i++)
            s->value[i] = from[i % columns * rows + i / columns];
        s->axis[0].count = columns;
        s->axis[1].count = rows;
    }
    spry_vector_free(read);
    spry_vector_free(v);
    return status;
}

static bool is_columns(const char *path)
{
    static const char *const endings[] = {".npy", ".npz", ".mat", ".mtx", ".mtx.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, endings[i]))
            return true;
    return false;
}

/* FILE.nc:NAME: where the name begins; NULL: there is none. */
static const char *find_name(const char *path, char *file, size_t size)
{
    struct stat about;
    const char *colon = strrchr(path, ':');
    snprintf(file, size, "%s", path);
    if (!colon || stat(path, &about) == 0 || (size_t)(colon - path) >= size)
        return NULL;
    file[colon - path] = '\0';
    return colon + 1;
}

/* A raster of one column is a row: both are a profile. */
static void lay_down(app_samples *s)
{
    const app_axis columns = s->axis[0];
    if (s->points > 0 || columns.count != 1 || columns.at || s->axis[1].at)
        return;
    s->axis[0] = s->axis[1];
    s->axis[1] = columns;
}

static spry_status take_bytes(app_samples *s, const char *bytes, size_t size)
{
    size_t zero;
    char file[PATH_SIZE];
    const char *name = find_name(s->path, file, sizeof file);
    if (size >= 4 && memcmp(bytes, "CDF", 3) == 0)
        return app_samples_netcdf(s, bytes, size, name);
    const size_t mark = text_mark(bytes, size);
    const char *text = bytes + mark, *fault = text_is_binary(bytes, size, &zero);
    if (size >= 4 && memcmp(bytes, "\x89HDF", 4) == 0)
        fault = "HDF5 or NetCDF-4; nccopy -k classic makes the classic format of it";
    if (fault)
        return app_samples_fail(s, 0, 0, "byte %zu: %s", zero, fault);
    if (strncasecmp(text + strspn(text, " \t\r\n"), "ncols", 5) == 0)
        return app_samples_esri(s, text, size - mark);
    return ends_with(file, ".xyz") ? app_samples_xyz(s, text, size - mark)
                                   : app_samples_array(s, text, size - mark);
}

spry_status app_samples_take(spry_context *ctx, const char *path, const char *bytes, size_t size,
                             app_samples *s)
{
    *s = (app_samples){.ctx = ctx, .path = path};
    const spry_status status = take_bytes(s, bytes, size);
    if (status == SPRY_STATUS_OK)
        lay_down(s);
    return status;
}

spry_status app_samples_read(spry_context *ctx, const char *path, app_samples *s)
{
    char *bytes = NULL, file[PATH_SIZE];
    size_t size = 0;
    *s = (app_samples){.ctx = ctx, .path = path};
    if (is_columns(path)) {
        const spry_status status = read_columns(s);
        if (status == SPRY_STATUS_OK)
            lay_down(s);
        return status;
    }
    (void)find_name(path, file, sizeof file);
    spry_status status = read_bytes(s, file, &bytes, &size);
    if (status == SPRY_STATUS_OK)
        status = app_samples_take(ctx, path, bytes, size, s);
    spry_free(ctx, bytes);
    return status;
}

void app_samples_free(app_samples *s)
{
    double *const arrays[] = {s->axis[0].at, s->axis[1].at, s->value, s->x, s->y};
    for (size_t i = 0; s->ctx && i < sizeof arrays / sizeof *arrays; i++)
        spry_free(s->ctx, arrays[i]);
    if (s->ctx)
        spry_free(s->ctx, s->square);
    *s = (app_samples){0};
}

/* --- a raster ------------------------------------------------------------------------------------
 */

spry_status app_samples_span(app_samples *s, int axis, double length, bool periodic)
{
    app_axis *a = &s->axis[axis];
    if (s->points > 0 || a->at || a->count < 2 || !(length > 0))
        return SPRY_STATUS_OK;
    a->at = spry_alloc(s->ctx, (size_t)a->count * sizeof *a->at);
    if (!a->at)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t i = 0; i < a->count; i++)
        a->at[i] = length * (double)i / (double)(periodic ? a->count : a->count - 1);
    a->period = periodic ? length : 0;
    return SPRY_STATUS_OK;
}

/* Four lines of an axis around a place, and their weights. */
typedef struct stretch {
    int64_t line[4];
    double weight[4], linear[4];
} stretch;

static double line_place(const app_axis *a, int64_t i)
{
    const int64_t turns = i < 0 ? -1 : i >= a->count ? 1 : 0;
    return a->at[i - turns * a->count] + (double)turns * a->period;
}

/* Lines from..from + 1 have the place between them. */
static int64_t find_line(const app_axis *a, double place)
{
    int64_t low = 0, high = a->count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (a->at[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return a->period == 0 && low > a->count - 2 ? a->count - 2 : low;
}

/* Adds a factor times the slope at line number m of the four. */
static void add_slope(const double *at, const bool *is, int m, double factor, double *weight)
{
    const double back = at[m] - at[m - 1], on = at[m + 1] - at[m];
    /* of the parabola through three; at an end of the line through two */
    const double part = !is[m - 1] ? 1 : !is[m + 1] ? 0 : back / (back + on);
    if (part > 0) {
        weight[m + 1] += factor * part / on;
        weight[m] -= factor * part / on;
    }
    if (part < 1) {
        weight[m] += factor * (1 - part) / back;
        weight[m - 1] -= factor * (1 - part) / back;
    }
}

static bool find_stretch(const app_axis *a, double place, stretch *t)
{
    *t = (stretch){.weight = {0, 1}, .linear = {0, 1}};
    if (!a->at || a->count < 2) /* the same everywhere */
        return true;
    const double last = a->at[a->count - 1], slack = 1e-9 * (last - a->at[0]);
    if (a->period > 0)
        place -= a->period * floor((place - a->at[0]) / a->period);
    else if (!(place >= a->at[0] - slack && place <= last + slack))
        return false;
    place = fmax(place, a->at[0]);
    if (a->period == 0)
        place = fmin(place, last);
    const int64_t from = find_line(a, place) - 1;
    double at[4];
    bool is[4];
    for (int m = 0; m < 4; m++) {
        const int64_t i = from + m;
        is[m] = a->period > 0 || (i >= 0 && i < a->count);
        t->line[m] = is[m] ? (i + a->count) % a->count : 0;
        at[m] = is[m] ? line_place(a, i) : 0;
    }
    const double width = at[2] - at[1], p = (place - at[1]) / width, q = 1 - p;
    t->linear[1] = q;
    t->linear[2] = p;
    t->weight[1] = q * q * (1 + 2 * p);
    t->weight[2] = p * p * (1 + 2 * q);
    if (p > 0 && p < 1) {
        add_slope(at, is, 1, width * p * q * q, t->weight);
        add_slope(at, is, 2, -width * p * p * q, t->weight);
    }
    return true;
}

static double weigh(const app_samples *s, const stretch *x, const double *wx, const stretch *y,
                    const double *wy)
{
    double sum = 0;
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            if (wy[j] * wx[i] != 0)
                sum += wy[j] * wx[i] * s->value[y->line[j] * s->axis[0].count + x->line[i]];
    return sum;
}

/* --- points anywhere -----------------------------------------------------------------------------
 */

/* The nearest to a place, by their distance. */
enum { NEAREST = 12 };
typedef struct nearest {
    int count;
    int64_t point[NEAREST];
    double square[NEAREST]; /* of the distance */
} nearest;

static void meet(const app_samples *s, int64_t point, double x, double y, nearest *n)
{
    const double a = s->x[point] - x, b = s->y[point] - y, square = a * a + b * b;
    int k = n->count;
    if (k == NEAREST && square >= n->square[k - 1])
        return;
    k -= k == NEAREST;
    n->count = k + 1;
    for (; k > 0 && n->square[k - 1] > square; k--) {
        n->square[k] = n->square[k - 1];
        n->point[k] = n->point[k - 1];
    }
    n->square[k] = square;
    n->point[k] = point;
}

/* By rings of squares around that of the place, until no other can have a nearer point. */
static void find_nearest(const app_samples *s, double x, double y, nearest *n)
{
    const int64_t i = (int64_t)fmin((x - s->low[0]) / s->side, (double)(s->across - 1));
    const int64_t j = (int64_t)fmin((y - s->low[1]) / s->side, (double)(s->along - 1));
    const int64_t most = s->across > s->along ? s->across : s->along;
    n->count = 0;
    for (int64_t ring = 0; ring <= most; ring++) {
        const double reach = (double)(ring - 1) * s->side;
        if (n->count == NEAREST && ring > 0 && n->square[NEAREST - 1] <= reach * reach)
            break;
        for (int64_t b = j - ring; b <= j + ring; b++) {
            const bool edge = b == j - ring || b == j + ring;
            for (int64_t a = i - ring; a <= i + ring; a += edge || ring == 0 ? 1 : 2 * ring) {
                if (a < 0 || b < 0 || a >= s->across || b >= s->along)
                    continue;
                const int64_t square = b * s->across + a;
                for (int64_t p = s->square[square]; p < s->square[square + 1]; p++)
                    meet(s, p, x, y, n);
            }
        }
    }
}

/* a of the plane a + b x + c y that is nearest to the points, by their weights. Points in a line
 * say nothing about the slope across it, which is 0 then. */
static double fit_plane(const app_samples *s, double x, double y, const nearest *n)
{
    static const double least = 1e-12; /* of slopes over the sum of weights */
    const double radius = 1.1 * sqrt(n->square[n->count - 1]);
    double m[6] = {0}, r[3] = {0};
    for (int k = 0; k < n->count; k++) {
        const double d = sqrt(n->square[k]), w = pow((radius - d) / d, 2);
        const double a = (s->x[n->point[k]] - x) / radius, b = (s->y[n->point[k]] - y) / radius;
        const double z = s->value[n->point[k]];
        m[0] += w;
        m[1] += w * a;
        m[2] += w * b;
        m[3] += w * a * a;
        m[4] += w * a * b;
        m[5] += w * b * b;
        r[0] += w * z;
        r[1] += w * a * z;
        r[2] += w * b * z;
    }
    /* relative to the middle of the weights: a symmetric matrix of two rows is left */
    const double ma = m[1] / m[0], mb = m[2] / m[0], mz = r[0] / m[0];
    const double aa = m[3] - m[1] * ma + least * m[0], bb = m[5] - m[2] * mb + least * m[0];
    const double ab = m[4] - m[1] * mb, az = r[1] - m[1] * mz, bz = r[2] - m[2] * mz;
    const double det = aa * bb - ab * ab;
    return mz - ma * (bb * az - ab * bz) / det - mb * (aa * bz - ab * az) / det;
}

static spry_status outside(const app_samples *s, double x, double y)
{
    const app_axis *a = s->axis;
    const bool points = s->points > 0, row = !points && !a[1].at;
    return app_samples_fail(
        s, 0, 0, "has nothing at x = %g, y = %g: it has x from %g to %g, y from %g to %g", x, y,
        points ? s->low[0] : a[0].at[0], points ? s->high[0] : a[0].at[a[0].count - 1],
        points ? s->low[1]
        : row  ? -INFINITY
               : a[1].at[0],
        points ? s->high[1]
        : row  ? INFINITY
               : a[1].at[a[1].count - 1]);
}

spry_status app_samples_at(const app_samples *s, double x, double y, double *value)
{
    nearest n = {.count = 0};
    stretch tx, ty;
    if (s->points > 0) {
        const double slack = 1e-9 * fmax(s->high[0] - s->low[0], s->high[1] - s->low[1]);
        if (!(x >= s->low[0] - slack && x <= s->high[0] + slack && y >= s->low[1] - slack &&
              y <= s->high[1] + slack))
            return outside(s, x, y);
        find_nearest(s, fmax(x, s->low[0]), fmax(y, s->low[1]), &n);
        *value = n.square[0] == 0 ? s->value[n.point[0]] : fit_plane(s, x, y, &n);
        return SPRY_STATUS_OK;
    }
    if (!find_stretch(&s->axis[0], x, &tx) || !find_stretch(&s->axis[1], y, &ty))
        return outside(s, x, y);
    *value = weigh(s, &tx, tx.weight, &ty, ty.weight);
    if (!isfinite(*value)) /* a neighbour is missing that a straight line does without */
        *value = weigh(s, &tx, tx.linear, &ty, ty.linear);
    return isfinite(*value)
               ? SPRY_STATUS_OK
               : app_samples_fail(s, 0, 0, "a value is missing around x = %g, y = %g", x, y);
}
