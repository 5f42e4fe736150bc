/* Rutherford-Boeing and Harwell-Boeing files: by hand, written and read, and wrong ones. */
#include "support/files.h"

#include "io/fortran.h"
#include "io/rutherford_boeing.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TITLE "A matrix for the tests                                                  KEY     \n"

/* The matrix of the Users' guide for the Harwell-Boeing collection, section 2. */
static const double guide[5 * 5] = {1, -3, 0, -1, 0, 0,  0, -2, 0, 3,  2, 0, 0,
                                    0, 0,  0, 4,  0, -4, 0, 5,  0, -5, 0, 6};

/* The same matrix in several dress: what the lines behind the title may look like. */
static const char *const dresses[] = {
    /* Harwell-Boeing with right-hand sides, which are skipped */
    TITLE "             8             1             1             3             3\n"
          "RUA                        5             5            11             0\n"
          "(6I3)           (13I3)          (5E15.8)            (5E15.8)            \n"
          "F                          1             0\n"
          "  1  4  6  8 10 12\n"
          "  1  3  5  1  4  2  5  1  4  2  5\n"
          " 1.00000000E+00 2.00000000E+00 5.00000000E+00-3.00000000E+00 4.00000000E+00\n"
          "-2.00000000E+00-5.00000000E+00-1.00000000E+00-4.00000000E+00 3.00000000E+00\n"
          " 6.00000000E+00\n"
          " 1.00000000E+00 1.00000000E+00 1.00000000E+00 1.00000000E+00 1.00000000E+00\n",
    /* Rutherford-Boeing, fields that touch, D exponents, line ends of DOS */
    TITLE "             6             1             2             3\r\n"
          "rra                        5             5            11             0\r\n"
          "(6I2)           (8I1)           (4(1X,D7.1))\r\n"
          " 1 4 6 81012\r\n"
          "13514251\r\n"
          "425\r\n"
          "  0.1D+1  2.0D+0  5.0D+0 -3.0D+0\r\n"
          "  4.0d+0 -2.0D+0 -5.0E+0 -1.0D+0\r\n"
          " -4.0D+0  3.0D+0  6.0D+0\r\n",
    /* integers, no line end at the end, several lines of pointers */
    TITLE "             7             3             2             1\n"
          "iua                        5             5            11             0\n"
          "(2I3)           (6I2)           (11I3)\n"
          "  1  4\n  6  8\n 10 12\n"
          " 1 3 5 1 4 2\n 5 1 4 2 5\n"
          "  1  2  5 -3  4 -2 -5 -1 -4  3  6",
    /* points implied by the format, exponents without a letter, blanks after one, a line F
       uncounted */
    TITLE "             7             3             2             1\n"
          "rua                        5             5            11             0\n"
          "(2I3)           (6I2)           (11f6.2)\n"
          "FGN                       1             0\n"
          "  1  4\n  6  8\n 10 12\n"
          " 1 3 5 1 4 2\n 5 1 4 2 5\n"
          "   100 2.0+0 500+0  -3004.E  0-20d+1  -500 -1.00  -400 300e0 .06+2\n",
    /* blanks between numbers that do not keep to their columns */
    TITLE "             5             1             1             3\n"
          "rua                        5             5            11             0\n"
          "(6I3)           (11I3)          (4E15.8)\n"
          "1 4 6 8 10 12\n"
          " 1 3 5 1  4 2  5 1 4  2   5 \n"
          "1.00000000E+0 2.00000000E+000    5. -3.00000000E+00\n"
          "4 -2.00000000E+00 -5. -1.00000000E+00\n"
          "-4.00000000E+00 3.00000000E+00 6.000000\n",
    /* a scale factor counts where the text has no exponent */
    TITLE "             7             3             2             2\n"
          "rua                        5             5            11             0\n"
          "(2I3)           (6I2)           ( 1P, 6 E7.1E3 )\n"
          "  1  4\n  6  8\n 10 12\n"
          " 1 3 5 1 4 2\n 5 1 4 2 5\n"
          "   10.0  2.0E0  5.0E0 -3.0E0   40.0 -2.0E0\n"
          "  -50.0 -1.0E0 -4.0E0  3.0E0   60.0\n",
};

