/* Reading a netlist: scopes of parameters and subcircuits, models, and lines with a dot. */
#include "circuit/netlist.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 20 };

/* Names of parameters, subcircuits and ports. */
static void take_name(reader *r, const char *from, char name[NETLIST_NAME])
{
    if (strlen(from) >= NETLIST_NAME)
        reader_fault(r, "the name %.100s is too long", from);
    snprintf(name, NETLIST_NAME, "%.*s", NETLIST_NAME - 1, from);
}

static void add_parameter(reader *r, scope *s, const char *name)
{
    char word[WORD_SIZE];
    reader_need(r, name, word);
    parameter *p = GROWN(s->parameters, s->count, s->room);
    *p = (parameter){.line = r->line, .text = text_copy(word, strlen(word))};
    take_name(r, name, p->name);
}

/* .param a=1 b={2*a}: whatever the order of those that need each other. */
static void find_parameters(reader *r, scope *s, int64_t first)
{
    const expression_names names = {s, reader_parameter, NULL};
    char message[256] = "";
    int64_t left = first;
    for (bool found = true; left >= 0;) {
        const int64_t before = left;
        left = -1;
        if (!found) {
            r->line = s->parameters[before].line;
            reader_fault(r, "parameter %s: %s", s->parameters[before].name, message);
        }
        found = false;
        for (int64_t k = first; k < s->count; k++) {
            parameter *p = &s->parameters[k];
            if (!p->text)
                continue;
            if (reader_evaluate(&names, p->text, &p->value, message)) {
                free(p->text);
                p->text = NULL;
                found = true;
            } else {
                left = k;
            }
        }
    }
}

/* --- models ----------------------------------------------------------------------------------- */

/* .model NAME KIND(A=1 B=2) */
static void read_model(reader *r, const scope *s)
{
    circuit *c = r->c;
    char name[WORD_SIZE], kind[WORD_SIZE], full[2 * WORD_SIZE], words[CLI_WORDS] = "";
    double value, bounds[2];
    reader_paired(r);
    reader_need(r, "the name of the model", name);
    reader_need(r, "the kind of the model", kind);
    snprintf(full, sizeof full, "%s%s", s->prefix, name);
    if (names_find(r->model_names, full) >= 0)
        reader_fault(r, "there are two models %.100s", full);
    model *m = cli_alloc(sizeof *m);
    names_put(r->model_names, full, (int)c->model_count);
    *GROWN(c->models, c->model_count, c->model_room) = m;
    if (!model_kind(kind, m))
        reader_fault(r, "%.100s is no kind of model; there are: d npn pnp nmos pmos sw csw", kind);
    while (reader_pair(r, s, name, &value)) {
        if (model_set(m, name, value, bounds))
            continue;
        if (!isnan(bounds[0]))
            reader_fault(r, "%.100s=%g is out of range: %g to %g", name, value, bounds[0],
                         bounds[1]);
        model_words(m, words);
        reader_fault(r, "%.100s=%g is not known of a model %s; there are: %s", name, value, kind,
                     words);
    }
}

/* --- subcircuits ------------------------------------------------------------------------------ */

static bool begins(const char *at, const char *word)
{
    char first[WORD_SIZE];
    return text_word_next(&at, false, first) && strcmp(first, word) == 0;
}

/* The line of the .ends to the .subckt of a line. */
static int64_t end_of(reader *r, int64_t from)
{
    int depth = 0;
    for (int64_t k = from; k < r->t->count; k++) {
        depth += begins(r->t->lines[k].text, ".subckt");
        depth -= begins(r->t->lines[k].text, ".ends");
        if (depth == 0)
            return k;
    }
    reader_fault(r, "this .subckt has no .ends");
}

static const definition *find_definition(const reader *r, const char *name)
{
    for (int64_t k = 0; k < r->definition_count; k++)
        if (strcmp(r->definitions[k].name, name) == 0)
            return &r->definitions[k];
    return NULL;
}

static void define(reader *r, int64_t first, int64_t last)
{
    char word[WORD_SIZE];
    r->at = r->t->lines[first].text;
    text_word_next(&r->at, false, word);
    reader_need(r, "the name of the subcircuit", word);
    if (find_definition(r, word))
        reader_fault(r, "there are two subcircuits %.100s", word);
    definition *d = GROWN(r->definitions, r->definition_count, r->definition_room);
    *d = (definition){.first = first, .last = last};
    take_name(r, word, d->name);
}

