/* The kinds of matrices there are, their options, and the sizes that fit. */
#include "matrix/gen/gen.h"

#include <private/programs.h>

#define ROW SPRY_OPTION_ROW
SPRY_OPTION_TABLE(all_options, gen_options, GEN_OPTIONS(ROW))
SPRY_OPTION_ROWS(poisson2d_options, GEN_SIZE(ROW) GEN_XY(ROW) GEN_POINTS(ROW))
SPRY_OPTION_ROWS(poisson3d_options, GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_POINTS(ROW))
SPRY_OPTION_ROWS(anisotropic_options, GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_DIFFUSION(ROW))
SPRY_OPTION_ROWS(convection_diffusion_options, GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_FLOW(ROW))
SPRY_OPTION_ROWS(elasticity_options, GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_ELASTIC(ROW))
SPRY_OPTION_ROWS(helmholtz_options, GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_WAVES(ROW))
SPRY_OPTION_ROWS(tridiagonal_options, GEN_SIZE(ROW))
SPRY_OPTION_ROWS(dense_options, GEN_SIZE(ROW) GEN_SEED(ROW) GEN_DOMINANCE(ROW))
SPRY_OPTION_ROWS(random_options, GEN_SIZE(ROW) GEN_SEED(ROW) GEN_PER_ROW(ROW) GEN_DOMINANCE(ROW))
SPRY_OPTION_ROWS(rmat_options,
                 GEN_SIZE(ROW) GEN_SEED(ROW) GEN_PER_ROW(ROW) GEN_DOMINANCE(ROW) GEN_QUARTERS(ROW))
SPRY_OPTION_ROWS(arrowhead_options, GEN_SIZE(ROW) GEN_SEED(ROW))
SPRY_OPTION_ROWS(circuit_options, GEN_SIZE(ROW) GEN_SEED(ROW) GEN_PER_ROW(ROW) GEN_NETS(ROW))
SPRY_OPTION_ROWS(diffusion_options,
                 GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_SEED(ROW) GEN_JUMP(ROW))
SPRY_OPTION_ROWS(stokes_options,
                 GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_SEED(ROW) GEN_JUMP(ROW) GEN_ELEMENTS(ROW))
SPRY_OPTION_ROWS(maxwell_options,
                 GEN_SIZE(ROW) GEN_XY(ROW) GEN_Z(ROW) GEN_SEED(ROW) GEN_JUMP(ROW) GEN_SIGMA(ROW))
SPRY_OPTION_ROWS(graph_options, GEN_SIZE(ROW) GEN_SEED(ROW) GEN_PER_ROW(ROW) GEN_GRAPH(ROW))
SPRY_OPTION_ROWS(power_options, GEN_SIZE(ROW) GEN_SEED(ROW))
SPRY_OPTION_ROWS(interior_options, GEN_SIZE(ROW) GEN_SEED(ROW) GEN_PER_ROW(ROW) GEN_DECADES(ROW))
SPRY_OPTION_ROWS(tiled_options, GEN_SIZE(ROW) GEN_BASE(ROW))
#undef ROW

/* What is so by construction. */
enum {
    SYMMETRIC = FACT_BIT(SPRY_FACT_SYMMETRIC) | FACT_BIT(SPRY_FACT_PATTERN_SYMMETRIC),
    HERMITIAN = FACT_BIT(SPRY_FACT_HERMITIAN) | FACT_BIT(SPRY_FACT_PATTERN_SYMMETRIC),
    POSITIVE = HERMITIAN | FACT_BIT(SPRY_FACT_DEFINITE) | FACT_BIT(SPRY_FACT_POSITIVE_DIAGONAL)
};