static void reads_the_guides_matrix(void **state)
{
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof dresses / sizeof *dresses; i++) {
        io_content content;
        assert_ok(ctx, files_read_memory(ctx, &io_rutherford_boeing, dresses[i], strlen(dresses[i]),
                                         &content));
        spry_matrix *expected = support_from_rows(ctx, SPRY_TYPE_D, 5, 5, guide);
        assert_int_equal(content.matrix->a.format, SPRY_FORMAT_CSC);
        assert_int_equal(content.matrix->a.symmetry, SPRY_SYMMETRY_GENERAL);
        support_dense_same(support_dense_of(content.matrix), support_dense_of(expected));
        spry_matrix_free(expected);
        files_free(ctx, &content);
    }
}

/* Two columns with entries (1,1), (2,1), (2,2) of a type, and the values as text. */
static void read_small(spry_context *ctx, const char *type, const char *format, const char *values,
                       io_content *content)
{
    char text[1024];
    snprintf(text, sizeof text,
             TITLE "             3             1             1             %d\n"
                   "%s                        2             2             3             0\n"
                   "(3I2)           (3I2)           %s\n"
                   " 1 3 4\n 1 2 2\n%s",
             *values ? 1 : 0, type, format, values);
    assert_ok(ctx, files_read_memory(ctx, &io_rutherford_boeing, text, strlen(text), content));
}

static void reads_all_kinds(void **state)
{
    static const struct {
        const char *type, *format, *values;
        spry_type read;
        spry_symmetry symmetry;
        double numbers[6];
    } kinds[] = {
        {"rsa", "(3F4.1)", " 1.5-2.0 3.0", SPRY_TYPE_D, SPRY_SYMMETRY_SYMMETRIC, {1.5, -2, 3}},
        {"RZA", "(3F4.1)", " 0.0-2.0 0.0", SPRY_TYPE_D, SPRY_SYMMETRY_SKEW, {0, -2, 0}},
        {"cha",
         "(6F3.0)",
         " 1  0 -2  7  3  0",
         SPRY_TYPE_Z,
         SPRY_SYMMETRY_HERMITIAN,
         {1, 0, -2, 7, 3, 0}},
        {"csa",
         "(6F3.0)",
         " 1  1 -2  7  3  4",
         SPRY_TYPE_Z,
         SPRY_SYMMETRY_SYMMETRIC,
         {1, 1, -2, 7, 3, 4}},
        {"cua",
         "(6F3.0)",
         " 1  1 -2  7  3  4",
         SPRY_TYPE_Z,
         SPRY_SYMMETRY_GENERAL,
         {1, 1, -2, 7, 3, 4}},
        {"rha", "(3F4.1)", " 1.5-2.0 3.0", SPRY_TYPE_D, SPRY_SYMMETRY_SYMMETRIC, {1.5, -2, 3}},
        {"psa", "", "", SPRY_TYPE_D, SPRY_SYMMETRY_SYMMETRIC, {1, 1, 1}},
        {"isa", "(3I4)", "   1  -2   3", SPRY_TYPE_D, SPRY_SYMMETRY_SYMMETRIC, {1, -2, 3}},
    };
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        io_content content;
        read_small(ctx, kinds[i].type, kinds[i].format, kinds[i].values, &content);
        const matrix_arrays a = content.matrix->a;
        assert_int_equal(a.type, kinds[i].read);
        assert_int_equal(a.symmetry, kinds[i].symmetry);
        assert_int_equal(a.nnz, 3);
        assert_memory_equal(a.offsets, ((int64_t[]){0, 2, 3}), 3 * sizeof(int64_t));
        assert_memory_equal(a.row_index, ((int32_t[]){0, 1, 1}), 3 * sizeof(int32_t));
        assert_memory_equal(a.values, kinds[i].numbers, 3 * spry_type_size(a.type));
        files_free(ctx, &content);
    }
}

