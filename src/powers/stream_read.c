/* Opening a native file for reading by blocks, and reading them; see stream.h. */
#define _GNU_SOURCE /* of advice to the system's cache */
#include "powers/stream_read.h"

#include "host/csr_shares.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OFFSETS, COLUMNS, VALUES };
/* Blocks are a share of the memory, within bounds; AHEAD of them are prefetched. */
enum { BLOCK_SHARE = 64, LEAST_BLOCK = 1 << 14, MOST_BLOCK = 1 << 22, GRAIN = 16, AHEAD = 2 };
enum { PIECE = 1 << 18 }; /* columns that are looked at in one go */

/* --- reading -------------------------------------------------------------------------------------
 */

/* Reads all of it, or reports why not. */
static stream_fault read_at(stream *s, int64_t place, int64_t size, void *to)
{
    char *next = to;
    while (size > 0) {
        const ssize_t got = pread(s->fd, next, (size_t)size, place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return (stream_fault){.kind = FAULT_SYSTEM, .error = errno};
        if (got == 0)
            return (stream_fault){.kind = FAULT_SHORT};
#ifdef __linux__
        if (!s->keeps)
            (void)posix_fadvise(s->fd, place, got, POSIX_FADV_DONTNEED);
#endif
        next += got;
        place += got;
        size -= got;
        s->read_bytes += got;
    }
    return (stream_fault){.kind = FAULT_NONE};
}

spry_status stream_report(const stream *s, const stream_fault *fault)
{
    if (fault->kind == FAULT_SYSTEM)
        return io_system_fault(s->ctx, s->path, fault->error);
    if (fault->kind == FAULT_SHORT)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_IO,
                         "%s: has become shorter while it was in use: it must stay as it is",
                         s->path);
    return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s: rows from %" PRId64 " on have other offsets or columns than before: the "
                     "file must stay as it is while it is in use",
                     s->path, fault->row + 1);
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static char *slot_of(const stream *s, int64_t block)
{
    return s->room + block % s->slots * s->slot_bytes;
}

host_csr stream_slot(const stream *s, int64_t block)
{
    const char *slot = slot_of(s, block);
    const char *columns = slot + aligned((s->slot_rows + 1) * 8);
    return (host_csr){(const void *)slot, (const void *)columns,
                      columns + aligned(s->slot_entries * 4)};
}

/* Whether a block is as it was when the file was opened; offsets are counted from its first entry
 * then. */
static bool settle(const stream *s, int64_t block, int64_t *offsets, const int32_t *columns)
{
    const int64_t rows = s->blocks.row[block + 1] - s->blocks.row[block];
    const int64_t first = s->entry[block], end = s->entry[block + 1];
    bool sound = offsets[0] == first && offsets[rows] == end;
    for (int64_t i = 0; i < rows; i++)
        sound = sound && offsets[i] <= offsets[i + 1];
    int32_t low = INT32_MAX, high = -1;
    for (int64_t k = 0; k < end - first; k++) {
        low = columns[k] < low ? columns[k] : low;
        high = columns[k] > high ? columns[k] : high;
    }
    for (int64_t i = 0; i <= rows; i++)
        offsets[i] -= first;
    return sound && (end == first || (low >= s->low[block] && high <= s->high[block]));
}

stream_fault stream_read_block(stream *s, int64_t block)
{
    const int64_t size = (int64_t)spry_type_size(s->sizes.type);
    const int64_t row = s->blocks.row[block], rows = s->blocks.row[block + 1] - row;
    const int64_t first = s->entry[block], entries = s->entry[block + 1] - first;
    const host_csr csr = stream_slot(s, block);
    int64_t *offsets = (int64_t *)(uintptr_t)csr.offsets;
    int32_t *columns = (int32_t *)(uintptr_t)csr.columns;
    stream_fault fault = read_at(s, s->places[OFFSETS] + row * 8, (rows + 1) * 8, offsets);
    if (fault.kind == FAULT_NONE)
        fault = read_at(s, s->places[COLUMNS] + first * 4, entries * 4, columns);
    if (fault.kind == FAULT_NONE)
        fault = read_at(s, s->places[VALUES] + first * size, entries * size,
                        (void *)(uintptr_t)csr.values);
    if (fault.kind == FAULT_NONE && !settle(s, block, offsets, columns))
        fault = (stream_fault){.kind = FAULT_CHANGED, .row = row};
    return fault;
}

/* --- opening -------------------------------------------------------------------------------------
 */

