/*
 * Camera images of spry odt: PNG and TIFF that are written here, with every filter and packing, cut
 * short and damaged; and holograms developed from grey values that are computed from known fields.
 */
#include "support/support.h"

#include "odt/develop.h"
#include "odt/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint64_t seed = 1;

static unsigned number(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

/* --- files as they are written -------------------------------------------------------------------
 */

enum { WIDTH = 13, HEIGHT = 9, ROOM = 1 << 14 };

typedef struct bytes {
    unsigned char data[ROOM];
    size_t size;
} bytes;

static void put(bytes *b, const void *from, size_t count)
{
    assert_true(b->size + count <= ROOM);
    if (count > 0)
        memcpy(b->data + b->size, from, count);
    b->size += count;
}

static void put_number(bytes *b, uint32_t value, int wide, bool little)
{
    for (int k = 0; k < wide; k++) {
        const unsigned char byte = (unsigned char)(value >> 8 * (little ? k : wide - 1 - k));
        put(b, &byte, 1);
    }
}

typedef struct picture {
    int bits, channels;
    unsigned value[WIDTH * HEIGHT * 4];
} sample;

static sample make_picture(int bits, int channels)
{
    sample p = {.bits = bits, .channels = channels};
    for (int k = 0; k < WIDTH * HEIGHT * channels; k++) /* with runs, for PackBits */
        p.value[k] = k % 40 < 20 ? 77 : number(bits == 8 ? 256 : 65536);
    return p;
}

static void put_rows(bytes *b, const sample *p, bool little)
{
    for (int k = 0; k < WIDTH * HEIGHT * p->channels; k++)
        put_number(b, p->value[k], p->bits / 8, little);
}

static void check_picture(const image *got, const sample *p, bool white)
{
    const int colours = p->channels < 3 ? 1 : 3;
    assert_int_equal(got->width, WIDTH);
    assert_int_equal(got->height, HEIGHT);
    assert_int_equal(got->bits, p->bits);
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        float sum = 0;
        for (int c = 0; c < colours; c++)
            sum += (float)p->value[k * p->channels + c];
        sum /= (float)colours;
        assert_true(got->grey[k] == (white ? (p->bits == 8 ? 255 : 65535) - sum : sum));
    }
}

static void put_chunk(bytes *b, const char *type, const unsigned char *data, size_t size)
{
    put_number(b, (uint32_t)size, 4, false);
    const size_t begin = b->size;
    put(b, type, 4);
    put(b, data, size);
    put_number(b, (uint32_t)crc32(crc32(0, NULL, 0), b->data + begin, (uInt)(size + 4)), 4, false);
}

static void put_header(bytes *b, uint32_t width, uint32_t height, int bits, int colour)
{
    static const unsigned char mark[] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    bytes head = {.size = 0};
    put(b, mark, 8);
    put_number(&head, width, 4, false);
    put_number(&head, height, 4, false);
    const unsigned char rest[] = {(unsigned char)bits, (unsigned char)colour, 0, 0, 0};
    put(&head, rest, 5);
    put_chunk(b, "IHDR", head.data, head.size);
}

/* All five filters in turn, the data in two chunks with another between them. */
static void write_png(bytes *b, const sample *p)
{
    static const int colours[] = {0, 0, 4, 2, 6};
    bytes plain = {.size = 0}, rows = {.size = 0};
    unsigned char packed[ROOM];
    uLongf size = ROOM;
    const int pixel = p->channels * p->bits / 8, row = WIDTH * pixel;
    put_rows(&plain, p, false);
    for (int y = 0; y < HEIGHT; y++) {
        const unsigned char filter = (unsigned char)(y % 5);
        put(&rows, &filter, 1);
        for (int k = 0; k < row; k++) {
            const unsigned char *at = plain.data + y * row + k;
            const int a = k >= pixel ? at[-pixel] : 0, up = y > 0 ? at[-row] : 0;
            const int c = k >= pixel && y > 0 ? at[-row - pixel] : 0, g = a + up - c;
            const int near = abs(g - a) <= abs(g - up) && abs(g - a) <= abs(g - c) ? a
                             : abs(g - up) <= abs(g - c)                           ? up
                                                                                   : c;
            const int by[] = {0, a, up, (a + up) / 2, near};
            const unsigned char left = (unsigned char)(*at - by[filter]);
            put(&rows, &left, 1);
        }
    }
    assert_int_equal(compress(packed, &size, rows.data, (uLong)rows.size), Z_OK);
    put_header(b, WIDTH, HEIGHT, p->bits, colours[p->channels]);
    put_chunk(b, "IDAT", packed, 10);
    put_chunk(b, "tEXt", packed, 3);
    put_chunk(b, "IDAT", packed + 10, size - 10);
    put_chunk(b, "IEND", packed, 0);
}

