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

/* Copies what the kernel reads to the device. */
static spry_status go_to_device(odt_waves *w)
{
    const int64_t *n = w->box.n, count = w->count;
    void *const tables[] = {w->along, w->across[0], w->across[1]};
    spry_status status =
        spry_kernel_new(w->device, odt_waves_text, "waves_sum", "type=z group=64x4", &w->kernel);
    for (int a = 0; a < 3 && status == SPRY_STATUS_OK; a++) {
        spry_vector *here = NULL;
        status =
            spry_vector_new(w->ctx, SPRY_TYPE_Z, n[a] * count, tables[a], SPRY_OWN_BORROW, &here);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_on(w->device, SPRY_TYPE_Z, n[a] * count, NULL, &w->tables[a]);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_copy(here, w->tables[a]);
        spry_vector_free(here);
    }
    if (status == SPRY_STATUS_OK)
        status = spry_vector_on(w->device, SPRY_TYPE_Z, count, NULL, &w->factors);
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
    for (int a = 0; a < 3; a++)
        spry_vector_free(w->tables[a]);
    spry_vector_free(w->factors);
    spry_kernel_free(w->kernel);
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

spry_status odt_waves_read(const odt_waves *w, const odt_part *part, const spry_scalar *values,
                           spry_scalar *a)
{
    const int64_t planes = part->n[2], lines = part->n[1], count = w->count;
    const int threads = spry_context_threads(w->ctx);
    /* each plane by itself, so that results do not depend on threads */
    spry_scalar *sums = odt_alloc(w->ctx, 2 * planes * count, sizeof(spry_scalar));
    if (!sums)
        return SPRY_STATUS_NO_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t z = 0; z < planes; z++)
        for (int64_t y = 0; y < lines; y++)
            read_line(w, part->begin[0], part->n[0], values + (z * lines + y) * part->n[0],
                      w->across[0] + (part->begin[1] + y) * count, sums + (planes + z) * count,
                      sums + z * count);
    memset(a, 0, (size_t)count * sizeof *a);
    for (int64_t z = 0; z < planes; z++)
        for (int64_t j = 0; j < count; j++)
            a[j] = odt_plus(a[j], odt_times(sums[z * count + j],
                                            w->across[1][(part->begin[2] + z) * count + j]));
    spry_free(w->ctx, sums);
    return SPRY_STATUS_OK;
}

/* --- sums ----------------------------------------------------------------------------------------
 */

static void sum_line(const odt_waves *w, const spry_scalar *c, int64_t y, int64_t z,
                     spry_scalar *line)
{
    const int64_t n = w->box.n[0];
    const spry_scalar *ey = w->across[0] + y * w->count, *ez = w->across[1] + z * w->count;
    memset(line, 0, (size_t)n * sizeof *line);
    for (int j = 0; j < w->count; j++) {
        const spry_scalar f = odt_times(odt_times(c[j], ez[j]), ey[j]);
        const spry_scalar *e = w->along + j * n;
        for (int64_t x = 0; x < n; x++) {
            line[x].re += f.re * e[x].re - f.im * e[x].im;
            line[x].im += f.re * e[x].im + f.im * e[x].re;
        }
    }
}

static spry_status sum_on_device(odt_waves *w, const spry_scalar *c, spry_vector *field)
{
    static const char *const names[] = {"along", "y_table", "z_table"};
    const int64_t sides[] = {w->box.n[0], w->box.n[1] * w->box.n[2]};
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"nx", w->box.n[0]}, {"ny", w->box.n[1]}, {"lines", sides[1]}, {"count", w->count}};
    spry_vector *here = NULL;
    spry_status status = spry_vector_new(w->ctx, SPRY_TYPE_Z, w->count, (void *)(uintptr_t)c,
                                         SPRY_OWN_BORROW, &here);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(here, w->factors);
    spry_vector_free(here);
    for (int k = 0; k < 4 && status == SPRY_STATUS_OK; k++)
        status = spry_kernel_set_int(w->kernel, numbers[k].name, numbers[k].value);
    for (int a = 0; a < 3 && status == SPRY_STATUS_OK; a++)
        status = spry_kernel_set_input(w->kernel, names[a], w->tables[a]);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_input(w->kernel, "c", w->factors);
    if (status == SPRY_STATUS_OK)
        status = spry_kernel_set_vector(w->kernel, "field", field);
    return status == SPRY_STATUS_OK ? spry_kernel_launch(w->kernel, 2, sides) : status;
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
