/*
 * Every public function is called with NULL in each place where it takes a pointer: it must say
 * SPRY_STATUS_BAD_USAGE, or be harmless where NULL has a meaning. A function that tools/symbols.txt
 * lists and this table does not is a failure: a new function needs one row.
 */
#include "support/support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETS "/tmp/spry-arguments.h5"

/* What the calls are made with, and where their results go. */
typedef struct things {
    spry_context *ctx;
    spry_matrix *A;
    spry_operator *op;
    spry_solver *solver;
    spry_vector *x, *y, *z, *values; /* values: those of A */
    spry_device *device; /* NULL: none here, rows that need one are called with NULL alone */
    spry_arrays arrays;
    const spry_vector *b_list[1];
    spry_vector *x_list[1];
    spry_dense dense, other;
    int32_t perm[4], pivots[2][4];
    char fields[4096], word[64];
    const char *path, *set_name;
    int64_t sides[3]; /* of data sets */
    /* results */
    spry_context *made_context;
    spry_matrix *made_matrix, *made_triangle;
    spry_vector *made_vector, *made_second;
    spry_operator *made_operator;
    spry_solver *made_solver;
    spry_grid *grid, *made_grid;
    spry_halo *halo, *made_halo;
    int64_t widths[6];
    spry_operator *stencil;
    spry_vector *field, *wide, *k2;
    spry_stepper *stepper, *made_stepper;
    spry_bounded *bounded, *made_bounded;
    spry_bounded_stats bounds;
    spry_step_stats steps;
    spry_parareal_stats parareal;
    spry_grid_info grid_info;
    spry_wave *wave, *made_wave;
    spry_wave_info wave_info;
    spry_vector *wave_f, *wave_u;
    const spry_vector *wave_sources[1];
    spry_helmholtz_info waves;
    spry_powers *powers, *made_powers;
    spry_powers_info powers_info;
    double place[3], points[6];
    spry_kernel *kernel, *made_kernel;
    const char *name;
    spry_device *made_device;
    struct DLManagedTensor *tensor;
    struct DLManagedTensorVersioned *tensor_versioned;
    void *memory;
    size_t bytes;
    char *text;
    int32_t *order;
    int64_t count, most;
    double number;
    bool yes;
    spry_truth truth;
    spry_scalar scalar;
    spry_result result;
    spry_stats stats;
    spry_storage storage;
    spry_cost cost;
    spry_entry entry;
    spry_device_info info;
    spry_bandwidth bandwidth;
    spry_tune_report report;
    spry_diagnosis diagnosis;
    spry_plan plan;
    spry_array_interface array;
    spry_ranked ranked;
    spry_split_stats split;
    spry_rank_report rank;
} things;

static spry_status apply(void *data, spry_transpose op, const void *x, void *y)
{
    (void)data, (void)op, (void)x, (void)y;
    return SPRY_STATUS_OK;
}

static spry_status product(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                           void *stream)
{
    (void)data, (void)op, (void)x, (void)y, (void)stream;
    return SPRY_STATUS_OK;
}

static const char kernel_text[] =
    "SP_KERNEL set(const int n, SP_GLOBAL scalar *x)\n{\n    if (SP_GLOBAL_ID < n)\n"
    "        x[SP_GLOBAL_ID] = SP_ZERO;\n}\n";

#define P(place, pointer) (null == (place) ? NULL : (pointer))
static const spry_scalar one = {1, 0};
static const int64_t csr_offsets[] = {0, 1, 2};
static const int32_t csr_columns[] = {0, 1};
static const double csr_values[] = {1, 2};
static const double zero = 0;
static spry_status rate(void *data, double t, const spry_vector *u, spry_vector *change)
{
    (void)data;
    (void)t;
    return spry_vector_copy(u, change);
}
static spry_status residual(void *data, const spry_vector *u, spry_vector *f)
{
    (void)data;
    return spry_vector_copy(u, f);
}

/*
 * The rows. CALL(function, places, free places, call): `places` pointers, of which those in the
 * text of digits `free` may be NULL; the others must be BAD_USAGE. With no NULL (null is -1) it
 * must not be BAD_USAGE. ONLY: the same where no call without a NULL can be made here. LOOK:
 * functions without a status, which have to come back.
 */
