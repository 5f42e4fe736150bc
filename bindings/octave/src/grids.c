/* Grids: operators from texts, places, steps of time, lower bounds. */
#include "gate.h"

#include <spry/grid.h>
#include <string.h>

static bool open_grid(const mxArray *text, spry_grid **grid)
{
    char *words = gate_text(text, "the grid");
    return words && gate_context() && gate_check(spry_grid_new(gate_context(), words, grid));
}

/* A vector over the numbers of a full array, of its own type or of one that is given. */
static bool vector_of(const mxArray *array, const char *what, const spry_type *wanted,
                      spry_vector **v)
{
    spry_type type;
    if (!arrays_type(array, what, &type))
        return false;
    type = wanted ? *wanted : type;
    void *numbers = arrays_numbers(array, what, type);
    return numbers &&
           gate_check(spry_vector_new(gate_context(), type, (int64_t)mxGetNumberOfElements(array),
                                      numbers, SPRY_OWN_BORROW, v));
}

enum { COEFFICIENTS = 32 };

/* The fields of a struct, each a field of all points or one number. */
static bool coefficients_of(const mxArray *given, const char **names, spry_vector **values,
                            int *count)
{
    if (mxIsEmpty(given))
        return true;
    if (!mxIsStruct(given) || mxGetNumberOfElements(given) != 1 ||
        mxGetNumberOfFields(given) > COEFFICIENTS)
        return gate_fail("badType", "coefficients are one struct with up to %d fields",
                         COEFFICIENTS);
    for (int k = 0; k < mxGetNumberOfFields(given); k++) {
        names[k] = mxGetFieldNameByNumber(given, k);
        if (!vector_of(mxGetFieldByNumber(given, 0, k), names[k], NULL, &values[k]))
            return false;
        ++*count;
    }
    return true;
}

/* id = spry_mex('stencil', GRID, TEXT, COEFFICIENTS, OPTIONS) */
bool command_stencil(gate_call *call)
{
    const char *names[COEFFICIENTS];
    spry_vector *values[COEFFICIENTS] = {NULL};
    spry_grid *grid = NULL;
    spry_operator *op = NULL;
    int count = 0;
    char *text = NULL, *options = NULL;
    bool good = gate_count(call, 4, 4) && open_grid(call->in[0], &grid) &&
                (text = gate_text(call->in[1], "the operator")) != NULL &&
                (options = options_text(call->in[3])) != NULL &&
                coefficients_of(call->in[2], names, values, &count) &&
                gate_check(spry_operator_stencil(grid, text, options, count, names,
                                                 (const spry_vector *const *)values, &op)) &&
                kept_operator(op, call->out);
    for (int k = 0; k < count; k++)
        spry_vector_free(values[k]);
    spry_grid_free(grid);
    return good;
}

/* id = spry_mex('helmholtz', GRID, K2, OPTIONS) */
bool command_helmholtz(gate_call *call)
{
    spry_grid *grid = NULL;
    spry_vector *k2 = NULL;
    spry_operator *op = NULL;
    char *options = NULL;
    const bool good = gate_count(call, 3, 3) && open_grid(call->in[0], &grid) &&
                      (options = options_text(call->in[2])) != NULL &&
                      vector_of(call->in[1], "k2", NULL, &k2) &&
                      gate_check(spry_operator_helmholtz(grid, k2, options, &op, NULL)) &&
                      kept_operator(op, call->out);
    spry_vector_free(k2);
    spry_grid_free(grid);
    return good;
}

/* P = spry_mex('places', GRID, ALL): a row of coordinates for each unknown, or for each point */
bool command_places(gate_call *call)
{
    spry_grid *grid = NULL;
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    bool good = gate_count(call, 2, 2) && open_grid(call->in[0], &grid) &&
                gate_check(spry_grid_describe(grid, &info));
    if (good) {
        const bool all = mxGetScalar(call->in[1]) != 0;
        const int64_t n = all ? info.points : info.unknowns;
        call->out[0] = arrays_full(SPRY_TYPE_D, n, info.dimensions);
        double *to = mxGetData(call->out[0]), place[3];
        for (int64_t i = 0; i < n && good; i++) {
            good = gate_check(spry_grid_place(grid, all, i, place));
            for (int k = 0; k < info.dimensions; k++)
                to[i + k * n] = place[k];
        }
    }
    spry_grid_free(grid);
    return good;
}

