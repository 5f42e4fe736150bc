/*
 * Files. The format follows from the name's ending: .mtx .mtx.gz .rb .rua (etc.) .npz .npy .mat
 * .spry (SPRY_LIST_FILES has them all).
 *
 * Files are mapped while they are read, .spry for the life of the matrix: if another program
 * truncates one meanwhile, yours ends by SIGBUS. Replacing a file by a rename, as the writers here
 * do, is safe.
 */
#ifndef SPRY_IO_H
#define SPRY_IO_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Reads a matrix as general CSR with sorted rows, the implied triangle included.
 *
 * @param options  "duplicates=error|sum|keep nonfinite=error|keep type=auto|s|d|c|z expand=yes|no"
 *                 or NULL; see spry_options_of("read")
 * @return SPRY_STATUS_IO when the file cannot be opened or read, SPRY_STATUS_BAD_INPUT with file
 * and line when its text is wrong
 */
SPRY_API spry_status spry_matrix_read(spry_context *ctx, const char *path, const char *options,
                                      spry_matrix **A);
/** Reads a vector: an array file, or a matrix file with one row or one column. */
SPRY_API spry_status spry_vector_read(spry_context *ctx, const char *path, const char *options,
                                      spry_vector **v);
/**
 * Reads a dense array of several columns, one after the other in one vector: for spry_solve_many()
 * make each column a vector that borrows its part. A file that spry_vector_read() takes is one
 * column; a .npy of three dimensions has its planes one below the other.
 */
SPRY_API spry_status spry_columns_read(spry_context *ctx, const char *path, const char *options,
                                       spry_vector **v, int64_t *cols);

/**
 * Writes to a temporary file, syncs and renames it, so that the file is complete or absent, also
 * after a power cut. Links are followed; a read-only file is not replaced; pipes and devices are
 * written in place, "-" is the standard output.
 *
 * @return SPRY_STATUS_NO_MEMORY also when the disk is full, SPRY_STATUS_INTERRUPTED when
 * spry_context_interrupt() was called before the end; no file is left then
 */
SPRY_API spry_status spry_matrix_write(const spry_matrix *A, const char *path);
/** The same for a vector. */
SPRY_API spry_status spry_vector_write(const spry_vector *v, const char *path);
/** The same for several columns, one after the other in one vector. */
SPRY_API spry_status spry_columns_write(const spry_vector *v, int64_t cols, const char *path);

SPRY_END

#endif
