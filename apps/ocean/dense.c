/* Small dense matrices: elimination, and eigenvalues by Jacobi's rotations. */
#include "ocean/dense.h"

#include <math.h>

static void swap_rows(int n, double *A, double *b, int r, int s)
{
    for (int c = 0; c < n; c++) {
        const double kept = A[r * n + c];
        A[r * n + c] = A[s * n + c];
        A[s * n + c] = kept;
    }
    const double kept = b[r];
    b[r] = b[s];
    b[s] = kept;
}

bool dense_solve(int n, double *A, double *b)
{
    for (int p = 0; p < n; p++) {
        int pivot = p;
        for (int r = p + 1; r < n; r++)
            if (fabs(A[r * n + p]) > fabs(A[pivot * n + p]))
                pivot = r;
        if (!(fabs(A[pivot * n + p]) > 0))
            return false;
        swap_rows(n, A, b, p, pivot);
        for (int r = p + 1; r < n; r++) {
            const double factor = A[r * n + p] / A[p * n + p];
            for (int c = p; c < n; c++)
                A[r * n + c] -= factor * A[p * n + c];
            b[r] -= factor * b[p];
        }
    }
    for (int p = n - 1; p >= 0; p--) {
        for (int c = p + 1; c < n; c++)
            b[p] -= A[p * n + c] * b[c];
        b[p] /= A[p * n + p];
    }
    return true;
}

/* Makes A_pq 0 by a rotation of rows and columns p and q. */
static void rotate(int n, double *A, double *V, int p, int q)
{
    if (A[p * n + q] == 0)
        return;
    const double half = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    const double t = (half >= 0 ? 1 : -1) / (fabs(half) + sqrt(half * half + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < n; i++) {
        const double a = A[i * n + p], b = A[i * n + q], v = V[i * n + p], w = V[i * n + q];
        A[i * n + p] = c * a - s * b;
        A[i * n + q] = s * a + c * b;
        V[i * n + p] = c * v - s * w;
        V[i * n + q] = s * v + c * w;
    }
    for (int i = 0; i < n; i++) {
        const double a = A[p * n + i], b = A[q * n + i];
        A[p * n + i] = c * a - s * b;
        A[q * n + i] = s * a + c * b;
    }
}

void dense_eigen(int n, double *A, double *values, double *V)
{
    enum { SWEEPS = 60 };
    for (int i = 0; i < n * n; i++)
        V[i] = i % (n + 1) == 0;
    for (int k = 0; k < SWEEPS; k++) {
        double off = 0, all = 0;
        for (int i = 0; i < n * n; i++) {
            all += A[i] * A[i];
            off += i % (n + 1) == 0 ? 0 : A[i] * A[i];
        }
        if (off <= 1e-32 * all)
            break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(n, A, V, p, q);
    }
    for (int i = 0; i < n; i++)
        values[i] = A[i * n + i];
}
