/* Zip archives, as far as .npz needs them: members stored or deflated, zip64, no encryption. */
#ifndef SPRY_IO_ZIP_H
#define SPRY_IO_ZIP_H

#include "io/io.h"

/* Where the list of members lies in the file. */
typedef struct zip_directory {
    size_t begin, end;
} zip_directory;

/* A member's bytes, or the first `have` of them: in the file when stored, in memory of its own when
 * deflated. */
typedef struct zip_bytes {
    const char *data;
    size_t size, have;
    void *memory;
} zip_bytes;

bool io_zip_matches(const io_bytes *bytes);
spry_status io_zip_open(spry_context *ctx, const io_bytes *bytes, zip_directory *directory);
/* A member by name, its first `most` bytes unpacked, and checked where that is all of it; data is
 * NULL when there is none. */
spry_status io_zip_read(spry_context *ctx, const io_bytes *bytes, const zip_directory *directory,
                        const char *name, size_t most, zip_bytes *member);
void io_zip_free(spry_context *ctx, zip_bytes *member);

/* Writing: members one after the other, deflated as they come. Errors come out of commit. */
typedef struct zip_writer zip_writer;
spry_status io_zip_create(spry_context *ctx, const char *path, zip_writer **zip);
/* Begins a member; name stays alive until commit. */
void io_zip_member(zip_writer *zip, const char *name);
void io_zip_write(zip_writer *zip, const void *data, size_t size);
spry_status io_zip_commit(spry_context *ctx, zip_writer *zip); /* frees in any case */

#endif
