/*
 * Time from bytes. A product is bounded by what it reads and writes: the matrix, x, y and the lines
 * of y that are fetched before they are written. How fast a format moves its bytes, as against CSR
 * in the same race, is a factor that was measured for most and is learned for each machine.
 */
#include "tune/tune.h"

/* Time a byte over that of CSR, and products with CSR that a conversion takes: what to begin with.
 */
static const struct {
    const char *format;
    double factor, conversion;
} first_guess[] = {
    {"csr", 1.0, 8},   {"csr16", 1.05, 15}, {"sell", 1.0, 10},   {"sell16", 1.0, 15},
    {"ell", 1.0, 10},  {"ellr", 1.05, 10},  {"ellr-t", 1.2, 12}, {"jds", 1.3, 15},
    {"hyb", 1.1, 15},  {"dia", 0.95, 10},   {"crf", 1.3, 20},    {"bsr", 0.95, 15},
    {"merge", 1.1, 8}, {"pcsr", 1.1, 12},   {"sym", 1.3, 15},    {"scoo", 1.4, 15},
    {"axc", 0.95, 12}, {"axt", 1.0, 15},
};
enum { GUESSES = sizeof first_guess / sizeof *first_guess };
static const double other_factor = 1.15, other_conversion = 15;

static void factor_name(const tune_candidate *c, char name[TUNE_NAME])
{
    static const char *const kinds[STORED_KINDS] = {"", "/f32", "/f16", "/bf16"};
    snprintf(name, TUNE_NAME, "%.20s%s", c->class ? c->class->name : "csr", kinds[c->kind]);
}

static tune_factor find_factor(const tune_machine *machine, const tune_candidate *c)
{
    tune_factor f = {.factor = other_factor, .conversion = other_conversion};
    char name[TUNE_NAME];
    factor_name(c, name);
    for (int i = 0; i < machine->count; i++)
        if (strcmp(machine->factors[i].format, name) == 0)
            return machine->factors[i];
    for (int i = 0; i < GUESSES; i++)
        if (c->class && strcmp(first_guess[i].format, c->class->name) == 0) {
            f.factor = first_guess[i].factor;
            f.conversion = first_guess[i].conversion;
        }
    if (c->kind == STORED_F16 || c->kind == STORED_BF16)
        f.factor *= 1.1; /* numbers are unpacked */
    snprintf(f.format, sizeof f.format, "%s", name);
    return f;
}

/* All that goes through memory. */
static double traffic(const spry_matrix *A, const tune_candidate *c)
{
    const double size = (double)spry_type_size(A->a.type);
    return (double)c->row.bytes + size * (double)A->a.cols + 2 * size * (double)A->a.rows;
}

void tune_model(const spry_matrix *A, const tune_machine *machine, double csr_seconds,
                tune_list *list)
{
    const double second = csr_seconds / traffic(A, &list->all[0]);
    for (int i = 0; i < list->count; i++) {
        tune_candidate *c = &list->all[i];
        if (c->possible)
            c->row.model_seconds =
                second * traffic(A, c) * (c->class ? find_factor(machine, c).factor : 1);
    }
}

double tune_model_conversion(const tune_machine *machine, double csr_seconds,
                             const tune_candidate *c)
{
    return c->class ? csr_seconds * find_factor(machine, c).conversion : 0;
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void tune_learn(const spry_matrix *A, const tune_list *list, tune_machine *machine)
{
    const tune_candidate *csr = &list->all[0];
    const double second = csr->row.seconds / traffic(A, csr);
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        if (c->row.seconds <= 0)
            continue;
        tune_factor f = find_factor(machine, c);
        const double weight = f.count < 3 ? 1 / (double)(f.count + 2) : 0.25;
        const double found = clip(c->row.seconds / traffic(A, c) / second, 0.3, 5);
        const double taken = clip(c->row.conversion_seconds / csr->row.seconds, 0.5, 500);
        f.factor += weight * (found - f.factor);
        f.conversion += weight * (taken - f.conversion);
        f.count++;
        int at = 0;
        while (at < machine->count && strcmp(machine->factors[at].format, f.format) != 0)
            at++;
        if (at == machine->count && at < TUNE_FACTORS)
            machine->count++;
        if (at < TUNE_FACTORS)
            machine->factors[at] = f;
    }
}
