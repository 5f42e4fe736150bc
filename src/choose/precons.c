/*
 * Which preconditioner "auto" takes: a few facts that two passes over A and a dozen products give,
 * and a list of what suits them, best first. One that cannot be made makes room for the next.
 */
#include "choose/precons.h"

#include "base/machine.h"
#include "base/team.h"
#include "matrix/stats.h"
#include "precon/trial.h"

#include "host/host.h"
#include "precon/amg/amg.h"

#include <float.h>

/* Rows from which on multigrid pays, and those of grids in three and in two dimensions from which
 * on factors do not. */
enum { LARGE = 10000, SOME = 5000, GREAT = 60000, PIECES = 256 };

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

/* What an entry is of all off the diagonal where ilut drops it, and how many others rows of a
 * flow without diffusion have at most: the neighbours that it comes from, in a plane. */
static const double light = 1e-3, lines = 2.2;

/* What one triangle may have of the whole where incomplete factors are nearly exact. */
static const double one_sided = 1e-3;

/* How many times the rest of each row a dominant diagonal is. */
static const double dominant = 2;

/* What the rows of A show. */
typedef struct traits {
    bool positive;    /* all diagonal entries are real and positive */
    bool full;        /* none is 0 */
    int64_t bad;      /* the first row whose entry is not positive */
    double negative;  /* share of negative real parts of what is off the diagonal, by modulus */
    double dominance; /* least |a_ii| / sum |a_ij| */
    double lesser;    /* share of the triangle that has less of what is off the diagonal */
    double longest;   /* row, over the mean */
    double distance;  /* of entries from the diagonal in the mean, over the rows */
    double heavy;     /* entries per row off the diagonal that are not light */
    bool hermitian;
    bool indefinite;      /* and known to be */
    precon_saddle saddle; /* how kkt suits it */
    double skew;          /* how far A is from its transpose */
    double iterations;    /* with no more than the diagonal, by a trial; infinite: unknown */
    double systems;       /* right-hand sides, as many as their iterations cost of one alone */
    bool on_device;       /* M is to live on a device */
} traits;

/* Sums over a piece of the rows. Pieces are always as many and added up in turn, so that no
 * decision depends on the number of threads. */
typedef struct part_sums {
    int64_t bad, zero, longest;
    double below, all, least;
    double upper;    /* of all */
    double distance; /* of entries from the diagonal, all together */
    int64_t heavy;
} part_sums;

/* Entries of a row off the diagonal that are not light. */
static int64_t count_heavy(const matrix_arrays *a, int64_t i, double rest)
{
    int64_t count = 0;
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const spry_scalar v = value_load(a->type, a->values, k);
        count += a->col_index[k] != i && fabs(v.re) + fabs(v.im) > light * rest;
    }
    return count;
}

static part_sums look_at(const matrix_arrays *a, int64_t begin, int64_t end)
{
    part_sums sums = {.bad = a->rows, .zero = a->rows, .least = DBL_MAX};
    for (int64_t i = begin; i < end; i++) {
        spry_scalar d = {0, 0};
        double rest = 0;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const spry_scalar v = value_load(a->type, a->values, k);
            const double size = fabs(v.re) + fabs(v.im);
            if (a->col_index[k] == i) {
                d = v;
                continue;
            }
            rest += size;
            sums.upper += a->col_index[k] > i ? size : 0;
            sums.distance += fabs((double)(a->col_index[k] - i));
            sums.below += v.re < 0 ? -v.re : 0;
        }
        sums.all += rest;
        sums.heavy += count_heavy(a, i, rest);
        const int64_t length = a->offsets[i + 1] - a->offsets[i];
        sums.longest = length > sums.longest ? length : sums.longest;
        const double share = rest > 0 ? (fabs(d.re) + fabs(d.im)) / rest : DBL_MAX;
        sums.least = share < sums.least ? share : sums.least;
        if ((!(d.re > 0) || d.im != 0) && i < sums.bad)
            sums.bad = i;
        if (d.re == 0 && d.im == 0 && i < sums.zero)
            sums.zero = i;
    }
    return sums;
}

