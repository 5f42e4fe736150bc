/*
 * Which preconditioner "auto" takes: a few facts that two passes over A and a dozen products give,
 * and a list of what suits them, best first. One that cannot be made makes room for the next.
 */
#include "choose/precons.h"

#include "base/machine.h"
#include "choose/traits.h"
#include "matrix/stats.h"
#include "precon/amg/amg.h"

/* Rows from which on multigrid pays. */
enum { LARGE = 10000 };

/* Entries from which on a trial costs little compared with what it may save. */
enum { WORTH_A_TRIAL = 5000 };

/* Off-diagonal entries that are mostly negative couple neighbours as diffusion does; rows that
 * still sum to 0 or more; a slight flow; rows of about one length. */
static const double like_diffusion = 0.9, balanced = 0.999, slight = 0.1, even = 30;

/* The skew part times the rows along a side of the grid, up to which aggregates do: about a Peclet
 * number of 200 to 300 in grids of two and three dimensions. */
static const double calm = 50;

/* How far from the diagonal entries are in the mean, as a share of the rows, from which on the
 * order of the rows says nothing about neighbours: a random one has a third, one along a grid's
 * lines a few hundredths at most. */
static const double scattered = 0.1;

/* How many entries off the diagonal that ilut does not drop rows of a flow without diffusion have
 * at most: the neighbours that it comes from, in a plane. */
static const double lines = 2.2;

/* What one triangle may have of the whole where incomplete factors are nearly exact. */
static const double one_sided = 1e-3;

/* How many times the rest of each row a dominant diagonal is. */
static const double dominant = 2;

/* Seconds that a product with A takes at the rate of one core's memory. */
static double product_seconds(const spry_matrix *A)
{
    return (double)matrix_product_bytes(&A->a) / MACHINE_CORE_RATE;
}

/* --- candidates ----------------------------------------------------------------------------------
 */

static bool listed(const precon_choice *choice, const char *spec)
{
    bool found = false;
    for (int k = 0; k < choice->count; k++)
        found = found || strcmp(choice->list[k].spec, spec) == 0;
    return found;
}

static void take(precon_choice *choice, const precon_candidate *c)
{
    if (choice->count < (int)(sizeof choice->list / sizeof *choice->list))
        choice->list[choice->count++] = *c;
}

static void add(precon_choice *choice, double seconds, const char *spec)
{
    precon_candidate c = {.seconds = seconds};
    snprintf(c.spec, sizeof c.spec, "%s", spec);
    take(choice, &c);
}

/* Whether A is diffusion by its rows alone, with no more than a slight flow. */
static bool diffuses(const traits *t)
{
    return t->positive && t->negative >= like_diffusion && t->longest <= even &&
           t->dominance >= balanced && t->skew <= slight;
}

/* Whether rows alone show what a trial would: a diagonal that dominates by far, or diffusion, which
 * is definite where it dominates at all, and wants more than a diagonal. */
static bool is_settled(const traits *t)
{
    return t->dominance >= dominant || diffuses(t);
}

/* Products in the time of whose one a device solves with triangles, level after level. */
static const double in_turn = 10;

/*
 * Forecasts in products with A, as measured over grids and real matrices: the kind's set-up, and
 * iterations as grids of two or three dimensions have them; others (structures, circuits) need
 * several times as many. Of a flow or a circuit a trial has shown how many there are without, which
 * the kind's share of is the limit: with ilu 4 of 163 (kim1), 50 of 235 (epb3), 39 of 167 (a
 * circuit of 50,000 nodes), 22 of 147 (a flow in three dimensions); a bad one has 146 of 211
 * (memplus). That of cg shows less: 480 with ic of 157 in elasticity at 28^3 with nu = 0.49.
 */
static double incomplete(const spry_matrix *A, const traits *t, const precon_kind *kind,
                         double step)
{
    const bool grid = t->negative >= like_diffusion && t->longest <= even;
    const double n = (double)A->a.rows, others = grid ? 1 : 8, turns = t->on_device ? in_turn : 1;
    const double each = 5; /* products, with M and vectors, of an iteration */
    const double rule = others * step * (t->deep ? 2 * cbrt(n) : sqrt(n));
    /* Nor does a trial foresee what a gradient's numbers near 0 make of edge elements. */
    const bool foretold = !t->hermitian && !t->edges;
    const double tried = foretold ? kind->cost.share * t->iterations * each : INFINITY;
    return product_seconds(A) * (kind->cost.products + turns * t->systems * fmin(rule, tried));
}

