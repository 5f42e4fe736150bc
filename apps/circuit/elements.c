/* Reading elements: a letter says what a line is. */
#include "circuit/netlist.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 50000000, MOST_POINTS = 1000000 };

static element *add_element(reader *r, const scope *s, const char *name)
{
    circuit *c = r->c;
    char full[2 * WORD_SIZE];
    snprintf(full, sizeof full, "%s%.200s", s->prefix, name);
    if (strlen(name) > MOST_NAME)
        reader_fault(r, "%.40s... is longer than %d characters", name, MOST_NAME);
    if (names_find(c->element_names, full) >= 0)
        reader_fault(r, "there are two elements %.100s", full);
    if (c->count >= MOST_ELEMENTS)
        reader_fault(r, "there are more than %d elements", MOST_ELEMENTS);
    element *e = GROWN(c->elements, c->count, c->element_room);
    *e = (element){.kind = *name, .line = (int)r->line, .control = -1, .other = -1, .second = 1};
    e->name = names_put(c->element_names, full, (int)c->count - 1);
    return e;
}

static void need_nodes(reader *r, const scope *s, element *e, int from, int to)
{
    char word[WORD_SIZE];
    for (int k = from; k < to; k++) {
        reader_need(r, k == from && from > 0 ? "a node that controls" : "a node", word);
        e->node[k] = reader_node(r, s, word);
    }
}

static int need_branch(reader *r, const scope *s)
{
    char word[WORD_SIZE];
    reader_need(r, "the element whose current controls", word);
    return reader_branch(r, s, word, false);
}

static void too_much(reader *r)
{
    char word[WORD_SIZE];
    if (text_word_next(&r->at, false, word))
        reader_fault(r, "%.100s is too much", word);
}

/* Pairs at the end of a line: names in `words` ("ic"), values to their places. */
static void take_pairs(reader *r, const scope *s, const char *words, double *const *to, bool *given)
{
    char name[WORD_SIZE];
    double value;
    while (reader_pair(r, s, name, &value)) {
        int k = 0;
        const char *p = words;
        for (; *p; k++) {
            const size_t length = strcspn(p, " ");
            if (strlen(name) == length && strncmp(p, name, length) == 0)
                break;
            p += length + (p[length] == ' ');
        }
        if (!*p)
            reader_fault(r, "%.100s is not known here%s%s", name, *words ? "; there are: " : "",
                         words);
        *to[k] = value;
        given[k] = true;
    }
}

/* R, C and L: VALUE [ic=X] */
static void read_passive(reader *r, const scope *s, element *e)
{
    double *const to[] = {&e->ic};
    need_nodes(r, s, e, 0, 2);
    e->value = reader_need_number(r, s, "the value");
    take_pairs(r, s, e->kind == 'r' ? "" : "ic", to, &e->has_ic);
    if (e->kind == 'r' && fabs(e->value) < 1e-12)
        reader_fault(r, "a resistance of %g is less than 1e-12", e->value);
    if (e->kind != 'r' && e->value < 0)
        reader_fault(r, "%g is less than 0", e->value);
}

static void read_coupling(reader *r, const scope *s, element *e)
{
    char word[WORD_SIZE];
    coupling *k = GROWN(r->couplings, r->coupling_count, r->coupling_room);
    *k = (coupling){.element = (int)(e - r->c->elements)};
    for (int i = 0; i < 2; i++) {
        reader_need(r, "an inductor", word);
        snprintf(k->names[i], sizeof k->names[i], "%s%.200s", s->prefix, word);
    }
    e->value = reader_need_number(r, s, "the coupling");
    if (!(fabs(e->value) <= 1))
        reader_fault(r, "a coupling of %g is not within -1 to 1", e->value);
}

