/* The matrix: its pattern, which stays for the whole run, its numbers, and solves with it. */
#include "circuit/circuit.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int compare_columns(const void *a, const void *b)
{
    const int32_t l = *(const int32_t *)a, r = *(const int32_t *)b;
    return (l > r) - (l < r);
}

/* A branch's current in its nodes, and their voltage in its equation. */
static void add_branch(equations *s, const element *e, double sign)
{
    const int a = e->node[0], b = e->node[1], j = e->branch;
    put_linear_g(s, a, j, 1);
    put_linear_g(s, b, j, -1);
    put_linear_g(s, j, a, sign);
    put_linear_g(s, j, b, -sign);
}

static void add_linear(equations *s, const element *e)
{
    const int *n = e->node, j = e->branch;
    switch (e->kind) {
    case 'r':
        put_between(s, put_linear_g, n[0], n[1], 1 / e->value);
        break;
    case 'c':
        put_between(s, put_linear_c, n[0], n[1], e->value);
        break;
    case 'l':
        add_branch(s, e, -1);
        put_linear_c(s, j, j, e->value);
        break;
    case 'k':
        put_linear_c(s, e->control, e->other, e->value);
        put_linear_c(s, e->other, e->control, e->value);
        break;
    case 'v':
        add_branch(s, e, 1);
        break;
    case 'e':
        add_branch(s, e, 1);
        put_linear_g(s, j, n[2], -e->value);
        put_linear_g(s, j, n[3], e->value);
        break;
    case 'h':
        add_branch(s, e, 1);
        put_linear_g(s, j, e->control, -e->value);
        break;
    case 'g':
        put_linear_g(s, n[0], n[2], e->value);
        put_linear_g(s, n[0], n[3], -e->value);
        put_linear_g(s, n[1], n[2], -e->value);
        put_linear_g(s, n[1], n[3], e->value);
        break;
    case 'f':
        put_linear_g(s, n[0], e->control, e->value);
        put_linear_g(s, n[1], e->control, -e->value);
        break;
    default:
        break;
    }
}

/* --- elements that are not linear, or change -------------------------------------------------- */

static void device_behaviour(equations *s, const element *e, const double *x)
{
    const int *unknowns, count = expression_unknowns(e->b, &unknowns);
    const int a = e->node[0], b = e->node[1], j = e->branch;
    double slopes[EXPRESSION_UNKNOWNS] = {0};
    const double value = expression_value(e->b, x, s->time, slopes);
    if (j != 0) {
        s->f[a] += x[j];
        s->f[b] -= x[j];
        s->f[j] += x[a] - x[b] - value * s->scale;
        put_g(s, a, j, 1);
        put_g(s, b, j, -1);
        put_g(s, j, a, 1);
        put_g(s, j, b, -1);
        for (int k = 0; k < count; k++)
            put_g(s, j, unknowns[k], -slopes[k] * s->scale);
        return;
    }
    s->f[a] += value * s->scale;
    s->f[b] -= value * s->scale;
    for (int k = 0; k < count; k++) {
        put_g(s, a, unknowns[k], slopes[k] * s->scale);
        put_g(s, b, unknowns[k], -slopes[k] * s->scale);
    }
}

static void device_switch(equations *s, const element *e, const double *x)
{
    const int a = e->node[0], b = e->node[1];
    const double g = 1 / e->model->number[e->on ? S_ON : S_OFF], current = g * (x[a] - x[b]);
    s->f[a] += current;
    s->f[b] -= current;
    put_between(s, put_g, a, b, g);
}

/* v1 - Z i1 is the wave that the other end has sent (F. Branin, 1967); at rest, that it sends. */
static void device_line(equations *s, const element *e, const double *x)
{
    for (int end = 0; end < 2; end++) {
        const int *n = e->node + 2 * end, *m = e->node + 2 * (1 - end);
        const int j = end == 0 ? e->branch : e->other, k = end == 0 ? e->other : e->branch;
        const double now = s->transient ? 0 : 1;
        s->f[n[0]] += x[j];
        s->f[n[1]] -= x[j];
        s->f[j] +=
            x[n[0]] - x[n[1]] - e->value * x[j] - now * (x[m[0]] - x[m[1]] + e->value * x[k]);
        put_g(s, n[0], j, 1);
        put_g(s, n[1], j, -1);
        put_g(s, j, n[0], 1);
        put_g(s, j, n[1], -1);
        put_g(s, j, j, -e->value);
        put_g(s, j, m[0], -now);
        put_g(s, j, m[1], now);
        put_g(s, j, k, -now * e->value);
    }
}