static traits look(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    part_sums parts[PIECES], sums = {.bad = a->rows, .zero = a->rows, .least = DBL_MAX};
#pragma omp parallel for num_threads(matrix_parts(A->ctx, a->nnz)) schedule(static)
    for (int p = 0; p < PIECES; p++)
        parts[p] = look_at(a, a->rows * p / PIECES, a->rows * (p + 1) / PIECES);
    for (int p = 0; p < PIECES; p++) {
        sums.bad = parts[p].bad < sums.bad ? parts[p].bad : sums.bad;
        sums.zero = parts[p].zero < sums.zero ? parts[p].zero : sums.zero;
        sums.least = parts[p].least < sums.least ? parts[p].least : sums.least;
        sums.longest = parts[p].longest > sums.longest ? parts[p].longest : sums.longest;
        sums.below += parts[p].below;
        sums.all += parts[p].all;
        sums.upper += parts[p].upper;
        sums.distance += parts[p].distance;
        sums.heavy += parts[p].heavy;
    }
    return (traits){.positive = sums.bad == a->rows,
                    .full = sums.zero == a->rows,
                    .bad = sums.bad,
                    .negative = sums.all > 0 ? sums.below / sums.all : 0,
                    .dominance = sums.least,
                    .lesser = sums.all > 0 ? fmin(sums.upper, sums.all - sums.upper) / sums.all : 0,
                    .longest = (double)sums.longest * (double)a->rows / (double)(a->nnz + 1),
                    .heavy = (double)sums.heavy / (double)(a->rows + 1),
                    .distance = sums.distance / (double)(a->nnz + 1) / (double)(a->rows + 1)};
}

/* How far A is from its transpose: sum |a_ij - conj a_ji| / sum 2 |a_ij| off the diagonal, of
 * some thousand rows that are distributed evenly. */
static double skew_share(const spry_matrix *A)
{
    const matrix_arrays *a = &A->a;
    const int64_t sample = 2000, step = a->rows / sample + 1;
    double different = 0, all = 0;
    for (int64_t i = 0; i < a->rows; i += step)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            if (a->col_index[k] == i)
                continue;
            const int64_t at = matrix_find(a, a->col_index[k], i);
            const spry_scalar v = value_load(a->type, a->values, k);
            const spry_scalar w =
                at >= 0 ? value_load(a->type, a->values, at) : (spry_scalar){0, 0};
            different += hypot(v.re - w.re, v.im + w.im);
            all += 2 * hypot(v.re, v.im);
        }
    return all > 0 ? different / all : 0;
}

/* A random vector where the operator lives. */
static spry_status random_vector(const spry_operator *A, uint64_t seed, spry_vector **v)
{
    const spry_status status = vector_new_at(A->ctx, A->device, A->type, A->rows, v);
    if (status == SPRY_STATUS_OK)
        (*v)->part = A->rows_part;
    return status == SPRY_STATUS_OK ? vector_random(*v, seed) : status;
}

/* sum x_i y_i without conjugation: that of conj(x) on the host, where complex ones come to. */
static spry_status plain_dot(const spry_vector *x, const spry_vector *y, spry_scalar *result)
{
    const spry_vector *a, *b;
    spry_vector *copy_a = NULL, *copy_b = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!spry_type_is_complex(x->type))
        return spry_vector_dot(x, y, result);
    SPRY_GO(x->ctx, vector_on_host(x, &a, &copy_a));
    SPRY_GO(x->ctx, vector_on_host(y, &b, &copy_b));
    *result = host_kernels_for(x->ctx, x->type)->dot_plain(x->n, a->data, b->data);
    if (x->part.is) {
        const spry_scalar mine = *result, *all = x->ctx->team->room;
        SPRY_GO(x->ctx, team_gather(x->ctx, &mine, sizeof mine, x->ctx->team->room));
        *result = (spry_scalar){0, 0};
        for (int r = 0; r < team_ranks(x->ctx); r++) {
            result->re += all[r].re;
            result->im += all[r].im;
        }
    }
