/*
 * Who is tried on a device, in which order, and who wins: by forecasts, and by times that differ
 * clearly. What is close is decided by the order of candidates, so that a decision is the same each
 * time although no two times are.
 *
 * Times of a product are counted in products with CSR. What a format takes for its bytes, and what
 * making it there takes, is known well enough from one kind of cards to order candidates; the clock
 * does the rest.
 */
#include "tune/tune.h"

#include "device/make.h"

static const double hope = 1.3;    /* times CSR's forecast are still worth a try */
static const double near_by = 1.1; /* times the forecast of a format's best options, likewise */

/* Time a byte over that of CSR; the same where some rows are much longer than others; and products
 * that making it takes. Formats that are not here are made on the host. */
static const struct {
    const char *format;
    double factor, uneven, making;
} known[] = {
    {"csr", 1.0, 1.0, 2},    {"csr16", 1.1, 1.1, 2.5},   {"sell", 0.93, 1.0, 3},
    {"sell16", 1.0, 1.1, 5}, {"ell", 1.0, 1.5, 3},       {"ellr", 1.02, 1.2, 3},
    {"ellr-t", 1.1, 1.1, 3}, {"hyb", 1.05, 0.8, 4},      {"dia", 1.0, 1.0, 4},
    {"bsr", 1.1, 1.1, 4},    {"merge", 1.15, 0.55, 2.5},
};
enum { KNOWN = sizeof known / sizeof *known };
static const double other_factor = 1.2, other_uneven = 0.7;

static int find_known(const tune_candidate *c)
{
    int i = 0;
    while (i < KNOWN && strcmp(known[i].format, c->class ? c->class->name : "csr") != 0)
        i++;
    return i;
}

bool tune_made_there(const tune_candidate *c)
{
    return find_known(c) < KNOWN && device_makes(c->row.format);
}

void tune_expect(const tune_list *list, tune_candidate *c)
{
    const int i = find_known(c);
    const double factor = list->uneven ? (i < KNOWN ? known[i].uneven : other_uneven)
                                       : (i < KNOWN ? known[i].factor : other_factor);
    c->made_there = tune_made_there(c);
    c->expected = factor * ((double)c->row.bytes + list->vector_bytes) /
                  ((double)list->all[0].row.bytes + list->vector_bytes);
}

double tune_making_there(const tune_candidate *c)
{
    const int i = find_known(c);
    return i < KNOWN ? known[i].making : 0;
}

static bool is_new(const tune_candidate *c)
{
    return c->possible && !c->dropped && c->samples == 0 && c->made_there;
}

/* The options of c's format with the least forecast; of those that are as good the first. */
static bool leads_class(const tune_list *list, const tune_candidate *c)
{
    const double mine = c->expected;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *d = &list->all[i];
        if (d->class != c->class || d == c || !d->possible)
            continue;
        const double other = d->expected;
        if (d < c ? other <= 1.01 * mine : 1.01 * other < mine)
            return false;
    }
    return true;
}

int tune_next_class(const tune_list *list)
{
    int found = 0;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        if (is_new(c) && leads_class(list, c) && c->expected <= hope &&
            (found == 0 || c->expected < list->all[found].expected))
            found = i;
    }
    return found;
}

/* The best forecast of a format that was timed, where the time is near the least; 0: it is not. */
static double near_class(const tune_list *list, const tune_candidate *c, double least)
{
    double expected = 0;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *d = &list->all[i];
        if (d->class == c->class && d->samples > 0 && d->row.seconds <= near_by * least)
            expected = expected == 0 || d->expected < expected ? d->expected : expected;
    }
    return expected;
}

int tune_next_option(const tune_list *list)
{
    double least = list->all[0].row.seconds;
    int found = 0;
    for (int i = 1; i < list->count; i++)
        if (list->all[i].samples > 0 && list->all[i].row.seconds < least)
            least = list->all[i].row.seconds;
    for (int i = 1; i < list->count; i++) {
        const tune_candidate *c = &list->all[i];
        const double limit = is_new(c) ? near_by * near_class(list, c, least) : 0;
        if (limit > 0 && c->expected <= limit &&
            (found == 0 || c->expected < list->all[found].expected))
            found = i;
    }
    return found;
}

int tune_pick(const tune_list *list, int64_t products)
{
    double least = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < list->count; i++) {
            const tune_candidate *c = &list->all[i];
            if (c->samples == 0 || c->row.seconds <= 0)
                continue;
            const double making = c->made_there ? tune_making_there(c) * list->all[0].row.seconds
                                                : c->row.conversion_seconds;
            const double total = making + (double)products * c->row.seconds;
            if (pass == 1 && total <= TUNE_CLOSE * least)
                return i;
            least = pass == 0 && (least == 0 || total < least) ? total : least;
        }
    return 0;
}
