/*
 * Running plans on a device. Vectors, scalars and the table of which vector has which memory live
 * on the device; the host launches phases without waiting. A phase is one generated kernel: the
 * sweep over memory, and after it, in the last group that ends (or in a kernel of one group), the
 * inner products and the scalar work. Where a report asks for a judgement (its value is beyond the
 * limits that the host has set, or as many reports as allowed were made), where a condition to stop
 * holds, or where an index is wrong, the device notes the place and lets every later kernel do
 * nothing. The host looks now and then, judges, and goes on from that place.
 *
 * The text: emit_program.c, emit_sweep.h, emit_tail.c, emit_whole.c. Memory, programs and launches:
 * resident.c. Its course: resident_course.c (legs), resident_advance.c (launching them),
 * resident_poll.c (judging what came of it), resident_view.c (x of the moment), resident_run.c
 * (batches of turns).
 */
#ifndef SPRY_RESIDENT_H
#define SPRY_RESIDENT_H

#include "formats/shared/device_formats.h"
#include "program/emit.h"
#include "program/runner.h"

/*
 * The words of the control block, 64 bits each. After them the table of slots and the bases of
 * arrays (in elements of the memory of vectors), the scalars, and the reports.
 */
/* clang-format off */
#define RESIDENT_WORDS(word)                                                                 \
    word(STOP)          /* 0: running; else a stop_kind */                                   \
    word(OP)            /* the operation that stopped it */                                  \
    word(FAULT)         /* place of the first wrong index, -1: none */                       \
    word(FAULT_ORDER)   /* and the order of its operation */                                 \
    word(REPORTS)       /* made since the host last looked */                                \
    word(LEFT)          /* reports of the loop until it stops by itself */                   \
    word(WAIT)          /* reports of the loop before it stops for a look at x */            \
    word(SKIP)          /* bits of updates of x that were made early */                      \
    word(TICKET)        /* groups that are through with the phase */                         \
    word(PHASES)        /* done since the host has looked */                                 \
    word(STRIDE0)       /* elements from a vector of an array to the next, by space */       \
    word(STRIDE1)                                                                            \
    word(N0)            /* elements of vectors, by space */                                  \
    word(N1)                                                                                 \
    word(FIRST0)        /* elements of the ranks before this one, by space */                \
    word(FIRST1)                                                                             \
    word(ALL0)          /* elements of all ranks, by space */                                \
    word(ALL1)                                                                               \
    word(POSITIONS)     /* of the rows of A, A^T and A^H */                                  \
    word(POSITIONS_T)                                                                        \
    word(POSITIONS_H)                                                                        \
    word(X)             /* addresses, where memory has some */                               \
    word(B)                                                                                  \
    word(BARRIER)       /* groups that have come to a barrier of all, ever */                \
    word(BEFORE)        /* elements of the columns before this one, which share its memory */ \
    word(APART)         /* elements from a column's vectors to the next column's */          \
    word(MEMBERS)       /* bits of the columns whose vectors are [v] */                   \
    word(TAKES)         /* bits of the columns that take part in a launch for all of them */
/* clang-format on */

#define RESIDENT_WORD_NAME(name) ST_##name,
enum { RESIDENT_WORDS(RESIDENT_WORD_NAME) ST_SLOTS };

typedef enum stop_kind {
    STOP_NOT,
    STOP_REPORT,
    STOP_BREAKDOWN,
    STOP_RESTART,
    STOP_FAULT
} stop_kind;

/* The limits, numbers before the reports. */
enum { REP_LOW, REP_HIGH, REP_LOOK, REP_GRADIENT_LOW, REP_GRADIENT, REP_FIRST = 8 };
enum { MOST_REPORTS = 1024, MOST_COUNTERS = 8, RESIDENT_GROUP = 256, MOST_STOPS = 64 };
enum { RESIDENT_MOST_PARTS = 8 };

/* What the text needs to know in addition to the plan. */
typedef struct emit_job {
    const plan *p;
    spry_type type;
    bool tickets;
    bool joined;            /* reductions end on the host, which does the scalar work */
    int group;              /* work-items of a group */
    int width, slice_width; /* elements per work-item has at a time */
    int columns;   /* right-hand sides that see each other, which have one launch; 0: they do not */
    int64_t words; /* of the control block of each of these */
    const device_rows *rows; /* of A, A^T and A^H; those with a text are in the program */
    int counters;            /* loop variables that kernels get by value */
    int *counter;            /* by name: which; NONE: none */
    int64_t num_at, rep_at;  /* words of the control block */
    int part, parts;         /* phases and settling operations of which this program has every
                                parts-th, beginning with that */
    base_text *out;
} emit_job;