done:
    spry_vector_free(copy_a);
    spry_vector_free(copy_b);
    return status;
}

spry_status precon_probe(const spry_operator *A, precon_symmetry *probe)
{
    spry_context *ctx = A->ctx;
    spry_vector *u = NULL, *v = NULL, *Au = NULL, *Av = NULL;
    spry_scalar left, right;
    double norm_u, norm_v, norm_Au, norm_Av;
    spry_status status = SPRY_STATUS_OK;
    *probe = (precon_symmetry){0};
    if (!A->square)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, operator_agree(A, random_vector(A, 1, &u)));
    SPRY_GO(ctx, operator_agree(A, spry_vector_like(u, A->rows, &Au)));
    SPRY_GO(ctx, operator_agree(A, spry_operator_apply(A, u, Au)));
    SPRY_GO(ctx, spry_vector_dot(u, Au, &left));
    probe->positive = left.re > 0;
    if (A->hermitian) {
        probe->hermitian = true;
        probe->symmetric = !spry_type_is_complex(A->type);
        goto done;
    }
    SPRY_GO(ctx, operator_agree(A, random_vector(A, 2, &v)));
    SPRY_GO(ctx, operator_agree(A, spry_vector_like(u, A->rows, &Av)));
    SPRY_GO(ctx, operator_agree(A, spry_operator_apply(A, v, Av)));
    SPRY_GO(ctx, spry_vector_norm(Au, &norm_Au));
    SPRY_GO(ctx, spry_vector_norm(Av, &norm_Av));
    SPRY_GO(ctx, spry_vector_norm(u, &norm_u));
    SPRY_GO(ctx, spry_vector_norm(v, &norm_v));
    const double most = matrix_mirror_tolerance(A->single || type_is_single(A->type)) *
                        fmax(norm_Au * norm_v, norm_u * norm_Av);
    SPRY_GO(ctx, spry_vector_dot(Au, v, &left));
    SPRY_GO(ctx, spry_vector_dot(u, Av, &right));
    probe->hermitian = !(hypot(left.re - right.re, left.im - right.im) > most);
    SPRY_GO(ctx, plain_dot(Au, v, &left));
    SPRY_GO(ctx, plain_dot(u, Av, &right));
    probe->symmetric = !(hypot(left.re - right.re, left.im - right.im) > most);
    SPRY_GO(ctx, spry_vector_dot(v, Av, &right));
    probe->positive = probe->positive && right.re > 0;
    const void *diagonal = operator_diagonal(A, SPRY_TRANSPOSE_NO);
    for (int64_t i = 0; diagonal && i < A->rows && probe->positive; i++)
        probe->positive = value_get(A->type, diagonal, i).re > 0;
    if (A->rows_part.is) {
        bool negative = false;
        SPRY_GO(ctx, team_any(ctx, !probe->positive, &negative));
        probe->positive = !negative;
    }
done:
    spry_vector_free(u);
    spry_vector_free(v);
    spry_vector_free(Au);
    spry_vector_free(Av);
    return status;
}

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

static void add(precon_choice *choice, double seconds, const char *spec)
{
    const int room = (int)(sizeof choice->list / sizeof *choice->list);
    if (choice->count == room)
        return;
    snprintf(choice->list[choice->count].spec, sizeof choice->list->spec, "%s", spec);
    choice->list[choice->count++].seconds = seconds;
}

/* Whether rows are as long as those of grids in three dimensions. */
static bool is_deep(const spry_matrix *A)
{
    const double plane = 6.5; /* entries per row: five in two dimensions, seven in three */
    return (double)A->a.nnz > plane * (double)A->a.rows;
}

/* Whether rows alone show what a trial would: a diagonal that dominates by far, or diffusion, which
 * is definite where it dominates at all, and wants more than a diagonal. */
static bool is_settled(const traits *t)
{
    return t->dominance >= dominant ||
           (t->positive && t->negative >= like_diffusion && t->longest <= even &&
            t->dominance >= balanced && t->skew <= slight);
}

