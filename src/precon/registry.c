/* The preconditioners there are, and which one "auto" takes. */
#include "precon/precon.h"

#include <spry/solver.h>

#define OPTION_OWNER relax_options
static const spry_option relax_table[] = {RELAX_ORDER(SPRY_OPTION_ROW)
                                              RELAX_OMEGA(SPRY_OPTION_ROW)};
#undef OPTION_OWNER
enum { RELAX_COUNT = sizeof relax_table / sizeof *relax_table };

typedef struct precon_kind {
    const char *name, *summary;
    spry_status (*make)(const spry_matrix *A, const void *options, spry_operator **op);
    spry_option_list options;
} precon_kind;

static spry_status make_jacobi(const spry_matrix *A, const void *options, spry_operator **op)
{
    (void)options;
    return spry_operator_jacobi(A, op);
}

static const precon_kind kinds[] = {
    {"none", "no preconditioner", NULL, {NULL, 0}},
    {"jacobi", "the inverse of the diagonal", make_jacobi, {NULL, 0}},
    {"gs", "one sweep of Gauss-Seidel (order)", precon_gs, {relax_table, 1}},
    {"sor",
     "one sweep of successive over-relaxation (order, omega)",
     precon_sor,
     {relax_table, RELAX_COUNT}},
    {"ssor",
     "a sweep of SOR forth and one back (order, omega)",
     precon_ssor,
     {relax_table, RELAX_COUNT}},
    /* made by the solver itself, which is named here so that it can be found */
    {"inner", "a solver in the next lower precision (options of a solver)", NULL, {NULL, 0}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Options of any kind. */
typedef union precon_fields {
    relax_options relax;
} precon_fields;

bool spry_precon_describe(int index, const char **name, const char **summary)
{
    if (index < 0 || index >= KINDS)
        return false;
    *name = kinds[index].name;
    *summary = kinds[index].summary;
    return true;
}

/* Jacobi where every diagonal entry is real and positive, as conjugate gradients needs it. */
static spry_status choose(spry_context *ctx, const spry_matrix *A, const char **name)
{
    *name = "none";
    if (!A || A->a.rows != A->a.cols) {
        base_log(ctx, SPRY_LOG_INFO, "precon none: there is no square matrix to make one from");
        return SPRY_OK;
    }
    spry_vector *d = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, spry_matrix_diagonal(A, &d));
    for (int64_t i = 0; i < d->n; i++) {
        spry_scalar v = value_get(d->type, d->data, i);
        if (!(v.re > 0) || v.im != 0) {
            base_log(ctx, SPRY_LOG_INFO,
                     "precon none: the diagonal entry of row %" PRId64 " (from 0) is not positive",
                     i);
            goto done;
        }
    }
    *name = "jacobi";
    base_log(ctx, SPRY_LOG_INFO, "precon jacobi: the diagonal is positive");
done:
    spry_vector_free(d);
    return status;
}

/* The kind with a name of so many characters; NULL when there is none. */
static const precon_kind *find_kind(const char *name, size_t length)
{
    for (int i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, name, length) == 0)
            return &kinds[i];
    }
    return NULL;
}

spry_option_list precon_options(const char *name)
{
    const precon_kind *kind = find_kind(name, strlen(name));
    return kind ? kind->options : (spry_option_list){NULL, 0};
}

static spry_status unknown_kind(spry_context *ctx, const char *spec)
{
    char names[256] = "auto", name[SPRY_OPTION_TEXT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    for (int i = 0; i < KINDS; i++)
        base_add_word(names, sizeof names, kinds[i].name);
    return base_unknown_word(ctx, "precon", name, names);
}

/* The kind's options from the text after the colon, if any. */
static spry_status read_options(spry_context *ctx, const precon_kind *kind, const char *text,
                                precon_fields *fields)
{
    if (text && kind->options.count == 0)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE, "precon %s has no options, but was given %.64s",
                         kind->name, text);
    spry_status status = spry_options_default(ctx, kind->options, fields);
    if (status == SPRY_OK)
        status = spry_options_parse(ctx, kind->options, fields, text);
    return status == SPRY_OK ? status : SPRY_CAUSE(ctx, status, "precon %s", kind->name);
}

spry_status precon_make(spry_context *ctx, const spry_matrix *A, const char *spec,
                        spry_operator **M, char name[32])
{
    precon_fields fields = {0};
    spry_status status = SPRY_OK;
    *M = NULL;
    if (strcmp(spec, "auto") == 0)
        SPRY_GO(ctx, choose(ctx, A, &spec));
    const char *colon = strchr(spec, ':');
    const precon_kind *kind = find_kind(spec, strcspn(spec, ":"));
    if (!kind)
        return unknown_kind(ctx, spec);
    snprintf(name, 32, "%s", kind->name);
    SPRY_GO(ctx, read_options(ctx, kind, colon ? colon + 1 : NULL, &fields));
    if (!kind->make)
        return SPRY_OK;
    if (!A)
        return SPRY_FAIL(ctx, SPRY_BAD_USAGE, "precon=%s needs a matrix, not an operator",
                         kind->name);
    SPRY_GO(ctx, kind->make(A, &fields, M));
done:
    return status;
}
