/*
 * A method as text becomes a program: names, expressions and statements, each with its place in the
 * text. docs/notation.md describes the language. Expressions and statements are kept in arrays and
 * refer to each other by index; NONE means "missing".
 */
#ifndef SPRY_PROGRAM_H
#define SPRY_PROGRAM_H

#include "base/base.h"

enum { NONE = -1 };
/* Right-hand sides that a method with the line `block` solves together at most. */
enum { PROGRAM_COLUMNS = 16 };
/* Steps of a basis at most. */
enum { PROGRAM_STEPS = 32 };

/* Scalar: one number (truth values are 0 and 1). Scalars, vectors: a run of an array, name[a..b].
 * Matrix: all of an array of numbers with two indices. */
typedef enum shape { SHAPE_SCALAR, SHAPE_VECTOR, SHAPE_SCALARS, SHAPE_VECTORS, SHAPE_MATRIX } shape;

typedef enum expr_kind {
    EXPR_NUMBER, /* value; of shape SHAPE_VECTOR (from p = 0) it is the zero vector */
    EXPR_NAME,  /* name; arg[0], arg[1]: indices of an array's element, NONE where there are none */
    EXPR_SLICE, /* name[arg[0]..arg[1]] or name[arg[0]..arg[1], arg[2]]; both ends belong to it.
                   `all`: [name] or [name[arg[0]]], the vector of all right-hand sides */
    EXPR_CALL,  /* word applied to arg[0..]; shape says whether numbers or vectors come out */
    EXPR_APPLY, /* operator `op`, transposed as `transpose` says, applied to vector arg[0] */
    EXPR_DOT,   /* (arg[0], arg[1]); `conjugate`: the left one. arg[0] may be a slice of vectors, or
                   both slices of scalars */
    EXPR_NORM,  /* |arg[0]| of a vector */
    EXPR_COMBINE, /* arg[0] slice of vectors times arg[1] slice of scalars: the sum, a vector */
    EXPR_RANDOM,  /* vector of random numbers from seed arg[0] */
    EXPR_SHARE,   /* vector with ones in part arg[0] of arg[1] equal parts of the rows */
    EXPR_SMALL,   /* what a function makes of arrays of numbers: a column, or a matrix */
    EXPR_POWERS   /* of a loop: what powers() it is (parse_powers.c) */
} expr_kind;

/*
 * item(NAME, text, arguments). What numbers do; vectors know ADD, SUBTRACT, NEGATE, MULTIPLY
 * (scalar arg[0], vector arg[1]), DIVIDE (vector arg[0], scalar arg[1]) and, element by element,
 * TIMES and OVER (two vectors).
 */
#define PROGRAM_WORDS(item)       \
    item(ADD, "+", 2)             \
    item(SUBTRACT, "-", 2)        \
    item(NEGATE, "-", 1)          \
    item(MULTIPLY, "*", 2)        \
    item(DIVIDE, "/", 2)          \
    item(TIMES, ".*", 2)          \
    item(OVER, "./", 2)           \
    item(POWER, "^", 2)           \
    item(LESS, "<", 2)            \
    item(AT_MOST, "<=", 2)        \
    item(MORE, ">", 2)            \
    item(AT_LEAST, ">=", 2)       \
    item(EQUAL, "==", 2)          \
    item(UNEQUAL, "!=", 2)        \
    item(AND, "and", 2)           \
    item(OR, "or", 2)             \
    item(NOT, "not", 1)           \
    item(SQRT, "sqrt", 1)         \
    item(ABS, "abs", 1)           \
    item(CONJ, "conj", 1)         \
    item(REAL, "real", 1)         \
    item(IMAG, "imag", 1)         \
    item(SIGN, "sign", 1)         \
    item(MAX, "max", 2)           \
    item(MIN, "min", 2)           \
    item(MOD, "mod", 2)           \
    item(WHERE, "where", 3)       \
    item(POSITIVE, "positive", 1) \
    item(FINITE, "finite", 1)     \
    item(EPS, "eps", 0)           \
    item(INF, "inf", 0)

#define PROGRAM_WORD_ENUM(name, text, arguments) WORD_##name,
typedef enum program_word { PROGRAM_WORDS(PROGRAM_WORD_ENUM) WORD_COUNT } program_word;

/*
 * item(NAME, text, arguments, "shapes"): functions of arrays of numbers. Shapes of the result and
 * of the arguments: c, an array with one index; m, one with two. The first ones, up to ADJOINT, are
 * of small matrices of which each right-hand side has a column, in methods with `block`.
 */
