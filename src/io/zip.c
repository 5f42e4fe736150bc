/*
 * Reading zip archives (PKWARE's APPNOTE.TXT 6.3). The list of members at the end of the file is
 * complete, so that headers before and after a member's data are skipped. Every number in the file
 * is taken for hostile.
 */
#include "io/zip.h"

#include "io/gzip.h"

#include <limits.h>

enum {
    END_SIZE = 22,       /* end of the list of members */
    END64_SIZE = 56,     /* the same with 64-bit numbers */
    LOCATOR64_SIZE = 20, /* holds its offset */
    ENTRY_SIZE = 46,     /* one member in the list */
    LOCAL_SIZE = 30,     /* what precedes its data */
    COMMENT_MOST = 65535,
    DEFLATE_RATIO = 1032 /* deflate packs no better */
};

typedef struct entry {
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, unpacked, offset;
} entry;

static uint64_t get(const io_bytes *b, size_t at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)b->data[at + (size_t)i] << (8 * i);
    return value;
}

static bool signature(const io_bytes *b, size_t at, size_t needed, const char *text)
{
    return at <= b->size && needed <= b->size - at && memcmp(b->data + at, text, 4) == 0;
}

static spry_status fault(spry_context *ctx, const io_bytes *b, const char *name, const char *what)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: %s%s%s", b->path, name, *name ? ": " : "",
                     what);
}

bool io_zip_matches(const io_bytes *bytes)
{
    return signature(bytes, 0, 4, "PK\3\4") || signature(bytes, 0, 4, "PK\5\6");
}

spry_status io_zip_open(spry_context *ctx, const io_bytes *bytes, zip_directory *directory)
{
    if (bytes->size < END_SIZE)
        return fault(ctx, bytes, "", "is too short for a zip archive");
    size_t end = bytes->size - END_SIZE;
    const size_t last = end > COMMENT_MOST ? end - COMMENT_MOST : 0;
    while (!(signature(bytes, end, END_SIZE, "PK\5\6") &&
             get(bytes, end + 20, 2) <= bytes->size - end - END_SIZE)) {
        if (end == last)
            return fault(ctx, bytes, "",
                         "has no list of members at its end: not a zip archive, or cut off");
        end--;
    }
    uint64_t size = get(bytes, end + 12, 4), begin = get(bytes, end + 16, 4);
    if (end >= LOCATOR64_SIZE && signature(bytes, end - LOCATOR64_SIZE, LOCATOR64_SIZE, "PK\6\7")) {
        const uint64_t at = get(bytes, end - LOCATOR64_SIZE + 8, 8);
        if (at > bytes->size || !signature(bytes, (size_t)at, END64_SIZE, "PK\6\6"))
            return fault(ctx, bytes, "", "the 64-bit list of members is not where it should be");
        size = get(bytes, (size_t)at + 40, 8);
        begin = get(bytes, (size_t)at + 48, 8);
        end = (size_t)at;
    }
    if (begin > end || size > end - begin)
        return fault(ctx, bytes, "", "the list of members lies outside the file");
    *directory = (zip_directory){(size_t)begin, (size_t)(begin + size)};
    return SPRY_STATUS_OK;
}

/* Takes the 64-bit numbers from an entry's extra fields where the 32-bit ones are all ones. */
static bool widen(const io_bytes *b, size_t at, size_t end, entry *e)
{
    uint64_t *const wide[] = {&e->unpacked, &e->packed, &e->offset};
    while (end - at >= 4) {
        const size_t id = get(b, at, 2), size = get(b, at + 2, 2);
        at += 4;
        if (size > end - at)
            return false;
        if (id != 1) {
            at += size;
            continue;
        }
        const size_t stop = at + size;
        for (int i = 0; i < 3; i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (stop - at < 8)
                return false;
            *wide[i] = get(b, at, 8);
            at += 8;
        }
        return true;
    }
    return true;
}

/* Looks a name up in the list. Two members of one name are two readers' two matrices: refused. */
static spry_status find(spry_context *ctx, const io_bytes *b, const zip_directory *d,
                        const char *name, entry *e, bool *found)
{
    const size_t wanted = strlen(name);
    *found = false;
    for (size_t at = d->begin; at < d->end;) {
        if (d->end - at < ENTRY_SIZE || !signature(b, at, ENTRY_SIZE, "PK\1\2"))
            return fault(ctx, b, "", "the list of members is damaged");
        const size_t length = get(b, at + 28, 2), extra = get(b, at + 30, 2);
        const size_t comment = get(b, at + 32, 2), begin = at + ENTRY_SIZE;
        if (length + extra + comment > d->end - begin)
            return fault(ctx, b, "", "the list of members is damaged");
        if (length == wanted && memcmp(b->data + begin, name, wanted) == 0) {
            if (*found)
                return fault(ctx, b, name, "two members have this name");
            *e = (entry){.flags = (unsigned)get(b, at + 8, 2),
                         .method = (unsigned)get(b, at + 10, 2),
                         .crc = (uint32_t)get(b, at + 16, 4),
                         .packed = get(b, at + 20, 4),
                         .unpacked = get(b, at + 24, 4),
                         .offset = get(b, at + 42, 4)};
            if (!widen(b, begin + length, begin + length + extra, e))
                return fault(ctx, b, name, "its entry in the list of members is damaged");
            *found = true;
        }
        at = begin + length + extra + comment;
    }
    return SPRY_STATUS_OK;
}

