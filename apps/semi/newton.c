/*
 * Equilibrium, and bias by bias from there: H. K. Gummel's iteration (1964) where a step begins too
 * far away, Newton's method on all equations to the end.
 */
#include "semi/semi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GUMMEL_ROUNDS = 4, BIAS_STEPS = 2000, BALANCE_STEPS = 3 };
static const double FIRST_VOLTS = 0.1, LEAST_SHARE = 1.0 / 4096;
/* Last change, in kT/q, of what Newton's method only passes on its way. */
static const double PASSING = 1e-2;
/* Newton's method is astray when a change has grown to this, in kT/q, or when no change was less
 * than all before for so many steps. */
static const double ASTRAY = 100;
enum { STALE_STEPS = 6 };
/* Residual of linear systems far from a solution, and near one that is to be within 1. */
static const double LOOSEST = 1e-2, TIGHTEST = 0.1;
/* Contacts' currents have to add up to this share of the largest. */
static const double BALANCE = 1e-9;

/* --- one step ----------------------------------------------------------------------------------*/

/* Changes of potentials beyond this are taken by their logarithm: densities are exponentials. */
static double damped(double change)
{
    const double most = 2, size = fabs(change);
    return size <= most ? change : copysign(most + log1p(size - most), change);
}

/*
 * The changes of a node. Where ln n is to grow by y > 1/2, n grows to n (1 + y): that is Newton's
 * step for n itself, which raises densities by any number of decades at once.
 * linear: densities fall by n (1 + y), too, as long as something is left.
 */
static void limit(const semi_device *d, int64_t i, double change[KINDS], bool linear)
{
    change[PSI] = damped(change[PSI]);
    for (int c = 0; c < CARRIERS; c++) {
        const double sign = c == ELECTRONS ? 1 : -1, du = d->du[c][i];
        change[LAM_N + c] = damped(change[LAM_N + c]);
        const double y = du * (sign * (change[PSI] - change[PHI_N + c]) + change[LAM_N + c]);
        const double taken = y > 0.5 || (linear && y > -0.99) ? log1p(y) : linear ? log(0.01) : y;
        change[PHI_N + c] += sign * (y - fmax(taken, -20)) / du;
    }
}

/* Takes the step of a system; the largest change. */
static double apply(semi_system *s, bool linear)
{
    semi_device *d = s->d;
    double largest = 0;
    for (int64_t i = 0; i < d->mesh.nodes; i++) {
        const unsigned kinds = semi_kinds_at(d, s->kinds, i);
        double change[KINDS] = {0};
        int64_t row = s->first[i];
        for (int k = 0; k < KINDS; k++)
            if (kinds & BIT(k))
                change[k] = s->change[row++];
        if (d->mesh.node_material[i] >= 0 && (kinds & (BIT(PHI_N) | BIT(PHI_P))))
            limit(d, i, change, linear);
        else if (d->mesh.node_material[i] >= 0)
            for (int k = 0; k < KINDS; k++)
                change[k] = damped(change[k]);
        for (int k = 0; k < KINDS; k++) {
            if (!(kinds & BIT(k)) || semi_fixed(d, i, k))
                continue;
            d->x[k][i] += change[k];
            if (!(fabs(change[k]) <= largest))
                largest = fabs(change[k]);
        }
    }
    return largest;
}

static const char *kind_names[KINDS] = {"psi", "phi_n", "phi_p", "lambda_n", "lambda_p"};

static void show_step(const semi_solve *s, const semi_system *system, int64_t step, double change,
                      const spry_result *result)
{
    if (!s->d->o->verbose)
        return;
    printf("    %2lld  change %.2e ", (long long)step, change);
    for (int k = 0; k < KINDS; k++)
        if (system->kinds & BIT(k))
            printf(" %s %.1e", kind_names[k], s->residual[k]);
    printf("  %s %s %lld\n", result->method, result->precon, (long long)result->iterations);
}

/* One step of Newton's method; change: NaN where it failed. */
static spry_status step(semi_solve *s, semi_system *system, bool linear, const double tol[2],
                        double *change)
{
    spry_result result = SPRY_RESULT_INIT;
    *change = NAN;
    semi_assemble(system, s->residual);
    spry_status status = semi_system_solve(system, tol, &result);
    if (status == SPRY_STATUS_BAD_INPUT) /* numbers that are not finite, a singular matrix */
        status = SPRY_STATUS_OK;
    else if (status == SPRY_STATUS_OK && result.reason != SPRY_REASON_STOPPED &&
             (result.converged || result.true_residual < 1e-2))
        *change = apply(system, linear);
    s->reason = result.reason;
    s->stopped = s->stopped || result.reason == SPRY_REASON_STOPPED || signals_pending();
    s->steps++;
    show_step(s, system, s->steps, *change, &result);
    spry_result_clear(s->d->ctx, &result);
    return status;
}

