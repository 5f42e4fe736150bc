/*
 * Courses of runs: what a program reported and which x it had while it ran, to compare runs of the
 * same text bit by bit: as it reads (oracle.h), as an unfused plan, as a fused one.
 */
#ifndef SPRY_TESTS_COURSES_H
#define SPRY_TESTS_COURSES_H

#include "program/run.h"

enum { COURSE_LONGEST = 32 };

/* The system a program is run on. */
typedef struct course_system {
    spry_context *ctx;
    spry_type type;
    int64_t rows, cols;
    spry_matrix *matrix, *square; /* the second, cols x cols, is what M is made of */
    spry_operator *A, *M;         /* M may be NULL */
    spry_operator *inner;         /* what a caller's function calls */
    bool ranked; /* plans run as on ranks, with this one alone: sums are sent, and come later */
} course_system;

/* How A and M answer: by rows, as a diagonal, as a caller's function, by sweeps over rows. */
typedef enum course_operator {
    COURSE_NONE,
    COURSE_ROWS,
    COURSE_DIAGONAL,
    COURSE_FUNCTION,
    COURSE_SWEEPS,
    COURSE_OPERATORS
} course_operator;

/* A random system: entries of A near the diagonal, which is 1; |A| is less than 2. */
void course_open(spry_context *ctx, spry_type type, int64_t rows, int64_t cols, course_operator A,
                 course_operator M, uint64_t seed, course_system *system);
void course_close(course_system *system);

/* One right-hand side's run. */
typedef struct course {
    int end_at;    /* report at which it is ended, from 1 */
    bool twice;    /* a second run follows, from the x of the first: until as many reports again */
    uint32_t look; /* bit k: x is looked at in report k */
    uint64_t seed; /* of b and the first x */
    /* NULL, or room for COURSE_LONGEST + 1 vectors x: those looked at, by report, and after them
     * the last one. */
    spry_scalar *seen;

    spry_status status;
    int reports;
    report_kind kind[COURSE_LONGEST];
    double value[COURSE_LONGEST];
    uint64_t x[COURSE_LONGEST]; /* hashes; where looked at */
    uint64_t last;              /* of x at the end */
    int breakdowns;
    char text[160]; /* of the last */
} course;

/* The b and the first x of a seed, as long as the longer of the two. */
void course_vectors(const course_system *system, uint64_t seed, spry_scalar *b, spry_scalar *x);

/* Runs the text as it reads. */
void course_of_text(const course_system *system, const char *text, course *c);
/* Runs it as a plan, `count` right-hand sides side by side. The first status that is not
 * SPRY_STATUS_OK is that of all. */
void course_of_plan(const course_system *system, const char *text, bool fuse, int count,
                    course *courses);

/* Whether two courses are the same, as far as both looked; else `what` says where they part. */
bool course_same(const course *a, const course *b, char what[160]);

#endif