static void add_other(equations *s, element *e, const double *x)
{
    switch (e->kind) {
    case 'd':
        device_diode(s, e, x);
        break;
    case 'q':
        device_bipolar(s, e, x);
        break;
    case 'm':
        device_mosfet(s, e, x);
        break;
    case 'b':
        device_behaviour(s, e, x);
        break;
    case 't':
        device_line(s, e, x);
        break;
    default:
        device_switch(s, e, x);
    }
}

/* --- the pattern ------------------------------------------------------------------------------ */

static void sort_places(equations *s)
{
    const int64_t pairs = s->tape_count / 2;
    int64_t kept = 0;
    for (int64_t k = 0; k < pairs; k++)
        s->offsets[s->tape[2 * k]]++;
    for (int64_t i = 0; i < s->rows; i++)
        s->offsets[i + 1] += s->offsets[i];
    s->columns = cli_alloc((size_t)(pairs + 1) * sizeof *s->columns);
    for (int64_t k = pairs; k-- > 0;)
        s->columns[--s->offsets[s->tape[2 * k]]] = (int32_t)s->tape[2 * k + 1] - 1;
    /* offsets[i] now begins row i - 1, and the last row ends with all */
    for (int64_t i = 1; i <= s->rows; i++) {
        const int64_t first = s->offsets[i], last = i < s->rows ? s->offsets[i + 1] : pairs;
        qsort(s->columns + first, (size_t)(last - first), sizeof *s->columns, compare_columns);
        s->offsets[i - 1] = kept;
        for (int64_t k = first; k < last; k++)
            if (k == first || s->columns[k] != s->columns[k - 1])
                s->columns[kept++] = s->columns[k];
    }
    s->offsets[s->rows] = s->entries = kept;
}

static void stamp_all(equations *s)
{
    circuit *c = s->c;
    for (int64_t k = 1; k <= s->rows; k++) /* gmin stepping, .ic */
        if (s->stamping == STAMP_PLACES && !c->unknowns[k].current)
            put_linear_g(s, (int)k, (int)k, 0);
    for (int64_t k = 0; k < c->count; k++)
        if (strchr("rclkvieghf", c->elements[k].kind))
            add_linear(s, &c->elements[k]);
    for (int64_t k = 0; k < s->other_count; k++)
        add_other(s, &c->elements[s->others[k]], s->change);
}

static void find_others(equations *s)
{
    const circuit *c = s->c;
    s->others = cli_alloc((size_t)(c->count + 1) * sizeof *s->others);
    s->sources = cli_alloc((size_t)(c->count + 1) * sizeof *s->sources);
    s->linear = true;
    for (int64_t k = 0; k < c->count; k++) {
        if (c->elements[k].wave || c->elements[k].kind == 't')
            s->sources[s->source_count++] = (int)k;
        if (strchr("rclkvieghf", c->elements[k].kind))
            continue;
        s->others[s->other_count++] = (int)k;
        s->linear = s->linear && strchr("swt", c->elements[k].kind);
    }
}

/* J = G + a C as a matrix; false where it is not finite. */
static bool make_matrix(equations *s, double a, kept_matrix *J)
{
    bool finite = true;
    for (int64_t k = 0; k < s->entries; k++) {
        J->values[k] = a != 0 ? s->G[k] + a * s->C[k] : s->G[k];
        finite = finite && isfinite(J->values[k]);
    }
    return finite &&
           equations_good(s, J->A ? spry_matrix_set_values(J->A, J->values, SPRY_OWN_BORROW)
                                  : spry_matrix_from_csr(s->ctx, SPRY_TYPE_D, s->rows, s->rows,
                                                         s->offsets, s->columns, J->values,
                                                         SPRY_OWN_BORROW, &J->A));
}

