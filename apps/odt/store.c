/*
 * Files: HDF5 with the data sets setup, views and holo, and truth where it is known; of results
 * also found, image, linear and index. docs/odt.md has the layout.
 */
#include "odt/odt.h"

#include <math.h>
#include <string.h>

/* Numbers of a particle: of old files, of others, and with standard deviations. */
enum { LEAST = 6, PARTICLE = 7, FITTED = PARTICLE + PARTICLE_NUMBERS, SETS = 8 };

/* --- writing -------------------------------------------------------------------------------------
 */

/* Data sets as they are collected. */
typedef struct sets {
    int count;
    const char *names[SETS];
    int64_t sides[3 * SETS];
    const spry_vector *values[SETS];
} sets;

/* Adds one, made of borrowed numbers; NULL: none. */
static spry_status add(spry_context *ctx, sets *s, const char *name, spry_type type, int64_t n0,
                       int64_t n1, int64_t n2, const void *data)
{
    const int64_t sides[3] = {n0, n1, n2};
    spry_vector *v = NULL;
    if (!data)
        return SPRY_STATUS_OK;
    const spry_status status =
        spry_vector_new(ctx, type, (n0 > 0 ? n0 : 1) * (n1 > 0 ? n1 : 1) * n2,
                        (void *)(uintptr_t)data, SPRY_OWN_BORROW, &v);
    if (status != SPRY_STATUS_OK)
        return status;
    s->names[s->count] = name;
    memcpy(s->sides + 3 * (ptrdiff_t)s->count, sides, sizeof sides);
    s->values[s->count++] = v;
    return SPRY_STATUS_OK;
}

/* Rows of x, y, z, diameter, index, score, absorption, and standard deviations where there are any.
 * A list that is empty has one row of NaN. */
static double *particle_rows(spry_context *ctx, const odt_particles *list, int *rows, int *width)
{
    *rows = list->count > 0 ? list->count : 1;
    *width = list->count > 0 && list->p[0].sigma[0] > 0 ? FITTED : PARTICLE;
    double *all = list->p ? spry_alloc(ctx, (size_t)(*rows * *width) * sizeof *all) : NULL;
    for (int j = 0; all && j < *rows; j++) {
        const odt_particle *p = &list->p[j];
        double row[FITTED] = {p->at[0], p->at[1], p->at[2],     p->diameter,
                              p->index, p->score, p->absorption};
        memcpy(row + PARTICLE, p->sigma, sizeof p->sigma);
        for (int k = 0; k < *width; k++)
            all[j * *width + k] = j < list->count ? row[k] : NAN;
    }
    return all;
}

/* Intensities are real. */
static spry_status add_holograms(spry_context *ctx, sets *s, const odt_record *r, double **real)
{
    const int64_t m = (int64_t)r->setup[SETUP_pixels], n = r->views * m * m;
    if (r->setup[SETUP_kind] == KIND_FIELD)
        return add(ctx, s, "holo", SPRY_TYPE_Z, r->views, m, m, r->holo);
    *real = spry_alloc(ctx, (size_t)n * sizeof **real);
    if (!*real)
        return SPRY_STATUS_NO_MEMORY;
    for (int64_t k = 0; k < n; k++)
        (*real)[k] = r->holo[k].re;
    return add(ctx, s, "holo", SPRY_TYPE_D, r->views, m, m, *real);
}

spry_status odt_record_write(spry_context *ctx, const odt_record *r, const char *path)
{
    const double *n = r->setup + SETUP_nx;
    const int64_t nx = (int64_t)n[0], ny = (int64_t)n[1], nz = (int64_t)n[2];
    spry_status status = SPRY_STATUS_OK;
    sets s = {0};
    double *real = NULL;
    int found_rows = 0, truth_rows = 0, found_width = 0, truth_width = 0;
    double *found = particle_rows(ctx, &r->found, &found_rows, &found_width);
    double *truth = particle_rows(ctx, &r->truth, &truth_rows, &truth_width);
    if ((r->found.p && !found) || (r->truth.p && !truth))
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    /* in the order of names */
    ODT_GO(add(ctx, &s, "found", SPRY_TYPE_D, 0, found_rows, found_width, found));
    ODT_GO(add_holograms(ctx, &s, r, &real));
    ODT_GO(add(ctx, &s, "image", SPRY_TYPE_S, nz, ny, nx, r->image));
    ODT_GO(add(ctx, &s, "index", SPRY_TYPE_S, nz, ny, nx, r->index));
    ODT_GO(add(ctx, &s, "linear", SPRY_TYPE_S, nz, ny, nx, r->linear));
    ODT_GO(add(ctx, &s, "setup", SPRY_TYPE_D, 0, 0, SETUP_COUNT, r->setup));
    ODT_GO(add(ctx, &s, "truth", SPRY_TYPE_D, 0, truth_rows, truth_width, truth));
    ODT_GO(add(ctx, &s, "views", SPRY_TYPE_D, 0, r->views, 6, r->directions));
    ODT_GO(spry_datasets_write(ctx, path, s.count, s.names, s.sides, s.values));
done:
    for (int k = 0; k < s.count; k++)
        spry_vector_free((spry_vector *)(uintptr_t)s.values[k]);
    spry_free(ctx, real);
    spry_free(ctx, found);
    spry_free(ctx, truth);
    return status;
}

