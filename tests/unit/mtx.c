/* Matrix Market files: every kind read, every fault named with its line, written and read back. */
#include "support/files.h"

#include "io/mtx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define HEAD "%%MatrixMarket matrix "

/* Reads text through to general CSR, or as the options say. */
static spry_status read_text(spry_context *ctx, const char *text, const char *options,
                             spry_matrix **A)
{
    const size_t size = strlen(text);
    char *exact = malloc(size + 1);
    assert_non_null(exact);
    memcpy(exact, text, size);
    /* Moved to the block's end, so that a step past it is seen. */
    memmove(exact + 1, exact, size);
    io_bytes bytes = {.path = "a.mtx", .data = exact + 1, .size = size};
    const spry_status status = io_read_bytes(ctx, &bytes, &io_mtx, options, A);
    free(exact);
    return status;
}

typedef struct sample {
    const char *text;
    spry_type type;
    int rows, cols;
    spry_scalar at[6]; /* row by row */
} sample;

static const sample samples[] = {
    {HEAD "coordinate real general\n2 3 3\n1 1 2.5\n2 3 -1e-3\n1 2 4\n",
     SPRY_TYPE_D,
     2,
     3,
     {{2.5, 0}, {4, 0}, {0, 0}, {0, 0}, {0, 0}, {-1e-3, 0}}},
    {HEAD "coordinate real symmetric\n2 2 2\n2 1 3\n2 2 -1\n",
     SPRY_TYPE_D,
     2,
     2,
     {{0, 0}, {3, 0}, {3, 0}, {-1, 0}}},
    {HEAD "coordinate real skew-symmetric\n2 2 2\n2 1 3\n2 2 0\n",
     SPRY_TYPE_D,
     2,
     2,
     {{0, 0}, {-3, 0}, {3, 0}, {0, 0}}},
    {HEAD "coordinate integer general\n1 2 2\n1 1 9007199254740993\n1 2 -7\n",
     SPRY_TYPE_D,
     1,
     2,
     {{9007199254740992.0, 0}, {-7, 0}}},
    {HEAD "coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 1\n",
     SPRY_TYPE_D,
     2,
     2,
     {{5, 0}, {1, 0}, {1, 0}, {0, 0}}},
    {HEAD "coordinate integer skew-symmetric\n2 2 1\n2 1 1\n",
     SPRY_TYPE_D,
     2,
     2,
     {{0, 0}, {-1, 0}, {1, 0}, {0, 0}}},
    {HEAD "coordinate complex general\n2 2 2\n1 2 1 -2\n2 1 0 4\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{0, 0}, {1, -2}, {0, 4}, {0, 0}}},
    {HEAD "coordinate complex symmetric\n2 2 2\n1 1 1 1\n2 1 2 3\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{1, 1}, {2, 3}, {2, 3}, {0, 0}}},
    {HEAD "coordinate complex skew-symmetric\n2 2 1\n2 1 2 3\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{0, 0}, {-2, -3}, {2, 3}, {0, 0}}},
    {HEAD "coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 2 3\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{1, 0}, {2, -3}, {2, 3}, {0, 0}}},
    {HEAD "coordinate pattern general\n2 2 2\n1 2\n2 1\n",
     SPRY_TYPE_D,
     2,
     2,
     {{0, 0}, {1, 0}, {1, 0}, {0, 0}}},
    {HEAD "coordinate pattern symmetric\n2 2 2\n2 2\n2 1\n",
     SPRY_TYPE_D,
     2,
     2,
     {{0, 0}, {1, 0}, {1, 0}, {1, 0}}},
    {HEAD "array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
     SPRY_TYPE_D,
     2,
     3,
     {{1, 0}, {3, 0}, {5, 0}, {2, 0}, {4, 0}, {6, 0}}},
    {HEAD "array real symmetric\n2 2\n1\n2\n3\n",
     SPRY_TYPE_D,
     2,
     2,
     {{1, 0}, {2, 0}, {2, 0}, {3, 0}}},
    {HEAD "array real skew-symmetric\n2 2\n2\n",
     SPRY_TYPE_D,
     2,
     2,
     {{0, 0}, {-2, 0}, {2, 0}, {0, 0}}},
    {HEAD "array integer general\n1 2\n1\n-2\n", SPRY_TYPE_D, 1, 2, {{1, 0}, {-2, 0}}},
    {HEAD "array complex general\n1 2\n1 2\n3 4\n", SPRY_TYPE_Z, 1, 2, {{1, 2}, {3, 4}}},
    {HEAD "array complex symmetric\n2 2\n1 2\n3 4\n5 6\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{1, 2}, {3, 4}, {3, 4}, {5, 6}}},
    {HEAD "array complex skew-symmetric\n2 2\n3 4\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{0, 0}, {-3, -4}, {3, 4}, {0, 0}}},
    {HEAD "array complex hermitian\n2 2\n1 0\n3 4\n5 0\n",
     SPRY_TYPE_Z,
     2,
     2,
     {{1, 0}, {3, -4}, {3, 4}, {5, 0}}},
    /* Upper and lower case, comments, blank lines, tabs, blanks at both ends, no end of the last
       line, Fortran. */
    {"%%matrixmarket MATRIX Coordinate Real GENERAL \t\n% a\n%\n\n  \n\t1  2\t2 \n%b\n\n 1\t1 1D2 "
     "\n"
     "\t\n1 2 +.5",
     SPRY_TYPE_D,
     1,
     2,
     {{100, 0}, {.5, 0}}},
    {HEAD "coordinate double general\r\n%\r\n1 2 2\r\n1 1 1\r\n\r\n1 2 2\r\n",
     SPRY_TYPE_D,
     1,
     2,
     {{1, 0}, {2, 0}}},
    {HEAD "coordinate unsigned-integer general\n0 0 0\n", SPRY_TYPE_D, 0, 0, {{0, 0}}},
    {HEAD "coordinate real general\n1 1 0", SPRY_TYPE_D, 1, 1, {{0, 0}}},
};

static void every_kind_is_read(void **state)
{
    spry_context *ctx = *state;
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        spry_matrix *A = NULL;
        assert_ok(ctx, read_text(ctx, samples[s].text, NULL, &A));
        const matrix_arrays a = A->a;
        assert_int_equal(a.format, SPRY_FORMAT_CSR);
        assert_int_equal(a.symmetry, SPRY_SYMMETRY_GENERAL);
        assert_int_equal(a.type, samples[s].type);
        support_dense expected = support_dense_zeros(samples[s].rows, samples[s].cols);
        support_dense found = support_dense_of(A);
        for (int i = 0; i < samples[s].rows * samples[s].cols; i++)
            expected.at[i] = samples[s].at[i];
        /* Which zeros are stored is not looked at here. */
        memcpy(expected.entries, found.entries,
               (size_t)(samples[s].rows * samples[s].cols) * sizeof *found.entries);
        support_dense_same(found, expected);
        spry_matrix_free(A);
    }
}

static const char *const faults[][2] = {
    {"", "a.mtx:1: a Matrix Market file begins with %%MatrixMarket, this one with the end of the "
         "line"},
    {"\x7f"
     "ELF\x01",
     "a.mtx:1: a Matrix Market file begins with %%MatrixMarket, this one with "
     "'?ELF?'"},
    {HEAD "coordinate real\n",
     "a.mtx:1: the header's symmetry is the end of the line; expected one "
     "of: general, symmetric, skew-symmetric, hermitian"},
    {"%%MatrixMarket vector coordinate real general\n",
     "a.mtx:1: the header's object is 'vector'; expected one of: matrix"},
    {HEAD "coordinat real general\n",
     "a.mtx:1: the header's format is 'coordinat'; expected one of: coordinate, array"},
    {HEAD "array quaternion general\n", "a.mtx:1: the header's field is 'quaternion'; expected one "
                                        "of: real, integer, complex, pattern"},
    {HEAD "array real general now\n1 1\n1\n", "a.mtx:1: the header goes on with 'now'"},
    {HEAD "array pattern general\n1 1\n1\n", "a.mtx:1: an array cannot be a pattern"},
    {HEAD "coordinate real hermitian\n1 1 1\n1 1 1\n",
     "a.mtx:1: a hermitian file must be complex, this one is real"},
    {HEAD "coordinate pattern skew-symmetric\n1 1 0\n",
     "a.mtx:1: a pattern cannot be skew-symmetric"},
    {HEAD "coordinate real general\n%\n", "a.mtx:3: the file ends before its line of sizes"},
    {HEAD "coordinate real general\n\n2 2\n",
     "a.mtx:3: expected the number of entries, found the end of the line"},
    {HEAD "coordinate real general\n2 -2 1\n",
     "a.mtx:2: expected the number of columns, found '-2'"},
    {HEAD "coordinate real general\nx\n", "a.mtx:2: expected the number of rows, found 'x'"},
    {HEAD "coordinate real general\n99999999999999999999 1 1\n",
     "a.mtx:2: expected the number of rows, found '99999999999999999999'"},
    {HEAD "coordinate real general\n2147483648 1 0\n",
     "a.mtx:2: 2147483648 rows are more than the 2147483647 spry can index"},
    {HEAD "coordinate real general\n1 1 1 1\n1 1 1\n",
     "a.mtx:2: expected the end of the line of sizes, found '1'"},
    {HEAD "coordinate real symmetric\n1 2 1\n1 1 1\n",
     "a.mtx:2: a symmetric matrix must be square, this one is 1 x 2"},
    {HEAD "coordinate real general\n9 9 1000000000000000000\n1 1 1\n",
     "a.mtx:2: the header promises 1000000000000000000 entries, the 6 bytes after it hold at most "
     "1"},
    {HEAD "array complex general\n2147483647 2147483647\n1 1\n",
     "a.mtx:2: the header promises 4611686014132420609 entries, the 4 bytes after it hold at most "
     "1"},
    {HEAD "coordinate real general\n%%%%%%%%%%\n2 2 3\n1 1 1.0000\n2 2 1.0000\n",
     "a.mtx:6: the file ends after 2 of the 3 entries its header promises"},
    {HEAD "coordinate real general\n2 2 1\n1 1 1\n%\n2 2 1\n",
     "a.mtx:5: more than the 1 entries the header promises"},
    {HEAD "coordinate real general\n2 2 1\n0 1 1\n", "a.mtx:3: row 0 is outside 1..2"},
    {HEAD "coordinate real general\n2 2 1\n1 3 1\n", "a.mtx:3: column 3 is outside 1..2"},
    {HEAD "coordinate real general\n2 2 2\n1 1 1\n99999999999999999999999999999999999999999 1 1\n",
     "a.mtx:4: row 99999999999999999999 is outside 1..2"},
    {HEAD "coordinate real general\n2 2 1\n-1 1 1\n", "a.mtx:3: expected a row number, found '-1'"},
    {HEAD "coordinate real general\n2 2 1\n1.5 1 1\n",
     "a.mtx:3: expected a blank after the row number, found '.5'"},
    {HEAD "coordinate real general\n2 2 1\n1 1;1 1\n",
     "a.mtx:3: expected a blank after the column number, found ';1'"},
    {HEAD "coordinate real general\n2 2 1\n1      \n",
     "a.mtx:3: expected a column number, found the end of the line"},
    {HEAD "coordinate real general\n2 2 1\n1 2   \n",
     "a.mtx:3: expected a number, found the end of the line"},
    {HEAD "coordinate real general\n2 2 1\n1 2 one\n", "a.mtx:3: expected a number, found 'one'"},
    {HEAD "coordinate complex general\n2 2 1\n1 2 1     \n",
     "a.mtx:3: expected a complex number, found the end of the line"},
    {HEAD "coordinate complex general\n2 2 1\n1 2 1+2i\n",
     "a.mtx:3: expected a complex number, found '+2i'"},
    {HEAD "coordinate real general\n2 2 1\n1 2 1 2\n",
     "a.mtx:3: expected the end of the line, found '2'"},
    {HEAD "coordinate real general\n2 2 1\n1 2 1,5\n",
     "a.mtx:3: expected the end of the line, found ',5'"},
    {HEAD "coordinate integer general\n2 2 1\n1 2 1.5\n",
     "a.mtx:3: expected an integer, found '1.5'"},
    {HEAD "coordinate pattern general\n2 2 1\n1 2 1\n",
     "a.mtx:3: expected the end of the line, found '1'"},
    {HEAD "coordinate real symmetric\n2 2 2\n2 2 1\n1 2 1\n",
     "a.mtx:4: entry (1, 2) of a symmetric matrix lies above the diagonal"},
    {HEAD "coordinate real skew-symmetric\n2 2 1\n2 2 1\n", "matrix is on the diagonal and not 0"},
    {HEAD "coordinate complex hermitian\n2 2 1\n2 2 1 1\n",
     "a.mtx:3: entry (2, 2) of a hermitian matrix is on the diagonal and not real"},
    {HEAD "array complex hermitian\n2 2\n1 0\n1 1\n% see\n1 2\n",
     "a.mtx:6: entry (2, 2) of a hermitian matrix is on the diagonal and not real"},
    {HEAD "array real general\n2 2\n1\n2\n3\nfour\n", "a.mtx:6: expected a number, found 'four'"},
    {HEAD "array real general\n2 2\n1\n2\n3\n4 5\n",
     "a.mtx:6: expected the end of the line, found '5'"},
    {HEAD "coordinate real general\n2 2 3\n1 1 1\n2 1 1\n1 1 1\n",
     "a.mtx:5: entry (1, 1) is given a second time; duplicates=sum would add them up"},
    {HEAD "coordinate real general\n2 2 2\n1 1 1\n2 1 nan\n",
     "a.mtx:4: entry (2, 1) is not a finite number; nonfinite=keep would let it pass"},
    {HEAD "coordinate real general\n2 2 1\n2 1 1e400\n", "a.mtx:3: entry (2, 1) is not a finite"},
    {HEAD "coordinate complex symmetric\n2 2 1\n2 1 1 -inf\n",
     "a.mtx:3: entry (2, 1) is not a finite"},
    {HEAD "array real general\n1 2\n1\ninf\n", "a.mtx:4: entry (1, 2) is not a finite number"},
    {HEAD "array real symmetric\n3 3\n1\n2\n3\n4\nnan\n6\n",
     "a.mtx:7: entry (2, 3) is not a finite number"},
    {HEAD "array real skew-symmetric\n3 3\n1\n2\nnan\n",
     "a.mtx:5: entry (2, 3) is not a finite number"},
};

static void every_fault_has_its_line(void **state)
{
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        spry_matrix *A = NULL;
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, read_text(ctx, faults[i][0], NULL, &A));
        assert_null(A);
        support_message_has(ctx, faults[i][1]);
    }
}

static void options_are_heeded(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    const char *twice = HEAD "coordinate real general\n2 2 3\n1 1 1\n2 1 nan\n1 1 2\n";
    assert_ok(ctx, read_text(ctx, twice, "duplicates=sum nonfinite=keep type=c", &A));
    matrix_arrays a = A->a;
    assert_int_equal(a.type, SPRY_TYPE_C);
    assert_int_equal(a.nnz, 2);
    assert_true(((float *)a.values)[0] == 3);
    assert_true(isnan(((float *)a.values)[2]));
    spry_matrix_free(A);

    const char *lower = HEAD "coordinate complex hermitian\n2 2 1\n2 1 3 0\n";
    assert_ok(ctx, read_text(ctx, lower, "expand=no", &A));
    a = A->a;
    assert_int_equal(a.symmetry, SPRY_SYMMETRY_HERMITIAN);
    assert_int_equal(a.nnz, 1);
    spry_matrix_free(A);
    assert_ok(ctx, read_text(ctx, lower, "type=s", &A));
    assert_int_equal(spry_matrix_type(A), SPRY_TYPE_S);
    assert_int_equal(spry_matrix_nnz(A), 2);
    spry_matrix_free(A);

    const char *imaginary = HEAD "coordinate complex general\n2 2 1\n2 1 3 1\n";
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, read_text(ctx, imaginary, "type=d", &A));
    support_message_has(ctx, "a.mtx: ");
    assert_null(A);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, read_text(ctx, lower, "expnad=no", &A));
    support_message_has(ctx, "did you mean expand");
}

/* A file of many pieces, with blank lines and comments strewn in: places must not shift. */
static char *long_text(int n, int bad, const char *bad_line)
{
    const size_t room = (size_t)n * 40 + 200;
    char *text = malloc(room);
    assert_non_null(text);
    int used = snprintf(text, room, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n",
                        n, n, n);
    for (int i = 0; i < n; i++) {
        if (i % 97 == 5)
            used += snprintf(text + used, room - (size_t)used, i % 2 ? "\n" : "%% here\n \n");
        if (i == bad)
            used += snprintf(text + used, room - (size_t)used, "%s\n", bad_line);
        else
            used += snprintf(text + used, room - (size_t)used, "%s%d %d %d.5\n",
                             i % 301 == 7 ? " " : "", n - i, i + 1, i);
    }
    assert_true((size_t)used < room);
    return text;
}

static void many_pieces(void **state)
{
    (void)state;
    enum { N = 30000 };
    char *text = long_text(N, -1, NULL);
    for (int t = 0; t < 4; t++) {
        char options[32];
        spry_matrix *A = NULL;
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        assert_ok(ctx, read_text(ctx, text, NULL, &A));
        const matrix_arrays a = A->a;
        assert_int_equal(a.nnz, N);
        for (int i = 0; i < N; i++) {
            assert_int_equal(a.offsets[i], i);
            assert_int_equal(a.col_index[i], N - 1 - i);
            assert_true(((double *)a.values)[i] == N - 1 - i + 0.5);
        }
        spry_matrix_free(A);
        support_context_free(ctx);
    }
    free(text);
}

static void first_fault_wins(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 2; t++) {
        spry_matrix *A = NULL;
        /* Entry 7000 and, far behind it, the last line. */
        char *text = long_text(20000, 7000, t == 0 ? "7 x 1" : "1 1 1 1");
        char *last = strrchr(text, '.');
        *last = '!';
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, read_text(ctx, text, NULL, &A));
        /* 2 lines of header, 7000 entries, 37 odd i (1 line each) and 36 even ones (2 lines each)
         * before. */
        support_message_has(ctx, t == 0 ? "a.mtx:7112: expected a column number, found 'x'"
                                        : "a.mtx:7112: expected the end of the line, found '1'");
        free(text);
    }
}