/* What a field's text means, as a Fortran program would read it. */
static void reads_fields_as_fortran_does(void **state)
{
    static const struct {
        const char *format, *text;
        double value;
    } fields[] = {
        {"(E12.4)", "1.5-103", 1.5e-103},
        {"(E12.4)", "1.5+103", 1.5e103},
        {"(E12.4)", "-.5D+02", -50},
        {"(E12.4)", "15", 15e-4},
        {"(E12.4)", "15E3", 1.5},
        {"(E12.4)", "+7.", 7},
        {"(F12.0)", "12345", 12345},
        {"(2PF12.1)", "123.", 1.23},
        {"(-2PF12.1)", "123.", 12300},
        {"(1PE12.1)", "123.E0", 123},
        {"(G12.3)", "1.25Q2", 125},
        {"(ES12.3)", "1.25E 02", 125},
        {"(EN12.3E3)", "1.25E+02", 125},
        {"(I5)", "  -42", -42},
        {"(F20.0)", "inf", INFINITY},
        {"(F20.0)", "-INF", -INFINITY},
        {"(E30.17)", "4.9E-324", 4.9e-324},
        {"(E30.17)", "1.7976931348623157D+308", 0x1.fffffffffffffp1023},
    };
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        fortran_format format;
        const char *why, *f = fields[i].format, *t = fields[i].text;
        double value = 0;
        assert_non_null(io_fortran_parse(f, f + strlen(f), &format, &why));
        assert_true(io_fortran_real(&format.field[0], t, t + strlen(t), &value));
        if (value != fields[i].value)
            print_error("%s under %s gave %.17g\n", t, f, value);
        assert_true(value == fields[i].value);
    }
    static const char *const wrong[] = {"",    "-",      "1.2.3", "1E",      "1E+", "x",
                                        "1 2", "1.5-1x", "nan(",  "1.0E5E5", "."};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value;
        const fortran_field field = {.width = 10};
        if (io_fortran_real(&field, wrong[i], wrong[i] + strlen(wrong[i]), &value))
            fail_msg("'%s' was taken for a number", wrong[i]);
    }
    char lengthy[201];
    double value;
    memset(lengthy, '1', 200);
    assert_false(io_fortran_real(&(fortran_field){.width = 200}, lengthy, lengthy + 200, &value));
    const char *nan_text = "NaN";
    assert_true(io_fortran_real(&(fortran_field){.width = 3}, nan_text, nan_text + 3, &value));
    assert_true(isnan(value));
}

static void lays_out_formats(void **state)
{
    static const struct {
        const char *text;
        int fields, second, width; /* second: where the second field begins */
        bool integer;
    } good[] = {
        {"(16I5)", 16, 5, 5, true},           {"(3D26.16)", 3, 26, 26, false},
        {"(1P,4E20.12)", 4, 20, 20, false},   {"(1P4E20.12)", 4, 20, 20, false},
        {"(4(1X,E19.12))", 4, 21, 19, false}, {"(2X,2(I3,1X))", 2, 6, 3, true},
        {" ( 2 i 10 )", 2, 10, 10, true},     {"(1(2(2(I4))))", 4, 4, 4, true},
        {"(E10.3,E12.4)", 2, 10, 12, false},  {"(I6,I6)", 2, 6, 6, true},
    };
    static const char *const bad[][2] = {
        {"16I5", "does not open"},
        {"(16I5", "closing parenthesis"},
        {"()", "no number"},
        {"(5X)", "no number"},
        {"(I)", "no width"},
        {"(300I1)", "more than 256 numbers"},
        {"(9000X,I5)", "more than 8192 columns"},
        {"(2I5000)", "more than 8192 columns"},
        {"(99999999999999999999I5)", "more than 256 numbers"},
        {"(A5)", "other than I F E D G X P"},
        {"(I5/I5)", "other than I F E D G X P"},
        {"(0I5)", "not positive"},
        {"(-2I5)", "not positive"},
        {"(200PE10.3)", "scale factor"},
        {"(3E10.3E)", "exponent's width"},
        {"(I5,4(I10))", "fields before a group"},
        {"(((((I5)))))", "nested too deep"},
        {"(100000(100000(100000())),I5)", "empty group"},
        {"(1000000(1X),I5)", "more than 8192 columns"},
    };
    (void)state;
    fortran_format format;
    const char *why;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *end = good[i].text + strlen(good[i].text);
        assert_ptr_equal(io_fortran_parse(good[i].text, end, &format, &why), end);
        assert_int_equal(format.fields, good[i].fields);
        assert_int_equal(format.field[1].column, good[i].second);
        assert_int_equal(format.field[1].width, good[i].width);
        assert_int_equal(format.integer, good[i].integer);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(io_fortran_parse(bad[i][0], bad[i][0] + strlen(bad[i][0]), &format, &why));
        if (!strstr(why, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], why);
    }
}

/* A good file of five parts, of which a test replaces one. */
enum { COUNTS, SIZES, FORMATS, POINTERS, INDICES, VALUES, PARTS };

static const char *const good[PARTS] = {
    "             3             1             1             1\n",
    "rsa                        3             3             4             0\n",
    "(4I3)           (4I3)           (4F5.1)\n",
    "  1  3  4  5\n",
    "  1  3  2  3\n",
    "  1.0  2.0  3.0  4.0\n",
};

