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

/* --- options ---------------------------------------------------------------------------------- */

enum { UPDATE_IMPLICIT, UPDATE_EXPLICIT, UPDATE_DENSE };

#define CIRCUIT_OPTIONS(item)                                                                      \
    item(PATH, output, NULL, 0, 0, NULL, "write all waveforms: .csv, or .raw as SPICE has them")   \
    item(BOOL, ascii, "no", 0, 0, NULL, "write numbers of .raw files as text")                     \
    item(PATH, plot, NULL, 0, 0, NULL, "draw them (.svg)")                                         \
    item(TEXT, show, "", 0, 0, NULL,                                                               \
         "V(NODE) V(NODE,NODE) I(BRANCH) ...: what is written and drawn, in the place of .save")   \
    item(TEXT, param, "", 0, 0, NULL,                                                              \
         "NAME VALUE, NAME VALUE, ...: for .param lines of the netlist, in the place of theirs")   \
    item(TEXT, method, "direct", 0, 0, NULL,                                                       \
         "of the linear systems: direct keeps the ordering and makes only numbers anew; auto and"  \
         " others are those of spry solve")                                                        \
    item(TEXT, precon, "auto", 0, 0, NULL, "preconditioner of methods that are not direct")        \
    item(                                                                                          \
        TEXT, device, "cpu", 0, 0, NULL,                                                           \
        "where such methods work, and the solves and products of .envelope and .pss: cpu, cuda or" \
        " opencl, :N")                                                                             \
    item(REAL, linear_tol, "1e-9", 1e-14, 0.1, NULL, "residual of such methods")                   \
    item(WORD, update, "implicit", 0, 0, "implicit explicit dense",                                \
         "Newton's steps of .envelope and .pss: GMRES with products by the stored factors of a "   \
         "period; GMRES with the dense matrix; factors of the dense matrix")                       \
    item(PATH, matrices, NULL, 0, 0, NULL,                                                         \
         "write the matrix and the right-hand side of every step: NAME-1.mtx, NAME-1-b.mtx")       \
    item(INT, most_matrices, "100", 1, 1e6, NULL, "steps whose matrices are written at most")      \
    CLI_JSON(item, "results and figures of the run")                                               \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct circuit_options {
    CIRCUIT_OPTIONS(SPRY_OPTION_FIELD)
} circuit_options;

/* --- text.c: lines and words of a netlist ----------------------------------------------------- */

/* MOST_WORD: characters of words; what is longer fills the array, and is refused. MOST_NAME: of
 * names of nodes and elements. */
enum { WORD_SIZE = 512, MOST_WORD = WORD_SIZE - 2, MOST_NAME = 200 };

/* A logical line: continuation lines are part of it. */
typedef struct text_line {
    char *text;
    int file, number;
} text_line;

/* All lines, included ones in place. */
typedef struct netlist_text {
    char **files;
    text_line *lines;
    int64_t count, room, file_count, file_room;
} netlist_text;

/* Memory that lives as long as the circuit; what is asked for ends the program where there is none.
 * GROWN: the place of one more of a list. */
void *grow(void *list, int64_t count, int64_t *room, size_t size);
#define GROWN(list, count, room) \
    ((list) = grow((list), (count), &(room), sizeof *(list)), &(list)[(count)++])
double *zeros(int64_t count);
char *text_copy(const char *from, size_t length);
void text_read(netlist_text *t, const char *path);
void text_free(netlist_text *t);
/* Faults of the netlist end the program, with file and line (NULL: with neither). */
_Noreturn void text_end(int exit_status);
SPRY_PRINTF(3, 4)
_Noreturn void text_fault(const netlist_text *t, const text_line *l, const char *format, ...);
/* The next word in lower case; parts are set apart by blanks, commas and, unless `whole` is set,
 * parentheses; = is a word, and what is in braces or quotes. With `whole` v(a,b) is a word. false
 * at the end. */
bool text_word_next(const char **at, bool whole, char word[WORD_SIZE]);

/* --- circuit.c, netlist.c: what a netlist says ------------------------------------------------ */

/* Parameters of a model: one table names them, with defaults. */
enum { MODEL_NUMBERS = 40 };
typedef struct model {
    char kind;   /* 'd', 'q', 'm', 's', 'w' */
    double sign; /* of polarity: -1 for pnp and pmos */
    double number[MODEL_NUMBERS];
    uint64_t given; /* by the netlist */
} model;

/* Of each: name, default, and bounds that are both allowed. */
#define MODEL_D(item)                   \
    item(D_IS, "is", 1e-14, 1e-40, 1)   \
    item(D_N, "n", 1, 0.1, 100)         \
    item(D_RS, "rs", 0, 0, 1e6)         \
    item(D_CJO, "cjo", 0, 0, 1)         \
    item(D_VJ, "vj", 1, 0.1, 10)        \
    item(D_M, "m", 0.5, 0.01, 0.9)      \
    item(D_TT, "tt", 0, 0, 1)           \
    item(D_BV, "bv", 0, 0, 1e6)         \
    item(D_IBV, "ibv", 1e-3, 1e-12, 10) \
    item(D_FC, "fc", 0.5, 0, 0.95)