static void one_giant_line(void **state)
{
    spry_context *ctx = *state;
    enum { SIZE = 300000 };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    int used = snprintf(text, SIZE, "%s", HEAD "coordinate real general\n2 2 2\n1 1 1\n2 2 ");
    memset(text + used, '1', (size_t)(SIZE - used));
    text[SIZE] = '\0';
    spry_matrix *A = NULL;
    assert_ok(ctx, read_text(ctx, text, "nonfinite=keep", &A));
    assert_true(isinf(((double *)A->a.values)[1]));
    spry_matrix_free(A);
    free(text);
}

/* Numbers of every size that a type holds, so that none survives by being short. */
static spry_matrix *wild_matrix(spry_context *ctx, spry_type type, spry_format format,
                                spry_symmetry symmetry)
{
    const support_recipe recipe = {.type = type,
                                   .format = format,
                                   .symmetry = symmetry,
                                   .rows = 300,
                                   .cols = 300,
                                   .nnz = 4000,
                                   .seed = 7,
                                   .sorted = true};
    spry_matrix *A = support_matrix(ctx, &recipe);
    const matrix_arrays a = A->a;
    for (int64_t k = 0; k < a.nnz; k++) {
        const int exponent = (int)(base_random(8, (uint64_t)k) % 240) - 120;
        spry_scalar value = value_get(type, a.values, k);
        value.re *= (1 + base_uniform(9, (uint64_t)k)) * ldexp(1, exponent);
        value.im *= (1 + base_uniform(10, (uint64_t)k)) * ldexp(1, -exponent);
        value_set(type, a.values, k, value);
    }
    return A;
}

