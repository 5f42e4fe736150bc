/*
 * TIFF 6.0: the first picture of a file, grey or colour, of 8 or 16 bits, in strips that are plain,
 * PackBits or deflate, with or without differences along rows (predictor 2), in both byte orders.
 */
#include "odt/image.h"

#include <string.h>
#include <zlib.h>

enum { PLAIN = 1, LZW = 5, DEFLATE = 8, DEFLATE_OLD = 32946, PACKBITS = 32773 };
enum { DEFLATE_MOST = 1032, PACKBITS_MOST = 64, ENTRY = 12 };

/* Tags that are read, each with what stands for one that is not in the file; 0: it has to be. */
#define TAGS(item)                \
    item(width, 256, 0)           \
    item(height, 257, 0)          \
    item(bits, 258, 1)            \
    item(compression, 259, PLAIN) \
    item(meaning, 262, 1)         \
    item(offsets, 273, 0)         \
    item(samples, 277, 1)         \
    item(rows, 278, 0xffffffff)   \
    item(counts, 279, 0)          \
    item(planes, 284, 1)          \
    item(predictor, 317, 1)       \
    item(format, 339, 1)
#define TAG_ENUM(name, number, value) TAG_##name,
#define TAG_ROW(name, number, value) {#name, number, value},
enum { TAGS(TAG_ENUM) TAG_COUNT };
static const struct {
    const char *name;
    uint32_t number, value;
} known[] = {TAGS(TAG_ROW)};

/* A tag's numbers: where they are, how many, and of how many bytes. */
typedef struct tag {
    size_t at;
    uint32_t count;
    int wide;
} tag;

typedef struct reader {
    image_source s;
    bool little;
    tag tags[TAG_COUNT];
    image *picture;
    int channels, compression;
    int64_t rows; /* of a strip */
} reader;

static uint32_t number(const reader *r, size_t at, int wide)
{
    uint32_t value = 0;
    for (int k = 0; k < wide; k++)
        value |= (uint32_t)r->s.bytes[at + (size_t)k] << 8 * (r->little ? k : wide - 1 - k);
    return value;
}

static uint32_t value_of(const reader *r, int which, uint32_t k)
{
    const tag *t = &r->tags[which];
    return t->count ? number(r, t->at + k * (size_t)t->wide, t->wide) : known[which].value;
}

static spry_status read_entry(reader *r, size_t at)
{
    const uint32_t id = number(r, at, 2), type = number(r, at + 2, 2);
    tag t = {at + 8, number(r, at + 4, 4), type == 3 ? 2 : 4};
    int which = 0;
    if (id >= 322 && id <= 325)
        return image_fault(&r->s, at, "pictures in tiles are not read, strips are");
    while (which < TAG_COUNT && known[which].number != id)
        which++;
    if (which == TAG_COUNT)
        return SPRY_STATUS_OK;
    if ((type != 3 && type != 4) || t.count == 0)
        return image_fault(&r->s, at, "tag %u (%s) has no whole numbers", id, known[which].name);
    if ((uint64_t)t.count * (uint64_t)t.wide > 4)
        t.at = number(r, at + 8, 4);
    if (t.at > r->s.size || (uint64_t)t.count * (uint64_t)t.wide > r->s.size - t.at)
        return image_fault(&r->s, at, "tag %u (%s) has %u numbers beyond the end of the file", id,
                           known[which].name, t.count);
    r->tags[which] = t;
    return SPRY_STATUS_OK;
}

