/* A plan refuses what the solve would refuse, with the same status and the same words, whatever was
 * asked for and whatever A is; and what a preconditioner is not for is reported before it is made.
 */
#include "choose/precons.h"
#include "operator/operator.h"
#include "support/spec.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entry (i, j) of small matrices of one kind each. */
typedef double entry_fn(int i, int j);

/* Entries are this near to the diagonal. The large ones have more rows than a plan makes a
 * preconditioner for if that has no forecast. */
enum { BAND = 11, LARGE = (1 << 14) + 100 };

static double poisson(int i, int j)
{
    return i == j ? 4 : abs(i - j) == 1 || abs(i - j) == 4 ? -1 : 0;
}

static double upwind(int i, int j)
{
    return i == j ? 4 : j - i == 1 ? -1.5 : i - j == 1 ? -0.5 : 0;
}

static double neumann(int i, int j) /* rows add up to 0 */
{
    return i == j ? (i == 0 || i == 11 ? 1 : 2) : abs(i - j) == 1 ? -1 : 0;
}

static double hollow(int i, int j) /* a row and a column without entries */
{
    return i == 5 || j == 5 ? 0 : poisson(i, j);
}

static double saddle(int i, int j) /* the last four rows have no diagonal */
{
    return i < 8 && j < 8 ? (i == j ? 3 : 0) : i >= 8 && j >= 8 ? 0 : (i + j) % 4 == 0;
}

static double zero(int i, int j)
{
    (void)i, (void)j;
    return 0;
}

static double not_finite(int i, int j)
{
    return i == 3 && j == 3 ? NAN : poisson(i, j);
}

static const struct {
    const char *name;
    entry_fn *entry;
    int rows, cols;
    spry_type type;
} kinds[] = {{"symmetric", poisson, 12, 12, SPRY_TYPE_D},
             {"symmetric, single", poisson, 12, 12, SPRY_TYPE_S},
             {"complex", upwind, 12, 12, SPRY_TYPE_Z},
             {"unsymmetric", upwind, 12, 12, SPRY_TYPE_D},
             {"singular", neumann, 12, 12, SPRY_TYPE_D},
             {"with an empty row", hollow, 12, 12, SPRY_TYPE_D},
             {"a saddle point", saddle, 12, 12, SPRY_TYPE_D},
             {"tall", poisson, 12, 7, SPRY_TYPE_D},
             {"wide", upwind, 7, 12, SPRY_TYPE_D},
             {"without entries", zero, 5, 5, SPRY_TYPE_D},
             {"not finite", not_finite, 12, 12, SPRY_TYPE_D},
             {"symmetric, large", poisson, LARGE, LARGE, SPRY_TYPE_D},
             {"unsymmetric, large", upwind, LARGE, LARGE, SPRY_TYPE_D},
             {"tall, large", upwind, LARGE + 3, LARGE, SPRY_TYPE_D}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static spry_matrix *make(spry_context *ctx, int k)
{
    const int rows = kinds[k].rows, cols = kinds[k].cols;
    const size_t size = spry_type_size(kinds[k].type);
    int64_t *offsets = calloc((size_t)rows + 1, sizeof *offsets);
    const size_t room = (size_t)rows * (2 * BAND + 1);
    int32_t *columns = calloc(room, sizeof *columns);
    char *values = calloc(room, size);
    for (int i = 0; i < rows; i++) {
        offsets[i + 1] = offsets[i];
        for (int j = i > BAND ? i - BAND : 0; j < cols && j <= i + BAND; j++) {
            const double v = kinds[k].entry(i, j);
            if (v == 0)
                continue;
            columns[offsets[i + 1]] = j;
            value_set(kinds[k].type, values, offsets[i + 1]++, (spry_scalar){v, 0});
        }
    }
    return support_from_csr(ctx, kinds[k].type, rows, cols, offsets, columns, values);
}

/* The wishes: each name of a list, with options behind it, and others. */
static const struct {
    spry_list list;
    const char *option, *behind;
} lists[] = {{SPRY_LIST_METHODS, "method", ""},
             {SPRY_LIST_PRECONS, "precon", ""},
             {SPRY_LIST_PRECONS, "precon", ":precision=half"},
             {SPRY_LIST_FORMATS, "format", ""}};
static const char *const others[] = {"",
                                     "reorder=rcm",
                                     "nullspace=constant",
                                     "nullspace=constant precon=ic",
                                     "device=cuda:99",
                                     "format=ell:T=3",
                                     "format=nothing",
                                     "method=nothing",
                                     "method=bicg precon=amg",
                                     "method=bicg precon=[schwarz:sub=ic]",
                                     "precon=schwarz:sub=ic",
                                     "precon=ilu:modified=1,construct=sweeps",
                                     "precon=ildl:definite=yes",
                                     "precon=kkt:definite=yes",
                                     "precon=direct:kind=suitesparse",
                                     "precon=direct:kind=band,regular=yes",
                                     "precon=inner:method=cg",
                                     "method=direct precon=jacobi",
                                     "fuse=no method=cgls"};

typedef struct outcome {
    spry_status status;
    char message[512];
} outcome;

static bool is_same(const outcome *a, const outcome *b)
{
    return a->status == b->status &&
           (a->status == SPRY_STATUS_OK || strcmp(a->message, b->message) == 0);
}

/* A solver with a wish, planned or run for two iterations. */
static outcome ask(spry_context *ctx, const spry_matrix *A, const char *wish, bool planned)
{
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    spry_plan plan = SPRY_PLAN_INIT;
    outcome o = {0};
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solver_set(solver, "max_iter=2"));
    assert_ok(ctx, spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_vector_new(ctx, A->a.type, A->a.cols, NULL, SPRY_OWN_COPY, &x));
    o.status = spry_solver_set(solver, wish);
    if (o.status == SPRY_STATUS_OK)
        o.status = planned ? spry_solver_plan(solver, 1, &plan) : spry_solve(solver, b, x, &result);
    snprintf(o.message, sizeof o.message, "%s", spry_message(ctx));
    spry_plan_clear(ctx, &plan);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    return o;
}

