/* Native files: mapped or copied, written and read, and wrong ones. */
#include "support/files.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Places in the header, as docs/native-format.md has them. */
enum {
    VERSION = 8,
    MARK = 12,
    KIND = 16,
    TYPE = 20,
    SYMMETRY = 24,
    FORMAT = 28,
    ROWS = 32,
    COLS = 40,
    NNZ = 48,
    OFFSETS = 56,
    COLUMNS = 64,
    VALUES = 72,
    SIZE = 80,
    CHECKSUM = 120,
    HEADER = 128
};

/* The header's checksum as the document says it, written independently of the library. */
static void seal(char *file)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < CHECKSUM; i++) {
        hash ^= (unsigned char)file[i];
        hash *= UINT64_C(1099511628211);
    }
    memcpy(file + CHECKSUM, &hash, sizeof hash);
}

static spry_matrix *sample(spry_context *ctx, spry_type type, spry_symmetry symmetry)
{
    const support_recipe recipe = {.type = type,
                                   .format = SPRY_FORMAT_CSR,
                                   .symmetry = symmetry,
                                   .rows = 50,
                                   .cols = symmetry == SPRY_SYMMETRY_GENERAL ? 70 : 50,
                                   .nnz = 400,
                                   .seed = 9};
    return support_matrix(ctx, &recipe);
}

static void comes_back_bit_by_bit(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
             symmetry++) {
            spry_matrix *A = sample(ctx, support_types[t], (spry_symmetry)symmetry);
            io_content content;
            size_t size;
            files_round_trip(&io_native, A, files_path("a.spry"));
            char *data = files_load(files_path("a.spry"), &size);
            assert_ok(ctx, files_read_memory(ctx, &io_native, data, size, &content));
            support_same_arrays(A, content.matrix);
            assert_true(content.matrix->owns == MATRIX_OWNS_ALL);
            files_free(ctx, &content);
            free(data);
            spry_matrix_free(A);
        }
}

static void keeps_the_mapping(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = sample(ctx, SPRY_TYPE_D, SPRY_SYMMETRY_GENERAL);
    io_content content;
    int64_t before, after;
    const char *path = files_path("mapped.spry");
    assert_ok(ctx, io_native.write_matrix(A, path));
    spry_context_memory(ctx, &before, NULL);
    assert_ok(ctx, files_read(ctx, &io_native, path, &content));
    spry_context_memory(ctx, &after, NULL);
    assert_true(after - before < 1024); /* no array was copied */
    const spry_matrix *B = content.matrix;
    assert_non_null(B->mapping);
    assert_int_equal(B->owns, 0);
    const char *pages = B->mapping, *values = B->a.values;
    assert_true(values > pages && values < pages + B->mapping_bytes);
    assert_int_equal((uintptr_t)values % 64, 0);
    assert_int_equal(unlink(path), 0); /* the pages stay */
    support_same_arrays(A, B);
    /* A change makes a copy first; the mapping goes with the rest. */
    assert_ok(ctx, spry_matrix_sort(content.matrix));
    support_dense_same(support_dense_of(A), support_dense_of(content.matrix));
    files_free(ctx, &content);
    spry_matrix_free(A);
}

static void converts_to_rows(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = sample(ctx, SPRY_TYPE_Z, SPRY_SYMMETRY_HERMITIAN), *B = NULL;
    io_content content;
    assert_ok(ctx, spry_matrix_sort(A));
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSC, &B));
    assert_ok(ctx, io_native.write_matrix(B, files_path("b.spry")));
    assert_ok(ctx, files_read(ctx, &io_native, files_path("b.spry"), &content));
    support_same_arrays(A, content.matrix);
    files_free(ctx, &content);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

static void keeps_vectors_and_empty_matrices(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int64_t n = 0; n < 200; n += 57) {
            spry_vector *v = NULL;
            io_content content;
            assert_ok(ctx, spry_vector_new(ctx, support_types[t], n, NULL, SPRY_OWN_COPY, &v));
            for (int64_t k = 0; k < n; k++)
                value_set(v->type, v->data, k, support_number(v->type, 3, (uint64_t)k));
            assert_ok(ctx, io_native.write_vector(v, 1, files_path("v.spry")));
            assert_ok(ctx, files_read(ctx, &io_native, files_path("v.spry"), &content));
            assert_null(content.matrix);
            assert_int_equal(content.dense.type, v->type);
            assert_int_equal(content.dense.rows, n);
            assert_int_equal(content.dense.cols, 1);
            assert_memory_equal(content.dense.values, v->data, (size_t)n * spry_type_size(v->type));
            files_free(ctx, &content);
            spry_vector_free(v);
        }
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_S, 3, 5, (int64_t[]){0, 0, 0, 0},
                                        (int32_t[]){0}, (float[]){0}, SPRY_OWN_COPY, &A));
    files_round_trip(&io_native, A, files_path("empty.spry"));
    spry_matrix_free(A);
}

/* Changes a number of the header, seals it again, and reads from memory and from a file. */
static void refuse(spry_context *ctx, const char *good, size_t size, int place, int bytes,
                   uint64_t value, const char *message)
{
    char *bad = malloc(size);
    memcpy(bad, good, size);
    memcpy(bad + place, &value, (size_t)bytes); /* values fit, in either byte order, as 8 bytes */
    if (bytes == 4) {
        const uint32_t narrow = (uint32_t)value;
        memcpy(bad + place, &narrow, sizeof narrow);
    }
    if (place < CHECKSUM)
        seal(bad);
    files_refused(ctx, &io_native, bad, size, message);
    FILE *file = fopen(files_path("bad.spry"), "wb");
    assert_int_equal(fwrite(bad, 1, size, file), size);
    fclose(file);
    io_content content;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  files_read(ctx, &io_native, files_path("bad.spry"), &content));
    assert_null(content.matrix);
    free(bad);
}

