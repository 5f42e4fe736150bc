/*
 * Samples from files: each format gives back the function that it was written from, where the
 * interpolation is exact for it; faults have their line or byte; and whatever is cut off or altered
 * is refused or read, with memory in proportion to the file.
 */
#include "support/support.h"

#include "common/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NX = 7, NY = 5 };

/* Linear, so that every interpolation is exact for it. */
static double plane(double x, double y)
{
    return 3 - 0.25 * x + 0.5 * y;
}

static double column(int i)
{
    return 10 + 2.0 * i;
}

static double row(int j)
{
    return -4 + 3.0 * j;
}

typedef struct file {
    char bytes[8192];
    size_t size;
} file;

static void add(file *f, const char *format, ...) SPRY_PRINTF(2, 3);
static void add(file *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    f->size += (size_t)vsnprintf(f->bytes + f->size, sizeof f->bytes - f->size, format, arguments);
    va_end(arguments);
    assert_true(f->size < sizeof f->bytes);
}

/* A number of some bytes, the highest first. */
static void put(file *f, int bytes, uint64_t n)
{
    for (int i = bytes - 1; i >= 0; i--)
        f->bytes[f->size++] = (char)(n >> (8 * i) & 255);
}

static void put_name(file *f, int wide, const char *name)
{
    const size_t length = strlen(name);
    put(f, wide, length);
    memcpy(f->bytes + f->size, name, length);
    f->size += length;
    put(f, (int)((4 - length % 4) % 4), 0);
}

static void put_double(file *f, double number)
{
    uint64_t n;
    memcpy(&n, &number, sizeof n);
    put(f, 8, n);
}

static void put_attribute(file *f, int wide, const char *name, double number)
{
    put_name(f, wide, name);
    put(f, 4, 6);
    put(f, wide, 1);
    put_double(f, number);
}

/* The head of a variable; gives where its offset stands. */
static size_t put_variable(file *f, int version, const char *name, const int *dims, int rank,
                           bool scaled, int type)
{
    const int wide = version == 5 ? 8 : 4;
    put_name(f, wide, name);
    put(f, wide, (uint64_t)rank);
    for (int i = 0; i < rank; i++)
        put(f, wide, (uint64_t)dims[i]);
    put(f, 4, scaled ? 12 : 0);
    put(f, wide, scaled ? 3 : 0);
    if (scaled) {
        put_attribute(f, wide, "scale_factor", 0.25);
        put_attribute(f, wide, "add_offset", 1);
        put_attribute(f, wide, "_FillValue", -32000);
    }
    put(f, 4, (uint64_t)type);
    put(f, wide, 0);
    const size_t at = f->size;
    put(f, version == 1 ? 4 : 8, 0);
    return at;
}

static void settle(file *f, int version, size_t at)
{
    file offset = {.size = 0};
    put(&offset, version == 1 ? 4 : 8, f->size);
    memcpy(f->bytes + at, offset.bytes, offset.size);
}

/* Dimensions y and x, in records where asked, rows from the north; "other" is a decoy of one more
 * variable, and `missing` a value that is none. */