#define PROGRAM_SMALL(item)           \
    item(SOLVE, "solve", 2, "ccc")    \
    item(INVERSE, "inverse", 1, "cc") \
    item(ORTH, "orth", 1, "cc")       \
    item(TIMES, "times", 2, "ccc")    \
    item(ADJOINT, "adjoint", 1, "cc") \
    item(LEAST, "least", 2, "cmc")    \
    item(EIG, "eig", 1, "mm")         \
    item(NEWTON, "newton", 2, "mmm")  \
    item(CHEBYSHEV, "chebyshev", 2, "mmm")
#define PROGRAM_SMALL_ENUM(name, text, arguments, shapes) SMALL_##name,
typedef enum program_small { PROGRAM_SMALL(PROGRAM_SMALL_ENUM) SMALL_COUNT } program_small;

/* The operators a method can name. M is the preconditioner; L and R are its left and right part:
 * all of M on the side that the method's option `side` says, nothing on the other. */
typedef enum program_operator {
    OPERATOR_A,
    OPERATOR_M,
    OPERATOR_L,
    OPERATOR_R,
    OPERATOR_COUNT
} program_operator;

typedef struct expr {
    expr_kind kind;
    shape shape;
    int place; /* offset in the text */
    double value;
    int name;
    program_word word;
    program_small small;
    program_operator op;
    spry_transpose transpose;
    bool conjugate;
    bool all;
    int arg[3]; /* expressions */
} expr;

typedef enum stmt_kind {
    STMT_SET,       /* target = value: scalar, scalars (inner products, small matrices) or vector */
    STMT_RESIDUAL,  /* residual value: x is current */
    STMT_ESTIMATE,  /* estimate value: x is brought up to date by the section finish */
    STMT_GRADIENT,  /* gradient value: least squares; as residual, but |A^H r| / (|A| |r|) */
    STMT_ENERGY,    /* energy value: what |x - A^-1 b|_A^2 has fallen by since the last iteration */
    STMT_BREAKDOWN, /* breakdown if value "message" */
    STMT_RESTART,   /* restart if value */
    STMT_FOR,       /* for name = from .. to: body; `down`: for name = from down to to. Of powers()
                       target and value say what it is (parse_powers.c) */
    STMT_IF         /* if value: body else: other */
} stmt_kind;

typedef struct stmt {
    stmt_kind kind;
    int place;
    int target, value; /* expressions */
    int name, from, to;
    bool down;
    int message, message_size; /* in the text, without its quotes */
    bool accepts;              /* a breakdown that is none: `accept if` */
    int body, other, next;     /* statements: first of the inner ones, and the one after this */
} stmt;

typedef enum name_kind {
    NAME_SCALAR,
    NAME_SCALARS,
    NAME_VECTOR,
    NAME_VECTORS,
    NAME_OPTION
} name_kind;

typedef struct program_name {
    char text[32];
    name_kind kind;
    int place;     /* where it first appears */
    int extent[2]; /* of arrays: expressions of options and numbers; NONE where there is none */
    bool kept;     /* of arrays: their values stay from run to run, else these begin with zeros */
    bool counter;  /* a scalar whose values follow from options and numbers alone */
    /* Of options: value, at first the default, and bounds; with words it is the index of one. */
    double value, low, high;
    bool whole; /* takes whole numbers alone: none of its numbers is written with a point */
    char words[128];
    char help[128];
} program_name;

enum { NAME_X, NAME_B }; /* the first names of every program */

typedef enum program_section {
    SECTION_START,
    SECTION_LOOP,
    SECTION_FINISH,
    SECTION_COUNT
} program_section;

/* A text in the text; size 0 where it is missing. */
typedef struct program_text {
    int begin, size;
} program_text;

/* item(NAME, word): what a method needs of A, and of M except for `definite`, which is about A
 * alone.
 */
#define PROGRAM_NEEDS(item)      \
    item(HERMITIAN, "hermitian") \
    item(SYMMETRIC, "symmetric") \
    item(DEFINITE, "definite")
#define PROGRAM_NEED_ENUM(name, word) NEED_##name,
typedef enum program_need { PROGRAM_NEEDS(PROGRAM_NEED_ENUM) NEED_COUNT } program_need;

