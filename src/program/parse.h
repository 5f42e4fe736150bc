/*
 * What the files that parse share: the tokens of a text, and the parser, which looks at one token
 * at a time. After the first failure there are no more tokens, so that everything comes to its end
 * by itself; functions that make expressions or statements then return NONE.
 */
#ifndef SPRY_PROGRAM_PARSE_H
#define SPRY_PROGRAM_PARSE_H

#include "program/program.h"

/* Bounds on what a text may hold. They keep recursion shallow and every pass over it short. */
enum {
    MOST_TEXT = 1 << 20,
    MOST_DEPTH = 64, /* of expressions and blocks in each other */
    MOST_NAMES = 256,
    MOST_STMTS = 4096,
    MOST_EXPRS = 1 << 16,
    MOST_PARTS_OF_TEXT = 16, /* part NAME: */
    MOST_USES = 64           /* use NAME */
};

/* A sign of one character is its own kind. */
enum {
    TOKEN_END = 256,
    TOKEN_LINE, /* the end of a line that ends a statement, or ; */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_TEXT, /* between quotes, which belong to the token */
    TOKEN_DOTS, /* .. */
    TOKEN_TIMES,
    TOKEN_OVER,
    TOKEN_AT_MOST,
    TOKEN_AT_LEAST,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL
};

typedef struct token {
    int kind, begin, size;
    double value;
} token;

/* Statements that are read at `use NAME`. */
typedef struct parser_part {
    token name;
    int begin; /* of the text after the colon */
} parser_part;

typedef struct parser {
    program *p;
    spry_status status; /* of the first failure */
    int size, at;       /* of the text; where the next token is looked for */
    token now;
    int open;                   /* parentheses, brackets and bars around: lines go on */
    bool in_small;              /* arguments of a function of arrays */
    bool in_bars;               /* the innermost of them are bars, so that the next bar closes */
    int depth;                  /* of the functions that call themselves */
    uint8_t depths[MOST_EXPRS]; /* of each expression */
    bool assigned[MOST_NAMES];  /* has a value at this place of the text */
    bool running[MOST_NAMES];   /* variable of a loop around this place */
    bool skipped[MOST_NAMES];   /* variable of a loop that the data may skip */
    program_section section;
    bool seen[SECTION_COUNT];    /* sections */
    bool reports[SECTION_COUNT]; /* sections that hold residual or estimate */
    int estimate;                /* the place of the first one, or NONE */
    parser_part parts[MOST_PARTS_OF_TEXT];
    int part_count, uses;
    bool in_part;  /* the statements at hand are those of a part, */
    token used;    /* of this name; */
    int after_use; /* the text goes on at that place */
    int power;     /* the variable of the loops that powers() is, or NONE */
} parser;

/* lex.c */
void parser_advance(parser *ps);
static inline bool parser_at_word(const parser *ps, const char *word)
{
    const char *text = ps->p->text + ps->now.begin;
    const size_t size = (size_t)ps->now.size;
    return ps->now.kind == TOKEN_NAME && *text == *word && strncmp(text, word, size) == 0 &&
           word[size] == '\0';
}
/* Takes the word if it is at hand. */
bool parser_take_word(parser *ps, const char *word);
bool parser_take(parser *ps, int kind);
/* Takes a token that is required; fails with "WHAT is needed here, not ...". */
bool parser_expect(parser *ps, int kind, const char *what);
bool parser_expect_word(parser *ps, const char *word);
/* Makes the name at hand go on over - signs, as names of methods do. */
void parser_widen_name(parser *ps);
/* A token's characters, at most 31. */
typedef struct parser_word {
    char text[32];
} parser_word;
parser_word parser_text(const parser *ps, token t);
/* Notes the first failure, after which the text has ended; whether there was one. */
bool parser_stop(parser *ps, spry_status status);
/* The same with a message about a place; always NONE. */
int parser_fail(parser *ps, int place, const char *format, ...) SPRY_PRINTF(3, 4);
/* Fails because the token at hand is not what is needed. */
int parser_unexpected(parser *ps, const char *needed);

/* Takes a level of nesting; the caller gives it back by depth--. */
bool parser_enter(parser *ps);

/* names.c */
/* Whether the token at hand is a word of the notation that is no operand. */
bool parser_at_keyword(const parser *ps);
/* Whether the notation itself uses the word; in methods with `block` it has some more. */
bool parser_reserved(const parser *ps, const char *word);
int parser_add_name(parser *ps, token t, name_kind kind);
/* Fails because the name means nothing here. */
int parser_unknown(parser *ps, token t);
/* A statement without anything, to be filled, and added. */
stmt parser_blank_stmt(stmt_kind kind, int place);
int parser_add_stmt(parser *ps, const stmt *s);

/* shapes.c */
shape parser_shape(const parser *ps, int e);
/* Fails unless the expression has the shape. */
bool parser_need(parser *ps, int e, shape needed);
/* An expression without arguments, to be filled and added. */
expr parser_blank(expr_kind kind, shape s, int place);
int parser_add(parser *ps, expr e);
int parser_call(parser *ps, int place, program_word word, shape s, const int arg[3]);
/* a and b with a sign between. */
int parser_join(parser *ps, program_word word, int a, int b);
int parser_negate(parser *ps, int place, int e);
int parser_dot(parser *ps, int place, int left, int right, bool conjugate);
int parser_norm(parser *ps, int place, int inner);
int parser_combine(parser *ps, int vectors, int numbers);

/* parse_expr.c */
int parser_expr(parser *ps);
int parser_scalar(parser *ps);
/* The name t, which was taken, with the indices that follow it. */
int parser_element(parser *ps, token t, int name);

/* parse_head.c: all up to the first section. */
void parser_head(parser *ps);
/* parts.c: notes where the parts of a text are, which follow its sections. */
void parser_find_parts(parser *ps);
/* Whether a part, or a line that uses one, is at hand; goes past the part with the line's end. */
bool parser_at_part(const parser *ps);
bool parser_at_use(const parser *ps);
void parser_skip_part(parser *ps);
/* Goes to the statements of the part that the line at hand uses, and back after them. */
bool parser_enter_part(parser *ps);
bool parser_leave_part(parser *ps);
/* parse_powers.c: V[a..b] = powers(A, B), from the word on, as the loop that it is. */
int parser_powers(parser *ps, int target);
/* check.c: which scalars are counters, and that indices are made of such. */
void parser_check(parser *ps);

#endif
