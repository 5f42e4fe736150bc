/*
 * A plane of a field as SVG, with axes and a scale. The pixels are those of spry_field_write(), so
 * that all pictures have the same colours; they lie in a system of coordinates of their own, of
 * which a view shows a part.
 */
#include "common/app.h"

#include "cli/draw/draw.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SIDE = 480,
    LEFT = 74,
    TOP = 62,
    BELOW = 58,
    BAR = 22,
    GAP = 34,
    RIGHT = 90,
    PATH_SIZE = 4096
};

/* Bytes of a PNG, in memory of cli_alloc(). */
typedef struct pixels {
    unsigned char *bytes;
    size_t size;
} pixels;

/* By way of a file beside the picture, which goes again. */
static spry_status take_pixels(spry_context *ctx, const spry_grid *grid, const spry_vector *v,
                               const char *path, const char *options, pixels *p)
{
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "%.*s-%ld.png", PATH_SIZE - 32, path, (long)getpid());
    const spry_status status = spry_field_write(grid, v, name, options);
    if (status != SPRY_STATUS_OK)
        return status;
    FILE *file = fopen(name, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0) {
        rewind(file);
        p->bytes = cli_alloc((size_t)size);
        p->size = fread(p->bytes, 1, (size_t)size, file);
    }
    if (file)
        fclose(file);
    (void)unlink(name);
    if (p->size > 0)
        return SPRY_STATUS_OK;
    spry_context_set_message(ctx, "the pixels of a picture cannot be read again");
    return SPRY_STATUS_IO;
}

static void ramp(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){place[1], 0};
}

/* The scale from 0 to 1, upwards. */
static spry_status take_scale(spry_context *ctx, const char *path, pixels *p)
{
    spry_grid *grid = NULL;
    spry_vector *v = NULL;
    spry_status status = spry_grid_new(ctx, "4x256 ranks=none", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(grid, SPRY_TYPE_D, false, ramp, NULL, &v);
    if (status == SPRY_STATUS_OK)
        status = take_pixels(ctx, grid, v, path, "low=0 high=1", p);
    spry_vector_free(v);
    spry_grid_free(grid);
    return status;
}

/* What is drawn. */
typedef struct drawing {
    const app_field *field;
    pixels plane, scale;
    double low, high;
} drawing;

static void put_pixels(const picture *p, const pixels *from, double x, double y, double width,
                       double height)
{
    fprintf(p->out,
            "<image x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" "
            "preserveAspectRatio=\"none\" href=\"data:image/png;base64,",
            x, y, width, height);
    draw_base64(p->out, from->bytes, from->size);
    fputs("\"/>\n", p->out);
}

static void draw(FILE *out, const void *data)
{
    const drawing *d = data;
    const app_field *f = d->field;
    const double wide = f->view[1] - f->view[0], high = f->view[3] - f->view[2];
    const double longer = fmax(wide, high), h = f->length / (double)f->intervals;
    const double width = SIDE * wide / longer, height = SIDE * high / longer;
    picture p = {.out = out, .alone = true};
    const axis x = axis_new(f->view[0], f->view[1], false, LEFT, width);
    const axis y = axis_new(f->view[2], f->view[3], false, TOP + height, -height);
    const axis z = {d->low, d->high, false, TOP + height, -height};
    p.width = LEFT + width + GAP + BAR + RIGHT;
    p.height = TOP + height + BELOW;
    draw_begin(&p, f->title, f->title);
    draw_text(&p, 16, 28, "head", "start", "%s", f->title);
    axis_draw(&p, &x, &y, f->x, f->y);
    /* coordinates of the plane, y upwards; a pixel lies around its point */
    fprintf(out,
            "<svg x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%.2f\" viewBox=\"%.9g %.9g %.9g %.9g\" "
            "preserveAspectRatio=\"none\">\n",
            LEFT, TOP, width, height, x.from, -y.to, x.to - x.from, y.to - y.from);
    put_pixels(&p, &d->plane, h / 2, h / 2 - f->length, f->length - h, f->length - h);
    fputs("</svg>\n", out);
    draw_rect(&p, LEFT, TOP, width, height, "frame", NULL);
    put_pixels(&p, &d->scale, LEFT + width + GAP, TOP, BAR, height);
    draw_rect(&p, LEFT + width + GAP, TOP, BAR, height, "frame", NULL);
    for (int k = 0; k <= 4; k++) {
        const double value = d->low + k * (d->high - d->low) / 4;
        draw_text(&p, LEFT + width + GAP + BAR + 8, axis_place(&z, value) + 4, "soft", "start",
                  "%.3g", value);
    }
    draw_end(&p);
}

/* The least and the largest number, other than what is not finite. */
static void find_limits(const spry_vector *v, drawing *d)
{
    const void *data = spry_vector_data_const(v);
    d->low = INFINITY;
    d->high = -INFINITY;
    for (int64_t i = 0; i < spry_vector_size(v); i++) {
        const double value = spry_vector_type(v) == SPRY_TYPE_D ? ((const double *)data)[i]
                                                                : (double)((const float *)data)[i];
        d->low = isfinite(value) ? fmin(d->low, value) : d->low;
        d->high = isfinite(value) ? fmax(d->high, value) : d->high;
    }
    d->low = d->low <= d->high ? d->low : 0;
    d->high = d->high > d->low ? d->high : d->low + 1;
}

int app_field_view(const char *text, double length, double view[4])
{
    char rest[2];
    for (int k = 0; k < 4; k++)
        view[k] = k % 2 ? length : 0;
    if (!*text)
        return EXIT_DONE;
    if (sscanf(text, "%lf:%lf,%lf:%lf%1s", &view[0], &view[1], &view[2], &view[3], rest) != 4)
        return cli_fail(EXIT_INPUT, "--view %s: expected FROM:TO,FROM:TO", text_name(text));
    for (int k = 0; k < 4; k += 2)
        if (!(view[k] >= 0 && view[k] < view[k + 1] && view[k + 1] <= length))
            return cli_fail(EXIT_INPUT, "--view %s: %g:%g is no part of 0:%g", text_name(text),
                            view[k], view[k + 1], length);
    return EXIT_DONE;
}

bool app_field_is_svg(const char *path)
{
    const size_t length = path ? strlen(path) : 0;
    return length > 4 && strcmp(path + length - 4, ".svg") == 0;
}

spry_status app_field_draw(spry_context *ctx, const spry_grid *grid, const spry_vector *v,
                           const app_field *field, const char *path)
{
    char options[160];
    drawing d = {.field = field};
    find_limits(v, &d);
    snprintf(options, sizeof options, "%s low=%.17g high=%.17g", field->plane, d.low, d.high);
    spry_status status = take_pixels(ctx, grid, v, path, options, &d.plane);
    if (status == SPRY_STATUS_OK)
        status = take_scale(ctx, path, &d.scale);
    if (status == SPRY_STATUS_OK && file_write_text(ctx, path, draw, &d) != EXIT_DONE)
        status = SPRY_STATUS_IO;
    free(d.plane.bytes);
    free(d.scale.bytes);
    return status;
}
