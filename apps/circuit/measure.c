/*
 * .measure: TRIG and TARG, FIND, WHEN, AVG, RMS, MIN, MAX, PP, INTEG, PARAM. Lines are read before
 * the run, so that what is wrong is said at once.
 */
#include "circuit/netlist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHAT_AVG,
    WHAT_RMS,
    WHAT_MIN,
    WHAT_MAX,
    WHAT_PP,
    WHAT_INTEG,
    WHAT_FIND,
    WHAT_WHEN,
    WHAT_TRIG,
    WHAT_PARAM,
    WHATS
};
static const char *const whats[WHATS] = {"avg",   "rms",  "min",  "max",  "pp",
                                         "integ", "find", "when", "trig", "param"};
static const char *const kinds[] = {"op", "dc", "tran", "ac", "pss", "envelope"};

/* Where a signal crosses a value, or another signal; or a time. */
typedef struct crossing {
    char word[WORD_SIZE], other[WORD_SIZE];
    double value, at; /* at: NAN: by the signal */
    char edge;        /* 'r', 'f', 'c' */
    int count;        /* 0: the last */
} crossing;

typedef struct measure {
    int kind, what;
    char name[WORD_SIZE], word[WORD_SIZE];
    crossing begin, end;
    double from, to;
} measure;

typedef struct reading {
    const circuit *c;
    const text_line *l;
    const measures *found;
    const char *at;
    measure *m;
} reading;

#define fault(r, ...) text_fault(&(r)->c->text, (r)->l, __VA_ARGS__)

static bool name_value(void *data, const char *name, double *value)
{
    const reading *r = data;
    const measures *const lists[2] = {r->found, &r->c->parameters};
    for (int l = 0; l < 2; l++)
        for (int64_t k = lists[l]->count; k-- > 0;)
            if (strcmp(lists[l]->list[k].name, name) == 0) {
                *value = lists[l]->list[k].value;
                return true;
            }
    return false;
}

/* What is not finite is a value as well: that of a measure that was not found. */
static double number(reading *r, const char *word)
{
    const expression_names names = {r, name_value, NULL};
    char message[256];
    double value = 0;
    if (!text_number(word, &value) && !reader_evaluate(&names, word, &value, message) &&
        isfinite(value))
        fault(r, "%s", message);
    return value;
}

static bool is_signal(const char *word)
{
    return strchr(word, '(') && word[strlen(word) - 1] == ')';
}

static void signal_word(reading *r, char word[WORD_SIZE])
{
    if (!text_word_next(&r->at, true, word) || !is_signal(word))
        fault(r, "expected V(NODE) or I(BRANCH)");
}

/* The next word, or a fault that says what was expected. */
static void need(reading *r, char word[WORD_SIZE], const char *exactly, const char *what)
{
    if (!text_word_next(&r->at, true, word) || (exactly && strcmp(word, exactly) != 0))
        fault(r, "expected %s", what);
}

/* NAME = WORD at the end of what was read; false where there is none. */
static bool pair(reading *r, char name[WORD_SIZE], char word[WORD_SIZE])
{
    const char *ahead = r->at;
    char equals[WORD_SIZE];
    if (!text_word_next(&ahead, true, name) || !text_word_next(&ahead, true, equals) ||
        strcmp(equals, "=") != 0 || !text_word_next(&ahead, true, word))
        return false;
    r->at = ahead;
    return true;
}

static bool take_edge(reading *r, crossing *c, const char *name, const char *word)
{
    if (strcmp(name, "rise") != 0 && strcmp(name, "fall") != 0 && strcmp(name, "cross") != 0)
        return false;
    const double count = strcmp(word, "last") == 0 ? 0 : number(r, word);
    if (strcmp(word, "last") != 0 && !(count >= 1 && count < 1e9))
        fault(r, "expected a number of 1 or more, or last, not %.100s", word);
    c->edge = *name;
    c->count = (int)count;
    return true;
}

