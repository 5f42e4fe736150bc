/* Parameters of .model lines: names and defaults, as in SPICE. All is at 27 degrees Celsius. */
#include "circuit/circuit.h"

#include <math.h>
#include <string.h>

typedef struct row {
    const char *name;
    double initial, low, high; /* bounds: both allowed */
} row;

static const double MOST = 1e30;

#define ROW_COUNT(rows) ((int)(sizeof(rows) / sizeof *(rows)))

#define MODEL_ROW(place, name, initial, low, high) {name, initial, low, high},
static const row diode[] = {MODEL_D(MODEL_ROW)}, bipolar[] = {MODEL_Q(MODEL_ROW)},
                 mosfet[] = {MODEL_M(MODEL_ROW)};
static const row voltage_switch[] = {
    {"vt", 0, -1e9, 1e9}, {"vh", 0, 0, 1e9}, {"ron", 1, 1e-12, 1e30}, {"roff", 1e12, 1e-12, 1e30}};
static const row current_switch[] = {
    {"it", 0, -1e9, 1e9}, {"ih", 0, 0, 1e9}, {"ron", 1, 1e-12, 1e30}, {"roff", 1e12, 1e-12, 1e30}};

/* What other temperatures and noise would need: read, and without effect here. */
static const char *const unused = " eg xti xtb kf af ";

static int rows_of(const model *m, const row **rows)
{
    static const struct {
        char kind;
        const row *rows;
        int count;
    } all[] = {{'d', diode, ROW_COUNT(diode)},
               {'q', bipolar, ROW_COUNT(bipolar)},
               {'m', mosfet, ROW_COUNT(mosfet)},
               {'s', voltage_switch, ROW_COUNT(voltage_switch)},
               {'w', current_switch, ROW_COUNT(current_switch)}};
    for (int k = 0; k < ROW_COUNT(all); k++)
        if (all[k].kind == m->kind) {
            *rows = all[k].rows;
            return all[k].count;
        }
    return 0;
}

bool model_kind(const char *word, model *m)
{
    static const struct {
        const char *word;
        char kind;
        double sign;
    } kinds[] = {{"d", 'd', 1},     {"npn", 'q', 1}, {"pnp", 'q', -1}, {"nmos", 'm', 1},
                 {"pmos", 'm', -1}, {"sw", 's', 1},  {"csw", 'w', 1}};
    const row *rows = NULL;
    for (int k = 0; k < ROW_COUNT(kinds); k++) {
        if (strcmp(kinds[k].word, word) != 0)
            continue;
        m->kind = kinds[k].kind;
        m->sign = kinds[k].sign;
        const int count = rows_of(m, &rows);
        for (int i = 0; i < count; i++)
            m->number[i] = rows[i].initial;
        return true;
    }
    return false;
}

bool model_set(model *m, const char *name, double value, double bounds[2])
{
    const row *rows = NULL;
    char padded[WORD_SIZE + 2];
    const int count = rows_of(m, &rows);
    bounds[0] = bounds[1] = NAN;
    if (m->kind == 'd' || m->kind == 'q')
        name = strcmp(name, "cj0") == 0 ? "cjo" : strcmp(name, "va") == 0 ? "vaf" : name;
    for (int k = 0; k < count; k++)
        if (strcmp(rows[k].name, name) == 0) {
            m->number[k] = value;
            m->given |= UINT64_C(1) << k;
            bounds[0] = rows[k].low;
            bounds[1] = fmin(rows[k].high, MOST);
            return value >= bounds[0] && value <= bounds[1];
        }
    snprintf(padded, sizeof padded, " %s ", name);
    return strchr("dqm", m->kind) && strstr(unused, padded);
}

void model_words(const model *m, char words[CLI_WORDS])
{
    const row *rows = NULL;
    const int count = rows_of(m, &rows);
    for (int k = 0; k < count; k++)
        cli_add_word(words, rows[k].name);
}
