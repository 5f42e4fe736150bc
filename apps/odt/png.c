/*
 * PNG (ISO/IEC 15948): grey or colour, with or without alpha, of 8 or 16 bits, not interlaced.
 * Chunks are checked by their sums, and looked at once before any room is made.
 */
#include "odt/image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK = 12, HEAD = 13, DEFLATE_MOST = 1032 }; /* deflate makes at most so much of a byte */

typedef struct reader {
    image_source s;
    image *picture;
    int channels;
    size_t data;   /* bytes of all IDAT */
    size_t header; /* where IHDR has its numbers */
    size_t at;     /* the chunk whose data are being read */
    size_t first;  /* IDAT */
    z_stream z;
} reader;

static uint32_t big(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The length of the chunk at a place, all of which is in the file. */
static spry_status check_chunk(const image_source *s, size_t at, uint32_t *length)
{
    if (s->size - at < CHUNK)
        return image_fault(s, at, "the file ends before the chunk IEND");
    *length = big(s->bytes + at);
    if (*length > s->size - at - CHUNK)
        return image_fault(s, at, "a chunk of %u bytes, the file has %zu more", *length,
                           s->size - at - CHUNK);
    const unsigned char *type = s->bytes + at + 4;
    for (int k = 0; k < 4; k++)
        if ((type[k] | 32) < 'a' || (type[k] | 32) > 'z')
            return image_fault(s, at + 4, "this is no name of a chunk");
    if (crc32(crc32(0, NULL, 0), type, *length + 4) != big(type + 4 + *length))
        return image_fault(s, at, "the chunk %.4s is damaged: its sum is another", type);
    return SPRY_STATUS_OK;
}

static spry_status read_header(reader *r, size_t at, uint32_t length)
{
    static const int channels[] = {1, 0, 3, 0, 2, 0, 4};
    const unsigned char *b = r->s.bytes + at;
    if (length != HEAD)
        return image_fault(&r->s, at, "IHDR has %u bytes instead of %d", length, HEAD);
    const int colour = b[9];
    *r->picture = (image){.width = big(b), .height = big(b + 4), .bits = b[8]};
    r->channels = colour < 7 ? channels[colour] : 0;
    if (r->channels == 0)
        return image_fault(&r->s, at + 9, "colours of type %d; grey and RGB are read", colour);
    if (b[8] != 8 && b[8] != 16)
        return image_fault(&r->s, at + 8, "%d bits per value; 8 and 16 are read", b[8]);
    if (b[10] || b[11])
        return image_fault(&r->s, at + 10, "an unknown compression or filter");
    if (b[12])
        return image_fault(&r->s, at + 12, "interlaced pictures are not read");
    r->header = at;
    return SPRY_STATUS_OK;
}

/* All chunks, before anything is made of them. */
static spry_status look(reader *r)
{
    uint32_t length = 0;
    for (size_t at = 8;; at += CHUNK + length) {
        const unsigned char *type = r->s.bytes + at + 4;
        spry_status status = check_chunk(&r->s, at, &length);
        if (status != SPRY_STATUS_OK)
            return status;
        if ((at == 8) != (memcmp(type, "IHDR", 4) == 0))
            return image_fault(&r->s, at, "IHDR is the first chunk, and no other");
        if (at == 8)
            status = read_header(r, at + 8, length);
        if (memcmp(type, "IDAT", 4) == 0) {
            r->first = r->first ? r->first : at;
            r->data += length;
        }
        if (memcmp(type, "IEND", 4) == 0)
            return status;
        if (status != SPRY_STATUS_OK)
            return status;
    }
}

/* So many bytes of the stream that all IDAT chunks are together. */
static spry_status inflate_row(reader *r, unsigned char *to, size_t count)
{
    r->z.next_out = to;
    r->z.avail_out = (uInt)count;
    while (r->z.avail_out > 0) {
        while (r->z.avail_in == 0) {
            if (memcmp(r->s.bytes + r->at + 4, "IEND", 4) == 0)
                return image_fault(&r->s, r->at, "the data end before the last row");
            if (memcmp(r->s.bytes + r->at + 4, "IDAT", 4) == 0) {
                r->z.next_in = (Bytef *)(uintptr_t)(r->s.bytes + r->at + 8);
                r->z.avail_in = big(r->s.bytes + r->at);
            }
            r->at += CHUNK + big(r->s.bytes + r->at);
        }
        const int code = inflate(&r->z, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END)
            return image_fault(&r->s, (size_t)(r->z.next_in - r->s.bytes), "deflate: %s",
                               r->z.msg ? r->z.msg : "the data are damaged");
        if (code == Z_STREAM_END && r->z.avail_out > 0)
            return image_fault(&r->s, (size_t)(r->z.next_in - r->s.bytes),
                               "the data end before the last row");
    }
    return SPRY_STATUS_OK;
}

static int paeth(int a, int b, int c)
{
    const int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* A row's filter undone, from the row above. */
static void unfilter(int kind, unsigned char *row, const unsigned char *above, size_t count,
                     size_t pixel)
{
    for (size_t k = 0; k < count; k++) {
        const int a = k >= pixel ? row[k - pixel] : 0, b = above[k];
        const int c = k >= pixel ? above[k - pixel] : 0;
        const int by[] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
        row[k] = (unsigned char)(row[k] + by[kind]);
    }
}

static spry_status read_rows(reader *r)
{
    const size_t pixel = (size_t)(r->channels * r->picture->bits / 8);
    const size_t count = (size_t)r->picture->width * pixel;
    unsigned char *rows = spry_alloc(r->s.ctx, 2 * (count + 1));
    spry_status status = rows ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    if (rows)
        memset(rows, 0, 2 * (count + 1));
    for (int64_t y = 0; y < r->picture->height && status == SPRY_STATUS_OK; y++) {
        unsigned char *row = rows + (y % 2 ? count + 1 : 0);
        const unsigned char *above = rows + (y % 2 ? 0 : count + 1);
        status = inflate_row(r, row, count + 1);
        if (status == SPRY_STATUS_OK && row[0] > 4)
            status = image_fault(&r->s, (size_t)(r->z.next_in - r->s.bytes),
                                 "row %lld has an unknown filter", (long long)y + 1);
        if (status != SPRY_STATUS_OK)
            break;
        unfilter(row[0], row + 1, above + 1, count, pixel);
        image_row(r->picture, y, row + 1, r->channels, false);
    }
    spry_free(r->s.ctx, rows);
    return status;
}

spry_status image_png(const image_source *s, image *picture)
{
    reader r = {.s = *s, .picture = picture};
    spry_status status = look(&r);
    if (status == SPRY_STATUS_OK && r.data == 0)
        status = image_fault(s, 8, "there is no chunk IDAT");
    if (status == SPRY_STATUS_OK)
        status = image_make(s, r.header, r.data, DEFLATE_MOST, r.channels, picture);
    if (status != SPRY_STATUS_OK)
        return status;
    r.at = r.first;
    if (inflateInit(&r.z) != Z_OK)
        return SPRY_STATUS_NO_MEMORY;
    status = read_rows(&r);
    inflateEnd(&r.z);
    return status;
}
