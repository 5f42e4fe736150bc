/*
 * Plane waves as products of three tables: a sum or a reading costs one multiplication for each
 * wave and voxel, is exact for waves of any direction, and the one is the transpose of the other to
 * rounding.
 */
#include "odt/waves.h"

#include "odt_waves.h" /* made by the build: the text of waves.knl */

#include <math.h>
#include <string.h>

void *odt_alloc(spry_context *ctx, int64_t count, size_t bytes)
{
    const size_t all = (size_t)(count > 0 ? count : 1) * bytes;
    void *p = spry_alloc(ctx, all);
    if (p)
        memset(p, 0, all);
    return p;
}

spry_status odt_set_ints(spry_kernel *kernel, int count, const odt_argument *list)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++)
        status = spry_kernel_set_int(kernel, list[k].name, list[k].value);
    return status;
}

static void fill_tables(odt_waves *w, const double *k)
{
    for (int axis = 0; axis < 3; axis++) {
        const int64_t n = w->box.n[axis];
        for (int64_t i = 0; i < n; i++)
            for (int j = 0; j < w->count; j++) {
                const double phase = -k[3 * j + axis] * odt_place(&w->box, axis, i);
                const spry_scalar value = {cos(phase), sin(phase)};
                if (axis == 0)
                    w->along[j * n + i] = w->by_place[i * w->count + j] = value;
                else
                    w->across[axis - 1][i * w->count + j] = value;
            }
    }
}

enum { ALONG, BY_PLACE, ACROSS_Y, ACROSS_Z };

/* Copies what the kernels read to the device. */
static spry_status go_to_device(odt_waves *w)
{
    static const char options[] = "type=z group=64x4";
    const int64_t *n = w->box.n, count = w->count;
    const struct {
        void *table;
        int64_t n;
    } from[] = {{w->along, n[0]}, {w->by_place, n[0]}, {w->across[0], n[1]}, {w->across[1], n[2]}};
    spry_vector *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_kernel_new(w->device, odt_waves_text, "waves_sum", options, &w->sum));
    ODT_GO(spry_kernel_new(w->device, odt_waves_text, "waves_read", options, &w->read));
    for (int k = 0; k < 4; k++) {
        const int64_t all = from[k].n * count;
        ODT_GO(spry_vector_new(w->ctx, SPRY_TYPE_Z, all, from[k].table, SPRY_OWN_BORROW, &on_host));
        ODT_GO(spry_vector_on(w->device, SPRY_TYPE_Z, all, NULL, &w->tables[k]));
        ODT_GO(spry_vector_copy(on_host, w->tables[k]));
        spry_vector_free(on_host);
        on_host = NULL;
    }
    ODT_GO(spry_vector_on(w->device, SPRY_TYPE_Z, count, NULL, &w->factors));
    ODT_GO(spry_vector_on(w->device, SPRY_TYPE_Z, n[2] * count, NULL, &w->planes));
done:
    spry_vector_free(on_host);
    return status;
}

spry_status odt_waves_make(spry_context *ctx, spry_device *device, const odt_box *box, int count,
                           const double *k, odt_waves *w)
{
    *w = (odt_waves){.ctx = ctx, .box = *box, .count = count, .device = device};
    w->along = odt_alloc(ctx, count * box->n[0], sizeof(spry_scalar));
    w->by_place = odt_alloc(ctx, count * box->n[0], sizeof(spry_scalar));
    w->across[0] = odt_alloc(ctx, count * box->n[1], sizeof(spry_scalar));
    w->across[1] = odt_alloc(ctx, count * box->n[2], sizeof(spry_scalar));
    if (!w->along || !w->by_place || !w->across[0] || !w->across[1])
        return SPRY_STATUS_NO_MEMORY;
    fill_tables(w, k);
    return device ? go_to_device(w) : SPRY_STATUS_OK;
}