/* --- reading -------------------------------------------------------------------------------------
 */

static spry_status wrong(spry_context *ctx, const char *path, const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%.250s: %.200s", path, what);
    return odt_fail(ctx, text);
}

/* A data set of a type; room that the caller frees. `need`: its absence is a failure; one that is
 * damaged always is. */
static spry_status take(spry_context *ctx, const char *path, const char *name, bool need,
                        spry_type type, int64_t *sides, void **numbers)
{
    spry_vector *given = NULL, *on_host = NULL;
    spry_status status = spry_dataset_read(ctx, path, name, sides, &given);
    if (status == SPRY_STATUS_BAD_INPUT && !need && sides[2] == 0)
        return SPRY_STATUS_OK;
    ODT_GO(status);
    const int64_t n = spry_vector_size(given);
    if (spry_type_is_complex(spry_vector_type(given)) && !spry_type_is_complex(type))
        ODT_GO(wrong(ctx, path, "a data set has complex numbers where real ones are expected"));
    *numbers = spry_alloc(ctx, (size_t)(n + 1) * spry_type_size(type));
    if (!*numbers)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    ODT_GO(spry_vector_new(ctx, type, n, *numbers, SPRY_OWN_BORROW, &on_host));
    ODT_GO(spry_vector_copy(given, on_host));
done:
    spry_vector_free(given);
    spry_vector_free(on_host);
    return status;
}

static spry_status take_particles(spry_context *ctx, const char *path, const char *name,
                                  odt_particles *list)
{
    int64_t sides[3];
    void *numbers = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(take(ctx, path, name, false, SPRY_TYPE_D, sides, &numbers));
    if (!numbers)
        return SPRY_STATUS_OK;
    if (sides[2] != PARTICLE && sides[2] != LEAST && sides[2] != FITTED)
        ODT_GO(wrong(ctx, path,
                     "particles have 7 numbers each: x y z diameter index score absorption"));
    list->p = spry_alloc(ctx, (size_t)(sides[1] + 1) * sizeof *list->p);
    if (!list->p)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    for (int64_t j = 0; j < sides[1]; j++) {
        const double *row = (const double *)numbers + j * sides[2];
        odt_particle *p = &list->p[list->count];
        if (!isfinite(row[0]))
            continue;
        list->count++;
        *p = (odt_particle){.at = {row[0], row[1], row[2]},
                            .diameter = row[3],
                            .index = row[4],
                            .score = row[5],
                            .absorption = sides[2] > LEAST ? row[6] : 0};
        if (sides[2] == FITTED)
            memcpy(p->sigma, row + PARTICLE, sizeof p->sigma);
    }
done:
    spry_free(ctx, numbers);
    return status;
}

/* Whether the setup is possible: positive lengths, whole numbers that are not absurd.
 */
