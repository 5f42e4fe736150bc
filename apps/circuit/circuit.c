/*
 * spry circuit: netlists of SPICE. docs/circuit.md has its language, its methods, what it was
 * compared with, and what it is not for.
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, circuit_options, CIRCUIT_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

/* --- analyses without time -------------------------------------------------------------------- */

static void run_op(run *r, const analysis *a)
{
    double *x = zeros(r->c->size);
    (void)a;
    if (newton_operate(&r->s, x))
        results_add(&r->results, 0, x, NULL);
    free(x);
}

/* Each point begins at the one before; where that fails, anew. */
static void run_dc(run *r, const analysis *a)
{
    const double *n = a->number;
    double none = 0, *first = &r->c->elements[a->sweep[0]].wave->dc;
    double *second = a->sweep[1] >= 0 ? &r->c->elements[a->sweep[1]].wave->dc : &none;
    const double kept[2] = {*first, *second};
    const int64_t count = (int64_t)floor((n[1] - n[0]) / n[2] + 1e-9) + 1;
    const int64_t members = second != &none ? (int64_t)floor((n[4] - n[3]) / n[5] + 1e-9) + 1 : 1;
    double *x = zeros(r->c->size);
    for (int64_t k = 0; k < count * members && r->s.exit_status == EXIT_DONE; k++) {
        *first = n[0] + (double)(k % count) * n[2];
        *second = n[3] + (double)(k / count) * n[5];
        equations_sources(&r->s, 0);
        if ((k > 0 && newton_step(&r->s, 0, NULL, x) && !switches_take(&r->s, x, true)) ||
            (r->s.exit_status == EXIT_DONE && newton_operate(&r->s, x)))
            results_add(&r->results, *first, x, NULL);
    }
    *first = kept[0];
    *second = kept[1];
    free(x);
}

/* --- what is printed -------------------------------------------------------------------------- */

static const char *const names[] = {"operating point", "sweep",        "transient",
                                    "small signals",   "steady state", "envelope"};

static void print_op(const results *r)
{
    table *t = table_new("unknown|>value");
    for (int k = 1; k < r->shown; k++) {
        table_cell(t, "%.60s", text_name(r->columns[k].name));
        table_cell(t, "%.6g", results_at(r, 0, k, false));
    }
    table_print(t, stdout);
}

static void print_analysis(const run *r, const analysis *a)
{
    const equations *s = &r->s;
    if (a->kind == ANALYSIS_OP && r->results.rows > 0)
        print_op(&r->results);
    printf("%-15s %s points; %s steps, %s rejected; %s factors, %s solves", names[a->kind],
           text_count(r->results.rows), text_count(s->steps), text_count(s->rejected),
           text_count(s->factors), text_count(s->solves));
    if (a->kind == ANALYSIS_ENVELOPE)
        printf("; %s periods computed of %.0f, %s jumps, %s products", text_count(r->periods),
               ceil(a->number[1] / a->number[0] - 1e-9), text_count(r->jumps),
               text_count(r->krylov));
    if (a->kind == ANALYSIS_PSS)
        printf("; %s periods, %s products", text_count(r->periods), text_count(r->krylov));
    if (a->kind >= ANALYSIS_PSS)
        printf("; %s of updates", text_seconds(r->update_seconds));
    printf("; %s\n", text_seconds(r->seconds));
}

static void print_measures(const run *r)
{
    if (r->measures.count == 0)
        return;
    table *t = table_new("measure|>value");
    for (int64_t k = 0; k < r->measures.count; k++) {
        table_cell(t, "%.60s", text_name(r->measures.list[k].name));
        if (isfinite(r->measures.list[k].value))
            table_cell(t, "%.6g", r->measures.list[k].value);
        else
            table_cell(t, "not found");
    }
    table_print(t, stdout);
}

/* --- all -------------------------------------------------------------------------------------- */

typedef struct record {
    int kind;
    int64_t points, steps, rejected, factors, solves, iterations, periods, jumps, krylov;
    double seconds, update_seconds;
    bool complete;
} record;

typedef struct work {
    run run;
    circuit circuit;
    record *records;
    int64_t count;
    bool silent; /* the standard output is for JSON */
} work;

static void write_json(FILE *out, const void *data)
{
    const work *w = data;
    const circuit *c = &w->circuit;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "title", c->title);
    json_int(&j, "elements", c->count);
    json_int(&j, "unknowns", c->size - 1);
    json_int(&j, "entries", w->run.s.entries);
    json_open(&j, "analyses", '[');
    for (int64_t k = 0; k < w->count; k++) {
        const record *r = &w->records[k];
        const struct {
            const char *name;
            int64_t value;
        } all[] = {{"points", r->points},   {"steps", r->steps},   {"rejected", r->rejected},
                   {"factors", r->factors}, {"solves", r->solves}, {"iterations", r->iterations},
                   {"periods", r->periods}, {"jumps", r->jumps},   {"products", r->krylov}};
        json_open(&j, NULL, '{');
        json_text(&j, "analysis", names[r->kind]);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            json_int(&j, all[i].name, all[i].value);
        json_real(&j, "seconds", r->seconds);
        json_real(&j, "update_seconds", r->update_seconds);
        json_bool(&j, "complete", r->complete);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "measures", '{');
    for (int64_t k = 0; k < w->run.measures.count; k++)
        json_real(&j, w->run.measures.list[k].name, w->run.measures.list[k].value);
    json_close(&j, '}');
    json_close(&j, '}');
}