/* v(a)=VALUE [rise=N], or v(a) val=VALUE [rise=N], or at=T */
static void read_crossing(reading *r, crossing *c, bool when)
{
    char name[WORD_SIZE], word[WORD_SIZE];
    *c = (crossing){.edge = 'c', .count = 1, .at = NAN, .value = NAN};
    const char *before = r->at;
    if (!when && pair(r, name, word)) {
        if (strcmp(name, "at") == 0) {
            c->at = number(r, word);
            return;
        }
        r->at = before;
    }
    signal_word(r, c->word);
    if (when) {
        need(r, word, "=", "= VALUE after V(NODE) or I(BRANCH)");
        need(r, word, NULL, "a value");
        if (is_signal(word))
            snprintf(c->other, sizeof c->other, "%s", word);
        else
            c->value = number(r, word);
    }
    for (before = r->at; pair(r, name, word); before = r->at)
        if (!when && strcmp(name, "val") == 0) {
            c->value = number(r, word);
        } else if (!take_edge(r, c, name, word)) {
            r->at = before;
            break;
        }
    if (!*c->other && isnan(c->value))
        fault(r, "the value is missing of %.100s", c->word);
}

static void read_rest(reading *r)
{
    char name[WORD_SIZE], word[WORD_SIZE];
    measure *m = r->m;
    while (pair(r, name, word)) {
        double *to = strcmp(name, "from") == 0 ? &m->from : strcmp(name, "to") == 0 ? &m->to : NULL;
        if (!to)
            fault(r, "not known in .measure: %.100s", name);
        *to = number(r, word);
    }
    if (text_word_next(&r->at, true, word))
        fault(r, "not known in .measure: %.100s", word);
}

/* .measure KIND NAME WHAT ... */
static void read_measure(reading *r)
{
    char word[WORD_SIZE] = "";
    measure *m = r->m;
    *m = (measure){.from = -INFINITY, .to = INFINITY, .what = WHATS};
    r->at = r->l->text;
    text_word_next(&r->at, true, word);
    text_word_next(&r->at, true, word);
    while (m->kind < ANALYSIS_ENVELOPE && strcmp(word, kinds[m->kind]) != 0)
        m->kind++;
    if (strcmp(word, kinds[m->kind]) != 0 || m->kind == ANALYSIS_OP)
        fault(r, "expected .measure tran, ac, dc, pss or envelope, not %.100s", word);
    need(r, m->name, NULL, ".measure KIND NAME WHAT");
    need(r, word, NULL, ".measure KIND NAME WHAT");
    for (int k = 0; k < WHATS; k++)
        if (strcmp(word, whats[k]) == 0)
            m->what = k;
    switch (m->what) {
    case WHATS:
        fault(r, "not known in .measure: %.100s", word);
    case WHAT_PARAM:
        need(r, word, "=", "param='EXPRESSION'");
        need(r, m->word, NULL, "param='EXPRESSION'");
        m->begin.value = number(r, m->word);
        return;
    case WHAT_TRIG:
        read_crossing(r, &m->begin, false);
        need(r, word, "targ", "TARG");
        read_crossing(r, &m->end, false);
        break;
    case WHAT_WHEN:
        read_crossing(r, &m->begin, true);
        break;
    case WHAT_FIND:
        signal_word(r, m->word);
        if (pair(r, word, m->begin.word) && strcmp(word, "at") == 0) {
            m->begin.at = number(r, m->begin.word);
            break;
        }
        need(r, word, "when", "AT= or WHEN");
        read_crossing(r, &m->begin, true);
        break;
    default:
        signal_word(r, m->word);
    }
    read_rest(r);
}

/* --- values ----------------------------------------------------------------------------------- */

static double value_at(const results *r, int64_t row, const char *word)
{
    char part[8];
    const int k = results_column(r, word, part);
    if (k < 0)
        return NAN;
    const double re = results_at(r, row, k, false);
    if (!r->complex)
        return re;
    const double im = results_at(r, row, k, true);
    switch (*part) {
    case 'd':
        return 20 * log10(hypot(re, im));
    case 'p':
        return atan2(im, re) * 180 / 3.14159265358979323846;
    case 'r':
        return re;
    case 'i':
        return im;
    default:
        return hypot(re, im);
    }
}

