/*
 * Who is tried on a device, in which order, and who wins: by forecasts, and by times that differ
 * clearly. What is close is decided by the order of candidates, so that a decision is the same each
 * time although no two times are.
 *
 * Times of a product are counted in products with CSR. What a format takes for its bytes, and what
 * building it on the device takes, is known well enough from one kind of cards to order candidates;
 * the clock does the rest.
 */
#include "choose/tune.h"

#include "formats/shared/device_make.h"

#include <math.h>
#include <stdlib.h>

static const double hope = 1.3;    /* times CSR's forecast are still worth a try, */
static const double likely = 1.2;  /* and times the forecast of the fastest so far */
static const double near_by = 1.1; /* times the forecast of a format's best options, likewise; */
static const double near_uneven = 1.25; /* where bytes say less, and all are faster than CSR */

static const double other_factor = 1.2, other_uneven = 0.7;

static const layout_cost *cost_of(const tune_candidate *c)
{
    return c->class ? &c->class->cost : &format_csr.cost;
}

bool tune_made_on_device(const tune_candidate *c)
{
    return cost_of(c)->device_making > 0 && device_makes(c->row.format);
}

/* Rows that are sorted within large windows have neighbours from afar: their x is in other places,
 * and so is their y. */
static double sorting(const tune_candidate *c)
{
    const char *sigma = strstr(c->row.format, "sigma=");
    const long rows = sigma ? strtol(sigma + strlen("sigma="), NULL, 10) : 1;
    return rows >= 4096 ? 1.1 : rows > 1 ? 1.02 : 1;
}

void tune_expect(const tune_list *list, tune_candidate *c)
{
    const layout_cost *cost = cost_of(c);
    const bool known = cost->device_byte > 0;
    const double factor = list->uneven ? (known ? cost->device_uneven : other_uneven)
                                       : (known ? cost->device_byte : other_factor);
    c->made_on_device = tune_made_on_device(c);
    c->expected = factor * sorting(c) * ((double)c->row.bytes + list->vector_bytes) /
                  ((double)list->all[0].row.bytes + list->vector_bytes);
}

double tune_making_on_device(const tune_candidate *c)
{
    return cost_of(c)->device_making;
}

static bool is_new(const tune_candidate *c)
{
    return c->possible && !c->dropped && c->samples == 0 && c->made_on_device;
}

/* The options of c's format with the least forecast; of those that are as good the first. */
static bool leads_class(const tune_list *list, const tune_candidate *c)
{
    const double mine = c->expected;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *d = &list->all[i];
        if (d->class != c->class || d == c || !d->possible || (d->dropped && d->samples == 0))
            continue; /* those that could not be made make room */
        const double other = d->expected;
        if (d < c ? other <= 1.01 * mine : 1.01 * other < mine)
            return false;
    }
    return true;
}

/* The fastest so far. */
static const tune_candidate *fastest(const tune_list *list)
{
    const tune_candidate *best = &list->all[0];
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        if (c->samples > 0 && c->row.seconds < best->row.seconds)
            best = c;
    }
    return best;
}

/* Forecasts are compared with the forecast of the fastest where it is faster than that: where CSR
 * waits for more than bytes, all other formats come out faster than they are expected to. */
int tune_next_class(const tune_list *list)
{
    const tune_candidate *best = fastest(list);
    const double took = best->row.seconds / list->all[0].row.seconds;
    const double most = likely * (best->expected > took ? best->expected : took);
    const double limit = most < hope ? most : hope;
    int found = 0;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        if (is_new(c) && leads_class(list, c) && c->expected <= limit &&
            (found == 0 || c->expected < list->all[found].expected))
            found = i;
    }
    return found;
}

/* How near is near. */
static double nearness(const tune_list *list)
{
    return list->uneven ? near_uneven : near_by;
}

