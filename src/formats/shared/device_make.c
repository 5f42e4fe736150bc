/* Layouts made in a device's memory: see device_make.h. */
#include "formats/shared/device_make.h"

#include "formats/sell/sell.h"
#include "formats/shared/device_layout.h"

enum { OPTIONS_SIZE = 160 };

/* --- what formats make with ----------------------------------------------------------------------
 */

int64_t make_option(const device_maker *m, const char *name)
{
    const spry_option *option = spry_options_find(m->L->class->options, name);
    const char *at = (const char *)m->options + option->offset;
    int64_t number;
    int word;
    if (option->kind == SPRY_OPTION_INT) {
        memcpy(&number, at, sizeof number);
        return number;
    }
    memcpy(&word, at, sizeof word);
    return word;
}

void make_adopt(device_maker *m, int index, const char *name, int64_t count, size_t size,
                device_memory *memory)
{
    const layout_array array = {.name = name, .count = count, .size = size};
    m->L->array[index] = array;
    m->arrays.array[m->arrays.count] = array;
    m->memory[m->arrays.count++] = memory;
}

spry_status make_add(device_maker *m, int index, const char *name, int64_t count, size_t size,
                     device_memory **memory)
{
    const spry_status status = device_alloc(m->d, count * (int64_t)size, memory);
    if (status == SPRY_STATUS_OK)
        make_adopt(m, index, name, count, size, *memory);
    return status;
}

/* Memory of the maker's own in the place of *from: that itself, or a copy. */
static spry_status take(device_maker *m, device_memory **from, bool keep, int64_t bytes,
                        device_memory **to)
{
    if (!keep) {
        *to = *from;
        *from = NULL;
        return SPRY_STATUS_OK;
    }
    const spry_status status = device_alloc(m->d, bytes, to);
    return status == SPRY_STATUS_OK && bytes > 0 ? device_copy(*from, 0, *to, 0, bytes) : status;
}

spry_status make_add_values(device_maker *m, int values)
{
    const int64_t nnz = m->A->nnz;
    const bool own = m->values == m->A->values;
    device_memory *to = NULL;
    const spry_status status =
        take(m, own ? &m->A->values : &m->values, own && m->keep, nnz * (int64_t)m->size, &to);
    if (status != SPRY_STATUS_OK) {
        device_free(to);
        return status;
    }
    m->values = m->A->values; /* none, or A's own, which are not the maker's to free */
    make_adopt(m, values, "values", nnz, m->size, to);
    return SPRY_STATUS_OK;
}

spry_status make_add_entries(device_maker *m, int values, int columns)
{
    const int64_t nnz = m->A->nnz, size = sizeof(int32_t);
    device_memory *to = NULL;
    spry_status status = make_add_values(m, values);
    if (status == SPRY_STATUS_OK)
        status = take(m, &m->A->columns, m->keep, nnz * size, &to);
    if (status == SPRY_STATUS_OK)
        make_adopt(m, columns, "columns", nnz, (size_t)size, to);
    else
        device_free(to);
    return status;
}

spry_status make_build(const device_maker *m, const char *name, const char *options,
                       device_program **p)
{
    char all[OPTIONS_SIZE], names[64];
    snprintf(all, sizeof all, "-DELEMENT=%d %.120s", (int)m->size, options);
    snprintf(names, sizeof names, "make %s", name);
    return device_matrix_build(m->d, SPRY_TYPE_S, MAKE_GROUP, names, all, p);
}

spry_status make_launch_local(device_program *p, const char *kernel, int64_t groups, int64_t local,
                              const device_arg *args)
{
    int count = 0;
    while (args[count].memory || args[count].value)
        count++;
    return device_launch_local(p, kernel, groups, MAKE_GROUP, local, args, count);
}

spry_status make_launch(device_program *p, const char *kernel, int64_t items,
                        const device_arg *args)
{
    return make_launch_local(p, kernel, make_groups(items), 0, args);
}