/* A dozen products: how fast no more than the diagonal gets on, and whether a hermitian A is seen
 * to be indefinite, which is noted. */
static spry_status try_diagonal(const spry_matrix *given, const spry_matrix *A, traits *t)
{
    precon_trial_result found;
    t->iterations = INFINITY;
    t->indefinite = t->hermitian && matrix_known(given, SPRY_FACT_DEFINITE) == SPRY_TRUTH_NO;
    if (t->indefinite || is_settled(t) || A->a.nnz < WORTH_A_TRIAL ||
        !(t->hermitian ? t->positive : t->full))
        return SPRY_STATUS_OK;
    const base_kept before = base_try(A->ctx);
    const spry_status status = precon_trial(A, t->hermitian, &found);
    if (status == SPRY_STATUS_NO_MEMORY) /* the rows have to say enough */
        base_forgive(A->ctx, &before);
    if (status != SPRY_STATUS_OK)
        return status == SPRY_STATUS_NO_MEMORY ? SPRY_STATUS_OK : status;
    t->iterations = found.iterations;
    t->indefinite = found.indefinite;
    if (t->indefinite)
        matrix_note(given, SPRY_FACT_DEFINITE, false);
    return SPRY_STATUS_OK;
}

/*
 * Forecasts in products with A, as measured over grids and real matrices: the kind's set-up, and
 * iterations as grids of two or three dimensions have them; others (structures, circuits) need
 * several times as many.
 */
static double incomplete(const spry_matrix *A, const traits *t, const precon_kind *kind,
                         double step)
{
    const bool grid = t->negative >= like_diffusion && t->longest <= even;
    const double n = (double)A->a.rows, others = grid ? 1 : 8;
    return product_seconds(A) * (kind->cost.products +
                                 t->systems * others * step * (is_deep(A) ? 2 * cbrt(n) : sqrt(n)));
}

/* Products of an iteration with no more than the diagonal, vectors counted as such. */
static const double step = 2.5;

