/*
 * Choosing a storage format. Candidates are all formats with all options of their grids; what each
 * will read is forecast, a model orders them by time, the best few are built and raced against CSR,
 * and the winner is remembered in a file.
 */
#ifndef SPRY_TUNE_INTERNAL_H
#define SPRY_TUNE_INTERNAL_H

#include "device/engine/device.h"
#include "formats/shared/layout.h"

#include <spry/tune.h>

#define TUNE_OPTIONS(item)                                                                 \
    item(INT, products, "1000", 0, 9e18, NULL, "products to choose for")                   \
    item(REAL, budget, "20", 0, 1e6, NULL,                                                 \
         "products in CSR that timing may take as long as; conversions come on top")       \
    item(BOOL, remember, "yes", 0, 0, NULL, "keep the choice in a file and read it first") \
    item(BOOL, again, "no", 0, 0, NULL, "decide again what is remembered")                 \
    item(BOOL, always, "no", 0, 0, NULL,                                                   \
         "time also where it cannot pay: matrices that fit the second-level cache, few products")

typedef struct tune_options {
    TUNE_OPTIONS(SPRY_OPTION_FIELD)
} tune_options;
spry_option_list tune_option_list(void);

enum {
    TUNE_SPEC = sizeof((spry_tune_row *)0)->format,
    TUNE_NAME = 32,
    TUNE_AXES = 6,           /* of a grid, and one for the kind of values */
    TUNE_ROWS = 24,          /* of a remembered table */
    TUNE_FACTORS = 128,      /* of a machine */
    TUNE_FAILED = 16,        /* of a system's attempts */
    TUNE_FILE_SIZE = 1 << 15 /* files are smaller */
};

/* --- files: record.c, cache.c ---------------------------------------------------------------- */

/* A choice as it is kept. */
typedef struct tune_entry {
    uint64_t matrix, machine; /* fingerprints */
    int64_t class;            /* of the number of products: powers of ten */
    char winner[TUNE_SPEC];
    double seconds;
    int count;
    spry_tune_row rows[TUNE_ROWS]; /* format, bytes, seconds but for the total */
} tune_entry;

/* What solved a system, as it is kept; and what did not, so that it is not tried before all else.
 */
typedef struct tune_solved {
    uint64_t matrix, machine;
    char precon[TUNE_SPEC], method[TUNE_NAME];
    int64_t iterations; /* from the first guess on */
    double seconds;     /* of set-up and run, for the log alone */
    int count;
    char failed[TUNE_FAILED][TUNE_SPEC];
} tune_solved;

#define TUNE_LEAST_FACTOR 0.3
#define TUNE_MOST_FACTOR 5.0

/* How a format's bytes compare in time with those of CSR on a machine. */
typedef struct tune_factor {
    char format[TUNE_NAME]; /* "sell", "sell/f32" */
    double factor;
    double conversion; /* in products with CSR */
    int64_t count;     /* of races it was learned from */
} tune_factor;

typedef struct tune_machine {
    uint64_t machine;
    int count;
    tune_factor factors[TUNE_FACTORS];
} tune_machine;

/* Texts of files; the size of what was written. They end in a checksum. */
size_t tune_entry_write(const tune_entry *entry, char text[TUNE_FILE_SIZE]);
size_t tune_machine_write(const tune_machine *machine, char text[TUNE_FILE_SIZE]);
size_t tune_solved_write(const tune_solved *solved, char text[TUNE_FILE_SIZE]);
/* False when the text is not exactly what is written: cut, changed, of another kind. */
bool tune_entry_read(const char *text, size_t size, tune_entry *entry);
bool tune_machine_read(const char *text, size_t size, tune_machine *machine);
bool tune_solved_read(const char *text, size_t size, tune_solved *solved);

/* The folder, made where it is missing; false, and one line in the log, where that fails. */
bool tune_folder(spry_context *ctx, char *path, size_t size);
/* Reads a file of the folder; the size, or -1 when there is none. What is no file of ours is
 * reported and gives -1, too. */
int64_t tune_file_read(spry_context *ctx, const char *path, char text[TUNE_FILE_SIZE]);
/* Writes aside and renames; what cannot be written is reported. */
bool tune_file_write(spry_context *ctx, const char *path, const char *text, size_t size);
/* Removes the folder's files that are named as ours are and begin with a prefix. */
int64_t tune_files_drop(const char *folder, const char *prefix);

/* --- memory.c ------------------------------------------------------------------------------- */