void odt_waves_free(odt_waves *w)
{
    if (!w->ctx)
        return;
    spry_free(w->ctx, w->along);
    spry_free(w->ctx, w->by_place);
    spry_free(w->ctx, w->across[0]);
    spry_free(w->ctx, w->across[1]);
    for (int k = 0; k < 4; k++)
        spry_vector_free(w->tables[k]);
    spry_vector_free(w->factors);
    spry_vector_free(w->planes);
    spry_kernel_free(w->sum);
    spry_kernel_free(w->read);
    *w = (odt_waves){0};
}

/* --- reading -------------------------------------------------------------------------------------
 */

/* Adds one line along x to the sums of a plane; across: exp(-i k_y y) of all waves; room: for as
 * many numbers. */
static void read_line(const odt_waves *w, int64_t begin, int64_t n, const spry_scalar *line,
                      const spry_scalar *across, spry_scalar *room, spry_scalar *sums)
{
    int64_t first = 0, end = n;
    while (first < end && line[first].re == 0 && line[first].im == 0)
        first++;
    while (end > first && line[end - 1].re == 0 && line[end - 1].im == 0)
        end--;
    if (first == end)
        return;
    memset(room, 0, (size_t)w->count * sizeof *room);
    for (int64_t x = first; x < end; x++) {
        const spry_scalar *e = w->by_place + (begin + x) * w->count, v = line[x];
        for (int j = 0; j < w->count; j++) {
            room[j].re += v.re * e[j].re - v.im * e[j].im;
            room[j].im += v.re * e[j].im + v.im * e[j].re;
        }
    }
    for (int j = 0; j < w->count; j++)
        sums[j] = odt_plus(sums[j], odt_times(room[j], across[j]));
}

/* The sums of each plane by itself, so that results do not depend on threads; room: for as many. */
static void read_planes(const odt_waves *w, const odt_part *part, const spry_scalar *values,
                        spry_scalar *sums, spry_scalar *room)
{
    const int64_t planes = part->n[2], lines = part->n[1], count = w->count;
    const int threads = spry_context_threads(w->ctx);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t z = 0; z < planes; z++)
        for (int64_t y = 0; y < lines; y++)
            read_line(w, part->begin[0], part->n[0], values + (z * lines + y) * part->n[0],
                      w->across[0] + (part->begin[1] + y) * count, room + z * count,
                      sums + z * count);
}

static spry_status read_on_device(odt_waves *w, const odt_part *part, const spry_vector *values,
                                  spry_scalar *sums)
{
    const int64_t sides[] = {w->count, part->n[2]};
    const odt_argument numbers[] = {{"count", w->count}, {"first_x", part->begin[0]},
                                    {"nx", part->n[0]},  {"first_y", part->begin[1]},
                                    {"ny", part->n[1]},  {"planes", part->n[2]}};
    spry_vector *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_new(w->ctx, SPRY_TYPE_Z, w->box.n[2] * w->count, sums, SPRY_OWN_BORROW,
                           &on_host));
    ODT_GO(odt_set_ints(w->read, 6, numbers));
    ODT_GO(spry_kernel_set_input(w->read, "w", values));
    ODT_GO(spry_kernel_set_input(w->read, "x_table", w->tables[BY_PLACE]));
    ODT_GO(spry_kernel_set_input(w->read, "y_table", w->tables[ACROSS_Y]));
    ODT_GO(spry_kernel_set_vector(w->read, "sums", w->planes));
    ODT_GO(spry_kernel_launch(w->read, 2, sides));
    ODT_GO(spry_vector_copy(w->planes, on_host));
done:
    spry_vector_free(on_host);
    return status;
}

