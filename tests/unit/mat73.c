/* MATLAB's files of level 7.3, and Octave's: those that HDF5's own library made (the corpus of the
 * fuzzer, by h5py and Octave), ours, and broken ones. */
#include "support/files.h"

#include <stdlib.h>

enum { ROWS = 6, COLS = 4 };

/* What all of these files have: 10 i + j where i + j is even, counted from 1; (1 - i) times that
 * where it is complex. */
static void check_numbers(const spry_matrix *A, bool complex)
{
    support_dense d = support_dense_of(A);
    assert_int_equal(d.rows, ROWS);
    assert_int_equal(d.cols, COLS);
    for (int i = 1; i <= ROWS; i++)
        for (int j = 1; j <= COLS; j++) {
            const double number = (i + j) % 2 == 0 ? 10 * i + j : 0;
            const spry_scalar at = d.at[(i - 1) * COLS + j - 1];
            assert_true(at.re == number && at.im == (complex ? -number : 0));
        }
    support_dense_free(&d);
}

static void reads_what_others_wrote(void **state)
{
    static const struct {
        const char *path;
        spry_type type;
    } files[] = {
        {CORPUS "/sparse.mat", SPRY_TYPE_D},         {CORPUS "/sparse_packed.mat", SPRY_TYPE_D},
        {CORPUS "/complex_packed.mat", SPRY_TYPE_Z}, {CORPUS "/new_style.mat", SPRY_TYPE_Z},
        {CORPUS "/struct.mat", SPRY_TYPE_D},         {CORPUS "/many.mat", SPRY_TYPE_D},
        {CORPUS "/full.mat", SPRY_TYPE_D},           {CORPUS "/full_packed.mat", SPRY_TYPE_S},
        {CORPUS "/full_complex.mat", SPRY_TYPE_Z},   {CORPUS "/whole.mat", SPRY_TYPE_D},
        {CORPUS "/octave.mat", SPRY_TYPE_D},         {CORPUS "/octave_complex.mat", SPRY_TYPE_Z},
        {CORPUS "/octave_struct.mat", SPRY_TYPE_D}};
    spry_context *ctx = *state;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        spry_matrix *A = NULL;
        assert_ok(ctx, spry_matrix_read(ctx, files[k].path, NULL, &A));
        assert_int_equal(spry_matrix_type(A), files[k].type);
        check_numbers(A, spry_type_is_complex(files[k].type));
        spry_matrix_free(A);
    }
}

static void reads_a_matrix_without_entries(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_read(ctx, CORPUS "/no_entries.mat", NULL, &A));
    assert_int_equal(spry_matrix_rows(A), ROWS);
    assert_int_equal(spry_matrix_cols(A), COLS);
    assert_int_equal(spry_matrix_nnz(A), 0);
    spry_matrix_free(A);
}

static void says_what_it_does_not_read(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_matrix_read(ctx, CORPUS "/new_chunks.mat", NULL, &A));
    support_message_has(ctx, "chunks in the new style");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED,
                  spry_matrix_read(ctx, CORPUS "/other_filter.mat", NULL, &A));
    support_message_has(ctx, "a filter other than deflate and shuffle is not read; save it by");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_matrix_read(ctx, CORPUS "/empty.mat", NULL, &A));
    support_message_has(ctx, "there is no matrix of numbers in it");
}

static void comes_back_bit_by_bit(void **state)
{
    spry_context *ctx = *state;
    for (int type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        spry_matrix *A = support_sorted(ctx, (spry_type)type, SUPPORT_UNIFORM, 40, 30, 200, 3);
        files_round_trip(&io_mat73, A, files_path("a.v73.mat"));
        spry_matrix_free(A);
    }
}

static void vectors_come_back(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("x.v73.mat");
    for (int type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        double numbers[12];
        for (int k = 0; k < 12; k++)
            numbers[k] = 1.0 / (k + 3);
        const int64_t n = spry_type_size((spry_type)type) == 16 ? 6 : 12, cols = 3;
        spry_vector *v = NULL, *back = NULL;
        int64_t found = 0;
        assert_ok(ctx, spry_vector_new(ctx, (spry_type)type, n, numbers, SPRY_OWN_COPY, &v));
        assert_ok(ctx, spry_columns_write(v, cols, path));
        assert_ok(ctx, spry_columns_read(ctx, path, "nonfinite=keep", &back, &found));
        assert_int_equal(found, cols);
        assert_int_equal(spry_vector_type(back), type);
        assert_int_equal(back->n, n);
        assert_memory_equal(back->data, v->data, (size_t)n * spry_type_size((spry_type)type));
        spry_vector_free(v);
        spry_vector_free(back);
    }
}