/* Bytes of a number of the control block, and of an inner product. */
static inline int64_t emit_number_size(spry_type type)
{
    return spry_type_is_complex(type) ? 16 : 8;
}
/* How many sums a phase has: room for partial sums is groups times that. */
int64_t emit_slots(const plan *p, const phase *f);
/* The first of those of an operation. */
int64_t emit_slot(const plan *p, const phase *f, int op);
/* Whether an operand is a slice of an array, or has a vector of each right-hand side. */
static inline bool emit_is_slice(const vref *v)
{
    return v->all || (v->first != NONE && v->first != v->last);
}
/* Whether an operation is a part of a sweep's kernel; else it is scalar work, or called. */
static inline bool emit_in_sweep(const plan *p, const plan_op *o)
{
    return op_sweeps(o) && !plan_calls(p, o);
}
/* The space of its result, or of what it is an inner product of. */
static inline int emit_space(const plan *p, const plan_op *o)
{
    return p->vars[(o->kind == OP_DOT ? o->in[1] : o->out).var].space;
}
/* Whether a phase has products by rows with A, A^T or A^H, and with which, the only one. NONE: with
 * none. */
bool emit_has_product(const plan *p, const phase *f, int turned);
int emit_turned(const plan *p, const phase *f);
/* The prefix of its names in a program. */
const char *emit_prefix(int turned);
/* Elements per work-item of a phase has at a time, where they are not rows of a product. */
int emit_width(const emit_job *w, const phase *f);
/* Whether a phase needs its tail: inner products or scalar work. */
bool emit_has_tail(const plan *p, const phase *f);
/* The bit in ST_SKIP of an update of x that an exit may ask for before its phase; -1: none. */
int emit_skip_bit(const plan *p, int op);
/* Whether the factors of term k, a vector of all right-hand sides, have room in local memory,
 * behind those of the phase's terms before it. */
bool emit_in_local(const emit_job *w, const phase *f, int op, int k);
/* The program of a part of the phases, and that of the loop as one kernel `whole`, whose arguments
 * are those of the phases together and the turns to make. */
spry_status emit_program(emit_job *w);
spry_status emit_whole(emit_job *w);
/* Sums of the loop's phases at most: a kernel `whole` needs room for twice as many. */
int64_t emit_whole_slots(const plan *p);
emitter emit_expressions(const emit_job *w);
/* What both begin with; arguments of a kernel (NULL: of all phases); the sweep of a phase. */
void emit_common(emit_job *w);
void emit_arguments(const emit_job *w, const phase *f);
void emit_body(emit_job *w, int phase_index);
void emit_counter(const emit_job *w, int op);
/* The kernel of a phase's sweep, or of the one operation (a COMBINE, to x) alone. */
void emit_phase(emit_job *w, int phase_index);
void emit_settle(emit_job *w, int op);
/* The function tail_N and the kernels end_N and resume_N. */
void emit_tail(emit_job *w, int phase_index);

enum { DO_PHASE, DO_FOR, DO_NEXT, DO_IF, DO_JUMP, DO_END };

/* A leg of the course: sections one after another, loops and branches as jumps. */
typedef struct course_leg {
    int kind, node, phase, to;
} course_leg;

/* A word of the control block. */
typedef union control_word {
    int64_t whole;
    double real;
} control_word;

typedef struct resident {
    runner *r;
    spry_device *d;
    const plan *p;
    rhs *l;
    bool joined; /* see emit_job */
    struct resident_memory {
        device_memory *control, *vectors, *partials;
        int64_t stride[2];
        int64_t *slots; /* of plain vectors, as far as the host has come */
        /* Right-hand sides that see each other: how many at most, elements of those before it,
         * in the memory that the first of them owns, and of each of them; and whether it is not the
         * first, which has the programs, the control blocks of all, and the reductions. */
        int columns;
        int64_t before, apart;
        bool borrows;
        device_memory *call_in, *call_out; /* operands of operators that can only be called */
        void *host_in, *host_out;          /* the same for operators of the host */
    } memory;
    struct resident_block { /* the control block */
        control_word *mirror;
        int64_t words, num_at, rep_at; /* where its parts begin */
        control_word *copies;          /* on ranks: copies of the mirror that are on their way, */
        int sent;                      /* of them */
    } block;
    struct resident_code {
        device_rows rows[3]; /* of A, A^T and A^H, where sweeps have products with them */
        const device_memory *diagonal[3];              /* of M, by transpose */
        device_program *programs[RESIDENT_MOST_PARTS]; /* phase f is in f % parts */
        int parts, group;
        int64_t *groups; /* by phase */
        /* Loop variables that kernels get by value: by name which, and their names. */
        int counters;
        int *counter, *counter_names;
    } code;
    struct resident_whole { /* the loop as one kernel, where that is possible and wise */
        bool tried;
        device_program *program;
        device_memory *partials;
        int group;
        int64_t groups;
    } whole;
    struct resident_course {
        course_leg *legs;
        int leg_count, leg_room;
        int section[SECTION_COUNT];
        int *leg_of;       /* by operation: the leg whose phase it is in */
        int64_t *loop_end; /* by node */
        int pc;
        bool calls;       /* some operators can only be called */
        bool held;        /* and what they make is held back where the device has stopped (accept):
                             else exits are looked at one by one */
        bool *loose;      /* by operation that calls: its result need not be held back */
        bool called;      /* on ranks: the operator, which may have sent messages */
        bool warm;        /* a turn was launched: whatever is opened at first use is open */
        bool turns_alike; /* every turn of the loop launches the same: it can be recorded */
        bool look_first;  /* before the next leg */
        bool counting_only; /* goes on without launching, to count what a turn moves */
        int64_t exits,
            ahead; /* phases with exits: launched since the last look, and then it looks */
        device_graph *graph;
        int64_t *graph_slots; /* slots when it was recorded: what is called has addresses of then */
        int64_t skip;         /* updates of x that were made early and are still to come */
    } course;
    struct resident_batch {          /* what was launched since the last look */
        int64_t *bytes, *turn_bytes; /* up to each phase; the second of a turn that is recorded */
        int launched, room;
        int64_t turn_phases, played;
        int64_t ended; /* turns whose last phase was launched since then */
        bool reported; /* something since the turn at hand began */
        bool partial;  /* it began within a turn */
        bool expects;  /* a stop at its end, by the run before */
    } batch;
    struct resident_known { /* of turns, by solves before as well */
        double turn_seconds, looked_at;
        int64_t turn_reports, counted;  /* reports of a turn; of phases launched or gone through */
        double first_value, last_value; /* reports of this run, and how many came between them */
        int64_t values;
        int64_t
            stops[MOST_STOPS]; /* reports after which the run before was stopped, and this one */
        int64_t new_stops[MOST_STOPS];
        int stop_count, new_count;
        bool stopped;   /* when it looked last */
        int64_t missed; /* turns of the next batch, when a stop that was expected did not come */
    } known;
} resident;