/* Until changes are at most `least`, or as small as rounding allows. */
static spry_status newton(semi_solve *s, semi_system *system, double least, bool *converged)
{
    spry_status status = semi_system_make(system);
    const double tol[] = {fmax(s->d->o->linear_tol, TIGHTEST * least), LOOSEST};
    double change = INFINITY, last, smallest = INFINITY;
    int stale = 0;
    *converged = false;
    system->norm = 0;
    for (int64_t k = 0; k < s->d->o->most_steps && status == SPRY_STATUS_OK; k++) {
        last = change;
        status = step(s, system, false, tol, &change);
        if (!isfinite(change) || s->stopped || (change > ASTRAY && change > 4 * last))
            break;
        stale = change < smallest ? 0 : stale + 1;
        smallest = fmin(smallest, change);
        *converged = change <= least || (change < 1e-6 && change > 0.5 * last);
        if (*converged || stale == STALE_STEPS)
            break;
    }
    return status;
}

/* Potential, electrons and holes in turn. */
static spry_status gummel(semi_solve *s)
{
    const double exact[] = {s->d->o->linear_tol, s->d->o->linear_tol};
    spry_status status = SPRY_STATUS_OK;
    bool converged;
    double change = INFINITY;
    for (int k = 0; k < GUMMEL_ROUNDS && status == SPRY_STATUS_OK && !s->stopped; k++) {
        status = newton(s, &s->poisson, PASSING, &converged);
        for (int c = 0; c < CARRIERS && status == SPRY_STATUS_OK && !s->stopped; c++) {
            if (!(s->full.kinds & BIT(PHI_N + c)))
                continue;
            status = semi_system_make(&s->carrier[c]); /* many a run needs none */
            if (status == SPRY_STATUS_OK)
                status = step(s, &s->carrier[c], true, exact, &change);
        }
    }
    return status;
}

/* --- a bias ------------------------------------------------------------------------------------*/

static void copy_state(const semi_device *d, double *const *from, double *const *to)
{
    for (int k = 0; k < KINDS; k++)
        memcpy(to[k], from[k], (size_t)d->mesh.nodes * sizeof(double));
}

/* Further steps, as long as they bring currents nearer to adding up. */
static spry_status balance(semi_solve *s)
{
    const double exact[] = {s->d->o->linear_tol, s->d->o->linear_tol};
    spry_status status = SPRY_STATUS_OK;
    double change;
    semi_device_densities(s->d);
    semi_device_currents(s->d);
    for (int k = 0; k < BALANCE_STEPS && status == SPRY_STATUS_OK && !s->stopped; k++) {
        const double before = semi_imbalance(s->d);
        if (before <= BALANCE)
            break;
        status = step(s, &s->full, false, exact, &change);
        semi_device_densities(s->d);
        semi_device_currents(s->d);
    }
    return status;
}

/* By how much of the last bias step the next one goes on; 0: in another direction. */
static double ahead(const semi_solve *s, const double *volts)
{
    double ratio = 0, largest = 0;
    if (!s->has_before)
        return 0;
    for (int k = 0; k < s->d->mesh.contacts; k++) {
        const double last = s->volts_last[k] - s->volts_before[k];
        if (fabs(last) > largest) {
            largest = fabs(last);
            ratio = (volts[k] - s->volts_last[k]) / last;
        }
    }
    for (int k = 0; k < s->d->mesh.contacts; k++) {
        const double last = s->volts_last[k] - s->volts_before[k];
        if (fabs(volts[k] - s->volts_last[k] - ratio * last) > 1e-9)
            return 0;
    }
    return ratio > 0 && ratio <= 2.5 ? ratio : 0;
}

/* From the last bias to another one, at once: on along the line of the last two first, then from
 * the last by Gummel's iteration. */
static spry_status try_bias(semi_solve *s, const double *volts, double least, bool *converged)
{
    semi_device *d = s->d;
    const double ratio = ahead(s, volts);
    semi_device_bias(d, volts);
    for (int k = 0; k < KINDS; k++)
        for (int64_t i = 0; i < d->mesh.nodes && ratio > 0; i++)
            d->x[k][i] += ratio * (s->saved[k][i] - s->before[k][i]);
    spry_status status = newton(s, &s->full, least, converged);
    if (status == SPRY_STATUS_OK && !*converged && !s->stopped) {
        copy_state(d, s->saved, d->x);
        status = gummel(s);
        if (status == SPRY_STATUS_OK && !s->stopped)
            status = newton(s, &s->full, least, converged);
    }
    return status;
}

static void keep_bias(semi_solve *s)
{
    copy_state(s->d, s->saved, s->before);
    copy_state(s->d, s->d->x, s->saved);
    for (int k = 0; k < s->d->mesh.contacts; k++) {
        s->volts_before[k] = s->volts_last[k];
        s->volts_last[k] = s->d->contact[k].voltage;
    }
    s->has_before = true;
}

