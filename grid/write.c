/*
 * Fields as files. A field of unknowns is written where its points are: the box begins at the first
 * of them.
 *
 * .vti is VTK's XML format for regular grids with its numbers behind the text, as they are in
 * memory (VTK file formats, "appended raw"): before each array the number of its bytes in 64 bits.
 *
 * .h5 is HDF5 by our own writer (io/hdf5_write.h), the one of MATLAB's files: one data set.
 * .vtr is the one for grids with coordinates along each axis, which are arrays behind the others.
 */
#include "grid/blocks.h"

#include "grid/options.h"
#include "io/hdf5_write.h"
#include "io/npy.h"
#include "io/png.h"

#define FIELD_OPTIONS(item)                                                                       \
    item(WORD, across, "auto", 0, 0, "auto x y z",                                                \
         "axis normal to the plane of the picture; auto is z, or what a plane grid lacks")        \
    item(REAL, at, "0.5", 0, 1, NULL, "where the plane lies, as a part of the axis")              \
    item(REAL, low, "0", 0, 0, NULL,                                                              \
         "number of the darkest colour; low = high takes the least and the largest of the plane") \
    item(REAL, high, "0", 0, 0, NULL, "number of the brightest colour")

typedef struct field_options {
    FIELD_OPTIONS(SPRY_OPTION_FIELD)
} field_options;
SPRY_OPTION_TABLE(option_rows, field_options, FIELD_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list option_list = SPRY_OPTION_LIST(option_rows);

spry_option_list field_option_list(void)
{
    return option_list;
}

/* A field of the host's with its sizes. */
typedef struct shown {
    const grid_shape *shape;
    const spry_vector *v;
    bool all_points, by_arrays; /* by_arrays: coordinates are written one by one */
    int64_t n[GRID_AXES];
} shown;

/* The coordinate of its first number along an axis. */
static double origin_of(const shown *f, int axis)
{
    const grid_axis *a = &f->shape->axis[axis];
    return axis < f->shape->dimensions ? grid_coordinate(a, f->all_points ? 0 : a->first) : 0;
}

/* --- .vti and .vtr -------------------------------------------------------------------------------
 */

/* The real or imaginary parts, as they are in the vector. */
static void write_part(io_writer *w, const spry_vector *v, int part)
{
    enum { PIECE = 512 };
    const uint64_t parts = spry_type_is_complex(v->type) ? 2 : 1;
    const uint64_t size = spry_type_size(v->type) / parts, bytes = (uint64_t)v->n * size;
    char piece[PIECE * sizeof(double)];
    io_write(w, &bytes, sizeof bytes);
    if (parts == 1) {
        io_write(w, v->data, bytes);
        return;
    }
    for (int64_t i = 0; i < v->n && !io_write_failed(w); i += PIECE) {
        const int64_t n = v->n - i < PIECE ? v->n - i : PIECE;
        for (int64_t k = 0; k < n; k++)
            memcpy(piece + (size_t)k * size,
                   (const char *)v->data + ((uint64_t)(i + k) * 2 + (uint64_t)part) * size, size);
        io_write(w, piece, (size_t)n * size);
    }
}

/* Coordinate k of an axis of what is shown; an axis that is not there has 0. */
static double shown_coordinate(const shown *f, int axis, int64_t k)
{
    const grid_axis *a = &f->shape->axis[axis];
    return axis < f->shape->dimensions ? grid_coordinate(a, k + (f->all_points ? 0 : a->first)) : 0;
}

/* The whole grid's tag: where points are, unless coordinates come as arrays. */
static void write_grid_tag(io_writer *w, const shown *f, const char *kind, const char *extent)
{
    char origin[GRID_AXES][32], spacing[GRID_AXES][32];
    io_printf(w, "<%s WholeExtent=\"%s\"", kind, extent);
    for (int k = 0; k < GRID_AXES; k++) {
        spry_number_print(shown_coordinate(f, k, 0), origin[k]);
        spry_number_print(f->shape->axis[k].spacing, spacing[k]);
    }
    if (!f->by_arrays)
        io_printf(w, " Origin=\"%s %s %s\" Spacing=\"%s %s %s\"", origin[0], origin[1], origin[2],
                  spacing[0], spacing[1], spacing[2]);
    io_printf(w, ">\n<Piece Extent=\"%s\">\n", extent);
}

/* The tag of an array whose numbers are `offset` bytes behind the text. */
static void write_array_tag(io_writer *w, bool single, const char *name, uint64_t offset)
{
    io_printf(w,
              "<DataArray type=\"%s\" Name=\"%s\" format=\"appended\" offset=\"%" PRIu64 "\"/>\n",
              single ? "Float32" : "Float64", name, offset);
}

static void write_coordinates(io_writer *w, const shown *f)
{
    for (int a = 0; a < GRID_AXES; a++) {
        const uint64_t bytes = (uint64_t)f->n[a] * sizeof(double);
        io_write(w, &bytes, sizeof bytes);
        for (int64_t k = 0; k < f->n[a] && !io_write_failed(w); k++) {
            const double at = shown_coordinate(f, a, k);
            io_write(w, &at, sizeof at);
        }
    }
}

static spry_status write_vtk(const shown *f, const char *path)
{
    static const char *const names[] = {"re", "im"}, *const axes[] = {"x", "y", "z"};
    const char *kind = f->by_arrays ? "RectilinearGrid" : "ImageData";
    const spry_vector *v = f->v;
    const int parts = spry_type_is_complex(v->type) ? 2 : 1;
    const uint16_t order = 1;
    const bool little = *(const unsigned char *)&order == 1, single = type_is_single(v->type);
    char extent[96];
    io_writer *w = NULL;
    const spry_status status = io_create(v->ctx, path, &w);
    if (status != SPRY_STATUS_OK)
        return status;
    snprintf(extent, sizeof extent, "0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64, f->n[0] - 1,
             f->n[1] - 1, f->n[2] - 1);
    io_printf(w,
              "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
              "byte_order=\"%s\" header_type=\"UInt64\">\n",
              kind, little ? "LittleEndian" : "BigEndian");
    write_grid_tag(w, f, kind, extent);
    io_printf(w, "<PointData Scalars=\"%s\">\n", parts == 1 ? "u" : names[0]);
    const uint64_t bytes = (uint64_t)v->n * spry_type_size(v->type) / (uint64_t)parts + 8;
    uint64_t offset = 0;
    for (int k = 0; k < parts; k++, offset += bytes)
        write_array_tag(w, single, parts == 1 ? "u" : names[k], offset);
    io_printf(w, "</PointData>\n");
    for (int a = 0; a < GRID_AXES && f->by_arrays; a++) {
        io_printf(w, "%s", a == 0 ? "<Coordinates>\n" : "");
        write_array_tag(w, false, axes[a], offset);
        io_printf(w, "%s", a == 2 ? "</Coordinates>\n" : "");
        offset += (uint64_t)f->n[a] * sizeof(double) + 8;
    }
    io_printf(w, "</Piece>\n</%s>\n<AppendedData encoding=\"raw\">\n_", kind);
    for (int k = 0; k < parts; k++)
        write_part(w, v, k);
    if (f->by_arrays)
        write_coordinates(w, f);
    io_printf(w, "\n</AppendedData>\n</VTKFile>\n");
    return io_commit(v->ctx, w);
}

/* --- .npy ----------------------------------------------------------------------------------------
 */

static spry_status write_npy(const shown *f, const char *path)
{
    const spry_vector *v = f->v;
    char header[NPY_HEADER];
    int64_t shape[GRID_AXES];
    const int dims = f->shape->dimensions;
    io_writer *w = NULL;
    const spry_status status = io_create(v->ctx, path, &w);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int a = 0; a < dims; a++)
        shape[a] = f->n[dims - 1 - a];
    io_write(w, header, io_npy_header(header, io_npy_descr(v->type), dims, shape, false));
    io_write(w, v->data, (size_t)v->n * spry_type_size(v->type));
    return io_commit(v->ctx, w);
}

