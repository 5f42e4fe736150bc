/* Solves: with a sparse array, a kept matrix or a function. */
#include "gate.h"

#include <stdlib.h>
#include <string.h>

typedef struct solving {
    const mxArray *target, *right, *options;
    solve_options picked;
    spry_type type;
    int64_t rows, cols, count; /**< count: right-hand sides */
    kept *kept;
    spry_matrix *A;
    function product, precon;
    watching watch;
    spry_solver *solver;
    bool own_solver;
    spry_vector **b, **x; /**< count of each */
    void *room;           /**< the numbers of x */
    spry_result *results;
} solving;

static bool is_function(const mxArray *array)
{
    return mxIsClass(array, "function_handle");
}

/* What is solved with, its shape, and the type that all numbers go into. */
static bool find_shape(solving *s)
{
    spry_type right;
    if (!arrays_type(s->right, "b", &right))
        return false;
    if (s->kept) {
        s->type = s->kept->type;
        s->rows = spry_operator_rows(s->kept->op);
        s->cols = spry_operator_cols(s->kept->op);
    } else if (is_function(s->target)) {
        s->type = right;
        s->rows = (int64_t)mxGetM(s->right);
        s->cols = s->picked.cols > 0 ? s->picked.cols : s->rows;
    } else {
        if (!arrays_type(s->target, "A", &s->type))
            return false;
        s->type = arrays_join(s->type, right);
        s->rows = (int64_t)mxGetM(s->target);
        s->cols = (int64_t)mxGetN(s->target);
    }
    if (s->picked.x0 && !s->kept) {
        spry_type guess;
        if (!arrays_type(s->picked.x0, "x0", &guess))
            return false;
        if (spry_type_is_complex(guess))
            s->type = arrays_join(s->type, SPRY_TYPE_Z);
    }
    if (s->picked.single && !s->kept)
        s->type = arrays_join(s->type, SPRY_TYPE_S);
    return arrays_columns(s->right, "b", s->rows, &s->count);
}

/* A kept matrix keeps the solver of its last solve: with the same options its set-up is used again.
 */
static bool kept_solver(solving *s)
{
    kept *k = s->kept;
    char *text = options_print(s->options);
    if (k->users == 1 && k->solver && strcmp(k->options, text) == 0) {
        s->solver = k->solver;
        return true;
    }
    if (!gate_check(spry_solver_new(gate_context(), &s->solver)))
        return false;
    s->own_solver = true;
    char *copy = malloc(strlen(text) + 1);
    if (!copy)
        return gate_fail("noMemory", "memory is exhausted");
    strcpy(copy, text);
    const bool ready = k->A
                           ? gate_check(spry_solver_set_text(s->solver, "device", k->device)) &&
                                 gate_check(spry_solver_set_text(s->solver, "format", k->format)) &&
                                 options_set(s->options, s->solver) &&
                                 gate_check(spry_solver_set_matrix(s->solver, k->A))
                           : options_set(s->options, s->solver) &&
                                 gate_check(spry_solver_set_operator(s->solver, k->op));
    if (!ready || k->users > 1) {
        free(copy);
        return ready;
    }
    spry_solver_free(k->solver);
    free(k->options);
    k->solver = s->solver;
    k->options = copy;
    s->own_solver = false;
    return true;
}

static bool own_solver(solving *s)
{
    if (!gate_check(spry_solver_new(gate_context(), &s->solver)))
        return false;
    s->own_solver = true;
    if (!options_set(s->options, s->solver))
        return false;
    if (is_function(s->target))
        return function_open(&s->product, s->target, s->type, s->rows, s->cols,
                             s->picked.transpose) &&
               gate_check(spry_solver_set_operator(s->solver, s->product.op));
    return arrays_matrix(s->target, "A", s->type, &s->A) &&
           gate_check(spry_solver_set_matrix(s->solver, s->A));
}

static bool make_solver(solving *s)
{
    if (!(s->kept ? kept_solver(s) : own_solver(s)))
        return false;
    if (s->picked.monitor || gate_can_ask())
        spry_solver_set_watch(s->solver, function_watch, &s->watch);
    s->watch.handle = s->picked.monitor;
    if (!s->picked.precon)
        return true;
    return function_open(&s->precon, s->picked.precon, s->type, s->cols, s->cols,
                         s->picked.transpose) &&
           gate_check(spry_solver_set_precon(s->solver, s->precon.op));
}