/* Products of an iteration with no more than the diagonal, vectors counted as such. */
static const double step = 2.5;

/* Set-up and solves of a grid in three dimensions, in products. */
static double of_grid(const precon_kind *kind, double rows, double systems)
{
    const precon_cost *c = &kind->cost;
    return c->solve > 0 ? c->products + c->solve * systems : step * 3 * cbrt(rows) * systems;
}

/* Iterations of cg with no more than the diagonal of an even grid: 583 of 200^2, 148 of 40^3, 228
 * of 64^3, fewer with more neighbours. One takes a product's time, as A has few values and a format
 * that makes use of it. Incomplete factors take about as long on one thread, and gain less from
 * more. */
static double of_even_grid(const spry_matrix *A, const traits *t)
{
    const double n = (double)A->a.rows;
    return t->deep ? 3.6 * cbrt(n) : 2.9 * sqrt(n);
}

double precon_likely_products(const precon_kind *kind, double rows)
{
    return kind ? of_grid(kind, rows, 1)
                : fmin(of_grid(&precon_kind_jacobi, rows, 1), of_grid(&precon_kind_amg, rows, 1));
}

static void rank(precon_choice *choice)
{
    for (int i = 1; i < choice->count; i++)
        for (int k = i; k > 0 && choice->list[k].seconds < choice->list[k - 1].seconds; k--) {
            const precon_candidate later = choice->list[k - 1];
            choice->list[k - 1] = choice->list[k];
            choice->list[k] = later;
        }
}

/* Whether nodes have several unknowns. */
static bool has_blocks(const spry_matrix *A, const traits *t)
{
    return (t->block > 0 ? t->block : stats_find_block(A)) > 1;
}

/* Multigrid where A is like diffusion or elasticity, by aggregates, or with a flow, between points,
 * which keeps to the flow's lines; and where nothing but those lines is left, factors along them.
 */
static void add_multigrid(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    const double plane = 0.65; /* what levels and their products take in two dimensions */
    const double product = product_seconds(A) * (t->deep ? 1 : plane), n = (double)A->a.rows;
    const double side = t->deep ? cbrt(n) : sqrt(n);
    const bool diffusion = t->negative >= like_diffusion;
    if (A->a.rows < LARGE || !t->positive || t->longest > even || t->indefinite)
        return;
    if (t->hermitian ? !diffusion && !has_blocks(A, t) /* elasticity */
                     : !diffusion || t->dominance < balanced)
        return;
    if (t->skew * side <= calm)
        add(choice, product * of_grid(&precon_kind_amg, n, t->systems), "amg");
    if (t->hermitian)
        return;
    /* Sweeps go by the order of the rows, but for devices. */
    const bool order = !t->on_device && t->distance > scattered;
    char spec[sizeof choice->list->spec];
    snprintf(spec, sizeof spec, "%samg-classical:%saggressive=40%s",
             order ? "prepare:scale=none,match=no,order=rcm,sub=[" : "",
             t->deep ? "theta=0.5," : "", order ? "]" : "");
    add(choice, product * of_grid(&precon_kind_amg_classical, n, t->systems), spec);
    if (t->heavy <= lines && t->distance <= scattered && !t->on_device)
        add(choice, product_seconds(A) * (precon_kind_ilut.cost.products + 0.5 * side * t->systems),
            "ilut");
}

/* Whether no entry has another beside it, so that incomplete factors are exact. */
static bool is_line(const spry_matrix *A, const traits *t)
{
    return t->distance * (double)A->a.rows <= 1;
}

/* Whether A is diffusion on an even grid or mesh, where a diagonal does what it can. */
static bool is_uniform(const spry_matrix *A, const traits *t)
{
    return t->hermitian && diffuses(t) && t->alike && !is_line(A, t);
}

