#include "odt/small.h"

#include <math.h>

bool odt_factor(int n, double *A)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            A[j * n + j] -= A[j * n + k] * A[j * n + k];
        if (!(A[j * n + j] > 0))
            return false;
        A[j * n + j] = sqrt(A[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++)
                A[i * n + j] -= A[i * n + k] * A[j * n + k];
            A[i * n + j] /= A[j * n + j];
        }
    }
    return true;
}

void odt_substitute(int n, const double *L, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= L[i * n + k] * b[k];
        b[i] /= L[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++)
            b[i] -= L[k * n + i] * b[k];
        b[i] /= L[i * n + i];
    }
}