/* clang-format off */
#define ROWS(CALL, ONLY, LOOK)                                                                       \
CALL(spry_matrix_multiply, 3, "", spry_matrix_multiply(P(0, t->A), P(1, t->A), P(2, &t->made_matrix))) \
CALL(spry_matrix_add, 3, "", spry_matrix_add(one, P(0, t->A), one, P(1, t->A), P(2, &t->made_matrix))) \
CALL(spry_matrix_factors, 5, "", spry_matrix_factors(P(0, t->A), P(1, &t->made_matrix), P(2, &t->made_triangle), P(3, t->pivots[0]), P(4, t->pivots[1]))) \
CALL(spry_precon_factors, 5, "", spry_precon_factors(P(0, t->op), P(1, &t->made_matrix), P(2, &t->made_triangle), P(3, t->pivots[0]), P(4, t->pivots[1]))) \
CALL(spry_matrix_gram, 2, "", spry_matrix_gram(P(0, t->A), false, P(1, &t->made_matrix)))            \
CALL(spry_matrix_triple, 4, "0", spry_matrix_triple(P(0, t->A), P(1, t->A), P(2, t->A), P(3, &t->made_matrix))) \
CALL(spry_context_new, 2, "0", spry_context_new(P(0, ""), P(1, &t->made_context)))                   \
CALL(spry_context_new_with, 3, "01", spry_context_new_with(P(0, &(spry_allocator){0}), P(1, ""), P(2, &t->made_context))) \
ONLY(spry_context_new_ranked, 2, "", spry_context_new_ranked(P(0, (spry_team *)t->word), NULL, P(1, &t->made_context))) \
CALL(spry_matrix_new_ranked, 5, "", spry_matrix_new_ranked(P(0, t->ctx), SPRY_TYPE_D, 2, -1, P(1, csr_offsets), P(2, csr_offsets), P(3, csr_values), P(4, &t->made_matrix))) \
CALL(spry_matrix_ranked, 2, "", spry_matrix_ranked(P(0, t->A), P(1, &t->ranked)))                    \
CALL(spry_context_agree, 1, "", spry_context_agree(P(0, t->ctx), SPRY_STATUS_OK))                    \
CALL(spry_context_set_shares, 3, "2", spry_context_set_shares(P(0, t->ctx), P(1, "equal"), P(2, "auto"))) \
CALL(spry_context_correct_shares, 3, "1", spry_context_correct_shares(P(0, t->A), P(1, "auto"), P(2, &t->yes))) \
CALL(spry_matrix_distribute, 2, "", spry_matrix_distribute(P(0, t->A), P(1, &t->made_matrix)))               \
CALL(spry_matrix_new_distributed, 6, "1", spry_matrix_new_distributed(P(0, t->ctx), SPRY_TYPE_D, 2, 2, 2, P(1, csr_offsets), P(2, csr_offsets), P(3, csr_offsets), P(4, csr_values), P(5, &t->made_matrix))) \
CALL(spry_vector_new_distributed, 3, "", spry_vector_new_distributed(P(0, t->A), P(1, t->fields), P(2, &t->made_vector))) \
CALL(spry_vector_get_distributed, 3, "", spry_vector_get_distributed(P(0, t->A), P(1, t->x), P(2, t->fields)))   \
CALL(spry_matrix_read_ranked, 4, "2", spry_matrix_read_ranked(P(0, t->ctx), P(1, t->path), P(2, ""), P(3, &t->made_matrix))) \
CALL(spry_vector_read_ranked, 4, "2", spry_vector_read_ranked(P(0, t->A), P(1, t->path), P(2, ""), P(3, &t->made_vector))) \
CALL(spry_vector_write_ranked, 3, "", spry_vector_write_ranked(P(0, t->A), P(1, t->x), P(2, "/dev/null"))) \
CALL(spry_checkpoint_write, 4, "", spry_checkpoint_write(P(0, t->A), P(1, t->x), P(2, t->x), 3, P(3, t->path))) \
CALL(spry_checkpoint_read, 5, "", spry_checkpoint_read(P(0, t->A), P(1, t->x), P(2, t->path), P(3, &t->made_vector), P(4, &t->count))) \
CALL(spry_vector_collect, 2, "", spry_vector_collect(P(0, t->x), P(1, &t->made_vector)))             \
ONLY(spry_solver_rank, 2, "", spry_solver_rank(P(0, t->solver), 0, P(1, &t->rank)))                  \
LOOK(spry_context_rank, 1, spry_context_rank(P(0, t->ctx)))                                          \
LOOK(spry_context_ranks, 1, spry_context_ranks(P(0, t->ctx)))                                        \
LOOK(spry_context_free, 1, spry_context_free(P(0, NULL)))                                            \
LOOK(spry_message, 1, spry_message(P(0, t->ctx)))                                                    \
LOOK(spry_context_set_log, 1, spry_context_set_log(P(0, t->ctx), NULL, NULL))                        \
LOOK(spry_context_threads, 1, spry_context_threads(P(0, t->ctx)))                                    \
LOOK(spry_context_isa, 1, spry_context_isa(P(0, t->ctx)))                                            \
LOOK(spry_context_interrupt, 1, spry_context_interrupt(P(0, NULL)))                                  \
LOOK(spry_context_interrupted, 1, spry_context_interrupted(P(0, t->ctx), true))                      \
LOOK(spry_alloc, 1, t->memory = spry_alloc(P(0, t->ctx), 8))                                         \
LOOK(spry_free, 2, spry_free(P(0, t->ctx), P(1, NULL)))                                              \
LOOK(spry_context_memory, 3, spry_context_memory(P(0, t->ctx), P(1, &t->count), P(2, &t->most)))     \
LOOK(spry_context_memory_limit, 1, spry_context_memory_limit(P(0, t->ctx)))                          \
CALL(spry_device_open, 3, "", spry_device_open(P(0, t->ctx), P(1, "opencl"), P(2, &t->made_device))) \
LOOK(spry_device_name, 1, spry_device_name(P(0, t->device)))                                         \
LOOK(spry_device_describe, 2, spry_device_describe(P(0, t->ctx), 0, P(1, &t->info)))                 \
CALL(spry_device_bandwidth, 3, "1", spry_device_bandwidth(P(0, t->ctx), P(1, "cpu"), false, P(2, &t->bandwidth))) \
ONLY(spry_device_mark, 1, "", spry_device_mark(P(0, t->device)))                                     \
ONLY(spry_device_prepare, 1, "", spry_device_prepare(P(0, t->device), "", "", NULL, NULL, NULL))     \
ONLY(spry_device_elapsed, 2, "", spry_device_elapsed(P(0, t->device), P(1, &t->number)))             \
LOOK(spry_device_close_all, 1, spry_device_close_all(P(0, NULL)))                                    \
CALL(spry_generate, 4, "2", spry_generate(P(0, t->ctx), P(1, "tridiagonal"), P(2, "size=4"), P(3, &t->made_matrix))) \
CALL(spry_generate_tiled, 2, "", spry_generate_tiled(P(0, t->A), 8, P(1, &t->made_matrix)))          \
ONLY(spry_device_use_stream, 2, "1", spry_device_use_stream(P(0, t->device), P(1, NULL)))            \
ONLY(spry_device_finish, 1, "", spry_device_finish(P(0, t->device)))                                 \
ONLY(spry_vector_to_dlpack, 2, "", spry_vector_to_dlpack(P(0, t->x), P(1, &t->tensor)))              \
ONLY(spry_vector_to_dlpack_versioned, 2, "", spry_vector_to_dlpack_versioned(P(0, t->x), P(1, &t->tensor_versioned))) \
ONLY(spry_vector_from_dlpack, 3, "", spry_vector_from_dlpack(P(0, t->ctx), P(1, (void *)t->word), P(2, &t->made_vector))) \
ONLY(spry_vector_from_dlpack_versioned, 3, "", spry_vector_from_dlpack_versioned(P(0, t->ctx), P(1, (void *)t->word), P(2, &t->made_vector))) \
ONLY(spry_vector_array_interface, 2, "", spry_vector_array_interface(P(0, t->x), P(1, &t->array)))   \
ONLY(spry_vector_from_array_interface, 3, "", spry_vector_from_array_interface(P(0, t->device), P(1, &t->array), P(2, &t->made_vector))) \
CALL(spry_matrix_read, 4, "2", spry_matrix_read(P(0, t->ctx), P(1, t->path), P(2, ""), P(3, &t->made_matrix))) \
CALL(spry_vector_read, 4, "2", spry_vector_read(P(0, t->ctx), P(1, t->path), P(2, ""), P(3, &t->made_vector))) \
CALL(spry_columns_read, 5, "2", spry_columns_read(P(0, t->ctx), P(1, t->path), P(2, ""), P(3, &t->made_vector), P(4, &t->count))) \
CALL(spry_matrix_write, 2, "", spry_matrix_write(P(0, t->A), P(1, "/dev/null")))                     \
CALL(spry_vector_write, 2, "", spry_vector_write(P(0, t->x), P(1, "/dev/null")))                     \
CALL(spry_columns_write, 2, "", spry_columns_write(P(0, t->x), 1, P(1, "/dev/null")))                \
CALL(spry_text_write, 3, "", spry_text_write(P(0, t->ctx), P(1, "text"), 4, P(2, "/dev/null")))      \
CALL(spry_png_pack, 4, "", spry_png_pack(P(0, t->ctx), 1, 1, P(1, "rgb"), P(2, &t->memory), P(3, &t->bytes))) \
CALL(spry_datasets_write, 5, "", spry_datasets_write(P(0, t->ctx), P(1, SETS), 1, P(2, &t->set_name), P(3, t->sides), P(4, t->b_list))) \
CALL(spry_dataset_read, 5, "", spry_dataset_read(P(0, t->ctx), P(1, SETS), P(2, "x"), P(3, t->sides), P(4, &t->made_vector))) \
CALL(spry_file_check_name, 2, "", spry_file_check_name(P(0, t->ctx), P(1, "a.mtx"), false))          \
CALL(spry_file_check_place, 2, "", spry_file_check_place(P(0, t->ctx), P(1, "/dev/null")))           \
CALL(spry_diagnose, 5, "123", spry_diagnose(P(0, t->A), P(1, t->x), P(2, "seconds=0"), P(3, &t->result), P(4, &t->diagnosis))) \
LOOK(spry_diagnosis_clear, 2, spry_diagnosis_clear(P(0, t->ctx), P(1, &t->diagnosis)))               \
LOOK(spry_finding_at, 1, spry_finding_at(P(0, &t->diagnosis), 0))                                    \
LOOK(spry_severity_name, 0, spry_severity_name(SPRY_SEVERITY_NOTE))                                  \
LOOK(spry_list_at, 1, spry_list_at(SPRY_LIST_METHODS, 0, P(0, &t->entry)))                           \
LOOK(spry_list_find, 2, spry_list_find(SPRY_LIST_METHODS, P(0, "cg"), P(1, &t->entry)))              \
LOOK(spry_list_name, 0, spry_list_name(SPRY_LIST_METHODS))                                           \
LOOK(spry_list_summary, 0, spry_list_summary(SPRY_LIST_METHODS))                                     \
LOOK(spry_format_name, 0, spry_format_name(SPRY_FORMAT_CSR))                                         \
LOOK(spry_symmetry_name, 0, spry_symmetry_name(SPRY_SYMMETRY_SKEW))                                  \
CALL(spry_matrix_new, 3, "", spry_matrix_new(P(0, t->ctx), P(1, &t->arrays), SPRY_OWN_COPY, P(2, &t->made_matrix))) \
CALL(spry_matrix_from_csr, 5, "", spry_matrix_from_csr(P(0, t->ctx), SPRY_TYPE_D, 2, 2, P(1, csr_offsets), P(2, csr_columns), P(3, csr_values), SPRY_OWN_COPY, P(4, &t->made_matrix))) \
CALL(spry_matrix_set_near_null, 2, "", spry_matrix_set_near_null(P(0, t->A), 1, P(1, t->b_list)))    \
LOOK(spry_matrix_free, 1, spry_matrix_free(P(0, NULL)))                                              \
CALL(spry_matrix_arrays, 2, "", spry_matrix_arrays(P(0, t->A), P(1, &t->arrays)))                                          \
LOOK(spry_matrix_type, 1, spry_matrix_type(P(0, t->A)))                                              \
LOOK(spry_matrix_format, 1, spry_matrix_format(P(0, t->A)))                                          \
LOOK(spry_matrix_symmetry, 1, spry_matrix_symmetry(P(0, t->A)))                                      \
LOOK(spry_matrix_rows, 1, spry_matrix_rows(P(0, t->A)))                                              \
LOOK(spry_matrix_cols, 1, spry_matrix_cols(P(0, t->A)))                                              \
LOOK(spry_matrix_nnz, 1, spry_matrix_nnz(P(0, t->A)))                                                \
CALL(spry_matrix_convert, 2, "", spry_matrix_convert(P(0, t->A), SPRY_FORMAT_COO, P(1, &t->made_matrix))) \
CALL(spry_matrix_cast, 2, "", spry_matrix_cast(P(0, t->A), SPRY_TYPE_Z, P(1, &t->made_matrix)))      \
CALL(spry_matrix_transpose, 2, "", spry_matrix_transpose(P(0, t->A), false, P(1, &t->made_matrix)))  \
CALL(spry_matrix_expand, 2, "", spry_matrix_expand(P(0, t->A), P(1, &t->made_matrix)))               \
CALL(spry_matrix_sort, 1, "", spry_matrix_sort(P(0, t->A)))                                          \
CALL(spry_matrix_sum_duplicates, 1, "", spry_matrix_sum_duplicates(P(0, t->A)))                      \
CALL(spry_matrix_permute, 4, "12", spry_matrix_permute(P(0, t->A), P(1, t->perm), P(2, t->perm), P(3, &t->made_matrix))) \
CALL(spry_matrix_diagonal, 2, "", spry_matrix_diagonal(P(0, t->A), P(1, &t->made_vector)))           \
CALL(spry_matrix_stats, 2, "", spry_matrix_stats(P(0, t->A), P(1, &t->stats)))                       \
CALL(spry_operator_from_matrix, 4, "12", spry_operator_from_matrix(P(0, t->A), P(1, t->device), P(2, "csr"), P(3, &t->made_operator))) \
ONLY(spry_operator_from_arrays, 4, "", spry_operator_from_arrays(P(0, &t->arrays), P(1, t->device), P(2, "csr"), P(3, &t->made_operator))) \
CALL(spry_operator_from_function, 4, "2", spry_operator_from_function(P(0, t->ctx), SPRY_TYPE_D, 4, 4, false, P(1, apply), P(2, t), P(3, &t->made_operator))) \
CALL(spry_operator_update, 2, "", spry_operator_update(P(0, t->op), P(1, t->A)))                     \
LOOK(spry_operator_free, 1, spry_operator_free(P(0, NULL)))                                          \
CALL(spry_operator_apply, 3, "", spry_operator_apply(P(0, t->op), P(1, t->x), P(2, t->y)))           \
CALL(spry_operator_multiply, 3, "", spry_operator_multiply(P(0, t->op), SPRY_TRANSPOSE_NO, one, P(1, t->x), one, P(2, t->y))) \
CALL(spry_operator_multiply_dense, 3, "", spry_operator_multiply_dense(P(0, t->op), SPRY_TRANSPOSE_NO, one, P(1, &t->dense), one, P(2, &t->other))) \
CALL(spry_operator_storage, 2, "", spry_operator_storage(P(0, t->op), P(1, &t->storage)))            \
CALL(spry_operator_to_matrix, 2, "", spry_operator_to_matrix(P(0, t->op), P(1, &t->made_matrix)))    \
CALL(spry_operator_diagonal, 2, "", spry_operator_diagonal(P(0, t->op), P(1, &t->made_vector)))      \
LOOK(spry_operator_rows, 1, spry_operator_rows(P(0, t->op)))                                         \
LOOK(spry_operator_cols, 1, spry_operator_cols(P(0, t->op)))                                         \
LOOK(spry_operator_type, 1, spry_operator_type(P(0, t->op)))                                         \
LOOK(spry_operator_name, 1, spry_operator_name(P(0, t->op)))                                         \
LOOK(spry_operator_bytes, 1, spry_operator_bytes(P(0, t->op)))                                       \
LOOK(spry_operator_device, 1, spry_operator_device(P(0, t->op)))                                     \
LOOK(spry_operator_has_transpose, 1, spry_operator_has_transpose(P(0, t->op)))                       \
LOOK(spry_matrix_fact, 1, spry_matrix_fact(P(0, t->A), SPRY_FACT_SORTED)) \
CALL(spry_matrix_find_fact, 2, "", spry_matrix_find_fact(P(0, t->A), SPRY_FACT_SORTED, P(1, &t->truth))) \
CALL(spry_matrix_set_fact, 1, "", spry_matrix_set_fact(P(0, t->A), SPRY_FACT_SORTED, SPRY_TRUTH_YES)) \
CALL(spry_solver_set_real, 2, "", spry_solver_set_real(P(0, t->solver), P(1, "tol"), 0.1)) \
CALL(spry_solver_set_text, 3, "", spry_solver_set_text(P(0, t->solver), P(1, "precon"), P(2, "none"))) \
CALL(spry_solver_get_real, 3, "", spry_solver_get_real(P(0, t->solver), P(1, "tol"), P(2, &t->number))) \
CALL(spry_solver_get_text, 3, "", spry_solver_get_text(P(0, t->solver), P(1, "tol"), P(2, t->word), sizeof t->word)) \
CALL(spry_solver_errors, 5, "", spry_solver_errors(P(0, t->solver), P(1, t->x), P(2, t->y), P(3, &t->number), P(4, &t->number))) \
CALL(spry_solver_error_estimate, 4, "", spry_solver_error_estimate(P(0, t->solver), P(1, t->x), P(2, t->y), P(3, &t->number))) \
CALL(spry_solver_judge, 6, "", spry_solver_judge(P(0, t->solver), P(1, t->x), P(2, t->y), P(3, &t->number), P(4, &t->number), P(5, &t->number))) \
CALL(spry_solver_set_null_space, 3, "2", spry_solver_set_null_space(P(0, t->solver), 1, P(1, t->b_list), P(2, t->b_list))) \
LOOK(spry_number_print, 1, spry_number_print(0.1, P(0, t->word))) \
LOOK(spry_context_set_message, 2, spry_context_set_message(P(0, t->ctx), P(1, "text"))) \
LOOK(spry_kernel_free, 1, spry_kernel_free(P(0, NULL))) \
ONLY(spry_kernel_new, 5, "3", spry_kernel_new(P(0, t->device), P(1, kernel_text), P(2, "set"), P(3, ""), P(4, &t->made_kernel))) \
ONLY(spry_kernel_set_int, 2, "", spry_kernel_set_int(P(0, t->kernel), P(1, "n"), 1)) \
ONLY(spry_kernel_set_real, 2, "", spry_kernel_set_real(P(0, t->kernel), P(1, "n"), 1)) \
ONLY(spry_kernel_set_scalar, 2, "", spry_kernel_set_scalar(P(0, t->kernel), P(1, "n"), one)) \
ONLY(spry_kernel_set_input, 3, "", spry_kernel_set_input(P(0, t->kernel), P(1, "x"), P(2, t->x))) \
ONLY(spry_kernel_set_vector, 3, "", spry_kernel_set_vector(P(0, t->kernel), P(1, "x"), P(2, t->x))) \
ONLY(spry_kernel_set_memory, 3, "2", spry_kernel_set_memory(P(0, t->kernel), P(1, "x"), P(2, t->fields))) \
ONLY(spry_kernel_launch, 2, "", spry_kernel_launch(P(0, t->kernel), 1, P(1, csr_offsets))) \
CALL(spry_matrix_share, 3, "", spry_matrix_share(P(0, t->ctx), P(1, t->A), P(2, &t->made_matrix)))  \
CALL(spry_matrix_set_values, 2, "", spry_matrix_set_values(P(0, t->A), P(1, spry_vector_data(t->values)), SPRY_OWN_COPY)) \
CALL(spry_matrix_set_values_from, 2, "", spry_matrix_set_values_from(P(0, t->A), P(1, t->values)))        \
LOOK(spry_operator_is_current, 1, spry_operator_is_current(P(0, t->op)))                             \
CALL(spry_matrix_from_csr32, 5, "", spry_matrix_from_csr32(P(0, t->ctx), SPRY_TYPE_D, 1, 2, P(1, csr_columns), P(2, csr_columns), P(3, csr_values), SPRY_OWN_COPY, P(4, &t->made_matrix))) \
CALL(spry_operator_from_product, 5, "13", spry_operator_from_product(P(0, t->ctx), P(1, t->device), SPRY_TYPE_D, 4, 4, false, P(2, product), P(3, t), P(4, &t->made_operator))) \
ONLY(spry_operator_set_ranked, 2, "", spry_operator_set_ranked(P(0, t->op), P(1, t->x))) \
ONLY(spry_operator_set_bytes, 1, "", spry_operator_set_bytes(P(0, t->op), 8)) \
CALL(spry_context_set_options, 2, "1", spry_context_set_options(P(0, t->ctx), spry_options_of("read"), P(1, NULL))) \
LOOK(spry_options_size, 0, spry_options_size(spry_options_of("read"))) \
LOOK(spry_options_at, 0, spry_options_at((spry_option_list){0}, 0))                                  \
CALL(spry_options_default, 2, "0", spry_options_default(P(0, t->ctx), spry_options_of("solver"), P(1, t->fields))) \
CALL(spry_options_set, 4, "0", spry_options_set(P(0, t->ctx), spry_options_of("solver"), P(1, t->fields), P(2, "tol"), P(3, "0.1"))) \
CALL(spry_options_parse, 3, "02", spry_options_parse(P(0, t->ctx), spry_options_of("solver"), P(1, t->fields), P(2, "tol=0.1"))) \
LOOK(spry_options_find, 1, spry_options_find(spry_options_of("solver"), P(0, "tol")))                    \
LOOK(spry_fingerprint, 1, spry_fingerprint(P(0, csr_values), sizeof csr_values, 1))                  \
LOOK(spry_nearest, 3, spry_nearest(P(0, "a"), P(1, "a b"), P(2, t->word), sizeof t->word))           \
LOOK(spry_options_of, 1, spry_options_of(P(0, "solver"))) \
CALL(spry_precon_new, 4, "1", spry_precon_new(P(0, t->A), P(1, t->device), P(2, "jacobi"), P(3, &t->made_operator))) \
CALL(spry_precon_for_operator, 4, "1", spry_precon_for_operator(P(0, t->op), P(1, t->A), P(2, "jacobi"), P(3, &t->made_operator))) \
CALL(spry_reorder, 3, "", spry_reorder(P(0, t->A), P(1, "rcm"), P(2, &t->order)))                    \
CALL(spry_matrix_match, 3, "2", spry_matrix_match(P(0, t->A), P(1, &t->order), P(2, &t->count))) \
CALL(spry_vector_permute, 3, "", spry_vector_permute(P(0, t->x), P(1, t->perm), false, P(2, t->y)))         \
LOOK(spry_reason_name, 0, spry_reason_name(SPRY_REASON_STOPPED))                                     \
LOOK(spry_reason_text, 0, spry_reason_text(SPRY_REASON_STOPPED))                                     \
LOOK(spry_result_clear, 2, spry_result_clear(P(0, t->ctx), P(1, &t->result)))                        \
CALL(spry_matrix_scale, 3, "12", spry_matrix_scale(P(0, t->A), P(1, t->z), P(2, t->z)))              \
CALL(spry_scaling, 4, "", spry_scaling(P(0, t->A), P(1, "row"), P(2, &t->made_vector), P(3, &t->made_second))) \
CALL(spry_solver_new, 2, "", spry_solver_new(P(0, t->ctx), P(1, &t->made_solver)))                   \
LOOK(spry_solver_free, 1, spry_solver_free(P(0, NULL)))                                              \
CALL(spry_solver_set, 2, "1", spry_solver_set(P(0, t->solver), P(1, "tol=1e-6")))                    \
CALL(spry_solver_set_matrix, 2, "1", spry_solver_set_matrix(P(0, t->solver), P(1, t->A)))            \
CALL(spry_solver_update, 1, "", spry_solver_update(P(0, t->solver)))                                 \
CALL(spry_solver_set_operator, 2, "1", spry_solver_set_operator(P(0, t->solver), P(1, t->op)))       \
CALL(spry_solver_set_precon, 2, "1", spry_solver_set_precon(P(0, t->solver), P(1, NULL)))            \
CALL(spry_solver_set_method_text, 2, "1", spry_solver_set_method_text(P(0, t->solver), P(1, NULL)))  \
LOOK(spry_solver_set_monitor, 1, spry_solver_set_monitor(P(0, t->solver), NULL, NULL))               \
ONLY(spry_solver_accept, 1, "", spry_solver_accept(P(0, t->solver)))                                   \
ONLY(spry_solver_get_space, 3, "", spry_solver_get_space(P(0, t->solver), P(1, "U"), 1, P(2, t->x_list))) \
ONLY(spry_solver_set_space, 3, "", spry_solver_set_space(P(0, t->solver), P(1, "U"), 1, P(2, t->b_list))) \
LOOK(spry_solver_system, 1, spry_solver_system(P(0, t->solver)))                                     \
LOOK(spry_solver_method, 1, spry_solver_method(P(0, t->solver)))                                     \
LOOK(spry_solver_precon, 1, spry_solver_precon(P(0, t->solver)))                                     \
CALL(spry_solver_plan, 2, "", spry_solver_plan(P(0, t->solver), 1, P(1, &t->plan)))                  \
LOOK(spry_plan_clear, 2, spry_plan_clear(P(0, t->ctx), P(1, &t->plan)))                              \
LOOK(spry_solver_set_watch, 1, spry_solver_set_watch(P(0, t->solver), NULL, NULL))                   \
CALL(spry_solve, 4, "3", spry_solve(P(0, t->solver), P(1, t->x), P(2, t->y), P(3, &t->result)))      \
CALL(spry_solve_many, 4, "3", spry_solve_many(P(0, t->solver), 1, P(1, t->b_list), P(2, t->x_list), P(3, &t->result))) \
CALL(spry_vector_set_release, 3, "12", spry_vector_set_release(P(0, t->x), NULL, NULL)) \
CALL(spry_matrix_set_release, 3, "12", spry_matrix_set_release(P(0, t->A), NULL, NULL)) \
CALL(spry_operator_set_release, 3, "12", spry_operator_set_release(P(0, t->op), NULL, NULL)) \
CALL(spry_solve_dense, 4, "3", spry_solve_dense(P(0, t->solver), P(1, &t->dense), P(2, &t->other), P(3, &t->result))) \
CALL(spry_operator_compose, 3, "", spry_operator_compose(P(0, t->op), P(1, t->op), P(2, &t->made_operator))) \
CALL(spry_grid_new, 3, "", spry_grid_new(P(0, t->ctx), P(1, "5"), P(2, &t->made_grid))) \
LOOK(spry_grid_options, 1, spry_grid_options(P(0, "grid"))) \
LOOK(spry_grid_free, 1, spry_grid_free(P(0, NULL))) \
CALL(spry_grid_describe, 2, "", spry_grid_describe(P(0, t->grid), P(1, &t->grid_info))) \
CALL(spry_grid_place, 2, "", spry_grid_place(P(0, t->grid), true, 0, P(1, t->place))) \
CALL(spry_operator_helmholtz, 5, "234", spry_operator_helmholtz(P(0, t->grid), P(1, t->k2), P(2, "scheme=second"), P(3, &t->made_operator), P(4, &t->waves))) \
CALL(spry_field_wave, 3, "", spry_field_wave(P(0, t->grid), SPRY_TYPE_Z, false, P(1, "k=3"), P(2, &t->made_vector))) \
CALL(spry_grid_set_points, 2, "", spry_grid_set_points(P(0, t->grid), 0, 6, P(1, t->points))) \
CALL(spry_halo_new, 3, "", spry_halo_new(P(0, t->grid), SPRY_TYPE_D, P(1, t->widths), P(2, &t->made_halo))) \
LOOK(spry_halo_free, 1, spry_halo_free(P(0, NULL))) \
CALL(spry_halo_box, 3, "", spry_halo_box(P(0, t->halo), P(1, t->widths), P(2, t->widths + 3))) \
CALL(spry_halo_exchange, 3, "", spry_halo_exchange(P(0, t->halo), P(1, t->field), P(2, t->wide))) \
CALL(spry_field_new, 4, "12", spry_field_new(P(0, t->grid), SPRY_TYPE_D, false, P(1, NULL), P(2, NULL), P(3, &t->made_vector))) \
CALL(spry_field_absorb, 3, "1", spry_field_absorb(P(0, t->grid), SPRY_TYPE_D, P(1, "axis=x"), P(2, &t->made_vector))) \
CALL(spry_field_write, 4, "3", spry_field_write(P(0, t->grid), P(1, t->field), P(2, "/tmp/spry-arguments.npy"), P(3, "at=0.5"))) \
CALL(spry_operator_stencil, 6, "234", spry_operator_stencil(P(0, t->grid), P(1, "dx"), P(2, "order=2"), 0, P(3, NULL), P(4, NULL), P(5, &t->made_operator))) \
CALL(spry_stencil_rhs, 5, "123", spry_stencil_rhs(P(0, t->stencil), P(1, NULL), P(2, NULL), P(3, NULL), P(4, t->field))) \
CALL(spry_bounded_new, 3, "1", spry_bounded_new(P(0, t->stencil), P(1, "tol=1e-4"), P(2, &t->made_bounded))) \
LOOK(spry_bounded_free, 1, spry_bounded_free(P(0, NULL))) \
CALL(spry_bounded_solve, 6, "45", spry_bounded_solve(P(0, t->bounded), P(1, t->x), P(2, t->z), P(3, t->y), P(4, &t->result), P(5, &t->bounds))) \
CALL(spry_bounded_set_upper, 2, "1", spry_bounded_set_upper(P(0, t->bounded), P(1, t->z))) \
CALL(spry_operator_fourier, 3, "1", spry_operator_fourier(P(0, t->grid), P(1, "type=c"), P(2, &t->made_operator))) \
CALL(spry_operator_add_diagonal, 3, "", spry_operator_add_diagonal(P(0, t->stencil), P(1, t->field), P(2, &t->made_operator))) \
CALL(spry_operator_blocks, 3, "", spry_operator_blocks(P(0, t->ctx), 1, P(1, (const spry_operator *const *)&t->op), P(2, &t->made_operator))) \
CALL(spry_wave_new, 4, "2", spry_wave_new(P(0, t->grid), P(1, t->k2), P(2, "layer=4"), P(3, &t->made_wave))) \
LOOK(spry_wave_free, 1, spry_wave_free(P(0, NULL))) \
CALL(spry_wave_set_medium, 2, "", spry_wave_set_medium(P(0, t->wave), P(1, t->k2))) \
CALL(spry_wave_describe, 2, "", spry_wave_describe(P(0, t->wave), P(1, &t->wave_info))) \
CALL(spry_wave_solve, 4, "3", spry_wave_solve(P(0, t->wave), P(1, t->wave_f), P(2, t->wave_u), P(3, &t->result))) \
CALL(spry_wave_solve_many, 4, "3", spry_wave_solve_many(P(0, t->wave), SPRY_TRANSPOSE_NO, 1, P(1, t->wave_sources), P(2, &t->wave_u), P(3, &t->result))) \
CALL(spry_powers_new, 3, "1", spry_powers_new(P(0, t->A), P(1, "k=2"), P(2, &t->made_powers))) \
CALL(spry_powers_open, 4, "2", spry_powers_open(P(0, t->ctx), P(1, t->path), P(2, "k=2"), P(3, &t->made_powers))) \
CALL(spry_powers_from_operator, 3, "1", spry_powers_from_operator(P(0, t->op), P(1, "k=2"), P(2, &t->made_powers))) \
LOOK(spry_powers_free, 1, spry_powers_free(P(0, NULL))) \
CALL(spry_powers_set_shifts, 2, "", spry_powers_set_shifts(P(0, t->powers), 1, P(1, &one))) \
CALL(spry_powers_apply, 3, "", spry_powers_apply(P(0, t->powers), P(1, t->x), P(2, t->x_list))) \
CALL(spry_powers_forecast, 2, "", spry_powers_forecast(P(0, t->powers), P(1, &t->powers_info))) \
CALL(spry_powers_operator, 2, "", spry_powers_operator(P(0, t->powers), P(1, &t->made_operator))) \
CALL(spry_stepper_new, 3, "1", spry_stepper_new(P(0, t->ctx), P(1, "dt=1"), P(2, &t->made_stepper))) \
LOOK(spry_stepper_free, 1, spry_stepper_free(P(0, NULL))) \
CALL(spry_stepper_set, 2, "1", spry_stepper_set(P(0, t->stepper), P(1, "dt=0.01"))) \
CALL(spry_stepper_set_real, 2, "", spry_stepper_set_real(P(0, t->stepper), P(1, "dt"), 0.01)) \
CALL(spry_stepper_set_table, 4, "3", spry_stepper_set_table(P(0, t->stepper), 1, P(1, &zero), P(2, csr_values), P(3, &zero))) \
CALL(spry_stepper_set_function, 3, "2", spry_stepper_set_function(P(0, t->stepper), P(1, rate), P(2, t))) \
CALL(spry_stepper_set_operator, 5, "234", spry_stepper_set_operator(P(0, t->stepper), P(1, t->op), P(2, NULL), P(3, NULL), P(4, NULL))) \
CALL(spry_stepper_add_function, 3, "12", spry_stepper_add_function(P(0, t->stepper), P(1, NULL), P(2, NULL))) \
LOOK(spry_stepper_set_watch, 1, spry_stepper_set_watch(P(0, t->stepper), NULL, NULL)) \
CALL(spry_stepper_limit, 3, "", spry_stepper_limit(P(0, t->stepper), P(1, t->y), P(2, &t->number))) \
CALL(spry_stepper_run, 3, "2", spry_stepper_run(P(0, t->stepper), 0, 0.01, P(1, t->y), P(2, &t->steps))) \
CALL(spry_parareal, 6, "345", spry_parareal(1, P(0, &t->stepper), P(1, &t->stepper), 0, 0.01, P(2, t->y), P(3, ""), P(4, &t->result), P(5, &t->parareal))) \
CALL(spry_newton, 6, "1245", spry_newton(P(0, residual), P(1, NULL), P(2, NULL), P(3, t->y), P(4, "max-iter=1"), P(5, &t->result))) \
CALL(spry_quick_solve, 6, "45", spry_quick_solve(P(0, t->ctx), P(1, t->A), P(2, t->x), P(3, t->y), P(4, ""), P(5, &t->result))) \
CALL(spry_solve_split, 6, "345", spry_solve_split(P(0, t->A), P(1, t->x), P(2, t->y), P(3, ""), P(4, &t->result), P(5, &t->split))) \
CALL(spry_solve_split_above, 7, "456", spry_solve_split_above(P(0, t->A), P(1, t->x), P(2, t->z), P(3, t->y), P(4, "inner=gs"), P(5, &t->result), P(6, &t->split))) \
CALL(spry_method_cost, 3, "", spry_method_cost(P(0, t->ctx), P(1, "cg"), P(2, &t->cost)))            \
CALL(spry_solver_explain, 2, "", spry_solver_explain(P(0, t->solver), P(1, &t->text)))               \
LOOK(spry_tune_row_at, 1, spry_tune_row_at(P(0, &t->report), 0))                                     \
CALL(spry_tune, 4, "12", spry_tune(P(0, t->A), P(1, t->device), P(2, ""), P(3, &t->report))) \
LOOK(spry_tune_report_clear, 2, spry_tune_report_clear(P(0, t->ctx), P(1, &t->report)))              \
CALL(spry_tune_forget, 3, "12", spry_tune_forget(P(0, t->ctx), P(1, t->A), P(2, &t->count)))         \
LOOK(spry_version, 0, spry_version())                                                                \
LOOK(spry_version_number, 0, spry_version_number())                                                  \
LOOK(spry_type_name, 0, spry_type_name(SPRY_TYPE_S))                                                 \
LOOK(spry_type_size, 0, spry_type_size(SPRY_TYPE_S))                                                 \
LOOK(spry_type_is_complex, 0, spry_type_is_complex(SPRY_TYPE_S))                                     \
LOOK(spry_status_text, 0, spry_status_text(SPRY_STATUS_IO))                                          \
CALL(spry_vector_new, 3, "1", spry_vector_new(P(0, t->ctx), SPRY_TYPE_D, 2, P(1, (void *)(uintptr_t)csr_values), SPRY_OWN_COPY, P(2, &t->made_vector))) \
CALL(spry_vector_zeros, 3, "", spry_vector_zeros(P(0, t->ctx), P(1, t->A), P(2, &t->made_vector)))   \
CALL(spry_vector_ones, 3, "", spry_vector_ones(P(0, t->ctx), P(1, t->A), P(2, &t->made_vector)))     \
ONLY(spry_vector_on, 3, "1", spry_vector_on(P(0, t->device), SPRY_TYPE_D, 4, P(1, NULL), P(2, &t->made_vector))) \
CALL(spry_vector_like, 2, "", spry_vector_like(P(0, t->x), 4, P(1, &t->made_vector)))                \
LOOK(spry_vector_free, 1, spry_vector_free(P(0, NULL)))                                              \
LOOK(spry_vector_size, 1, spry_vector_size(P(0, t->x)))                                              \
LOOK(spry_vector_type, 1, spry_vector_type(P(0, t->x)))                                              \
LOOK(spry_vector_device, 1, spry_vector_device(P(0, t->x)))                                          \
LOOK(spry_vector_data, 1, spry_vector_data(P(0, t->x)))                                              \
LOOK(spry_vector_data_const, 1, spry_vector_data_const(P(0, t->x)))                                  \
LOOK(spry_vector_handle, 1, spry_vector_handle(P(0, t->x)))                                          \
CALL(spry_vector_fill, 1, "", spry_vector_fill(P(0, t->x), one))                                     \
CALL(spry_vector_copy, 2, "", spry_vector_copy(P(0, t->x), P(1, t->y)))                              \
CALL(spry_vector_axpy, 2, "", spry_vector_axpy(one, P(0, t->x), P(1, t->y)))                         \
CALL(spry_vector_scale, 1, "", spry_vector_scale(one, P(0, t->x)))                                   \
CALL(spry_vector_multiply, 3, "", spry_vector_multiply(P(0, t->x), P(1, t->y), P(2, t->y)))          \
CALL(spry_vector_dot, 3, "", spry_vector_dot(P(0, t->x), P(1, t->y), P(2, &t->scalar)))              \
CALL(spry_vector_norm, 2, "", spry_vector_norm(P(0, t->x), P(1, &t->number)))
/* clang-format on */