/* --- sources ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int kind, least, most;
} waves[] = {{"pulse", WAVE_PULSE, 2, 7},
             {"sin", WAVE_SIN, 3, 6},
             {"exp", WAVE_EXP, 6, 6},
             {"pwl", WAVE_PWL, 2, 2 * MOST_POINTS}};

static void check_wave(reader *r, const wave *w)
{
    const double *n = w->number;
    if (w->kind == WAVE_PULSE) {
        for (int k = 2; k < 7; k++)
            if (n[k] < 0)
                reader_fault(r, "times of PULSE are not less than 0");
    } else if (w->kind == WAVE_SIN && (n[2] < 0 || n[3] < 0)) {
        reader_fault(r, "frequency and delay of SIN are not less than 0");
    } else if (w->kind == WAVE_EXP && !(n[2] >= 0 && n[4] >= n[2] && n[3] > 0 && n[5] > 0)) {
        reader_fault(r, "EXP needs delays that rise, and time constants more than 0");
    } else if (w->kind == WAVE_PWL) {
        if (w->count % 2 != 0)
            reader_fault(r, "PWL has a time without a value");
        for (int k = 2; k < w->count; k += 2)
            if (n[k] <= n[k - 2])
                reader_fault(r, "times of PWL have to rise: %g follows %g", n[k], n[k - 2]);
    }
}

/* Whether a word follows that is no name (dc, ac). */
static bool has_number(const reader *r)
{
    char word[WORD_SIZE];
    const char *ahead = r->at;
    return text_word_next(&ahead, false, word) && !isalpha((unsigned char)*word);
}

static void read_wave(reader *r, const scope *s, wave *w, size_t which)
{
    char word[WORD_SIZE];
    int64_t room = 0, count = 0;
    w->kind = waves[which].kind;
    reader_paired(r);
    while (has_number(r)) {
        reader_need(r, "a number", word);
        if (count == waves[which].most)
            reader_fault(r, "%.100s is too much: %s has %d numbers at most", word,
                         waves[which].name, waves[which].most);
        *GROWN(w->number, count, room) = reader_number(r, s, word);
    }
    if (count < waves[which].least)
        reader_fault(r, "%s needs %d numbers at least", waves[which].name, waves[which].least);
    while (w->kind != WAVE_PWL && count < 7)
        *GROWN(w->number, count, room) = 0;
    w->count = (int)count;
    check_wave(r, w);
}

/* [[dc] V] [ac SIZE [PHASE]] [PULSE(...)] */
static void read_source(reader *r, const scope *s, element *e)
{
    char word[WORD_SIZE];
    bool has_dc = false;
    need_nodes(r, s, e, 0, 2);
    wave *w = e->wave = cli_alloc(sizeof *w);
    while (text_word_next(&r->at, false, word)) {
        size_t k = 0;
        while (k < sizeof waves / sizeof *waves && strcmp(word, waves[k].name) != 0)
            k++;
        if (k < sizeof waves / sizeof *waves && w->kind == WAVE_DC) {
            read_wave(r, s, w, k);
        } else if (strcmp(word, "ac") == 0) {
            w->ac = has_number(r) ? reader_need_number(r, s, "a number after ac") : 1;
            w->phase = has_number(r) ? reader_need_number(r, s, "a phase") : 0;
        } else if (strcmp(word, "dc") == 0 || !has_dc) {
            w->dc = strcmp(word, "dc") == 0 ? reader_need_number(r, s, "a number after dc")
                                            : reader_number(r, s, word);
            has_dc = true;
        } else {
            reader_fault(r, "%.100s is too much", word);
        }
    }
    if (!has_dc && w->kind != WAVE_DC)
        w->dc = wave_value(w, 0);
}

/* --- controlled sources ----------------------------------------------------------------------- */

typedef struct place {
    reader *r;
    const scope *s;
} place;

static bool expression_parameter(void *data, const char *name, double *value)
{
    const place *p = data;
    return reader_parameter((void *)(uintptr_t)p->s, name, value);
}

static bool expression_reference(void *data, char kind, const char *a, const char *b,
                                 int unknowns[2])
{
    const place *p = data;
    if (kind == 'i' && *b)
        return false;
    unknowns[0] = kind == 'i' ? reader_branch(p->r, p->s, a, false) : reader_node(p->r, p->s, a);
    unknowns[1] = *b ? reader_node(p->r, p->s, b) : 0;
    return true;
}

/* What follows an equals sign is an expression to the end of the line, also in braces. */
static expression *read_expression(reader *r, const scope *s)
{
    char message[256], lower[8 * WORD_SIZE];
    place here = {r, s};
    const expression_names names = {&here, expression_parameter, expression_reference};
    const char *from = r->at + strspn(r->at, " \t");
    size_t length = strlen(from);
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    if (length > 1 && ((*from == '{' && from[length - 1] == '}') ||
                       (*from == '\'' && from[length - 1] == '\''))) {
        from++;
        length -= 2;
    }
    if (length >= sizeof lower)
        reader_fault(r, "the expression is longer than %d characters", (int)sizeof lower - 1);
    for (size_t k = 0; k < length; k++)
        lower[k] = (char)tolower((unsigned char)from[k]);
    lower[length] = '\0';
    expression *e = expression_new(lower, &names, message);
    if (!e)
        reader_fault(r, "%s", message);
    r->at += strlen(r->at);
    return e;
}