static void matrices_come_back(void **state)
{
    spry_context *ctx = *state;
    static const spry_format formats[] = {SPRY_FORMAT_COO, SPRY_FORMAT_CSR, SPRY_FORMAT_CSC};
    static const char *const names[] = {"a.mtx", "a.mtx.gz"};
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < 3; f++)
            for (int s = SPRY_SYMMETRY_GENERAL; s <= SPRY_SYMMETRY_HERMITIAN; s++) {
                if (s == SPRY_SYMMETRY_HERMITIAN && !spry_type_is_complex(support_types[t]))
                    continue;
                spry_matrix *A = wild_matrix(ctx, support_types[t], formats[f], (spry_symmetry)s);
                files_round_trip(&io_mtx, A, files_path(names[f % 2]));
                spry_matrix_free(A);
            }
}

static void real_hermitian_is_symmetric(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = wild_matrix(ctx, SPRY_TYPE_D, SPRY_FORMAT_CSR, SPRY_SYMMETRY_HERMITIAN),
                *B = NULL;
    const char *path = files_path("h.mtx");
    assert_ok(ctx, spry_matrix_write(A, path));
    assert_ok(ctx, spry_matrix_read(ctx, path, "expand=no", &B));
    assert_int_equal(B->a.symmetry, SPRY_SYMMETRY_SYMMETRIC);
    assert_int_equal(spry_matrix_nnz(B), spry_matrix_nnz(A));
    spry_matrix_free(A);
    spry_matrix_free(B);
}