#define STATUS_CALL(function, places, free, call)                 \
    static spry_status call_##function(things *t, const int null) \
    {                                                             \
        (void)t, (void)null;                                      \
        return call;                                              \
    }
#define LOOK_CALL(function, places, call)                         \
    static spry_status call_##function(things *t, const int null) \
    {                                                             \
        (void)t, (void)null;                                      \
        (void)(call);                                             \
        return SPRY_STATUS_OK;                                    \
    }
ROWS(STATUS_CALL, STATUS_CALL, LOOK_CALL)

typedef struct row {
    const char *name;
    int places;
    const char *free; /* places where NULL has a meaning; NULL: no status to look at */
    bool whole;       /* it can be called without a NULL */
    spry_status (*call)(things *t, int null);
} row;
#define CALL_ROW(function, places, free, call) {#function, places, free, true, call_##function},
#define ONLY_ROW(function, places, free, call) {#function, places, free, false, call_##function},
#define LOOK_ROW(function, places, call) {#function, places, NULL, true, call_##function},
static const row rows[] = {ROWS(CALL_ROW, ONLY_ROW, LOOK_ROW)};
enum { COUNT = sizeof rows / sizeof *rows };

static void make(things *t, spry_context *ctx)
{
    static char path[32];
    strcpy(path, "/tmp/spry-arguments-XXXXXX.mtx");
    memset(t, 0, sizeof *t);
    t->ctx = ctx;
    if (spry_device_open(ctx, "opencl", &t->device) != SPRY_STATUS_OK)
        t->device = NULL;
    else
        assert_ok(ctx, spry_kernel_new(t->device, kernel_text, "set", NULL, &t->kernel));
    assert_ok(ctx, spry_generate(ctx, "tridiagonal", "size=4", &t->A));
    assert_ok(ctx, spry_operator_from_matrix(t->A, NULL, "sell", &t->op));
    assert_ok(ctx, spry_vector_ones(ctx, t->A, &t->x));
    assert_ok(ctx, spry_vector_zeros(ctx, t->A, &t->y));
    assert_ok(ctx, spry_vector_ones(ctx, t->A, &t->z));
    assert_ok(ctx, spry_solver_new(ctx, &t->solver));
    assert_ok(ctx, spry_grid_new(ctx, "5", &t->grid));
    for (int k = 0; k < 6; k++)
        t->points[k] = k;
    assert_ok(ctx, spry_field_new(t->grid, SPRY_TYPE_D, false, NULL, NULL, &t->field));
    assert_ok(ctx, spry_vector_like(t->field, 1, &t->k2));
    assert_ok(ctx, spry_vector_like(t->field, spry_vector_size(t->field), &t->wide));
    assert_ok(ctx, spry_halo_new(t->grid, SPRY_TYPE_D, t->widths, &t->halo));
    assert_ok(ctx, spry_vector_fill(t->k2, one));
    assert_ok(ctx, spry_operator_stencil(t->grid, "dx", NULL, 0, NULL, NULL, &t->stencil));
    assert_ok(ctx, spry_bounded_new(t->stencil, NULL, &t->bounded));
    assert_ok(ctx, spry_wave_new(t->grid, t->k2, "layer=4", &t->wave));
    assert_ok(ctx, spry_field_new(t->grid, SPRY_TYPE_Z, false, NULL, NULL, &t->wave_f));
    assert_ok(ctx, spry_field_new(t->grid, SPRY_TYPE_Z, false, NULL, NULL, &t->wave_u));
    t->wave_sources[0] = t->wave_f;
    assert_ok(ctx, spry_powers_new(t->A, "k=1 basis=newton", &t->powers));
    assert_ok(ctx, spry_powers_set_shifts(t->powers, 1, &one));
    assert_ok(ctx, spry_stepper_new(ctx, "dt=0.01", &t->stepper));
    assert_ok(ctx, spry_stepper_set_operator(t->stepper, t->op, NULL, NULL, NULL));
    assert_ok(ctx, spry_solver_set_matrix(t->solver, t->A));
    assert_ok(ctx, spry_matrix_arrays(t->A, &t->arrays));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, t->arrays.nnz, t->arrays.values, SPRY_OWN_COPY,
                                   &t->values));
    t->b_list[0] = t->x;
    t->x_list[0] = t->y;
    t->dense = (spry_dense){.rows = 4, .cols = 1, .ld = 4, .data = spry_vector_data(t->x)};
    t->other = t->dense;
    t->other.data = spry_vector_data(t->y);
    for (int i = 0; i < 4; i++)
        t->perm[i] = i;
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    t->path = path;
    assert_ok(ctx, spry_vector_write(t->x, path));
    t->set_name = "x";
    t->sides[2] = 4;
    assert_ok(ctx, spry_datasets_write(ctx, SETS, 1, &t->set_name, t->sides, t->b_list));
}