/* B a b V=..., I=...; E and G with VALUE=... are the same. */
static void read_behaviour(reader *r, const scope *s, element *e)
{
    char word[WORD_SIZE], equals[WORD_SIZE];
    reader_need(r, "V= or I=", word);
    if (!text_word_next(&r->at, false, equals) || *equals != '=')
        reader_fault(r, "expected = after %.100s", word);
    if (e->kind == 'b' && strcmp(word, "v") != 0 && strcmp(word, "i") != 0)
        reader_fault(r, "expected V= or I=, not %.100s", word);
    if (e->kind == 'e' || (e->kind == 'b' && *word == 'v'))
        e->branch = reader_branch(r, s, e->name + strlen(s->prefix), true);
    e->kind = 'b';
    e->b = read_expression(r, s);
}

/* E and G: a b c d GAIN; F and H: a b BRANCH GAIN */
static void read_controlled(reader *r, const scope *s, element *e)
{
    char word[WORD_SIZE];
    need_nodes(r, s, e, 0, 2);
    const bool by_voltage = e->kind == 'e' || e->kind == 'g';
    const char *ahead = r->at;
    if (by_voltage && text_word_next(&ahead, false, word) && strcmp(word, "value") == 0) {
        read_behaviour(r, s, e);
        return;
    }
    if (e->kind == 'e' || e->kind == 'h')
        e->branch = reader_branch(r, s, e->name + strlen(s->prefix), true);
    if (by_voltage)
        need_nodes(r, s, e, 2, 4);
    else
        e->control = need_branch(r, s);
    e->value = reader_need_number(r, s, "the gain");
}

/* --- semiconductors, switches, lines ---------------------------------------------------------- */

/* A node within an element, where a resistance parts it from its terminal. */
static int inner_node(reader *r, const scope *s, const element *e, const char *what, int outer,
                      double resistance)
{
    char name[2 * WORD_SIZE];
    snprintf(name, sizeof name, "%s:%s", e->name + strlen(s->prefix), what);
    return resistance == 0 ? outer : reader_node(r, s, name);
}

/* The model of the innermost scope that has one of this name. */
static model *need_model(reader *r, const scope *s, char kind)
{
    char word[WORD_SIZE], full[2 * WORD_SIZE];
    int found = -1;
    reader_need(r, "the model", word);
    for (; s && found < 0; s = s->parent) {
        snprintf(full, sizeof full, "%s%s", s->prefix, word);
        found = names_find(r->model_names, full);
    }
    if (found < 0)
        reader_fault(r, "there is no model %.100s", word);
    if (r->c->models[found]->kind != kind)
        reader_fault(r, "the model %.100s is one of another element", word);
    return r->c->models[found];
}

static void read_junction(reader *r, const scope *s, element *e)
{
    double *const to[] = {&e->second};
    bool given[1];
    const bool diode = e->kind == 'd';
    need_nodes(r, s, e, 0, diode ? 2 : 3);
    e->model = need_model(r, s, e->kind);
    if (has_number(r))
        e->second = reader_need_number(r, s, "the area");
    take_pairs(r, s, "area", to, given);
    if (!(e->second > 0 && e->second <= 1e12))
        reader_fault(r, "an area of %g", e->second);
    const double *n = e->model->number;
    e->inner[0] = inner_node(r, s, e, diode ? "anode" : "collector", e->node[0],
                             n[diode ? (int)D_RS : (int)Q_RC]);
    if (diode)
        return;
    e->inner[1] = inner_node(r, s, e, "base", e->node[1], n[Q_RB]);
    e->inner[2] = inner_node(r, s, e, "emitter", e->node[2], n[Q_RE]);
}