static void refuse(spry_context *ctx, int part, const char *instead, const char *message)
{
    char text[2048] = TITLE;
    for (int i = 0; i < PARTS; i++)
        strcat(text, i == part ? instead : good[i]);
    files_refused(ctx, &io_rutherford_boeing, text, strlen(text), message);
}

static void refuses_bad_headers(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        int part;
        const char *instead, *message;
    } bad[] = {
        {COUNTS, "3 1 1\n", "memory:2: the counts of lines"},
        {COUNTS, "three lines or so\n", "memory:2: the counts of lines"},
        {COUNTS, "2 1 1 0\n", "memory:2: there are no lines of values"},
        {SIZES, "rs\n", "memory:3: a matrix type such as rua is missing"},
        {SIZES, "xsa 3 3 4 0\n", "memory:3: the type is not that of a matrix"},
        {SIZES, "rhs 3 3 4 0\n", "memory:3: the type is not that of a matrix"},
        {SIZES, "RSE 3 3 4 0\n", "memory:3: the matrix is stored by elements (type RSE)"},
        {SIZES, "qua 3 3 4 0\n", "memory:3: the matrix has its values in another file (type qua)"},
        {SIZES, "pza 3 3 4 0\n",
         "memory:2: 1 lines of values are counted, but 0 numbers in their format take 0"},
        {COUNTS, "4 2 1 1\n",
         "memory:2: 2 lines of column pointers are counted, but 4 numbers in their format take 1"},
        {COUNTS, "4 1 2 1\n", "memory:2: 2 lines of row indices are counted"},
        {COUNTS, "4 1 1 2\n", "memory:2: 2 lines of values are counted"},
        {COUNTS, "2 0 1 1\n", "memory:2: 0 lines of column pointers are counted"},
        {COUNTS, "2 1 -1 1\n", "memory:2: -1 lines of row indices are counted"},
        {SIZES, "rsa 3 3\n", "memory:3: rows, columns and entries"},
        {SIZES, "rsa 3 3x 4\n", "memory:3: rows, columns and entries"},
        {SIZES, "rsa 3 2 4 0\n", "memory:3: a symmetric matrix has as many rows as columns"},
        {SIZES, "rua -3 3 4 0\n", "memory:3: -3 rows"},
        {SIZES, "rua 3 3000000000 4 0\n", "memory:3: 3 rows, 3000000000 columns"},
        {SIZES, "rua 3 3 1000000000000000000 0\n", "do not fit a file of"},
        {SIZES, "rua 2000000000 2000000000 4 0\n", "do not fit a file of"},
        {FORMATS, "(4I3) (4I3)\n", "memory:4: the format of the values cannot be used"},
        {FORMATS, "4I3\n", "memory:4: the format of the column pointers cannot be used: it does"},
        {FORMATS, "(4I3) (4F3.0) (4F5.1)\n", "memory:4: the format (4F3.0) of the row indices"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(ctx, bad[i].part, bad[i].instead, bad[i].message);
    files_refused(ctx, &io_rutherford_boeing, TITLE, strlen(TITLE), "memory:2: the file ends");
    files_refused(ctx, &io_rutherford_boeing, "\0\0\n\0\n\0\n\0\n", 9, "memory:2: the counts");
}

static void refuses_bad_numbers(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        int part;
        const char *instead, *message;
    } bad[] = {
        {POINTERS, "  2  3  4  5\n", "memory:5: the first column pointer is 2, not 1"},
        {POINTERS, "  1  4  3  5\n", "memory:5: column pointer 3 is 3, less than the 4 before"},
        {POINTERS, "  1  3  4  4\n", "memory:5: the last column pointer is 4, not entries + 1 = 5"},
        {POINTERS, "  1  3  4  9\n", "memory:5: column pointer 9 is outside 1..5"},
        {POINTERS, "  1  3  4\n", "memory:5: the line ends before column pointer 4 of 4"},
        {POINTERS, "  1  3  x  5\n", "memory:5: column pointer 3: '  x' is not an integer"},
        {POINTERS, "  1  31 4  5\n", "memory:5: column pointer 3: '1 4' is not an integer"},
        {INDICES, "  1  3  2  4\n", "memory:6: row index 4 is outside 1..3"},
        {INDICES, "  1  0  2  3\n", "memory:6: row index 0 is outside 1..3"},
        {INDICES, "  1  3  1  3\n", "memory:6: row 1 of column 2 is above the diagonal"},
        {INDICES, "  1  399999\n", "memory:6: row index 999 is outside 1..3"},
        {VALUES, "  1.0  2.0  3.0    .\n", "memory:7: value 4: '    .' is not a number"},
        {VALUES, "  1.0       3.0  4.0\n", "memory:7: value 2: '     ' is not a number"},
        {VALUES, "  1.0  2.0\n", "memory:7: the line ends before value 3 of 4"},
        {VALUES, "", "memory:7: the file ends before value 1 of 4"},
        {VALUES, "  1.0  2.0  3.0  4.0\n\n  5.0\n",
         "memory:9: the file goes on behind the lines that its header counts"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuse(ctx, bad[i].part, bad[i].instead, bad[i].message);
    refuse(ctx, SIZES, "rza 3 3 4 0\n", "memory:7: the diagonal entry of column 1 is (1, 0)");
    static const char pattern[] = TITLE "2 1 1 0\npza 3 3 4 0\n(4I3) (4I3)\n"
                                        "  1  3  4  5\n  1  3  2  3\n";
    files_refused(ctx, &io_rutherford_boeing, pattern, strlen(pattern),
                  "memory:6: the diagonal entry of column 1 is (1, 0)");
}

static void finds_entries_for_messages(void **state)
{
    char text[2048] = TITLE;
    (void)state;
    for (int i = 0; i < PARTS; i++)
        strcat(text, good[i]);
    const io_bytes bytes = {.path = "memory", .data = text, .size = strlen(text)};
    const size_t values = (size_t)(strstr(text, "  1.0") - text);
    assert_int_equal(io_rutherford_boeing.position_of(&bytes, 0, 0, 1), values);
    assert_int_equal(io_rutherford_boeing.position_of(&bytes, 2, 0, 1), values + 5);
    assert_int_equal(io_rutherford_boeing.position_of(&bytes, 2, 2, 1), values + 15);
    assert_int_equal(io_rutherford_boeing.position_of(&bytes, 2, 2, 2), bytes.size);
    assert_int_equal(io_rutherford_boeing.position_of(&bytes, 1, 0, 1), bytes.size);
    assert_int_equal(io_rutherford_boeing.position_of(&bytes, 1, 7, 1), bytes.size);
    assert_true(io_rutherford_boeing.matches(&bytes));
    const io_bytes other = {.path = "memory", .data = "%%MatrixMarket\n\n\n\n\n", .size = 19};
    assert_false(io_rutherford_boeing.matches(&other));
    assert_int_equal(io_rutherford_boeing.position_of(&other, 0, 0, 1), other.size);
}

static void comes_back_bit_by_bit(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
             symmetry++) {
            if (symmetry == SPRY_SYMMETRY_HERMITIAN && !spry_type_is_complex(support_types[t]))
                continue; /* comes back as symmetric, which is the same for real numbers */
            support_recipe recipe = {.type = support_types[t],
                                     .format = symmetry % 2 ? SPRY_FORMAT_CSR : SPRY_FORMAT_CSC,
                                     .symmetry = (spry_symmetry)symmetry,
                                     .rows = 40,
                                     .cols = symmetry == SPRY_SYMMETRY_GENERAL ? 30 : 40,
                                     .nnz = 300,
                                     .seed = 7,
                                     .sorted = true};
            spry_matrix *A = support_matrix(ctx, &recipe);
            files_round_trip(&io_rutherford_boeing, A, files_path("a.rb"));
            spry_matrix_free(A);
        }
}

/* Random numbers over the whole range of their type, bit patterns and all. */
static void keeps_every_bit_of_values(void **state)
{
    enum { N = 4000 };
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const bool single = support_types[t] == SPRY_TYPE_S || support_types[t] == SPRY_TYPE_C;
        support_recipe recipe = {.type = support_types[t],
                                 .format = SPRY_FORMAT_CSC,
                                 .rows = N,
                                 .cols = N,
                                 .nnz = N,
                                 .sorted = true};
        spry_matrix *A = support_matrix(ctx, &recipe);
        const matrix_arrays a = A->a;
        const int64_t numbers = a.nnz * (int64_t)spry_type_size(a.type) / (single ? 4 : 8);
        for (int64_t k = 0; k < numbers; k++) {
            uint64_t bits = base_random(11, (uint64_t)k);
            float s = 0;
            double d = 0;
            const uint32_t few = (uint32_t)bits;
            memcpy(&s, &few, sizeof s);
            memcpy(&d, &bits, sizeof d);
            if (single)
                ((float *)a.values)[k] = isfinite(s) ? s : 0.1F;
            else
                ((double *)a.values)[k] = isfinite(d) ? d : 0.1;
        }
        files_round_trip(&io_rutherford_boeing, A, files_path("bits.rb"));
        spry_matrix_free(A);
    }
}