/* Frees what a call has made. */
static void drop(things *t)
{
    spry_matrix_free(t->made_matrix);
    spry_matrix_free(t->made_triangle);
    t->made_triangle = NULL;
    spry_vector_free(t->made_vector);
    spry_vector_free(t->made_second);
    spry_operator_free(t->made_operator);
    spry_solver_free(t->made_solver);
    spry_grid_free(t->made_grid);
    spry_halo_free(t->made_halo);
    spry_stepper_free(t->made_stepper);
    t->made_stepper = NULL;
    spry_bounded_free(t->made_bounded);
    t->made_bounded = NULL;
    spry_wave_free(t->made_wave);
    t->made_wave = NULL;
    spry_powers_free(t->made_powers);
    t->made_powers = NULL;
    spry_kernel_free(t->made_kernel);
    t->made_kernel = NULL;
    spry_context_free(t->made_context);
    spry_free(t->ctx, t->memory);
    spry_free(t->ctx, t->text);
    spry_free(t->ctx, t->order);
    spry_result_clear(t->ctx, &t->result);
    spry_tune_report_clear(t->ctx, &t->report);
    spry_diagnosis_clear(t->ctx, &t->diagnosis);
    spry_plan_clear(t->ctx, &t->plan);
    t->made_matrix = NULL;
    t->made_vector = t->made_second = NULL;
    t->made_operator = NULL;
    t->made_solver = NULL;
    t->made_grid = NULL;
    t->made_halo = NULL;
    memset(t->widths, 0, sizeof t->widths); /* boxes were written there */
    t->made_context = NULL;
    t->memory = t->text = NULL;
    t->order = NULL;
    /* what a call may have set */
    assert_ok(t->ctx, spry_matrix_arrays(t->A, &t->arrays));
    spry_solver_set_matrix(t->solver, t->A);
    spry_solver_set_precon(t->solver, NULL);
    spry_solver_set_null_space(t->solver, 0, NULL, NULL);
    assert_ok(t->ctx, spry_stepper_set_operator(t->stepper, t->op, NULL, NULL, NULL));
}