/* A copy of a vector of the caller's as the result, and a vector of the library's over it. */
static bool result_of(const mxArray *array, const char *what, const kept *k, mxArray **out,
                      void **room, spry_vector **v)
{
    const int64_t n = spry_operator_rows(k->op);
    if ((int64_t)mxGetNumberOfElements(array) != n)
        return gate_fail("badShape", "%s has %.0f numbers, and %.0f are needed", what,
                         (double)mxGetNumberOfElements(array), (double)n);
    const void *numbers = arrays_numbers(array, what, k->type);
    if (!numbers)
        return false;
    *out = arrays_full(k->type, n, 1);
    *room = arrays_room(*out, k->type);
    memcpy(*room, numbers, (size_t)n * spry_type_size(k->type));
    return gate_check(spry_vector_new(gate_context(), k->type, n, *room, SPRY_OWN_BORROW, v));
}

static mxArray *steps_struct(const spry_step_stats *s)
{
    static const char *const names[] = {"steps",      "t",       "dt",      "limit",   "solves",
                                        "iterations", "seconds", "stopped", "rejected"};
    enum { FIELDS = sizeof names / sizeof *names };
    const double numbers[FIELDS] = {
        (double)s->steps,      s->t,       s->dt,      s->limit,           (double)s->solves,
        (double)s->iterations, s->seconds, s->stopped, (double)s->rejected};
    mxArray *all = mxCreateStructMatrix(1, 1, FIELDS, (const char **)names);
    for (int k = 0; k < FIELDS; k++)
        mxSetFieldByNumber(all, 0, k, mxCreateDoubleScalar(numbers[k]));
    return all;
}

/* [u, stats] = spry_mex('step', ID, u, t, END, OPTIONS): u' = A u */
bool command_step(gate_call *call)
{
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    spry_stepper *stepper = NULL;
    spry_vector *u = NULL;
    void *room = NULL;
    char *options = NULL;
    kept *k = gate_count(call, 5, 5) ? kept_enter(call->in[0]) : NULL;
    bool good = k && (options = options_text(call->in[4])) != NULL &&
                gate_check(spry_stepper_new(gate_context(), options, &stepper)) &&
                gate_check(spry_stepper_set_operator(stepper, k->op, NULL, NULL, NULL)) &&
                result_of(call->in[1], "u", k, call->out, &room, &u);
    if (good) {
        gate_listen();
        good = gate_check(spry_stepper_run(stepper, mxGetScalar(call->in[2]),
                                           mxGetScalar(call->in[3]), u, &stats));
        if (gate_listen_end())
            good = gate_fail("interrupted", "interrupted");
    }
    if (good)
        arrays_set(call->out[0], k->type, room);
    if (good && call->out_count > 1)
        call->out[1] = steps_struct(&stats);
    spry_vector_free(u);
    spry_stepper_free(stepper);
    kept_leave(k);
    return good;
}

/* [x, result] = spry_mex('bounded', ID, b, LOWER, OPTIONS) */
bool command_bounded(gate_call *call)
{
    spry_result result = SPRY_RESULT_INIT;
    spry_bounded *solver = NULL;
    spry_vector *b = NULL, *lower = NULL, *x = NULL;
    void *room = NULL;
    char *options = NULL;
    kept *k = gate_count(call, 4, 4) ? kept_enter(call->in[0]) : NULL;
    bool good = k && (options = options_text(call->in[3])) != NULL &&
                gate_check(spry_bounded_new(k->op, options, &solver)) &&
                vector_of(call->in[1], "b", &k->type, &b) &&
                vector_of(call->in[2], "lower", &k->type, &lower) &&
                result_of(call->in[2], "lower", k, call->out, &room, &x);
    if (good) {
        gate_listen();
        good = gate_check(spry_bounded_solve(solver, b, lower, x, &result, NULL));
        if (gate_listen_end())
            good = gate_fail("interrupted", "interrupted");
    }
    if (good)
        arrays_set(call->out[0], k->type, room);
    if (good && call->out_count > 1)
        call->out[1] = result_struct(&result, 1);
    spry_result_clear(gate_context(), &result);
    spry_vector_free(b);
    spry_vector_free(lower);
    spry_vector_free(x);
    spry_bounded_free(solver);
    kept_leave(k);
    return good;
}