/* Unpacks the first `wanted` bytes; when that is all of them, nothing may be left of the packed
 * ones. */
static spry_status inflate_first(spry_context *ctx, const io_bytes *b, const char *name,
                                 const char *packed, const entry *e, uint64_t wanted, char *out)
{
    z_stream z = io_zlib_stream(ctx);
    uint64_t in = 0, made = 0;
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return SPRY_STATUS_NO_MEMORY;
    int code = Z_OK;
    do {
        /* zlib counts in 32 bits */
        const uInt now = e->packed - in < INT_MAX ? (uInt)(e->packed - in) : INT_MAX;
        const uInt room = wanted - made < INT_MAX ? (uInt)(wanted - made) : INT_MAX;
        z.next_in = (z_const Bytef *)(packed + in), z.avail_in = now;
        z.next_out = (Bytef *)(out + made), z.avail_out = room;
        code = inflate(&z, Z_NO_FLUSH);
        in += now - z.avail_in;
        made += room - z.avail_out;
    } while (code == Z_OK && !(made == wanted && wanted < e->unpacked));
    inflateEnd(&z);
    if (code == Z_MEM_ERROR)
        return SPRY_STATUS_NO_MEMORY;
    if (code == Z_OK && wanted < e->unpacked)
        return SPRY_STATUS_OK;
    if (code != Z_STREAM_END || made != e->unpacked || in != e->packed)
        return fault(ctx, b, name, "its packed data are damaged");
    return SPRY_STATUS_OK;
}

/* Where a member's data begin, checked to lie in the file. */
static spry_status locate(spry_context *ctx, const io_bytes *b, const char *name, const entry *e,
                          size_t *begin)
{
    if (e->offset > b->size || !signature(b, (size_t)e->offset, LOCAL_SIZE, "PK\3\4"))
        return fault(ctx, b, name, "is not where the list of members points");
    const size_t at = (size_t)e->offset;
    *begin = at + LOCAL_SIZE + (size_t)get(b, at + 26, 2) + (size_t)get(b, at + 28, 2);
    if (*begin > b->size || e->packed > b->size - *begin)
        return fault(ctx, b, name, "is cut off");
    if (e->flags & 1)
        return fault(ctx, b, name, "is encrypted");
    if (e->method != 0 && e->method != 8)
        return fault(ctx, b, name, "is packed by a method other than deflate");
    if (e->method == 0 && e->packed != e->unpacked)
        return fault(ctx, b, name, "is stored, but with two sizes");
    if (e->unpacked / DEFLATE_RATIO > e->packed)
        return fault(ctx, b, name, "promises more than its packed data can hold");
    return SPRY_STATUS_OK;
}

spry_status io_zip_read(spry_context *ctx, const io_bytes *bytes, const zip_directory *directory,
                        const char *name, size_t most, zip_bytes *member)
{
    spry_status status = SPRY_STATUS_OK;
    entry e = {0};
    bool found = false;
    size_t begin = 0;
    *member = (zip_bytes){0};
    SPRY_GO(ctx, find(ctx, bytes, directory, name, &e, &found));
    if (!found)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, locate(ctx, bytes, name, &e, &begin));
    member->data = bytes->data + begin;
    member->size = member->have = (size_t)e.unpacked;
    if (e.method == 8) {
        member->have = member->size < most ? member->size : most;
        SPRY_GO(ctx, base_alloc(ctx, (int64_t)member->have, 1, &member->memory));
        SPRY_GO(ctx,
                inflate_first(ctx, bytes, name, member->data, &e, member->have, member->memory));
        member->data = member->memory;
    }
    if (member->have == member->size &&
        crc32_z(0, (const Bytef *)member->data, member->size) != e.crc)
        SPRY_GO(ctx, fault(ctx, bytes, name, "its checksum (CRC-32) does not match"));
done:
    if (status != SPRY_STATUS_OK)
        io_zip_free(ctx, member);
    return status;
}

void io_zip_free(spry_context *ctx, zip_bytes *member)
{
    base_free(ctx, member->memory);
    *member = (zip_bytes){0};
}
