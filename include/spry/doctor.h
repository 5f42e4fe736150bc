/* The doctor: what is wrong with a system, why, and what to do next. */
#ifndef SPRY_DOCTOR_H
#define SPRY_DOCTOR_H

#include <spry/matrix.h>
#include <spry/options.h>
#include <spry/result.h>

SPRY_BEGIN

#define SPRY_SEVERITY_LIST(item)                                                           \
    item(NOTE, "note", "worth knowing: choices follow from it")                            \
    item(WARNING, "warning", "hinders some or most ways to solve, or is likely a mistake") \
    item(ERROR, "error", "as it stands the system has no solution, or none that is unique")

#define SPRY_SEVERITY_ENUM(name, word, text) SPRY_SEVERITY_##name,
/** How much a finding matters. */
typedef enum spry_severity {
    SPRY_SEVERITY_LIST(SPRY_SEVERITY_ENUM) SPRY_SEVERITY_COUNT
} spry_severity;

/** The severity as one word: "warning"; NULL for one that does not exist. */
SPRY_API const char *spry_severity_name(spry_severity severity);

enum { SPRY_FINDING_PLACES = 8, SPRY_FINDING_FIGURES = 6 };

/** A number that a finding rests on. */
typedef struct spry_figure {
    const char *name; /**< "condition", "structural_rank" */
    double value;     /**< which may be infinite */
} spry_figure;

/** One finding. Made by the library alone; see spry_finding_at(). */
typedef struct spry_finding {
    const char *code;       /**< its kind, of SPRY_LIST_FINDINGS: "structurally-singular" */
    spry_severity severity; /**< how much it matters */
    char text[640];         /**< what was found */
    char cause[512];        /**< why such things happen */
    char next[512];         /**< the command to try next */
    int64_t row_count;      /**< rows that are concerned; 0: all, or none in particular */
    int64_t col_count;      /**< the same for columns */
    int64_t rows[SPRY_FINDING_PLACES];         /**< the first of them, or the most concerned; from
                                                    0, -1 where there are no more */
    int64_t cols[SPRY_FINDING_PLACES];         /**< the same for columns */
    spry_figure figures[SPRY_FINDING_FIGURES]; /**< what it rests on */
    int figure_count;                          /**< of figures */
} spry_finding;

/** All findings on a system. */
typedef struct spry_diagnosis {
    size_t size;            /**< SPRY_DIAGNOSIS_INIT */
    spry_finding *findings; /**< the worst first */
    int64_t count;          /**< of findings */
    size_t finding_size;    /**< bytes from one finding to the next */
    int64_t errors;         /**< findings of severity error */
    int64_t warnings;       /**< findings of severity warning */
    double condition;       /**< the largest lower bound on A's condition, rows and columns
                                 scaled, that was found; 0: none */
    double seconds;         /**< of the examination */
    bool complete; /**< every check was made; else the finding "unchecked" names the others */
} spry_diagnosis;
#define SPRY_DIAGNOSIS_INIT SPRY_SIZED(spry_diagnosis)

/**
 * Examines a system as an expert would. Every finding is established: a figure that is a bound is
 * called one. Listens to spry_context_interrupt().
 *
 * @param A          any matrix, also one with values that are not finite or duplicates
 * @param b          right-hand side, of A's type, on the host or a device; NULL: none
 * @param options    "seconds=5 method=cg precon=ilu" or NULL; see spry_options_of("diagnose")
 * @param result     of a failed solve with A, which is examined, too; NULL: none
 * @param diagnosis  out: initialised or cleared; to be cleared by spry_diagnosis_clear(), also
 *                   after a failure
 * @return SPRY_STATUS_INTERRUPTED with the findings so far
 */
SPRY_API spry_status spry_diagnose(const spry_matrix *A, const spry_vector *b, const char *options,
                                   const spry_result *result, spry_diagnosis *diagnosis);
/** A finding; NULL past the last. Findings may be longer than this struct. */
SPRY_API const spry_finding *spry_finding_at(const spry_diagnosis *diagnosis, int64_t index);
/** Frees what a diagnosis holds and clears it; NULL and cleared ones are allowed. */
SPRY_API void spry_diagnosis_clear(spry_context *ctx, spry_diagnosis *diagnosis);

SPRY_END

#endif
