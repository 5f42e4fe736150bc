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

static const row diode[] = {{"is", 1e-14, 1e-40, 1}, {"n", 1, 0.1, 100}, {"rs", 0, 0, 1e6},
                            {"cjo", 0, 0, 1},        {"vj", 1, 0.1, 10}, {"m", 0.5, 0.01, 0.9},
                            {"tt", 0, 0, 1},         {"bv", 0, 0, 1e6},  {"ibv", 1e-3, 1e-12, 10},
                            {"fc", 0.5, 0, 0.95}};

static const row bipolar[] = {
    {"is", 1e-16, 1e-40, 1}, {"bf", 100, 1e-3, 1e6}, {"nf", 1, 0.1, 100},      {"vaf", 0, 0, 1e30},
    {"ikf", 0, 0, 1e30},     {"ise", 0, 0, 1},       {"ne", 1.5, 0.1, 100},    {"br", 1, 1e-3, 1e6},
    {"nr", 1, 0.1, 100},     {"var", 0, 0, 1e30},    {"ikr", 0, 0, 1e30},      {"isc", 0, 0, 1},
    {"nc", 2, 0.1, 100},     {"rb", 0, 0, 1e6},      {"re", 0, 0, 1e6},        {"rc", 0, 0, 1e6},
    {"cje", 0, 0, 1},        {"vje", 0.75, 0.1, 10}, {"mje", 0.33, 0.01, 0.9}, {"tf", 0, 0, 1},
    {"cjc", 0, 0, 1},        {"vjc", 0.75, 0.1, 10}, {"mjc", 0.33, 0.01, 0.9}, {"tr", 0, 0, 1},
    {"fc", 0.5, 0, 0.95}};

static const row mosfet[] = {
    {"vto", 0, -1e3, 1e3},   {"kp", 2e-5, 1e-15, 1e6}, {"gamma", 0, 0, 100}, {"phi", 0.6, 0.05, 10},
    {"lambda", 0, 0, 10},    {"cgso", 0, 0, 1},        {"cgdo", 0, 0, 1},    {"cgbo", 0, 0, 1},
    {"cbd", 0, 0, 1},        {"cbs", 0, 0, 1},         {"pb", 0.8, 0.1, 10}, {"mj", 0.5, 0.01, 0.9},
    {"is", 1e-14, 1e-40, 1}, {"fc", 0.5, 0, 0.95},     {"rd", 0, 0, 1e6},    {"rs", 0, 0, 1e6},
    {"ld", 0, 0, 1},         {"level", 1, 1, 1}};

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