typedef struct program {
    spry_context *ctx;
    char *text;      /* a copy, ends with a zero */
    int size;        /* of it, without that */
    char source[64]; /* what messages call it: "cg.krylov" */
    char method[32];
    program_text summary, purpose, reference; /* method NAME "..." for "..." reference "..." */
    char precon[32];                          /* what `precon NAME` asks for; "" when it does not */
    bool needs[NEED_COUNT];                   /* `needs hermitian definite` */
    bool flexible;                            /* M may be another one in each iteration */
    bool common;                              /* one to begin with, for lists of methods */
    bool block;                               /* right-hand sides see each other: [p] */
    bool by_host; /* has scalar work that devices do not do: theirs is the host's, then */
    expr *exprs;
    stmt *stmts;
    program_name *names;
    int expr_count, stmt_count, name_count;
    int expr_room, stmt_room, name_room;
    int section[SECTION_COUNT]; /* first statements */
    bool uses_transpose;        /* A^T, A^H or those of M, L, R */
    bool uses_precon;           /* M, L, R */
} program;

/*
 * Parses a text of `size` bytes (any bytes). A failure is SPRY_STATUS_BAD_INPUT with a message
 * "SOURCE:LINE:COLUMN: what is wrong", and *p is NULL then.
 */
spry_status program_parse(spry_context *ctx, const char *source, const char *text, size_t size,
                          program **p);
/* A copy, in a context: a plan takes its program, and adds to it. */
spry_status program_copy(spry_context *ctx, const program *p, program **out);
/* Whether two are the same text with the same options. */
bool program_same(const program *a, const program *b);
void program_free(program *p);
/* Adds an expression (for passes that make new ones); *index is its place. */
spry_status program_add_expr(program *p, const expr *e, int *index);
/* Line and column, from 1, of a place. */
void program_locate(const program *p, int place, int *line, int *column);
/* SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "SOURCE:LINE:COLUMN: ...") for a place in the text. */
spry_status program_fault(const program *p, int place, const char *format, ...) SPRY_PRINTF(3, 4);
/* The name's index, or NONE. */
int program_find_name(const program *p, const char *name);
/* The index of the option with a name, or NONE. */
int program_find_option(const program *p, const char *name);
/* Options are set before a plan is made: one to a number, or some from "restart=50,side=left". */
spry_status program_set_number(program *p, const char *name, double value);
spry_status program_set_options(program *p, const char *text);
/* The value of an option as text: its word, or the shortest number. */
void program_option_text(const program_name *option, char *text, size_t size);
/* The most products of a powers() in the text, as far as options decide; 0: there is none, or none
 * with A alone where there is a preconditioner. */
int program_most_powers(const program *p, bool precon);
/* Writes an expression as notation. Numbers as %g; always ends with a zero, cutting what does not
 * fit. */
void program_print_expr(const program *p, int e, char *text, size_t size);

/*
 * The numbers of a running program. Element [i, j] of name k is
 * values[offset[k] + i * extent[k][1] + j]; a plain scalar or option is values[offset[k]].
 * Vectors have no numbers.
 */
typedef struct scalars {
    const program *program;
    const int64_t *offset;
    const int64_t (*extent)[2]; /* 1 where an array has no such dimension */
    spry_scalar *values;
    bool real;  /* the type is real: imaginary parts are neither computed nor read */
    double eps; /* of the type */
    int fault;  /* NONE, or the place of the first index that was outside its array */
} scalars;

/* The value of a scalar expression without inner products, norms and vectors. */
spry_scalar program_eval(scalars *s, int e);
/* Whether it holds: is not 0. */
bool program_holds(scalars *s, int e);
/* Its value as an index: a whole number in 0..extent-1, else s->fault is set and 0 comes back. */
int64_t program_eval_index(scalars *s, int e, int64_t extent);
/* An index expression's value without bounds (ends of slices and loops may lie outside). */
int64_t program_eval_count(scalars *s, int e);
/* Where a scalar EXPR_NAME lives; NULL after a fault. */
spry_scalar *program_scalar_at(scalars *s, int e);

/* The first of the rows of share(k, n); with k + 1 the end of them. */
int64_t program_share_begin(double part, double parts, int64_t rows);

/* An array of scalars, row by row. */
typedef struct program_array {
    int64_t rows, cols;
    spry_scalar *at;
} program_array;

/* The array that an expression without indices means. */
program_array program_array_at(const scalars *s, int e);
/* B has the steps of a basis, three numbers each, of which G has the inner products (its upper
 * half): B becomes the steps of a better one, Newton's or Chebyshev's. It stays where G says
 * nothing. `real`: in real arithmetic. */
void program_basis(program_small which, const program_array *G, const program_array *B, bool real);

/* Complex arithmetic for scalars; divide by Smith's method. */
spry_scalar scalar_multiply(spry_scalar a, spry_scalar b);
spry_scalar scalar_divide(spry_scalar a, spry_scalar b);

#endif
