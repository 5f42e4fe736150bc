/* The list of findings: their kinds, and how one is added. */
#include "doctor/doctor.h"

#include <stdarg.h>

static const struct {
    const char *word, *summary, *cause;
} kinds[] = {
#define KIND_ROW(name, word, summary, cause) {word, summary, cause},
    DOCTOR_KINDS(KIND_ROW)};

bool doctor_kind_at(int index, spry_entry *entry)
{
    if (index >= DOCTOR_KIND_COUNT)
        return false;
    entry->name = kinds[index].word;
    entry->summary = kinds[index].summary;
    entry->purpose = kinds[index].cause;
    return true;
}

const char *spry_severity_name(spry_severity severity)
{
#define SEVERITY_WORD(name, word, text) word,
    static const char *const words[] = {SPRY_SEVERITY_LIST(SEVERITY_WORD)};
    return (int)severity >= 0 && severity < SPRY_SEVERITY_COUNT ? words[severity] : NULL;
}

spry_finding *doctor_add(doctor *d, doctor_kind kind, spry_severity severity, const char *format,
                         ...)
{
    va_list arguments;
    spry_finding *f = &d->findings[d->count < DOCTOR_MOST_FINDINGS - 1 ? d->count++ : d->count];
    *f = (spry_finding){.code = kinds[kind].word, .severity = severity};
    snprintf(f->cause, sizeof f->cause, "%s", kinds[kind].cause);
    for (int k = 0; k < SPRY_FINDING_PLACES; k++)
        f->rows[k] = f->cols[k] = -1;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    return f;
}

void doctor_next(spry_finding *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->next, sizeof f->next, format, arguments);
    va_end(arguments);
}

void doctor_solve(const doctor *d, spry_finding *f, const char *arguments)
{
    const doctor_options *o = d->options;
    const bool given = o->nullspace && !strstr(arguments, "--nullspace");
    doctor_next(f, "spry solve %s%s%s%s %s", o->matrix, *o->rhs ? " " : "", o->rhs,
                given ? " --nullspace constant" : "", arguments);
}

void doctor_figure(spry_finding *f, const char *name, double value)
{
    if (f->figure_count < SPRY_FINDING_FIGURES)
        f->figures[f->figure_count++] = (spry_figure){name, value};
}

void doctor_row(spry_finding *f, int64_t row)
{
    if (f->row_count < SPRY_FINDING_PLACES)
        f->rows[f->row_count] = row;
    f->row_count++;
}

void doctor_col(spry_finding *f, int64_t col)
{
    if (f->col_count < SPRY_FINDING_PLACES)
        f->cols[f->col_count] = col;
    f->col_count++;
}

const char *doctor_places(const int64_t *places, int64_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t k = 0; k < count && k < SPRY_FINDING_PLACES && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, k ? ", " : "", places[k]);
    if (count > SPRY_FINDING_PLACES && used < size)
        snprintf(text + used, size - used, " and %" PRId64 " more", count - SPRY_FINDING_PLACES);
    return text;
}

const spry_finding *doctor_find(const doctor *d, doctor_kind kind)
{
    for (int k = 0; k < d->count; k++)
        if (d->findings[k].code == kinds[kind].word)
            return &d->findings[k];
    return NULL;
}

bool doctor_has(const doctor *d, doctor_kind kind)
{
    return doctor_find(d, kind) != NULL;
}

void doctor_skip(doctor *d, const char *what)
{
    const size_t used = strlen(d->unchecked);
    snprintf(d->unchecked + used, sizeof d->unchecked - used, "%s%s", used ? ", " : "", what);
}

bool doctor_late(const doctor *d, double share)
{
    return (!d->counts && base_seconds() - d->begin > share * d->options->seconds) ||
           spry_context_interrupted(d->ctx, false);
}