static void unmake(things *t)
{
    drop(t);
    unlink("/tmp/spry-arguments.npy");
    unlink(SETS);
    spry_stepper_free(t->stepper);
    spry_bounded_free(t->bounded);
    spry_wave_free(t->wave);
    spry_powers_free(t->powers);
    spry_vector_free(t->k2);
    spry_vector_free(t->wave_f);
    spry_vector_free(t->wave_u);
    spry_operator_free(t->stencil);
    spry_vector_free(t->field);
    spry_vector_free(t->wide);
    spry_halo_free(t->halo);
    spry_grid_free(t->grid);
    unlink(t->path);
    spry_kernel_free(t->kernel);
    spry_solver_free(t->solver);
    spry_operator_free(t->op);
    spry_vector_free(t->x);
    spry_vector_free(t->y);
    spry_vector_free(t->z);
    spry_vector_free(t->values);
    spry_matrix_free(t->A);
    spry_device_close_all(t->ctx);
}

static void test_null_in_each_place(void **state)
{
    things t;
    make(&t, *state);
    if (!t.device)
        print_message("no OpenCL here: functions of devices are called with NULL alone\n");
    for (int k = 0; k < COUNT; k++) {
        for (int null = 0; null < rows[k].places; null++) {
            const char digit[2] = {(char)('0' + null), '\0'};
            const bool free = !rows[k].free || strstr(rows[k].free, digit);
            const spry_status status = rows[k].call(&t, null);
            drop(&t);
            if (!free && status != SPRY_STATUS_BAD_USAGE)
                fail_msg("%s with NULL in place %d: %s", rows[k].name, null,
                         spry_status_text(status));
            if (free && rows[k].free && status == SPRY_STATUS_BAD_USAGE)
                fail_msg("%s with NULL in place %d, where it may be: %s", rows[k].name, null,
                         spry_message(t.ctx));
        }
        if (rows[k].whole) { /* or the status above would show nothing */
            const spry_status status = rows[k].call(&t, -1);
            drop(&t);
            if (status == SPRY_STATUS_BAD_USAGE)
                fail_msg("%s is called wrongly by this test: %s", rows[k].name,
                         spry_message(t.ctx));
        }
    }
    unmake(&t);
}