static const gen_kind kinds[] = {
    {"poisson2d", SPRY_OPTION_LIST(poisson2d_options), 2, 1, 100, 0, SPRY_TYPE_D,
     gen_prepare_stencil, gen_stencil_row, NULL,
     "Laplacian on a rectangle, 5 or 9 points: symmetric positive definite, an M-matrix",
     POSITIVE | SYMMETRIC},
    {"poisson3d", SPRY_OPTION_LIST(poisson3d_options), 3, 1, 32, 0, SPRY_TYPE_D,
     gen_prepare_stencil, gen_stencil_row, NULL,
     "Laplacian on a box, 7 or 27 points: symmetric positive definite, an M-matrix",
     POSITIVE | SYMMETRIC},
    {"anisotropic", SPRY_OPTION_LIST(anisotropic_options), 2, 1, 100, 0, SPRY_TYPE_D,
     gen_prepare_anisotropic, gen_stencil_row, NULL,
     "diffusion on a rectangle or box, strong in one direction: symmetric positive definite, hard "
     "for "
     "point methods",
     POSITIVE | SYMMETRIC},
    {"convection-diffusion", SPRY_OPTION_LIST(convection_diffusion_options), 2, 1, 100, 0,
     SPRY_TYPE_D, gen_prepare_stencil, gen_convection_row, NULL,
     "flow that turns about the centre of a rectangle or box: nonsymmetric, with upwind "
     "differences an M-matrix",
     0},
    {"elasticity", SPRY_OPTION_LIST(elasticity_options), 3, 3, 16, 0, SPRY_TYPE_D,
     gen_prepare_elasticity, gen_element_row, NULL,
     "a clamped elastic box, trilinear elements, 3 unknowns per node, 81 entries per row: "
     "symmetric "
     "positive definite",
     POSITIVE | SYMMETRIC},
    {"helmholtz", SPRY_OPTION_LIST(helmholtz_options), 3, 1, 32, 0, SPRY_TYPE_Z,
     gen_prepare_stencil, gen_helmholtz_row, NULL,
     "waves in a box with an absorbing layer, 7 points: complex symmetric, indefinite; real types "
     "leave the layer out",
     SYMMETRIC},
    {"tridiagonal", SPRY_OPTION_LIST(tridiagonal_options), 1, 1, 100000, 0, SPRY_TYPE_D,
     gen_prepare_stencil, gen_stencil_row, NULL, "-1, 2, -1: symmetric positive definite",
     POSITIVE | SYMMETRIC},
    {"dense", SPRY_OPTION_LIST(dense_options), 1, 1, 1000, 0, SPRY_TYPE_D, gen_prepare_dense,
     gen_dense_row, NULL, "random numbers everywhere: nonsymmetric, diagonally dominant", 0},
    {"random", SPRY_OPTION_LIST(random_options), 1, 1, 100000, 16, SPRY_TYPE_D, gen_prepare_random,
     gen_random_row, NULL,
     "random columns, `per-row` entries in each row: nonsymmetric, diagonally dominant", 0},
    {"rmat", SPRY_OPTION_LIST(rmat_options), 1, 1, 65536, 16, SPRY_TYPE_D, gen_prepare_rmat, NULL,
     gen_make_rmat, "R-MAT graph, row lengths by a power law: nonsymmetric, diagonally dominant",
     0},
    {"arrowhead", SPRY_OPTION_LIST(arrowhead_options), 1, 1, 100000, 0, SPRY_TYPE_D, NULL,
     gen_arrowhead_row, NULL,
     "first row, first column and diagonal: symmetric (hermitian) positive definite", POSITIVE},
    {"circuit", SPRY_OPTION_LIST(circuit_options), 1, 1, 100000, 6, SPRY_TYPE_D,
     gen_prepare_circuit, gen_circuit_row, NULL,
     "nodes of a chip with a few huge nets: nonsymmetric, badly scaled, diagonally dominant", 0},
    {"diffusion", SPRY_OPTION_LIST(diffusion_options), 2, 1, 100, 0, SPRY_TYPE_D,
     gen_prepare_diffusion, gen_element_row, NULL,
     "diffusion whose coefficient jumps, on a rectangle or box, bilinear elements: symmetric "
     "positive definite",
     POSITIVE | SYMMETRIC},
    {"stokes", SPRY_OPTION_LIST(stokes_options), 2, 3, 32, 0, SPRY_TYPE_D, gen_prepare_stokes,
     gen_element_row, NULL,
     "creeping flow in a rectangle or box with an open end, velocities and then pressures: a "
     "symmetric saddle point",
     SYMMETRIC | HERMITIAN},
    {"darcy", SPRY_OPTION_LIST(diffusion_options), 2, 3, 64, 0, SPRY_TYPE_D, gen_prepare_darcy,
     gen_element_row, NULL,
     "flow in a porous rectangle or box, fluxes through faces and then pressures of cells: a "
     "symmetric saddle point",
     SYMMETRIC | HERMITIAN},
    {"maxwell", SPRY_OPTION_LIST(maxwell_options), 3, 3, 16, 0, SPRY_TYPE_D, gen_prepare_maxwell,
     gen_element_row, NULL,
     "curl curl and mass in a box, unknowns on edges: symmetric, with gradients as a near null "
     "space",
     SYMMETRIC},
    {"graph", SPRY_OPTION_LIST(graph_options), 1, 1, 100000, 8, SPRY_TYPE_D, gen_prepare_plane,
     NULL, gen_make_graph,
     "Laplacian of a random graph, of points nearby or with a power law: symmetric, positive "
     "definite by an edge to ground",
     HERMITIAN | SYMMETRIC | FACT_BIT(SPRY_FACT_POSITIVE_DIAGONAL)},
    {"power-flow", SPRY_OPTION_LIST(power_options), 1, 2, 20000, 0, SPRY_TYPE_D, gen_prepare_power,
     gen_power_row, NULL,
     "Newton's matrix of the flow in a power grid, two unknowns per bus: nonsymmetric, indefinite",
     0},
    {"interior-point", SPRY_OPTION_LIST(interior_options), 1, 1, 40000, 8, SPRY_TYPE_D,
     gen_prepare_interior, gen_interior_row, NULL,
     "optimality conditions, a diagonal over many orders of magnitude and sparse constraints: a "
     "symmetric saddle point",
     SYMMETRIC | HERMITIAN},
    {"tiled", SPRY_OPTION_LIST(tiled_options), 1, 1, 0, 0, SPRY_TYPE_D, NULL, NULL, NULL,
     "copies of a matrix along the diagonal, coupled: symmetric or positive definite when the "
     "matrix is",
     0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

spry_option_list generate_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(all_options);
}

bool gen_entry_at(int index, spry_entry *entry)
{
    if (index >= KINDS)
        return false;
    entry->name = kinds[index].name;
    entry->summary = kinds[index].summary;
    entry->options = kinds[index].options;
    return true;
}

static const gen_kind *find_kind(const char *name)
{
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    return NULL;
}

static spry_status unknown_kind(spry_context *ctx, const char *name)
{
    char names[512] = "";
    for (int k = 0; k < KINDS; k++)
        base_add_word(names, sizeof names, kinds[k].name);
    return base_unknown_word(ctx, "kind", name, names);
}

static spry_status refuse_option(spry_context *ctx, const gen_kind *kind, const char *name)
{
    char names[256] = "";
    for (int i = 0; i < kind->options.count; i++)
        base_add_word(names, sizeof names, spry_options_at(kind->options, i)->name);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "%s is not an option of this kind; its options are: %s", name, names);
}