static double lack(const results *r, int64_t row, const crossing *c)
{
    return value_at(r, row, c->word) - (*c->other ? value_at(r, row, c->other) : c->value);
}

/* The place of a crossing on the abscissa; NAN where it is none. */
static double find_crossing(const results *r, const crossing *c)
{
    double last = NAN;
    int count = 0;
    if (!isnan(c->at))
        return c->at;
    for (int64_t i = 1; i < r->rows; i++) {
        const double a = lack(r, i - 1, c), b = lack(r, i, c);
        const bool rises = a < 0 && b >= 0, falls = a > 0 && b <= 0;
        if (!(c->edge == 'r' ? rises : c->edge == 'f' ? falls : rises || falls))
            continue;
        const double t = results_at(r, i - 1, 0, false);
        last = t + (results_at(r, i, 0, false) - t) * a / (a - b);
        if (++count == c->count)
            return last;
    }
    return c->count == 0 ? last : NAN;
}

static double interpolate(const results *r, const char *word, double at)
{
    for (int64_t i = 1; i < r->rows; i++) {
        const double a = results_at(r, i - 1, 0, false), b = results_at(r, i, 0, false);
        if ((a <= at && at <= b) || (b <= at && at <= a)) {
            const double v = value_at(r, i - 1, word);
            return a == b ? v : v + (value_at(r, i, word) - v) * (at - a) / (b - a);
        }
    }
    /* steps add up to the ends but for rounding */
    const int64_t ends[2] = {0, r->rows - 1};
    const double first = results_at(r, 0, 0, false), last = results_at(r, ends[1], 0, false);
    for (int k = 0; k < 2; k++)
        if (fabs((k == 0 ? first : last) - at) <= 1e-9 * fmax(fabs(first), fabs(last)))
            return value_at(r, ends[k], word);
    return NAN;
}

/* Over the part of the abscissa that was asked for. */
static double summary(const results *r, const measure *m)
{
    double low = INFINITY, high = -INFINITY, sum = 0, squares = 0, length = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        double t = results_at(r, i, 0, false), v = value_at(r, i, m->word);
        if (t >= m->from && t <= m->to) {
            low = fmin(low, v);
            high = fmax(high, v);
        }
        if (i == 0)
            continue;
        double before = results_at(r, i - 1, 0, false), u = value_at(r, i - 1, m->word);
        const double from = fmax(before, m->from), to = fmin(t, m->to);
        if (!(from < to))
            continue;
        const double slope = (v - u) / (t - before);
        v = u + slope * (to - before);
        u += slope * (from - before);
        length += to - from;
        sum += (u + v) / 2 * (to - from);
        squares += (u * u + u * v + v * v) / 3 * (to - from);
    }
    switch (m->what) {
    case WHAT_AVG:
        return sum / length;
    case WHAT_RMS:
        return sqrt(squares / length);
    case WHAT_MIN:
        return low;
    case WHAT_MAX:
        return high;
    case WHAT_PP:
        return high - low;
    default:
        return sum;
    }
}

static double evaluate(const measure *m, const results *r)
{
    switch (m->what) {
    case WHAT_PARAM:
        return m->begin.value;
    case WHAT_WHEN:
        return find_crossing(r, &m->begin);
    case WHAT_FIND:
        return interpolate(r, m->word, find_crossing(r, &m->begin));
    case WHAT_TRIG:
        return find_crossing(r, &m->end) - find_crossing(r, &m->begin);
    default:
        return summary(r, m);
    }
}

void measures_add(measures *m, const char *name, double value)
{
    measured *const to = GROWN(m->list, m->count, m->room);
    to->value = value;
    snprintf(to->name, sizeof to->name, "%s", name);
}

void measure_all(const circuit *c, const results *r, measures *found)
{
    measures none = {0};
    measure m;
    for (int64_t k = 0; k < c->measure_count; k++) {
        reading from = {c, &c->text.lines[c->measures[k]], r ? found : &none, NULL, &m};
        read_measure(&from);
        if (!r)
            measures_add(&none, m.name, 1);
        else if (m.kind == r->kind)
            measures_add(found, m.name, evaluate(&m, r));
    }
    free(none.list);
}
