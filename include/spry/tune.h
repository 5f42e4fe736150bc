/* The tuner: which storage format suits a matrix on this machine, by forecast and by timing. */
#ifndef SPRY_TUNE_H
#define SPRY_TUNE_H

#include <spry/operator.h>

SPRY_BEGIN

/** A format with its options, and what the tuner found. Made by the library alone; see
 * spry_tune_row_at(). */
typedef struct spry_tune_row {
    char format[128];          /**< "sell:C=8,sigma=256", as spry_operator_from_matrix() takes it */
    int64_t bytes;             /**< of the matrix that a product reads, forecast; 0: not possible */
    double model_seconds;      /**< of a product, forecast; 0: none */
    double seconds;            /**< of the fastest product timed; 0: not timed */
    double conversion_seconds; /**< taken; 0: not built, or used in place */
    double total_seconds;      /**< conversion and all products; 0: not timed */
    char note[96];             /**< why not timed, or the outcome; may be "" */
} spry_tune_row;

/** The tuner's choice, and its figures. */
typedef struct spry_tune_report {
    size_t size;         /**< SPRY_TUNE_REPORT_INIT */
    char format[128];    /**< the choice */
    bool remembered;     /**< from an earlier run: nothing was timed */
    bool untried;        /**< the matrix is too small, or products too few, for timing to pay */
    int64_t products;    /**< the choice is for */
    double seconds;      /**< of the tuning, or of the earlier one if remembered */
    char place[256];     /**< file where the choice is kept; "" when it is not */
    spry_tune_row *rows; /**< CSR first, then the timed ones by total, then others by forecast */
    int64_t count;       /**< of rows */
    size_t row_size;     /**< bytes from one row to the next */
} spry_tune_report;
#define SPRY_TUNE_REPORT_INIT SPRY_SIZED(spry_tune_report)

/** A row of a report; NULL past the last. Rows may be longer than this struct. */
SPRY_API const spry_tune_row *spry_tune_row_at(const spry_tune_report *report, int64_t index);

/**
 * Finds the storage format with the least time for conversion and products together. It leaves CSR,
 * used in place, only for a format that is at least 3% faster, and never for values that are not
 * A's own. Choices are kept in a folder ($SPRY_CACHE, else $XDG_CACHE_HOME/spry, else
 * ~/.cache/spry), by matrix, processor, threads and version; without one it works as well, again
 * each time. Timing takes as long as `budget` products in CSR, and at least 5 ms if all products
 * take ten times that; each product counts with its format's best time.
 *
 * On a device the choice is among formats with kernels for devices. CSR is copied to the device
 * once for all formats, and times are those of the device's clock. Which formats are tried follows
 * from forecasts alone, within 1.6 `budget` with the time for building, and totals within 2% go to
 * the first of a fixed list, so that the choice is the same each time. Choices are kept by device,
 * driver and version.
 *
 * @param A        any matrix
 * @param device   where products run; NULL: the host
 * @param options  "products=1000 budget=20 remember=yes again=no always=no" or NULL; see
 *                 spry_options_of("tune")
 * @param report   out: to be cleared by spry_tune_report_clear(), also after a failure
 */
SPRY_API spry_status spry_tune(const spry_matrix *A, spry_device *device, const char *options,
                               spry_tune_report *report);
/** Frees what a report holds and clears it. */
SPRY_API void spry_tune_report_clear(spry_context *ctx, spry_tune_report *report);

SPRY_END

#endif
