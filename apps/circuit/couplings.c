/* Couplings: which inductors they are of, and whether inductors can have all of them at once. */
#include "circuit/netlist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is left of a diagonal of ones and counts as nothing: a coupling of 1 leaves rounding. */
static const double NOTHING = 1e-9;

/* Coefficients of coupling, with ones on the diagonal, and their factor by Cholesky: of each row
 * what follows its first number. */
typedef struct profile {
    int *first;
    int64_t *begin; /* entry (i, j) is values[begin[i] + j] */
    double *values;
} profile;

/* Inductors have numbers (from 1, by branch) in the order in which couplings name them. */
static void find_inductors(reader *r, coupling *p, int *numbers, int *count)
{
    circuit *c = r->c;
    element *e = &c->elements[p->element];
    double product = 1;
    int branch[2];
    for (int i = 0; i < 2; i++) {
        const int found = names_find(c->element_names, p->names[i]);
        if (found < 0 || c->elements[found].kind != 'l')
            reader_fault(r, "%.100s is no inductor", p->names[i]);
        branch[i] = c->elements[found].branch;
        product *= c->elements[found].value;
        if (numbers[branch[i]] == 0)
            numbers[branch[i]] = ++*count;
        p->number[i] = numbers[branch[i]] - 1;
    }
    if (branch[0] == branch[1])
        reader_fault(r, "an inductor is coupled with itself");
    p->k = e->value;
    e->control = branch[0];
    e->other = branch[1];
    e->value *= sqrt(product);
}

static int lower(const coupling *p)
{
    return p->number[0] < p->number[1] ? p->number[0] : p->number[1];
}

static int upper(const coupling *p)
{
    return p->number[0] < p->number[1] ? p->number[1] : p->number[0];
}

static void check_twice(reader *r, const coupling *p, struct names *pairs)
{
    char pair[32];
    snprintf(pair, sizeof pair, "%d %d", lower(p), upper(p));
    if (names_find(pairs, pair) >= 0)
        reader_fault(r, "%.100s and %.100s are coupled twice", p->names[0], p->names[1]);
    names_put(pairs, pair, 0);
}

/* false: the numbers so far are not those of a positive semidefinite matrix. */
static bool factor_row(const profile *m, int i)
{
    double *const row = m->values + m->begin[i];
    for (int j = m->first[i]; j <= i; j++) {
        const double *const other = m->values + m->begin[j];
        for (int k = m->first[i] > m->first[j] ? m->first[i] : m->first[j]; k < j; k++)
            row[j] -= row[k] * other[k];
        if (j == i) {
            if (row[i] < -NOTHING)
                return false;
            row[i] = row[i] > NOTHING ? sqrt(row[i]) : 0;
        } else if (other[j] > 0) {
            row[j] /= other[j];
        } else {
            if (fabs(row[j]) > sqrt(NOTHING))
                return false;
            row[j] = 0;
        }
    }
    return true;
}

/* Energy in inductors is never negative: their matrix is positive (semi)definite. */
static void check_energy(reader *r, int count)
{
    const size_t size = (size_t)count + 1;
    profile m = {cli_alloc(size * sizeof(int)), cli_alloc(size * sizeof(int64_t)), NULL};
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        m.first[i] = i;
    for (int64_t k = 0; k < r->coupling_count; k++) {
        const coupling *p = &r->couplings[k];
        if (lower(p) < m.first[upper(p)])
            m.first[upper(p)] = lower(p);
    }
    for (int i = 0; i < count; i++) {
        m.begin[i] = total - m.first[i];
        total += i - m.first[i] + 1;
    }
    m.values = zeros(total + 1);
    for (int i = 0; i < count; i++)
        m.values[m.begin[i] + i] = 1;
    for (int64_t k = 0; k < r->coupling_count; k++)
        m.values[m.begin[upper(&r->couplings[k])] + lower(&r->couplings[k])] = r->couplings[k].k;
    int good = 0;
    while (good < count && factor_row(&m, good))
        good++;
    for (int64_t k = r->coupling_count; good < count && k-- > 0;) {
        const coupling *p = &r->couplings[k];
        r->line = r->c->elements[p->element].line;
        if (upper(p) == good)
            reader_fault(r,
                         "no inductors have these couplings of %.100s: their matrix is not "
                         "positive definite",
                         p->names[p->number[1] == good]);
    }
    free(m.first);
    free(m.begin);
    free(m.values);
}

void reader_couplings(reader *r)
{
    int count = 0, *numbers = cli_alloc((size_t)(r->c->size + 1) * sizeof *numbers);
    struct names *pairs = names_new();
    for (int64_t k = 0; k < r->coupling_count; k++) {
        r->line = r->c->elements[r->couplings[k].element].line;
        find_inductors(r, &r->couplings[k], numbers, &count);
        check_twice(r, &r->couplings[k], pairs);
    }
    check_energy(r, count);
    free(r->couplings);
    free(numbers);
    names_free(pairs);
}