static void read_scope(reader *r, scope *s, int64_t first, int64_t last);

/* Ports of a definition, and the values of its parameters. */
static void open_definition(reader *r, const definition *d, scope *s)
{
    char word[WORD_SIZE], value[WORD_SIZE];
    const char *kept = r->at;
    const int64_t line = r->line;
    r->line = d->first;
    r->at = r->t->lines[d->first].text;
    text_word_next(&r->at, false, word);
    text_word_next(&r->at, false, word);
    while (text_word_next(&r->at, false, word)) {
        const char *ahead = r->at;
        if (strcmp(word, "params:") == 0)
            continue;
        if (text_word_next(&ahead, false, value) && strcmp(value, "=") == 0) {
            r->at = ahead;
            add_parameter(r, s, word);
            continue;
        }
        if (reader_is_ground(word) || s->port_count == NETLIST_PORTS)
            reader_fault(r, "%.100s is no port", word);
        take_name(r, word, s->ports[s->port_count++]);
    }
    find_parameters(r, s, 0);
    r->line = line;
    r->at = kept;
}

/* Xname nodes... NAME [params: a=1 ...] */
static void read_instance(reader *r, const scope *outer)
{
    char name[WORD_SIZE], word[WORD_SIZE], next[WORD_SIZE] = "", last[WORD_SIZE] = "";
    int64_t count = 0;
    double value;
    scope s = {.parent = outer, .depth = outer->depth + 1};
    s.ports = cli_alloc(NETLIST_PORTS * sizeof *s.ports);
    s.port_unknowns = cli_alloc(NETLIST_PORTS * sizeof *s.port_unknowns);
    reader_need(r, "a name", name);
    while (text_word_next(&r->at, false, word)) {
        const char *ahead = r->at;
        if (strcmp(word, "params:") == 0 || (text_word_next(&ahead, false, next) && *next == '=')) {
            r->at -= strcmp(word, "params:") == 0 ? 0 : strlen(word);
            break;
        }
        if (*last && count == NETLIST_PORTS)
            reader_fault(r, "more than %d nodes", NETLIST_PORTS);
        if (*last)
            s.port_unknowns[count++] = reader_node(r, outer, last);
        snprintf(last, sizeof last, "%s", word);
    }
    const definition *d = find_definition(r, last);
    if (!d)
        reader_fault(r, "there is no subcircuit %.100s", last);
    if (s.depth > MOST_DEPTH || strlen(outer->prefix) + strlen(name) > WORD_SIZE / 2)
        reader_fault(r, "subcircuits are in each other more than %d deep", MOST_DEPTH);
    snprintf(s.prefix, sizeof s.prefix, "%.250s%.250s.", outer->prefix, name);
    open_definition(r, d, &s);
    if (s.port_count != count)
        reader_fault(r, "%s has %lld ports, not %lld", last, (long long)s.port_count,
                     (long long)count);
    while (reader_pair(r, outer, word, &value)) {
        int64_t k = 0;
        while (k < s.count && strcmp(s.parameters[k].name, word) != 0)
            k++;
        if (k == s.count)
            reader_fault(r, "%s has no parameter %.100s", last, word);
        s.parameters[k].value = value;
    }
    const int64_t line = r->line;
    read_scope(r, &s, d->first + 1, d->last);
    r->line = line;
    free(s.parameters);
    free(s.ports);
    free(s.port_unknowns);
}

/* --- lines with a dot ------------------------------------------------------------------------- */

static void add_analysis(reader *r, analysis a)
{
    circuit *c = r->c;
    a.line = (int)r->line;
    *GROWN(c->analyses, c->analysis_count, c->analysis_room) = a;
}

static void need_more(reader *r, bool holds, const char *what)
{
    if (!holds)
        reader_fault(r, "%s", what);
}