/* Right-hand sides that one launch serves at most. */
static inline int resident_together(const resident *s)
{
    return s->memory.columns > 0 ? s->memory.columns : 1;
}
spry_status resident_open(runner *r);
/* The same of a right-hand side of a runner whose course is the host's; and frees what there is of
 * it. Right-hand sides that see each other have their vectors in one memory, of the first of them.
 */
spry_status resident_make(runner *r, bool joined, int rhs_index, resident **out);
void resident_free(runner *r, resident *s);
/* Zeros in the right-hand side's vectors and the control block as the run begins, in the mirror. */
spry_status resident_prepare(resident *s, rhs *l);
/* Room for calls on ranks, where no call may fail for want of it. */
spry_status resident_open_calls(resident *s);
/* An operator that can only be called, with vectors at these indices of arrays. */
spry_status resident_call(resident *s, const plan_op *o, int64_t from_index, int64_t to_index);
/* Several steps of a basis, by an operator of the device. */
struct sweep_powers;
spry_status resident_powers(resident *s, const plan_op *o, struct sweep_powers *call);
/* Copies the vectors that a view keeps, or puts them back. */
spry_status resident_copy_view(const resident *s, const rhs *l, const runner_view *v,
                               device_memory *copy, bool back);
spry_status resident_transfer_of(resident *s, rhs *l, const view_vector *at, spry_vector *v,
                                 bool put);
void resident_close(runner *r);
spry_status resident_clear(runner *r, rhs *l);
spry_status resident_open_course(resident *s);
/* Goes on until the section ends or the host has to look first: because the next leg depends on
 * numbers, or because an exit is behind it and operators that cannot be held back are ahead.
 * `fresh` says that it has just looked. *end: the section ended. */
spry_status resident_advance(resident *s, bool fresh, bool *end);
spry_status resident_launch_tail(resident *s, int index, int from);
/* Lets the device go on from where the host's mirror says; `judged`: up to the limits. */
spry_status resident_let_go(resident *s, bool judged);
/* Waits for the device and judges its reports; where it had stopped and goes on, so does the host
 * from that place. */
spry_status resident_poll(resident *s);
spry_status resident_settle(runner *r, rhs *l);
spry_status resident_finish(runner *r, rhs *l);
spry_status resident_keep(runner *r, rhs *l, runner_view *v);
spry_status resident_restore(runner *r, rhs *l, runner_view *v);
spry_status resident_transfer(runner *r, rhs *l, const view_vector *at, spry_vector *v, bool put);
/* Launches a kernel of the program for phase f (NONE: one without matrix), with `more` arguments
 * behind the common ones. */
spry_status resident_launch(resident *s, const char *kernel, int number, const phase *f,
                            int64_t groups, const device_arg *more, int count);
spry_status resident_launch_whole(resident *s, int64_t turns);
spry_status resident_build_whole(resident *s, int64_t turn_bytes);
/* Operators that can only be called, before the phase's sweep. */
spry_status resident_calls(resident *s, const phase *f);
/* The host's side of numbers (resident_follow.c): a name's value; numbers and slots as the device
 * has them (`stopped`: loop variables, too), and back; whether an expression can be computed along;
 * and doing so after an operation at scalar time. */
spry_scalar *resident_value(resident *s, int name);
void resident_take(resident *s, bool stopped);
void resident_give(resident *s);
bool resident_knows(const resident *s, int e);
void resident_follow(resident *s, const plan_op *o);
/* The control block to the device and back. */
spry_status resident_send(resident *s);
spry_status resident_fetch(resident *s);

#endif