/* Counts below 0 are reported, not taken for 0. */
static void test_counts_below_zero(void **state)
{
    things t;
    make(&t, *state);
    spry_context *ctx = t.ctx;
    spry_operator *function = NULL;
    spry_operator *made = NULL;
    const int64_t sides[] = {-1};
    const spry_dense few = {.rows = 4, .cols = -1, .ld = 4, .data = spry_vector_data(t.x)};
#define REFUSED(call) assert_status(ctx, SPRY_STATUS_BAD_USAGE, call)
    REFUSED(spry_solve_many(t.solver, -1, t.b_list, t.x_list, NULL));
    support_message_has(ctx, "-1");
    REFUSED(spry_solve_many(t.solver, INT_MIN, NULL, NULL, NULL));
    REFUSED(spry_matrix_set_near_null(t.A, -1, t.b_list));
    support_message_has(ctx, "-1");
    REFUSED(spry_solver_set_null_space(t.solver, -1, t.b_list, NULL));
    REFUSED(spry_columns_write(t.x, -1, "/dev/null"));
    REFUSED(spry_generate_tiled(t.A, -1, &t.made_matrix));
    REFUSED(spry_vector_new(ctx, SPRY_TYPE_D, -1, NULL, SPRY_OWN_COPY, &t.made_vector));
    REFUSED(spry_vector_like(t.x, -1, &t.made_vector));
    REFUSED(spry_operator_from_function(ctx, SPRY_TYPE_D, -1, 4, false, apply, NULL, &made));
    REFUSED(spry_operator_from_function(ctx, SPRY_TYPE_D, 4, -1, false, apply, NULL, &made));
    REFUSED(spry_operator_from_product(ctx, NULL, SPRY_TYPE_D, -1, 4, false, product, NULL, &made));
    REFUSED(spry_operator_multiply_dense(t.op, SPRY_TRANSPOSE_NO, one, &few, one, &few));
    assert_ok(ctx,
              spry_operator_from_function(ctx, SPRY_TYPE_D, 4, 4, false, apply, NULL, &function));
    REFUSED(spry_operator_set_bytes(function, -1));
    if (t.device) {
        REFUSED(spry_vector_on(t.device, SPRY_TYPE_D, -1, NULL, &t.made_vector));
        REFUSED(spry_kernel_launch(t.kernel, 1, sides));
        REFUSED(spry_kernel_launch(t.kernel, -1, sides));
    }
    /* arrays are data: BAD_INPUT, as for other faults in them */
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_from_csr(ctx, SPRY_TYPE_D, -1, 2, csr_offsets, csr_columns,
                                       csr_values, SPRY_OWN_COPY, &t.made_matrix));
    assert_null(spry_finding_at(&t.diagnosis, -1));
    assert_null(spry_tune_row_at(&t.report, -1));
    assert_null(spry_options_at(spry_options_of("solver"), -1));
    assert_false(spry_list_at(SPRY_LIST_METHODS, -1, &t.entry));
    assert_false(spry_device_describe(ctx, -1, &t.info));
    if (t.device) {
    }
    spry_operator_free(function);
    assert_null(made);
    unmake(&t);
}

