/* Layouts as objects: their arrays and values. */
#include "formats/shared/layout.h"

#include "formats/shared/reduced.h"
#include "matrix/entries.h"

void layout_free(layout *L)
{
    if (!L)
        return;
    for (int i = 0; i < LAYOUT_MOST_ARRAYS; i++)
        base_free(L->ctx, L->array[i].data);
    base_free(L->ctx, L->carry_row);
    base_free(L->ctx, L->carry_at);
    base_free(L->ctx, L);
}

spry_status layout_add(layout *L, int index, const char *name, int64_t count, size_t size)
{
    layout_array *a = &L->array[index];
    *a = (layout_array){.name = name, .count = count, .size = size};
    return base_alloc(L->ctx, count, size, &a->data);
}

size_t layout_value_size(spry_type type, stored_kind kind)
{
    static const size_t sizes[] = {[STORED_F32] = 4, [STORED_F16] = 2, [STORED_BF16] = 2};
    if (kind == STORED_OWN)
        return spry_type_size(type);
    return sizes[kind] * (spry_type_is_complex(type) ? 2 : 1);
}

void layout_clear(layout *L, int index)
{
    const layout_array *a = &L->array[index];
    char *data = a->data;
    const int threads = matrix_parts(L->ctx, a->count);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; part++) {
        const range mine = base_share(a->count * (int64_t)a->size, threads, part, 4096);
        memset(data + mine.begin, 0, (size_t)(mine.end - mine.begin));
    }
}

spry_status layout_add_values(layout *L, bool cleared)
{
    const size_t size = layout_value_size(L->type, L->kind);
    const spry_status status = layout_add(L, 0, "values", L->stored, size);
    if (status == SPRY_STATUS_OK && cleared)
        layout_clear(L, 0);
    return status;
}

static void store_real(stored_kind kind, void *reals, int64_t k, double value)
{
    if (kind == STORED_F32)
        ((float *)reals)[k] = (float)value;
    else if (kind == STORED_F16)
        ((f16 *)reals)[k] = f16_from(value);
    else
        ((bf16 *)reals)[k] = bf16_from(value);
}

static double load_real(stored_kind kind, const void *reals, int64_t k)
{
    return (double)(kind == STORED_F32   ? ((const float *)reals)[k]
                    : kind == STORED_F16 ? f16_value(((const f16 *)reals)[k])
                                         : bf16_value(((const bf16 *)reals)[k]));
}

void layout_store(layout *L, int64_t place, const void *values, int64_t from)
{
    void *data = L->array[0].data;
    if (L->kind == STORED_OWN) {
        const size_t size = spry_type_size(L->type);
        memcpy((char *)data + (size_t)place * size, (const char *)values + (size_t)from * size,
               size);
        return;
    }
    const spry_scalar value = value_load(L->type, values, from);
    if (spry_type_is_complex(L->type)) {
        store_real(L->kind, data, 2 * place, value.re);
        store_real(L->kind, data, 2 * place + 1, value.im);
    } else {
        store_real(L->kind, data, place, value.re);
    }
}

void layout_copy_values(layout *L, const matrix_arrays *A)
{
    if (L->kind == STORED_OWN) {
        matrix_copy_bytes(L->ctx, L->array[0].data, A->values,
                          (size_t)A->nnz * spry_type_size(L->type));
        return;
    }
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->nnz)) schedule(static)
    for (int64_t k = 0; k < A->nnz; k++)
        layout_store(L, k, A->values, k);
}

spry_scalar layout_load(const layout *L, int64_t place)
{
    const void *data = L->array[0].data;
    if (L->kind == STORED_OWN)
        return value_load(L->type, data, place);
    if (!spry_type_is_complex(L->type))
        return (spry_scalar){load_real(L->kind, data, place), 0};
    return (spry_scalar){load_real(L->kind, data, 2 * place),
                         load_real(L->kind, data, 2 * place + 1)};
}

void layout_note(layout *L, const char *name, int64_t value)
{
    const size_t used = strlen(L->params);
    snprintf(L->params + used, sizeof L->params - used, "%s%s=%" PRId64, used ? "," : "", name,
             value);
}

void layout_note_word(layout *L, const char *name, const char *word)
{
    const size_t used = strlen(L->params);
    snprintf(L->params + used, sizeof L->params - used, "%s%s=%s", used ? "," : "", name, word);
}

static int64_t sum_bytes(const layout *L, bool all)
{
    int64_t bytes = 0;
    for (int i = 0; i < LAYOUT_MOST_ARRAYS; i++)
        if (all || !L->array[i].aside)
            bytes += L->array[i].count * (int64_t)L->array[i].size;
    return bytes;
}

int64_t layout_bytes(const layout *L)
{
    return sum_bytes(L, true);
}

int64_t layout_read_bytes(const layout *L)
{
    return sum_bytes(L, false);
}

void layout_describe(const layout *L, spry_storage *storage)
{
    *storage = (spry_storage){.nnz = L->nnz,
                              .stored = L->stored,
                              .bytes = layout_bytes(L),
                              .read_bytes = layout_read_bytes(L),
                              .exact = L->exact};
    storage->beta = L->stored > 0 ? (double)L->nnz / (double)L->stored : 1;
    storage->fill = storage->beta < 1 ? 1 - storage->beta : 0;
    snprintf(storage->format, sizeof storage->format, "%s", L->class->name);
    snprintf(storage->options, sizeof storage->options, "%s", L->params);
}