enum { TUNE_PATH = 4096, TUNE_SOLVES = 1001 /* the class of what solves a system */ };

/* Where choices are kept, for one matrix on this machine or a device. */
typedef struct tune_memory {
    bool usable, device;
    uint64_t matrix, machine;
    int64_t class;
    char folder[TUNE_PATH], path[TUNE_PATH + 64], machine_path[TUNE_PATH + 64];
} tune_memory;

void tune_memory_open(const spry_device *d, const spry_matrix *A, int64_t class, bool remember,
                      tune_memory *m);
/* False when there is nothing to recall. Keeping fills in whom it is of. */
bool tune_recall(spry_context *ctx, const tune_memory *m, tune_entry *entry);
void tune_keep(spry_context *ctx, const tune_memory *m, tune_entry *entry);
bool tune_recall_solved(spry_context *ctx, const tune_memory *m, tune_solved *solved);
void tune_keep_solved(spry_context *ctx, const tune_memory *m, tune_solved *solved);
void tune_recall_machine(spry_context *ctx, const tune_memory *m, tune_machine *machine);
void tune_keep_machine(spry_context *ctx, const tune_memory *m, const tune_machine *machine);

/* --- fingerprint.c -------------------------------------------------------------------------- */

uint64_t tune_fingerprint(const spry_matrix *A);
/* Of processor, ISA level, threads, and of the formats this library has; of a device its name, its
 * driver, and the formats that have kernels for it. */
uint64_t tune_machine_fingerprint(const spry_context *ctx, const spry_device *d);
int64_t tune_products_class(int64_t products);

/* --- format_candidates.c -------------------------------------------------------------------- */

typedef struct tune_candidate {
    spry_tune_row row;
    const layout_class *class; /* NULL: CSR in place */
    stored_kind kind;
    int at[TUNE_AXES];   /* its place in the grid */
    int64_t stored;      /* places for values */
    bool possible;       /* the format can hold A */
    bool estimated;      /* from a sample of the rows */
    bool dropped;        /* lost, or could not be built */
    bool made_on_device; /* on a device, from CSR in its memory */
    double expected;     /* on a device: what a product takes, in products with CSR */
    int samples;
    spry_operator *op; /* while it races */
} tune_candidate;

typedef struct tune_list {
    spry_context *ctx;
    spry_device *device; /* where products are; NULL: the host */
    tune_candidate *all; /* CSR first */
    int count, room;
    double vector_bytes; /* of x and y that a product moves besides the matrix */
    bool doubtful;       /* some rows are longer than the sample knows */
    int64_t longest;     /* entries of a row, as far as is known; for devices */
    bool uneven;         /* some rows are much longer than others */
    bool scattered;      /* CSR waits for more than bytes: */
    bool without_order;  /* for x, and not for the ends of rows */
    bool cramped;        /* somebody did not fit the memory limit */
} tune_list;

/* All formats with all options, and what they will read; for large matrices from a sample. A is
 * sorted general CSR. On a device those that have device kernels; what only the host can make is
 * looked at for TUNE_MANY products at least. */
enum { TUNE_MANY = 50000 };
spry_status tune_list_make(const spry_matrix *A, spry_device *d, int64_t products, tune_list *list);
void tune_list_free(tune_list *list); /* operators, too */
/* The longest row, and what that means for forecasts that were made from another one. */
void tune_note_longest(tune_list *list, const matrix_arrays *a, int64_t longest);
void tune_correct_longest(tune_list *list, const matrix_arrays *a, int64_t longest);
/* Whether a format, which may be that of another matrix, can hold A exactly. A is sorted general
 * CSR. */
bool tune_holds(const spry_matrix *A, const char *format);
/* The forecast from the whole matrix in place of an estimate. */
void tune_estimate(const spry_matrix *A, tune_candidate *c);
/* The operator in a format that is no longer to be chosen. */
spry_status tune_build(spry_device *d, const spry_matrix *A, const char *format,
                       spry_operator **op);
/* Whether two differ by one step in one option. */
bool tune_neighbours(const tune_candidate *a, const tune_candidate *b);
/* Rows from all over A, some or few, their columns moved along so that diagonals stay what they
 * are; NULL when A is small enough itself. */
spry_status tune_sample(const spry_matrix *A, bool few, spry_matrix **sample);

/* --- format_model.c ------------------------------------------------------------------------- */