/* PackBits: runs of three and more as one byte, up to 128 others as they are. */
static size_t pack(const unsigned char *from, size_t count, unsigned char *to)
{
    size_t made = 0;
    for (size_t k = 0; k < count;) {
        size_t run = 1, plain = 0;
        while (k + run < count && run < 128 && from[k + run] == from[k])
            run++;
        if (run >= 3) {
            to[made++] = (unsigned char)(257 - run);
            to[made++] = from[k];
            k += run;
            continue;
        }
        while (k + plain < count && plain < 128 &&
               (k + plain + 2 >= count || from[k + plain] != from[k + plain + 1] ||
                from[k + plain] != from[k + plain + 2]))
            plain++;
        to[made++] = (unsigned char)(plain - 1);
        memcpy(to + made, from + k, plain);
        made += plain;
        k += plain;
    }
    return made;
}

typedef struct tiff_kind {
    bool little, predicted;
    int compression, meaning;
} tiff_kind;

/* Strips of four rows. */
static void write_tiff(bytes *b, const sample *p, tiff_kind kind)
{
    enum { ROWS = 4, STRIPS = 3, TAGS = 11 };
    const int row = WIDTH * p->channels * p->bits / 8;
    uint32_t offsets[STRIPS], counts[STRIPS];
    bytes plain = {.size = 0};
    sample coded = *p;
    for (int k = WIDTH * HEIGHT * p->channels; kind.predicted && k-- > 0;)
        if (k % (WIDTH * p->channels) >= p->channels)
            coded.value[k] = p->value[k] - p->value[k - p->channels];
    put_rows(&plain, &coded, kind.little);
    put(b, kind.little ? "II*\0" : "MM\0*", 4);
    put_number(b, 0, 4, kind.little);
    for (int s = 0; s < STRIPS; s++) {
        const int rows = s < 2 ? ROWS : HEIGHT - 2 * ROWS;
        const unsigned char *from = plain.data + s * ROWS * row;
        unsigned char packed[ROOM];
        uLongf size = ROOM;
        if (kind.compression == 8)
            assert_int_equal(compress(packed, &size, from, (uLong)(rows * row)), Z_OK);
        else if (kind.compression == 32773)
            size = pack(from, (size_t)(rows * row), packed);
        offsets[s] = (uint32_t)b->size;
        counts[s] = kind.compression <= 5 ? (uint32_t)(rows * row) : (uint32_t)size;
        put(b, kind.compression <= 5 ? from : packed, counts[s]);
    }
    const uint32_t lists = (uint32_t)b->size;
    for (int s = 0; s < STRIPS; s++)
        put_number(b, offsets[s], 4, kind.little);
    for (int s = 0; s < STRIPS; s++)
        put_number(b, counts[s], 4, kind.little);
    const uint32_t bits = (uint32_t)b->size;
    for (int c = 0; c < p->channels; c++)
        put_number(b, (uint32_t)p->bits, 2, kind.little);
    const uint32_t tags[TAGS][4] = {{256, 4, 1, WIDTH},
                                    {257, 4, 1, HEIGHT},
                                    {258, 3, (uint32_t)p->channels, 0},
                                    {259, 3, 1, (uint32_t)kind.compression},
                                    {262, 3, 1, (uint32_t)kind.meaning},
                                    {273, 4, STRIPS, lists},
                                    {277, 3, 1, (uint32_t)p->channels},
                                    {278, 4, 1, ROWS},
                                    {279, 4, STRIPS, lists + 4 * STRIPS},
                                    {305, 2, 4, 0},
                                    {317, 3, 1, kind.predicted ? 2 : 1}};
    bytes place = {.size = 0};
    put_number(&place, (uint32_t)b->size, 4, kind.little);
    memcpy(b->data + 4, place.data, 4);
    put_number(b, TAGS, 2, kind.little);
    for (int k = 0; k < TAGS; k++) {
        const bool one = tags[k][1] == 3 && tags[k][2] == 1;
        put_number(b, tags[k][0], 2, kind.little);
        put_number(b, tags[k][1], 2, kind.little);
        put_number(b, tags[k][2], 4, kind.little);
        if (tags[k][0] == 258 && p->channels <= 2) {
            for (int c = 0; c < 2; c++)
                put_number(b, c < p->channels ? (uint32_t)p->bits : 0, 2, kind.little);
            continue;
        }
        put_number(b, tags[k][0] == 258 ? bits : tags[k][3], one ? 2 : 4, kind.little);
        if (one)
            put_number(b, 0, 2, kind.little);
    }
    put_number(b, 0, 4, kind.little);
}

