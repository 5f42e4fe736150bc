/*
 * What the parts of the application share. A circuit is the system d/dt q(x) + f(x) = b(t) of
 * modified nodal analysis (C.-W. Ho, A. Ruehli, P. Brennan, 1975): x has the voltages of nodes and
 * the currents of branches that are not known from voltages. Number 0 is ground; row k of the
 * matrix is unknown k + 1. Devices give f, q and their derivatives G and C; all analyses are made
 * of these.
 */
#ifndef SPRY_CIRCUIT_H
#define SPRY_CIRCUIT_H

#include "common/app.h"
#include "common/expression.h"

/* --- options -----------------------------------------------------------------------------------*/

enum { UPDATE_IMPLICIT, UPDATE_EXPLICIT, UPDATE_DENSE };

#define CIRCUIT_OPTIONS(item)                                                                     \
    item(PATH, output, NULL, 0, 0, NULL, "write all waveforms: .csv, or .raw as SPICE has them")  \
    item(BOOL, ascii, "no", 0, 0, NULL, "write numbers of .raw files as text")                    \
    item(PATH, plot, NULL, 0, 0, NULL, "draw them (.svg)")                                        \
    item(TEXT, show, "", 0, 0, NULL,                                                              \
         "V(NODE) V(NODE,NODE) I(BRANCH) ...: what is written and drawn, in the place of .save")  \
    item(TEXT, param, "", 0, 0, NULL,                                                             \
         "NAME VALUE, NAME VALUE, ...: for .param lines of the netlist, in the place of theirs")  \
    item(TEXT, method, "direct", 0, 0, NULL,                                                      \
         "of the linear systems: direct keeps the ordering and makes only numbers anew; auto and" \
         " others are those of spry solve")                                                       \
    item(TEXT, precon, "auto", 0, 0, NULL, "preconditioner of methods that are not direct")       \
    item(TEXT, device, "cpu", 0, 0, NULL, "where such methods work: cpu, cuda or opencl, :N")     \
    item(REAL, linear_tol, "1e-9", 1e-14, 0.1, NULL, "residual of such methods")                  \
    item(WORD, update, "implicit", 0, 0, "implicit explicit dense",                               \
         "Newton's steps of .envelope and .pss: GMRES with products by the stored factors of a "  \
         "period; GMRES with the dense matrix; factors of the dense matrix")                      \
    item(PATH, matrices, NULL, 0, 0, NULL,                                                        \
         "write the matrix and the right-hand side of every step: NAME-1.mtx, NAME-1-b.mtx")      \
    item(INT, most_matrices, "100", 1, 1e6, NULL, "steps whose matrices are written at most")     \
    CLI_JSON(item, "results and figures of the run")                                              \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct circuit_options {
    CIRCUIT_OPTIONS(SPRY_OPTION_FIELD)
} circuit_options;

/* --- text.c: lines and words of a netlist ------------------------------------------------------*/

/* MOST_WORD: characters of words; what is longer fills the array, and is refused. MOST_NAME: of
 * names of nodes and elements. */
enum { WORD_SIZE = 512, MOST_WORD = WORD_SIZE - 2, MOST_NAME = 200 };

/* A logical line: continuation lines are part of it. */
typedef struct text_line {
    char *text;
    int file, number;
} text_line;

/* All lines, included ones in place; faults are reported once, with file and line. */
typedef struct netlist_text {
    char **files;
    int file_count;
    text_line *lines;
    int64_t count, room;
    int exit_status;
} netlist_text;

/* Memory that lives as long as the circuit; what is asked for ends the program where there is none.
 */
void *grow(void *list, int64_t count, int64_t *room, size_t size);
/* A line that a fault may be of. */
typedef struct text_place {
    netlist_text *text;
    const text_line *line; /* NULL: none */
} text_place;
void text_read(netlist_text *t, const char *path);
void text_free(netlist_text *t);
SPRY_PRINTF(3, 4) int text_fault(netlist_text *t, const text_line *l, const char *format, ...);
/* The next word in lower case; parts are set apart by blanks, commas and, unless `whole` is set,
 * parentheses; = is a word, and what is in braces or quotes. With `whole` v(a,b) is a word. false
 * at the end. */
bool text_word_next(const char **at, bool whole, char word[WORD_SIZE]);

/* --- circuit.c, netlist.c: what a netlist says -------------------------------------------------*/

/* Parameters of a model: one table names them, with defaults. */
enum { MODEL_NUMBERS = 40 };
typedef struct model {
    char kind;   /* 'd', 'q', 'm', 's', 'w' */
    double sign; /* of polarity: -1 for pnp and pmos */
    double number[MODEL_NUMBERS];
    uint64_t given; /* by the netlist */
} model;

