/*
 * A matrix in a storage format made for products. A format is a folder in src/formats: build.c has
 * how arrays are built from CSR, which entries they hold, what they will take; host_WALK.c has its
 * products on the host, device.c those on devices. What formats share is in src/formats/shared.
 * Everything else (conversion back, the diagonal, descriptions, threads, transposes, several
 * columns, choosing) is done once for all formats from this interface.
 */
#ifndef SPRY_LAYOUT_H
#define SPRY_LAYOUT_H

#include "operator/operator.h"

#include "layout_lists.h" /* made by CMake: LAYOUT_FORMATS(item), LAYOUT_WALKS(item) */

/* A walk is a kernel that goes through a layout; formats may share one. */
#define LAYOUT_WALK_NAME(name) WALK_##name,
typedef enum layout_walk { LAYOUT_WALKS(LAYOUT_WALK_NAME) LAYOUT_WALK_COUNT } layout_walk;

/* How the real numbers of values are stored: as in the type, or shorter. */
typedef enum stored_kind { STORED_OWN, STORED_F32, STORED_F16, STORED_BF16 } stored_kind;
enum { STORED_KINDS = 4 };
extern const char *const stored_kind_names[STORED_KINDS];

/* The option for it, for formats whose walks are compiled for all kinds (files
 * host_reduced_WALK.c). Where it is there, layout_build() sets L->kind, and layout_add_values(),
 * layout_store() and layout_copy_values() follow it. */
#define LAYOUT_VALUES_OPTION(item)                      \
    item(WORD, values, "own", 0, 0, "own f32 f16 bf16", \
         "how values are stored: as they are, or shorter; products are computed in the own type")

enum { LAYOUT_MOST_ARRAYS = 12, LAYOUT_MOST_NUMBERS = 8, LAYOUT_PARAMS_SIZE = 96 };

typedef struct layout_array {
    const char *name;
    int64_t count;
    size_t size; /* bytes of one element */
    void *data;
    bool aside; /* not read by products: needed to convert back only */
} layout_array;

typedef struct layout_class layout_class;

typedef struct layout {
    spry_context *ctx;
    const layout_class *class;
    spry_type type;
    int64_t rows, cols, nnz;
    char params[LAYOUT_PARAMS_SIZE]; /* "C=8,sigma=256": the options as they came out */
    stored_kind kind;
    bool exact;             /* the stored values are A's own, bit by bit */
    int64_t stored;         /* places for values, fill included; array 0 may hold more */
    spry_symmetry symmetry; /* other than general: half of A is stored */
    /* What the format's files agree upon: see its header. */
    layout_array array[LAYOUT_MOST_ARRAYS];
    int64_t number[LAYOUT_MOST_NUMBERS];
    /*
     * Products are made of units, in any order and by any thread: groups of rows, slices, blocks of
     * entries. Units are cut by the matrix alone, never by the number of threads, so that results
     * do not depend on it. With unit_rows > 0 unit u gives rows u unit_rows .. (u + 1) unit_rows -
     * 1 and nothing else. Otherwise it sets rows of its own (no two units the same; every row is
     * set by one), and may have sums for others: for the rows carry_row[u], carry_row[u] + 1, ...,
     * kept at carry[carry_at[u] .. carry_at[u + 1] - 1] and added in the order of units afterwards.
     * Both arrays are owned by the layout and NULL in formats that need none. carry_at has units
     * + 1.
     * Where unit_rows divides OPERATOR_GRAIN (1,024), solvers fuse products with their vectors, and
     * several right-hand sides go through the walk's columns. It should add each row's products in
     * the order of its multiply: then a right-hand side has the same bits alone and with others.
     */
    int64_t units, unit_rows;
    int64_t *carry_row, *carry_at;
    int64_t room; /* rows of sums that products with several columns need room for, each thread */
} layout;

/* What a format will take: places for values and bytes that a product reads. */
typedef struct layout_forecast {
    int64_t stored, bytes;
} layout_forecast;

/* Hears of an entry of A: its row and column, and its place in the array of values. */
typedef void (*layout_visit)(void *data, int64_t row, int64_t col, int64_t place);

/* What is known of a format's products before any is timed, relative to CSR: measured on a few
 * machines, corrected on each by races. 0: not known. */
typedef struct layout_cost {
    double byte;       /* time per byte */
    double conversion; /* in products with CSR */
    /* Time over what bytes say, where CSR waits for the ends of rows, and where it waits for x. */
    double row_ends, scattered;
    /* On devices: time per byte, the same where some rows are much longer than others, and products
     * that building it on the device takes. What takes long to build or to compile for each matrix,
     * or is built on the host, has none of the last: it is for many products. */
    double device_byte, device_uneven, device_making;
    bool widest; /* each row takes as much as the longest */
    bool cuts;   /* long rows are cut: on devices, where some are, the choice without a race */
    /* What else it needs on devices: rows of about one length; neighbours with the same columns; a
     * long x, of which neighbours read other parts. */
    bool even, blocks, scatters;
} layout_cost;

