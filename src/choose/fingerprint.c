/*
 * What choices are remembered by. A matrix is distinguished from others by its sizes and by
 * samples: up to a thousand row beginnings distributed evenly, and twice as many entries at places
 * that chance gives, the same for equal sizes. That takes a fifth of a millisecond however large it
 * is: a product on a device takes no longer as a rule. Two matrices that agree in all of these
 * share a choice of format, which costs time at worst: a format that would change values is refused
 * when it is built.
 */
#include "choose/tune.h"
#include "formats/shared/device_formats.h"
#include "host/host.h"

enum { OFFSETS = 1024, ENTRIES = 2048 };

static uint64_t add(uint64_t hash, uint64_t word)
{
    return base_random(hash, word);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = add(hash, (unsigned char)*text);
    return add(hash, 256);
}

static uint64_t add_entry(uint64_t hash, const matrix_arrays *a, int64_t k)
{
    const size_t size = spry_type_size(a->type);
    uint64_t words[2] = {0, 0};
    memcpy(words, (const char *)a->values + (size_t)k * size, size);
    if (a->row_index)
        hash = add(hash, (uint64_t)a->row_index[k]);
    if (a->col_index)
        hash = add(hash, (uint64_t)a->col_index[k]);
    return add(add(hash, words[0]), words[1]);
}

uint64_t tune_fingerprint(const spry_matrix *A)
{
    matrix_follow(A);
    const matrix_arrays *a = &A->a;
    const uint64_t sizes[] = {(uint64_t)a->type, (uint64_t)a->format, (uint64_t)a->symmetry,
                              (uint64_t)a->rows, (uint64_t)a->cols,   (uint64_t)a->nnz};
    uint64_t hash = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        hash = add(hash, sizes[i]);
    const int64_t major = matrix_major(a), step = major / OFFSETS + 1;
    for (int64_t i = 0; a->offsets && i <= major; i += step)
        hash = add(hash, (uint64_t)a->offsets[i]);
    if (a->nnz <= 2 * ENTRIES) {
        for (int64_t k = 0; k < a->nnz; k++)
            hash = add_entry(hash, a, k);
        return hash;
    }
    for (uint64_t k = 0; k < ENTRIES; k++)
        hash = add_entry(hash, a, (int64_t)(base_random(3, k) % (uint64_t)a->nnz));
    return hash;
}

static uint64_t device_fingerprint(const device_facts *f)
{
    uint64_t hash = add_text(3, spry_version());
    hash = add_text(add_text(add_text(hash, f->description), f->driver), f->target);
    for (int i = 0; layout_class_at(i); i++) {
        const device_format *format = device_format_for(layout_class_at(i));
        if (format)
            hash = add_text(add_text(hash, format->name), format->grid ? format->grid : "");
    }
    return hash;
}

uint64_t tune_machine_fingerprint(const spry_context *ctx, const spry_device *d)
{
    char name[128];
    if (d)
        return device_fingerprint(&d->facts);
    uint64_t hash = add_text(2, spry_version());
    host_this_processor(name, sizeof name);
    hash = add_text(add_text(hash, name), spry_context_isa(ctx));
    hash = add(hash, (uint64_t)spry_context_threads(ctx));
    for (int i = 0; layout_class_at(i); i++) {
        const layout_class *class = layout_class_at(i);
        hash = add_text(add_text(hash, class->name), class->grid ? class->grid : "");
    }
    return hash;
}

int64_t tune_products_class(int64_t products)
{
    int64_t class = 0;
    for (; products >= 10; products /= 10)
        class ++;
    return class;
}
