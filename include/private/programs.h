/*
 * What only our own programs need of libspry: not installed, and exported under a version that
 * other programs are not linked with (cmake/SpryExports.cmake).
 */
#ifndef SPRY_PRIVATE_PROGRAMS_H
#define SPRY_PRIVATE_PROGRAMS_H

#include <spry/io.h>

SPRY_BEGIN

/** Writes any text by the rules of spry_matrix_write(); packed by gzip where the name ends in .gz.
 */
SPRY_API spry_status spry_text_write(spry_context *ctx, const char *text, size_t size,
                                     const char *path);

/**
 * Packs a picture as PNG, in memory: for a page that has it within, or for spry_text_write().
 *
 * @param ctx     the context that the memory is of
 * @param width   of the picture, at most 16384
 * @param height  likewise
 * @param pixels  three bytes each (red, green, blue), rows from the top
 * @param png     out: to be given back to spry_free()
 * @param size    out: its bytes
 */
SPRY_API spry_status spry_png_pack(spry_context *ctx, int64_t width, int64_t height,
                                   const void *pixels, void **png, size_t *size);
/**
 * Writes arrays with names as the data sets of an HDF5 file (.h5), which h5py, MATLAB and ParaView
 * read; complex numbers are compounds of r and i. By the rules of spry_matrix_write().
 *
 * @param ctx     hears what is wrong
 * @param path    of the file
 * @param count   of data sets, 1 to 8
 * @param names   theirs, of one to seven letters and sorted as strcmp() has it
 * @param sides   three for each data set, the last of them running fastest; leading ones that are 0
 *                are of dimensions that it has not
 * @param values  as many numbers as sides say, on the host or a device
 */
SPRY_API spry_status spry_datasets_write(spry_context *ctx, const char *path, int count,
                                         const char *const *names, const int64_t *sides,
                                         const spry_vector *const *values);
/**
 * Reads a data set of up to three dimensions of an HDF5 file, in one piece or in chunks; whole
 * numbers become real ones.
 *
 * @param ctx     of the vector
 * @param path    of the file
 * @param name    of the data set, in the file's first group
 * @param sides   out: three, as spry_datasets_write() takes them; all 0 where the file can be read
 *                and has none of the name, -1 where it has, or is not known to have none
 * @param values  out
 * @return SPRY_STATUS_BAD_INPUT where there is none of the name, or it has no numbers
 */
SPRY_API spry_status spry_dataset_read(spry_context *ctx, const char *path, const char *name,
                                       int64_t *sides, spry_vector **values);

/** Whether a vector, or else a matrix, can be written under a name, as far as its ending tells:
 * asked before long work whose result goes there. */
SPRY_API spry_status spry_file_check_name(spry_context *ctx, const char *path, bool vector);
/** Whether a file with the name can be made or replaced, as far as the file system tells now. */
SPRY_API spry_status spry_file_check_place(spry_context *ctx, const char *path);

SPRY_END

#endif
