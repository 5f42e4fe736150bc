/*
 * Constant diagonals made on a device: see device_make.h and make_crf.knl. What is searched, equal
 * terms and equal shapes, is searched on the host, among rows that represent all that follow them:
 * three for each line of a grid.
 */
#include "formats/crf/device.h"

#include "formats/shared/device_make.h"

static spry_status build(const device_maker *m, device_program **p)
{
    char options[64];
    snprintf(options, sizeof options, "-DUNIT=%d -DCHUNK=%d -DSAME=%d", CRF_UNIT_ROWS,
             DEVICE_CRF_CHUNK, CRF_LEAST_SAME);
    return make_build(m, "make_crf", options, p);
}

/* What is made on the way. */
typedef struct crf_work {
    device_program *p;
    int64_t count;                   /* of parts */
    device_memory *parts, *differs;  /* of rows */
    device_memory *first, *lengths;  /* of parts */
    device_memory *codes, *steps;    /* of parts, of rows */
    device_memory *values, *odds;    /* before each chunk */
    device_memory *columns, *chosen; /* entries of the rows that represent others */
    /* The same rows on the host. */
    matrix_arrays some;
    int64_t *begins; /* count + 1: the first row of each part */
} crf_work;

static void work_free(spry_context *ctx, crf_work *w)
{
    device_memory *const all[] = {w->parts, w->differs, w->first, w->lengths, w->codes,
                                  w->steps, w->values,  w->odds,  w->columns, w->chosen};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        device_free(all[i]);
    base_free(ctx, w->some.offsets);
    base_free(ctx, w->some.col_index);
    base_free(ctx, w->some.values);
    base_free(ctx, w->begins);
}

static spry_status mark_rows(const device_maker *m, crf_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t rows = m->A->rows;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, (rows + 1) * (int64_t)sizeof(int64_t), &w->parts));
    SPRY_GO(ctx, device_alloc(m->d, rows, &w->differs));
    const device_arg args[] = {DEVICE_VALUE(rows),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(w->parts),
                               device_arg_memory(w->differs),
                               {0}};
    SPRY_GO(ctx, make_launch(w->p, "mark_rows", rows, args));
    SPRY_GO(ctx, device_sum_up(m->d, w->parts, rows + 1));
    SPRY_GO(ctx, make_look(w->parts, rows, &w->count));
done:
    return status;
}

/* The rows that represent others, as a matrix of the device's. */
static spry_status gather_rows(const device_maker *m, crf_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t bytes = (w->count + 1) * (int64_t)sizeof(int64_t);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->first));
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->lengths));
    const device_arg list[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(w->count),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(w->parts),
                               device_arg_memory(w->first),
                               device_arg_memory(w->lengths),
                               {0}};
    SPRY_GO(ctx, make_launch(w->p, "list_parts", m->A->rows, list));
    SPRY_GO(ctx, device_sum_up(m->d, w->lengths, w->count + 1));
    SPRY_GO(ctx, make_look(w->lengths, w->count, &w->some.nnz));
    SPRY_GO(ctx, device_alloc(m->d, w->some.nnz * (int64_t)sizeof(int32_t), &w->columns));
    SPRY_GO(ctx, device_alloc(m->d, w->some.nnz * (int64_t)m->size, &w->chosen));
    const device_arg gather[] = {DEVICE_VALUE(w->count),
                                 device_arg_memory(m->A->offsets),
                                 device_arg_memory(m->A->columns),
                                 device_arg_memory(m->values),
                                 device_arg_memory(w->first),
                                 device_arg_memory(w->lengths),
                                 device_arg_memory(w->columns),
                                 device_arg_memory(w->chosen),
                                 {0}};
    SPRY_GO(ctx, make_launch(w->p, "gather_rows", w->count, gather));
done:
    return status;
}

