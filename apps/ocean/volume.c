/*
 * The water as a structured grid of its own shape (.vts, VTK's file formats for VTK 4.2 and later),
 * once or as a series with its times (.pvd).
 */
#include "ocean/ocean.h"

#include <string.h>

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = path ? strlen(path) : 0, more = strlen(ending);
    return length > more && strcmp(path + length - more, ending) == 0;
}

bool volume_is_shaped(const ocean_options *o)
{
    return ends_with(o->volume, ".vts") || ends_with(o->volume, ".pvd");
}

/* Arrays of the file, with their numbers for each point. */
enum { POINTS, POTENTIAL, VELOCITY, PRESSURE, ARRAYS };
static const int parts[ARRAYS] = {3, 1, 3, 1};

static spry_status add_head(ocean_run *r, ocean_text *text, const int n[3], uint64_t points)
{
    static const char *const names[ARRAYS] = {NULL, "potential", "velocity", "pressure"};
    const uint16_t one = 1;
    uint64_t offset = 0;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(ocean_text_print(
        r->ctx, text,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"StructuredGrid\" version=\"1.0\" "
        "byte_order=\"%s\" header_type=\"UInt64\">\n",
        *(const char *)&one ? "LittleEndian" : "BigEndian"));
    OCEAN_GO(ocean_text_print(r->ctx, text,
                              "<StructuredGrid WholeExtent=\"0 %d 0 %d 0 %d\">\n"
                              "<Piece Extent=\"0 %d 0 %d 0 %d\">\n<Points>\n",
                              n[0] - 1, n[1] - 1, n[2] - 1, n[0] - 1, n[1] - 1, n[2] - 1));
    for (int a = 0; a < ARRAYS; a++) {
        OCEAN_GO(ocean_text_print(r->ctx, text,
                                  "<DataArray type=\"Float64\" Name=\"%s\" "
                                  "NumberOfComponents=\"%d\" format=\"appended\" "
                                  "offset=\"%llu\"/>\n%s",
                                  a == POINTS ? "points" : names[a], parts[a],
                                  (unsigned long long)offset,
                                  a == POINTS ? "</Points>\n<PointData>\n" : ""));
        offset += sizeof(uint64_t) + sizeof(double) * (uint64_t)parts[a] * points;
    }
    OCEAN_GO(ocean_text_print(r->ctx, text,
                              "</PointData>\n</Piece>\n</StructuredGrid>\n"
                              "<AppendedData encoding=\"raw\">\n_"));
done:
    return status;
}

/* All arrays, one behind the other. */
static void fill(const ocean_run *r, const int n[3], double *const array[ARRAYS])
{
    const ocean_flow *f = &r->flow;
    ptrdiff_t p = 0;
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++, p++) {
                ocean_near near[2];
                ocean_water w;
                double *place = array[POINTS] + 3 * p;
                place[0] = i * f->dx;
                place[1] = j * f->dy;
                ocean_inside_near(&r->inside, place[0], place[1], near);
                ocean_inside_level(&r->inside, near, k, &place[2], &w);
                array[POTENTIAL][p] = w.phi;
                memcpy(array[VELOCITY] + 3 * p, w.velocity, sizeof w.velocity);
                array[PRESSURE][p] = w.pressure;
            }
}

static spry_status write_grid(ocean_run *r, const char *path)
{
    const ocean_sizes *s = &r->flow.points.sizes;
    const int n[3] = {s->nx, s->all_y, s->nz + 1};
    const size_t points = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    double *numbers = spry_alloc(r->ctx, 8 * points * sizeof *numbers), *array[ARRAYS];
    ocean_text text = {0};
    spry_status status = numbers ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    if (!numbers)
        goto done;
    array[0] = numbers;
    for (int a = 1; a < ARRAYS; a++)
        array[a] = array[a - 1] + (size_t)parts[a - 1] * points;
    fill(r, n, array);
    OCEAN_GO(add_head(r, &text, n, points));
    for (int a = 0; a < ARRAYS; a++) {
        const uint64_t bytes = sizeof(double) * (uint64_t)parts[a] * points;
        OCEAN_GO(ocean_text_add(r->ctx, &text, (const char *)&bytes, sizeof bytes));
        OCEAN_GO(ocean_text_add(r->ctx, &text, (const char *)array[a], (size_t)bytes));
    }
    OCEAN_GO(ocean_text_print(r->ctx, &text, "\n</AppendedData>\n</VTKFile>\n"));
    OCEAN_GO(ocean_text_write(r, &text, path));
done:
    spry_free(r->ctx, text.text);
    spry_free(r->ctx, numbers);
    return status;
}

enum { PATH_SIZE = 4096 };

/* The file of a series after some steps: NAME-0001.vts beside NAME.pvd. */
static void name_of(const ocean_run *r, int64_t number, bool folder, char *name, size_t size)
{
    const char *path = r->o->volume, *slash = folder ? NULL : strrchr(path, '/');
    const char *from = slash ? slash + 1 : path;
    snprintf(name, size, "%.*s-%04lld.vts", (int)(strlen(from) - strlen(".pvd")), from,
             (long long)number);
}

/* As XML has names in attributes. */
static spry_status add_escaped(spry_context *ctx, ocean_text *text, const char *name)
{
    spry_status status = SPRY_STATUS_OK;
    for (; *name && status == SPRY_STATUS_OK; name++)
        status = *name == '&'   ? ocean_text_print(ctx, text, "&amp;")
                 : *name == '<' ? ocean_text_print(ctx, text, "&lt;")
                 : *name == '"' ? ocean_text_print(ctx, text, "&quot;")
                                : ocean_text_add(ctx, text, name, 1);
    return status;
}

/* The times of all files so far: a resumed run has those before it, too. */
static spry_status write_list(ocean_run *r, int64_t count, double last)
{
    ocean_text text = {0};
    char name[PATH_SIZE];
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(ocean_text_print(r->ctx, &text,
                              "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" "
                              "version=\"0.1\">\n<Collection>\n"));
    for (int64_t i = 1; i <= count; i++) {
        const double t = i < count ? (double)(i * r->o->every) * r->dt : last;
        name_of(r, i, false, name, sizeof name);
        OCEAN_GO(ocean_text_print(r->ctx, &text, "<DataSet timestep=\"%.12g\" file=\"", t));
        OCEAN_GO(add_escaped(r->ctx, &text, name));
        OCEAN_GO(ocean_text_print(r->ctx, &text, "\"/>\n"));
    }
    OCEAN_GO(ocean_text_print(r->ctx, &text, "</Collection>\n</VTKFile>\n"));
    OCEAN_GO(ocean_text_write(r, &text, r->o->volume));
done:
    spry_free(r->ctx, text.text);
    return status;
}

spry_status volume_record(ocean_run *r, double t, const spry_vector *u, const spry_vector *rate)
{
    const ocean_options *o = r->o;
    char path[PATH_SIZE];
    const bool last = t >= o->end * (1 - 1e-12), due = r->step > 0 && r->step % o->every == 0;
    const bool series = ends_with(o->volume, ".pvd");
    if (!volume_is_shaped(o) || !(last || (series && due)))
        return SPRY_STATUS_OK;
    const int64_t number = (r->step + o->every - 1) / o->every;
    spry_status status = ocean_inside_take(&r->inside, u, rate);
    if (series)
        name_of(r, number, true, path, sizeof path);
    if (status == SPRY_STATUS_OK)
        status = write_grid(r, series ? path : o->volume);
    return status == SPRY_STATUS_OK && series ? write_list(r, number, t) : status;
}