/* .tran STEP STOP [START [MOST]] [uic] */
static void read_tran(reader *r, const scope *s)
{
    analysis a = {.kind = ANALYSIS_TRAN};
    double *const n = a.number;
    char word[WORD_SIZE];
    int count = 0;
    while (text_word_next(&r->at, false, word))
        if (strcmp(word, "uic") == 0)
            a.uic = true;
        else if (count < 4)
            n[count++] = reader_number(r, s, word);
        else
            reader_fault(r, "%.100s is too much", word);
    need_more(r, count >= 2, "expected .tran STEP STOP");
    need_more(r, n[0] > 0 && n[1] > 0 && n[2] >= 0 && n[2] < n[1] && n[3] >= 0 && n[1] / n[0] < 1e9,
              "times have to be more than 0, START less than STOP, STEP not a billionth of it");
    if (n[3] == 0)
        n[3] = fmin(n[0], (n[1] - n[2]) / 50);
    add_analysis(r, a);
}

/* .ac dec|oct|lin COUNT FROM TO */
static void read_ac(reader *r, const scope *s)
{
    analysis a = {.kind = ANALYSIS_AC};
    char word[WORD_SIZE];
    reader_need(r, "dec, oct or lin", word);
    a.scale = *word;
    if (strcmp(word, "dec") != 0 && strcmp(word, "oct") != 0 && strcmp(word, "lin") != 0)
        reader_fault(r, "expected dec, oct or lin, not %.100s", word);
    for (int k = 0; k < 3; k++)
        a.number[k] = reader_need_number(r, s, "a number of .ac KIND COUNT FROM TO");
    need_more(
        r, a.number[0] >= 1 && a.number[0] <= 1e6 && a.number[1] > 0 && a.number[2] >= a.number[1],
        "expected COUNT of 1 to 1e6, and frequencies more than 0 that rise");
    add_analysis(r, a);
}

/* .dc SOURCE FROM TO STEP [SOURCE FROM TO STEP]; sources are found once all are read. */
static void read_dc(reader *r, const scope *s)
{
    analysis a = {.kind = ANALYSIS_DC, .sweep = {-1, -1}};
    char word[WORD_SIZE];
    double points = 1;
    for (int k = 0; k < 2; k++) {
        const char *ahead = r->at;
        if (k == 1 && !text_word_next(&ahead, false, word))
            break;
        reader_need(r, "the source of .dc", word);
        a.sweep[k] = names_find(r->c->element_names, word);
        if (a.sweep[k] < 0 || !strchr("vi", r->c->elements[a.sweep[k]].kind))
            reader_fault(r, "there is no source %.100s", word);
        double *const n = &a.number[3 * k];
        for (int i = 0; i < 3; i++)
            n[i] = reader_need_number(r, s, "a number of .dc SOURCE FROM TO STEP");
        need_more(r, n[2] != 0 && (n[1] - n[0]) / n[2] >= 0, "the step does not lead to the end");
        points *= floor((n[1] - n[0]) / n[2]) + 1;
    }
    need_more(r, points < 1e7, "more than 10 million points");
    add_analysis(r, a);
}

/* .pss period=T [steps=N]; .envelope period=T stop=T [steps=N] [most=K] */
static void read_periods(reader *r, const scope *s, int kind)
{
    static const char *const names[] = {"period", "stop", "steps", "most"};
    analysis a = {.kind = kind, .number = {0, 0, 200, 1000}};
    const double *const n = a.number;
    char word[WORD_SIZE];
    double value;
    while (reader_pair(r, s, word, &value)) {
        int k = 0;
        while (k < 4 && strcmp(word, names[k]) != 0)
            k++;
        if (k == 4 || (kind == ANALYSIS_PSS && k % 2 == 1))
            reader_fault(r, "%.100s has no place here", word);
        a.number[k] = value;
    }
    need_more(r, n[0] > 0, "period=T is missing, or not more than 0");
    need_more(r, kind == ANALYSIS_PSS || (n[1] > n[0] && n[1] < 1e9 * n[0]),
              "stop=T is missing, not more than a period, or more than a billion of them");
    need_more(r, n[2] >= 4 && n[2] <= 1e6 && n[3] >= 1, "steps are 4 to 1e6, most is 1 or more");
    add_analysis(r, a);
}