/* To the host with them. */
static spry_status bring_rows(const device_maker *m, crf_work *w)
{
    spry_context *ctx = m->d->ctx;
    matrix_arrays *A = &w->some;
    const int64_t bytes = (w->count + 1) * (int64_t)sizeof(int64_t);
    spry_status status = SPRY_STATUS_OK;
    A->type = m->A->type;
    A->format = SPRY_FORMAT_CSR;
    A->rows = w->count;
    A->cols = m->A->cols;
    SPRY_GO(ctx, base_alloc(ctx, w->count + 1, sizeof *w->begins, &w->begins));
    SPRY_GO(ctx, base_alloc(ctx, w->count + 1, sizeof *A->offsets, &A->offsets));
    SPRY_GO(ctx, base_alloc(ctx, A->nnz, sizeof *A->col_index, &A->col_index));
    SPRY_GO(ctx, base_alloc(ctx, A->nnz, m->size, &A->values));
    SPRY_GO(ctx, device_get(w->first, 0, w->begins, bytes));
    SPRY_GO(ctx, device_get(w->lengths, 0, A->offsets, bytes));
    if (A->nnz > 0) {
        SPRY_GO(ctx, device_get(w->columns, 0, A->col_index, A->nnz * (int64_t)sizeof(int32_t)));
        SPRY_GO(ctx, device_get(w->chosen, 0, A->values, A->nnz * (int64_t)m->size));
    }
done:
    return status;
}

/* Terms and shapes, and the code of each part to the device. */
static spry_status find_codes(const device_maker *m, crf_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t bytes = w->count * (int64_t)sizeof(uint32_t);
    int64_t *weight = NULL;
    uint16_t *shape = NULL;
    bool *bare = NULL;
    uint32_t *codes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, w->count, sizeof *weight, &weight));
    SPRY_GO(ctx, base_alloc(ctx, w->count, sizeof *shape, &shape));
    SPRY_GO(ctx, base_alloc(ctx, w->count, sizeof *bare, &bare));
    SPRY_GO(ctx, base_alloc(ctx, w->count, sizeof *codes, &codes));
    for (int64_t i = 0; i < w->count; i++)
        weight[i] = w->begins[i + 1] - w->begins[i];
    SPRY_GO(ctx, crf_describe(m->L, &w->some, weight, shape, bare));
    const bool known = device_crf_known(m->L);
    for (int64_t i = 0; i < w->count; i++)
        codes[i] = device_crf_code(m->L, known, shape[i], bare[i]);
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->codes));
    SPRY_GO(ctx, device_put(w->codes, 0, codes, bytes));
done:
    base_free(ctx, weight);
    base_free(ctx, shape);
    base_free(ctx, bare);
    base_free(ctx, codes);
    return status;
}

static spry_status describe_chunks(const device_maker *m, crf_work *w, int64_t chunks,
                                   device_memory *described)
{
    spry_context *ctx = m->d->ctx;
    const int64_t rows = m->A->rows, bytes = (chunks + 1) * (int64_t)sizeof(int64_t);
    const int32_t common = (int32_t)device_crf_common(m->L, device_crf_known(m->L));
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, rows, &w->steps));
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->values));
    SPRY_GO(ctx, device_alloc(m->d, bytes, &w->odds));
    const device_arg find[] = {DEVICE_VALUE(w->count),      device_arg_memory(w->first),
                               device_arg_memory(w->codes), device_arg_memory(w->differs),
                               device_arg_memory(w->steps), {0}};
    SPRY_GO(ctx, make_launch(w->p, "find_steps", w->count, find));
    const device_arg args[] = {DEVICE_VALUE(rows),           DEVICE_VALUE(chunks),
                               DEVICE_VALUE(common),         device_arg_memory(w->parts),
                               device_arg_memory(w->codes),  device_arg_memory(w->steps),
                               device_arg_memory(described), device_arg_memory(w->values),
                               device_arg_memory(w->odds),   {0}};
    SPRY_GO(ctx, make_launch(w->p, "describe_chunks", chunks, args));
    SPRY_GO(ctx, device_sum_up(m->d, w->values, chunks + 1));
    SPRY_GO(ctx, device_sum_up(m->d, w->odds, chunks + 1));