static void writes_special_values_and_sizes(void **state)
{
    spry_context *ctx = *state;
    const double numbers[] = {INFINITY, -INFINITY, -0.0, 5e-324};
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 2, (int64_t[]){0, 2, 4},
                                        (int32_t[]){0, 1, 0, 1}, numbers, SPRY_OWN_COPY, &A));
    files_round_trip(&io_rutherford_boeing, A, files_path("special.rb"));
    spry_matrix_free(A);
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 3, (int64_t[]){0, 0, 0},
                                        (int32_t[]){0}, numbers, SPRY_OWN_COPY, &A));
    files_round_trip(&io_rutherford_boeing, A, files_path("empty.rb"));
    spry_matrix_free(A);
}

/* Whatever mark the locale has between units and tenths, files have a point. */
static void ignores_the_locale(void **state)
{
    spry_context *ctx = *state;
    static const char *const locales[] = {"de_DE.UTF-8", "ps_AF.UTF-8", "fr_FR.UTF-8"};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 1, 2, (double[]){0.5, -1.25});
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_NUMERIC, locales[i]))
            files_round_trip(&io_rutherford_boeing, A, files_path("locale.rb"));
    setlocale(LC_NUMERIC, "C");
    files_round_trip(&io_rutherford_boeing, A, files_path("locale.rb"));
    spry_matrix_free(A);
}