/* .ic v(a)=1 v(b)=2 */
static void read_starts(reader *r, const scope *s)
{
    circuit *c = r->c;
    char word[WORD_SIZE], name[WORD_SIZE];
    bool found;
    while (text_word_next(&r->at, false, word)) {
        if (strcmp(word, "v") != 0 || !text_word_next(&r->at, false, name))
            reader_fault(r, "expected V(NODE)=VALUE, not %.100s", word);
        const int unknown = circuit_unknown(c, name, &found);
        if (!found || unknown == 0 || *name == '#')
            reader_fault(r, "there is no node %.100s", name);
        if (!text_word_next(&r->at, false, word) || *word != '=')
            reader_fault(r, "expected V(%.100s)=VALUE", name);
        *GROWN(c->starts, c->start_count, c->start_room) =
            (start){unknown, (int)r->line, reader_need_number(r, s, name)};
    }
}

static void read_options(reader *r, const scope *s)
{
    tolerances *const tol = &r->c->tol;
    const struct {
        const char *name;
        double *value, low, high;
    } all[] = {{"reltol", &tol->relative, 1e-10, 0.1}, {"vntol", &tol->voltage, 1e-15, 1},
               {"abstol", &tol->current, 1e-20, 1},    {"gmin", &tol->gmin, 0, 1},
               {"trtol", &tol->truncation, 1e-3, 1e3}, {"envtol", &tol->envelope, 1e-8, 0.1}};
    enum { COUNT = sizeof all / sizeof *all };
    char name[WORD_SIZE], word[WORD_SIZE];
    while (reader_name(r, name)) {
        int k = 0;
        reader_need(r, name, word);
        if (strcmp(name, "method") == 0) {
            tol->gear = strcmp(word, "gear") == 0;
            if (!tol->gear && strcmp(word, "trap") != 0)
                reader_fault(r, "method is trap or gear, not %.100s", word);
            continue;
        }
        while (k < COUNT && strcmp(name, all[k].name) != 0)
            k++;
        if (k == COUNT)
            reader_fault(r,
                         "%.100s is no option; there are: reltol vntol abstol gmin trtol envtol "
                         "method",
                         name);
        const double value = reader_number(r, s, word);
        if (!(value >= all[k].low && value <= all[k].high))
            reader_fault(r, "%s is %g to %g, not %g", name, all[k].low, all[k].high, value);
        *all[k].value = value;
    }
}

/* Lines of the circuit itself, once all elements are known. */
static void read_control(reader *r, const scope *s, const char *word)
{
    circuit *c = r->c;
    if (strcmp(word, ".op") == 0)
        add_analysis(r, (analysis){.kind = ANALYSIS_OP});
    else if (strcmp(word, ".dc") == 0)
        read_dc(r, s);
    else if (strcmp(word, ".tran") == 0)
        read_tran(r, s);
    else if (strcmp(word, ".ac") == 0)
        read_ac(r, s);
    else if (strcmp(word, ".pss") == 0)
        read_periods(r, s, ANALYSIS_PSS);
    else if (strcmp(word, ".envelope") == 0)
        read_periods(r, s, ANALYSIS_ENVELOPE);
    else if (strcmp(word, ".ic") == 0)
        read_starts(r, s);
    else if (strcmp(word, ".options") == 0 || strcmp(word, ".option") == 0)
        read_options(r, s);
    else if (strcmp(word, ".measure") == 0 || strcmp(word, ".meas") == 0)
        *GROWN(c->measures, c->measure_count, c->measure_room) = r->line;
    else if (strcmp(word, ".save") == 0)
        *GROWN(c->saves, c->save_count, c->save_room) = r->line;
    else
        reader_fault(r,
                     "%.100s is not known; there are: .ac .dc .end .ends .envelope .ic .include "
                     ".measure .model .op .options .param .pss .save .subckt .tran",
                     word);
}

/* --- passes ----------------------------------------------------------------------------------- */

enum { PASS_PARAMETERS, PASS_MODELS, PASS_ELEMENTS, PASS_CONTROL, PASSES };