/* Set-up and solves of a grid in three dimensions, in products. */
static double of_grid(const precon_kind *kind, double rows, double systems)
{
    const precon_cost *c = &kind->cost;
    return c->solve > 0 ? c->products + c->solve * systems : step * 3 * cbrt(rows) * systems;
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

/* Multigrid where A is like diffusion or elasticity, by aggregates, or with a flow, between points,
 * which keeps to the flow's lines; and where nothing but those lines is left, factors along them.
 */
static void add_multigrid(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    const double product = product_seconds(A), n = (double)A->a.rows;
    const double side = is_deep(A) ? cbrt(n) : sqrt(n);
    const bool diffusion = t->negative >= like_diffusion;
    if (A->a.rows < LARGE || !t->positive || t->longest > even || t->indefinite)
        return;
    if (t->hermitian ? !diffusion && stats_find_block(A) <= 1 /* elasticity */
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
             is_deep(A) ? "theta=0.5," : "", order ? "]" : "");
    add(choice, product * of_grid(&precon_kind_amg_classical, n, t->systems), spec);
    if (t->heavy <= lines && t->distance <= scattered && !t->on_device)
        add(choice, product * (precon_kind_ilut.cost.products + 0.5 * side * t->systems), "ilut");
}

/* What is known to suit A without factors, best first; the seconds of the first, infinite where
 * nothing is known to. */
static double add_known(const spry_matrix *A, const traits *t, precon_choice *choice)
{
    static const double few = 60;      /* iterations; more a trial cannot foretell */
    static const double cached = 4e-3; /* seconds of a product that comes from memory */
    const double product = product_seconds(A);
    const bool large = product > cached;
    if (t->iterations <= few) {
        add(choice, product * step * t->iterations * t->systems, "jacobi");
        choice->list[choice->count - 1].iterations = t->iterations;
    } else if (t->dominance >= dominant && t->full) {
        add(choice, product * PRECON_DOMINATED * t->systems, "jacobi");
    }
    add_multigrid(A, t, choice);
    if (t->hermitian && t->positive && !t->indefinite)
        add(choice, incomplete(A, t, &precon_kind_ic, large ? 2 : 1), "ic");
    else if (!t->hermitian && t->full)
        add(choice,
            t->lesser <= one_sided ? product * 60
                                   : incomplete(A, t, &precon_kind_ilu, large ? 3 : 1.5),
            "ilu");
    if (t->saddle.spec)
        add(choice, product * (precon_kind_kkt.cost.products + t->systems * t->saddle.products),
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
    if (!t->hermitian && is_deep(A) && A->a.rows >= LARGE)
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

static spry_status find_traits(spry_context *ctx, const spry_matrix *given, const spry_matrix *A,
                               int systems, traits *t)
{
    /* What a further right-hand side costs relative to the first: they share readings of A alone.
     * So factors pay for many of them, even where something else is known to do. */
    const double further = 0.9;
    spry_status status = SPRY_STATUS_OK;
    matrix_note(given, SPRY_FACT_POSITIVE_DIAGONAL, t->positive);
    SPRY_GO(ctx, matrix_find_out(ctx, given, SPRY_FACT_HERMITIAN, &t->hermitian));
    t->skew = t->hermitian ? 0 : skew_share(A);
    SPRY_GO(ctx, try_diagonal(given, A, t));
    t->systems = systems > 1 ? 1 + further * (systems - 1) : 1;
    if ((!t->full || (t->hermitian && !t->positive)) && A->a.nnz >= WORTH_A_TRIAL)
        SPRY_GO(ctx, precon_kkt_suits(A, &t->saddle));
done:
    return status;
}

/* Large systems like diffusion, of few right-hand sides, for which multigrid is known to do. */
static bool is_for_multigrid(const spry_matrix *A, const traits *t, int systems)
{
    const bool deep = is_deep(A), diffusion = t->positive && t->negative >= like_diffusion;
    const bool known = t->hermitian ? !t->indefinite
                                    : t->dominance >= balanced &&
                                          (t->skew <= slight || deep || A->a.rows >= 2 * GREAT);
    return diffusion && t->longest <= even && known &&
           systems < (deep ? MANY_SYSTEMS : FEW_SYSTEMS) && A->a.rows >= (deep ? SOME : GREAT);
}

/* Factors are analysed first, which takes as long as some hundred products, unless something else
 * is known to do. */
static bool begins_with_factors(const spry_matrix *A, const traits *t, int systems,
                                const precon_choice *others)
{
    const bool simple = others->count > 0 && strcmp(others->list[0].spec, "jacobi") == 0;
    const bool dominated = t->full && !t->hermitian && t->lesser <= one_sided;
    const bool saddle = t->saddle.spec && A->a.rows >= LARGE;
    return !simple && !dominated && !saddle && !is_for_multigrid(A, t, systems);
}

spry_status precon_choose(spry_context *ctx, const spry_matrix *given, int systems, bool on_device,
                          precon_choice *choice)
{
    const spry_matrix *A = NULL;
    spry_matrix *owned = NULL;
    /* Seconds for factors: no less than this is worth looking for something else, and no more
     * before those with pivots are tried. */
    const double worth = 5e-3, patience = 20;
    precon_choice others = {0};
    spry_status status = SPRY_STATUS_OK;
    *choice = (precon_choice){0};
    SPRY_GO(ctx, matrix_as_sorted_csr(given, &A, &owned));
    traits t = look(A);
    t.on_device = on_device;
    SPRY_GO(ctx, find_traits(ctx, given, A, systems, &t));
    const double least = fmax(fmin(add_known(A, &t, &others), patience), worth);
    if (begins_with_factors(A, &t, systems, &others))
        add_limited(choice, least, least);
    for (int k = 0; k < others.count; k++) {
        add(choice, others.list[k].seconds, others.list[k].spec);
        choice->list[choice->count - 1].iterations = others.list[k].iterations;
    }
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
