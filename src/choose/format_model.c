/*
 * Time from bytes. A product is bounded by what it reads and writes: the matrix, x, y and the lines
 * of y that are fetched before they are written. How fast a format moves its bytes, as against CSR
 * in the same race, is a factor that was measured for most and is learned for each machine.
 */
#include "base/machine.h"
#include "choose/tune.h"
#include "host/host.h"

#include <math.h>
#include <spry/device.h>
#include <unistd.h>

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
    if (c->class && c->class->cost.byte > 0) {
        f.factor = c->class->cost.byte;
        f.conversion = c->class->cost.conversion;
    }
    f.factor *= c->kind == STORED_F16 ? 1.2 : c->kind == STORED_BF16 ? 1.1 : 1; /* unpacking */
    snprintf(f.format, sizeof f.format, "%s", name);
    return f;
}

/* All that goes through memory. */
static double traffic(const spry_matrix *A, const tune_candidate *c)
{
    const double size = (double)spry_type_size(A->a.type);
    return (double)c->row.bytes + size * (double)A->a.cols + 2 * size * (double)A->a.rows;
}

/* Where CSR moves less than half of what memory could, by the model of the machine, it waits for x
 * or for the ends of rows, and bytes say little. */
static bool is_scattered(const spry_matrix *A, double csr_seconds, const tune_list *list)
{
    const double worth_a_look = 1e-3;
    const double rate = fmin(spry_context_threads(A->ctx) * MACHINE_CORE_RATE, MACHINE_HOST_RATE);
    return csr_seconds >= worth_a_look && traffic(A, &list->all[0]) / csr_seconds < 0.5 * rate;
}

int64_t tune_second_cache(void)
{
    long bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? bytes : 1 << 20;
}

/* Whether it waits for x: neighbouring rows have columns far from each other, all over an x that is
 * much longer than a near cache. */
static bool is_without_order(const spry_matrix *A)
{
    enum { MUCH = 4 };
    return (int64_t)spry_type_size(A->a.type) * A->a.cols > MUCH * tune_second_cache() &&
           host_scattered(A->a.rows, A->a.cols, A->a.offsets, A->a.col_index);
}

/* A format's time over what bytes say: some often wait less then. */
static double waiting(const tune_list *list, const tune_candidate *c)
{
    const double less = !list->scattered || !c->class ? 0
                        : list->without_order         ? c->class->cost.scattered
                                                      : c->class->cost.row_ends;
    return less > 0 ? less : 1;
}

void tune_model(const spry_matrix *A, const tune_machine *machine, double csr_seconds,
                tune_list *list)
{
    const double second = csr_seconds / traffic(A, &list->all[0]);
    list->scattered = is_scattered(A, csr_seconds, list);
    list->without_order = list->scattered && is_without_order(A);
    for (int i = 0; i < list->count; i++) {
        tune_candidate *c = &list->all[i];
        const double factor = c->class ? find_factor(machine, c).factor : 1;
        if (c->possible)
            c->row.model_seconds = second * traffic(A, c) * factor * waiting(list, c);
    }
}

double tune_model_conversion(const tune_machine *machine, const tune_list *list,
                             const tune_candidate *c)
{
    const spry_tune_row *csr = &list->all[0].row;
    return c->class ? csr->seconds * find_factor(machine, c).conversion : csr->conversion_seconds;
}

static bool is_time(double seconds)
{
    return seconds > 0 && isfinite(seconds);
}

static double clip(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

void tune_learn(const spry_matrix *A, const tune_list *list, tune_machine *machine)
{
    const tune_candidate *csr = &list->all[0];
    if (!is_time(csr->row.seconds))
        return;
    const double second = csr->row.seconds / traffic(A, csr);
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        if (!is_time(c->row.seconds) || !isfinite(c->row.conversion_seconds))
            continue;
        tune_factor f = find_factor(machine, c);
        const double weight = f.count < 3 ? 1 / (double)(f.count + 2) : 0.25;
        const double found = clip(c->row.seconds / traffic(A, c) / second / waiting(list, c),
                                  TUNE_LEAST_FACTOR, TUNE_MOST_FACTOR);
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
