/* An operator in the format a caller names, or in the one that suits best. */
#include "host/walk.h"

spry_status spry_operator_from_format(const spry_matrix *A, const char *format, spry_operator **op)
{
    *op = NULL;
    if (strcmp(format, "csr") == 0 || strcmp(format, "auto") == 0)
        return spry_operator_from_matrix(A, op);
    return host_layout_operator(A, format, op);
}