/* No more than the diagonal, where iterations are known to be few, or how many they are. */
static void add_diagonal(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    static const double few = 60; /* iterations; more a trial cannot foretell */
    const double product = product_seconds(A) * t->systems;
    const bool uniform = is_uniform(A, t);
    const double alone = uniform ? of_even_grid(A, t) : t->iterations;
    if (uniform || alone <= few) {
        add(choice, product * (uniform ? 1 : step) * alone, "jacobi");
        choice->list[choice->count - 1].iterations = alone;
    } else if (t->dominance >= dominant && t->full) {
        add(choice, product * PRECON_DOMINATED, "jacobi");
    }
}

/* Incomplete factors with the pattern of A. */
static void add_incomplete(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    static const double cached = 4e-3; /* seconds of a product that comes from memory */
    static const double one_pass =
        60; /* products, with set-up, where factors lack next to nothing */
    const double product = product_seconds(A), turns = t->on_device ? in_turn : 1;
    const bool large = product > cached;
    if (t->hermitian && t->positive && !t->indefinite) {
        const double even_grid = 1.1 * product * of_even_grid(A, t) * t->systems;
        add(choice,
            is_line(A, t)      ? product * one_pass * turns
            : is_uniform(A, t) ? even_grid * turns
                               : incomplete(A, t, &precon_kind_ic, large ? 2 : 1),
            "ic");
    } else if (!t->hermitian && t->full) {
        add(choice,
            t->lesser <= one_sided ? product * one_pass * turns
                                   : incomplete(A, t, &precon_kind_ilu, large ? 3 : 1.5),
            "ilu");
    }
}

/* What is known to suit A without factors, best first; the seconds of the first, infinite where
 * nothing is known to. */
static double add_known(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    add_diagonal(A, t, choice);
    add_multigrid(A, t, choice);
    add_incomplete(A, t, choice);
    if (t->edges)
        add(choice, product_seconds(A) * of_grid(&precon_kind_edges, (double)A->a.rows, t->systems),
            "edges");
    if (t->saddle.spec)
        add(choice,
            product_seconds(A) * (precon_kind_kkt.cost.products + t->systems * t->saddle.products),
            t->saddle.spec);
    rank(choice);
    return choice->count > 0 ? choice->list[0].seconds : INFINITY;
}

/* Factors that are refused where they are forecast to take longer. */
static void add_limited(precon_choice *choice, double forecast, double most)
{
    char spec[48];
    snprintf(spec, sizeof spec, "direct:most=%.2g", most);
    add(choice, forecast, spec);
}

/* Incomplete factors with pivots, which may do where nothing else does and exact ones take too
 * long: several levels of them first where rows are as long as those of three dimensions, as they
 * grow less in these. */
static void add_pivoted(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    if (!t->hermitian && t->deep && A->a.rows >= LARGE)
        add(choice, incomplete(A, t, &precon_kind_mlilu, 3), "mlilu");
    if (t->hermitian)
        add(choice, incomplete(A, t, &precon_kind_ildl, 3), "ildl:definite=no");
    else
        add(choice, incomplete(A, t, &precon_kind_ilutp, 3), "ilutp");
}

/* Right-hand sides from which on factors pay, in two dimensions and in three. */
enum { FEW_SYSTEMS = 8, MANY_SYSTEMS = 64 };

bool precon_choice_stands(int systems, int before)
{
    return (systems < FEW_SYSTEMS) == (before < FEW_SYSTEMS) &&
           (systems < MANY_SYSTEMS) == (before < MANY_SYSTEMS);
}

/* --- factors -------------------------------------------------------------------------------------
 */

/* How many times what they may take factors have to be estimated to take so that they are not
 * analysed before others are tried: one matrix in a hundred is estimated to take more than 30 times
 * what it takes (direct/coarse.c), and of meshes with several unknowns at a node none more than 5
 * times. */
static double hopeless(const spry_matrix *A, const traits *t)
{
    static const double of_a_mesh = 3; /* the longest row over the mean, at most */
    return t->longest <= of_a_mesh && has_blocks(A, t) ? 5 : 30;
}

/* Whether less is known to do than any ordering takes: a few steps or the diagonal have shown it,
 * or one triangle is nearly empty. */