/* What a preconditioner within another is not for is found when parts of A are made, which a plan
 * of a large one does not do (docs/plan.md). */
static bool is_found_later(const char *wish, int k)
{
    return kinds[k].rows >= LARGE && strstr(wish, "sub=") != NULL;
}

/* How many of all matrices are refused. */
static int try_wish(spry_context *ctx, spry_matrix *const *all, const char *wish)
{
    int refused = 0;
    for (int k = 0; k < KINDS; k++) {
        if (is_found_later(wish, k))
            continue;
        const outcome plan = ask(ctx, all[k], wish, true), solve = ask(ctx, all[k], wish, false);
        refused += solve.status != SPRY_STATUS_OK;
        if (!is_same(&plan, &solve))
            print_error("%s, A %s: the plan ends with %d: %s; the solve with %d: %s\n", wish,
                        kinds[k].name, plan.status, plan.message, solve.status, solve.message);
        assert_true(is_same(&plan, &solve));
    }
    return refused;
}

static void open_all(spry_context *ctx, spry_matrix **all)
{
    for (int k = 0; k < KINDS; k++)
        all[k] = make(ctx, k);
}

static void free_all(spry_matrix **all)
{
    for (int k = 0; k < KINDS; k++)
        spry_matrix_free(all[k]);
}

static void refuses_what_the_solve_does(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=1");
    spry_matrix *all[KINDS];
    spry_entry entry = SPRY_ENTRY_INIT;
    char wish[256];
    int refused = 0;
    open_all(ctx, all);
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (int i = 0; spry_list_at(lists[l].list, i, &entry); i++) {
            snprintf(wish, sizeof wish, "%s=%s%s", lists[l].option, entry.name, lists[l].behind);
            refused += try_wish(ctx, all, wish);
        }
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        refused += try_wish(ctx, all, others[k]);
    assert_true(refused > 100); /* what is to be compared is there */
    free_all(all);
    support_context_free(ctx);
}

/* The same of one that a plan does not make, as it would take long: what A is, and the options, are
 * looked at all the same. */
static void knows_what_a_preconditioner_is_for(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int kind;
    } cases[] = {{"ic", 3},
                 {"ict", 3},
                 {"fsai", 3},
                 {"ildl", 3},
                 {"kkt", 0},
                 {"gmg", 0},
                 {"strips", 0},
                 {"ilu:modified=1,construct=sweeps", 0},
                 {"ic", 7},
                 {"jacobi", 10},
                 {"amg:precision=half", 1},
                 {"kkt:definite=yes", 3}};
    spry_context *ctx = support_context("threads=1");
    spry_matrix *all[KINDS];
    open_all(ctx, all);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const spry_matrix *A = all[cases[k].kind];
        spry_operator *M = NULL, *begun = NULL;
        precon_forecast forecast;
        const precon_spec spec = support_spec(ctx, cases[k].spec);
        char name[32], message[512];
        const spry_status early = precon_begin(ctx, A, NULL, &spec, &forecast, &begun);
        snprintf(message, sizeof message, "%s", spry_message(ctx));
        const spry_status late = precon_make_from_text(ctx, A, NULL, cases[k].spec, &M, name);
        if (early == SPRY_STATUS_OK || early != late)
            print_error("%s of A %s\n", cases[k].spec, kinds[cases[k].kind].name);
        assert_int_not_equal(early, SPRY_STATUS_OK);
        assert_int_equal(early, late);
        assert_string_equal(message, spry_message(ctx));
    }
    free_all(all);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_the_solve_does),
        cmocka_unit_test(knows_what_a_preconditioner_is_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