/* --- the readers ---------------------------------------------------------------------------------
 */

static void read_back(spry_context *ctx, const bytes *b, const sample *p, bool white)
{
    image got;
    assert_ok(ctx, image_parse(ctx, "a.png", b->data, b->size, &got));
    check_picture(&got, p, white);
    image_free(ctx, &got);
}

static void test_png(void **state)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int bits = 8; bits <= 16; bits += 8) {
            const sample p = make_picture(bits, channels);
            bytes b = {.size = 0};
            write_png(&b, &p);
            read_back(*state, &b, &p, false);
        }
}

static void test_tiff(void **state)
{
    static const int compressions[] = {1, 8, 32773};
    for (int k = 0; k < 3 * 2 * 2 * 2 * 4; k++) {
        const int bits = k % 2 ? 16 : 8, channels = 1 + k / 2 % 4;
        const tiff_kind kind = {.little = k / 8 % 2,
                                .predicted = k / 16 % 2,
                                .compression = compressions[k / 32],
                                .meaning = channels > 2 ? 2 : k / 8 % 2};
        const sample p = make_picture(bits, channels);
        bytes b = {.size = 0};
        write_tiff(&b, &p, kind);
        read_back(*state, &b, &p, kind.meaning == 0);
    }
}

/* What is cut short is refused with its place, wherever that is; what is damaged anywhere is read
 * or refused, and leaves nothing behind. PNG has sums: none of its damages passes. */
static void test_damage(void **state)
{
    spry_context *ctx = *state;
    for (int format = 0; format < 4; format++) {
        const sample p = make_picture(16, 1);
        bytes b = {.size = 0};
        int64_t before = 0, after = 0;
        image got;
        if (format == 0)
            write_png(&b, &p);
        else
            write_tiff(&b, &p, (tiff_kind){format == 1, true, format == 3 ? 32773 : 8, 1});
        spry_context_memory(ctx, &before, NULL);
        for (size_t size = 0; size + 4 < b.size; size++) { /* a TIFF may lack the last 0 */
            assert_int_equal(image_parse(ctx, "a.png", b.data, size, &got), SPRY_STATUS_BAD_INPUT);
            assert_non_null(strstr(spry_message(ctx), "a.png: byte "));
        }
        for (size_t k = 0; k < b.size; k++)
            for (int bit = 0; bit < 8; bit += 3) {
                b.data[k] ^= (unsigned char)(1 << bit);
                const spry_status status = image_parse(ctx, "a.png", b.data, b.size, &got);
                assert_true(status == SPRY_STATUS_BAD_INPUT || (format > 0 && !status));
                image_free(ctx, &got);
                b.data[k] ^= (unsigned char)(1 << bit);
            }
        spry_context_memory(ctx, &after, NULL);
        assert_int_equal(before, after);
    }
}

static void refuse(spry_context *ctx, const bytes *b, const char *why)
{
    image got;
    assert_int_equal(image_parse(ctx, "a.png", b->data, b->size, &got), SPRY_STATUS_BAD_INPUT);
    assert_null(got.grey);
    if (!strstr(spry_message(ctx), why))
        fail_msg("expected \"%s\" in \"%s\"", why, spry_message(ctx));
}

