/* Preconditioners by name: one file each, one line in the registry. */
#ifndef SPRY_PRECON_INTERNAL_H
#define SPRY_PRECON_INTERNAL_H

#include "matrix/matrix.h"

/*
 * Makes the preconditioner `spec` names for A: "none", "jacobi", "auto", or with options after a
 * colon, "sor:omega=1.5,order=natural". *M is NULL for none; its name is filled in, and the log
 * hears why auto chose it. A may be NULL when only an operator is known; it must stay alive.
 */
spry_status precon_make(spry_context *ctx, const spry_matrix *A, const char *spec,
                        spry_operator **M, char name[32]);

/* The options of the preconditioner `name`; none for one that does not exist. */
spry_option_list precon_options(const char *name);

/* The inverse of A's diagonal. A matrix that is not square, and an entry without an inverse (the
 * message names its row), fail for `who` needs it. */
spry_status precon_inverse_diagonal(const spry_matrix *A, const char *who, spry_vector **d);

/* Options of gs, sor and ssor. */
#define RELAX_ORDER(item)                                                                        \
    item(WORD, order, "multicolour", 0, 0, "multicolour natural",                                \
         "order of the rows: by colours, which all threads share, or natural, which one thread " \
         "does")
#define RELAX_OMEGA(item) item(REAL, omega, "1", 0.01, 1.99, NULL, "relaxation")

enum { RELAX_MULTICOLOUR, RELAX_NATURAL };
typedef struct relax_options {
    RELAX_ORDER(SPRY_OPTION_FIELD)
    RELAX_OMEGA(SPRY_OPTION_FIELD)
} relax_options;

/* One sweep of Gauss-Seidel, SOR, SSOR from zero; options are relax_options. */
spry_status precon_gs(const spry_matrix *A, const void *options, spry_operator **op);
spry_status precon_sor(const spry_matrix *A, const void *options, spry_operator **op);
spry_status precon_ssor(const spry_matrix *A, const void *options, spry_operator **op);

#endif