enum { D_IS, D_N, D_RS, D_CJO, D_VJ, D_M, D_TT, D_BV, D_IBV, D_FC };
enum {
    Q_IS,
    Q_BF,
    Q_NF,
    Q_VAF,
    Q_IKF,
    Q_ISE,
    Q_NE,
    Q_BR,
    Q_NR,
    Q_VAR,
    Q_IKR,
    Q_ISC,
    Q_NC,
    Q_RB,
    Q_RE,
    Q_RC,
    Q_CJE,
    Q_VJE,
    Q_MJE,
    Q_TF,
    Q_CJC,
    Q_VJC,
    Q_MJC,
    Q_TR,
    Q_FC
};
enum {
    M_VTO,
    M_KP,
    M_GAMMA,
    M_PHI,
    M_LAMBDA,
    M_CGSO,
    M_CGDO,
    M_CGBO,
    M_CBD,
    M_CBS,
    M_PB,
    M_MJ,
    M_IS,
    M_FC,
    M_RD,
    M_RS,
    M_LD,
    M_LEVEL
};
enum { S_THRESHOLD, S_HYSTERESIS, S_ON, S_OFF };

/* Independent sources. */
enum { WAVE_DC, WAVE_PULSE, WAVE_SIN, WAVE_EXP, WAVE_PWL };
typedef struct wave {
    int kind, count; /* count: of numbers */
    double dc, ac, phase, *number;
} wave;

typedef struct element {
    char kind;       /* as in SPICE, in lower case */
    bool has_ic, on; /* on: of switches */
    int node[4];     /* unknowns */
    int inner[3];    /* of nodes within a semiconductor; those of its terminals where it has none */
    int branch;      /* its current; 0: none */
    int line;        /* of text */
    int control;     /* elements that F, H, W and K refer to: their branches */
    int other;
    double value, ic, second; /* second: area, delay, K's other inductor */
    double width, length;
    char *name;
    model *model;
    wave *wave;
    expression *b;
    double state[4]; /* junction voltages of the last iteration; of switches the last control */
} element;

typedef struct unknown_name {
    char *name;
    bool current;
} unknown_name;

enum { ANALYSIS_OP, ANALYSIS_DC, ANALYSIS_TRAN, ANALYSIS_AC, ANALYSIS_PSS, ANALYSIS_ENVELOPE };
typedef struct analysis {
    int kind, line;
    double number[8]; /* of the line, in its order */
    int sweep[2];     /* elements of .dc */
    char scale;       /* of .ac: 'd', 'o', 'l' */
    bool uic;
} analysis;

typedef struct tolerances {
    double relative, voltage, current, gmin, truncation, envelope;
    bool gear;
} tolerances;

/* Names and numbers: what .measure found, parameters. */
typedef struct measured {
    char name[WORD_SIZE];
    double value;
} measured;
typedef struct measures {
    measured *list;
    int64_t count, room;
} measures;

/* An initial voltage. */
typedef struct start {
    int unknown, line;
    double value;
} start;

typedef struct circuit {
    netlist_text text;
    unknown_name *unknowns; /* unknowns[0] is ground */
    int64_t size, unknown_room;
    element *elements;
    int64_t count, element_room;
    model **models;
    int64_t model_count, model_room;
    analysis *analyses;
    int64_t analysis_count, analysis_room;
    start *starts;
    int64_t start_count, start_room;
    int64_t *measures, measure_count, measure_room; /* lines */
    int64_t *saves, save_count, save_room;          /* lines */
    struct names *unknown_names, *element_names;
    measures parameters; /* of the circuit itself */
    tolerances tol;
    char title[WORD_SIZE];
} circuit;

/* netlist.c: an exit status; lines that are not understood are named. given: "NAME VALUE, ..." for
 * parameters in the place of the netlist's; may be NULL. */
int circuit_read(circuit *c, const char *path, const char *given);
void circuit_free(circuit *c);
/* 0: there is none (ground has its own test); -1. */
int circuit_unknown(const circuit *c, const char *name, bool *found);
int circuit_element(const circuit *c, const char *name);
/* Unknowns of v(a), v(a,b) and i(a), for expressions. */
bool circuit_reference(void *c, char kind, const char *a, const char *b, int unknowns[2]);

/* names.c: texts to numbers. */
struct names *names_new(void);
void names_free(struct names *n);
int names_find(const struct names *n, const char *name);              /* -1: it is not there */
const char *names_put(struct names *n, const char *name, int number); /* its own copy */