/* The best forecast of a format that was timed, where the time is near the least; 0: it is not. */
static double near_class(const tune_list *list, const tune_candidate *c, double least)
{
    double expected = 0;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *d = &list->all[i];
        if (d->class == c->class && d->samples > 0 && d->row.seconds <= nearness(list) * least)
            expected = expected == 0 || d->expected < expected ? d->expected : expected;
    }
    return expected;
}

int tune_next_option(const tune_list *list)
{
    const double least = fastest(list)->row.seconds;
    int found = 0;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        const double limit = is_new(c) ? nearness(list) * near_class(list, c, least) : 0;
        if (limit > 0 && c->expected <= limit &&
            (found == 0 || c->expected < list->all[found].expected))
            found = i;
    }
    return found;
}

/* Seconds of a product with CSR as far as bytes go: where it waits for a few long rows, what makes
 * formats does not. */
static double even_csr(const tune_list *list)
{
    const tune_candidate *best = fastest(list);
    const double took = list->all[0].row.seconds;
    return list->uneven && best->expected > 0 ? fmin(took, best->row.seconds / best->expected)
                                              : took;
}

/* Making and products, in seconds. What the device makes counts as it is known, since the clock is
 * no judge of a few launches. */
static double worth(const tune_list *list, const tune_candidate *c, int64_t products)
{
    const double making =
        c->made_on_device ? tune_making_on_device(c) * even_csr(list) : c->row.conversion_seconds;
    return making + (double)products * c->row.seconds;
}

/* And did not leave: it has its operator. */
static bool is_timed(const tune_candidate *c)
{
    return c->samples > 0 && c->row.seconds > 0 && !c->dropped;
}

/* The least total of making and `products` products. */
static double least_total(const tune_list *list, int64_t products)
{
    double least = 0;
    for (int i = 0; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        const double total = is_timed(c) ? worth(list, c, products) : 0;
        least = total > 0 && (least == 0 || total < least) ? total : least;
    }
    return least;
}

int tune_pick(const tune_list *list, int64_t products)
{
    const double least = least_total(list, products);
    for (int i = 0; i < list->count; i++)
        if (is_timed(&list->all[i]) && worth(list, &list->all[i], products) <= TUNE_CLOSE * least)
            return i;
    return 0;
}

bool tune_is_near(const tune_list *list, const tune_candidate *c, int64_t products, double factor)
{
    return is_timed(c) && worth(list, c, products) <= factor * least_total(list, products);
}

/*
 * Times of an idle device are the true one and something on top, so that the least of n is off by a
 * part in n of the noise: with 3% of it ten decide for certain what differs by less than 1% (a tie)
 * or by more than 5% (tests/unit/tune_plan.c). Who takes part is looked at again after each turn,
 * more closely each time, so that those that are left have more turns. At first many do: times from
 * the beginning of a race may be those of a card that had to wake up.
 */
spry_status tune_finals(tune_list *list, int64_t products, double most, tune_runner *run,
                        void *data)
{
    enum { ROUNDS = 10, LEAST_ROUNDS = 3 };
    double left = most;
    for (int round = 0; round < ROUNDS; round++) {
        const double factor = round == 0  ? TUNE_STAYS
                              : round < 3 ? 1.06
                              : round < 5 ? 1.045
                                          : 1.035;
        bool takes_part[TUNE_FINALISTS] = {false};
        int count = 0;
        for (int i = 0; i < list->count && i < TUNE_FINALISTS; i++) {
            takes_part[i] = tune_is_near(list, &list->all[i], products, factor);
            count += takes_part[i];
        }
        if (count < 2 || (round >= LEAST_ROUNDS && left < count))
            break;
        left -= count;
        for (int i = 0; i < list->count && i < TUNE_FINALISTS; i++) {
            const spry_status status = takes_part[i] ? run(data, &list->all[i]) : SPRY_STATUS_OK;
            if (status != SPRY_STATUS_OK)
                return status;
        }
    }
    return SPRY_STATUS_OK;
}