bool equations_make(spry_context *ctx, const circuit_options *o, circuit *c, equations *s)
{
    *s = (equations){.ctx = ctx,
                     .o = o,
                     .c = c,
                     .rows = c->size - 1,
                     .gmin = c->tol.gmin,
                     .scale = 1,
                     .kept = NAN};
    double **const arrays[] = {&s->f, &s->q, &s->b, &s->right, &s->change};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k] = zeros(c->size);
    find_others(s);
    s->offsets = cli_alloc((size_t)(s->rows + 2) * sizeof *s->offsets);
    s->stamping = STAMP_PLACES;
    stamp_all(s);
    sort_places(s);
    double **const numbers[] = {&s->G0, &s->C0, &s->G, &s->C, &s->system.values};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        *numbers[k] = zeros(s->entries + 1);
    s->tape_count = 0;
    s->stamping = STAMP_SLOTS;
    stamp_all(s);
    s->stamping = STAMP_NUMBERS;
    s->diagonal = cli_alloc((size_t)c->size * sizeof *s->diagonal);
    for (int64_t k = 0; k < c->size; k++)
        s->diagonal[k] = k == 0 || c->unknowns[k].current ? -1 : equations_slot(s, (int)k, (int)k);
    if (!make_matrix(s, 0, &s->system) ||
        !equations_good(s, cli_open_device(ctx, o->device, &s->device)))
        return false;
    if (strcmp(o->method, "direct") == 0)
        return true;
    char number[SPRY_NUMBER_SIZE];
    const char *const tol = spry_number_print(o->linear_tol, number);
    return equations_good(
               s, app_solver(ctx, o->method, o->precon, o->device, s->system.A, &s->solver)) &&
           equations_good(s, spry_solver_set_text(s->solver, "tol", tol));
}