static bool is_simple(const spry_matrix *A, const traits *t, const precon_choice *others)
{
    return (others->count > 0 && strcmp(others->list[0].spec, "jacobi") == 0 &&
            !is_uniform(A, t)) ||
           (t->full && !t->hermitian && t->lesser <= one_sided);
}

/* Whether A is like diffusion, with a flow that multigrid is for, so that forecasts hold. */
static bool is_diffusion(const spry_matrix *A, const traits *t)
{
    const bool known = t->hermitian ? !t->indefinite
                                    : t->dominance >= balanced &&
                                          (t->skew <= slight || t->deep || A->a.rows >= LARGE);
    return known && t->positive && t->negative >= like_diffusion && t->longest <= even;
}

/*
 * Whether factors are analysed first, of whose ordering alone takes less than the others: where the
 * forecast of these holds if factors are estimated to take less with their ordering, else unless
 * they are hopeless, or are estimated to take more than the others, and their ordering half as
 * long.
 */
static spry_status begins_with_factors(const spry_matrix *A, const traits *t,
                                       const precon_choice *others, double most, bool *yes,
                                       double *forecast)
{
    const bool saddle = t->saddle.spec && A->a.rows >= LARGE;
    /* What is forecast of the others. */
    const bool holds = saddle || t->edges || is_diffusion(A, t);
    const double ordered = MACHINE_ORDERING * (double)A->a.nnz;
    double seconds = INFINITY;
    bool symmetric = t->hermitian;
    spry_status status = SPRY_STATUS_OK;
    *yes = false;
    if (is_simple(A, t, others) || ordered > most)
        return SPRY_STATUS_OK;
    if (!symmetric && spry_type_is_complex(A->a.type)) /* which the method depends on, too */
        SPRY_GO(A->ctx, matrix_find_out(A->ctx, A, SPRY_FACT_SYMMETRIC, &symmetric));
    SPRY_GO(A->ctx, direct_estimate(A, symmetric, &seconds));
    *yes = holds ? ordered + seconds <= most
                 : seconds <= hopeless(A, t) * most && (seconds <= most || 2 * ordered <= most);
    *forecast = ordered + seconds;
done:
    return status;
}

/* How many times what is forecast of the others factors may take: more where nodes have several
 * unknowns and a trial has gained nothing, as in elasticity that is nearly incompressible, where
 * neither multigrid nor incomplete factors have arrived. */
static double hardness(const spry_matrix *A, const traits *t)
{
    const double hard = 10;
    const bool tried = A->a.nnz >= WORTH_A_TRIAL && !is_settled(t) && t->positive;
    return t->hermitian && tried && isinf(t->iterations) && !t->indefinite && !t->edges &&
                   has_blocks(A, t)
               ? hard
               : 1;
}

/* Seconds for factors that are worth looking for something else. */
static const double worth = 5e-3;

/* The share of what factors take that incomplete ones of A are begun for, where nothing foretells
 * their iterations: three times that they have to arrive, or to be seen not to. Those that lack a
 * pivot are not worth a shift. */
static const double a_start = 0.1;

/* Whether these are worth that: their set-up takes little of it, and a trial has shown that the
 * residual falls with less. */
static bool is_worth_a_start(const spry_matrix *A, const traits *t, const precon_choice *others,
                             double factors)
{
    const char *first = others->count > 0 ? others->list[0].spec : "";
    const bool incomplete = strcmp(first, "ic") == 0 || strcmp(first, "ilu") == 0;
    return incomplete && isfinite(t->iterations) && !t->edges && !t->saddle.spec &&
           t->negative < like_diffusion && !t->on_device && t->systems < 2 && t->longest <= even &&
           factors > worth &&
           precon_kind_ic.cost.products * product_seconds(A) <= a_start * factors;
}

