/* What the tests of file formats share: files of a test's own, and reading from memory. */
#ifndef SPRY_TESTS_FILES_H
#define SPRY_TESTS_FILES_H

#include "support/support.h"

#include "io/io.h"

/* A path with this name in a folder that is removed at the end; good until the next call but three.
 */
const char *files_path(const char *name);

/* What a format's reader makes of a file, and of bytes in memory (copied to a block of their size,
 * so that a step past the end is seen). */
spry_status files_read(spry_context *ctx, const io_format *format, const char *path,
                       io_content *content);
spry_status files_read_memory(spry_context *ctx, const io_format *format, const void *data,
                              size_t size, io_content *content);
void files_free(spry_context *ctx, io_content *content);

/* The reader must refuse the bytes, with a message that holds the text. */
void files_refused(spry_context *ctx, const io_format *format, const void *data, size_t size,
                   const char *message);

/* All bytes of a file, to be freed by free(). */
char *files_load(const char *path, size_t *size);

/* Writes A, reads it back and compares bitwise, as A is or cast to A's type. */
void files_round_trip(const io_format *format, const spry_matrix *A, const char *path);

#endif
