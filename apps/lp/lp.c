/*
 * spry lp: linear programs. docs/lp.md has its files, its methods, what it was compared with, and
 * what it is not for.
 */
#include "lp/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, lp_options, LP_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct work {
    const lp_options *o;
    lp_model model;
    lp_answer answer;
    lp_certificate certificate;
    lp_verdict verdict;
    double proof; /* of infeasible: by how much; of unbounded: the slope of the ray */
    int crossed;  /* a variable whose bounds leave no value; -1 */
    int64_t pivots, primal;
    double read_seconds, seconds;
} work;

static const char *const verdicts[] = {"optimal", "infeasible", "unbounded",
                                       "pivots",  "stopped",    "trouble"};

/* --- from the simplex to the problem -------------------------------------------------------------
 */

static void take_answer(const lp_simplex *s, lp_answer *a)
{
    a->x = cli_alloc((size_t)(s->all + 1) * sizeof *a->x);
    a->d = cli_alloc((size_t)(s->cols + 1) * sizeof *a->d);
    a->y = cli_alloc((size_t)(s->rows + 1) * sizeof *a->y);
    a->state = cli_alloc((size_t)s->all + 1);
    memcpy(a->state, s->state, (size_t)s->all);
    for (int j = 0; j < s->cols; j++)
        a->x[j] = s->x[j] * s->scale[j];
    for (int i = 0; i < s->rows; i++)
        a->y[i] = s->price.value[i] * s->scale[s->cols + i] / s->cost_scale;
}

/* Of an unbounded problem: how fast the objective falls along the ray, over the ray's size, 0 where
 * the ray breaks a bound. */
static double slope_of(const lp_model *p, const lp_simplex *s)
{
    double slope = 0, size = 0;
    for (int k = 0; k < s->all; k++) {
        const double v = s->ray.value[k];
        size = fmax(size, fabs(v));
        if (k < p->cols)
            slope += s->true_cost[k] * v;
    }
    for (int k = 0; k < s->all; k++) {
        const double v = s->ray.value[k];
        if (fabs(v) > 1e-9 * size && isfinite(v > 0 ? s->upper[k] : s->lower[k]))
            return 0;
    }
    return size > 0 ? -slope / size : 0;
}

static int find_crossed(const lp_model *p)
{
    for (int k = 0; k < p->cols + p->rows; k++)
        if (p->lower[k] > p->upper[k])
            return k;
    return -1;
}

static int solve(work *w)
{
    lp_simplex *s = lp_simplex_new(&w->model, w->o);
    progress_start(&s->line, w->o->quiet, 1);
    w->crossed = find_crossed(&w->model);
    w->verdict = w->crossed < 0 ? lp_simplex_run(s) : LP_INFEASIBLE;
    progress_clear(&s->line);
    w->pivots = s->iterations;
    w->primal = s->primal_iterations;
    take_answer(s, &w->answer);
    if (w->crossed >= 0) {
        const double low = w->model.lower[w->crossed], high = w->model.upper[w->crossed];
        w->proof = (low - high) / (fabs(low) + fabs(high));
    } else if (w->verdict == LP_INFEASIBLE) {
        for (int i = 0; i < s->rows; i++)
            s->ray.value[i] *= s->scale[s->cols + i];
        w->proof = lp_certify_infeasible(&w->model, s->ray.value);
        memcpy(w->answer.y, s->ray.value, (size_t)s->rows * sizeof *s->ray.value);
    }
    if (w->verdict == LP_UNBOUNDED)
        w->proof = slope_of(&w->model, s);
    w->certificate = lp_certify(&w->model, &w->answer);
    lp_simplex_free(s);
    return w->verdict == LP_STOPPED   ? EXIT_STOPPED
           : w->verdict == LP_OPTIMAL ? EXIT_DONE
                                      : EXIT_UNCONVERGED;
}

/* --- what is printed and written -----------------------------------------------------------------
 */