/* Sets model_seconds of all, given CSR's time. */
void tune_model(const spry_matrix *A, const tune_machine *machine, double csr_seconds,
                tune_list *list);
/* What the conversion to a format may take. */
double tune_model_conversion(const tune_machine *machine, const tune_list *list,
                             const tune_candidate *c);
/* Bytes of the second-level cache, which is a core's own as a rule. */
int64_t tune_second_cache(void);
/* Learns from what was timed. */
void tune_learn(const spry_matrix *A, const tune_list *list, tune_machine *machine);

/* --- format_race.c -------------------------------------------------------------------------- */

/* Times the promising, for `budget` products in CSR, or 5 ms where the products to come take ten
 * times that; products are billed at their racer's best time. Candidates whose bytes are estimated
 * are looked at in full before only where rows of the sample are doubtful. *winner is the place of
 * the one to take. Its operator, made from A, is kept if it ran to the end, and others' are gone.
 */
spry_status tune_race(const spry_matrix *A, const tune_options *options,
                      const tune_machine *machine, tune_list *list, int *winner);

/* The same for products on a device. */
spry_status tune_race_on_device(const spry_matrix *A, const tune_options *options, tune_list *list,
                                int *winner);

/* --- format_plan.c -------------------------------------------------------------------------- */

/* Whether a candidate can be built on a device from CSR in its memory, and in how many products
 * with CSR. */
bool tune_made_on_device(const tune_candidate *c);
double tune_making_on_device(const tune_candidate *c);
/* Sets what is expected of a candidate on the device from its bytes. */
void tune_expect(const tune_list *list, tune_candidate *c);
/* The place of the next format to try on a device, with its best options; then of the next options
 * of formats that were near the best. 0: there is none. */
int tune_next_class(const tune_list *list);
int tune_next_option(const tune_list *list);
/* The winner of those that were timed and not dropped: the place of the first whose total of making
 * and `products` products is a tie with the least; whether one is within a factor of it. */
int tune_pick(const tune_list *list, int64_t products);
bool tune_is_near(const tune_list *list, const tune_candidate *c, int64_t products, double factor);
/* Those that are near the best take turns, for about `most` products. run() times one once more:
 * the least of a candidate's times is its own. */
enum { TUNE_FINALISTS = 512 };
#define TUNE_STAYS 1.2 /* times the least total: has a turn at the end */
typedef spry_status tune_runner(void *data, tune_candidate *c);
spry_status tune_finals(tune_list *list, int64_t products, double most, tune_runner *run,
                        void *data);

/* --- format_times.c ------------------------------------------------------------------------- */

/* Whether a format's product is enough faster than CSR's. */
bool tune_replaces_csr(const spry_tune_row *row, const spry_tune_row *csr);
/* Totals within this factor of the least are a tie, which the first of the list wins. */
#define TUNE_CLOSE 1.02
/* Seconds of the conversion and `products` products. */
double tune_total(const spry_tune_row *row, int64_t products);
/* A product of a candidate took these seconds: the least of its times is its own. */
void tune_time(tune_candidate *c, double seconds);
/* The reason why a candidate could not be built or run is its note; nothing failed for the caller,
 * whose message before that is `before`. */
void tune_excuse(tune_list *list, tune_candidate *c, spry_status status, const base_kept *before);
/* Totals of all that were timed; all operators but the winner's are freed. */
void tune_finish(tune_list *list, int64_t products, int winner);
/* A candidate leaves its race, and its memory with it; the note, where there is one, says why. */
void tune_leave(tune_candidate *c, const char *note);

/* --- format_later.c ------------------------------------------------------------------------- */

/* A format for `products` unexpected products, "" where none is worth its conversion: of
 * formats that were raced; and, where none was, by forecasts, without the clock: `rows`: of those
 * that have products by rows. */
void tune_later(const spry_tune_report *raced, int64_t products, char format[TUNE_SPEC]);
spry_status tune_forecast_later(const spry_matrix *A, int64_t products, bool rows,
                                char format[TUNE_SPEC]);

/* --- tune.c --------------------------------------------------------------------------------- */

/* Fewer products are not worth a choice; of a solve on the host. */
enum { TUNE_FEW_PRODUCTS = 32, TUNE_RACED_PRODUCTS = 160 };
/* Decides. *op gets the operator in the chosen format, made from A; d, op and report may be NULL.
 */
spry_status tune_decide(spry_device *d, const spry_matrix *A, const char *options,
                        spry_tune_report *report, spry_operator **op);

#endif