/* --- .h5 -----------------------------------------------------------------------------------------
 */

/* Parts of complex numbers have the names that h5py and HDF5.jl look for. Attributes go along with
 * the dimensions, the first of which varies slowest. */
static spry_status write_h5(const shown *f, const char *path)
{
    static const char *const name[] = {"field"};
    const spry_vector *v = f->v;
    const int dims = f->shape->dimensions;
    double origin[GRID_AXES], spacing[GRID_AXES];
    char names[GRID_AXES][2] = {{0}};
    hdf5_piece p = {.type = v->type, .parts = {"r", "i"}, .rank = dims};
    hdf5_image m = {.user_block = 0};
    size_t target;
    io_writer *w = NULL;
    for (int k = 0; k < dims; k++) {
        const int a = dims - 1 - k;
        p.sides[k] = (uint64_t)f->n[a];
        origin[k] = origin_of(f, a);
        spacing[k] = f->shape->axis[a].spacing;
        names[k][0] = "xyz"[a];
    }
    const hdf5_attribute attributes[] = {{"names", HDF5_TEXT, sizeof *names, dims, names},
                                         {"origin", HDF5_REAL, sizeof *origin, dims, origin},
                                         {"spacing", HDF5_REAL, sizeof *spacing, dims, spacing}};
    p.attributes = 3;
    p.attribute = attributes;
    hdf5_begin(&m);
    hdf5_set_root(&m, hdf5_put_group(&m, 1, name, 0, NULL, &target));
    hdf5_set_target(&m, target, hdf5_put_data(&m, &p));
    hdf5_settle(&m, 1, &p);
    const spry_status status = io_create(v->ctx, path, &w);
    if (status != SPRY_STATUS_OK)
        return status;
    io_write(w, m.bytes, m.used);
    io_write(w, v->data, (size_t)v->n * spry_type_size(v->type));
    return io_commit(v->ctx, w);
}