static double shown(const work *w)
{
    return w->model.maximise ? -w->certificate.objective : w->certificate.objective;
}

static void print(const work *w)
{
    const lp_certificate *c = &w->certificate;
    static const char *const heads[] = {
        "optimal: %s %s",
        "infeasible: no x is within all bounds, found after %s %s",
        "unbounded: the objective has no end, found after %s %s",
        "not solved: as many as are allowed, %s %s",
        "stopped after %s %s",
        "not solved: rounding lets the simplex method go no further, after %s %s"};
    printf(heads[w->verdict], text_count(w->pivots), w->pivots == 1 ? "pivot" : "pivots");
    printf(w->primal > 0 ? ", %s of them primal\n" : "\n", text_count(w->primal));
    printf("problem    %s%s%s rows, %s columns, %s entries\n", text_name(w->model.name),
           *w->model.name ? ": " : "", text_count(w->model.rows), text_count(w->model.cols),
           text_count(w->model.by_col.start[w->model.cols]));
    if (w->verdict == LP_OPTIMAL)
        printf("objective  %.12g, the %s\n", shown(w), w->model.maximise ? "most" : "least");
    if (w->verdict == LP_INFEASIBLE && w->crossed >= 0)
        printf("proof      the lower bound of %s is %g, the upper one %g\n",
               text_name(w->model.names[w->crossed]), w->model.lower[w->crossed],
               w->model.upper[w->crossed]);
    else if (w->verdict == LP_INFEASIBLE)
        printf(
            "proof      the rows by their multipliers contradict each other, by %.1e of what was "
            "added%s\n",
            w->proof, w->proof > 0 ? "" : ": no proof");
    if (w->verdict == LP_UNBOUNDED)
        printf("proof      a ray within all bounds along which the objective falls by %.1e of its "
               "length%s\n",
               w->proof, w->proof > 0 ? "" : ": no proof");
    if (w->verdict == LP_OPTIMAL)
        printf("true       bounds broken by %.1e at most (%.1e of their terms), reduced costs by "
               "%.1e (%.1e), gap %.1e\n",
               c->primal, c->primal_relative, c->dual, c->dual_relative, c->gap);
    printf("time       %s reading, %s solving\n", text_seconds(w->read_seconds),
           text_seconds(w->seconds));
}

static void write_json(FILE *out, const void *data)
{
    const work *w = data;
    const lp_certificate *c = &w->certificate;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "name", w->model.name);
    json_text(&j, "verdict", verdicts[w->verdict]);
    json_int(&j, "rows", w->model.rows);
    json_int(&j, "cols", w->model.cols);
    json_int(&j, "nnz", w->model.by_col.start[w->model.cols]);
    json_real(&j, "objective", w->verdict == LP_OPTIMAL ? shown(w) : NAN);
    json_real(&j, "proof",
              w->verdict == LP_INFEASIBLE || w->verdict == LP_UNBOUNDED ? w->proof : NAN);
    json_real(&j, "primal_error", c->primal);
    json_real(&j, "primal_error_relative", c->primal_relative);
    json_real(&j, "dual_error", c->dual);
    json_real(&j, "dual_error_relative", c->dual_relative);
    json_real(&j, "gap", c->gap);
    json_int(&j, "pivots", w->pivots);
    json_int(&j, "primal_pivots", w->primal);
    json_real(&j, "read_seconds", w->read_seconds);
    json_real(&j, "solve_seconds", w->seconds);
    json_close(&j, '}');
}

/* A line a column, then one a row: name, value, reduced cost or multiplier, where it stands. */
static void write_answer(FILE *out, const void *data)
{
    static const char *const states[] = {"basic", "lower", "upper", "free"};
    const work *w = data;
    const double sign = w->model.maximise ? -1 : 1;
    fputs("name\tkind\tvalue\tdual\tstate\n", out);
    for (int k = 0; k < w->model.cols + w->model.rows; k++)
        fprintf(out, "%s\t%s\t%.17g\t%.17g\t%s\n", w->model.names[k],
                k < w->model.cols ? "column" : "row", w->answer.x[k],
                sign * (k < w->model.cols ? w->answer.d[k] : w->answer.y[k - w->model.cols]),
                states[(int)w->answer.state[k]]);
}

