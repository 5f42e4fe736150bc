/* Rows of the tuner's table. */
#include "tune.h"

#include <string.h>

const char *tune_verdict(const spry_tune_report *r, const spry_tune_row *row)
{
    const spry_tune_row *csr = spry_tune_row_at(r, 0);
    if (strcmp(row->format, r->format) == 0)
        return "chosen";
    if (row->seconds <= 0)
        return *row->note ? row->note : "not timed";
    if (row == csr || row->seconds >= csr->seconds)
        return row != csr                    ? "slower than csr"
               : csr->conversion_seconds > 0 ? "as it is" /* but on a device */
                                             : "in place";
    if (row->total_seconds >= csr->total_seconds)
        return "its conversion does not pay";
    return "";
}

static bool same_format(const char *a, const char *b)
{
    const size_t length = strcspn(a, ":");
    return length == strcspn(b, ":") && strncmp(a, b, length) == 0;
}

bool tune_is_shown(const spry_tune_report *r, int64_t at)
{
    const spry_tune_row *row = spry_tune_row_at(r, at);
    bool first = true;
    for (int64_t i = 0; i < at && first; i++)
        first = !same_format(spry_tune_row_at(r, i)->format, row->format) || i == 0;
    return row->seconds > 0 || first;
}
