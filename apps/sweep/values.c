/*
 * The values of parameters: NAME=A,B,C or, of numbers, NAME=FROM:STEP:TO; a value with commas
 * stands among bars, NAME=A|B. Runs are all combinations.
 */
#include "sweep/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool values_is_parameter(const char *word)
{
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || (word[length] && strchr("_-.", word[length])))
        length++;
    return length > 0 && word[length] == '=' && isalpha((unsigned char)*word);
}

static void add_value(sweep_parameter *p, const char *text, size_t length)
{
    char **more = cli_alloc((size_t)(p->count + 1) * sizeof *more);
    if (p->count > 0)
        memcpy(more, p->values, (size_t)p->count * sizeof *more);
    free(p->values);
    p->values = more;
    p->values[p->count] = cli_alloc(length + 1);
    memcpy(p->values[p->count], text, length);
    p->values[p->count++][length] = '\0';
}

static int bad(const sweep_parameter *p, const char *text, const char *what)
{
    return cli_fail(EXIT_INPUT, "%s=%s: %s", p->name, text_name(text), what);
}

/* FROM:STEP:TO; the last value may be off by rounding alone. */
static int add_range(sweep_parameter *p, const char *text, const double of[3])
{
    char number[40];
    const double count = floor((of[2] - of[0]) / of[1] * (1 + 1e-12) + 1e-9) + 1;
    if (!isfinite(of[0]) || !isfinite(of[1]) || !isfinite(of[2]))
        return bad(p, text, "numbers of a range are finite");
    if (of[1] == 0)
        return bad(p, text, "a step of 0 leads nowhere");
    if (!(count >= 1))
        return bad(p, text, "the range is empty: the step leads away from its end");
    if (count > SWEEP_RUNS)
        return cli_fail(EXIT_INPUT, "%s=%s: %.0f values; %d are the most", p->name, text_name(text),
                        count, SWEEP_RUNS);
    for (int64_t k = 0; k < (int64_t)count; k++) {
        /* 0.1 + 2 * 0.1 is 0.3: rounding is not part of the name of a value */
        const double value = of[0] + (double)k * of[1];
        const double small = fabs(value) < 1e-9 * fabs(of[1]) ? 0 : value;
        snprintf(number, sizeof number, "%.14g", small);
        add_value(p, number, strlen(number));
    }
    return EXIT_DONE;
}