static void write_netcdf(file *f, int version, bool records, bool other, int missing)
{
    const int wide = version == 5 ? 8 : 4, dims[] = {0, 1};
    *f = (file){.size = 0};
    add(f, "CDF%c", version);
    put(f, wide, records ? NY : 0);
    put(f, 4, 10);
    put(f, wide, 2);
    put_name(f, wide, "y");
    put(f, wide, records ? 0 : NY);
    put_name(f, wide, "x");
    put(f, wide, NX);
    put(f, 4, 0);
    put(f, wide, 0);
    put(f, 4, 11);
    put(f, wide, other ? 4 : 3);
    const size_t y_at = put_variable(f, version, "y", dims, 1, false, 6);
    const size_t x_at = put_variable(f, version, "x", dims + 1, 1, false, 5);
    const size_t z_at = put_variable(f, version, "z", dims, 2, true, 3);
    const size_t o_at = other ? put_variable(f, version, "other", dims + 1, 1, false, 4) : 0;
    settle(f, version, x_at);
    for (int i = 0; i < NX; i++) {
        const float x = (float)column(i);
        uint32_t n;
        memcpy(&n, &x, sizeof n);
        put(f, 4, n);
    }
    if (other) {
        settle(f, version, o_at);
        for (int i = 0; i < NX; i++)
            put(f, 4, (uint64_t)i);
    }
    settle(f, version, y_at);
    for (int j = 0; !records && j < NY; j++)
        put_double(f, row(NY - 1 - j));
    if (!records)
        settle(f, version, z_at);
    for (int j = 0; j < NY; j++) {
        if (records) { /* 8 bytes of y, then z, whose 14 bytes are padded */
            if (j == 0) {
                settle(f, version, y_at);
                f->size += 8;
                settle(f, version, z_at);
                f->size -= 8;
            }
            put_double(f, row(NY - 1 - j));
        }
        for (int i = 0; i < NX; i++)
            put(f, 2,
                j * NX + i == missing
                    ? (uint16_t)-32000
                    : (uint16_t)lround((plane(column(i), row(NY - 1 - j)) - 1) / 0.25));
        if (records)
            put(f, 2, 0);
    }
    if (!records)
        put(f, 2, 0);
}

static void write_esri(file *f)
{
    *f = (file){.size = 0};
    add(f, "NCOLS %d\nnrows %d\nxllcenter %g\nyllcorner %g\n", NX, 3, column(0), row(0) - 1);
    add(f, "cellsize 2\nNODATA_value -9999\n");
    for (int j = 2; j >= 0; j--)
        for (int i = 0; i < NX; i++)
            add(f, "%.17g%s", plane(column(i), row(0) + 2 * j), i == NX - 1 ? "\n" : " ");
}

static void write_xyz(file *f)
{
    *f = (file){.size = 0};
    add(f, "# x, y, z\n");
    for (int i = 0; i < 60; i++) { /* scattered over 12 by 12 */
        const double x = fmod(i * 0.618034, 1) * 12 + 10, y = fmod(i * 0.7548777, 1) * 12 - 4;
        add(f, "%.17g,%.17g,%.17g\n", x, y, plane(x, y));
    }
    add(f, "10 -4 %.17g\n22 8 %.17g\n", plane(10, -4), plane(22, 8));
}

static void write_array(file *f)
{
    *f = (file){.size = 0};
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            add(f, "%.17g%s", plane(2.0 * i, 3.0 * j), i == NX - 1 ? "  # a row\n" : "\t");
}

static spry_status take(spry_context *ctx, const file *f, const char *path, app_samples *s)
{
    spry_status status = app_samples_take(ctx, path, f->bytes, f->size, s);
    if (status == SPRY_STATUS_OK)
        status = app_samples_span(s, 0, 2.0 * (NX - 1), false);
    return status == SPRY_STATUS_OK ? app_samples_span(s, 1, 3.0 * (NY - 1), false) : status;
}

static void check_plane(spry_context *ctx, const file *f, const char *path, double x, double y,
                        double tol)
{
    app_samples s;
    double value;
    assert_ok(ctx, take(ctx, f, path, &s));
    for (int i = 0; i <= 20; i++) {
        const double a = x + 0.57 * i, b = y + 0.19 * i;
        assert_ok(ctx, app_samples_at(&s, a, b, &value));
        assert_true(fabs(value - plane(a, b)) <= tol * 8);
    }
    app_samples_free(&s);
}

/* --- values --------------------------------------------------------------------------------------
 */

static void test_formats(void **state)
{
    spry_context *ctx = *state;
    file f;
    for (int i = 0; i < 6; i++) {
        write_netcdf(&f, (const int[]){1, 2, 5}[i / 2], i % 2, false, -1);
        check_plane(ctx, &f, "z.nc", 10, -4, 1e-15);
    }
    write_esri(&f);
    check_plane(ctx, &f, "z.asc", 10, -4, 1e-14);
    write_array(&f);
    check_plane(ctx, &f, "z.txt", 0, 0, 1e-14);
    /* slopes have 1e-12 of the weights added to their equations */
    write_xyz(&f);
    check_plane(ctx, &f, "z.xyz", 10, -4, 1e-9);
}

