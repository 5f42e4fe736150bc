/* What the files on Schwarz's methods share. */
#ifndef SPRY_PRECON_SCHWARZ_H
#define SPRY_PRECON_SCHWARZ_H

#include "precon/precon.h"

#define SCHWARZ_OPTIONS(item)                                                                   \
    PRECON_COMMON(item)                                                                         \
    item(WORD, kind, "ras", 0, 0, "ras as",                                                     \
         "restricted additive, or additive, which is symmetric where A is")                     \
    item(INT, parts, "0", 0, 1e6, NULL,                                                         \
         "parts of the rows; 0: one for every 2000 rows; across ranks: one per rank")           \
    item(INT, overlap, "1", 0, 100, NULL, "layers of neighbours that parts are made larger by") \
    item(TEXT, sub, "ilu", 0, 0, NULL, "what solves a part: any preconditioner of the host")
enum { SCHWARZ_RAS, SCHWARZ_AS };
typedef struct schwarz_options {
    SCHWARZ_OPTIONS(SPRY_OPTION_FIELD)
} schwarz_options;

/* For a matrix that is distributed over ranks. Collective. */
spry_status schwarz_make_ranks(const precon_job *job, spry_operator **M);

#endif