void equations_free(equations *s)
{
    void *const all[] = {s->offsets,       s->columns,  s->G0,     s->C0,     s->G,     s->C,
                         s->system.values, s->f,        s->q,      s->b,      s->right, s->change,
                         s->tape,          s->diagonal, s->others, s->sources};
    spry_solver_free(s->solver);
    spry_operator_free(s->system.op);
    spry_matrix_free(s->system.A);
    lines_free(s);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

/* --- numbers ---------------------------------------------------------------------------------- */

void equations_multiply(const equations *s, const double *values, const double *x, double *y)
{
    y[0] = 0;
    for (int64_t i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int64_t k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            sum += values[k] * x[s->columns[k] + 1];
        y[i + 1] = sum;
    }
}

/* Nodes of .ic: x is given, whatever flows. */
static void pin(equations *s, const double *x)
{
    for (int64_t k = 0; s->pinned && k < s->c->start_count; k++) {
        const int row = s->c->starts[k].unknown;
        const size_t bytes = (size_t)(s->offsets[row] - s->offsets[row - 1]) * sizeof *s->G;
        memset(s->G + s->offsets[row - 1], 0, bytes);
        memset(s->C + s->offsets[row - 1], 0, bytes);
        s->G[s->diagonal[row]] = 1;
        s->f[row] = x[row];
        s->q[row] = 0;
        s->b[row] = s->c->starts[k].value;
    }
}

void equations_evaluate(equations *s, const double *x)
{
    memcpy(s->G, s->G0, (size_t)s->entries * sizeof *s->G);
    memcpy(s->C, s->C0, (size_t)s->entries * sizeof *s->C);
    equations_multiply(s, s->G0, x, s->f);
    equations_multiply(s, s->C0, x, s->q);
    s->cursor = 0;
    s->limited = false;
    for (int64_t k = 0; k < s->other_count; k++)
        add_other(s, &s->c->elements[s->others[k]], x);
    for (int64_t k = 1; s->shunt > 0 && k <= s->rows; k++)
        if (s->diagonal[k] >= 0) {
            s->G[s->diagonal[k]] += s->shunt;
            s->f[k] += s->shunt * (x[k] - (s->anchor ? s->anchor[k] : 0));
        }
    pin(s, x);
}

void equations_sources(equations *s, double t)
{
    const circuit *c = s->c;
    s->time = t;
    memset(s->b, 0, (size_t)(s->rows + 1) * sizeof *s->b);
    for (int64_t k = 0; k < s->source_count; k++) {
        const element *e = &c->elements[s->sources[k]];
        if (e->kind == 't' && s->transient) {
            s->b[e->branch] += line_wave(s, e, 1, t - e->second);
            s->b[e->other] += line_wave(s, e, 0, t - e->second);
        }
        if (!e->wave)
            continue;
        const double value = s->scale * (s->waves ? wave_value(e->wave, t) : e->wave->dc);
        if (e->kind == 'v') {
            s->b[e->branch] += value;
        } else {
            s->b[e->node[0]] -= value;
            s->b[e->node[1]] += value;
        }
    }
}

/* --- solves ----------------------------------------------------------------------------------- */

void equations_failed(equations *s, const char *format, ...)
{
    char message[2 * WORD_SIZE];
    va_list arguments;
    if (s->exit_status != EXIT_DONE)
        return;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    s->exit_status = cli_fail(EXIT_UNCONVERGED, "%s: %s", text_name(s->c->text.files[0]), message);
}

bool equations_good(equations *s, spry_status status)
{
    if (status == SPRY_STATUS_OK && signals_pending())
        status = SPRY_STATUS_INTERRUPTED;
    if (status != SPRY_STATUS_OK && s->exit_status == EXIT_DONE)
        s->exit_status = cli_failed(s->ctx, status);
    return s->exit_status == EXIT_DONE;
}

/* Singular matrices are bad input; all other failures end the run. */
static bool is_regular(equations *s, spry_status status)
{
    return status != SPRY_STATUS_BAD_INPUT && equations_good(s, status);
}

/* On devices exact factors of ilutp are: those of direct stay on the host, or need cuDSS. */
bool equations_factor(equations *s, double a, spry_device *device, kept_matrix *J)
{
    if (!make_matrix(s, a, J))
        return false;
    s->factors++;
    const char *const spec = device ? "ilutp:tau=0,fill=1e6" : "direct:kind=sparse";
    if (is_regular(s, J->op ? spry_operator_update(J->op, J->A)
                            : spry_precon_new(J->A, device, spec, &J->op)))
        return true;
    spry_operator_free(J->op);
    J->op = NULL;
    return false;
}

bool equations_vectors(equations *s, const double *right, double *change, spry_vector *v[2])
{
    double *const arrays[2] = {(double *)(uintptr_t)right + 1, change + 1};
    v[0] = v[1] = NULL;
    for (int k = 0; k < 2 && s->exit_status == EXIT_DONE; k++)
        equations_good(
            s, spry_vector_new(s->ctx, SPRY_TYPE_D, s->rows, arrays[k], SPRY_OWN_BORROW, &v[k]));
    return s->exit_status == EXIT_DONE;
}

bool equations_solve(equations *s, double a)
{
    const bool fresh = !s->linear || s->turned || a != s->kept || s->shunt > 0 || s->pinned;
    spry_vector *v[2] = {NULL, NULL};
    spry_result result = SPRY_RESULT_INIT;
    bool done = true;
    s->a = a;
    if (fresh)
        done = s->solver ? make_matrix(s, a, &s->system) : equations_factor(s, a, NULL, &s->system);
    memset(s->change, 0, (size_t)(s->rows + 1) * sizeof *s->change);
    if (done && equations_vectors(s, s->right, s->change, v)) {
        done = is_regular(s, s->solver ? spry_solve(s->solver, v[0], v[1], &result)
                                       : spry_operator_apply(s->system.op, v[0], v[1]));
        done = done && (!s->solver || result.converged);
        s->unsolved = s->solver && !done;
        s->iterations += result.iterations;
        s->solves++;
    }
    spry_vector_free(v[0]);
    spry_vector_free(v[1]);
    spry_result_clear(s->ctx, &result);
    for (int64_t k = 1; done && k <= s->rows; k++)
        done = isfinite(s->change[k]);
    s->kept = done && s->shunt == 0 && !s->pinned ? a : NAN;
    s->turned = false;
    return done;
}

const char *equations_reason(const equations *s, const char *otherwise, char text[2 * WORD_SIZE])
{
    if (!s->unsolved)
        return otherwise;
    snprintf(text, 2 * WORD_SIZE,
             "--method %.200s with --precon %.200s did not solve a linear system; --method direct "
             "does, unless the matrix is singular",
             s->o->method, s->o->precon);
    return text;
}

void equations_write(equations *s)
{
    char path[4096];
    const char *name = s->o->matrices, *dot = name ? strrchr(name, '.') : NULL;
    spry_vector *v[2];
    if (!name || s->written >= s->o->most_matrices)
        return;
    s->written++;
    s->kept = NAN;
    const int stem = dot && !strchr(dot, '/') ? (int)(dot - name) : (int)strlen(name);
    const char *ending = name[stem] ? name + stem : ".mtx";
    snprintf(path, sizeof path, "%.*s-%lld%s", stem, name, (long long)s->written, ending);
    if (!make_matrix(s, s->a, &s->system) ||
        !equations_good(s, spry_matrix_write(s->system.A, path)))
        return;
    snprintf(path, sizeof path, "%.*s-%lld-b%s", stem, name, (long long)s->written, ending);
    if (equations_vectors(s, s->right, s->change, v))
        equations_good(s, spry_vector_write(v[0], path));
    spry_vector_free(v[0]);
    spry_vector_free(v[1]);
}
