/* Files that ranks read and write together are those that one process reads and writes. */
#include "support/files.h"
#include "support/ranked.h"

#include "ranks/files.h"

#include <stdlib.h>

enum { MOST_RANKS = 4 };

/* What one process found, which ranks compare theirs with. */
typedef struct reading {
    const char *path, *options;
    const spry_matrix *A; /* NULL: it was refused */
    spry_status status;
    char message[1024];
} reading;

static const char *compare(const ranks_rows *r, const matrix_arrays *a)
{
    CHECK(r->type == a->type && r->all_rows == a->rows && r->all_cols == a->cols);
    for (int64_t i = 0; i < r->rows; i++) {
        const int64_t at = a->offsets[r->begin + i], n = a->offsets[r->begin + i + 1] - at;
        CHECK(r->offsets[i + 1] - r->offsets[i] == n);
        for (int64_t k = 0; k < n; k++)
            CHECK(r->columns[r->offsets[i] + k] == a->col_index[at + k]);
        const size_t size = spry_type_size(a->type);
        CHECK(n == 0 || memcmp((const char *)r->values + (size_t)r->offsets[i] * size,
                               (const char *)a->values + (size_t)at * size, (size_t)n * size) == 0);
    }
    return NULL;
}

static const char *read_work(spry_context *ctx, void *data)
{
    const reading *w = data;
    ranks_rows rows;
    CHECK_STATUS(ctx, w->status, ranks_read(ctx, w->path, w->options, &rows));
    if (w->status != SPRY_STATUS_OK) {
        if (!strstr(spry_message(ctx), w->message))
            fprintf(stderr, "found:    %s\nexpected: %s\n", spry_message(ctx), w->message);
        CHECK(strstr(spry_message(ctx), w->message));
        return NULL;
    }
    const char *wrong = compare(&rows, &w->A->a);
    ranks_rows_clear(ctx, &rows);
    return wrong;
}

static void read_by_all(spry_context *ctx, const char *path, const char *options)
{
    reading w = {.path = path, .options = options};
    spry_matrix *A = NULL;
    w.status = spry_matrix_read(ctx, path, options, &A);
    w.A = A;
    snprintf(w.message, sizeof w.message, "%s", spry_message(ctx));
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        ranked_run(ranks, read_work, &w);
    spry_matrix_free(A);
}