/* XU, XL: a column that is basic for a row that is at its upper or lower bound; UL, LL: a column at
 * a bound. Rows are basic unless they are named. */
static void write_basis(FILE *out, const void *data)
{
    const work *w = data;
    const int n = w->model.cols, m = w->model.rows;
    const signed char *state = w->answer.state;
    int i = 0;
    fprintf(out, "NAME          %s\n", w->model.name);
    for (int j = 0; j < n; j++) {
        if (state[j] == LP_BASIC) {
            while (i < m && state[n + i] == LP_BASIC)
                i++;
            if (i < m)
                fprintf(out, " %s %s %s\n", state[n + i] == LP_AT_UPPER ? "XU" : "XL",
                        w->model.names[j], w->model.names[n + i]);
            i++;
        } else if (state[j] != LP_FREE) {
            fprintf(out, " %s %s\n", state[j] == LP_AT_UPPER ? "UL" : "LL", w->model.names[j]);
        }
    }
    fputs("ENDATA\n", out);
}

static int write_all(spry_context *ctx, const work *w)
{
    const struct {
        const char *path;
        void (*write)(FILE *out, const void *data);
    } files[] = {
        {w->o->output, write_answer}, {w->o->basis, write_basis}, {w->o->json, write_json}};
    int exit_status = EXIT_DONE;
    for (size_t k = 0; k < sizeof files / sizeof *files && exit_status == EXIT_DONE; k++)
        if (files[k].path)
            exit_status = file_write_text(ctx, files[k].path, files[k].write, w);
    return exit_status;
}

static int execute(spry_context *ctx, const cli_arguments *arguments)
{
    work *w = cli_alloc(sizeof *w);
    *w = (work){.o = arguments->fields[0]};
    const double begin = cli_clock();
    signals_watch(ctx);
    int exit_status = EXIT_DONE;
    for (const char *const *path = (const char *const[]){w->o->output, w->o->basis, w->o->json, ""};
         exit_status == EXIT_DONE && (!*path || **path); path++)
        if (*path)
            exit_status = file_check_text(ctx, *path);
    if (exit_status == EXIT_DONE)
        exit_status = lp_read(arguments->operands[0], &w->model);
    w->read_seconds = cli_clock() - begin;
    if (exit_status == EXIT_DONE) {
        exit_status = solve(w);
        w->seconds = cli_clock() - begin - w->read_seconds;
        if (!w->o->json || !file_is_stdout(w->o->json))
            print(w);
        const int written = write_all(ctx, w);
        exit_status = written == EXIT_DONE ? exit_status : written;
    }
    signals_unwatch();
    lp_model_free(&w->model);
    free(w->answer.x);
    free(w->answer.y);
    free(w->answer.d);
    free(w->answer.state);
    free(w);
    return exit_status;
}

const cli_command app_command = {
    .name = "lp",
    .summary = "linear programs: the simplex method, with a certificate of each answer",
    .synopsis = "FILE",
    .description =
        "Reads a linear program in MPS (fixed or free, gzip or not) and finds the least or the "
        "most "
        "of its objective by the dual and the primal simplex method. What is printed of the answer "
        "is computed anew from the file's own numbers, with sums of twice the precision; of a "
        "problem without an answer, the proof.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples = (const cli_example[]){{"spry lp afiro.mps.gz -o afiro.tsv",
                                       "The objective, and all numbers as a table."},
                                      {"spry lp plan.mps --json", "For programs."},
                                      {0}},
    .least = 1,
    .most = 1,
    .run = execute,
};
