/* Files that all ranks read and write together, each its part. Calls are collective. */
#ifndef SPRY_RANKS_FILES_H
#define SPRY_RANKS_FILES_H

#include "ranks/redistribute.h"

#include "io/io.h"

/*
 * Reads a matrix; rank r gets the r-th of equal blocks of rows (ranks_blocks()), sorted, the
 * implied triangle of symmetric files written out. Plain .mtx and .spry files are read by all
 * ranks, each its part of the bytes; others by the first rank. Options as of read_option_list().
 */
spry_status ranks_read(spry_context *ctx, const char *path, const char *options, ranks_rows *rows);
/* Reads a vector of first[ranks] numbers, of which rank r gets first[r]..first[r+1]-1, in memory of
 * base_alloc()'s. */
spry_status ranks_read_vector(spry_context *ctx, const char *path, const char *options,
                              const int64_t *first, spry_type *type, void **values);
/* Writes one: to .mtx each rank its lines, to others the first rank. The file takes its name when
 * all of it exists. `comment`, a line that begins with %, follows the first one; NULL: none. */
spry_status ranks_write_vector(spry_context *ctx, const char *path, const char *comment,
                               spry_type type, const int64_t *first, const void *values);

/* What is wrong with a file is not the rank's that found it: its name goes from the message. */
spry_status ranks_about_file(spry_context *ctx, const char *path, spry_status status);

/* --- inside --------------------------------------------------------------------------------------
 */

/* The file's bytes on all ranks: mapped by each where the file is plain, else sent by the first. */
spry_status ranks_open_file(spry_context *ctx, const char *path, io_bytes *bytes);
/* Where rank r's part begins, of text between two line starts. */
const char *ranks_line_of(const char *begin, const char *end, int ranks, int rank);
/* Entries of this rank's part of a file, as the file has them. */
typedef struct ranks_found {
    ranks_entries entries;
    spry_symmetry symmetry;
    int64_t rows, cols;
    bool whole; /* a kind of file that is not cut: nothing was found */
} ranks_found;
spry_status ranks_parse_mtx(spry_context *ctx, const io_bytes *bytes, const read_options *options,
                            ranks_found *found);
spry_status ranks_take_native(spry_context *ctx, const io_bytes *bytes, const read_options *options,
                              ranks_found *found);
/* The numbers of a .mtx array of one column or row, this rank's lines; the caller frees them. */
spry_status ranks_parse_numbers(spry_context *ctx, const io_bytes *bytes,
                                const read_options *options, spry_type *type, int64_t *count,
                                void **values);
/* Numbers of one type as another, in memory of their own; *bad is the first that does not fit, and
 * `why` says so; -1: all do. */
enum { RANKS_WHY = 160 };
spry_status ranks_cast(spry_context *ctx, spry_type from, int64_t count, void **values,
                       spry_type to, int64_t *bad, char why[RANKS_WHY]);

#endif