static const char *write_text(const char *name, const char *text, size_t size)
{
    const char *path = files_path(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void texts(void **state)
{
#define HEAD(what) "%%MatrixMarket matrix coordinate " what "\n"
    static const char *const list[] = {
        HEAD("real general") "3 4 4\n1 1 1.5\n3 4 -2\n2 2 3e1\n1 4 4\n",
        HEAD("real general") "3 4 4\r\n1 1 1.5\r\n3 4 -2\r\n2 2 3e1\r\n1 4 4", /* no last end */
        HEAD("real general") "%c\n\n  3 4 2\n% more\n\n   1 1 1\n\t\n%\n2\t2   5  \n\n\n",
        HEAD("real symmetric") "4 4 5\n1 1 1\n2 1 2\n4 2 3\n4 4 4\n4 1 7\n",
        HEAD("real skew-symmetric") "3 3 2\n2 1 2\n3 1 -0.5\n",
        HEAD("complex hermitian") "3 3 4\n1 1 1 0\n2 1 2 3\n3 2 -1 0.5\n3 3 2 0\n",
        HEAD("complex symmetric") "2 2 2\n1 1 1 1\n2 1 2 3\n",
        HEAD("pattern general") "5 5 3\n1 1\n5 5\n2 1\n",
        HEAD("integer general") "1 1 1\n1 1 -7\n",
        HEAD("real general") "7 7 0\n",
        HEAD("real general") "0 0 0\n",
        /* what is wrong */
        HEAD("real general") "3 3 2\n1 1 1\n4 1 1\n",
        HEAD("real general") "3 3 2\n1 1 1\n2 x 1\n",
        HEAD("real general") "3 3 2\n1 1 1\n2 2 1 5\n",
        HEAD("real general") "3 3 3\n1 1 1\n2 2 1\n",
        HEAD("real general") "3 3 1\n1 1 1\n2 2 1\n3 3 1\n",
        HEAD("real general") "3 3 3\n1 1 1\n2 2 1\n1 1 4\n",
        HEAD("real symmetric") "3 3 3\n1 1 1\n3 2 1\n3 2 4\n",
        HEAD("real symmetric") "3 3 2\n1 1 1\n2 3 1\n",
        HEAD("real general") "3 3 2\n1 1 1\n2 2 nan\n",
        HEAD("real general") "3 3\n",
        "%%MatrixMarket matrix coordinate reel general\n1 1 1\n1 1 1\n",
        "no format at all",
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const char *path = write_text("a.mtx", list[k], strlen(list[k]));
        read_by_all(*state, path, NULL);
        read_by_all(*state, path, "duplicates=sum nonfinite=keep type=c");
    }
    read_by_all(*state, write_text("empty.mtx", "", 0), NULL);
    const char *large = HEAD("real general") "3 3 2\n1 1 1\n2 2 1e300\n";
    read_by_all(*state, write_text("large.mtx", large, strlen(large)), "type=s");
    read_by_all(*state, "/nowhere/a.mtx", NULL);
    read_by_all(*state, files_path("a.mtx"), "duplicates=never");
}

typedef struct dice {
    uint64_t seed, thrown;
} dice;

static uint64_t draw(dice *d, uint64_t n)
{
    return base_random(d->seed, d->thrown++) % n;
}

/* Entries with comments, blanks and line ends of all kinds between them, and one byte changed. */
static void odd_lines(void **state)
{
    enum { ENTRIES = 40, ROUNDS = 60 };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        char text[ENTRIES * 128 + 256];
        dice d = {round, 0};
        const bool symmetric = draw(&d, 2);
        size_t length = (size_t)snprintf(text, sizeof text, HEAD("real %s") "%%\n50 50 %d\n",
                                         symmetric ? "symmetric" : "general", ENTRIES);
        const size_t body = length;
        for (int k = 0; k < ENTRIES; k++) {
            static const char *const before[] = {
                "", "", "", " ", "\t", "\n", "%\n", "%%% 1 1 1\n", "\r\n", "   \n"};
            static const char *const after[] = {"\n", "\n", "\n", "\r\n", " \n", "\t\r\n", "\n\n"};
            const int i = k + 11, j = 1 + (int)draw(&d, (uint64_t)i); /* no place twice */
            length +=
                (size_t)snprintf(text + length, sizeof text - length, "%s%d %d%s%d.%d%s",
                                 before[draw(&d, 10)], i, j, draw(&d, 2) ? " " : " \t ",
                                 (int)draw(&d, 100) - 50, (int)draw(&d, 1000), after[draw(&d, 7)]);
        }
        if (draw(&d, 3) == 0)
            while (text[length - 1] == '\n' || text[length - 1] == '\r')
                length--;
        read_by_all(*state, write_text("b.mtx", text, length), NULL);
        static const char bytes[] = "0 x%\n\r-9.";
        text[body + draw(&d, length - body)] = bytes[draw(&d, sizeof bytes - 1)];
        read_by_all(*state, write_text("b.mtx", text, length), NULL);
    }
}

/* All that is between two line starts goes to one rank or another, once, for any number of them. */
static void lines_are_cut(void **state)
{
    (void)state;
    static const char *const list[] = {"",    "\n",     "a",
                                       "a\n", "\n\n\n", "ab\ncd\n\n\nefghijklmno\nx"};
    for (size_t t = 0; t < sizeof list / sizeof *list; t++) {
        const char *begin = list[t], *end = begin + strlen(begin);
        for (int ranks = 1; ranks < 20; ranks++) {
            assert_ptr_equal(ranks_line_of(begin, end, ranks, 0), begin);
            assert_ptr_equal(ranks_line_of(begin, end, ranks, ranks), end);
            for (int r = 0; r < ranks; r++) {
                const char *from = ranks_line_of(begin, end, ranks, r);
                assert_true(from <= ranks_line_of(begin, end, ranks, r + 1));
                assert_true(from == begin || from == end || from[-1] == '\n');
            }
        }
    }
}

/* Other formats: native, packed, and one that only one rank reads. */
static void other_formats(void **state)
{
    for (int t = 0; t < 4; t++)
        for (spry_symmetry s = SPRY_SYMMETRY_GENERAL; s <= SPRY_SYMMETRY_HERMITIAN; s++) {
            const support_recipe recipe = {
                support_types[t], SPRY_FORMAT_CSR, s, 30, 30, 100, SUPPORT_BANDED, 3, true};
            spry_matrix *A = support_matrix(*state, &recipe);
            static const char *const names[] = {"c.spry", "c.mtx.gz", "c.npz"};
            for (int k = 0; k < 3; k++) {
                const char *path = files_path(names[k]);
                if (spry_matrix_write(A, path) != SPRY_STATUS_OK)
                    continue;
                read_by_all(*state, path, NULL);
                read_by_all(*state, path, "type=z");
            }
            spry_matrix_free(A);
        }
}

/* Native files whose arrays are wrong. */
static void broken_native(void **state)
{
    spry_matrix *A = support_sorted(*state, SPRY_TYPE_D, SUPPORT_UNIFORM, 20, 20, 90, 3);
    const char *path = files_path("d.spry");
    size_t size = 0;
    assert_ok(*state, spry_matrix_write(A, path));
    char *bytes = files_load(path, &size);
    /* the offsets are at 128, the columns behind them at the next multiple of 64 */
    const size_t columns = (128 + 21 * 8 + 63) / 64 * 64;
    const size_t places[] = {128,
                             128 + 5 * 8,
                             128 + 19 * 8,
                             128 + 20 * 8,
                             columns,
                             columns + 4 * 40,
                             columns + 4 * (size_t)(A->a.nnz - 1)};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (int what = 0; what < 2; what++) {
            int32_t old;
            const int32_t word = what ? -1 : 1000000;
            memcpy(&old, bytes + places[k], sizeof old);
            memcpy(bytes + places[k], &word, sizeof word);
            reading w = {.path = write_text("e.spry", bytes, size),
                         .status = SPRY_STATUS_BAD_INPUT,
                         .message = "e.spry"};
            for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
                ranked_run(ranks, read_work, &w);
            memcpy(bytes + places[k], &old, sizeof old);
        }
    free(bytes);
    spry_matrix_free(A);
}

/* --- vectors -------------------------------------------------------------------------------------
 */

typedef struct vector_case {
    const spry_vector *v;
    const char *path;
    spry_status status;
    char *written; /* by one process */
    size_t size;
} vector_case;

/* Uneven: rank 1 has nothing. */
static void cut_rows(int64_t n, int ranks, int64_t *first)
{
    for (int r = 0; r <= ranks; r++)
        first[r] = r == ranks ? n : r == 2 ? n / 7 : r < 2 ? r * (n / 7) : n / 2;
}

static const char *write_work(spry_context *ctx, void *data)
{
    const vector_case *c = data;
    int64_t first[MOST_RANKS + 1];
    cut_rows(c->v->n, team_ranks(ctx), first);
    const int me = team_rank(ctx);
    const size_t size = spry_type_size(c->v->type);
    const char *own = (const char *)c->v->data + (size_t)first[me] * size;
    CHECK_STATUS(ctx, c->status, ranks_write_vector(ctx, c->path, NULL, c->v->type, first, own));
    if (c->status != SPRY_STATUS_OK)
        return NULL;
    spry_type type;
    void *values = NULL;
    char options[16];
    snprintf(options, sizeof options, "type=%s", spry_type_name(c->v->type));
    CHECK_OK(ctx, ranks_read_vector(ctx, c->path, options, first, &type, &values));
    const bool same =
        type == c->v->type && memcmp(values, own, (size_t)(first[me + 1] - first[me]) * size) == 0;
    base_free(ctx, values);
    CHECK(same);
    first[team_ranks(ctx)]++; /* one more than the file has */
    CHECK_STATUS(ctx, SPRY_STATUS_BAD_INPUT,
                 ranks_read_vector(ctx, c->path, NULL, first, &type, &values));
    return NULL;
}

static void vectors(void **state)
{
    const int64_t lengths[] = {0, 1, 3, 50, 20000};
    for (int t = 0; t < 4; t++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            spry_vector *v = NULL;
            assert_ok(*state, spry_vector_new(*state, support_types[t], lengths[l], NULL,
                                              SPRY_OWN_TAKE, &v));
            for (int64_t i = 0; i < v->n; i++)
                value_set(v->type, v->data, i,
                          (spry_scalar){base_uniform(5, (uint64_t)i),
                                        t < 2 ? 0 : -base_uniform(6, (uint64_t)i)});
            static const char *const names[] = {"x.mtx", "x.mtx.gz", "x.npy"};
            for (int k = 0; k < 3; k++) {
                vector_case c = {.v = v};
                size_t size = 0;
                assert_ok(*state, spry_vector_write(v, files_path(names[k])));
                c.written = files_load(files_path(names[k]), &c.size);
                for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
                    c.path = files_path(names[k]);
                    ranked_run(ranks, write_work, &c);
                    char *found = files_load(c.path, &size);
                    assert_int_equal(size, c.size);
                    assert_memory_equal(found, c.written, size);
                    free(found);
                }
                free(c.written);
            }
            spry_vector_free(v);
        }
}