done:
    return status;
}

/* Adds a short array that the host keeps, too. */
static spry_status add_kept(device_maker *m, int index)
{
    const layout_array kept = m->L->array[index];
    const int64_t bytes = kept.count * (int64_t)kept.size;
    device_memory *to = NULL;
    spry_status status = make_add(m, index, kept.name, kept.count, kept.size, &to);
    m->L->array[index] = kept;
    if (status == SPRY_STATUS_OK && bytes > 0)
        status = device_put(to, 0, kept.data, bytes);
    return status;
}

static spry_status fill(device_maker *m, crf_work *w)
{
    spry_context *ctx = m->d->ctx;
    const int64_t chunks = (m->A->rows + DEVICE_CRF_CHUNK - 1) / DEVICE_CRF_CHUNK;
    const layout_array *term = &m->L->array[CRF_TERMS];
    const int32_t terms = (int32_t)term->count;
    device_memory *described = NULL, *values = NULL, *odd = NULL;
    int64_t steps = 0, odds = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(m->d, chunks * (int64_t)sizeof(device_chunk), &described));
    SPRY_GO(ctx, describe_chunks(m, w, chunks, described));
    SPRY_GO(ctx, make_look(w->values, chunks, &steps));
    SPRY_GO(ctx, make_look(w->odds, chunks, &odds));
    m->L->stored = terms + steps;
    SPRY_GO(ctx, make_add(m, CRF_VALUES, "values", m->L->stored, m->size, &values));
    make_adopt(m, CRF_CHUNKS, "chunks", chunks, sizeof(device_chunk), described);
    const device_memory *const chunk = described;
    described = NULL;
    SPRY_GO(ctx, make_add(m, CRF_ODD, "odd", odds, sizeof(uint32_t), &odd));
    for (int i = CRF_STARTS; i <= CRF_PLACES && !device_crf_known(m->L); i++)
        SPRY_GO(ctx, add_kept(m, i));
    if (terms > 0)
        SPRY_GO(ctx, device_put(values, 0, term->data, terms * (int64_t)m->size));
    const device_arg args[] = {DEVICE_VALUE(m->A->rows),
                               DEVICE_VALUE(chunks),
                               DEVICE_VALUE(terms),
                               device_arg_memory(m->A->offsets),
                               device_arg_memory(m->A->columns),
                               device_arg_memory(m->values),
                               device_arg_memory(w->parts),
                               device_arg_memory(w->codes),
                               device_arg_memory(w->values),
                               device_arg_memory(w->odds),
                               device_arg_memory(chunk),
                               device_arg_memory(odd),
                               device_arg_memory(values),
                               {0}};
    SPRY_GO(ctx, make_launch(w->p, "fill_chunks", chunks, args));
done:
    device_free(described);
    return status;
}

spry_status device_make_crf(device_maker *m)
{
    enum { FEW = 4096 };
    spry_context *ctx = m->d->ctx;
    const int64_t rows = m->A->rows;
    crf_work w = {0};
    spry_status status = SPRY_STATUS_OK;
    m->elsewhere = rows == 0 || rows > INT32_MAX;
    if (m->elsewhere)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &w.p));
    SPRY_GO(ctx, mark_rows(m, &w));
    m->elsewhere = w.count > rows / 4 + FEW; /* most of A would go to the host */
    if (m->elsewhere)
        goto done;
    SPRY_GO(ctx, gather_rows(m, &w));
    SPRY_GO(ctx, bring_rows(m, &w));
    SPRY_GO(ctx, find_codes(m, &w));
    SPRY_GO(ctx, fill(m, &w));
done:
    work_free(ctx, &w);
    return status;
}