static void refuses_what_is_wrong(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = sample(ctx, SPRY_TYPE_D, SPRY_SYMMETRY_GENERAL);
    size_t size;
    assert_ok(ctx, io_native.write_matrix(A, files_path("good.spry")));
    char *good = files_load(files_path("good.spry"), &size);
    assert_true(io_native.matches(&(io_bytes){.data = good, .size = size}));
    const struct {
        int place, bytes;
        uint64_t value;
        const char *message;
    } bad[] = {
        {0, 4, 0, "does not begin as a native file"},
        {VERSION, 4, 2, "version 2 is not known, 1 is"},
        {MARK, 4, 0x04030201, "the other byte order"},
        {MARK, 4, 0x01020305, "the header is damaged"},
        {CHECKSUM, 8, 0, "the header is damaged: its checksum does not match"},
        {KIND, 4, 3, "neither a matrix in CSR nor a dense array"},
        {KIND, 4, 2, "neither a matrix in CSR nor a dense array"},
        {FORMAT, 4, 2, "neither a matrix in CSR nor a dense array"},
        {TYPE, 4, 4, "a type, symmetry or size that cannot be"},
        {SYMMETRY, 4, 4, "a type, symmetry or size that cannot be"},
        {SYMMETRY, 4, 1, "memory: a symmetric matrix must be square"},
        {ROWS, 8, UINT64_C(1) << 31, "a type, symmetry or size that cannot be"},
        {COLS, 8, UINT64_MAX, "a type, symmetry or size that cannot be"},
        {NNZ, 8, UINT64_MAX, "a type, symmetry or size that cannot be"},
        {NNZ, 8, INT64_MAX, "section 2 of 9223372036854775807 elements"},
        {NNZ, 8, 399, "memory: offsets end with 400"},
        {ROWS, 8, INT32_MAX, "section 1 of 2147483648 elements"},
        {COLS, 8, 10, "memory: entry"},
        {OFFSETS, 8, 64, "section 1"},
        {OFFSETS, 8, 129, "not at a multiple of 64"},
        {COLUMNS, 8, UINT64_MAX - 63, "section 2"},
        {VALUES, 8, 1 << 20, "section 3"},
        {SIZE, 8, 1000, "but the header promises 1000"},
        {HEADER, 8, 1, "memory: offsets[0] is"},
        {HEADER + 8, 8, UINT64_MAX, "memory: row 0: offsets fall from 0 to -1"},
        {HEADER + 8 * 30, 8, INT64_MAX, "memory: row"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(ctx, good, size, bad[i].place, bad[i].bytes, bad[i].value, bad[i].message);
    for (size_t cut = 1; cut < size; cut += cut < 200 ? 1 : 97)
        files_refused(ctx, &io_native, good, cut,
                      cut < 8        ? "does not begin"
                      : cut < HEADER ? "ends within its header"
                                     : "but the header promises");
    free(good);
    spry_matrix_free(A);
}

static void refuses_rows_of_nothing(void **state)
{
    spry_context *ctx = *state;
    spry_vector *v = NULL;
    size_t size;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 0, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, io_native.write_vector(v, 1, files_path("nothing.spry")));
    char *good = files_load(files_path("nothing.spry"), &size);
    refuse(ctx, good, size, COLS, 8, 1000000, "the array has rows or columns, but no numbers");
    free(good);
    spry_vector_free(v);
}

static spry_status read_again(spry_context *ctx, void *data)
{
    io_content content;
    const spry_status status = files_read(ctx, &io_native, data, &content);
    files_free(ctx, &content);
    return status;
}

typedef struct memory {
    char *data;
    size_t size;
} memory;

static spry_status read_memory_again(spry_context *ctx, void *data)
{
    const memory *m = data;
    io_content content;
    const spry_status status = files_read_memory(ctx, &io_native, m->data, m->size, &content);
    files_free(ctx, &content);
    return status;
}

static spry_status write_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return io_native.write_matrix(data, files_path("torture.spry"));
}

static spry_status write_vector_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return io_native.write_vector(data, 1, files_path("vector.spry"));
}

static void survives_lack_of_memory(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = sample(ctx, SPRY_TYPE_C, SPRY_SYMMETRY_SYMMETRIC), *B = NULL;
    spry_vector *v = NULL;
    assert_ok(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSC, &B));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 5, NULL, SPRY_OWN_COPY, &v));
    support_torture(ctx, write_again, B);
    support_torture(ctx, read_again, (void *)files_path("torture.spry"));
    memory m;
    m.data = files_load(files_path("torture.spry"), &m.size);
    support_torture(ctx, read_memory_again, &m);
    free(m.data);
    support_torture(ctx, write_vector_again, v);
    support_torture(ctx, read_again, (void *)files_path("vector.spry"));
    assert_status(ctx, SPRY_STATUS_IO, io_native.write_matrix(A, "/no such folder/a.spry"));
    spry_vector_free(v);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comes_back_bit_by_bit, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(keeps_the_mapping, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(converts_to_rows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(keeps_vectors_and_empty_matrices, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(refuses_what_is_wrong, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_rows_of_nothing, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