/* An option that was set but is not read would be a misunderstanding: it is refused. */
static spry_status check_unread(spry_context *ctx, const gen_kind *kind, const gen_options *given)
{
    spry_option_list list = generate_option_list();
    gen_options initial = {0};
    spry_status status = spry_options_default(ctx, list, &initial);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int k = 0; k < list.count; k++) {
        const spry_option *option = spry_options_at(list, k);
        size_t bytes = option->kind == SPRY_OPTION_WORD ? sizeof(int) : sizeof(int64_t);
        if (memcmp((const char *)given + option->offset, (const char *)&initial + option->offset,
                   bytes) != 0 &&
            !spry_options_find(kind->options, option->name))
            return refuse_option(ctx, kind, option->name);
    }
    return SPRY_STATUS_OK;
}

/* The largest n with unknowns * n^dimensions rows or fewer that 32-bit columns can number. */
static int64_t largest_size(const gen_kind *kind)
{
    int64_t low = 1, high = INT32_MAX;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        double rows = kind->unknowns;
        for (int d = 0; d < kind->dimensions; d++)
            rows *= (double)middle;
        if (rows <= INT32_MAX)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static spry_status set_sizes(spry_context *ctx, const gen_kind *kind, gen_problem *p)
{
    const gen_options *o = &p->options;
    int64_t size = o->size ? o->size : kind->size;
    p->dimensions = kind->dimensions;
    p->nx = o->nx ? o->nx : size;
    p->ny = p->dimensions < 2 ? 1 : o->ny ? o->ny : size;
    p->nz = p->dimensions < 3 ? 1 : o->nz ? o->nz : size;
    if (p->dimensions == 2 && o->nz > 1) {
        p->dimensions = 3;
        p->nz = o->nz;
    }
    /* Exact enough: doubles hold products up to 2^53, and the limit is far below. */
    double rows = kind->unknowns * (double)p->nx * (double)p->ny * (double)p->nz;
    if (rows > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "%" PRId64 " x %" PRId64 " x %" PRId64
                         " points make %.10g rows; the most is %d, the largest size %" PRId64,
                         p->nx, p->ny, p->nz, rows, INT32_MAX, largest_size(kind));
    p->rows = (int64_t)rows;
    p->per_row = o->per_row ? o->per_row : kind->per_row;
    return SPRY_STATUS_OK;
}

static spry_status read_options(spry_context *ctx, const gen_kind *kind, const char *text,
                                gen_problem *p)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, options_take(ctx, generate_option_list(), &p->options, text));
    SPRY_GO(ctx, check_unread(ctx, kind, &p->options));
    p->type = p->options.type ? (spry_type)(p->options.type - 1) : kind->type;
    for (int k = 0; k < GEN_STREAMS; k++)
        p->streams[k] = base_random((uint64_t)p->options.seed, (uint64_t)k);
    SPRY_GO(ctx, set_sizes(ctx, kind, p));
    if (kind->prepare)
        status = kind->prepare(ctx, p);
done:
    return status;
}

spry_status spry_generate(spry_context *ctx, const char *name, const char *options, spry_matrix **A)
{
    SPRY_NEED(ctx, ctx, name, A);
    gen_problem problem = {0};
    const gen_kind *kind = find_kind(name);
    *A = NULL;
    if (!kind)
        return unknown_kind(ctx, name);
    if (!kind->write_row && !kind->make)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "tiled needs a matrix to copy: call spry_generate_tiled(), or give one to "
                         "the program by --base");
    spry_status status = read_options(ctx, kind, options, &problem);
    if (status == SPRY_STATUS_OK)
        status = kind->make
                     ? kind->make(ctx, &problem, A)
                     : gen_build(ctx, problem.type, problem.rows, kind->write_row, &problem, A);
    if (status != SPRY_STATUS_OK)
        return SPRY_CAUSE(ctx, status, "%s", name);
    matrix_note_all(*A, kind->facts | FACT_BIT(SPRY_FACT_FINITE)); /* options have bounds */
    return SPRY_STATUS_OK;
}