#define MODEL_Q(item)                   \
    item(Q_IS, "is", 1e-16, 1e-40, 1)   \
    item(Q_BF, "bf", 100, 1e-3, 1e6)    \
    item(Q_NF, "nf", 1, 0.1, 100)       \
    item(Q_VAF, "vaf", 0, 0, 1e30)      \
    item(Q_IKF, "ikf", 0, 0, 1e30)      \
    item(Q_ISE, "ise", 0, 0, 1)         \
    item(Q_NE, "ne", 1.5, 0.1, 100)     \
    item(Q_BR, "br", 1, 1e-3, 1e6)      \
    item(Q_NR, "nr", 1, 0.1, 100)       \
    item(Q_VAR, "var", 0, 0, 1e30)      \
    item(Q_IKR, "ikr", 0, 0, 1e30)      \
    item(Q_ISC, "isc", 0, 0, 1)         \
    item(Q_NC, "nc", 2, 0.1, 100)       \
    item(Q_RB, "rb", 0, 0, 1e6)         \
    item(Q_RE, "re", 0, 0, 1e6)         \
    item(Q_RC, "rc", 0, 0, 1e6)         \
    item(Q_CJE, "cje", 0, 0, 1)         \
    item(Q_VJE, "vje", 0.75, 0.1, 10)   \
    item(Q_MJE, "mje", 0.33, 0.01, 0.9) \
    item(Q_TF, "tf", 0, 0, 1)           \
    item(Q_CJC, "cjc", 0, 0, 1)         \
    item(Q_VJC, "vjc", 0.75, 0.1, 10)   \
    item(Q_MJC, "mjc", 0.33, 0.01, 0.9) \
    item(Q_TR, "tr", 0, 0, 1)           \
    item(Q_FC, "fc", 0.5, 0, 0.95)
#define MODEL_M(item)                  \
    item(M_VTO, "vto", 0, -1e3, 1e3)   \
    item(M_KP, "kp", 2e-5, 1e-15, 1e6) \
    item(M_GAMMA, "gamma", 0, 0, 100)  \
    item(M_PHI, "phi", 0.6, 0.05, 10)  \
    item(M_LAMBDA, "lambda", 0, 0, 10) \
    item(M_CGSO, "cgso", 0, 0, 1)      \
    item(M_CGDO, "cgdo", 0, 0, 1)      \
    item(M_CGBO, "cgbo", 0, 0, 1)      \
    item(M_CBD, "cbd", 0, 0, 1)        \
    item(M_CBS, "cbs", 0, 0, 1)        \
    item(M_PB, "pb", 0.8, 0.1, 10)     \
    item(M_MJ, "mj", 0.5, 0.01, 0.9)   \
    item(M_IS, "is", 1e-14, 1e-40, 1)  \
    item(M_FC, "fc", 0.5, 0, 0.95)     \
    item(M_RD, "rd", 0, 0, 1e6)        \
    item(M_RS, "rs", 0, 0, 1e6)        \
    item(M_LD, "ld", 0, 0, 1)          \
    item(M_LEVEL, "level", 1, 1, 1)
#define MODEL_PLACE(place, name, initial, low, high) place,
enum { MODEL_D(MODEL_PLACE) };
enum { MODEL_Q(MODEL_PLACE) };
enum { MODEL_M(MODEL_PLACE) };
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
    const char *name;
    model *model;
    wave *wave;
    expression *b;
    double state[4]; /* junction voltages of the last iteration; of switches the last control */
} element;

