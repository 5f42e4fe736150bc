/*
 * Networks on points of a plane, numbered row by row: graph Laplacians, power flow, and the
 * systems of interior points. Whether two points are joined is a random number of the two, so that
 * any row can be written alone.
 */
#include "matrix/gen/gen.h"

#include <math.h>

/* --- graphs --------------------------------------------------------------------------------------
 */

spry_status gen_prepare_plane(spry_context *ctx, gen_problem *p)
{
    (void)ctx;
    p->nx = (int64_t)ceil(sqrt((double)p->rows));
    return SPRY_STATUS_OK;
}

/* Points that lie at random in unit squares; those within the radius for `per_row` entries are
 * joined, and each with the next in its row and the first points of rows, so that all hang
 * together. */
static bool is_joined(const gen_problem *p, int64_t i, int64_t j)
{
    const uint64_t *streams = p->streams;
    const int64_t away = i < j ? j - i : i - j, high = i < j ? j : i;
    const double reach = ((double)p->per_row - 1) / 3.14159265358979323846; /* squared */
    if ((away == 1 && high % p->nx) || (away == p->nx && i % p->nx == 0))
        return true;
    const double dx = (double)(i % p->nx - j % p->nx) +
                      base_uniform(streams[GEN_STREAM_RE], (uint64_t)i) -
                      base_uniform(streams[GEN_STREAM_RE], (uint64_t)j);
    const int64_t rows = i / p->nx - j / p->nx;
    const double dy = (double)rows + base_uniform(streams[GEN_STREAM_IM], (uint64_t)i) -
                      base_uniform(streams[GEN_STREAM_IM], (uint64_t)j);
    return dx * dx + dy * dy <= reach;
}

static void geometric_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    const int64_t reach = (int64_t)sqrt((double)p->per_row / 3) + 1, x = i % p->nx;
    int64_t diagonal = 0, joined = 0;
    for (int64_t dy = -reach; dy <= reach; dy++) {
        for (int64_t dx = -reach; dx <= reach; dx++) {
            const int64_t j = i + dx + p->nx * dy;
            if (x + dx < 0 || x + dx >= p->nx || j < 0 || j >= p->rows)
                continue;
            if (j == i)
                diagonal = row->count;
            else if (!is_joined(p, i, j))
                continue;
            joined += j != i;
            gen_put(row, j, -1, 0);
        }
    }
    gen_set(row, diagonal, (double)joined + (i == 0 ? p->options.ground : 0), 0);
}

/*
 * Each node is joined to `per_row / 2` of those before it, with probabilities as their degrees: A.
 * Barabasi, R. Albert, Emergence of scaling in random networks, Science 286 (1999), 509-512. Ends
 * of edge k are numbers 2k and 2k + 1, the second a copy of a random earlier one, so that any edge
 * can be found alone: P. Sanders, C. Schulz, Scalable generation of scale-free graphs, Inf.
 * Process. Lett. 116 (2016), 489-491. The first edge of a node leads to an earlier node: all hang
 * together.
 */
static int64_t far_end(const gen_problem *p, int64_t edge, int64_t each)
{
    uint64_t end = 1;
    while (end % 2) {
        const uint64_t own = (uint64_t)(edge % each ? 2 * edge + 1 : edge ? 2 * edge : 1);
        end = base_random(p->streams[GEN_STREAM_WIRE], (uint64_t)edge) % own;
        edge = (int64_t)(end / 2);
    }
    return edge / each;
}

static void place_edges(spry_context *ctx, const gen_problem *p, int64_t each,
                        const matrix_arrays *coo)
{
#pragma omp parallel for num_threads(spry_context_threads(ctx)) schedule(static)
    for (int64_t k = 0; k < coo->nnz; k++) {
        const int64_t edge = k / 4, from = edge / each;
        const bool ground = edge == p->rows * each;
        const int64_t to = ground ? 0 : far_end(p, edge, each);
        const double v = ground ? p->options.ground : from == to ? 0 : k & 2 ? 1 : -1;
        coo->row_index[k] = (int32_t)(ground || k & 1 ? to : from);
        coo->col_index[k] = (int32_t)(ground || !(k & 1) == !(k & 2) ? to : from);
        value_set(p->type, coo->values, k, (spry_scalar){v, 0});
    }
}

