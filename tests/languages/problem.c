/* The two systems of README.md in C, also as files for the command line: problem FOLDER NAME */
#include <spry/spry.h>

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 24, N = SIDE * SIDE };

static int64_t offsets[N + 1];
static int32_t columns[5 * N];
static double complex values[5 * N], right[N], answer[N];
static double real_values[5 * N], real_right[N], real_answer[N];

static void add(int64_t *entries, int column, double complex value)
{
    columns[*entries] = column;
    values[*entries] = value;
    real_values[(*entries)++] = creal(value);
}

static void fill(bool is_complex)
{
    int64_t entries = 0;
    for (int row = 0; row < N; row++) {
        const int i = row / SIDE, j = row % SIDE;
        if (i > 0)
            add(&entries, row - SIDE, -1);
        if (j > 0)
            add(&entries, row - 1, is_complex ? -1 : -1.375);
        add(&entries, row, is_complex ? 3.5 + 0.625 * I : 4);
        if (j < SIDE - 1)
            add(&entries, row + 1, is_complex ? -1 : -0.625);
        if (i < SIDE - 1)
            add(&entries, row + SIDE, -1);
        offsets[row + 1] = entries;
        right[row] = real_right[row] = 1 + row % 7 / 8.0;
        answer[row] = real_answer[row] = 0;
    }
}

static FILE *file(const char *folder, const char *name, const char *ending, const char *mode)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    FILE *f = fopen(path, mode);
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

static void keep(spry_context *ctx, const char *folder, bool is_complex, const spry_matrix *A,
                 const spry_vector *b)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/A-%s.mtx", folder, is_complex ? "complex" : "real");
    spry_status status = spry_matrix_write(A, path);
    snprintf(path, sizeof path, "%s/b-%s.mtx", folder, is_complex ? "complex" : "real");
    if (status != SPRY_STATUS_OK || spry_vector_write(b, path) != SPRY_STATUS_OK) {
        fprintf(stderr, "%s\n", spry_message(ctx));
        exit(1);
    }
}

static void solve(spry_context *ctx, const char *folder, const char *name, bool is_complex,
                  FILE *report)
{
    const spry_type type = is_complex ? SPRY_TYPE_Z : SPRY_TYPE_D;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    fill(is_complex);
    void *numbers = is_complex ? (void *)values : real_values;
    void *given = is_complex ? (void *)right : real_right;
    void *made = is_complex ? (void *)answer : real_answer;
    if (spry_matrix_from_csr(ctx, type, N, N, offsets, columns, numbers, SPRY_OWN_BORROW, &A) ||
        spry_vector_new(ctx, type, N, given, SPRY_OWN_BORROW, &b) ||
        spry_vector_new(ctx, type, N, made, SPRY_OWN_BORROW, &x) ||
        spry_quick_solve(ctx, A, b, x,
                         is_complex ? "method=gmres:restart=20 precon=jacobi format=csr tol=1e-10"
                                    : "method=bicgstab precon=ilu format=csr tol=1e-10",
                         &result)) {
        fprintf(stderr, "%s\n", spry_message(ctx));
        exit(1);
    }
    fprintf(report, "%s %s %d\n", is_complex ? "complex" : "real", spry_reason_name(result.reason),
            (int)result.iterations);
    FILE *f = file(folder, name, is_complex ? "-complex.x" : "-real.x", "wb");
    if (fwrite(made, is_complex ? 16 : 8, N, f) != N || fclose(f) != 0)
        exit(1);
    keep(ctx, folder, is_complex, A, b);
    spry_result_clear(ctx, &result);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
}

int main(int argc, char **argv)
{
    spry_context *ctx = NULL;
    if (argc != 3 || spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 2;
    FILE *report = file(argv[1], argv[2], ".txt", "w");
    solve(ctx, argv[1], argv[2], false, report);
    solve(ctx, argv[1], argv[2], true, report);
    spry_context_free(ctx);
    return fclose(report) == 0 ? 0 : 1;
}
