/* What an operator with a matrix on a device has stored, and products with that. */
#ifndef SPRY_DEVICE_PRODUCT_H
#define SPRY_DEVICE_PRODUCT_H

#include "device/linalg/operator.h"
#include "formats/shared/device_stored.h"

typedef struct device_state {
    const spry_matrix *matrix; /* as given; NULL: it was made on the device */
    int64_t version;           /* of the matrix, whose values are stored */
    char *spec;
    device_stored plain, transposed; /* transposed is made when it is needed */
} device_state;

/* What is stored for op(A), made at its first use, and whether its conjugate is meant. */
spry_status device_find_stored(const spry_operator *op, spry_transpose transpose,
                               const device_stored **found, bool *conjugate);
/* With the columns of each product, whose `conjugate` is not looked at. DEVICE_MOST_PRODUCTS at
 * most: a matrix that does not fit into the device's memory is brought to it once for all. */
spry_status device_multiply_blocks(const spry_operator *op, spry_transpose transpose,
                                   const device_product *products, int count);
/* With one column; a member of the class. */
spry_status device_multiply_stored(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                   device_memory *y);

#endif