static void vectors_come_back(void **state)
{
    spry_context *ctx = *state;
    enum { N = 20000 };
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        char options[16];
        spry_vector *v = NULL, *w = NULL;
        assert_ok(ctx, spry_vector_new(ctx, type, N, NULL, SPRY_OWN_COPY, &v));
        for (int64_t k = 0; k < N; k++)
            value_set(type, spry_vector_data(v), k,
                      (spry_scalar){base_uniform(1, (uint64_t)k) - 0.5, 1 / (1.0 + (double)k)});
        const char *path = files_path(t % 2 ? "v.mtx" : "v.mtx.gz");
        assert_ok(ctx, spry_vector_write(v, path));
        snprintf(options, sizeof options, "type=%s", spry_type_name(type));
        assert_ok(ctx, spry_vector_read(ctx, path, options, &w));
        assert_int_equal(spry_vector_type(w), type);
        assert_int_equal(spry_vector_size(w), N);
        assert_memory_equal(spry_vector_data_const(v), spry_vector_data_const(w),
                            N * spry_type_size(type));
        spry_vector_free(v);
        spry_vector_free(w);
    }
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
}

/* Room to format in is taken for the work there is, not for the threads there are. */
static void small_files_need_little_memory(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=64 memory-limit=4M");
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 10, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, spry_vector_write(v, files_path("small.mtx")));
    spry_vector_free(v);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 0, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, spry_vector_write(v, files_path("small.mtx")));
    spry_vector_free(v);
    support_context_free(ctx);
}