/* The first guess is copied into the room of x. */
static bool take_guess(const solving *s, void *x)
{
    int64_t guesses;
    if (!arrays_columns(s->picked.x0, "x0", s->cols, &guesses))
        return false;
    if (guesses != s->count)
        return gate_fail("badShape", "x0 has %.0f columns, b has %.0f", (double)guesses,
                         (double)s->count);
    const void *numbers = arrays_numbers(s->picked.x0, "x0", s->type);
    if (numbers)
        memcpy(x, numbers, (size_t)(s->cols * s->count) * spry_type_size(s->type));
    return numbers != NULL;
}

/* The columns of b, where they are if they are of the type, and those of x in the result. */
static bool make_vectors(solving *s, mxArray **out)
{
    spry_context *ctx = gate_context();
    const size_t bytes = spry_type_size(s->type), count = (size_t)s->count;
    char *b = arrays_numbers(s->right, "b", s->type);
    if (!b)
        return false;
    *out = arrays_full(s->type, s->cols, s->count);
    char *x = s->room = arrays_room(*out, s->type);
    if (s->picked.x0 && !take_guess(s, x))
        return false;
    s->b = mxCalloc(count + 1, sizeof *s->b);
    s->x = mxCalloc(count + 1, sizeof *s->x);
    for (size_t j = 0; j < count; j++)
        if (!gate_check(spry_vector_new(ctx, s->type, s->rows, b + j * bytes * (size_t)s->rows,
                                        SPRY_OWN_BORROW, &s->b[j])) ||
            !gate_check(spry_vector_new(ctx, s->type, s->cols, x + j * bytes * (size_t)s->cols,
                                        SPRY_OWN_BORROW, &s->x[j])))
            return false;
    return true;
}

static bool run(solving *s)
{
    s->results = mxCalloc((size_t)s->count + 1, sizeof *s->results);
    for (int64_t j = 0; j < s->count; j++)
        s->results[j].size = sizeof *s->results;
    if (s->count == 0)
        return true;
    gate_listen();
    const spry_status status =
        s->count == 1 ? spry_solve(s->solver, s->b[0], s->x[0], s->results)
                      : spry_solve_many(s->solver, (int)s->count, (const spry_vector *const *)s->b,
                                        s->x, s->results);
    const bool good = !s->watch.failed && gate_check(status);
    if (gate_listen_end())
        return gate_fail("interrupted", "interrupted");
    return good;
}

static void end(solving *s)
{
    for (int64_t j = 0; s->results && j < s->count; j++)
        spry_result_clear(gate_context(), &s->results[j]);
    for (int64_t j = 0; s->x && j < s->count; j++) {
        spry_vector_free(s->b[j]);
        spry_vector_free(s->x[j]);
    }
    if (s->solver && !s->own_solver) {
        spry_solver_set_watch(s->solver, NULL, NULL);
        if (s->precon.op)
            spry_solver_set_precon(s->solver, NULL);
    } else {
        spry_solver_free(s->solver);
    }
    function_close(&s->precon);
    function_close(&s->product);
    spry_matrix_free(s->A);
    kept_leave(s->kept);
}

/* [x, result] = spry_mex('solve', A or ID or function, b, OPTIONS) */
bool command_solve(gate_call *call)
{
    if (!gate_count(call, 2, 3) || !gate_context())
        return false;
    solving s = {.target = call->in[0], .right = call->in[1]};
    s.options = call->in_count > 2 ? call->in[2] : NULL;
    if (!options_pick(s.options, &s.picked))
        return false;
    if (kept_is_id(s.target)) {
        s.kept = kept_enter(s.target);
        if (!s.kept)
            return false;
    }
    const bool good =
        find_shape(&s) && make_solver(&s) && make_vectors(&s, &call->out[0]) && run(&s);
    if (good)
        arrays_set(call->out[0], s.type, s.room);
    if (good && call->out_count > 1)
        call->out[1] = result_struct(s.results, s.count);
    end(&s);
    return good;
}
