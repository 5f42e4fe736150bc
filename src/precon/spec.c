/* Specs of preconditioners: which kinds there are, and their options read from text. */
#include "precon/precon.h"

const precon_kind precon_kind_none = {
    .name = "none", .summary = "no preconditioner", .on_devices = true};
/* made by the solver itself, which is named here so that it can be found */
const precon_kind precon_kind_inner = {
    .name = "inner",
    .summary = "a solver in the next lower precision (options of a solver)",
    .cost = {.iterations = 25}};

const precon_kind *precon_find(const precon_list *list, const char *name, size_t length)
{
    for (int i = 0; i < list->count; i++) {
        if (strlen(list->kinds[i]->name) == length &&
            strncmp(list->kinds[i]->name, name, length) == 0)
            return list->kinds[i];
    }
    return NULL;
}

static spry_status unknown_kind(spry_context *ctx, const precon_list *list, const char *text)
{
    char names[512] = "auto", name[SPRY_OPTION_TEXT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    for (int i = 0; i < list->count; i++)
        base_add_word(names, sizeof names, list->kinds[i]->name);
    return base_unknown_word(ctx, "precon", name, names);
}

/* The kind's options from the text after the colon, if any. */
static spry_status read_options(spry_context *ctx, const precon_kind *kind, const char *text,
                                void *fields)
{
    if (text && kind->options.count == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "precon %s has no options, but was given %.64s", kind->name, text);
    spry_status status = spry_options_default(ctx, kind->options, fields);
    if (status == SPRY_STATUS_OK)
        status = spry_options_parse(ctx, kind->options, fields, text);
    return status == SPRY_STATUS_OK ? status : SPRY_CAUSE(ctx, status, "precon %s", kind->name);
}

spry_status precon_spec_from(spry_context *ctx, const precon_list *list, const char *text,
                             precon_spec *spec)
{
    const char *colon = strchr(text, ':');
    *spec = (precon_spec){.list = list};
    snprintf(spec->text, sizeof spec->text, "%s", text);
    if (strcmp(text, "auto") == 0)
        return SPRY_STATUS_OK;
    spec->kind = precon_find(list, text, strcspn(text, ":"));
    if (!spec->kind)
        return unknown_kind(ctx, list, text);
    return spec->kind == &precon_kind_inner
               ? SPRY_STATUS_OK /* its options are a solver's, which reads them */
               : read_options(ctx, spec->kind, colon ? colon + 1 : NULL, spec->fields);
}

spry_status precon_spec_of(spry_context *ctx, const precon_kind *kind, const char *options,
                           precon_spec *spec)
{
    *spec = (precon_spec){.kind = kind};
    snprintf(spec->text, sizeof spec->text, "%s:%s", kind->name, options);
    return read_options(ctx, kind, options, spec->fields);
}

precon_spec precon_spec_none(const char *text)
{
    precon_spec spec = {.kind = &precon_kind_none};
    snprintf(spec.text, sizeof spec.text, "%s", text);
    return spec;
}

bool precon_spec_same(const precon_spec *a, const precon_spec *b)
{
    return a->kind == b->kind && a->singular == b->singular && strcmp(a->text, b->text) == 0;
}

const char *precon_spec_name(const precon_spec *spec)
{
    return spec->kind ? spec->kind->name : "auto";
}

const char *precon_spec_options(const precon_spec *spec)
{
    const char *colon = strchr(spec->text, ':');
    return colon ? colon + 1 : "";
}

void precon_spec_rows(spry_context *ctx, const precon_spec *spec, precon_rows *rows)
{
    precon_spec within;
    if (spec->kind && spec->kind->rows)
        spec->kind->rows(spec->fields, rows);
    for (int k = 0; spec->list && spec->kind && k < spec->kind->options.count; k++) {
        const spry_option *option = spry_options_at(spec->kind->options, k);
        const char *text = spec->fields + option->offset;
        if (option->kind != SPRY_OPTION_TEXT || !precon_find(spec->list, text, strcspn(text, ":")))
            continue;
        const base_kept before = base_try(ctx);
        if (precon_spec_from(ctx, spec->list, text, &within) == SPRY_STATUS_OK)
            precon_spec_rows(ctx, &within, rows);
        base_forgive(ctx, &before); /* who makes it says what is wrong */
    }
}

int precon_spec_precision(const precon_spec *spec)
{
    return spec->kind && spec->kind->options.count > 0
               ? ((const precon_common *)(const void *)spec->fields)->precision
               : PRECON_SAME;
}
