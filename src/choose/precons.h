/*
 * Which preconditioners there are, and which suits a matrix: specs in a program's or a user's
 * words, and "auto".
 */
#ifndef SPRY_CHOOSE_PRECONS_H
#define SPRY_CHOOSE_PRECONS_H

#include "precon/precon.h"

#include <spry/list.h>

/* "auto", or a kind with or without options after a colon. */
spry_status precon_spec_read(spry_context *ctx, const char *text, precon_spec *spec);
/* precon_make() of a text, without anything begun. */
spry_status precon_make_from_text(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                                  const char *text, spry_operator **M, char name[32]);
/* Of a kind by its name, which may have options after a colon: its options (none where there is no
 * such kind), and whether it is the inverse but for rounding, and a diagonal or nothing. */
spry_option_list precon_options(const char *name);
bool precon_is_exact(const char *name);
bool precon_is_simple(const char *name);
/* For SPRY_LIST_PRECONS: fills a cleared entry; false past the last. */
bool precon_entry_at(int index, spry_entry *entry);

/* `systems`: right-hand sides that are solved for, as far as is known; `on_device`: M is to live on
 * a device. */
spry_status precon_choose(spry_context *ctx, const spry_matrix *A, int systems, bool on_device,
                          precon_choice *choice);
/* Those of a solve where the diagonal dominates, so that there was no trial. */
enum { PRECON_DOMINATED = 30 };
/* Products with A, vectors counted as such, that set-up and solve take of a grid of so many rows:
 * with a kind, or with what is likely to be chosen (NULL). */
double precon_likely_products(const precon_kind *kind, double rows);
/* Whether a choice for `before` right-hand sides does for `systems`. */
bool precon_choice_stands(int systems, int before);
/*
 * Two random vectors u, v: (A u, v) = (u, A v) for hermitian A, and without conjugation for
 * symmetric A. A difference far above rounding disproves it; a skew part far below |A| goes
 * unnoticed. Costs two products, or one where A is known to be hermitian.
 */
typedef struct precon_symmetry {
    bool hermitian, symmetric;
    bool positive; /* (u, A u) > 0 for both, or for all where A is diagonal */
} precon_symmetry;
spry_status precon_probe(const spry_operator *A, precon_symmetry *probe);

#endif