spry_status make_cleared(spry_device *d, int64_t count, size_t size, device_memory **memory)
{
    const int64_t bytes = count * (int64_t)size;
    const spry_status status = device_alloc(d, bytes, memory);
    return status == SPRY_STATUS_OK && bytes > 0 ? device_clear(*memory, 0, bytes) : status;
}

spry_status make_look(const device_memory *numbers, int64_t at, int64_t *number)
{
    return device_get(numbers, at * (int64_t)sizeof *number, number, sizeof *number);
}

spry_status make_look32(const device_memory *numbers, int64_t at, int32_t *number)
{
    return device_get(numbers, at * (int64_t)sizeof *number, number, sizeof *number);
}

spry_status make_longest(const device_maker *m, int64_t *longest)
{
    spry_context *ctx = m->d->ctx;
    device_program *p = NULL;
    device_memory *most = NULL;
    int32_t found = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_build(m, "make_lengths", "", &p));
    SPRY_GO(ctx, make_cleared(m->d, 1, sizeof found, &most));
    const device_arg args[] = {
        DEVICE_VALUE(m->A->rows), device_arg_memory(m->A->offsets), device_arg_memory(most), {0}};
    SPRY_GO(ctx, make_launch(p, "longest", m->A->rows, args));
    SPRY_GO(ctx, make_look32(most, 0, &found));
    *longest = found;
done:
    device_free(most);
    return status;
}

spry_status make_list_carries(device_maker *m, const make_carried *to, device_memory *carries,
                              device_memory *firsts)
{
    spry_context *ctx = m->d->ctx;
    const int64_t units = m->L->units;
    device_carries *c = &m->carries;
    device_program *p = NULL;
    int64_t rows = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_build(m, "make_carries", "", &p));
    SPRY_GO(ctx, device_sum_up(m->d, carries, units + 1));
    SPRY_GO(ctx, device_sum_up(m->d, firsts, units + 1));
    SPRY_GO(ctx, make_look(carries, units, &c->count));
    SPRY_GO(ctx, make_look(firsts, units, &rows));
    c->any = true;
    c->rows = (int)rows;
    SPRY_GO(ctx, device_alloc(m->d, rows * (int64_t)sizeof(int32_t), &c->row));
    SPRY_GO(ctx, device_alloc(m->d, (rows + 1) * (int64_t)sizeof(int32_t), &c->start));
    SPRY_GO(ctx, device_alloc(m->d, c->count * (int64_t)sizeof(int32_t), &c->place));
    const device_arg args[] = {DEVICE_VALUE(units),
                               DEVICE_VALUE(to->step),
                               DEVICE_VALUE(to->shift),
                               DEVICE_VALUE(to->more),
                               device_arg_memory(to->rows),
                               device_arg_memory(carries),
                               device_arg_memory(firsts),
                               device_arg_memory(c->row),
                               device_arg_memory(c->start),
                               device_arg_memory(c->place),
                               {0}};
    SPRY_GO(ctx, make_launch(p, "list_carries", units + 1, args));
done:
    return status;
}

/* --- the whole -----------------------------------------------------------------------------------
 */

spry_status device_longest_row(device_matrix *A, int64_t *longest)
{
    const device_maker m = {.d = A->d, .A = A, .size = sizeof(double)};
    return make_longest(&m, longest);
}

bool device_makes(const char *spec)
{
    const size_t length = strcspn(spec, ":");
    for (int i = 0; layout_class_at(i); i++) {
        const layout_class *class = layout_class_at(i);
        const device_format *format = device_format_for(class);
        if (strlen(class->name) == length && strncmp(class->name, spec, length) == 0)
            return format && format->make;
    }
    return false;
}

static spry_status build_shorter(const device_maker *m, device_program **p)
{
    char constants[32];
    snprintf(constants, sizeof constants, "-DKIND=%d", (int)m->L->kind);
    return make_build(m, "make_shorter", constants, p);
}