static spry_status read_tags(reader *r)
{
    const size_t size = r->s.size;
    const size_t at = size >= 8 ? number(r, 4, 4) : size;
    if (size < 10 || at > size - 2)
        return image_fault(&r->s, 4, "the list of tags is beyond the end of the file");
    const uint32_t count = number(r, at, 2);
    if ((size_t)count * ENTRY > size - at - 2)
        return image_fault(&r->s, at, "%u tags, the file ends before the last", count);
    for (uint32_t k = 0; k < count; k++) {
        const spry_status status = read_entry(r, at + 2 + (size_t)k * ENTRY);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    for (int k = 0; k < TAG_COUNT; k++)
        if (known[k].value == 0 && r->tags[k].count == 0)
            return image_fault(&r->s, at, "there is no tag %u (%s)", known[k].number,
                               known[k].name);
    return SPRY_STATUS_OK;
}

/* Whether the picture is one that is read. */
static spry_status check(reader *r)
{
    const uint32_t channels = value_of(r, TAG_samples, 0), bits = value_of(r, TAG_bits, 0);
    const uint32_t meaning = value_of(r, TAG_meaning, 0), form = value_of(r, TAG_compression, 0);
    const uint32_t predictor = value_of(r, TAG_predictor, 0);
    const size_t at = number(r, 4, 4);
    for (uint32_t k = 0; k < r->tags[TAG_bits].count; k++)
        if (value_of(r, TAG_bits, k) != bits || (bits != 8 && bits != 16))
            return image_fault(&r->s, at, "%u bits per value; 8 and 16 are read",
                               value_of(r, TAG_bits, k));
    if ((bits != 8 && bits != 16) || value_of(r, TAG_format, 0) != 1)
        return image_fault(&r->s, at,
                           "%u bits per value in format %u; whole numbers of 8 and 16 "
                           "bits are read",
                           bits, value_of(r, TAG_format, 0));
    if (channels < 1 || channels > 4 || meaning > 2)
        return image_fault(&r->s, at, "%u values per pixel of kind %u; grey and RGB are read",
                           channels, meaning);
    if (channels > 1 && value_of(r, TAG_planes, 0) != 1)
        return image_fault(&r->s, at, "colours in planes of their own are not read");
    if (form != PLAIN && form != DEFLATE && form != DEFLATE_OLD && form != PACKBITS)
        return image_fault(&r->s, at, "compression %u%s; none, PackBits and deflate are read", form,
                           form == LZW ? " (LZW)" : "");
    if (predictor != 1 && predictor != 2)
        return image_fault(&r->s, at, "predictor %u; 1 and 2 are read", predictor);
    r->compression = form == DEFLATE_OLD ? DEFLATE : (int)form;
    r->channels = (int)channels;
    *r->picture = (image){.width = value_of(r, TAG_width, 0),
                          .height = value_of(r, TAG_height, 0),
                          .bits = (int)bits};
    return SPRY_STATUS_OK;
}

/* Strips: as many as rows need, and all within the file; bytes of them together. */
static spry_status check_strips(reader *r, size_t *stored)
{
    const tag *t = &r->tags[TAG_offsets];
    const int64_t height = r->picture->height, rows = value_of(r, TAG_rows, 0);
    r->rows = rows < height ? rows : height;
    const int64_t strips = r->rows > 0 ? (height + r->rows - 1) / r->rows : -1;
    *stored = 0;
    if (t->count != strips || r->tags[TAG_counts].count != t->count)
        return image_fault(&r->s, t->at, "%u strips of %lld rows for a height of %lld", t->count,
                           (long long)rows, (long long)height);
    for (uint32_t k = 0; k < t->count; k++) {
        const size_t at = value_of(r, TAG_offsets, k), count = value_of(r, TAG_counts, k);
        if (at > r->s.size || count > r->s.size - at)
            return image_fault(&r->s, at, "strip %u of %zu bytes is beyond the end of the file",
                               k + 1, count);
        *stored += count;
    }
    if (*stored > r->s.size) /* one place for many strips would make a little file large */
        return image_fault(&r->s, t->at, "strips of %zu bytes in a file of %zu", *stored,
                           r->s.size);
    return SPRY_STATUS_OK;
}

/* Bytes that PackBits makes; less than `most`: the data end before. */
static size_t unpack(const unsigned char *from, size_t count, unsigned char *to, size_t most)
{
    size_t made = 0;
    for (size_t k = 0; k < count && made < most;) {
        const int head = from[k] < 128 ? from[k] : from[k] - 256;
        k++;
        if (head == -128)
            continue;
        size_t length = (size_t)(head >= 0 ? head + 1 : 1 - head);
        length = length < most - made ? length : most - made;
        if (head >= 0 && length > count - k)
            length = count - k;
        if (k == count)
            break;
        if (head >= 0)
            memcpy(to + made, from + k, length);
        else
            memset(to + made, from[k], length);
        k += head >= 0 ? length : 1;
        made += length;
    }
    return made;
}

/* A strip's bytes as they were before they were packed. */
static spry_status open_strip(const reader *r, uint32_t k, unsigned char *to, size_t most)
{
    const size_t at = value_of(r, TAG_offsets, k), count = value_of(r, TAG_counts, k);
    const unsigned char *from = r->s.bytes + at;
    size_t made = count;
    if (r->compression == PLAIN && count >= most)
        memcpy(to, from, most);
    if (r->compression == PACKBITS)
        made = unpack(from, count, to, most);
    if (r->compression == DEFLATE) {
        uLongf length = (uLongf)most;
        const int code = uncompress(to, &length, from, (uLong)count);
        if (code != Z_OK && code != Z_BUF_ERROR)
            return image_fault(&r->s, at, "strip %u: the deflated data are damaged", k + 1);
        made = length;
    }
    return made >= most ? SPRY_STATUS_OK
                        : image_fault(&r->s, at, "strip %u has %zu bytes, its rows have %zu", k + 1,
                                      made, most);
}

/* Values from their differences along a row. */
static void add_up(const reader *r, unsigned char *row)
{
    const int64_t wide = r->picture->bits / 8, values = r->picture->width * r->channels;
    for (int64_t k = r->channels; k < values; k++) {
        unsigned char *v = row + k * wide;
        const unsigned char *before = v - r->channels * wide;
        const int low = r->little ? 0 : 1;
        if (wide == 1) {
            v[0] = (unsigned char)(v[0] + before[0]);
            continue;
        }
        const int sum = (v[low] | v[1 - low] << 8) + (before[low] | before[1 - low] << 8);
        v[low] = (unsigned char)sum;
        v[1 - low] = (unsigned char)(sum >> 8);
    }
}

static spry_status read_strips(reader *r)
{
    image *p = r->picture;
    const size_t row = (size_t)p->width * (size_t)(r->channels * p->bits / 8);
    unsigned char *room = spry_alloc(r->s.ctx, (size_t)r->rows * row);
    spry_status status = room ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    const bool white = value_of(r, TAG_meaning, 0) == 0;
    for (int64_t y = 0; y < p->height && status == SPRY_STATUS_OK; y += r->rows) {
        const int64_t rows = r->rows < p->height - y ? r->rows : p->height - y;
        status = open_strip(r, (uint32_t)(y / r->rows), room, (size_t)rows * row);
        for (int64_t k = 0; k < rows && status == SPRY_STATUS_OK; k++) {
            if (value_of(r, TAG_predictor, 0) == 2)
                add_up(r, room + (size_t)k * row);
            image_row(p, y + k, room + (size_t)k * row, r->channels, r->little);
        }
    }
    for (int64_t k = 0; white && status == SPRY_STATUS_OK && k < p->width * p->height; k++)
        p->grey[k] = (p->bits == 8 ? 255.0f : 65535.0f) - p->grey[k];
    spry_free(r->s.ctx, room);
    return status;
}

spry_status image_tiff(const image_source *s, image *picture)
{
    reader r = {.s = *s, .little = s->bytes[0] == 'I', .picture = picture};
    size_t stored = 0;
    spry_status status = read_tags(&r);
    if (status == SPRY_STATUS_OK)
        status = check(&r);
    if (status == SPRY_STATUS_OK)
        status = check_strips(&r, &stored);
    if (status == SPRY_STATUS_OK)
        status = image_make(s, r.tags[TAG_width].at, stored,
                            r.compression == PLAIN      ? 1
                            : r.compression == PACKBITS ? PACKBITS_MOST
                                                        : DEFLATE_MOST,
                            r.channels, picture);
    return status == SPRY_STATUS_OK ? read_strips(&r) : status;
}
