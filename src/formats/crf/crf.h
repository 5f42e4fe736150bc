/*
 * Constant diagonals, after the compressed regular format of G. Ortega Lopez ("High performance
 * computing for solving large sparse systems", PhD thesis, Almeria, 2014, section 4.4). A term is a
 * diagonal off the main one and the number on it. Rows with the same terms have the same shape; a
 * run is consecutive rows of one shape, and its numbers on the main diagonal are one for all or one
 * a row.
 *
 *     unit u has runs unit_runs[u] .. unit_runs[u + 1] - 1, from row u CRF_UNIT_ROWS on
 *     shape s has the terms starts[s] .. starts[s + 1] - 1: offsets, which rise, and places of
 * values
 *
 * Values are those of the terms, then those of the main diagonal.
 */
#ifndef SPRY_FORMAT_CRF_H
#define SPRY_FORMAT_CRF_H

#include "formats/shared/layout.h"

enum { CRF_UNIT_ROWS = 1024, CRF_MOST_TERMS = 64, CRF_MOST_SHAPES = 1024 };
/* From this number of rows on, one number on the main diagonal is worth a run of its own. */
enum { CRF_LEAST_SAME = 16 };

/* Arrays; CRF_TERMS: the values of terms once more. The last two are those of devices
 * (src/formats/crf/device.h). */
enum {
    CRF_VALUES,
    CRF_UNIT_RUNS,
    CRF_RUNS,
    CRF_STARTS,
    CRF_OFFSETS,
    CRF_PLACES,
    CRF_TERMS,
    CRF_CHUNKS,
    CRF_ODD
};
/* Numbers: whether the numbers of all terms are real; the shape of most rows, and whether these
 * have no entry on the main diagonal; whether any row has none. */
enum { CRF_REAL, CRF_COMMON, CRF_COMMON_BARE, CRF_BARE };

typedef enum crf_main { CRF_NONE, CRF_SAME, CRF_EACH } crf_main;

typedef struct crf_run {
    int64_t place; /* of its values on the main diagonal */
    int32_t rows;
    uint16_t shape, main;
} crf_run;

/*
 * Shapes, terms and numbers of a layout without runs, from rows that represent all: row i of `some`
 * for weight[i] of them, with as much added to its columns as to the number of its row. shape[i]
 * becomes its shape; bare[i] whether it has no entry on the main diagonal.
 */
spry_status crf_describe(layout *L, const matrix_arrays *some, const int64_t *weight,
                         uint16_t *shape, bool *bare);

#endif