/* models.c: a .model's kind and parameters. */
bool model_kind(const char *word, model *m);
/* false: it has no such parameter, or (bounds are not NAN) its value is out of them. */
bool model_set(model *m, const char *name, double value, double bounds[2]);
void model_words(const model *m, char words[CLI_WORDS]);

/* source.c: what independent sources give. */
double wave_value(const wave *w, double t);
/* The first corner after t; infinite where there is none. */
double wave_corner(const wave *w, double t);

/* --- equations.c: the matrix
 * ----------------------------------------------------------------------*/

/* What stamps do: note places, note where they are, or add numbers. */
enum { STAMP_PLACES, STAMP_SLOTS, STAMP_NUMBERS };

/* The system at some x, and how it is solved. Arrays over unknowns begin with that of ground. */
typedef struct equations {
    spry_context *ctx;
    const circuit_options *o;
    circuit *c;
    int64_t rows, entries;
    int64_t *offsets;
    int32_t *columns;
    double *G0, *C0;   /* of linear elements */
    double *G, *C, *J; /* J = G + a C */
    double *f, *q, *b;
    int stamping;
    int64_t *tape, tape_count, tape_room; /* places, then where they are, of what is not linear */
    int64_t cursor;
    int64_t *diagonal; /* of nodes, else -1 */
    int *others;       /* elements that are not linear */
    int *sources;      /* elements whose b depends on time */
    int64_t other_count, source_count;
    bool linear; /* but for switches */
    /* of an evaluation */
    bool starts;        /* junctions have no voltage yet */
    bool limited;       /* a junction's voltage was limited */
    bool transient;     /* lines without losses are lines, not wires */
    bool waves;         /* sources have their waveforms, at the operating point before as well */
    bool pinned;        /* nodes of .ic have their voltages */
    double gmin, scale; /* scale: of sources */
    double shunt;       /* a conductance from all nodes to those of anchor, or (NULL) ground */
    const double *anchor;
    double time;
    /* linear solves */
    spry_matrix *A;
    spry_operator *M;
    spry_solver *solver;
    double *right, *change;
    double kept, a; /* kept: a of the present factors; NAN: there are none */
    bool unsolved;  /* --method did not solve the last system */
    bool turned;    /* a switch was, since then */
    int64_t factors, solves, iterations, steps, rejected, written;
    struct history *history; /* of lines without losses */
} equations;

spry_status equations_make(spry_context *ctx, const circuit_options *o, circuit *c, equations *s);
void equations_free(equations *s);
void put_g(equations *s, int row, int column, double value);
void put_c(equations *s, int row, int column, double value);
/* Of linear elements, whose numbers are added once. */
void put_linear_g(equations *s, int row, int column, double value);
void put_linear_c(equations *s, int row, int column, double value);
/* The four of a two-terminal element, by put_g or put_c. */
void put_between(equations *s, void (*add)(equations *, int, int, double), int a, int b, double v);
/* Where an entry is; past all where a row or column is ground's. */
int64_t equations_slot(const equations *s, int row, int column);
/* f, q, G and C at x; b at a time. */
void equations_evaluate(equations *s, const double *x);
void equations_sources(equations *s, double t);
/* change = (G + a C)^-1 right; *done: the matrix is not singular. */
spry_status equations_solve(equations *s, double a, bool *done);
/* Why Newton's method failed: a linear system was not solved, or what it would be otherwise. */
const char *equations_reason(const equations *s, const char *otherwise, char text[2 * WORD_SIZE]);
/* J = G + a C into values, and their factors as an operator, which is made where it is NULL. */
spry_status equations_factor(equations *s, double a, double *values, spry_matrix **A,
                             spry_operator **M, bool *done);
/* Between arrays over unknowns. */
spry_status equations_apply(equations *s, const spry_operator *M, const double *right,
                            double *change);
/* y = values x, over unknowns. */
void equations_multiply(const equations *s, const double *values, const double *x, double *y);
/* The last system that was solved, as NAME-1.mtx and NAME-1-b.mtx where --matrices asks for it. */
spry_status equations_write(equations *s);

/* lines.c: waves that lines without losses have sent. */
double line_wave(const equations *s, const element *e, int end, double t);
void lines_keep(equations *s, const double *x, double t, bool first);
double lines_delay(const equations *s);
double lines_corner(const equations *s, double t);
void lines_note(equations *s, double t);
void lines_free(equations *s);

/* semiconductor.c: stamps of what is not linear. */
void device_diode(equations *s, element *e, const double *x);
void device_bipolar(equations *s, element *e, const double *x);
void device_mosfet(equations *s, element *e, const double *x);