spry_status odt_waves_read(odt_waves *w, const odt_part *part, const spry_vector *values,
                           spry_scalar *a)
{
    const int64_t count = w->count, all = w->box.n[2] * count;
    spry_status status = SPRY_STATUS_OK;
    spry_scalar *sums = odt_alloc(w->ctx, 2 * all, sizeof *sums);
    if (!sums)
        return SPRY_STATUS_NO_MEMORY;
    if (w->device)
        ODT_GO(read_on_device(w, part, values, sums));
    else
        read_planes(w, part, spry_vector_data_const(values), sums, sums + all);
    memset(a, 0, (size_t)count * sizeof *a);
    for (int64_t z = 0; z < part->n[2]; z++)
        for (int64_t j = 0; j < count; j++)
            a[j] = odt_plus(a[j], odt_times(sums[z * count + j],
                                            w->across[1][(part->begin[2] + z) * count + j]));
done:
    spry_free(w->ctx, sums);
    return status;
}

/* --- sums ----------------------------------------------------------------------------------------
 */

/* Four waves at a time, so that a line is written and read a quarter as often; the last ones that
 * are not there have factors of 0. */
static void sum_line(const odt_waves *w, const spry_scalar *c, int64_t y, int64_t z,
                     spry_scalar *line)
{
    enum { BLOCK = 4 };
    const int64_t n = w->box.n[0];
    const spry_scalar *ey = w->across[0] + y * w->count, *ez = w->across[1] + z * w->count;
    memset(line, 0, (size_t)n * sizeof *line);
    for (int j = 0; j < w->count; j += BLOCK) {
        spry_scalar f[BLOCK] = {{0, 0}};
        const spry_scalar *e[BLOCK];
        for (int k = 0; k < BLOCK; k++) {
            const int wave = j + k < w->count ? j + k : j;
            e[k] = w->along + wave * n;
            if (j + k < w->count)
                f[k] = odt_times(odt_times(c[wave], ez[wave]), ey[wave]);
        }
        for (int64_t x = 0; x < n; x++) {
            double re = line[x].re, im = line[x].im;
            for (int k = 0; k < BLOCK; k++) {
                re += f[k].re * e[k][x].re - f[k].im * e[k][x].im;
                im += f[k].re * e[k][x].im + f[k].im * e[k][x].re;
            }
            line[x] = (spry_scalar){re, im};
        }
    }
}

static spry_status sum_on_device(odt_waves *w, const spry_scalar *c, spry_vector *field)
{
    const int64_t sides[] = {w->box.n[0], w->box.n[1] * w->box.n[2]};
    const odt_argument numbers[] = {
        {"nx", w->box.n[0]}, {"ny", w->box.n[1]}, {"lines", sides[1]}, {"count", w->count}};
    spry_vector *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_new(w->ctx, SPRY_TYPE_Z, w->count, (void *)(uintptr_t)c, SPRY_OWN_BORROW,
                           &on_host));
    ODT_GO(spry_vector_copy(on_host, w->factors));
    ODT_GO(odt_set_ints(w->sum, 4, numbers));
    ODT_GO(spry_kernel_set_input(w->sum, "along", w->tables[ALONG]));
    ODT_GO(spry_kernel_set_input(w->sum, "y_table", w->tables[ACROSS_Y]));
    ODT_GO(spry_kernel_set_input(w->sum, "z_table", w->tables[ACROSS_Z]));
    ODT_GO(spry_kernel_set_input(w->sum, "c", w->factors));
    ODT_GO(spry_kernel_set_vector(w->sum, "field", field));
    ODT_GO(spry_kernel_launch(w->sum, 2, sides));
done:
    spry_vector_free(on_host);
    return status;
}

spry_status odt_waves_sum(odt_waves *w, const spry_scalar *c, spry_vector *field)
{
    const int64_t nx = w->box.n[0], ny = w->box.n[1], lines = ny * w->box.n[2];
    const int threads = spry_context_threads(w->ctx);
    if (w->device)
        return sum_on_device(w, c, field);
    spry_scalar *to = spry_vector_data(field);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t line = 0; line < lines; line++)
        sum_line(w, c, line % ny, line / ny, to + line * nx);
    return SPRY_STATUS_OK;
}