/* Lines without losses remember longer than a period, which begins with x alone. */
static void check_kind(const circuit *c, const analysis *a)
{
    for (int64_t k = 0; k < c->count; k++)
        if (a->kind >= ANALYSIS_PSS && c->elements[k].kind == 't')
            text_fault(&c->text, &c->text.lines[a->line],
                       "%s is a line without losses: not with .pss and .envelope",
                       c->elements[k].name);
}

static void reset(run *r)
{
    equations *s = &r->s;
    s->factors = s->solves = s->iterations = s->steps = s->rejected = 0;
    r->periods = r->jumps = r->krylov = 0;
    r->update_seconds = 0;
    r->top[0] = r->top[1] = 0;
    memset(r->most, 0, (size_t)r->c->size * sizeof *r->most);
    s->transient = s->waves = false;
}

/* An analysis and its files (number 0: none); what there is of one that failed is written as well.
 */
static void run_analysis(work *w, const analysis *a, int number)
{
    static void (*const runs[])(run *, const analysis *) = {run_op, run_dc,  run_transient,
                                                            run_ac, run_pss, run_envelope};
    run *r = &w->run;
    const double begin = cli_clock();
    const bool gear = r->c->tol.gear;
    int *const exit_status = &r->s.exit_status;
    results_make(&r->results, r->c, r->o->show, a->kind);
    reset(r);
    check_kind(r->c, a);
    runs[a->kind](r, a);
    r->c->tol.gear = gear;
    r->seconds = cli_clock() - begin;
    w->records[w->count++] = (record){a->kind,
                                      r->results.rows,
                                      r->s.steps,
                                      r->s.rejected,
                                      r->s.factors,
                                      r->s.solves,
                                      r->s.iterations,
                                      r->periods,
                                      r->jumps,
                                      r->krylov,
                                      r->seconds,
                                      r->update_seconds,
                                      *exit_status == EXIT_DONE};
    if (r->results.rows > 0) {
        signals_target(NULL);
        if (!w->silent)
            print_analysis(r, a);
        measure_all(r->c, &r->results, &r->measures);
        /* an operating point beside other analyses is printed alone */
        const int written =
            number > 0 ? results_write(r->s.ctx, r->o, &r->results, number) : EXIT_DONE;
        *exit_status = *exit_status == EXIT_DONE ? written : *exit_status;
        signals_target(r->s.ctx);
    }
    results_free(&r->results);
}

static int run_all(work *w)
{
    run *r = &w->run;
    circuit *c = &w->circuit;
    int number = 0;
    measure_all(c, NULL, NULL);
    if (!equations_make(r->s.ctx, r->o, c, &r->s))
        return r->s.exit_status;
    r->most = zeros(c->size);
    r->smooth = cli_alloc((size_t)c->size * sizeof *r->smooth);
    w->records = cli_alloc((size_t)c->analysis_count * sizeof *w->records);
    w->silent = r->o->json && file_is_stdout(r->o->json);
    progress_start(&r->line, r->o->quiet, 1);
    if (!w->silent)
        printf("%-15s %s elements, %s unknowns, %s entries\n", "circuit", text_count(c->count),
               text_count(c->size - 1), text_count(r->s.entries));
    for (int64_t k = 0; k < c->analysis_count && r->s.exit_status == EXIT_DONE; k++) {
        const bool written = c->analyses[k].kind != ANALYSIS_OP || c->analysis_count == 1;
        number += written;
        run_analysis(w, &c->analyses[k], written ? number : 0);
    }
    const int exit_status = r->s.exit_status;
    if (!w->silent)
        print_measures(r);
    if (!r->o->json || (exit_status != EXIT_DONE && exit_status != EXIT_UNCONVERGED &&
                        exit_status != EXIT_STOPPED))
        return exit_status;
    signals_target(NULL); /* the record of what was stopped is written as well */
    const int written = file_write_text(r->s.ctx, r->o->json, write_json, w);
    signals_target(r->s.ctx);
    return exit_status == EXIT_DONE ? written : exit_status;
}

static int execute(spry_context *ctx, const cli_arguments *arguments)
{
    work *w = cli_alloc(sizeof *w);
    *w = (work){.run = {.o = arguments->fields[0], .s = {.ctx = ctx}}};
    w->run.c = &w->circuit;
    signals_watch(ctx);
    spry_context_set_log(ctx, NULL, NULL);
    int exit_status = results_check(ctx, w->run.o);
    if (exit_status == EXIT_DONE) {
        circuit_read(&w->circuit, arguments->operands[0]);
        exit_status = run_all(w);
    }
    signals_unwatch();
    equations_free(&w->run.s);
    free(w->run.most);
    free(w->run.smooth);
    free(w->run.measures.list);
    free(w->records);
    circuit_free(&w->circuit);
    free(w);
    return exit_status;
}

const cli_command app_command = {
    .name = "circuit",
    .summary = "circuits: netlists, operating points, transients, small signals, envelopes",
    .synopsis = "NETLIST",
    .description =
        "Reads a netlist in SPICE's language (-: the standard input) and does what its lines .op, "
        ".dc, .tran, .ac, .pss "
        "and "
        ".envelope ask for; without one, it finds the operating point. Equations are those of "
        "modified "
        "nodal analysis, whose matrix keeps its pattern and its ordering for the whole run.\n"
        ".envelope follows converters over many periods of their clock, most of which it skips; "
        ".pss finds what repeats with a period.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){{"spry circuit filter.cir -o filter.csv --plot filter.svg",
                               "What the netlist asks for, as numbers and as a picture."},
                              {"spry circuit buck.cir --show 'V(out) I(l1)' --plot buck.svg",
                               "Two of its waveforms."},
                              {"spry circuit grid.cir --method auto", "A grid with many nodes."},
                              {0}},
    .least = 1,
    .most = 1,
    .run = execute,
};