/* Values stored shorter; where some would not be what they are, the host decides. */
static spry_status shorten(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    const int64_t n = m->A->nnz * (spry_type_is_complex(m->A->type) ? 2 : 1);
    device_program *p = NULL;
    device_memory *changed = NULL;
    int32_t any = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build_shorter(m, &p));
    SPRY_GO(ctx, device_alloc(m->d, m->A->nnz * (int64_t)m->size, &m->values));
    SPRY_GO(ctx, make_cleared(m->d, 1, sizeof any, &changed));
    const device_arg args[] = {DEVICE_VALUE(n),
                               device_arg_memory(m->A->values),
                               device_arg_memory(m->values),
                               device_arg_memory(changed),
                               {0}};
    SPRY_GO(ctx, make_launch(p, "shorten", n, args));
    SPRY_GO(ctx, make_look32(changed, 0, &any));
    m->elsewhere = any != 0;
done:
    device_free(changed);
    return status;
}

/* A layout of the host's without arrays. */
static spry_status make_shell(device_maker *m, const layout_class *class, void *options)
{
    const device_matrix *A = m->A;
    spry_context *ctx = m->d->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *m->L, &m->L));
    *m->L = (layout){.ctx = ctx,
                     .class = class,
                     .type = A->type,
                     .rows = A->rows,
                     .cols = A->cols,
                     .nnz = A->nnz,
                     .exact = true};
    m->arrays.ctx = ctx;
    m->options = options;
    SPRY_GO(ctx, layout_find_kind(ctx, class, options, A->type, &m->L->kind));
    m->size = layout_value_size(A->type, m->L->kind);
    m->values = A->values;
    if (m->L->kind != STORED_OWN)
        SPRY_GO(ctx, shorten(m));
done:
    return status;
}

static void maker_free(device_maker *m)
{
    if (m->values != m->A->values)
        device_free(m->values);
    for (int i = 0; i < DEVICE_MOST_ARRAYS; i++)
        device_free(m->memory[i]);
    device_carries_free(&m->carries);
    layout_free(m->L);
}

static spry_status make_named(device_matrix *A, bool keep, const char *spec, double most_fill,
                              bool *made, device_layout **D)
{
    _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    spry_context *ctx = A->d->ctx;
    device_maker m = {.d = A->d, .A = A, .keep = keep, .values = A->values, .most_fill = most_fill};
    const layout_class *class;
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    SPRY_GO(ctx, layout_parse(ctx, spec, &class, options));
    const device_format *format = device_format_for(class);
    if (!format || !format->make)
        goto done;
    SPRY_GO(ctx, make_shell(&m, class, options));
    if (!m.elsewhere)
        SPRY_GO(ctx, format->make(&m));
    if (m.elsewhere)
        goto done;
    layout_note_kind(m.L);
    SPRY_GO(ctx, device_layout_made(&m, D));
    *made = true;
done:
    maker_free(&m);
    return status;
}

spry_status device_layout_make(device_matrix *A, bool keep, const char *spec, bool *made,
                               device_layout **D)
{
    const double most_fill = 1.4;
    *D = NULL;
    if (spec)
        return make_named(A, keep, spec, 0, made, D);
    /* A work-item per row leaves a device idle that has more room than rows: csr has lanes. */
    const device_facts *facts = &A->d->facts;
    if (!facts->processor && A->rows < (int64_t)facts->units * 1024)
        return make_named(A, keep, "csr", 0, made, D);
    const base_kept before = base_try(A->d->ctx);
    const spry_status status = make_named(A, keep, "sell:C=32", most_fill, made, D);
    if (status != SPRY_STATUS_UNSUPPORTED)
        return status;
    base_forgive(A->d->ctx, &before); /* nothing failed for the caller */
    return make_named(A, keep, "csr", 0, made, D);
}
