/* Options of a solve: a struct whose fields are those of the solver, and a few of our own. */
#include "gate.h"

#include <stdio.h>
#include <string.h>

static bool is_real_scalar(const mxArray *value)
{
    return (mxIsDouble(value) || mxIsSingle(value) || mxIsLogical(value)) &&
           mxGetNumberOfElements(value) == 1 && !mxIsComplex(value);
}

static bool pick_precision(const mxArray *value, bool *single)
{
    char *text = gate_text(value, "precision");
    if (!text)
        return false;
    *single = strcmp(text, "single") == 0;
    if (!*single && strcmp(text, "double") != 0)
        return gate_fail("badUsage", "precision is 'single' or 'double', not '%s'", text);
    return true;
}

static bool pick_number(const mxArray *value, const char *name, double *number)
{
    if (!is_real_scalar(value))
        return gate_fail("badType", "%s is to be one real number", name);
    *number = mxGetScalar(value);
    return true;
}

/* Takes a field of our own; false: it is the solver's. An error is in *good. */
static bool pick(const char *name, const mxArray *value, solve_options *picked, bool *good)
{
    double number = 0;
    if (strcmp(name, "x0") == 0)
        picked->x0 = mxIsEmpty(value) ? NULL : value;
    else if (strcmp(name, "monitor") == 0)
        picked->monitor = mxIsEmpty(value) ? NULL : value;
    else if (strcmp(name, "precon") == 0 && !mxIsChar(value))
        picked->precon = mxIsEmpty(value) ? NULL : value;
    else if (strcmp(name, "precision") == 0)
        *good = pick_precision(value, &picked->single);
    else if (strcmp(name, "cols") == 0) {
        *good = pick_number(value, name, &number);
        picked->cols = (int64_t)number;
    } else if (strcmp(name, "transpose") == 0) {
        *good = pick_number(value, name, &number);
        picked->transpose = number != 0;
    } else
        return false;
    return true;
}

static bool is_handle(const mxArray *value)
{
    return mxIsClass(value, "function_handle");
}

static bool check_struct(const mxArray *options)
{
    if (options && !(mxIsStruct(options) && mxGetNumberOfElements(options) == 1))
        return gate_fail("badType", "options are one struct, or names and values");
    return true;
}

bool options_pick(const mxArray *options, solve_options *picked)
{
    *picked = (solve_options){0};
    if (!check_struct(options))
        return false;
    bool good = true;
    for (int k = 0; options && good && k < mxGetNumberOfFields(options); k++)
        pick(mxGetFieldNameByNumber(options, k), mxGetFieldByNumber(options, 0, k), picked, &good);
    if (good && picked->monitor && !is_handle(picked->monitor))
        return gate_fail("badType", "monitor is a function handle: @(iteration, residual) true");
    if (good && picked->precon && !is_handle(picked->precon))
        return gate_fail("badType", "precon is a name ('ilu') or a function handle");
    return good;
}

/* The fields that are the solver's, one after the other. */
static const mxArray *next_field(const mxArray *options, int *k, const char **name)
{
    solve_options ignored;
    bool good = true;
    for (; options && *k < mxGetNumberOfFields(options); ++*k) {
        *name = mxGetFieldNameByNumber(options, *k);
        const mxArray *value = mxGetFieldByNumber(options, 0, *k);
        if (pick(*name, value, &ignored, &good))
            continue;
        ++*k;
        return value;
    }
    return NULL;
}

static bool set_one(spry_solver *solver, const char *name, const mxArray *value)
{
    if (mxIsChar(value)) {
        char *text = gate_text(value, name);
        return text && gate_check(spry_solver_set_text(solver, name, text));
    }
    if (!is_real_scalar(value))
        return gate_fail("badType", "option %s is to be a text, a number or true or false", name);
    if (mxIsLogical(value))
        return gate_check(
            spry_solver_set_text(solver, name, mxGetScalar(value) != 0 ? "yes" : "no"));
    return gate_check(spry_solver_set_real(solver, name, mxGetScalar(value)));
}

bool options_set(const mxArray *options, spry_solver *solver)
{
    const char *name;
    const mxArray *value;
    for (int k = 0; (value = next_field(options, &k, &name)) != NULL;)
        if (!set_one(solver, name, value))
            return false;
    return true;
}

/* Adds a piece to a text that grows. */
static char *append(char *text, const char *name, const char *value)
{
    const size_t old = text ? strlen(text) : 0, more = strlen(name) + 2 * strlen(value) + 5;
    text = mxRealloc(text, old + more);
    char *end = text + old;
    end += sprintf(end, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '"')
            *end++ = '"';
        *end++ = *value;
    }
    strcpy(end, "\" ");
    return text;
}

static char *print_field(char *text, const char *name, const mxArray *value)
{
    char number[40];
    if (mxIsChar(value)) {
        char *word = mxArrayToString(value);
        text = append(text, name, word ? word : "");
        mxFree(word);
    } else if (mxIsLogical(value) && mxGetNumberOfElements(value) == 1) {
        text = append(text, name, mxGetScalar(value) != 0 ? "yes" : "no");
    } else {
        snprintf(number, sizeof number, "%.17g",
                 is_real_scalar(value) ? mxGetScalar(value) : mxGetNaN());
        text = append(text, name, number);
    }
    return text;
}

char *options_print(const mxArray *options)
{
    const char *name;
    const mxArray *value;
    char *text = mxCalloc(1, 1);
    for (int k = 0; (value = next_field(options, &k, &name)) != NULL;)
        text = print_field(text, name, value);
    return text;
}

char *options_text(const mxArray *options)
{
    if (!check_struct(options))
        return NULL;
    char *text = mxCalloc(1, 1);
    for (int k = 0; options && k < mxGetNumberOfFields(options); k++)
        text = print_field(text, mxGetFieldNameByNumber(options, k),
                           mxGetFieldByNumber(options, 0, k));
    return text;
}