void stream_close(stream *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    skew_clear(s->ctx, &s->blocks);
    base_free(s->ctx, s->entry);
    base_free(s->ctx, s->low);
    base_free(s->ctx, s->high);
    base_free(s->ctx, s->room);
    base_free(s->ctx, s->path);
    base_free(s->ctx, s);
}

static spry_status open_file(stream *s)
{
    char first[IO_NATIVE_HEADER] = {0};
    struct stat about;
    bool dense;
    spry_status status = SPRY_STATUS_OK;
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &about) != 0)
        return io_system_fault(s->ctx, s->path, errno);
    if (!S_ISREG(about.st_mode))
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: is not a plain file, and is to be read several times", s->path);
    const int64_t size = about.st_size < IO_NATIVE_HEADER ? about.st_size : IO_NATIVE_HEADER;
    const stream_fault fault = read_at(s, 0, size, first);
    if (fault.kind != FAULT_NONE)
        return stream_report(s, &fault);
    const io_bytes head = {.path = s->path, .data = first, .size = (size_t)about.st_size};
    SPRY_GO(s->ctx, io_native_places(s->ctx, &head, &s->sizes, s->places, &dense));
    if (dense)
        SPRY_GO(s->ctx, SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT, "%s: holds no matrix", s->path));
    if (s->sizes.rows == 0 && s->sizes.nnz > 0)
        SPRY_GO(s->ctx,
                SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT, "%s: has %" PRId64 " entries, but no rows",
                          s->path, s->sizes.nnz));
    if (s->sizes.symmetry != SPRY_SYMMETRY_GENERAL)
        SPRY_GO(s->ctx, SPRY_FAIL(s->ctx, SPRY_STATUS_UNSUPPORTED,
                                  "%s: stores one triangle of a symmetric matrix; products from "
                                  "files need both: `spry convert` writes them",
                                  s->path));
    if (s->sizes.rows != s->sizes.cols)
        SPRY_GO(s->ctx, SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                                  "%s: is %" PRId64 " x %" PRId64 ": powers are of square matrices",
                                  s->path, s->sizes.rows, s->sizes.cols));
    s->bytes = matrix_csr_bytes(s->sizes.type, s->sizes.rows, s->sizes.nnz);
done:
    return status;
}

/* Rows of a block, which is a share of `memory` bytes. */
static int64_t block_rows(const stream *s, int64_t memory)
{
    int64_t bytes = memory / BLOCK_SHARE;
    bytes = bytes < LEAST_BLOCK ? LEAST_BLOCK : bytes > MOST_BLOCK ? MOST_BLOCK : bytes;
    const int64_t each = s->sizes.rows > 0 ? s->bytes / s->sizes.rows + 1 : 1;
    return (bytes / each + GRAIN) / GRAIN * GRAIN;
}

/* The offsets of a block: in order, and where they should be. */
static spry_status look_at_offsets(stream *s, int64_t block, int64_t *offsets)
{
    const int64_t row = s->blocks.row[block], rows = s->blocks.row[block + 1] - row;
    const stream_fault fault = read_at(s, s->places[OFFSETS] + row * 8, (rows + 1) * 8, offsets);
    if (fault.kind != FAULT_NONE)
        return stream_report(s, &fault);
    bool sound = offsets[0] == s->entry[block] && offsets[rows] <= s->sizes.nnz;
    for (int64_t i = 0; i < rows; i++) {
        sound = sound && offsets[i] <= offsets[i + 1];
        s->has_long |= sound && offsets[i + 1] - offsets[i] > LONG_ROW;
    }
    if (!sound || (row + rows == s->sizes.rows && offsets[rows] != s->sizes.nnz))
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: the offsets of rows %" PRId64 " to %" PRId64
                         " do not rise from 0 to the number of entries",
                         s->path, row + 1, row + rows);
    s->entry[block + 1] = offsets[rows];
    return SPRY_STATUS_OK;
}

