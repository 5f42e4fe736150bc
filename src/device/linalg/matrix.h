/*
 * Sparse matrices in a device's memory: general CSR, sums and products of them. What
 * <spry/algebra.h> has for the host, for set-ups that stay on the device. Numbers are those
 * of the type's own arithmetic, and every sum is taken in an order that follows from the matrices
 * alone, so that results are the same bit by bit each time on the same device.
 *
 * A matrix is a plain struct: all zeros is none. What makes one sets it to zeros when it fails.
 * Matrices of one call are of one type and on one device.
 */
#ifndef SPRY_DEVICE_MATRIX_H
#define SPRY_DEVICE_MATRIX_H

#include "device/engine/device.h"
#include "operator/operator.h"

/* Columns rise strictly in each row. */
typedef struct device_matrix {
    spry_device *d;
    spry_type type;
    int64_t rows, cols, nnz;
    device_memory *offsets; /* int64_t, rows + 1 */
    device_memory *columns; /* int32_t, nnz */
    device_memory *values;
} device_matrix;

/* --- to the device and back ----------------------------------------------------------------------
 */

/* A copy of a matrix of the host's, whatever its format and symmetry. */
spry_status device_matrix_put(spry_device *d, const spry_matrix *A, device_matrix *out);
/* The same of general CSR whose columns are known to rise strictly in each row. */
spry_status device_matrix_put_csr(spry_device *d, const matrix_arrays *csr, device_matrix *out);
/* A copy for the host. */
spry_status device_matrix_get(const device_matrix *A, spry_matrix **out);
/* A copy on the device. */
spry_status device_matrix_copy(const device_matrix *A, device_matrix *out);
/* Takes NULL and matrices that are none; *A is none afterwards. */
void device_matrix_free(device_matrix *A);

/* --- products ------------------------------------------------------------------------------------
 */

/*
 * C = A B, with a place for every i, j where some k has both A[i, k] and B[k, j]. Sums go through k
 * as it rises, by pieces where a row of A has many thousand entries. The work takes, besides C, 8
 * bytes per row of A, and for rows of C beyond some thousand entries a quarter of a byte per column
 * for each of a few rows at a time; rows in pieces take as much as C once more.
 */
spry_status device_matrix_multiply(const device_matrix *A, const device_matrix *B,
                                   device_matrix *C);
/* The same with new values: C is the product of matrices with the patterns of A and B, and gets the
 * values it would have if it were built again, bit by bit. */
spry_status device_matrix_multiply_again(const device_matrix *A, const device_matrix *B,
                                         device_matrix *C);
/* C = R A P, the matrix of a coarse level, as R (A P); R NULL: P^H (P^T of real matrices). */
spry_status device_matrix_triple(const device_matrix *R, const device_matrix *A,
                                 const device_matrix *P, device_matrix *C);
/* A^T, or A^H when conjugate. */
spry_status device_matrix_transpose(const device_matrix *A, bool conjugate, device_matrix *out);

/* P A P^T: row and column from[i] of a square A, places of the host's, become i. */
spry_status device_matrix_permute(const device_matrix *A, const int32_t *from, device_matrix *out);

/* --- for what else works on them -----------------------------------------------------------------
 */

/* Sums numbers of 64 bits up from the first on, in place. */
spry_status device_sum_up(spry_device *d, device_memory *numbers, int64_t count);
/* A matrix with uninitialised offsets and no entries yet. */
spry_status device_matrix_new(spry_device *d, spry_type type, int64_t rows, int64_t cols,
                              device_matrix *out);
/* Room for entries, as many as the last offset says: offsets hold the lengths of rows, after a 0,
 * and are summed up first. */
spry_status device_matrix_allocate(device_matrix *A);
/* The same where A->nnz says how many there are: nothing is waited for. Lengths are summed up
 * before or after it by device_sum_up(). */
spry_status device_matrix_allocate_known(device_matrix *A);
/* Sorts rows whose columns are all different. */
spry_status device_matrix_sort(device_matrix *A);
/* A program of texts of src/device/kernels, whose names have blanks between them, for a type, with
 * groups of `group` work-items; other constants are in `options`. */
spry_status device_matrix_build(spry_device *d, spry_type type, int group, const char *names,
                                const char *options, device_program **p);

/*
 * Rows by their size: those of at most device_class_size(d, 0) entries, (d, 1), ..., class by
 * class, so that each class has a kernel with as much local memory as its rows need. Rows of none
 * are left out; the last class has all that are larger.
 */
enum { DEVICE_MOST_CLASSES = 12 };
typedef struct device_classes {
    int classes;
    int64_t first[DEVICE_MOST_CLASSES + 1]; /* place in rows where each class begins */
    device_memory *rows;                    /* int32_t */
    device_memory *sums;                    /* how many rows of each, int32_t */
} device_classes;
int device_class_size(const spry_device *d, int class);
/* sizes: int32_t, one per row. */
spry_status device_classes_make(spry_device *d, int64_t rows, const device_memory *sizes,
                                int classes, device_classes *out);
/* The same in two parts: the host waits at the end of the second alone, which brings another number
 * along unless that is NULL. */
spry_status device_classes_begin(spry_device *d, int64_t rows, const device_memory *sizes,
                                 int classes, device_classes *out);
spry_status device_classes_end(spry_device *d, device_classes *c, const device_piece *other);
void device_classes_free(device_classes *c);
/* The lengths of A's rows as such sizes. */
spry_status device_row_lengths(const device_matrix *A, device_memory *sizes);

/* How rows of a class are worked on: groups of teams, each of which has a row (kernels/teams.knl).
 */
typedef struct device_team {
    int team, group;
} device_team;
device_team device_team_for(const spry_device *d, int class);

#endif
