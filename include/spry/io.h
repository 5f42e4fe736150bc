/* Files. The format follows from the name's ending: .mtx .mtx.gz .rb .rua (etc.) .npz .npy .spry */
#ifndef SPRY_IO_H
#define SPRY_IO_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Reads a matrix as general CSR with sorted rows: the implied triangle written out.
 *
 * @param options  "duplicates=error|sum nonfinite=error|keep type=auto|s|d|c|z expand=yes|no" or
 * NULL; see spry_read_options()
 * @return SPRY_IO when the file cannot be opened or read, SPRY_BAD_INPUT with file and line when
 *         its text is wrong
 */
SPRY_API spry_status spry_matrix_read_with(spry_context *ctx, const char *path, const char *options,
                                           spry_matrix **A);
SPRY_API spry_status spry_matrix_read(spry_context *ctx, const char *path, spry_matrix **A);
/** Reads a vector: an array file, or a matrix file with one row or one column. */
SPRY_API spry_status spry_vector_read_file(spry_context *ctx, const char *path, const char *options,
                                           spry_vector **v);

/** Writes aside and renames, so that a file with the name is whole or not there. */
SPRY_API spry_status spry_matrix_write(const spry_matrix *A, const char *path);
SPRY_API spry_status spry_vector_write(const spry_vector *v, const char *path);

/** Whether a vector, or else a matrix, can be written under a name, as far as its ending tells:
 * asked before long work whose result goes there. */
SPRY_API spry_status spry_file_check_name(spry_context *ctx, const char *path, bool vector);

/** The file formats there are: ending and one line ("read and write" or "read"); false past the
 * last. */
SPRY_API bool spry_file_format_describe(int index, const char **ending, const char **summary);

SPRY_END

#endif