static spry_status check_setup(spry_context *ctx, const char *path, const double *s)
{
    static const int whole[] = {SETUP_nx, SETUP_ny, SETUP_nz, SETUP_pixels};
    static const int positive[] = {SETUP_wavelength, SETUP_voxel, SETUP_fluid, SETUP_index,
                                   SETUP_diameter,   SETUP_na,    SETUP_field};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        if (!(s[whole[k]] >= 1 && s[whole[k]] <= 4096 && s[whole[k]] == floor(s[whole[k]])))
            return wrong(ctx, path, "setup: sides and pixels are whole numbers from 1 to 4096");
    for (size_t k = 0; k < sizeof positive / sizeof *positive; k++)
        if (!(s[positive[k]] > 0 && isfinite(s[positive[k]])))
            return wrong(ctx, path, "setup: lengths, indices and the aperture are above 0");
    if ((s[SETUP_kind] != KIND_FIELD && s[SETUP_kind] != KIND_INTENSITY) ||
        !isfinite(s[SETUP_distance]))
        return wrong(ctx, path, "setup: kind is 0 (field) or 1 (intensity)");
    if (!(s[SETUP_absorption] >= 0 && s[SETUP_absorption] <= 10))
        return wrong(ctx, path, "setup: absorption is from 0 to 10");
    return SPRY_STATUS_OK;
}

static spry_status take_setup(spry_context *ctx, const char *path, odt_record *r)
{
    int64_t sides[3];
    void *numbers = NULL;
    spry_status status = take(ctx, path, "setup", true, SPRY_TYPE_D, sides, &numbers);
    if (status == SPRY_STATUS_OK &&
        (sides[1] > 0 || (sides[2] != SETUP_COUNT && sides[2] != SETUP_absorption)))
        status = wrong(ctx, path, "setup has not the numbers that docs/odt.md lists");
    if (status == SPRY_STATUS_OK) {
        memcpy(r->setup, numbers, (size_t)sides[2] * sizeof *r->setup);
        status = check_setup(ctx, path, r->setup);
    }
    spry_free(ctx, numbers);
    return status;
}

static spry_status take_holograms(spry_context *ctx, const char *path, odt_record *r)
{
    const int64_t m = (int64_t)r->setup[SETUP_pixels];
    int64_t sides[3];
    char text[240];
    void *numbers = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(take(ctx, path, "views", true, SPRY_TYPE_D, sides, &numbers));
    r->directions = numbers;
    numbers = NULL;
    if (sides[2] != 6 || sides[1] < 1 || sides[1] > 10000)
        ODT_GO(wrong(ctx, path, "views has six numbers for each hologram: light and camera"));
    r->views = (int)sides[1];
    for (int k = 0; k < 2 * r->views; k++) {
        const double *d = r->directions + 3 * (ptrdiff_t)k;
        const double length = hypot(hypot(d[0], d[1]), d[2]);
        if (!(length > 0 && isfinite(length))) {
            snprintf(text, sizeof text, "views: the %s of hologram %d has no direction",
                     k % 2 ? "camera" : "light", k / 2 + 1);
            ODT_GO(wrong(ctx, path, text));
        }
    }
    ODT_GO(take(ctx, path, "holo", true, SPRY_TYPE_Z, sides, &numbers));
    r->holo = numbers;
    if (sides[0] != r->views || sides[1] != m || sides[2] != m) {
        snprintf(text, sizeof text,
                 "holo has %lld holograms of %lld x %lld pixels, setup and views say %d of %lld x "
                 "%lld",
                 (long long)sides[0], (long long)sides[1], (long long)sides[2], r->views,
                 (long long)m, (long long)m);
        ODT_GO(wrong(ctx, path, text));
    }
    for (int64_t k = 0; k < r->views * m * m; k++)
        if (!isfinite(r->holo[k].re) || !isfinite(r->holo[k].im)) {
            const int64_t at[3] = {k / (m * m) + 1, k / m % m + 1, k % m + 1};
            snprintf(text, sizeof text,
                     "hologram %lld has no finite number at row %lld, column %lld",
                     (long long)at[0], (long long)at[1], (long long)at[2]);
            ODT_GO(wrong(ctx, path, text));
        }
done:
    return status;
}

/* --- arrays --------------------------------------------------------------------------------------
 */

bool odt_is_array(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* Arrays of the library's files are by columns. */
static void turn(const odt_record *r, int64_t pixels, spry_scalar *columns, bool to)
{
    const int64_t rows = r->views * pixels;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < pixels; j++) {
            spry_scalar *a = &columns[j * rows + i], *b = &r->holo[i * pixels + j];
            *(to ? a : b) = *(to ? b : a);
        }
}

spry_status odt_holograms_write(spry_context *ctx, const odt_record *r, const char *path)
{
    const int64_t m = (int64_t)r->setup[SETUP_pixels], n = r->views * m * m;
    spry_vector *v = NULL, *real = NULL;
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &v));
    turn(r, m, spry_vector_data(v), true);
    if (r->setup[SETUP_kind] != KIND_FIELD) {
        ODT_GO(spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &real));
        ODT_GO(spry_vector_copy(v, real));
    }
    ODT_GO(spry_columns_write(real ? real : v, m, path));