static void test_refused(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        uint32_t width, height;
        int bits, colour;
        const char *why;
    } cases[] = {{60000, 60000, 16, 0, "more than 12 bytes of data can be"},
                 {70000, 1, 8, 0, "sides are from 1 to 65535"},
                 {0, 5, 8, 0, "sides are from 1 to 65535"},
                 {5, 5, 1, 0, "1 bits per value; 8 and 16 are read"},
                 {5, 5, 8, 3, "colours of type 3; grey and RGB are read"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bytes b = {.size = 0};
        put_header(&b, cases[k].width, cases[k].height, cases[k].bits, cases[k].colour);
        put_chunk(&b, "IDAT", (const unsigned char *)"x\234c`\200\1\0\0\12\0\1", 12);
        put_chunk(&b, "IEND", NULL, 0);
        refuse(ctx, &b, cases[k].why);
    }
    const sample p = make_picture(8, 1);
    bytes b = {.size = 0};
    write_tiff(&b, &p, (tiff_kind){true, false, 5, 1});
    refuse(ctx, &b, "compression 5 (LZW); none, PackBits and deflate are read");
    b = (bytes){.data = "no picture", .size = 10};
    refuse(ctx, &b, "byte 0: this is neither PNG nor TIFF");
}

/* --- holograms -----------------------------------------------------------------------------------
 */

enum { PIXELS = 96 };

static void make_view(spry_context *ctx, int kind, odt_view *v)
{
    static const double light[] = {0.1, 0, 1}, axis[] = {0, 0, 1};
    const odt_box box = {{8, 8, 8}, 0.2};
    const odt_optics optics = {.k = 2 * acos(-1),
                               .sine = 0.5,
                               .field = 20,
                               .distance = kind == KIND_FIELD ? 0 : 3,
                               .pixels = PIXELS,
                               .kind = kind};
    assert_ok(ctx, odt_view_make(ctx, NULL, &box, &optics, light, axis, v));
}

/* Scattered fields of an amplitude of about 0.1, of what is in the middle of the picture. */
static void make_field(odt_view *v, spry_scalar *a, spry_scalar *picture)
{
    double sum = 0;
    for (int k = 0; k < v->count; k++) { /* smooth over the pupil: seen in its middle */
        const double phase = 0.3 * v->k[3 * k] - 0.4 * v->k[3 * k + 1];
        a[k] = (spry_scalar){cos(phase), sin(phase) + 0.3};
    }
    odt_view_picture(v, a, picture);
    for (int k = 0; k < PIXELS * PIXELS; k++)
        sum = fmax(sum, odt_square(picture[k]));
    for (int k = 0; k < v->count; k++)
        a[k] = (spry_scalar){0.5 * a[k].re / sqrt(sum), 0.5 * a[k].im / sqrt(sum)};
    odt_view_picture(v, a, picture);
}

/* Of a camera that is lit unevenly. */
static double lit(int x, int y)
{
    const double u = (2.0 * x - PIXELS) / PIXELS, w = (2.0 * y - PIXELS) / PIXELS;
    return 9000 * (1 + 0.1 * u - 0.15 * u * w - 0.1 * w * w);
}

/* rms error of a picture over the rms of the true one, less `light`. */
static double error_of(const spry_scalar *got, const spry_scalar *truth, double light)
{
    double off = 0, size = 0;
    for (int k = 0; k < PIXELS * PIXELS; k++) {
        off += pow(got[k].re - truth[k].re, 2) + pow(got[k].im - truth[k].im, 2);
        size += pow(truth[k].re - light, 2) + truth[k].im * truth[k].im;
    }
    return sqrt(off / size);
}

/*
 * With a picture of the background nothing is left but the square of the scattered field, whose
 * spectrum ends before the side band, and what leaks of it through the edges, where the field is
 * about 1% of its largest value; without, the smooth part of the scattered field is taken for
 * background: 6 of 314 amplitudes, the share 0.14 of the field where all are equal.
 */
