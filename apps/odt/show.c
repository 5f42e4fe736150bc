/*
 * Pictures of holograms and volumes, files for ParaView and NumPy, and one page for browsers that
 * has all pictures within itself.
 */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

enum { PATH_SIZE = 4096, PICTURES = 64 };

/* A picture of the page; across: of volumes, the axis that is looked along, else -1. */
typedef struct picture {
    char path[PATH_SIZE];
    char title[96];
    int64_t width, height;
    int across;
} picture;

typedef struct album {
    odt_run *r;
    int count;
    picture list[PICTURES];
} album;

/* --- pictures ------------------------------------------------------------------------------------
 */

/* A grid whose points are pixels or voxels; sides of 1 are left out. */
static spry_status make_grid(spry_context *ctx, int dimensions, const int64_t *n, double h,
                             spry_grid **grid)
{
    char text[300] = "", part[96];
    for (int a = 0; a < dimensions; a++) {
        snprintf(part, sizeof part, "%s%lld", a > 0 ? "x" : "", (long long)n[a] - 1);
        strncat(text, part, sizeof text - strlen(text) - 1);
    }
    for (int a = 0; a < dimensions; a++) {
        const double half = 0.5 * (double)(n[a] - 1) * h;
        snprintf(part, sizeof part, "%s%.17g:%.17g", a > 0 ? "," : " box=", -half, half);
        strncat(text, part, sizeof text - strlen(text) - 1);
    }
    strncat(text, " boundary=neumann", sizeof text - strlen(text) - 1);
    return spry_grid_new(ctx, text, grid);
}

/* Writes numbers of a grid by the ending of the path. */
static spry_status write_numbers(spry_context *ctx, int dimensions, const int64_t *n, double h,
                                 const float *values, const char *path, const char *options)
{
    spry_grid *grid = NULL;
    spry_vector *v = NULL;
    spry_status status = SPRY_STATUS_OK;
    int64_t count = 1;
    for (int a = 0; a < dimensions; a++)
        count *= n[a];
    ODT_GO(make_grid(ctx, dimensions, n, h, &grid));
    ODT_GO(
        spry_vector_new(ctx, SPRY_TYPE_S, count, (void *)(uintptr_t)values, SPRY_OWN_BORROW, &v));
    ODT_GO(spry_field_write(grid, v, path, options));
done:
    spry_vector_free(v);
    spry_grid_free(grid);
    return status;
}

static spry_status add_picture(album *a, const char *name, const char *title, int across,
                               int64_t width, int64_t height, const float *values,
                               const char *options)
{
    if (a->count == PICTURES)
        return SPRY_STATUS_OK; /* more would make the page useless */
    picture *p = &a->list[a->count];
    const int64_t n[2] = {width, height};
    snprintf(p->path, sizeof p->path, "%s-%s.png", a->r->o->output, name);
    snprintf(p->title, sizeof p->title, "%s", title);
    p->width = width;
    p->height = height;
    p->across = across;
    const spry_status status = write_numbers(a->r->ctx, 2, n, 1, values, p->path, options);
    a->count += status == SPRY_STATUS_OK;
    return status;
}

static spry_status show_holograms(album *a)
{
    const odt_record *f = &a->r->record;
    const int64_t m = (int64_t)f->setup[SETUP_pixels];
    const bool field = f->setup[SETUP_kind] == KIND_FIELD;
    spry_status status = SPRY_STATUS_OK;
    float *values = spry_alloc(a->r->ctx, (size_t)(m * m) * sizeof *values);
    if (!values)
        return SPRY_STATUS_NO_MEMORY;
    for (int i = 0; i < f->views; i++) {
        char name[40], title[96];
        const spry_scalar *from = f->holo + i * m * m;
        for (int64_t k = 0; k < m * m; k++)
            values[k] = (float)(field ? sqrt(odt_square(from[k])) : from[k].re);
        snprintf(name, sizeof name, "hologram-%d", i + 1);
        snprintf(title, sizeof title, "hologram %d, %s", i + 1,
                 field ? "modulus of the field" : "intensity");
        ODT_GO(add_picture(a, name, title, -1, m, m, values, NULL));
    }
done:
    spry_free(a->r->ctx, values);
    return status;
}