static spry_status make_preferential(spry_context *ctx, const gen_problem *p, spry_matrix **A)
{
    const int64_t each = p->per_row > 2 ? p->per_row / 2 : 1;
    matrix_arrays a = {
        .type = p->type, .format = SPRY_FORMAT_COO, .rows = p->rows, .cols = p->rows};
    spry_matrix *matrix = NULL;
    spry_status status = SPRY_STATUS_OK;
    a.nnz = 4 * p->rows * each + 1;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    place_edges(ctx, p, each, &a);
    SPRY_GO(ctx, matrix_wrap(ctx, &a, &matrix));
    SPRY_GO(ctx, matrix_become(matrix, SPRY_FORMAT_CSR));
    SPRY_GO(ctx, spry_matrix_sum_duplicates(matrix));
    *A = matrix;
    matrix = NULL;
done:
    spry_matrix_free(matrix);
    return status;
}

spry_status gen_make_graph(spry_context *ctx, const gen_problem *p, spry_matrix **A)
{
    return p->options.model ? make_preferential(ctx, p, A)
                            : gen_build(ctx, p->type, p->rows, geometric_row, p, A);
}

/* --- power flow ----------------------------------------------------------------------------------
 */

/* Buses are joined along each row, down the first column, and elsewhere every third time: 2.7 lines
 * per bus, as in transmission networks. */
static bool has_line(const gen_problem *p, int64_t i, int64_t j)
{
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    if (low < 0 || high >= p->rows / 2)
        return false;
    if (high - low == 1)
        return high % p->nx > 0;
    return low % p->nx == 0 || base_uniform(p->streams[GEN_STREAM_WIRE], (uint64_t)low) < 1.0 / 3;
}

/* Magnitude and angle of a bus's voltage. */
static double volts(const gen_problem *p, int64_t i)
{
    return 1 + 0.1 * (base_uniform(p->streams[GEN_STREAM_RE], (uint64_t)i) - 0.5);
}
static double angle_of(const gen_problem *p, int64_t i)
{
    return 0.3 * base_uniform(p->streams[GEN_STREAM_IM], (uint64_t)i);
}

/* What bus j changes of P_i: by its angle, and by its voltage relative to itself; of Q_i these are
 * -voltage and angle. */
typedef struct flow {
    double angle, voltage, g, b;
} flow;

static flow flow_between(const gen_problem *p, int64_t i, int64_t j)
{
    const uint64_t key = i < j ? gen_key(i, j) : gen_key(j, i);
    const double x = 0.02 + 0.3 * base_uniform(p->streams[GEN_STREAM_PLACE], key);
    const double r = x * (0.1 + 0.4 * base_uniform(p->streams[GEN_STREAM_NET], key));
    const double g = r / (r * r + x * x), b = x / (r * r + x * x);
    const double size = volts(p, i) * volts(p, j), turn = angle_of(p, i) - angle_of(p, j);
    return (flow){size * (-g * sin(turn) - b * cos(turn)), size * (-g * cos(turn) + b * sin(turn)),
                  g, b};
}

spry_status gen_prepare_power(spry_context *ctx, gen_problem *p)
{
    (void)ctx;
    p->nx = (int64_t)ceil(sqrt((double)p->rows / 2)) + 1;
    return SPRY_STATUS_OK;
}

/*
 * Newton's matrix of the power flow in polar coordinates: unknown 2 i is the angle of bus i, 2 i +
 * 1 its voltage, relative; equations are of P and Q. M. Crow, Computational Methods for Electric
 * Power Systems, section 3.4. Bus 0 is the slack; every tenth bus holds its voltage.
 */