static void read_line(reader *r, scope *s, int pass)
{
    char word[WORD_SIZE];
    const char *const begin = r->t->lines[r->line].text;
    r->at = begin;
    if (!text_word_next(&r->at, false, word))
        return;
    const int kind = strcmp(word, ".param") == 0   ? PASS_PARAMETERS
                     : strcmp(word, ".model") == 0 ? PASS_MODELS
                     : *word == '.'                ? PASS_CONTROL
                                                   : PASS_ELEMENTS;
    if (kind != pass)
        return;
    if (kind == PASS_PARAMETERS) {
        while (reader_name(r, word))
            add_parameter(r, s, word);
    } else if (kind == PASS_MODELS) {
        read_model(r, s);
    } else if (kind == PASS_CONTROL) {
        if (s->parent)
            reader_fault(r, "%.100s has no place in a subcircuit", word);
        read_control(r, s, word);
    } else {
        r->at = begin;
        (*word == 'x' ? read_instance : reader_element)(r, s);
    }
}

static void read_scope(reader *r, scope *s, int64_t first, int64_t last)
{
    const int64_t own = s->count;
    for (int pass = 0; pass < PASSES; pass++) {
        for (r->line = first; r->line < last; r->line++) {
            if (!begins(r->t->lines[r->line].text, ".subckt")) {
                read_line(r, s, pass);
                continue;
            }
            const int64_t end = end_of(r, r->line);
            if (s->parent)
                reader_fault(r, "a subcircuit within a subcircuit: put it outside");
            if (pass == 0)
                define(r, r->line, end);
            r->line = end;
        }
        if (pass == PASS_PARAMETERS)
            find_parameters(r, s, own);
    }
}

/* Words that would be cut; expressions of B, E and G are not words. */
static void check_words(reader *r)
{
    char word[WORD_SIZE];
    for (r->line = 1; r->line < r->t->count; r->line++) {
        r->at = r->t->lines[r->line].text;
        const bool behaves = strchr("beg", tolower((unsigned char)*r->at));
        while (text_word_next(&r->at, false, word) && !(behaves && *word == '='))
            if (strlen(word) > MOST_WORD)
                reader_fault(r, "%.40s... is longer than %d characters", word, MOST_WORD);
    }
}

/* Currents that were spoken of, and are no element's. */
static void check_branches(reader *r)
{
    for (int64_t k = 1; k < r->c->size; k++)
        if (r->c->unknowns[k].current && r->branch_lines[k] >= 0) {
            r->line = r->branch_lines[k];
            reader_fault(r,
                         "%.100s is no element with a current of its own (V, L, E, H, B with V=)",
                         r->c->unknowns[k].name);
        }
}

/* Those of the circuit itself stay, for .measure. */
static void keep_parameters(circuit *c, scope *top)
{
    for (int64_t k = 0; k < top->count; k++)
        measures_add(&c->parameters, top->parameters[k].name, top->parameters[k].value);
    free(top->parameters);
}

void circuit_read(circuit *c, const char *path)
{
    reader r = {.c = c, .t = &c->text};
    scope top = {.parent = NULL};
    *c = (circuit){.tol = {1e-3, 1e-6, 1e-12, 1e-12, 1, 1e-3, false}};
    text_read(&c->text, path);
    c->unknown_names = names_new();
    c->element_names = names_new();
    r.model_names = names_new();
    snprintf(c->title, sizeof c->title, "%s", c->text.lines[0].text);
    check_words(&r);
    reader_unknown(&r, "0", false);
    read_scope(&r, &top, 1, c->text.count);
    check_branches(&r);
    if (c->count == 0)
        text_fault(&c->text, NULL, "%s: there is no element", text_name(path));
    reader_finish(&r);
    if (c->analysis_count == 0)
        add_analysis(&r, (analysis){.kind = ANALYSIS_OP});
    keep_parameters(c, &top);
    free(r.definitions);
    free(r.branch_lines);
    names_free(r.model_names);
}

void circuit_free(circuit *c)
{
    for (int64_t k = 0; k < c->count; k++) {
        element *e = &c->elements[k];
        if (e->wave)
            free(e->wave->number);
        free(e->wave);
        expression_free(e->b);
    }
    for (int64_t k = 0; k < c->model_count; k++)
        free(c->models[k]);
    free(c->models);
    free(c->elements);
    free(c->unknowns);
    free(c->analyses);
    free(c->starts);
    free(c->measures);
    free(c->saves);
    free(c->parameters.list);
    names_free(c->unknown_names);
    names_free(c->element_names);
    text_free(&c->text);
}