/* --- .png ----------------------------------------------------------------------------------------
 */

/* A plane of a field: steps from a pixel to the next, and from a row to the next one above. */
typedef struct plane {
    int64_t width, height, first, right, up;
} plane;

static spry_status find_plane(const shown *f, const field_options *o, plane *p)
{
    const int dims = f->shape->dimensions, across = o->across > 0 ? o->across - 1 : 2;
    const int64_t steps[] = {1, f->n[0], f->n[0] * f->n[1]};
    if (dims < 3 && o->across > 0 && across < dims)
        return SPRY_FAIL(f->v->ctx, SPRY_STATUS_BAD_USAGE,
                         "across=%c: a plane of a grid with %d dimensions is the whole grid",
                         "xyz"[across], dims);
    const int a = across == 0 ? 1 : 0, b = across == 2 ? 1 : 2;
    const int64_t last = f->n[across] - 1;
    *p = (plane){f->n[a], f->n[b], (int64_t)((double)last * o->at + 0.5) * steps[across], steps[a],
                 steps[b]};
    return SPRY_STATUS_OK;
}

static double number_at(const shown *f, const plane *p, int64_t x, int64_t y)
{
    return value_get(f->v->type, f->v->data, p->first + x * p->right + y * p->up).re;
}

/* Colours whose lightness rises evenly, from dark blue over red to light yellow; what is no number
 * is grey. */
static void put_colour(double t, unsigned char *pixel)
{
    static const double colours[][3] = {{8, 8, 40},    {66, 20, 110},  {150, 40, 110},
                                        {222, 80, 70}, {250, 160, 50}, {252, 252, 190}};
    enum { LAST = sizeof colours / sizeof *colours - 1 };
    if (!(t == t)) {
        memset(pixel, 128, 3);
        return;
    }
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const int k = t < 1 ? (int)(t * LAST) : LAST - 1;
    const double rest = t * LAST - k;
    for (int c = 0; c < 3; c++)
        pixel[c] =
            (unsigned char)(colours[k][c] + rest * (colours[k + 1][c] - colours[k][c]) + 0.5);
}