static void test_off_axis(void **state)
{
    spry_context *ctx = *state;
    const double q[] = {2 * acos(-1) * 0.31173, 2 * acos(-1) * 0.0821};
    odt_view v;
    make_view(ctx, KIND_FIELD, &v);
    const size_t n = PIXELS * PIXELS;
    spry_scalar *a = spry_alloc(ctx, (size_t)v.count * sizeof *a);
    spry_scalar *truth = spry_alloc(ctx, n * sizeof *truth),
                *got = spry_alloc(ctx, n * sizeof *got);
    float *grey = spry_alloc(ctx, n * sizeof *grey), *empty = spry_alloc(ctx, n * sizeof *empty);
    make_field(&v, a, truth);
    for (int band = 0; band < 2; band++) {
        const double sign = band ? -1 : 1;
        odt_developed found;
        for (int y = 0; y < PIXELS; y++)
            for (int x = 0; x < PIXELS; x++) {
                const int k = y * PIXELS + x;
                const double phase = sign * (q[0] * x + q[1] * y);
                const spry_scalar r = odt_times((spry_scalar){0.8 * cos(phase), -0.8 * sin(phase)},
                                                v.reference[k]); /* q is that of the carrier */
                const spry_scalar all = odt_plus(odt_plus(r, v.reference[k]), truth[k]);
                grey[k] = (float)(1.2 * lit(x, y) * odt_square(all));
                empty[k] = (float)(lit(x, y) * odt_square(odt_plus(r, v.reference[k])));
            }
        assert_ok(ctx, odt_develop(&v, grey, empty, band, got, &found));
        assert_true(error_of(got, truth, 0) < 0.01);
        assert_false(found.overlaps);
        for (int axis = 0; axis < 2; axis++) /* of a bin */
            assert_true(fabs(found.carrier[axis] - sign * q[axis] / (2 * acos(-1))) <
                        0.01 / PIXELS);
        assert_ok(ctx, odt_develop(&v, grey, NULL, band, got, &found));
        assert_true(error_of(got, truth, 0) < 0.14);
    }
    for (size_t k = 0; k < n; k++) /* in line there is no carrier */
        grey[k] = (float)(9000 * odt_square(odt_plus(v.reference[k], truth[k])));
    odt_developed found;
    assert_int_equal(odt_develop(&v, grey, NULL, false, got, &found), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "no carrier is in the image"));
    void *const parts[] = {a, truth, got, grey, empty};
    for (int k = 0; k < 5; k++)
        spry_free(ctx, parts[k]);
    odt_view_free(&v);
}

/* Exposures are those of the light beside the rings: weights leave a small part of the rings in. */
static void test_in_line(void **state)
{
    spry_context *ctx = *state;
    odt_view v;
    odt_developed found;
    make_view(ctx, KIND_INTENSITY, &v);
    const size_t n = PIXELS * PIXELS;
    spry_scalar *a = spry_alloc(ctx, (size_t)v.count * sizeof *a);
    spry_scalar *truth = spry_alloc(ctx, n * sizeof *truth),
                *got = spry_alloc(ctx, n * sizeof *got);
    float *grey = spry_alloc(ctx, n * sizeof *grey), *empty = spry_alloc(ctx, n * sizeof *empty);
    make_field(&v, a, truth);
    for (size_t k = 0; k < n; k++) {
        const double light = lit((int)(k % PIXELS), (int)(k / PIXELS));
        truth[k] = (spry_scalar){odt_square(odt_plus(v.reference[k], truth[k])), 0};
        grey[k] = (float)(1.3 * light * truth[k].re);
        empty[k] = (float)light;
    }
    assert_ok(ctx, odt_develop(&v, grey, empty, false, got, &found));
    assert_true(error_of(got, truth, 1) < 0.02);
    assert_true(fabs(found.brightness / (1.3 * 9000) - 1) < 0.005);
    assert_ok(ctx, odt_develop(&v, grey, NULL, false, got, &found));
    assert_true(error_of(got, truth, 1) < 0.05);
    memset(empty, 0, n * sizeof *empty);
    assert_int_equal(odt_develop(&v, grey, empty, false, got, &found), SPRY_STATUS_BAD_INPUT);
    void *const parts[] = {a, truth, got, grey, empty};
    for (int k = 0; k < 5; k++)
        spry_free(ctx, parts[k]);
    odt_view_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_png, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_tiff, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_damage, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_off_axis, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_in_line, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
