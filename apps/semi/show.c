/* Fields: for ParaView, as a picture of a plane, along a line. */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 400, PIXELS = 900 };

/* Densities in cm^-3, potentials in V at a node; NaN where there are none. */
enum { FIELD_N, FIELD_P, FIELD_POTENTIAL, FIELD_DOPING, FIELD_PHI_N, FIELD_PHI_P, FIELDS };
static double field_at(const semi_device *d, int field, int64_t i)
{
    const bool carries = d->mesh.node_material[i] >= 0;
    switch (field) {
    case FIELD_POTENTIAL:
        return (d->x[PSI][i] + d->offset[i]) * d->vt;
    case FIELD_DOPING:
        return carries ? d->doping[i] * d->n0 : NAN;
    case FIELD_PHI_N:
    case FIELD_PHI_P:
        return carries ? (d->x[PHI_N + field - FIELD_PHI_N][i] + d->offset[i]) * d->vt : NAN;
    default:
        return carries ? exp(d->u[field - FIELD_N][i]) * d->n0 : NAN;
    }
}

static const struct {
    const char *name, *title;
} fields[FIELDS] = {
    {"n", "n, cm^-3"},           {"p", "p, cm^-3"},     {"potential", "potential, V"},
    {"doping", "doping, cm^-3"}, {"phi_n", "phi_n, V"}, {"phi_p", "phi_p, V"}};

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* --- within cells ------------------------------------------------------------------------------*/

/* Inverse of the matrix of a cell's edges; missing dimensions are those of the axes. */
static void invert_edges(const semi_mesh *m, int64_t cell, double inverse[3][3])
{
    double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int32_t *corner = m->corner + cell * (m->dim + 1);
    const double *origin = m->place + 3 * (int64_t)corner[0];
    for (int k = 0; k < m->dim; k++)
        for (int a = 0; a < m->dim; a++)
            e[k][a] = m->place[3 * (int64_t)corner[k + 1] + a] - origin[a];
    double determinant = 0;
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3, a1 = (a + 1) % 3, a2 = (a + 2) % 3;
            inverse[a][k] = e[k1][a1] * e[k2][a2] - e[k1][a2] * e[k2][a1];
            determinant += k == 0 ? e[0][a] * inverse[a][0] : 0;
        }
    for (int k = 0; k < 9; k++)
        inverse[k / 3][k % 3] /= determinant;
}

/* Whether a place is in a cell, and the shares of its corners there. */
static bool locate(const semi_mesh *m, int64_t cell, double inverse[3][3], const double *place,
                   double share[4])
{
    const double *origin = m->place + 3 * (int64_t)m->corner[cell * (m->dim + 1)];
    share[0] = 1;
    for (int k = 0; k < m->dim; k++) {
        share[k + 1] = 0;
        for (int a = 0; a < m->dim; a++)
            share[k + 1] += (place[a] - origin[a]) * inverse[a][k];
        share[0] -= share[k + 1];
    }
    for (int k = 0; k <= m->dim; k++)
        if (share[k] < -1e-9)
            return false;
    return true;
}

/* Densities vary as exponentials: theirs is the mean of logarithms. */
static double value_in(const semi_device *d, int field, int64_t cell, const double share[4])
{
    double sum = 0;
    const semi_mesh *m = &d->mesh;
    for (int k = 0; k <= m->dim; k++) {
        const double at = field_at(d, field, m->corner[cell * (m->dim + 1) + k]);
        sum += share[k] * (field <= FIELD_P ? log(at) : at);
    }
    return field <= FIELD_P ? exp(sum) : sum;
}

/* --- ParaView ----------------------------------------------------------------------------------*/

static void put_array(FILE *out, const char *type, const char *name, int components)
{
    fprintf(out, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"ascii\">\n",
            type, name, components);
}

static void put_cells(FILE *out, const semi_mesh *m)
{
    static const int types[] = {0, 3, 5, 10};
    fprintf(out, "<Cells>\n");
    put_array(out, "Int32", "connectivity", 1);
    for (int64_t c = 0; c < m->cells; c++)
        for (int k = 0; k <= m->dim; k++)
            fprintf(out, "%d%c", (int)m->corner[c * (m->dim + 1) + k], k == m->dim ? '\n' : ' ');
    fprintf(out, "</DataArray>\n");
    put_array(out, "Int64", "offsets", 1);
    for (int64_t c = 1; c <= m->cells; c++)
        fprintf(out, "%lld\n", (long long)(c * (m->dim + 1)));
    fprintf(out, "</DataArray>\n");
    put_array(out, "UInt8", "types", 1);
    for (int64_t c = 0; c < m->cells; c++)
        fprintf(out, "%d\n", types[m->dim]);
    fprintf(out, "</DataArray>\n</Cells>\n");
}