/* Between rows of a smooth function the error falls by 2^3 or more when they lie twice as close,
 * also across the seam of a periodic one; at their places there is none. */
static void test_smooth(void **state)
{
    spry_context *ctx = *state;
    double error[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        const int n = 16 << k;
        file f = {.size = 0};
        app_samples s;
        double value;
        for (int i = 0; i < n; i++)
            add(&f, "%.17g ", sin(2 * M_PI * i / n));
        assert_ok(ctx, app_samples_take(ctx, "s.txt", f.bytes, f.size, &s));
        assert_ok(ctx, app_samples_span(&s, 0, 1, true));
        for (int i = 0; i < 200; i++) {
            const double x = i / 200.0 * 3 - 1;
            assert_ok(ctx, app_samples_at(&s, x, 5, &value));
            error[k] = fmax(error[k], fabs(value - sin(2 * M_PI * x)));
        }
        assert_ok(ctx, app_samples_at(&s, 3.0 / n, 0, &value));
        assert_true(fabs(value - sin(2 * M_PI * 3 / n)) < 1e-14);
        app_samples_free(&s);
    }
    assert_true(error[0] < 5e-3 && error[1] < error[0] / 8);
}

/* The points themselves have their values, and a profile is sorted. */
static void test_points(void **state)
{
    spry_context *ctx = *state;
    file f = {.size = 0};
    app_samples s;
    double value;
    for (int i = 0; i < 40; i++)
        add(&f, "%d %d %d\n", i * 7 % 11, i * 3 % 13, i * i % 17);
    assert_ok(ctx, app_samples_take(ctx, "p.xyz", f.bytes, f.size, &s));
    for (int i = 0; i < 40; i++) {
        assert_ok(ctx, app_samples_at(&s, i * 7 % 11, i * 3 % 13, &value));
        assert_true(value == i * i % 17);
    }
    assert_int_equal(app_samples_at(&s, 11, 3, &value), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "p.xyz: has nothing at x = 11, y = 3"));
    app_samples_free(&s);
    f = (file){.size = 0};
    add(&f, "4 1\n0 3\n2 2\n");
    assert_ok(ctx, app_samples_take(ctx, "p.xyz", f.bytes, f.size, &s));
    assert_ok(ctx, app_samples_at(&s, 1, 99, &value));
    assert_true(fabs(value - 2.5) < 1e-15);
    app_samples_free(&s);
}

/* --- faults --------------------------------------------------------------------------------------
 */

static void check_fault(spry_context *ctx, const char *path, const char *text, const char *expected)
{
    app_samples s;
    file f = {.size = 0};
    add(&f, "%s", text);
    assert_int_equal(app_samples_take(ctx, path, f.bytes, f.size, &s), SPRY_STATUS_BAD_INPUT);
    if (!strstr(spry_message(ctx), expected))
        fail_msg("%s, expected %s", spry_message(ctx), expected);
    app_samples_free(&s);
}