/* Every file cut short at every place, and with every byte changed: a matrix or a message, and no
 * step past the end (which the sanitizer sees: the bytes have a block of their size). */
static void survives_broken_files(void **state)
{
    static const char *const files[] = {CORPUS "/sparse_packed.mat", CORPUS "/new_style.mat",
                                        CORPUS "/full_packed.mat", CORPUS "/octave_struct.mat"};
    spry_context *ctx = *state;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t size = 0, refused = 0;
        char *bytes = files_load(files[f], &size);
        for (size_t k = 0; k < size; k += f == 0 ? 7 : 3) {
            io_content content = {0};
            if (files_read_memory(ctx, &io_mat73, bytes, k, &content) != SPRY_STATUS_OK)
                refused++;
            files_free(ctx, &content);
            content = (io_content){0};
            bytes[k] = (char)~bytes[k];
            (void)files_read_memory(ctx, &io_mat73, bytes, size, &content);
            files_free(ctx, &content);
            bytes[k] = (char)~bytes[k];
        }
        assert_true(refused > size / 20);
        free(bytes);
    }
}

static void put(char *place, uint64_t number)
{
    for (int k = 0; k < 8; k++)
        place[k] = (char)(number >> 8 * k);
}

/* A group whose thousand links lead to one header of thousands of messages: what is looked at is
 * bounded by the size of the file, not by its square. */
static void counts_what_it_looks_at(void **state)
{
    enum { SIZE = 1 << 16, ROOT = 128, HEAP = 512, NAMES = 600, TREE = 1024, LEAF = 2048 };
    enum { LINKS = 1000, HEADER = 43008, PREFIX = 16 };
    spry_context *ctx = *state;
    char *file = calloc(SIZE, 1);
    assert_non_null(file);
    memcpy(file, "\x89HDF\r\n\x1a\n", 8);
    file[13] = file[14] = 8;
    put(file + 64, ROOT);
    file[ROOT] = file[HEADER] = 1;
    put(file + ROOT + 8, 24);
    file[ROOT + PREFIX] = 0x11; /* a symbol table */
    file[ROOT + PREFIX + 2] = 16;
    put(file + ROOT + PREFIX + 8, TREE);
    put(file + ROOT + PREFIX + 16, HEAP);
    memcpy(file + HEAP, "HEAP", 4);
    put(file + HEAP + 8, 8);
    put(file + HEAP + 24, NAMES);
    file[NAMES] = 'a';
    memcpy(file + TREE, "TREE", 4);
    file[TREE + 6] = 1;
    put(file + TREE + 32, LEAF);
    memcpy(file + LEAF, "SNOD", 4);
    put(file + LEAF + 6, LINKS);
    for (int k = 0; k < LINKS; k++)
        put(file + LEAF + 8 + 40 * k + 8, HEADER);
    put(file + HEADER + 8, SIZE - HEADER - PREFIX);
    io_content content = {0};
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  files_read_memory(ctx, &io_mat73, file, SIZE, &content));
    support_message_has(ctx, "lead in a circle");
    files_free(ctx, &content);
    free(file);
}

static spry_status read_again(spry_context *ctx, void *data)
{
    spry_matrix *A = NULL;
    const spry_status status = spry_matrix_read(ctx, data, NULL, &A);
    spry_matrix_free(A);
    return status;
}

static spry_status write_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return spry_matrix_write(data, files_path("torture.v73.mat"));
}

static void survives_lack_of_memory(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_Z, SUPPORT_UNIFORM, 20, 20, 60, 5);
    support_torture(ctx, write_again, A);
    spry_matrix_free(A);
    char path[] = CORPUS "/complex_packed.mat", full[] = CORPUS "/full_packed.mat";
    support_torture(ctx, read_again, path);
    support_torture(ctx, read_again, full);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_what_others_wrote),    TEST(reads_a_matrix_without_entries),
        TEST(says_what_it_does_not_read), TEST(comes_back_bit_by_bit),
        TEST(vectors_come_back),          TEST(survives_broken_files),
        TEST(survives_lack_of_memory),    TEST(counts_what_it_looks_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
