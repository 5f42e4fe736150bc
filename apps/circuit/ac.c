/* Small signals: (G + j omega C) x = b at the operating point. */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct small {
    equations *s;
    double *values, *b, *x; /* pairs of real and imaginary parts */
    spry_matrix *A;
    spry_operator *M;
    spry_vector *v[2];
} small;

static void add(small *m, int row, int column, double re, double im)
{
    const int64_t k = equations_slot(m->s, row, column);
    m->values[2 * k] += re;
    m->values[2 * k + 1] += im;
}

/* What the other end of a line has sent, later by its delay. */
static void add_lines(small *m, double omega)
{
    const circuit *c = m->s->c;
    for (int64_t k = 0; k < m->s->source_count; k++) {
        const element *e = &c->elements[m->s->sources[k]];
        const double re = -cos(omega * e->second), im = sin(omega * e->second);
        if (e->kind != 't')
            continue;
        for (int end = 0; end < 2; end++) {
            const int *n = e->node + 2 * (1 - end), j = end == 0 ? e->branch : e->other;
            add(m, j, n[0], re, im);
            add(m, j, n[1], -re, -im);
            add(m, j, end == 0 ? e->other : e->branch, e->value * re, e->value * im);
        }
    }
}

static void add_sources(small *m)
{
    const circuit *c = m->s->c;
    for (int64_t k = 0; k < m->s->source_count; k++) {
        const element *e = &c->elements[m->s->sources[k]];
        if (!e->wave)
            continue;
        const double phase = e->wave->phase * PI / 180;
        const double part[2] = {e->wave->ac * cos(phase), e->wave->ac * sin(phase)};
        for (int i = 0; i < 2; i++) {
            if (e->kind == 'v') {
                m->b[2 * e->branch + i] += part[i];
            } else {
                m->b[2 * e->node[0] + i] -= part[i];
                m->b[2 * e->node[1] + i] += part[i];
            }
        }
    }
}

static bool solve_at(small *m, double frequency, results *r)
{
    equations *s = m->s;
    const double omega = 2 * PI * frequency;
    for (int64_t k = 0; k < s->entries; k++) {
        m->values[2 * k] = s->G[k];
        m->values[2 * k + 1] = omega * s->C[k];
    }
    add_lines(m, omega);
    s->factors++;
    s->solves++;
    if (!equations_good(s, spry_matrix_set_values(m->A, m->values, SPRY_OWN_BORROW)) ||
        !equations_good(s, m->M ? spry_operator_update(m->M, m->A)
                                : spry_precon_new(m->A, NULL, "direct:kind=sparse", &m->M)) ||
        !equations_good(s, spry_operator_apply(m->M, m->v[0], m->v[1])))
        return false;
    double *const re = zeros(2 * (s->rows + 1)), *const im = re + s->rows + 1;
    for (int64_t k = 1; k <= s->rows; k++) {
        re[k] = m->x[2 * k];
        im[k] = m->x[2 * k + 1];
    }
    results_add(r, frequency, re, im);
    free(re);
    return true;
}

static void sweep(small *m, const analysis *a, results *r)
{
    equations *s = m->s;
    const double from = a->number[1], to = a->number[2], decades = log10(to / from);
    const double each = a->scale == 'd' ? a->number[0] : a->number[0] / log10(2);
    const double last = a->scale == 'l' ? a->number[0] - 1 : floor(decades * each + 1e-9);
    m->values = zeros(2 * (s->entries + 1));
    m->b = zeros(4 * (s->rows + 1));
    m->x = m->b + 2 * (s->rows + 1);
    add_sources(m);
    bool good =
        equations_good(s, spry_matrix_from_csr(s->ctx, SPRY_TYPE_Z, s->rows, s->rows, s->offsets,
                                               s->columns, m->values, SPRY_OWN_BORROW, &m->A));
    for (int k = 0; k < 2 && good; k++)
        good = equations_good(s, spry_vector_new(s->ctx, SPRY_TYPE_Z, s->rows,
                                                 (k == 0 ? m->b : m->x) + 2, SPRY_OWN_BORROW,
                                                 &m->v[k]));
    for (double k = 0; k <= last && good; k++)
        good = solve_at(m,
                        a->scale != 'l' ? from * pow(10, k / each)
                        : last > 0      ? from + k * (to - from) / last
                                        : from,
                        r);
    spry_vector_free(m->v[0]);
    spry_vector_free(m->v[1]);
    spry_operator_free(m->M);
    spry_matrix_free(m->A);
    free(m->values);
    free(m->b);
}

void run_ac(run *r, const analysis *a)
{
    equations *s = &r->s;
    small m = {.s = s};
    double *x = zeros(s->rows + 1);
    if (newton_operate(s, x)) {
        s->transient = true;
        equations_evaluate(s, x);
        sweep(&m, a, &r->results);
    }
    free(x);
}