/* A place that cannot be written leaves nothing, on all ranks. */
static void no_place(void **state)
{
    spry_vector *v = NULL;
    assert_ok(*state, spry_vector_new(*state, SPRY_TYPE_D, 9, NULL, SPRY_OWN_TAKE, &v));
    vector_case c = {.v = v, .path = "/nowhere/x.mtx", .status = SPRY_STATUS_IO};
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        ranked_run(ranks, write_work, &c);
    spry_vector_free(v);
}

static spry_status torture_call(spry_context *ctx, void *data)
{
    const vector_case *c = data;
    int64_t first[MOST_RANKS + 1];
    ranks_rows rows = {0};
    spry_type type;
    void *values = NULL;
    cut_rows(c->v->n, team_ranks(ctx), first);
    spry_status status = ranks_read(ctx, c->path, NULL, &rows);
    ranks_rows_clear(ctx, &rows);
    if (status == SPRY_STATUS_OK)
        status = ranks_write_vector(ctx, (const char *)c->written, NULL, SPRY_TYPE_D, first,
                                    (const double *)c->v->data + first[team_rank(ctx)]);
    if (status == SPRY_STATUS_OK)
        status = ranks_read_vector(ctx, (const char *)c->written, "type=s", first, &type, &values);
    base_free(ctx, values);
    return status;
}

static void torture(void **state)
{
    spry_vector *v = NULL;
    char target[256];
    const char *text = HEAD("real symmetric") "4 4 5\n1 1 1\n2 1 2\n4 2 3\n4 4 4\n4 1 7\n";
    assert_ok(*state, spry_vector_new(*state, SPRY_TYPE_D, 9, NULL, SPRY_OWN_TAKE, &v));
    snprintf(target, sizeof target, "%s", files_path("y.mtx"));
    vector_case c = {.v = v, .path = write_text("t.mtx", text, strlen(text)), .written = target};
    ranked_torture(2, torture_call, &c);
    spry_vector_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(odd_lines, support_setup, support_teardown),
        cmocka_unit_test(lines_are_cut),
        cmocka_unit_test_setup_teardown(other_formats, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(broken_native, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(vectors, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(no_place, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
