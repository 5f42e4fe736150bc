/*
 * A preconditioner as it is asked for, "ilu:level=2": read once into its kind and that kind's
 * options, and carried as such. Specs within (amg:smoother=...) are options of kind TEXT, which
 * precon_make_inner() reads.
 */
#ifndef SPRY_PRECON_SPEC_H
#define SPRY_PRECON_SPEC_H

#include <spry/options.h>

enum { PRECON_FIELDS_SIZE = 1024 };

typedef struct precon_spec {
    const struct precon_kind *kind;   /* NULL: auto */
    const struct precon_list *list;   /* it was read from; those within are, too */
    char text[SPRY_OPTION_TEXT_SIZE]; /* for reports */
    bool singular;                    /* A is singular on purpose: the solver has a null space */
    _Alignas(16) char fields[PRECON_FIELDS_SIZE]; /* the kind's options */
} precon_spec;

/* "auto", or a kind of a list with or without options after a colon. */
spry_status precon_spec_from(spry_context *ctx, const struct precon_list *list, const char *text,
                             precon_spec *spec);
/* A kind with options, which has no others within. */
spry_status precon_spec_of(spry_context *ctx, const struct precon_kind *kind, const char *options,
                           precon_spec *spec);
/* None, by another name in reports. */
precon_spec precon_spec_none(const char *text);
bool precon_spec_same(const precon_spec *a, const precon_spec *b);
/* "auto", or the name of the kind. */
const char *precon_spec_name(const precon_spec *spec);
/* What follows the colon. */
const char *precon_spec_options(const precon_spec *spec);
/* Adds what the options of the spec, and of those within it, say of rows. */
struct precon_rows;
void precon_spec_rows(spry_context *ctx, const precon_spec *spec, struct precon_rows *rows);
/* PRECON_SAME, PRECON_SINGLE, PRECON_HALF. */
int precon_spec_precision(const precon_spec *spec);

#endif