static spry_status write_png(const shown *f, const field_options *o, const char *path)
{
    spry_context *ctx = f->v->ctx;
    plane p;
    unsigned char *pixels = NULL;
    double low = o->low, high = o->high, least = INFINITY, most = -INFINITY;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_plane(f, o, &p));
    SPRY_GO(ctx, base_alloc(ctx, p.width * p.height, 3, &pixels));
    for (int64_t y = 0; y < p.height; y++)
        for (int64_t x = 0; x < p.width; x++) {
            const double value = number_at(f, &p, x, y);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    if (low == high) {
        low = least;
        high = most;
    }
    for (int64_t y = 0; y < p.height; y++)
        for (int64_t x = 0; x < p.width; x++)
            put_colour(high > low ? (number_at(f, &p, x, y) - low) / (high - low) : 0.5,
                       pixels + 3 * ((p.height - 1 - y) * p.width + x));
    SPRY_GO(ctx, io_png_write(ctx, path, p.width, p.height, pixels));
done:
    base_free(ctx, pixels);
    return status;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static spry_status write_by_ending(shown *f, const char *path, const field_options *o)
{
    const size_t length = strlen(path);
    bool given = false;
    for (int a = 0; a < GRID_AXES; a++)
        given = given || f->shape->axis[a].given;
    f->by_arrays = io_ends_with(path, length, ".vtr");
    if (given && io_ends_with(path, length, ".vti"))
        return SPRY_FAIL(f->v->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: .vti has equal intervals alone, and the grid has points that were "
                         "given; take .vtr",
                         path);
    if (f->by_arrays || io_ends_with(path, length, ".vti"))
        return write_vtk(f, path);
    if (io_ends_with(path, length, ".npy"))
        return write_npy(f, path);
    if (io_ends_with(path, length, ".h5"))
        return write_h5(f, path);
    if (io_ends_with(path, length, ".png"))
        return write_png(f, o, path);
    return SPRY_FAIL(f->v->ctx, SPRY_STATUS_BAD_USAGE,
                     "%s: fields are written as .vti, .vtr, .npy, .h5 or .png", path);
}

/* Whether it is a field of points or of unknowns, from its number of elements. */
static spry_status check_field(const grid_shape *shape, spry_context *ctx, int64_t elements,
                               bool *all_points)
{
    *all_points = elements == shape->points;
    if (*all_points || elements == shape->unknowns)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "the field has %" PRId64 " elements, the grid %" PRId64
                     " unknowns and %" PRId64 " points",
                     elements, shape->unknowns, shape->points);
}

/* The numbers of a whole field in the order of files, for the first rank, which writes; the others
 * get none. Collective. */
static spry_status gather_field(const spry_grid *grid, const spry_vector *mine, bool all_points,
                                spry_vector **whole)
{
    spry_context *ctx = grid->ctx;
    const grid_shape *shape = &grid->shape;
    const grid_box box = grid_whole(shape, all_points);
    const int64_t count = team_rank(ctx) == 0 ? box_count(&box) : 0;
    int64_t *starts = NULL, *numbers = NULL;
    spry_status status = grid_starts(ctx, shape, all_points, &starts);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, count, sizeof *numbers, &numbers);
    if (status == SPRY_STATUS_OK)
        status = vector_new_at(ctx, NULL, mine->type, count, whole);
    const grid_box own = grid_own(ctx, shape, all_points);
    if (status == SPRY_STATUS_OK && mine->n != box_count(&own))
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "the field has %" PRId64 " elements on this rank, its block %" PRId64,
                           mine->n, box_count(&own));
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t i = 0; i < count; i++) {
        int64_t at[GRID_AXES];
        box_split(&box, i, at);
        numbers[i] = grid_number(shape, all_points, starts, at);
    }
    SPRY_GO(ctx, ranks_fetch(ctx, starts, spry_type_size(mine->type), mine->data, count, numbers,
                             (*whole)->data));
done:
    base_free(ctx, starts);
    base_free(ctx, numbers);
    return status;
}

spry_status spry_field_write(const spry_grid *grid, const spry_vector *field, const char *path,
                             const char *options)
{
    SPRY_NEED(CTX_OF_ANY(grid, field), grid, field, path);
    spry_context *ctx = grid->ctx;
    const bool cut = grid_is_cut(&grid->shape);
    shown f = {.shape = &grid->shape};
    spry_vector *copy = NULL, *whole = NULL;
    field_options o;
    int64_t elements = field->n;
    spry_status status = SPRY_STATUS_OK;
    if (cut)
        SPRY_GO(ctx, team_sum(ctx, field->n, &elements));
    SPRY_GO(ctx, check_field(f.shape, ctx, elements, &f.all_points));
    status = options_take(ctx, option_list, &o, options);
    if (status == SPRY_STATUS_OK)
        status = vector_on_host(field, &f.v, &copy);
    SPRY_GO(ctx, grid_agree(ctx, f.shape, status));
    if (cut) {
        SPRY_GO(ctx, gather_field(grid, f.v, f.all_points, &whole));
        f.v = whole;
    }
    for (int a = 0; a < GRID_AXES; a++)
        f.n[a] = f.all_points ? grid->shape.axis[a].points : grid->shape.axis[a].unknowns;
    if (!cut || team_rank(ctx) == 0)
        status = write_by_ending(&f, path, &o);
    SPRY_GO(ctx, grid_agree(ctx, f.shape, status));
done:
    spry_vector_free(copy);
    spry_vector_free(whole);
    return status;
}