/* M d g s b MODEL [w=] [l=] [m=] */
static void read_mosfet(reader *r, const scope *s, element *e)
{
    double *const to[] = {&e->width, &e->length, &e->second};
    bool given[3];
    e->width = e->length = 1e-4;
    need_nodes(r, s, e, 0, 4);
    e->model = need_model(r, s, 'm');
    take_pairs(r, s, "w l m", to, given);
    const double *n = e->model->number;
    if (!(e->width > 0 && e->length > 2 * n[M_LD] && e->second > 0))
        reader_fault(r, "w, l - 2 ld and m have to be more than 0");
    e->inner[0] = inner_node(r, s, e, "drain", e->node[0], n[M_RD]);
    e->inner[1] = inner_node(r, s, e, "source", e->node[2], n[M_RS]);
}

static void read_switch(reader *r, const scope *s, element *e)
{
    char word[WORD_SIZE];
    need_nodes(r, s, e, 0, e->kind == 's' ? 4 : 2);
    if (e->kind == 'w')
        e->control = need_branch(r, s);
    e->model = need_model(r, s, e->kind);
    if (!text_word_next(&r->at, false, word))
        return;
    e->on = strcmp(word, "on") == 0;
    if (!e->on && strcmp(word, "off") != 0)
        reader_fault(r, "expected on or off, not %.100s", word);
}

/* T a b c d z0=Z td=T, or f=F [nl=N]: currents into both ends are unknowns. */
static void read_delay(reader *r, const scope *s, element *e)
{
    char second[WORD_SIZE + 2];
    const char *own = e->name + strlen(s->prefix);
    double frequency = 0, wavelengths = 0.25;
    double *const to[] = {&e->value, &e->second, &frequency, &wavelengths};
    bool given[4] = {false};
    need_nodes(r, s, e, 0, 4);
    e->branch = reader_branch(r, s, own, true);
    snprintf(second, sizeof second, "%.200s:2", own);
    e->other = reader_branch(r, s, second, true);
    take_pairs(r, s, "z0 td f nl", to, given);
    if (given[2] && !given[1])
        e->second = wavelengths / frequency;
    if (!given[0] || !(given[1] || given[2]) || !(e->value > 0) || !(e->second > 0) ||
        !isfinite(e->second))
        reader_fault(r, "a line needs z0=Z and td=T (or f=F), more than 0");
}

void reader_element(reader *r, const scope *s)
{
    static const struct {
        const char *kinds;
        void (*read)(reader *r, const scope *s, element *e);
    } all[] = {{"rcl", read_passive}, {"k", read_coupling},      {"vi", read_source},
               {"dq", read_junction}, {"m", read_mosfet},        {"sw", read_switch},
               {"t", read_delay},     {"eghf", read_controlled}, {"b", read_behaviour}};
    char name[WORD_SIZE];
    reader_need(r, "an element", name);
    if (!strchr("rcklvigefhbdqmswt", *name) || !name[1] || strpbrk(name, "={}'\""))
        reader_fault(r,
                     "%.100s is no element; their first letters are: R L C K V I E G F H B D Q M "
                     "S W T X",
                     name);
    element *e = add_element(r, s, name);
    if (*name == 'l' || *name == 'v')
        e->branch = reader_branch(r, s, name, true);
    if (*name == 'b')
        need_nodes(r, s, e, 0, 2);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strchr(all[k].kinds, *name))
            all[k].read(r, s, e);
    too_much(r);
}

/* --- once all are read ------------------------------------------------------------------------ */

/* Times of PULSE that are not given: those of the first .tran, as in SPICE. */
static void finish_pulses(reader *r)
{
    circuit *c = r->c;
    double step = 0, stop = 0;
    for (int64_t k = c->analysis_count; k-- > 0;)
        if (c->analyses[k].kind == ANALYSIS_TRAN) {
            step = c->analyses[k].number[0];
            stop = c->analyses[k].number[1];
        }
    for (int64_t k = 0; k < c->count; k++) {
        const wave *w = c->elements[k].wave;
        if (!w || w->kind != WAVE_PULSE)
            continue;
        double *n = w->number;
        r->line = c->elements[k].line;
        for (int i = 3; i < 5; i++)
            n[i] = n[i] > 0 ? n[i] : step;
        n[5] = n[5] > 0 ? n[5] : stop;
        if (!(n[3] > 0 && n[4] > 0))
            reader_fault(r,
                         "PULSE needs times to rise and to fall, or a .tran whose step they are");
        else if (n[6] > 0 && n[6] < (n[3] + n[5] + n[4]) * (1 - 1e-9))
            reader_fault(r, "PULSE rises, stays and falls for longer than its period");
    }
}

void reader_finish(reader *r)
{
    reader_couplings(r);
    finish_pulses(r);
}