void gen_power_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    const int64_t bus = i / 2, to[] = {bus - p->nx, bus - 1, bus, bus + 1, bus + p->nx};
    const bool reactive = i % 2, held = bus % 10 == 0;
    double angle = 0, voltage = 0, g = 0, b = 0;
    int64_t own = 0;
    if (bus == 0 || (held && reactive)) {
        gen_put(row, i, 1, 0);
        return;
    }
    for (int k = 0; k < 5; k++) {
        flow f = {0};
        if (k == 2)
            own = row->count;
        else if (!has_line(p, bus, to[k]))
            continue;
        else if (row->cols)
            f = flow_between(p, bus, to[k]);
        angle += reactive ? -f.voltage : f.angle;
        voltage += reactive ? f.angle : f.voltage;
        g += f.g;
        b += f.b;
        gen_put(row, 2 * to[k], reactive ? -f.voltage : f.angle, 0);
        gen_put(row, 2 * to[k] + 1, reactive ? f.angle : f.voltage, 0);
    }
    const double squared = volts(p, bus) * volts(p, bus);
    gen_set(row, own, -angle, 0);
    gen_set(row, own + 1, voltage + 2 * squared * (reactive ? b : g), 0);
}

/* --- interior points -----------------------------------------------------------------------------
 */

enum { REACH = 2, WINDOW = (2 * REACH + 1) * (2 * REACH + 1) };

/* Two variables with bounds for each constraint, as many slacks as constraints. */
static int64_t constraints(const gen_problem *p)
{
    return p->rows / 4;
}
static int64_t variables(const gen_problem *p)
{
    return p->rows - 2 * constraints(p);
}

spry_status gen_prepare_interior(spry_context *ctx, gen_problem *p)
{
    (void)ctx;
    const int64_t side = (int64_t)sqrt((double)variables(p));
    p->nx = side > 2 * REACH ? side : 2 * REACH + 1; /* narrower, two places would coincide */
    return SPRY_STATUS_OK;
}

/* The number of constraint k in variable j, which lies near the constraint's place; 0: it has none.
 */
static double number_in(const gen_problem *p, int64_t k, int64_t j)
{
    const uint64_t key = gen_key(k, j);
    const bool has = 2 * k == j || base_uniform(p->streams[GEN_STREAM_WIRE], key) * (WINDOW - 1) <
                                       (double)p->per_row - 2;
    return has ? gen_random_value(p, k, j).re : 0;
}

/*
 * [H A^T; A 0] of a step of an interior point method, with H of z_i / x_i, which are spread over
 * many orders of magnitude, and A = [R -I]: R sparse, between places near each other, and slacks.
 * S. Wright, Primal-Dual Interior-Point Methods, chapter 11.
 */
void gen_interior_row(const void *data, int64_t i, gen_row *row)
{
    const gen_problem *p = data;
    const int64_t m = constraints(p), n = variables(p), k = i - n - m;
    const double spread = base_uniform(p->streams[GEN_STREAM_NET], (uint64_t)i) - 0.5;
    if (k < 0)
        gen_put(row, i, pow(10, p->options.decades * spread), 0);
    if (k < 0 && i >= n)
        gen_put(row, i + m, -1, 0);
    for (int64_t dy = -REACH; dy <= REACH && (k >= 0 || i < n); dy++) {
        for (int64_t dx = -REACH; dx <= REACH; dx++) {
            const int64_t to = (k >= 0 ? 2 * k : i) + dx + p->nx * dy;
            if (to < 0 || to >= n || (k < 0 && (to % 2 || to / 2 >= m)))
                continue;
            const double v = k >= 0 ? number_in(p, k, to) : number_in(p, to / 2, i);
            if (v != 0)
                gen_put(row, k >= 0 ? to : n + m + to / 2, v, 0);
        }
    }
    if (k >= 0)
        gen_put(row, n + k, -1, 0);
}
