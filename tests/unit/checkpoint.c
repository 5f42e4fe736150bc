/* Checkpoints: written and read by any number of ranks, refused where they are of something else or
 * damaged; and matrices that ranks give in any way, through the public calls. */
#include "support/files.h"
#include "support/ranked.h"

#include <stdlib.h>

enum { N = 40 };

typedef struct work_case {
    char path[256];
    spry_status status; /* of reading */
    const char *message;
    double scale; /* of A's values */
    double rhs;   /* added to b's */
} work_case;

static double number(uint64_t seed, int64_t i)
{
    return base_uniform(seed, (uint64_t)i) - 0.5;
}

/* Row i has the diagonal and, at a distance, two more; ranks give rows turn about. */
static const char *make(spry_context *ctx, const work_case *c, spry_matrix **A, spry_vector **b,
                        spry_vector **x)
{
    const int me = team_rank(ctx), ranks = team_ranks(ctx);
    int64_t numbers[N], offsets[N + 1] = {0}, columns[3 * N], rows = 0;
    double values[3 * N], right[N], guess[N];
    for (int64_t i = N - 1; i >= 0; i--) {
        if (i % ranks != (me + 1) % ranks)
            continue;
        const int64_t at = offsets[rows], near[] = {i, (i + 7) % N, (i + N - 7) % N};
        for (int k = 0; k < 3; k++) {
            columns[at + k] = near[k];
            values[at + k] = c->scale * (k == 0 ? 4 : number(3, i * N + near[k]));
        }
        right[rows] = number(5, i) + c->rhs;
        guess[rows] = number(6, i);
        numbers[rows++] = i;
        offsets[rows] = at + 3;
    }
    CHECK_OK(ctx, spry_matrix_new_distributed(ctx, SPRY_TYPE_D, N, N, rows, numbers, offsets,
                                              columns, values, A));
    CHECK_OK(ctx, spry_vector_new_distributed(*A, right, b));
    CHECK_OK(ctx, spry_vector_new_distributed(*A, guess, x));
    double back[N];
    CHECK_OK(ctx, spry_vector_get_distributed(*A, *x, back));
    CHECK(memcmp(back, guess, (size_t)rows * sizeof *back) == 0);
    return NULL;
}

static const char *write_work(spry_context *ctx, void *data)
{
    const work_case *c = data;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    const char *wrong = make(ctx, c, &A, &b, &x);
    spry_status status = SPRY_STATUS_OK;
    if (!wrong)
        status = spry_checkpoint_write(A, b, x, 1234, c->path);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    CHECK_OK(ctx, status);
    return wrong;
}

static const char *read_work(spry_context *ctx, void *data)
{
    const work_case *c = data;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL, *found = NULL;
    int64_t iterations = -1;
    const char *wrong = make(ctx, c, &A, &b, &x);
    if (wrong)
        return wrong;
    const spry_status status = spry_checkpoint_read(A, b, c->path, &found, &iterations);
    bool same = status == SPRY_STATUS_OK && iterations == 1234 &&
                spry_vector_size(found) == spry_vector_size(x) &&
                memcmp(spry_vector_data(found), spry_vector_data(x),
                       (size_t)spry_vector_size(x) * sizeof(double)) == 0;
    spry_vector_free(found);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    CHECK_STATUS(ctx, c->status, status);
    if (c->status == SPRY_STATUS_OK)
        CHECK(same);
    else
        CHECK(strstr(spry_message(ctx), c->message));
    return NULL;
}

static void any_number_of_ranks(void **state)
{
    static const char *const options[] = {"threads=1", "threads=1 partition=graph"};
    work_case c = {.status = SPRY_STATUS_OK, .scale = 1};
    (void)state;
    snprintf(c.path, sizeof c.path, "%s", files_path("c.mtx"));
    for (int written = 1; written <= 3; written++)
        for (int k = 0; k < 2; k++) {
            ranked_run_with(options[k], written, write_work, &c);
            for (int read = 1; read <= 3; read++)
                ranked_run_with(options[1 - k], read, read_work, &c);
        }
}

static void refuse(work_case c, spry_status status, const char *message)
{
    c.status = status;
    c.message = message;
    for (int ranks = 1; ranks <= 3; ranks++)
        ranked_run(ranks, read_work, &c);
}

static void put(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void others_are_refused(void **state)
{
    work_case c = {.scale = 1};
    size_t size = 0;
    (void)state;
    snprintf(c.path, sizeof c.path, "%s", files_path("d.mtx"));
    ranked_run(2, write_work, &c);
    work_case other = c;
    other.scale = 2;
    refuse(other, SPRY_STATUS_BAD_INPUT, "is of another matrix");
    other = c;
    other.rhs = 1;
    refuse(other, SPRY_STATUS_BAD_INPUT, "is of another right-hand side");
    other = c;
    snprintf(other.path, sizeof other.path, "%s", files_path("none.mtx"));
    refuse(other, SPRY_STATUS_IO, "none.mtx");
    char *text = files_load(c.path, &size);
    /* every kind of damage: a digit, a line less, half a file, no note, a changed note */
    char *digit = strstr(text, "40 1\n") + 9;
    while (*digit < '1' || *digit > '8')
        digit++;
    ++*digit;
    put(c.path, text, size);
    refuse(c, SPRY_STATUS_BAD_INPUT, "is damaged");
    --*digit;
    put(c.path, text, size / 2);
    refuse(c, SPRY_STATUS_BAD_INPUT, "d.mtx");
    put(c.path, text, 40);
    refuse(c, SPRY_STATUS_BAD_INPUT, "no line of a checkpoint");
    char *note = strstr(text, "% spry");
    note[2] = 'S';
    put(c.path, text, size);
    refuse(c, SPRY_STATUS_BAD_INPUT, "d.mtx:2: is no line of a checkpoint");
    note[2] = 's';
    put(c.path, text, size);
    refuse(c, SPRY_STATUS_OK, "");
    free(text);
}

static spry_status torture_call(spry_context *ctx, void *data)
{
    const work_case *c = data;
    const int64_t numbers[] = {team_rank(ctx)}, offsets[] = {0, 1};
    const double value = 2;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    int64_t iterations;
    spry_status status =
        spry_matrix_new_distributed(ctx, SPRY_TYPE_D, team_ranks(ctx), team_ranks(ctx), 1, numbers,
                                    offsets, numbers, &value, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new_distributed(A, &value, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_checkpoint_write(A, b, b, 1, c->path);
    if (status == SPRY_STATUS_OK)
        status = spry_checkpoint_read(A, b, c->path, &x, &iterations);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    return status;
}

static void torture(void **state)
{
    work_case c = {.scale = 1};
    (void)state;
    snprintf(c.path, sizeof c.path, "%s", files_path("t.mtx"));
    ranked_torture(2, torture_call, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_ranks),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