static void vectors_from_other_files(void **state)
{
    spry_context *ctx = *state;
    const char *path = files_path("b.mtx");
    static const struct {
        const char *text, *message;
    } cases[] = {
        {HEAD "coordinate real general\n4 1 2\n4 1 8\n2 1 3\n", NULL},
        {HEAD "coordinate integer general\n1 4 2\n1 4 8\n1 2 3\n", NULL},
        {HEAD "array real general\n1 4\n0\n3\n0\n8\n", NULL},
        {HEAD "array real general\n2 2\n0\n3\n0\n8\n", "b.mtx: is 2 x 2; a vector has one column"},
        {HEAD "coordinate real general\n2 2 1\n2 2 4\n", "b.mtx: is 2 x 2; a vector has one"},
        {HEAD "array real general\n3 1\n1\nnan\n1\n", "b.mtx:4: entry (2, 1) is not a finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spry_vector *v = NULL;
        write_text(path, cases[i].text);
        const spry_status status = spry_vector_read(ctx, path, NULL, &v);
        if (cases[i].message) {
            assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
            support_message_has(ctx, cases[i].message);
            assert_null(v);
            continue;
        }
        static const double expected[] = {0, 3, 0, 8};
        assert_ok(ctx, status);
        assert_int_equal(spry_vector_size(v), 4);
        assert_memory_equal(spry_vector_data_const(v), expected, sizeof expected);
        spry_vector_free(v);
    }
    spry_vector *v = NULL;
    write_text(path, HEAD "array complex general\n1 1\n1 1\n");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_vector_read(ctx, path, "type=d", &v));
    assert_null(v);
}