/* newton.c: equations a q(x) + f(x) = b + history. */
spry_status newton_step(equations *s, double a, const double *history, double *x, bool *converged);
/* The operating point, beginning at x. An exit status. */
int newton_operate(equations *s, double *x);

/* --- results.c, measure.c ----------------------------------------------------------------------*/

/* Columns of numbers over time, frequency or a swept value. */
typedef struct shown_column {
    char name[WORD_SIZE];
    int a, b; /* unknowns a - b; of the abscissa -1 */
} shown_column;

typedef struct results {
    const circuit *c;
    int kind;
    shown_column *columns;
    int count,
        shown; /* of columns, the abscissa first; those behind shown are for .measure alone */
    bool complex;
    double *numbers;
    int64_t rows, room;
} results;

/* Exit statuses. Columns are those of `show`, of .save, or all. */
int results_check(spry_context *ctx, const circuit_options *o);
int results_make(results *r, const circuit *c, const char *show, int kind);
void results_free(results *r);
void results_add(results *r, double abscissa, const double *x, const double *imaginary);
double results_at(const results *r, int64_t row, int column, bool imaginary);
/* The column of v(a), vdb(a), i(b); part: "db", "m", "p", "r", "i" or "". -1: there is none. */
int results_column(const results *r, const char *word, char part[8]);
int results_write(spry_context *ctx, const circuit_options *o, const results *r, int number);

/* Those of an analysis, added to what was found; without results lines are looked at alone. */
int measure_all(circuit *c, const results *r, measures *found);

/* --- run.c, transient.c, period.c, envelope.c
 * ---------------------------------------------------*/

typedef struct run {
    equations s;
    circuit *c;
    const circuit_options *o;
    results results;
    measures measures;
    progress line;
    double *most;  /* largest size of each unknown so far */
    double top[2]; /* of all voltages, of all currents */
    bool *smooth;  /* unknowns whose error is controlled */
    int64_t periods, jumps, krylov;
    double seconds;
} run;

int run_transient(run *r, const analysis *a);
int run_ac(run *r, const analysis *a);
int run_pss(run *r, const analysis *a);
int run_envelope(run *r, const analysis *a);
/* What a run ends with that did not get to its end. */
SPRY_PRINTF(2, 3) int run_failed(run *r, const char *format, ...);

/* Where a run in time is: x, the charges of the last two steps, and x of some before. */
typedef struct state {
    double t, before; /* before: length of the last step */
    double *q, *rate, *q_before, *x;
    double *past[3], at[3];
    int points; /* since the last corner, this one among them */
} state;

void state_make(state *z, int64_t size);
void state_free(state *z);
/* Begins at past[0] and t; `initial`: charges are those of IC=. */
void state_begin(run *r, state *z, bool initial);
/* z->x at t + h by a method of order 1 or 2, and dq/dt = a q - history of that step. */
spry_status state_step(run *r, state *z, double h, int order, bool *converged);
void state_accept(run *r, state *z, double h, int order);
/* Steps begin anew. */
void state_corner(state *z);
/* x at the beginning of a run: of .ic and IC= alone, or an operating point. An exit status. */
int state_initial(run *r, bool uic, double *x);
void run_note_sizes(run *r, const double *x);
void run_find_smooth(run *r);
/* The first corner of sources after t. */
double run_corner(const run *r, double t);
/* Switches by x: the part of a step from the last x at which the first turns; 2: none does. */
double switches_part(const equations *s, const double *x);
/* Turns them, or (turn is not set) takes note of x alone; whether one turned. */
bool switches_take(equations *s, const double *x, bool turn);

/* A step of a period: dq/dt = (q - a1 q_1 - a2 q_2)/h. */
typedef struct kept_step {
    double h, a1, a2;
    double *C, *values; /* values: of J */
    spry_matrix *A;
    spry_operator *M;
} kept_step;

/* Periods, and products with A = alpha J - beta I, J being the derivative of x at the end of a
 * period by x at its beginning. */
typedef struct period {
    run *r;
    double length, alpha, beta;
    int64_t least; /* steps of a period */
    kept_step *steps;
    int64_t count, room;
    double *C0, *work[4];
    state z;
    bool keeps, records; /* steps, for products; their x, for results */
} period;

void period_make(period *p, run *r, double length, int64_t least);
void period_free(period *p);
/* From x at t over a period. */
spry_status period_run(period *p, double t, double *x, bool *converged);
/* y = A v, as a spry_apply_fn. */
spry_status period_apply(void *data, spry_transpose op, const void *v, void *y);
/* change = A^-1 right, as --update says. */
spry_status period_solve(period *p, const double *right, double *change, bool *converged);

#endif