static spry_status find_traits(spry_context *ctx, const spry_matrix *given, const spry_matrix *A,
                               int systems, traits *t)
{
    /* What a further right-hand side costs relative to the first: they share readings of A alone.
     * So factors pay for many of them, even where something else is known to do. */
    const double further = 0.9;
    spry_status status = SPRY_STATUS_OK;
    matrix_note(given, SPRY_FACT_POSITIVE_DIAGONAL, t->positive);
    SPRY_GO(ctx, matrix_find_out(ctx, given, SPRY_FACT_HERMITIAN, &t->hermitian));
    if (A->a.nnz >= WORTH_A_TRIAL)
        SPRY_GO(ctx, traits_find_depth(A, &t->deep));
    t->skew = t->hermitian ? 0 : traits_skew(A);
    t->indefinite = t->hermitian && matrix_known(given, SPRY_FACT_DEFINITE) == SPRY_TRUTH_NO;
    t->iterations = INFINITY;
    if (A->a.nnz >= WORTH_A_TRIAL && !is_settled(t))
        SPRY_GO(ctx, traits_try_diagonal(given, A, t));
    t->systems = systems > 1 ? 1 + further * (systems - 1) : 1;
    if ((!t->full || (t->hermitian && !t->positive)) && A->a.nnz >= WORTH_A_TRIAL)
        SPRY_GO(ctx, precon_kkt_suits(A, &t->saddle));
    bool suits = t->hermitian && t->positive && !t->indefinite;
    if (!t->hermitian && t->full && spry_type_is_complex(A->a.type))
        SPRY_GO(ctx, matrix_find_out(ctx, given, SPRY_FACT_SYMMETRIC, &suits));
    if (suits && A->a.rows >= LARGE && t->negative < like_diffusion) {
        if (t->hermitian && t->longest <= even) /* both multigrid and factors ask */
            t->block = stats_find_block(A);
        SPRY_GO(ctx, precon_edges_suits(A, &t->edges));
    }
done:
    return status;
}

spry_status precon_choose(spry_context *ctx, const spry_matrix *given, int systems, bool on_device,
                          precon_choice *choice)
{
    const spry_matrix *A = NULL;
    spry_matrix *owned = NULL;
    const double patience = 20; /* seconds for factors before those with pivots are tried */
    /* Factors arrive, others are forecast to: so much longer than these they may take. */
    const double certain = 1.5;
    precon_choice others = {0};
    bool factors = false;
    double forecast = INFINITY; /* of factors */
    spry_status status = SPRY_STATUS_OK;
    *choice = (precon_choice){0};
    SPRY_GO(ctx, matrix_as_sorted_csr(given, &A, &owned));
    traits t = traits_of_rows(A);
    t.on_device = on_device;
    SPRY_GO(ctx, find_traits(ctx, given, A, systems, &t));
    const double known = add_known(A, &t, &others) * hardness(A, &t);
    const double least = fmax(fmin(known, patience), worth);
    const double most = is_diffusion(A, &t) ? least : fmin(certain * least, patience);
    SPRY_GO(ctx, begins_with_factors(A, &t, &others, most, &factors, &forecast));
    int k = 0;
    if (factors && is_worth_a_start(A, &t, &others, forecast)) {
        char spec[sizeof others.list->spec];
        snprintf(spec, sizeof spec, "%.8s:tries=0", others.list[k++].spec);
        add(choice, forecast * a_start, spec);
    }
    if (factors)
        add_limited(choice, least, most);
    while (k < others.count)
        take(choice, &others.list[k++]);
    if (least < patience)
        add_limited(choice, NAN, patience);
    add_pivoted(A, &t, choice);
    add(choice, NAN, "direct");
    if (!listed(choice, "mlilu")) /* where factors do not fit */
        add(choice, NAN, "mlilu");
    add(choice, NAN, t.positive ? "jacobi" : "none");
    base_log(ctx, SPRY_LOG_INFO,
             "precon %s: A is %s, %s, %.0f%% of the rest negative, %.2g of it skew; a product is "
             "forecast to take %.2g s, and %.0f iterations are with no more than the diagonal",
             choice->list[0].spec, t.hermitian ? "symmetric (hermitian)" : "not symmetric",
             t.positive ? "the diagonal is positive"
             : t.full   ? "the diagonal has no zeros"
                        : "the diagonal has zeros",
             100 * t.negative, t.skew, product_seconds(A), t.iterations);
done:
    spry_matrix_free(owned);
    return status;
}