spry_status semi_reach(semi_solve *s, const double *volts, bool *converged)
{
    semi_device *d = s->d;
    double from[SEMI_CONTACTS], at[SEMI_CONTACTS], far = 0, done = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < d->mesh.contacts; k++) {
        from[k] = d->contact[k].voltage;
        far = fmax(far, fabs(volts[k] - from[k]));
    }
    const double first = far > FIRST_VOLTS ? FIRST_VOLTS / far : 1;
    double share = first;
    *converged = far == 0;
    for (int n = 0; done < 1 && far > 0 && n < BIAS_STEPS && status == SPRY_STATUS_OK; n++) {
        const double next = done + share > 1 - 1e-9 ? 1 : done + share;
        for (int k = 0; k < d->mesh.contacts; k++)
            at[k] = from[k] + next * (volts[k] - from[k]);
        status = try_bias(s, at, next < 1 ? PASSING : d->o->tol, converged);
        if (*converged) {
            keep_bias(s);
            done = next;
            share *= 2;
        } else {
            copy_state(d, s->saved, d->x);
            semi_device_bias(d, s->volts_last);
            s->halvings++;
            share /= 2;
            if (share < first / 2) /* it may be the linear systems */
                status = semi_system_choose_again(&s->full);
            if (s->stopped || share < first * LEAST_SHARE)
                break;
        }
    }
    *converged = *converged && (done >= 1 || far == 0);
    if (status == SPRY_STATUS_OK && *converged && far > 0) {
        status = balance(s);
        copy_state(d, d->x, s->saved);
    } else {
        semi_device_densities(d);
        semi_device_currents(d);
    }
    return status;
}

/* --- equilibrium -------------------------------------------------------------------------------*/

spry_status semi_equilibrium(semi_solve *s, bool *converged)
{
    static const double parts[] = {0, 0.01, 0.1, 0.4, 1};
    const int last = s->poisson.kinds == BIT(PSI) ? 0 : 4;
    spry_status status = SPRY_STATUS_OK;
    double zero[SEMI_CONTACTS] = {0};
    *converged = true;
    semi_device_bias(s->d, zero);
    for (int k = 0; k <= last && status == SPRY_STATUS_OK && *converged; k++) {
        s->d->quantum = parts[k];
        status = newton(s, &s->poisson, k < last ? PASSING : s->d->o->tol, converged);
    }
    s->d->quantum = 1;
    semi_system_free(&s->poisson);              /* its memory is needed */
    if (status == SPRY_STATUS_OK && *converged) /* the same, of all equations */
        status = newton(s, &s->full, s->d->o->tol, converged);
    copy_state(s->d, s->d->x, s->saved);
    memcpy(s->volts_last, zero, sizeof zero);
    s->has_before = false;
    semi_device_densities(s->d);
    semi_device_currents(s->d);
    return status;
}

spry_status semi_resume(semi_solve *s)
{
    semi_device_bias(s->d, s->volts_last);
    s->d->quantum = 1;
    copy_state(s->d, s->d->x, s->saved);
    s->has_before = false;
    return semi_system_make(&s->full);
}

void semi_solve_make(semi_device *d, semi_solve *s)
{
    const int q = d->o->quantum;
    const unsigned n = q == QUANTUM_ELECTRONS || q == QUANTUM_BOTH ? BIT(LAM_N) : 0;
    const unsigned lambda = n | (q == QUANTUM_HOLES || q == QUANTUM_BOTH ? BIT(LAM_P) : 0);
    const unsigned phi = (d->o->carriers != CARRIERS_HOLES ? BIT(PHI_N) : 0) |
                         (d->o->carriers != CARRIERS_ELECTRONS ? BIT(PHI_P) : 0);
    s->d = d;
    for (int k = 0; k < KINDS; k++) {
        s->before[k] = cli_alloc((size_t)d->mesh.nodes * sizeof(double));
        s->saved[k] = cli_alloc((size_t)d->mesh.nodes * sizeof(double));
    }
    s->poisson = (semi_system){.d = d, .kinds = BIT(PSI) | lambda};
    s->full = (semi_system){.d = d, .kinds = BIT(PSI) | phi | lambda};
    for (int c = 0; c < CARRIERS; c++)
        s->carrier[c] = (semi_system){.d = d, .kinds = BIT(PHI_N + c)};
}

void semi_solve_free(semi_solve *s)
{
    semi_system_free(&s->poisson);
    semi_system_free(&s->carrier[ELECTRONS]);
    semi_system_free(&s->carrier[HOLES]);
    semi_system_free(&s->full);
    for (int k = 0; k < KINDS; k++) {
        free(s->before[k]);
        free(s->saved[k]);
    }
}
