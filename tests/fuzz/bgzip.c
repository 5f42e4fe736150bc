/*
 * Files of bgzip, whose members all threads unpack. The first four bytes are a recipe: how large
 * members are, which bit of which byte is turned over when they are packed, and how many copies of
 * the rest, the text, there are (few members are not worth it). Whatever comes of it must be
 * what comes of the same file behind an empty member of plain gzip, which one thread unpacks.
 * A recipe of zeros takes the rest as the file itself.
 */
#include "fuzz.h"

#include <zlib.h>

enum { RECIPE = 4, HEADER = 18, TRAILER = 8, MEMBER = 1 << 16 };

typedef struct file {
    uint8_t *data;
    size_t size;
} file;

static void put(file *f, const void *data, size_t size)
{
    f->data = realloc(f->data, f->size + size + 1);
    fuzz_require(f->data);
    memcpy(f->data + f->size, data, size);
    f->size += size;
}

static void put_little(uint8_t *to, int bytes, unsigned long value)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* One member, as bgzip writes it or as gzip does. */
static void put_member(file *f, bool tells_size, const uint8_t *text, size_t size)
{
    static const uint8_t header[HEADER] = {31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67, 2, 0};
    static const uint8_t plain[10] = {31, 139, 8, 0, 0, 0, 0, 0, 0, 255};
    uint8_t packed[MEMBER], trailer[TRAILER];
    z_stream z = {.next_in = (z_const Bytef *)text,
                  .avail_in = (uInt)size,
                  .next_out = packed,
                  .avail_out = sizeof packed};
    fuzz_require(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    fuzz_require(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    put(f, tells_size ? header : plain, tells_size ? HEADER : sizeof plain);
    if (tells_size)
        put_little(f->data + f->size - 2, 2, HEADER + z.total_out + TRAILER - 1);
    put(f, packed, (size_t)z.total_out);
    put_little(trailer, 4, crc32(crc32(0, NULL, 0), text, (uInt)size));
    put_little(trailer + 4, 4, size);
    put(f, trailer, TRAILER);
}

static void cook(const uint8_t *recipe, const uint8_t *text, size_t size, file *f)
{
    const size_t each = (size_t)recipe[0] * 16 + 1, copies = (size_t)recipe[3] % 16 + 1;
    for (size_t copy = 0; copy < copies; copy++)
        for (size_t at = 0; at < size; at += each)
            put_member(f, true, text + at, size - at < each ? size - at : each);
    put_member(f, true, text, 0);
    const size_t spoilt = f->size * recipe[1] / 256;
    if (recipe[2] >= 128)
        f->data[spoilt] ^= (uint8_t)(1 << recipe[2] % 8);
}

/* What a file unpacks to; NULL: it is refused, for a reason that is reported. */
static char *unpack(const file *f, int threads, size_t *size)
{
    spry_context *ctx = NULL;
    char options[64], *out = NULL;
    int64_t before = 0, after = 0;
    snprintf(options, sizeof options, "memory_limit=1G threads=%d", threads);
    fuzz_require(spry_context_new(options, &ctx) == SPRY_STATUS_OK);
    spry_context_memory(ctx, &before, NULL);
    io_bytes bytes = {.path = "fuzz.gz", .data = (const char *)f->data, .size = f->size};
    *size = 0;
    if (io_unpack(ctx, &bytes) == SPRY_STATUS_OK) {
        out = malloc(bytes.size + 1);
        fuzz_require(out);
        memcpy(out, bytes.data, bytes.size);
        *size = bytes.size;
    } else {
        fuzz_require(spry_message(ctx)[0] != '\0');
    }
    io_close(ctx, &bytes);
    spry_context_memory(ctx, &after, NULL);
    fuzz_require(before == after);
    spry_context_free(ctx);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t as_is[RECIPE];
    file f = {0}, other = {0};
    size_t sizes[2];
    if (size < RECIPE)
        return 0;
    if (memcmp(data, as_is, RECIPE) == 0)
        put(&f, data + RECIPE, size - RECIPE);
    else
        cook(data, data + RECIPE, size - RECIPE, &f);
    if (f.size >= 2 && f.data[0] == 31 && f.data[1] == 139) { /* else it is no packed file */
        put_member(&other, false, f.data, 0);
        put(&other, f.data, f.size);
        char *by_all = unpack(&f, 2, &sizes[0]), *in_turn = unpack(&other, 1, &sizes[1]);
        fuzz_require((by_all == NULL) == (in_turn == NULL) && sizes[0] == sizes[1]);
        fuzz_require(!by_all || memcmp(by_all, in_turn, sizes[0]) == 0);
        free(by_all);
        free(in_turn);
    }
    free(f.data);
    free(other.data);
    return 0;
}
