/*
 * The inside of a runner, shared by all kinds of places to run. The course of a method is written
 * once, in course.c: sections and restarts, what exits mean, reports, faults, turns, bytes. A kind
 * knows how phases are run and what x is: the host (host.c, host_run.c), a device (resident.h).
 */
#ifndef SPRY_RUNNER_H
#define SPRY_RUNNER_H

#include "program/run.h"

/* What a kind of place does. Failures are returned or left in r->status. */
typedef struct runner_class {
    int together; /* right-hand sides that run together; the others wait for their turn */
    spry_status (*open)(runner *r);
    void (*close)(runner *r); /* also after a failed open */
    /* Whether it can be used as it is by another solve: threads may have come or gone. */
    bool (*fits)(const runner *r);
    /* Zeros in the right-hand side's vectors, where the plan sees them: a run begins. */
    spry_status (*clear)(runner *r, rhs *l);
    /* Section start, then turns of the loop, for those of the right-hand sides that are not done,
     * until each was finished by course_finish(). */
    spry_status (*run)(runner *r, int first, int count);
    /* Updates of x that the exit at hand is after in the text, but not in the plan. */
    spry_status (*settle)(runner *r, rhs *l);
    /* Those, and section finish. */
    spry_status (*finish)(runner *r, rhs *l);
    /* Before finish is run for a view alone: keeps the vectors of the view and where it is, in
     * v->place; and after it puts them back. A failed keep leaves nothing. */
    spry_status (*keep)(runner *r, rhs *l, runner_view *v);
    spry_status (*restore)(runner *r, rhs *l, runner_view *v);
    /* Goes on with another A; NULL: that cannot be. */
    spry_status (*exchange)(runner *r, const spry_operator *A);
    /* Copies a vector of an array to v, wherever that is, or back. */
    spry_status (*transfer)(runner *r, rhs *l, const view_vector *at, spry_vector *v, bool put);
} runner_class;

/* Of a device on ranks, and where right-hand sides see each other: its course is the host's, whose
 * numbers all ranks have alike. */
extern const runner_class runner_host, runner_device, runner_device_ranks;

struct runner {
    plan *p;
    spry_context *ctx;
    const runner_class *class;
    struct host_side *host;    /* of the host's kind */
    struct resident *resident; /* of a device's */
    spry_type type;
    int64_t size, n[2];
    const spry_operator *operators[OPERATOR_COUNT];
    int64_t changes[OPERATOR_COUNT]; /* theirs, when they were opened */
    const spry_operator *powers;     /* makes several steps of a basis with A */
    rhs *rhs;
    int rhs_room, rhs_count; /* there are, and in use */
    bool used;               /* it has run before */
    runner_turn_fn turn;     /* called before turns */
    void *turn_data;

    /* The place in the plan, for settling x and counting. */
    const node *block;
    bool counting;    /* in the loop */
    bool precompiles; /* see runner_precompile() */
    bool finishing;
    int64_t turns, most_turns; /* of loops that are left until the next report, and then */
    int64_t bytes;
    spry_status status; /* of a failure inside a parallel region or a nested run */

    /* On ranks (team.h). What fails on one of them alone is reported with the next reduction, and
     * the run goes on until then: the others wait for these. */
    bool ranked;
    vector_part parts[2]; /* of vectors, by space */
    spry_status late;
    bool stopped; /* a stop was requested */
};

/* Notes a failure that other ranks may not have. */
void course_note(runner *r, spry_status status);
/* One status for all ranks that run this; a runner of one rank alone has its own. */
spry_status course_agree(const runner *r, spry_status status);

/* --- what happens in a course, wherever it runs; `loop`: in section loop -------------------------
 */

/* A report: whether the right-hand side goes on. */
bool course_report(runner *r, rhs *l, const plan_op *o, bool loop, double value);
/* The condition of a breakdown or of a restart holds; the right-hand side is to be finished then.
 */
void course_break(rhs *l, const plan_op *o);
/* The end of a right-hand side: x is brought up to date. */
spry_status course_finish(runner *r, rhs *l);
/* Counts a turn of a loop; false when the run is to be given up. */
bool course_take_turn(runner *r, int place);
/* The failure of a turn of section loop without a report. */
spry_status course_fail_silent(const runner *r);
spry_status course_fail_turns(const runner *r, int place);
/* Notes that an index of the operation was outside its array, if it was; then it counts as not
 * done. That is a failure unless the right-hand side ends before it in the text: it may have run
 * early. */
bool course_check(rhs *l, const plan_op *o);
/* The failure. */
void course_fail_index(runner *r, rhs *l, int place);
/* What a phase moves for a right-hand side's vectors, and for the operators of `rhs_count`
 * right-hand sides, by the plan.
 */
int64_t course_vector_bytes(const runner *r, rhs *l, const phase *f);
int64_t course_operator_bytes(const runner *r, const phase *f, int rhs_count);

#endif