/* The message says which argument of which function, where there is a context to hold it. */
static void test_messages(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, (double[]){1});
    spry_operator *op = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_new(A, NULL, NULL, &op));
    support_message_has(ctx, "spry_precon_new: spec is NULL");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_matrix_multiply(NULL, A, &(spry_matrix *){NULL}));
    support_message_has(ctx, "spry_matrix_multiply: A is NULL");
    assert_int_equal(spry_matrix_multiply(NULL, NULL, NULL), SPRY_STATUS_BAD_USAGE);
    spry_matrix_free(A);
}

/* Every name of a list has a row; how many there are. */
static int look_up(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int listed = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        bool found = false;
        line[strcspn(line, " \n")] = '\0';
        if (strncmp(line, "spry_", 5) != 0)
            continue;
        for (int k = 0; k < COUNT; k++)
            found = found || strcmp(rows[k].name, line) == 0;
        if (!found)
            fail_msg("%s has no row in tests/unit/arguments.c", line);
        listed++;
    }
    fclose(file);
    return listed;
}

static void test_every_function_is_listed(void **state)
{
    (void)state;
    const int listed = look_up(SYMBOLS) + look_up(SYMBOLS_GRID) + look_up(SYMBOLS_PRIVATE);
    assert_int_equal(listed, COUNT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_null_in_each_place),
        TEST(test_counts_below_zero),
        TEST(test_messages),
        TEST(test_every_function_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