/* Of a potential in a cell: minus its slope, V/m. */
static void slope_in(const semi_device *d, int field, int64_t cell, double inverse[3][3],
                     double slope[3])
{
    const semi_mesh *m = &d->mesh;
    const int32_t *corner = m->corner + cell * (m->dim + 1);
    for (int a = 0; a < 3; a++) {
        slope[a] = 0;
        for (int k = 0; k < m->dim && a < m->dim; k++)
            slope[a] -=
                inverse[a][k] * (field_at(d, field, corner[k + 1]) - field_at(d, field, corner[0]));
    }
}

/* Current density in a cell, A/cm^2: q n mu times the slope of the quasi-Fermi potential. */
static void current_in(const semi_device *d, int64_t cell, double inverse[3][3], double out[3])
{
    const semi_mesh *m = &d->mesh;
    const double even[4] = {1.0 / (m->dim + 1), 1.0 / (m->dim + 1), 1.0 / (m->dim + 1),
                            1.0 / (m->dim + 1)};
    const int64_t first = m->corner[cell * (m->dim + 1)];
    memset(out, 0, 3 * sizeof *out);
    for (int c = 0; c < CARRIERS && semi_conducts(&d->mesh, cell); c++) {
        double slope[3];
        slope_in(d, FIELD_PHI_N + c, cell, inverse, slope);
        const double n = value_in(d, FIELD_N + c, cell, even);
        for (int a = 0; a < 3; a++)
            out[a] += 1.602176634e-19 * n * d->mobility[c][first] * 1000 * slope[a] * 1e-2;
    }
}

static void put_cell_data(FILE *out, const semi_device *d)
{
    const semi_mesh *m = &d->mesh;
    double inverse[3][3], v[3];
    fprintf(out, "<CellData>\n");
    put_array(out, "Int32", "region", 1);
    for (int64_t c = 0; c < m->cells; c++)
        fprintf(out, "%d\n", (int)m->region[c]);
    fprintf(out, "</DataArray>\n");
    for (int k = 0; k < 2; k++) {
        put_array(out, "Float64", k == 0 ? "field" : "current", 3);
        for (int64_t c = 0; c < m->cells; c++) {
            invert_edges(m, c, inverse);
            if (k == 0)
                slope_in(d, FIELD_POTENTIAL, c, inverse, v);
            else
                current_in(d, c, inverse, v);
            fprintf(out, "%.6g %.6g %.6g\n", v[0], v[1], v[2]);
        }
        fprintf(out, "</DataArray>\n");
    }
    fprintf(out, "</CellData>\n");
}