/* Whether text is three numbers with colons between. */
static bool is_range(const char *text, double of[3])
{
    for (int k = 0; k < 3; k++) {
        char *end;
        of[k] = strtod(text, &end);
        if (end == text || *end != (k < 2 ? ':' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

/* A value of a list, as the application would refuse it in every run. */
static int check_value(const sweep_parameter *p, const char *text, const char *value)
{
    char *end;
    const bool numbers = !p->key && strchr("ir", p->option->kind);
    if (!*value)
        return bad(p, text, "a value is missing");
    (void)strtod(value, &end);
    if (numbers && strchr(value, ':'))
        return bad(p, text, "a range is FROM:STEP:TO");
    if (numbers && (end == value || *end))
        return bad(p, text, "its values are numbers");
    if (p->option->kind == 'p' && !p->option->reads && (*value == '/' || strstr(value, "..")))
        return bad(p, text, "a file that runs write is in the folder of each: leave out / and ..");
    return EXIT_DONE;
}

static int add_list(sweep_parameter *p, const char *text)
{
    const char *between = strchr(text, '|') ? "|" : ",";
    int exit_status = EXIT_DONE;
    for (const char *at = text; exit_status == EXIT_DONE;) {
        const size_t length = strcspn(at, between);
        add_value(p, at, length);
        exit_status = check_value(p, text, p->values[p->count - 1]);
        if (p->count > SWEEP_RUNS)
            return cli_fail(EXIT_INPUT, "%s has more than %d values", p->name, SWEEP_RUNS);
        if (!at[length])
            break;
        at += length + 1;
    }
    return exit_status;
}

/* The name of a parameter: an option of the application, or a part of one that is a text. */
static int take_name(sweep_grid *g, const sweep_application *a, sweep_parameter *p,
                     const char *word, size_t length)
{
    char option[sizeof p->name], names[CLI_WORDS] = "", nearest[CLI_NAME];
    if (length >= CLI_NAME)
        return cli_fail(EXIT_INPUT, "no option of %s has so long a name as %s", a->name,
                        text_name(word));
    snprintf(p->name, sizeof p->name, "%.*s", (int)length, word);
    snprintf(option, sizeof option, "%.*s", (int)strcspn(p->name, "."), p->name);
    for (char *c = option; *c; c++)
        *c = *c == '_' ? '-' : *c;
    memcpy(p->name, option, strlen(option));
    p->key = strchr(p->name, '.') ? strchr(p->name, '.') + 1 : NULL;
    p->option = application_option(a, option);
    for (int i = 0; i < a->count; i++)
        if (strlen(names) + CLI_NAME < sizeof names)
            cli_add_word(names, a->options[i].name);
    if (!p->option && spry_nearest(option, names, nearest, sizeof nearest))
        return cli_fail(EXIT_INPUT, "%s has no option %s; did you mean %s?", a->name, option,
                        nearest);
    if (!p->option)
        return cli_fail(EXIT_INPUT, "%s has no option %s; `spry help %s` lists them", a->name,
                        option, a->name);
    if (p->key && (p->option->kind != 't' || !*p->key))
        return cli_fail(EXIT_INPUT, "%s: %s has no parts", p->name, option);
    if (strcmp(option, "json") == 0)
        return cli_fail(EXIT_INPUT, "json is how the numbers of each run are found: leave it out");
    for (int i = 0; i < g->count; i++)
        if (strcmp(g->list[i].name, p->name) == 0)
            return cli_fail(EXIT_INPUT, "%s is given twice", p->name);
    for (int i = 0; i < g->count; i++)
        if (g->list[i].option == p->option && (!p->key || !g->list[i].key))
            return cli_fail(EXIT_INPUT, "%s is given as a whole and in parts", option);
    return EXIT_DONE;
}

int values_add(sweep_grid *g, const sweep_application *a, const char *word)
{
    const char *text = strchr(word, '=') + 1;
    double of[3];
    if (g->count == SWEEP_PARAMETERS)
        return cli_fail(EXIT_INPUT, "more than %d parameters", SWEEP_PARAMETERS);
    sweep_parameter *p = &g->list[g->count];
    *p = (sweep_parameter){0};
    int exit_status = take_name(g, a, p, word, (size_t)(text - 1 - word));
    if (exit_status != EXIT_DONE)
        return exit_status;
    g->count++; /* from here on it is freed with the others */
    const bool numbers = strchr("ir", p->option->kind) || p->key;
    exit_status = numbers && is_range(text, of) ? add_range(p, text, of) : add_list(p, text);
    if (exit_status == EXIT_DONE && g->runs * p->count > SWEEP_RUNS)
        return cli_fail(EXIT_INPUT, "%s runs are too many; %s are the most",
                        text_count(g->runs * p->count), text_count(SWEEP_RUNS));
    g->runs *= exit_status == EXIT_DONE ? p->count : 1;
    return exit_status;
}

void values_free(sweep_grid *g)
{
    for (int i = 0; i < g->count; i++) {
        for (int64_t k = 0; k < g->list[i].count; k++)
            free(g->list[i].values[k]);
        free(g->list[i].values);
    }
}

const char *values_of(const sweep_grid *g, int64_t run, int parameter)
{
    int64_t fast = 1;
    for (int i = parameter + 1; i < g->count; i++)
        fast *= g->list[i].count;
    return g->list[parameter].values[run / fast % g->list[parameter].count];
}