static spry_status read_and_free(spry_context *ctx, void *data)
{
    spry_matrix *A = NULL;
    const spry_status status = spry_matrix_read(ctx, data, NULL, &A);
    spry_matrix_free(A);
    return status;
}

static spry_status read_vector_and_free(spry_context *ctx, void *data)
{
    spry_vector *v = NULL;
    const spry_status status = spry_vector_read(ctx, data, "type=z", &v);
    spry_vector_free(v);
    return status;
}

static spry_status write_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return spry_matrix_write(data, files_path("torture.mtx.gz"));
}

static void allocations_may_fail(void **state)
{
    spry_context *ctx = *state;
    char path[512];
    snprintf(path, sizeof path, "%s", files_path("t.mtx"));
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        write_text(path, samples[s].text);
        support_torture(ctx, read_and_free, path);
        if (samples[s].rows == 1)
            support_torture(ctx, read_vector_and_free, path);
    }
    spry_matrix *A = wild_matrix(ctx, SPRY_TYPE_C, SPRY_FORMAT_CSR, SPRY_SYMMETRY_GENERAL);
    snprintf(path, sizeof path, "%s", files_path("t.mtx.gz"));
    assert_ok(ctx, spry_matrix_write(A, path));
    support_torture(ctx, read_and_free, path);
    support_torture(ctx, write_again, A);
    spry_matrix_free(A);
}