struct layout_class {
    const char *name, *summary;
    spry_option_list options; /* of a struct of at most LAYOUT_OPTIONS_SIZE bytes */
    /* Values of options worth trying, for the tuner: "C=4|8|16 sigma=1|256" is six of them;
     * NULL: the defaults alone. */
    const char *grid;
    layout_cost cost;
    layout_walk walk;
    /* Whether a sample of rows does not represent all of them: forecasts then look at the
     * whole matrix. */
    bool whole;
    /* Fills the layout (type, sizes, class and kind are set; array 0 holds the values) from general
     * CSR whose columns rise in each row: stored, arrays, numbers, units, and in params the options
     * as they came out. What was allocated is freed by the caller when it fails. Where the format
     * cannot hold A, it fails with SPRY_STATUS_UNSUPPORTED and a message: the tuner then leaves it
     * out, and A^T is kept in csr. */
    spry_status (*build)(layout *L, const matrix_arrays *A, const void *options);
    /* The sizes without building, exactly: L->stored and layout_read_bytes(L). Fails as build would
     * where the format cannot hold A. */
    spry_status (*forecast)(spry_context *ctx, const matrix_arrays *A, const void *options,
                            layout_forecast *f);
    /* Lists every entry of units begin..end-1, fill excluded, in any order; all of A by all units.
     */
    void (*entries)(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data);
    /* Work before a unit of 0..units (units: all of it), for distributing units to threads; NULL:
     * all take the same. */
    int64_t (*work)(const layout *L, int64_t unit);
};

enum { LAYOUT_OPTIONS_SIZE = 512 };

#define LAYOUT_FORMAT_CLASS(name) extern const layout_class format_##name;
LAYOUT_FORMATS(LAYOUT_FORMAT_CLASS)

/* The formats there are; NULL past the end. */
const layout_class *layout_class_at(int index);
/* The format that `spec` ("sell:C=8") names, and its options in `options`, of
 * LAYOUT_OPTIONS_SIZE bytes. */
spry_status layout_parse(spry_context *ctx, const char *spec, const layout_class **class,
                         void *options);

/* Builds A, general CSR with columns that rise strictly in each row (the message names the first
 * row where they do not), in the format that `spec` names. */
spry_status layout_build(const spry_matrix *A, const char *spec, layout **L);
/* How the options of a format want values of a type stored; those of single precision are as good
 * as f32. */
spry_status layout_find_kind(spry_context *ctx, const layout_class *class, void *options,
                             spry_type type, stored_kind *kind);
/* The spec for A^T where A's format does not do, as a failure said, which is logged and forgiven:
 * csr with values of A's kind. */
enum { LAYOUT_CSR_SPEC = 24 };
void layout_csr_instead(spry_context *ctx, const base_kept *before, stored_kind kind,
                        char spec[LAYOUT_CSR_SPEC]);
/* Adds the kind of values to params where it is not their own. */
void layout_note_kind(layout *L);
/* The sizes it will have. */
spry_status layout_estimate(const spry_matrix *A, const char *spec, layout_forecast *f);
void layout_free(layout *L);

/* For build: makes array `index`. */
spry_status layout_add(layout *L, int index, const char *name, int64_t count, size_t size);
/* The same for the values, array 0, of L->stored places in the layout's kind; zeros where
 * `cleared`.
 */
spry_status layout_add_values(layout *L, bool cleared);
/* Sets an array to zeros, with all threads. */
void layout_clear(layout *L, int index);
/* Bytes of one value of a type in a kind. */
size_t layout_value_size(spry_type type, stored_kind kind);
/* Stores value `from` of an array of A's type at a place of the values, by any thread; values were
 * found to fit before. */
void layout_store(layout *L, int64_t place, const void *values, int64_t from);
/* Stores A's values in their order at places 0..nnz-1, with all threads. */
void layout_copy_values(layout *L, const matrix_arrays *A);
spry_scalar layout_load(const layout *L, int64_t place);
/* Adds to params: "C=8" and then ",sigma=256". */
void layout_note(layout *L, const char *name, int64_t value);
void layout_note_word(layout *L, const char *name, const char *word);

/* Bytes of all arrays, and of those that products read. */
int64_t layout_bytes(const layout *L);
int64_t layout_read_bytes(const layout *L);
void layout_describe(const layout *L, spry_storage *storage);
/* Back to general CSR, columns rising. */
spry_status layout_to_csr(const layout *L, spry_matrix **A);
spry_status layout_diagonal(const layout *L, spry_vector **d);

#endif