static void test_faults(void **state)
{
    spry_context *ctx = *state;
    static const char head[] = "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n";
    char text[256];
    file f;
    app_samples s;
    double value;
    check_fault(ctx, "a.txt", "1 2\n3 4 5\n", "a.txt:2:1: 3 numbers, expected 2");
    check_fault(ctx, "a.txt", "1 2\n\n3 x4\n", "a.txt:3:3: x4 is no number");
    check_fault(ctx, "a.txt", "1 1e999\n", "a.txt:1:3: 1e999 is no number");
    check_fault(ctx, "a.txt", "# nothing\n", "a.txt: has no numbers");
    check_fault(ctx, "a.xyz", "1 2 3 4\n", "a.xyz:1:1: 4 numbers in a line");
    check_fault(ctx, "a.xyz", "1 2\n1 3\n", "a.xyz: places along x neither rise");
    check_fault(ctx, "a.asc", "ncols 2\nnrow 2\n", "a.asc:2:1: nrow is no word of the header");
    check_fault(ctx, "a.asc", "ncols 2\nnrows 2\n1 2 3 4\n", "the header has to give ncols");
    check_fault(ctx, "a.asc",
                "ncols 100000\nnrows 100000\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n",
                "it is cut off");
    snprintf(text, sizeof text, "%s1 2\n3\n", head);
    check_fault(ctx, "a.asc", text, "the file ends after 3 of 4 values");
    snprintf(text, sizeof text, "%s1 2\n3 4 5\n", head);
    check_fault(ctx, "a.asc", text, "a.asc:7:5: more than the 4 values");
    write_netcdf(&f, 1, false, true, -1);
    assert_int_equal(take(ctx, &f, "z.nc", &s), SPRY_STATUS_BAD_INPUT);
    assert_non_null(
        strstr(spry_message(ctx), "which variable? FILE.nc:NAME picks one of: z other"));
    app_samples_free(&s);
    check_plane(ctx, &f, "z.nc:z", 10, -4, 1e-15);
    assert_int_equal(take(ctx, &f, "z.nc:q", &s), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "there is no variable q"));
    app_samples_free(&s);
    /* a value that is missing matters where it is needed */
    write_netcdf(&f, 2, false, false, 0); /* the north-western corner */
    assert_ok(ctx, take(ctx, &f, "z.nc", &s));
    assert_ok(ctx, app_samples_at(&s, 13, 5, &value));
    assert_true(fabs(value - plane(13, 5)) < 1e-14);
    assert_int_equal(app_samples_at(&s, 10.5, 7.5, &value), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "a value is missing around x = 10.5, y = 7.5"));
    app_samples_free(&s);
    /* without an attribute it is the format's own, of 16 bits -32767 */
    for (size_t k = 0; k + 10 < f.size; k++) {
        if (memcmp(f.bytes + k, "_FillValue", 10) == 0)
            f.bytes[k + 9] = 'X';
        if (memcmp(f.bytes + k, "\x83\0", 2) == 0) /* -32000 */
            memcpy(f.bytes + k, "\x80\1", 2);
    }
    assert_ok(ctx, take(ctx, &f, "z.nc", &s));
    assert_int_equal(app_samples_at(&s, 10.5, 7.5, &value), SPRY_STATUS_BAD_INPUT);
    app_samples_free(&s);
}

/* --- what is cut off, or altered -----------------------------------------------------------------
 */

/* Refused with a message, or read. Memory: numbers of 8 bytes from two bytes of text, again as
 * points, with squares and axes. */
static void try(spry_context *ctx, const file *f, const char *path)
{
    app_samples s;
    double value;
    int64_t before, most;
    spry_context_memory(ctx, &before, NULL);
    const spry_status status = take(ctx, f, path, &s);
    if (status == SPRY_STATUS_OK)
        (void)app_samples_at(&s, 11, -3, &value);
    else
        assert_true(status == SPRY_STATUS_BAD_INPUT && strlen(spry_message(ctx)) > 5);
    app_samples_free(&s);
    spry_context_memory(ctx, NULL, &most);
    assert_true(most - before <= 64 * (int64_t)sizeof f->bytes);
}

static void torment(spry_context *ctx, const file *whole, const char *path)
{
    file f = *whole;
    for (size_t size = 0; size <= whole->size; size++) {
        f.size = size;
        f.bytes[size] = '\0';
        try(ctx, &f, path);
    }
    f = *whole;
    uint64_t state = 1;
    for (size_t i = 0; i < whole->size; i++) {
        static const unsigned char values[] = {0xff, 0x00, 0x80, '9', '-'};
        for (size_t k = 0; k < sizeof values; k++) {
            f.bytes[i] = (char)values[k];
            try(ctx, &f, path);
        }
        f.bytes[i] = (char)(state >> 33);
        state = state * 6364136223846793005u + 1442695040888963407u;
        try(ctx, &f, path);
        f.bytes[i] = whole->bytes[i];
    }
}

static void test_torment(void **state)
{
    spry_context *ctx = *state;
    file f;
    for (int version = 1; version <= 5; version += version == 2 ? 3 : 1) {
        write_netcdf(&f, version, version == 2, true, 3);
        torment(ctx, &f, "z.nc:z");
    }
    write_esri(&f);
    torment(ctx, &f, "z.asc");
    write_xyz(&f);
    torment(ctx, &f, "z.xyz");
    write_array(&f);
    torment(ctx, &f, "z.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_formats, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_smooth, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_points, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torment, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
