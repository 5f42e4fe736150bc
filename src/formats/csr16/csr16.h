/*
 * CSR with columns of 16 bits. A row is one part or several. Its entries are encoded four at a
 * time: by how far they are to the right of the last entry of the four before, the first four to
 * the right of the part's base, its first column. So a row takes a new part only where four entries
 * in sequence are more than 65535 columns apart; and finding a column is one addition, not a chain
 * of them: all four start from the same place.
 *
 * Rows come in groups of CSR16_GROUP. Where parts would be many, a group has columns of 32 bits
 * instead, and its rows one part each. Codes of a group are 2 places each then; it begins at an
 * even place.
 *
 * Group g has starts[3 g ...]: its first value, first code and first part, up to those of the next.
 */
#ifndef SPRY_FORMAT_CSR16_H
#define SPRY_FORMAT_CSR16_H

#include <stdbool.h>
#include <stdint.h>

typedef struct csr16_part {
    uint32_t end; /* counted from the group's first value */
    int32_t base; /* ~base when the row goes on with the next part */
} csr16_part;

/* Arrays: stored values, codes (uint16_t), starts (int64_t), parts. */
enum { CSR16_VALUES, CSR16_CODES, CSR16_STARTS, CSR16_PARTS };
enum { CSR16_GROUP = 128, CSR16_REACH = 65535 };
/* Places in a group's starts. */
enum { CSR16_VALUE, CSR16_CODE, CSR16_PART, CSR16_STEP };

/* Whether the group at `start` has columns of 32 bits. */
static inline bool csr16_wide(const int64_t *start)
{
    const int64_t values = start[CSR16_STEP + CSR16_VALUE] - start[CSR16_VALUE];
    return start[CSR16_STEP + CSR16_CODE] - start[CSR16_CODE] > values + 1;
}

#endif