static spry_status look_at_columns(stream *s, int64_t block, int32_t *columns)
{
    const int64_t end = s->entry[block + 1];
    int32_t low = INT32_MAX, high = -1;
    for (int64_t k = s->entry[block]; k < end; k += PIECE) {
        const int64_t n = end - k < PIECE ? end - k : PIECE;
        const stream_fault fault = read_at(s, s->places[COLUMNS] + k * 4, n * 4, columns);
        if (fault.kind != FAULT_NONE)
            return stream_report(s, &fault);
        for (int64_t i = 0; i < n; i++) {
            low = columns[i] < low ? columns[i] : low;
            high = columns[i] > high ? columns[i] : high;
        }
        if (low < 0 || high >= s->sizes.cols)
            return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                             "%s: rows %" PRId64 " to %" PRId64
                             ": column %d is outside 0..%" PRId64,
                             s->path, s->blocks.row[block] + 1, s->blocks.row[block + 1],
                             low < 0 ? low : high, s->sizes.cols - 1);
    }
    s->low[block] = low;
    s->high[block] = high;
    return SPRY_STATUS_OK;
}

/* All indices, once. */
static spry_status look(stream *s)
{
    spry_context *ctx = s->ctx;
    int64_t *offsets = NULL;
    int32_t *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    const int64_t size = (int64_t)spry_type_size(s->sizes.type);
    SPRY_GO(ctx, base_alloc(ctx, s->blocks.rows + 1, sizeof *offsets, &offsets));
    SPRY_GO(ctx, base_alloc(ctx, PIECE, sizeof *columns, &columns));
    s->entry[0] = 0;
    for (int64_t b = 0; b < s->blocks.count; b++) {
        SPRY_GO(ctx, io_go_on(ctx, s->path));
        SPRY_GO(ctx, look_at_offsets(s, b, offsets));
        SPRY_GO(ctx, look_at_columns(s, b, columns));
        const int64_t entries = s->entry[b + 1] - s->entry[b];
        const int64_t rows = s->blocks.row[b + 1] - s->blocks.row[b];
        skew_rows found = {.bytes = entries * (4 + size) + rows * 8};
        if (s->high[b] >= 0)
            found.columns = (range){s->low[b], (int64_t)s->high[b] + 1};
        skew_note(&s->blocks, b, &found);
        s->slot_rows = rows > s->slot_rows ? rows : s->slot_rows;
        s->slot_entries = entries > s->slot_entries ? entries : s->slot_entries;
    }
    skew_close(&s->blocks);
done:
    base_free(ctx, offsets);
    base_free(ctx, columns);
    return status;
}

/* The ring, and how many steps it is long enough for. */
static spry_status make_ring(stream *s, int steps, int64_t memory)
{
    const int64_t size = (int64_t)spry_type_size(s->sizes.type);
    s->slot_bytes = aligned((s->slot_rows + 1) * 8) + aligned(s->slot_entries * 4) +
                    aligned(s->slot_entries * size);
    s->slots = memory / s->slot_bytes;
    if (s->slots < 1 + AHEAD)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_NO_MEMORY,
                         "%s: %" PRId64
                         " bytes of memory are too few to read it by blocks: %" PRId64
                         " are the least",
                         s->path, memory, (1 + AHEAD) * s->slot_bytes);
    s->depth = steps;
    while (s->depth > 1 && skew_window_blocks(&s->blocks, s->depth) + AHEAD > s->slots)
        s->depth--;
    const int passes = (steps + s->depth - 1) / s->depth;
    s->depth = (steps + passes - 1) / passes;
    const int64_t enough = skew_window_blocks(&s->blocks, s->depth) + 2 * AHEAD;
    s->slots = s->slots < enough ? s->slots : enough;
    return base_alloc(s->ctx, s->slots, (size_t)s->slot_bytes, &s->room);
}

spry_status stream_open(spry_context *ctx, const char *path, int steps, int64_t memory, bool keeps,
                        stream **out)
{
    stream *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    s->ctx = ctx;
    s->fd = -1;
    s->keeps = keeps;
    s->path = base_copy_text(ctx, path);
    if (!s->path)
        SPRY_GO(ctx, SPRY_STATUS_NO_MEMORY);
    SPRY_GO(ctx, open_file(s));
    SPRY_GO(ctx, skew_open(ctx, s->sizes.rows, block_rows(s, memory), &s->blocks));
    SPRY_GO(ctx, base_alloc(ctx, s->blocks.count + 1, sizeof *s->entry, &s->entry));
    SPRY_GO(ctx, base_alloc(ctx, s->blocks.count, sizeof *s->low, &s->low));
    SPRY_GO(ctx, base_alloc(ctx, s->blocks.count, sizeof *s->high, &s->high));
    SPRY_GO(ctx, look(s));
    SPRY_GO(ctx, make_ring(s, steps, memory));
    *out = s;
    s = NULL;
done:
    stream_close(s);
    return status;
}