/* The largest number along an axis, or that of one plane. */
static void flatten(const odt_record *f, const float *volume, int across, int64_t plane,
                    float *values)
{
    const int64_t n[3] = {(int64_t)f->setup[SETUP_nx], (int64_t)f->setup[SETUP_ny],
                          (int64_t)f->setup[SETUP_nz]};
    const int64_t steps[3] = {1, n[0], n[0] * n[1]};
    const int a = across == 0 ? 1 : 0, b = across == 2 ? 1 : 2;
    for (int64_t y = 0; y < n[b]; y++)
        for (int64_t x = 0; x < n[a]; x++) {
            const float *line = volume + x * steps[a] + y * steps[b];
            float most = line[(plane >= 0 ? plane : 0) * steps[across]];
            for (int64_t z = 1; plane < 0 && z < n[across]; z++)
                most = line[z * steps[across]] > most ? line[z * steps[across]] : most;
            values[y * n[a] + x] = most;
        }
}

/* Three projections and three slices through the middle. */
static spry_status show_volume(album *a, const char *name, const char *what, const float *volume,
                               double low)
{
    const odt_record *f = &a->r->record;
    const double *n = f->setup + SETUP_nx;
    spry_status status = SPRY_STATUS_OK;
    const size_t most = (size_t)(fmax(n[0], n[1]) * fmax(n[1], n[2]));
    float *values = spry_alloc(a->r->ctx, most * sizeof *values);
    if (!values)
        return SPRY_STATUS_NO_MEMORY;
    double high = low;
    for (int64_t k = 0; k < (int64_t)(n[0] * n[1] * n[2]); k++)
        high = volume[k] > high ? volume[k] : high;
    for (int k = 0; k < 6; k++) {
        const int across = 2 - k % 3;
        char file[64], title[96], options[96];
        const int right = across == 0 ? 1 : 0, up = across == 2 ? 1 : 2;
        flatten(f, volume, across, k < 3 ? -1 : (int64_t)n[across] / 2, values);
        snprintf(file, sizeof file, "%s-%s-%c%c", name, k < 3 ? "most" : "slice", "xyz"[right],
                 "xyz"[up]);
        snprintf(title, sizeof title, "%s, %s %c; %c to the right, %c up", what,
                 k < 3 ? "largest along" : "slice across", "xyz"[across], "xyz"[right], "xyz"[up]);
        snprintf(options, sizeof options, "low=%.9g high=%.9g", low, high > low ? high : low + 1);
        ODT_GO(add_picture(a, file, title, across, (int64_t)n[right], (int64_t)n[up], values,
                           options));
    }
done:
    spry_free(a->r->ctx, values);
    return status;
}

/* For ParaView and NumPy. */
static spry_status export_volume(album *a, const char *name, const float *volume)
{
    static const char *const endings[] = {"vti", "npy"};
    const odt_record *f = &a->r->record;
    const int64_t n[3] = {(int64_t)f->setup[SETUP_nx], (int64_t)f->setup[SETUP_ny],
                          (int64_t)f->setup[SETUP_nz]};
    char path[PATH_SIZE];
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < 2 && status == SPRY_STATUS_OK; k++) {
        snprintf(path, sizeof path, "%s-%s.%s", a->r->o->output, name, endings[k]);
        status = write_numbers(a->r->ctx, 3, n, f->setup[SETUP_voxel], volume, path, NULL);
    }
    return status;
}

/* --- the page ------------------------------------------------------------------------------------
 */

/* A file as base64. */
static void put_file(FILE *out, const char *path)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    FILE *file = fopen(path, "rb");
    unsigned char three[3];
    size_t got;
    while (file && (got = fread(three, 1, 3, file)) > 0) {
        for (size_t k = got; k < 3; k++)
            three[k] = 0;
        const unsigned all = (unsigned)three[0] << 16 | (unsigned)three[1] << 8 | three[2];
        for (size_t k = 0; k < 4; k++)
            fputc(k <= got ? letters[all >> (18 - 6 * k) & 63] : '=', out);
    }
    if (file)
        fclose(file);
}

/* Circles where particles are, in the picture's pixels. */
static void put_circles(FILE *out, const odt_record *f, const picture *p, const odt_particles *list,
                        const char *class)
{
    const int right = p->across == 0 ? 1 : 0, up = p->across == 2 ? 1 : 2;
    const double h = f->setup[SETUP_voxel];
    for (int j = 0; j < list->count; j++) {
        const odt_particle *at = &list->p[j];
        fprintf(out, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"/>", class,
                at->at[right] / h + 0.5 * (double)p->width,
                0.5 * (double)p->height - at->at[up] / h, 0.5 * at->diameter / h);
    }
}