/* Rows and nonzeros of every file of the collection as its list has them. */
static void real_matrices(void **state)
{
    spry_context *ctx = *state;
    const char *folder = getenv("SPRY_MATRICES");
    char line[4096], path[4096];
    int count = 0;
    if (!folder || !*folder) {
        print_message("SPRY_MATRICES names no folder of matrices: not looked at\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/INDEX.tsv", folder);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    assert_non_null(fgets(line, sizeof line, list));
    while (fgets(line, sizeof line, list)) {
        char name[256];
        long long rows, cols, nnz;
        spry_matrix *A = NULL;
        assert_int_equal(sscanf(line, "%255s %*s %lld %lld %lld", name, &rows, &cols, &nnz), 4);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        assert_ok(ctx, spry_matrix_read(ctx, path, "expand=no", &A));
        assert_int_equal(spry_matrix_rows(A), rows);
        assert_int_equal(spry_matrix_cols(A), cols);
        assert_int_equal(spry_matrix_nnz(A), nnz);
        spry_matrix_free(A);
        count++;
    }
    fclose(list);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_is_read, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(every_fault_has_its_line, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(options_are_heeded, support_setup, support_teardown),
        cmocka_unit_test(many_pieces),
        cmocka_unit_test_setup_teardown(first_fault_wins, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(one_giant_line, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(matrices_come_back, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(real_hermitian_is_symmetric, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(vectors_come_back, support_setup, support_teardown),
        cmocka_unit_test(small_files_need_little_memory),
        cmocka_unit_test_setup_teardown(vectors_from_other_files, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(allocations_may_fail, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(real_matrices, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