/* Many blocks of lines, read by several threads; a fault is the first in the file for any number.
 */
static void threads_agree(void **state)
{
    (void)state;
    size_t size = 0;
    char *text = NULL;
    for (int i = 0; i < 4; i++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[i]);
        spry_context *ctx = support_context(options);
        const support_recipe recipe = {.type = SPRY_TYPE_D,
                                       .format = SPRY_FORMAT_CSC,
                                       .rows = 3000,
                                       .cols = 3000,
                                       .nnz = 30000,
                                       .sorted = true};
        spry_matrix *A = support_matrix(ctx, &recipe);
        files_round_trip(&io_rutherford_boeing, A, files_path("many.rb"));
        if (!text) {
            text = files_load(files_path("many.rb"), &size);
            text[size - size / 8] = 'x';
            text[size / 3] = 'y';
            text[size / 2] = 'z';
        }
        char message[MESSAGE_SIZE];
        io_content content;
        assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                      files_read_memory(ctx, &io_rutherford_boeing, text, size, &content));
        if (i == 0)
            snprintf(message, sizeof message, "%s", spry_message(ctx));
        assert_string_equal(spry_message(ctx), message);
        support_message_has(ctx, "y");
        spry_matrix_free(A);
        support_context_free(ctx);
    }
    free(text);
}

static spry_status read_again(spry_context *ctx, void *data)
{
    io_content content;
    const spry_status status = files_read(ctx, &io_rutherford_boeing, data, &content);
    files_free(ctx, &content);
    return status;
}

static spry_status write_again(spry_context *ctx, void *data)
{
    (void)ctx;
    return io_rutherford_boeing.write_matrix(data, files_path("torture.rb"));
}

static void survives_lack_of_memory(void **state)
{
    spry_context *ctx = *state;
    const support_recipe recipe = {.type = SPRY_TYPE_Z,
                                   .format = SPRY_FORMAT_CSR,
                                   .rows = 50,
                                   .cols = 50,
                                   .nnz = 200,
                                   .sorted = true};
    spry_matrix *A = support_matrix(ctx, &recipe);
    support_torture(ctx, write_again, A);
    support_torture(ctx, read_again, (void *)files_path("torture.rb"));
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_the_guides_matrix, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(reads_all_kinds, support_setup, support_teardown),
        cmocka_unit_test(reads_fields_as_fortran_does),
        cmocka_unit_test(lays_out_formats),
        cmocka_unit_test_setup_teardown(refuses_bad_headers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refuses_bad_numbers, support_setup, support_teardown),
        cmocka_unit_test(finds_entries_for_messages),
        cmocka_unit_test_setup_teardown(comes_back_bit_by_bit, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(keeps_every_bit_of_values, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(writes_special_values_and_sizes, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(ignores_the_locale, support_setup, support_teardown),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