static void put_picture(FILE *out, const odt_record *f, const picture *p)
{
    fprintf(out,
            "<figure><svg viewBox=\"0 0 %lld %lld\"><image width=\"%lld\" height=\"%lld\" "
            "href=\"data:image/png;base64,",
            (long long)p->width, (long long)p->height, (long long)p->width, (long long)p->height);
    put_file(out, p->path);
    fputs("\"/>", out);
    if (p->across >= 0) {
        put_circles(out, f, p, &f->truth, "known");
        put_circles(out, f, p, &f->found, "found");
    }
    fprintf(out, "</svg><figcaption>%s</figcaption></figure>\n", p->title);
}

static void put_rows(FILE *out, const odt_record *f)
{
    if (f->found.count == 0)
        return;
    fputs("<h2>Particles</h2>\n<table><tr><th>particle</th><th>x um</th><th>y um</th><th>z um</th>"
          "<th>score</th></tr>\n",
          out);
    for (int j = 0; j < f->found.count; j++) {
        const odt_particle *p = &f->found.p[j];
        fprintf(out, "<tr><td>%d</td><td>%.4f</td><td>%.4f</td><td>%.4f</td><td>%.3f</td></tr>\n",
                j + 1, 1e6 * p->at[0], 1e6 * p->at[1], 1e6 * p->at[2], p->score);
    }
    fputs("</table>\n", out);
}

static void write_page(FILE *out, const void *data)
{
    const album *a = data;
    const odt_record *f = &a->r->record;
    const double *s = f->setup;
    fputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>spry odt</title>\n"
        "<style>body{font-family:sans-serif;max-width:72em;margin:2em auto;padding:0 1em}\n"
        "figure{display:inline-block;width:30%;margin:1%;vertical-align:top}\n"
        "svg{width:100%;image-rendering:pixelated;background:#000}\n"
        "figcaption{font-size:80%}circle{fill:none;stroke-width:1.5;vector-effect:non-scaling-"
        "stroke}\n"
        ".found{stroke:#40ff80}.known{stroke:#ffffff;stroke-width:4}\n"
        "td,th{padding:0.2em 1em;text-align:right;border-bottom:1px solid #ccc}</style></head>\n"
        "<body><h1>Optical diffraction tomography</h1>\n",
        out);
    fprintf(out,
            "<p>%g x %g x %g voxels of %.4g um; light of %.4g um; fluid of index %g, particles of "
            "index %g and %.4g um; aperture %g; %d holograms. Circles: what was found%s.</p>\n",
            s[SETUP_nx], s[SETUP_ny], s[SETUP_nz], 1e6 * s[SETUP_voxel], 1e6 * s[SETUP_wavelength],
            s[SETUP_fluid], s[SETUP_index], 1e6 * s[SETUP_diameter], s[SETUP_na], f->views,
            f->truth.count > 0 ? ", thick: what there was" : "");
    put_rows(out, f);
    fputs("<h2>Pictures</h2>\n", out);
    for (int k = 0; k < a->count; k++)
        put_picture(out, f, &a->list[k]);
    fputs("</body></html>\n", out);
}

spry_status odt_show(odt_run *r)
{
    const odt_record *f = &r->record;
    const struct {
        const char *name, *what;
        const float *volume;
        double low;
    } volumes[] = {{"image", "score", f->image, 0},
                   {"linear", "linear image", f->linear, 0},
                   {"index", "index", f->index, f->setup[SETUP_fluid]}};
    char path[PATH_SIZE];
    spry_status status = SPRY_STATUS_OK;
    album *a = spry_alloc(r->ctx, sizeof *a);
    if (!a)
        return SPRY_STATUS_NO_MEMORY;
    a->r = r;
    a->count = 0;
    ODT_GO(show_holograms(a));
    for (int k = 0; k < 3; k++)
        if (volumes[k].volume) {
            ODT_GO(show_volume(a, volumes[k].name, volumes[k].what, volumes[k].volume,
                               volumes[k].low));
            ODT_GO(export_volume(a, volumes[k].name, volumes[k].volume));
        }
    snprintf(path, sizeof path, "%s.html", r->o->output);
    if (file_write_text(r->ctx, path, write_page, a) != EXIT_DONE)
        ODT_GO(SPRY_STATUS_IO);
    printf("page          %s, with %d pictures that are also files next to it\n", text_name(path),
           a->count);
done:
    spry_free(r->ctx, a);
    return status;
}
