/* The doctor's findings, for people and as JSON. */
#include "findings.h"

#include <math.h>
#include <string.h>

/* A name as a shell takes it back; commands have room for two. */
static void quote(const char *name, char text[SPRY_OPTION_TEXT_SIZE])
{
    text_file(strchr(name, '\'') ? "FILE" : name, text, SPRY_OPTION_TEXT_SIZE / 4);
}

void findings_put(char *text, size_t size, const char *name, const char *value)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, " %s=\"", name);
    for (const char *p = value; *p && used + 4 < size; p++) {
        if (*p == '"')
            text[used++] = '"';
        text[used++] = *p;
    }
    snprintf(text + used, size - used, "\"");
}

/* Options of reading as they were given: without them a command would have another matrix. */
static void add_reading(const cli_arguments *a, char *text, size_t size)
{
    char word[CLI_NAME];
    for (const cli_given *g = NULL; (g = cli_next_given(a, cli_read_options, g)) != NULL;) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, " --%s %s", cli_option_name(g->option, word),
                 g->value ? g->value : "");
    }
}

void findings_names(const cli_arguments *a, char *text, size_t size)
{
    char name[SPRY_OPTION_TEXT_SIZE];
    text[0] = '\0';
    quote(a->operands[0], name);
    add_reading(a, name, sizeof name);
    findings_put(text, size, "matrix", name);
    if (a->count > 1) {
        quote(a->operands[1], name);
        findings_put(text, size, "rhs", name);
    }
}

bool findings_sure(const spry_finding *f)
{
    static const char solve[] = "spry solve ";
    for (int k = 0; k < f->figure_count; k++)
        if (strcmp(f->figures[k].name, "next_residual") == 0)
            return true;
    return strncmp(f->next, solve, sizeof solve - 1) != 0;
}

void findings_print(FILE *out, const spry_diagnosis *d, int64_t most)
{
    const spry_finding *f;
    for (int64_t k = 0; k < most && (f = spry_finding_at(d, k)); k++) {
        fprintf(out, "%-10s %s\n", spry_severity_name(f->severity), f->code);
        fputs("  found    ", out);
        text_wrap(out, 11, 11, f->text);
        fputs("  cause    ", out);
        text_wrap(out, 11, 11, f->cause);
        if (*f->next) {
            fputs(findings_sure(f) ? "  next     " : "  may help ", out);
            text_put(out, f->next);
            fputc('\n', out);
        }
    }
    if (d->count > most)
        fprintf(out, "%s more: spry doctor lists all\n", text_count(d->count - most));
}

static void json_places(json *j, const char *key, const int64_t *places)
{
    json_open(j, key, '[');
    for (int k = 0; k < SPRY_FINDING_PLACES && places[k] >= 0; k++)
        json_int(j, NULL, places[k]);
    json_close(j, ']');
}

void findings_json(json *j, const char *key, const spry_diagnosis *d)
{
    const spry_finding *f;
    json_open(j, key, '[');
    for (int64_t k = 0; (f = spry_finding_at(d, k)); k++) {
        json_open(j, NULL, '{');
        json_text(j, "code", f->code);
        json_text(j, "severity", spry_severity_name(f->severity));
        json_text(j, "text", f->text);
        json_text(j, "cause", f->cause);
        json_text(j, "next", f->next);
        json_int(j, "row_count", f->row_count);
        json_places(j, "rows", f->rows);
        json_int(j, "col_count", f->col_count);
        json_places(j, "cols", f->cols);
        json_open(j, "figures", '{');
        for (int n = 0; n < f->figure_count; n++)
            json_real(j, f->figures[n].name, f->figures[n].value);
        json_close(j, '}');
        json_close(j, '}');
    }
    json_close(j, ']');
}