typedef struct unknown_name {
    const char *name;
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

/* netlist.c: lines that are not understood are faults. given: "NAME VALUE, ..." for parameters in
 * the place of the netlist's; may be NULL. */
void circuit_read(circuit *c, const char *path, const char *given);
void circuit_free(circuit *c);
/* 0: there is none (ground has its own test); -1. */
int circuit_unknown(const circuit *c, const char *name, bool *found);
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

/* --- equations.c: the matrix ------------------------------------------------------------------ */

/* What stamps do: note places, note where they are, or add numbers. */
enum { STAMP_PLACES, STAMP_SLOTS, STAMP_NUMBERS };

/* A matrix of the pattern, and what it is applied as: products, or its factors. */
typedef struct kept_matrix {
    double *values;
    spry_matrix *A;
    spry_operator *op;
} kept_matrix;

/* The system at some x, and how it is solved. Arrays over unknowns begin with that of ground. */
typedef struct equations {
    spry_context *ctx;
    const circuit_options *o;
    circuit *c;
    int64_t rows, entries;
    int64_t *offsets;
    int32_t *columns;
    double *G0, *C0; /* of linear elements */
    double *G, *C;
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
    kept_matrix system;  /* J's, as --method direct solves with it */
    spry_device *device; /* of factors and products over periods; NULL: the host */
    spry_solver *solver;
    double *right, *change;
    double kept, a;  /* kept: a of the present factors; NAN: there are none */
    bool unsolved;   /* --method did not solve the last system */
    bool turned;     /* a switch was, since then */
    int exit_status; /* of the run: EXIT_DONE as long as nothing ended it */
    int64_t factors, solves, iterations, steps, rejected, written;
    struct history *history; /* of lines without losses */
} equations;

bool equations_make(spry_context *ctx, const circuit_options *o, circuit *c, equations *s);
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
/* false, and s->exit_status, where a call failed or Ctrl-C came: that is the end of the run. */
bool equations_good(equations *s, spry_status status);
/* Ends a run that did not get to its end, where nothing else has. */
SPRY_PRINTF(2, 3) void equations_failed(equations *s, const char *format, ...);
/* change = (G + a C)^-1 right; false where the matrix is singular, and at the end of the run. */
bool equations_solve(equations *s, double a);
/* Why Newton's method failed: a linear system was not solved, or what it would be otherwise. */
const char *equations_reason(const equations *s, const char *otherwise, char text[2 * WORD_SIZE]);
/* J = G + a C and its factors, on a device or the host; false as above. */
bool equations_factor(equations *s, double a, spry_device *device, kept_matrix *J);
/* Arrays over unknowns as vectors; y = values x. */
bool equations_vectors(equations *s, const double *right, double *change, spry_vector *v[2]);
void equations_multiply(const equations *s, const double *values, const double *x, double *y);
/* The last system that was solved, as NAME-1.mtx and NAME-1-b.mtx where --matrices asks for it. */
void equations_write(equations *s);

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

/* newton.c: a q(x) + f(x) = b + history; false where it does not converge, and at the end of the
 * run. */
bool newton_step(equations *s, double a, const double *history, double *x);
/* The operating point, beginning at x; where there is none the run has ended. */
bool newton_operate(equations *s, double *x);

/* --- results.c, measure.c --------------------------------------------------------------------- */

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

/* Columns are those of `show`, of .save, or all; results_check() and results_write() give exit
 * statuses. */
int results_check(spry_context *ctx, const circuit_options *o);
void results_make(results *r, const circuit *c, const char *show, int kind);
void results_free(results *r);
void results_add(results *r, double abscissa, const double *x, const double *imaginary);
double results_at(const results *r, int64_t row, int column, bool imaginary);
/* The column of v(a), vdb(a), i(b); part: "db", "m", "p", "r", "i" or "". -1: there is none. */
int results_column(const results *r, const char *word, char part[8]);
int results_write(spry_context *ctx, const circuit_options *o, const results *r, int number);

/* Those of an analysis, added to what was found; without results lines are looked at alone. */
void measure_all(const circuit *c, const results *r, measures *found);
void measures_add(measures *m, const char *name, double value);

/* --- run.c, transient.c, period.c, envelope.c ------------------------------------------------- */

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
    double seconds, update_seconds; /* update_seconds: of Newton's steps over periods */
} run;

/* What they find is in r->results; r->s.exit_status says how they ended. */
void run_transient(run *r, const analysis *a);
void run_ac(run *r, const analysis *a);
void run_pss(run *r, const analysis *a);
void run_envelope(run *r, const analysis *a);

/* Where a run in time is: x, the charges of the last two steps, and x of some before. */
typedef struct state {
    double t, before;                                   /* before: length of the last step */
    double *memory, *q, *rate, *q_before, *x, *history; /* memory: all of them */
    double *past[3], at[3];
    int points; /* since the last corner, this one among them */
} state;

void state_make(state *z, int64_t size);
/* Begins at past[0] and t; `initial`: charges are those of IC=. */
void state_begin(run *r, state *z, bool initial);
/* z->x at t + h by a method of order 1 or 2, and dq/dt = a q - history of that step. */
bool state_step(run *r, state *z, double h, int order);
void state_accept(run *r, state *z, double h, int order);
/* Steps begin anew. */
void state_corner(state *z);
/* x at the beginning of a run: of .ic and IC= alone, or an operating point. */
bool state_initial(run *r, bool uic, double *x);
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
    kept_matrix C, J;
} kept_step;

/* Periods, and products with A = alpha J - beta I, J being the derivative of x at the end of a
 * period by x at its beginning. */
typedef struct period {
    run *r;
    double length, alpha, beta;
    int64_t least; /* steps of a period */
    kept_step *steps;
    int64_t count, room;
    kept_matrix C0;
    spry_vector *work[3];
    spry_operator *op; /* y = A v, on the device of --device or on the host */
    state z;
    bool keeps, records; /* steps, for products; their x, for results */
} period;

bool period_make(period *p, run *r, double length, int64_t least);
void period_free(period *p);
/* From x at t over a period. */
bool period_run(period *p, double t, double *x);
/* change = A^-1 right, as --update says. */
bool period_solve(period *p, const double *right, double *change);

#endif
