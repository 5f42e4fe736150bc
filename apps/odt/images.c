/* Holograms from the images of cameras, one for each view. */
#include "odt/develop.h"
#include "odt/image.h"
#include "odt/odt.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { PATH_SIZE = 4096 };

bool odt_is_image(const char *path)
{
    static const char *const endings[] = {".png", ".tif", ".tiff"};
    const char *dot = strrchr(path, '.');
    bool is = false;
    for (int k = 0; k < 3; k++)
        is = is || (dot && strcasecmp(dot, endings[k]) == 0);
    return is;
}

/* The square in the middle of an image, rows from below. */
static void cut(const image *from, int64_t pixels, float *to)
{
    const int64_t x = (from->width - pixels) / 2, y = (from->height - pixels) / 2;
    for (int64_t j = 0; j < pixels; j++)
        memcpy(to + j * pixels, from->grey + (y + pixels - 1 - j) * from->width + x,
               (size_t)pixels * sizeof *to);
}

/* Where a camera had more light than it counts, rings are cut off. */
static void warn_of_white(const image *p, const char *path)
{
    const float white = p->bits == 8 ? 255 : 65535;
    int64_t count = 0;
    char text[300];
    for (int64_t k = 0; k < p->width * p->height; k++)
        count += p->grey[k] >= white;
    if (count * 1000 <= p->width * p->height)
        return;
    snprintf(text, sizeof text, "%.200s: %.1f%% of the pixels are white: the exposure is too long",
             path, 100 * (double)count / (double)(p->width * p->height));
    cli_log(NULL, SPRY_LOG_WARNING, text);
}

/* The squares that are used: of the first image, or `pixels`. */
static spry_status choose_pixels(odt_run *r, const image *p, const char *path)
{
    double *s = r->record.setup;
    const double side = (double)(p->width < p->height ? p->width : p->height);
    char text[400];
    if (s[SETUP_pixels] == 0)
        s[SETUP_pixels] = fmin(side, 4096);
    if (s[SETUP_pixels] <= side)
        return SPRY_STATUS_OK;
    snprintf(text, sizeof text,
             "%.250s: %lld x %lld pixels, and %g x %g are taken of each image; a smaller pixels= "
             "suits all",
             path, (long long)p->width, (long long)p->height, s[SETUP_pixels], s[SETUP_pixels]);
    return odt_fail(r->ctx, text);
}

/* One image into its square, which the first of all makes room for. */
static spry_status take_image(odt_run *r, const char *path, int number, int count, float **grey)
{
    image p = {0};
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(image_read(r->ctx, path, &p));
    warn_of_white(&p, path);
    ODT_GO(choose_pixels(r, &p, path));
    const int64_t m = (int64_t)r->record.setup[SETUP_pixels];
    if (!*grey)
        *grey = odt_alloc(r->ctx, count * m * m, sizeof **grey);
    if (!*grey)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    cut(&p, m, *grey + number * m * m);
done:
    image_free(r->ctx, &p);
    return status;
}

/* Images without particles: one for all views, or one for each, with commas between them. */
static spry_status take_background(odt_run *r)
{
    char path[PATH_SIZE], text[200];
    spry_status status = SPRY_STATUS_OK;
    int count = 1;
    for (const char *p = r->o->background; *p; p++)
        count += *p == ',';
    if (count != 1 && count != r->record.views) {
        snprintf(text, sizeof text, "background has %d images; expected one, or %d", count,
                 r->record.views);
        return odt_fail(r->ctx, text);
    }
    const char *at = r->o->background;
    for (int k = 0; k < count; k++) {
        const size_t length = strcspn(at, ",");
        snprintf(path, sizeof path, "%.*s", (int)length, at);
        ODT_GO(take_image(r, path, k, count, &r->background));
        at += length + (at[length] == ',');
    }
    r->backgrounds = count;
done:
    return status;
}

spry_status odt_images_read(odt_run *r, int count, const char *const *paths)
{
    double *s = r->record.setup;
    char text[300];
    spry_status status = SPRY_STATUS_OK;
    if (count != r->record.views) {
        snprintf(text, sizeof text, "%d images for %d views; each view has one", count,
                 r->record.views);
        return odt_fail(r->ctx, text);
    }
    for (int k = 0; k < count; k++)
        ODT_GO(take_image(r, paths[k], k, count, &r->grey));
    if (r->o->background)
        ODT_GO(take_background(r));
    if (r->o->pixel > 0 && s[SETUP_field] > 0)
        ODT_GO(odt_fail(r->ctx, "pixel and field are both given, and one follows from the other"));
    if (r->o->pixel > 0)
        s[SETUP_field] = r->o->pixel * s[SETUP_pixels];
    if (s[SETUP_field] == 0)
        ODT_GO(odt_fail(r->ctx, "images need the size of a pixel in the volume, the camera's over "
                                "the magnification: pixel = 0.1 um, or the field"));
done:
    return status;
}

static void report(const odt_run *r, int view, const odt_developed *d)
{
    char text[200];
    if (r->record.setup[SETUP_kind] == KIND_FIELD)
        printf("image %-7d brightness %.5g, fringes %.3g of it, carrier %.4f %.4f cycles per "
               "pixel\n",
               view + 1, d->brightness, d->fringes, d->carrier[0], d->carrier[1]);
    else
        printf("image %-7d brightness %.5g\n", view + 1, d->brightness);
    if (!d->overlaps)
        return;
    snprintf(text, sizeof text,
             "image %d: the side band is not clear of the middle of the spectrum, which ends at "
             "twice the aperture; a carrier of three times the aperture is",
             view + 1);
    cli_log(NULL, SPRY_LOG_WARNING, text);
}

spry_status odt_images_develop(odt_run *r)
{
    const int64_t square = (int64_t)r->setup.optics.pixels * r->setup.optics.pixels;
    const bool quiet = r->o->json && file_is_stdout(r->o->json);
    spry_status status = SPRY_STATUS_OK;
    r->record.holo = odt_alloc(r->ctx, r->record.views * square, sizeof *r->record.holo);
    if (!r->record.holo)
        return SPRY_STATUS_NO_MEMORY;
    for (int i = 0; i < r->record.views && status == SPRY_STATUS_OK; i++) {
        const double *d = r->record.directions + 6 * (ptrdiff_t)i;
        odt_developed found;
        odt_view view;
        status = odt_view_make(r->ctx, NULL, &r->setup.box, &r->setup.optics, d, d + 3, &view);
        if (status == SPRY_STATUS_OK)
            status = odt_develop(&view, r->grey + i * square,
                                 r->background ? r->background + i % r->backgrounds * square : NULL,
                                 r->o->band != 0, r->record.holo + i * square, &found);
        odt_view_free(&view);
        if (status == SPRY_STATUS_OK && !quiet)
            report(r, i, &found);
    }
    return status;
}