done:
    spry_vector_free(v);
    spry_vector_free(real);
    return status;
}

spry_status odt_holograms_read(spry_context *ctx, const char *path, odt_record *r)
{
    spry_vector *given = NULL, *v = NULL;
    int64_t cols = 0;
    char text[200];
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(spry_columns_read(ctx, path, NULL, &given, &cols));
    const int64_t n = spry_vector_size(given);
    if (n != r->views * cols * cols) {
        snprintf(text, sizeof text,
                 "%lld rows of %lld numbers; %d views need as many squares, one below the other, "
                 "or (views, y, x)",
                 (long long)(cols > 0 ? n / cols : 0), (long long)cols, r->views);
        ODT_GO(wrong(ctx, path, text));
    }
    if (r->setup[SETUP_pixels] > 0 && r->setup[SETUP_pixels] != (double)cols) {
        snprintf(text, sizeof text,
                 "holograms of %lld x %lld pixels, the configuration says pixels = %g",
                 (long long)cols, (long long)cols, r->setup[SETUP_pixels]);
        ODT_GO(wrong(ctx, path, text));
    }
    if (spry_type_is_complex(spry_vector_type(given)) != (r->setup[SETUP_kind] == KIND_FIELD))
        ODT_GO(wrong(ctx, path, "kind = field has complex numbers, intensity real ones"));
    ODT_GO(spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &v));
    ODT_GO(spry_vector_copy(given, v));
    r->setup[SETUP_pixels] = (double)cols;
    r->holo = odt_alloc(ctx, n, sizeof *r->holo);
    if (!r->holo)
        ODT_GO(SPRY_STATUS_NO_MEMORY);
    turn(r, cols, spry_vector_data(v), false);
done:
    spry_vector_free(given);
    spry_vector_free(v);
    return status;
}

/* --- volumes -------------------------------------------------------------------------------------
 */

static spry_status take_volume(spry_context *ctx, const char *path, const char *name,
                               const odt_record *r, float **to)
{
    int64_t sides[3];
    void *numbers = NULL;
    const spry_status status = take(ctx, path, name, false, SPRY_TYPE_S, sides, &numbers);
    *to = numbers;
    if (status == SPRY_STATUS_OK && numbers)
        for (int a = 0; a < 3; a++)
            if (sides[2 - a] != (int64_t)r->setup[SETUP_nx + a])
                return wrong(ctx, path, "a volume has other sides than setup says");
    return status;
}

spry_status odt_record_read(spry_context *ctx, const char *path, odt_record *r)
{
    spry_status status = SPRY_STATUS_OK;
    ODT_GO(take_setup(ctx, path, r));
    ODT_GO(take_holograms(ctx, path, r));
    ODT_GO(take_particles(ctx, path, "truth", &r->truth));
    ODT_GO(take_particles(ctx, path, "found", &r->found));
    ODT_GO(take_volume(ctx, path, "image", r, &r->image));
    ODT_GO(take_volume(ctx, path, "linear", r, &r->linear));
    ODT_GO(take_volume(ctx, path, "index", r, &r->index));
done:
    return status;
}

void odt_record_free(spry_context *ctx, odt_record *r)
{
    void *const parts[] = {r->directions, r->holo,   r->truth.p, r->found.p,
                           r->image,      r->linear, r->index};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        spry_free(ctx, parts[k]);
    *r = (odt_record){0};
}

void odt_checkpoint_name(const odt_run *r, const char *kind, char what[ODT_NAME])
{
    const double *setup = r->record.setup;
    snprintf(what, ODT_NAME, "odt%s %gx%gx%g index %.9g %.9g diameter %.9g empty %.15g", kind,
             setup[SETUP_nx], setup[SETUP_ny], setup[SETUP_nz], setup[SETUP_index],
             setup[SETUP_absorption], setup[SETUP_diameter],
             r->search.empty); /* which all holograms are in */
}

bool odt_has_checkpoint(const odt_run *r)
{
    FILE *file = r->o->resume ? fopen(r->o->checkpoint, "rb") : NULL;
    if (file)
        fclose(file);
    return file != NULL;
}