static void write_vtu(FILE *out, const void *data)
{
    const semi_device *d = data;
    const semi_mesh *m = &d->mesh;
    fprintf(out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
            "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
            "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n<Points>\n",
            (long long)m->nodes, (long long)m->cells);
    put_array(out, "Float64", "nm", 3);
    for (int64_t i = 0; i < m->nodes; i++)
        fprintf(out, "%.9g %.9g %.9g\n", m->place[3 * i] * 1e9, m->place[3 * i + 1] * 1e9,
                m->place[3 * i + 2] * 1e9);
    fprintf(out, "</DataArray>\n</Points>\n");
    put_cells(out, m);
    fprintf(out, "<PointData Scalars=\"n\">\n");
    for (int f = 0; f < FIELDS; f++) {
        put_array(out, "Float64", fields[f].name, 1);
        for (int64_t i = 0; i < m->nodes; i++) {
            const double value = field_at(d, f, i);
            fprintf(out, "%.13g\n", isfinite(value) ? value : 0);
        }
        fprintf(out, "</DataArray>\n");
    }
    fprintf(out, "</PointData>\n");
    put_cell_data(out, d);
    fprintf(out, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
}

/* --- a plane -----------------------------------------------------------------------------------*/

typedef struct plane {
    int across, a, b; /* the axes */
    int64_t width, height;
    double at, low[2], step; /* of a pixel */
    double *value;
} plane;

/* What a cell gives to the pixels within it. */
static void paint(const semi_device *d, int field, int64_t cell, const plane *p)
{
    const semi_mesh *m = &d->mesh;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double inverse[3][3], place[3] = {0}, share[4];
    for (int k = 0; k <= m->dim; k++)
        for (int a = 0; a < 3; a++) {
            const double x = m->place[3 * (int64_t)m->corner[cell * (m->dim + 1) + k] + a];
            low[a] = fmin(low[a], x);
            high[a] = fmax(high[a], x);
        }
    if (m->dim == 3 && (p->at < low[p->across] || p->at > high[p->across]))
        return;
    invert_edges(m, cell, inverse);
    const int64_t first = (int64_t)fmax(0, floor((low[p->a] - p->low[0]) / p->step - 0.5));
    const int64_t top = (int64_t)fmax(0, floor((low[p->b] - p->low[1]) / p->step - 0.5));
    place[p->across] = p->at;
    for (int64_t y = top; y < p->height; y++) {
        place[p->b] = p->low[1] + ((double)y + 0.5) * p->step;
        if (place[p->b] > high[p->b] + p->step)
            break;
        for (int64_t x = first; x < p->width; x++) {
            place[p->a] = p->low[0] + ((double)x + 0.5) * p->step;
            if (place[p->a] > high[p->a] + p->step)
                break;
            /* y of transistors in two dimensions goes down, all others go up */
            const int64_t row = m->dim == 2 ? p->height - 1 - y : y;
            if (locate(m, cell, inverse, place, share))
                p->value[row * p->width + x] = value_in(d, field, cell, share);
        }
    }
}

/* As a scale has them: densities by their logarithm, doping by that of its size, with its sign. */
static double scaled(int field, double value)
{
    if (field == FIELD_DOPING)
        return asinh(value / 1e14);
    return field <= FIELD_P ? log10(value) : value;
}

static double unscaled(int field, double value)
{
    if (field == FIELD_DOPING)
        return 1e14 * sinh(value);
    return field <= FIELD_P ? pow(10, value) : value;
}

static int write_plane(const semi_run *r, int field, const plane *p)
{
    char size[64], range[96];
    double low = INFINITY, high = -INFINITY;
    spry_grid *grid = NULL;
    spry_vector *values = NULL;
    for (int64_t k = 0; k < p->width * p->height; k++) {
        p->value[k] = scaled(field, p->value[k]);
        low = fmin(low, p->value[k]);
        high = fmax(high, p->value[k]);
    }
    if (field <= FIELD_P) /* what is less than 12 decades below the most is nothing */
        low = fmax(low, high - 12);
    /* of intervals, one more than points within */
    snprintf(size, sizeof size, "%lldx%lld", (long long)p->width + 1, (long long)p->height + 1);
    snprintf(range, sizeof range, "low=%.17g high=%.17g", low, high);
    spry_status status = spry_grid_new(r->ctx, size, &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(r->ctx, SPRY_TYPE_D, p->width * p->height, p->value,
                                 SPRY_OWN_BORROW, &values);
    if (status == SPRY_STATUS_OK)
        status = spry_field_write(grid, values, r->o->picture, range);
    spry_vector_free(values);
    spry_grid_free(grid);
    if (status == SPRY_STATUS_OK && (!r->o->json || !file_is_stdout(r->o->json)))
        printf("picture       %s from %.3g to %.3g\n", fields[field].title, unscaled(field, low),
               unscaled(field, high));
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(r->ctx, status);
}

static int draw_plane(const semi_run *r)
{
    const semi_device *d = &r->device;
    const semi_mesh *m = &d->mesh;
    const int field = (int)r->o->field;
    plane p = {.across = m->dim == 3 ? r->o->across : 2, .at = r->o->at};
    double high[2] = {-INFINITY, -INFINITY};
    if (m->dim == 1)
        return cli_fail(EXIT_INPUT, "a line has no plane; --cut draws it");
    p.a = p.across == 0 ? 1 : 0;
    p.b = p.across == 2 ? 1 : 2;
    p.low[0] = p.low[1] = INFINITY;
    for (int64_t i = 0; i < m->nodes; i++)
        for (int k = 0; k < 2; k++) {
            const double x = m->place[3 * i + (k == 0 ? p.a : p.b)];
            p.low[k] = fmin(p.low[k], x);
            high[k] = fmax(high[k], x);
        }
    p.step = fmax(high[0] - p.low[0], high[1] - p.low[1]) / PIXELS;
    p.width = (int64_t)fmax(1, round((high[0] - p.low[0]) / p.step));
    p.height = (int64_t)fmax(1, round((high[1] - p.low[1]) / p.step));
    p.value = cli_alloc((size_t)(p.width * p.height) * sizeof *p.value);
    for (int64_t k = 0; k < p.width * p.height; k++)
        p.value[k] = NAN;
    for (int64_t c = 0; c < m->cells; c++)
        if (field == FIELD_POTENTIAL || semi_conducts(&d->mesh, c))
            paint(d, field, c, &p);
    const int exit_status = write_plane(r, field, &p);
    free(p.value);
    return exit_status;
}

/* --- a line ------------------------------------------------------------------------------------*/

typedef struct line {
    double from[3], to[3], length;
    double at[FIELDS][SAMPLES], x[FIELDS][SAMPLES];
} line;

static bool parse_line(const char *text, line *l)
{
    char rest[2];
    if (sscanf(text, "%lf %lf %lf %lf %lf %lf %1s", &l->from[0], &l->from[1], &l->from[2],
               &l->to[0], &l->to[1], &l->to[2], rest) != 6)
        return false;
    l->length = 0;
    for (int a = 0; a < 3; a++) {
        l->length = hypot(l->length, l->to[a] - l->from[a]);
        l->from[a] *= 1e-9;
        l->to[a] *= 1e-9;
    }
    return l->length > 0 && l->length < 1e9;
}

/* What a cell gives to the points within it. */
static void sample_cell(const semi_device *d, int64_t cell, line *l)
{
    double inverse[3][3], place[3], share[4];
    const semi_mesh *m = &d->mesh;
    invert_edges(m, cell, inverse);
    for (int k = 0; k < SAMPLES; k++) {
        const double t = (k + 0.5) / SAMPLES;
        for (int a = 0; a < 3; a++)
            place[a] = l->from[a] + t * (l->to[a] - l->from[a]);
        if (!locate(m, cell, inverse, place, share))
            continue;
        for (int f = 0; f < FIELDS; f++)
            if (f == FIELD_POTENTIAL || semi_conducts(&d->mesh, cell))
                l->at[f][k] = value_in(d, f, cell, share);
    }
}

static void draw_line_of(FILE *out, const void *data)
{
    static const char labels[2][64] = {"electrons", "holes"};
    const line *l = data;
    app_chart(out,
              &(app_chart_text){.title = "carriers along a line",
                                .x = "nm",
                                .y = "density, cm^-3",
                                .labels = labels,
                                .log = true},
              l->x[0], l->at[0], SAMPLES, 2);
}

static void write_line(FILE *out, const void *data)
{
    const line *l = data;
    fputs("nm", out);
    for (int f = 0; f < FIELDS; f++)
        fprintf(out, ",%s", fields[f].name);
    for (int k = 0; k < SAMPLES; k++) {
        fprintf(out, "\n%.6g", l->x[0][k]);
        for (int f = 0; f < FIELDS; f++)
            fprintf(out, isfinite(l->at[f][k]) ? ",%.9g" : ",", l->at[f][k]);
    }
    fputs("\n", out);
}

static int write_cut(const semi_run *r)
{
    const semi_device *d = &r->device;
    line *l = cli_alloc(sizeof *l);
    parse_line(r->o->line, l);
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k < SAMPLES; k++) {
            l->at[f][k] = NAN;
            l->x[f][k] = (k + 0.5) / SAMPLES * l->length;
        }
    for (int64_t c = 0; c < d->mesh.cells; c++)
        sample_cell(d, c, l);
    const int exit_status = file_write_text(
        r->ctx, r->o->cut, ends_in(r->o->cut, ".svg") ? draw_line_of : write_line, l);
    free(l);
    return exit_status;
}

/* --- all ---------------------------------------------------------------------------------------*/

int semi_check_fields(const semi_run *r)
{
    const semi_options *o = r->o;
    const struct {
        const char *path, *ending;
    } files[] = {{o->plot, ".svg"},
                 {o->fields, ".vtu"},
                 {o->picture, ".png"},
                 {o->cut, o->cut && ends_in(o->cut, ".svg") ? ".svg" : ".csv"},
                 {o->output, ".csv"}};
    line l;
    int exit_status = EXIT_DONE;
    for (size_t k = 0; k < sizeof files / sizeof *files && exit_status == EXIT_DONE; k++) {
        if (!files[k].path || file_is_stdout(files[k].path))
            continue;
        if (!ends_in(files[k].path, files[k].ending))
            return cli_fail(EXIT_INPUT, "%s: the name has to end in %s", files[k].path,
                            files[k].ending);
        exit_status = file_check_text(r->ctx, files[k].path);
    }
    if (exit_status == EXIT_DONE && o->cut && !parse_line(o->line, &l))
        return app_fault(r->config, "line", "expected x y z x y z in nm, two places");
    if (exit_status == EXIT_DONE && o->plot && !*o->sweep)
        return cli_fail(EXIT_INPUT, "--plot needs a --sweep");
    return exit_status;
}

int semi_write_fields(const semi_run *r)
{
    int exit_status = EXIT_DONE;
    if (r->o->fields)
        exit_status = file_write_text(r->ctx, r->o->fields, write_vtu, &r->device);
    if (exit_status == EXIT_DONE && r->o->picture)
        exit_status = draw_plane(r);
    if (exit_status == EXIT_DONE && r->o->cut)
        exit_status = write_cut(r);
    return exit_status;
}
