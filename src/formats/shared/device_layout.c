/* Layouts in a device's memory: their arrays, what their units carry, their products. */
#include "formats/shared/device_layout.h"

#include "device/linalg/step.h"
#include "formats/shared/device_carries.h"
#include "formats/shared/device_layout_text.h"
#include "formats/shared/device_make.h"
#include "matrix/entries.h"

/* How products are done for one number of columns. */
typedef struct instance {
    device_program *program; /* NULL until needed */
    device_form form;
} instance;

struct device_layout {
    spry_device *d;
    layout *L;
    device_arrays arrays; /* names and sizes; the host's arrays are gone */
    device_memory *memory[DEVICE_MOST_ARRAYS];
    char *away; /* the host's arrays where they are not gone, in one piece; NULL: they are */
    bool pinned;
    device_carries carries;
    device_memory *products; /* of all entries, for forms with a kernel before; NULL until needed */
    int products_columns;
    /* By conjugate, whether rows of x are aligned as if columns were all there is, and columns. */
    instance *instances[2][2][DEVICE_MOST_COLUMNS + 1];
};

/* Frees the piece that holds the host's arrays, and those of the layout that lie in it. */
static void free_away(device_layout *D)
{
    for (int k = 0; D->away && k < D->arrays.count; k++)
        for (int i = 0; i < LAYOUT_MOST_ARRAYS; i++)
            if (D->L->array[i].data == D->arrays.array[k].data)
                D->L->array[i].data = NULL;
    if (D->pinned)
        device_pinned_free(D->d, D->away);
    else
        base_free(D->L->ctx, D->away);
    D->away = NULL;
}

void device_layout_drop(device_layout *D)
{
    for (int i = 0; i < DEVICE_MOST_ARRAYS; i++) {
        device_free(D->memory[i]);
        D->memory[i] = NULL;
    }
    device_free(D->products);
    D->products = NULL;
    D->products_columns = 0;
}

void device_layout_free(device_layout *D)
{
    if (!D)
        return;
    spry_context *ctx = D->L->ctx;
    device_layout_drop(D);
    free_away(D);
    device_carries_free(&D->carries);
    for (int c = 0; c <= DEVICE_MOST_COLUMNS; c++) {
        for (int k = 0; k < 4; k++)
            base_free(ctx, D->instances[k / 2][k % 2][c]);
    }
    layout_free(D->L);
    base_free(ctx, D);
}

const layout *device_layout_host(const device_layout *D)
{
    return D->L;
}

spry_device *device_layout_device(const device_layout *D)
{
    return D->d;
}

device_memory *device_layout_array(const device_layout *D, const char *name)
{
    for (int i = 0; i < D->arrays.count; i++)
        if (strcmp(D->arrays.array[i].name, name) == 0)
            return D->memory[i];
    return NULL;
}

static spry_status copy_arrays(device_layout *D)
{
    spry_context *ctx = D->L->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_arrays_open(D->L, &D->arrays));
    for (int i = 0; i < D->arrays.count; i++) {
        const layout_array *a = &D->arrays.array[i];
        status = device_copy_over(D->d, a->data, a->count * (int64_t)a->size, &D->memory[i]);
        if (status != SPRY_STATUS_OK) {
            status = SPRY_CAUSE(ctx, status, "format %s on %s, array %s", D->L->class->name,
                                D->d->facts.name, a->name);
            goto done;
        }
    }
done:
    for (int i = 0; i < DEVICE_MOST_ARRAYS; i++) { /* names and sizes stay */
        if (D->arrays.array[i].aside)
            base_free(ctx, D->arrays.array[i].data);
        D->arrays.array[i].data = NULL;
        D->arrays.array[i].aside = false;
    }
    return status;
}

/* --- arrays that stay with the host --------------------------------------------------------------
 */

/* Bytes of an array in the piece that holds all. */
static int64_t away_bytes(const layout_array *a)
{
    enum { APART = 256 };
    return (a->count * (int64_t)a->size + APART - 1) / APART * APART;
}

/* Moves an array to its place in the piece; the layout's own pointer follows. */
static void move_away(device_layout *D, layout_array *a, char *to)
{
    bool moved = a->aside; /* others than these, as what units carry, are copied */
    matrix_copy_bytes(D->L->ctx, to, a->data, (size_t)a->count * a->size);
    for (int i = 0; i < LAYOUT_MOST_ARRAYS; i++)
        if (D->L->array[i].data == a->data) {
            D->L->array[i].data = to;
            moved = true;
        }
    if (moved)
        base_free(D->L->ctx, a->data);
    a->data = to;
    a->aside = false;
}

/* Pinned memory is copied fastest, and may be less than there is of other memory. */
static spry_status keep_away(device_layout *D)
{
    spry_context *ctx = D->L->ctx;
    int64_t bytes = 0, at = 0;
    void *away = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_arrays_open(D->L, &D->arrays));
    for (int i = 0; i < D->arrays.count; i++)
        bytes += away_bytes(&D->arrays.array[i]);
    const base_kept message = base_try(ctx);
    /* Some OpenCL drivers give pinned memory a double on the device. */
    D->pinned = (D->d->facts.has_pointers || D->d->facts.processor) &&
                device_pinned_alloc(D->d, bytes, &away) == SPRY_STATUS_OK;
    if (!D->pinned) {
        base_forgive(ctx, &message); /* nothing failed for the caller */
        SPRY_GO(ctx, base_alloc(ctx, bytes, 1, &away));
    }
    for (int i = 0; i < D->arrays.count; i++) {
        layout_array *a = &D->arrays.array[i];
        if (a->data)
            move_away(D, a, (char *)away + at);
        at += away_bytes(a);
    }
    D->away = away;
done:
    if (status != SPRY_STATUS_OK)
        device_arrays_close(&D->arrays);
    return status;
}

spry_status device_layout_load(device_layout *D, device_stream *s)
{
    spry_context *ctx = D->L->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < D->arrays.count; i++) {
        const layout_array *a = &D->arrays.array[i];
        const int64_t bytes = a->count * (int64_t)a->size;
        SPRY_GO(ctx, device_alloc(D->d, bytes, &D->memory[i]));
        SPRY_GO(ctx, device_put_on(s, D->memory[i], 0, a->data, bytes));
    }
done:
    return status;
}

static spry_status new_layout(spry_device *d, layout *L, bool away, device_layout **out)
{
    spry_context *ctx = L->ctx;
    device_layout *D = NULL;
    device_form form;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, device_form_open(d, L, 1, false, &form)); /* what it cannot use is refused now */
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *D, &D));
    D->d = d;
    D->L = L;
    L = NULL;
    SPRY_GO(ctx, away ? keep_away(D) : copy_arrays(D));
    SPRY_GO(ctx, device_carries_copy(D->d, D->L, &D->carries));
    *out = D;
    D = NULL;
done:
    layout_free(L);
    device_layout_free(D);
    return status;
}

spry_status device_layout_new(spry_device *d, layout *L, device_layout **out)
{
    return new_layout(d, L, false, out);
}

spry_status device_layout_new_away(spry_device *d, layout *L, device_layout **out)
{
    return new_layout(d, L, true, out);
}

spry_status device_layout_made(device_maker *m, device_layout **out)
{
    spry_context *ctx = m->d->ctx;
    device_layout *D = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *D, &D));
    D->d = m->d;
    D->L = m->L;
    D->arrays = m->arrays;
    D->carries = m->carries;
    memcpy(D->memory, m->memory, sizeof D->memory);
    m->L = NULL;
    m->carries = (device_carries){0};
    memset(m->memory, 0, sizeof m->memory);
    SPRY_GO(ctx, device_carries_room(D->d, D->L->type, &D->carries, 1));
    *out = D;
    D = NULL;
done:
    device_layout_free(D);
    return status;
}

/* --- products ------------------------------------------------------------------------------------
 */

/* Whether values are to be conjugated: those of real types are what they are. */
static bool conjugates(const device_layout *D, bool conjugate)
{
    return conjugate && spry_type_is_complex(D->L->type);
}

/* Whether rows of x begin where vectors of 16 bytes do if packed ones would. */
static bool is_packed(const device_layout *D, const device_product *p)
{
    enum { VECTOR = 16 };
    const int64_t size = (int64_t)spry_type_size(D->L->type);
    return p->columns == 1 ||
           (p->x_stride * size % VECTOR == 0 &&
            (!D->d->facts.has_pointers || (uintptr_t)device_address(p->x) % VECTOR == 0));
}

/* The instance for `columns` columns; its program may be still to make. */
static spry_status find_instance(device_layout *D, bool conjugate, bool packed, int columns,
                                 instance **found)
{
    spry_context *ctx = D->L->ctx;
    instance **slot = &D->instances[conjugates(D, conjugate)][packed][columns];
    spry_status status = SPRY_STATUS_OK;
    if (!*slot) {
        SPRY_GO(ctx, base_calloc(ctx, 1, sizeof **slot, slot));
        status = device_form_open(D->d, D->L, columns, packed, &(*slot)->form);
        if (status != SPRY_STATUS_OK) {
            base_free(ctx, *slot);
            *slot = NULL;
        }
    }
done:
    *found = *slot;
    return status;
}

static spry_status build(const device_layout *D, bool conjugate, int columns, const instance *in,
                         device_program **p)
{
    spry_context *ctx = D->L->ctx;
    char *text = NULL;
    char options[DEVICE_OPTIONS_SIZE];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_program_text(D->L, &D->arrays, &in->form, columns, conjugates(D, conjugate),
                                     D->carries.any, &text));
    device_layout_options(D->L, &in->form, options);
    SPRY_GO(ctx, device_build(D->d, text, options, p));
done:
    base_free(ctx, text);
    return status;
}

/* A factor as kernels take it: a pair of doubles for complex types, else its first. */
static device_arg factor_arg(spry_type type, const spry_scalar *factor)
{
    return (device_arg){NULL, factor,
                        spry_type_is_complex(type) ? sizeof *factor : sizeof factor->re};
}

/* The arguments of FORMAT_ARGS. */
static int format_args(const device_layout *D, const device_form *form, device_arg *args)
{
    int count = 0;
    for (int i = 0; i < D->arrays.count; i++)
        args[count++] = device_arg_memory(D->memory[i]);
    for (int i = 0; i < DEVICE_MOST_NUMBERS && form->number[i].name; i++)
        args[count++] = DEVICE_VALUE(form->number[i].value);
    return count;
}

static spry_status add_carries(const device_layout *D, const instance *in, const device_product *p)
{
    const device_carries *c = &D->carries;
    const int group = in->form.group;
    const device_arg args[] = {DEVICE_VALUE(c->rows),       device_arg_memory(c->row),
                               device_arg_memory(c->start), device_arg_memory(c->place),
                               device_arg_memory(c->sums),  device_arg_memory(p->y),
                               DEVICE_VALUE(p->y_stride),   factor_arg(D->L->type, &p->alpha)};
    return device_launch(in->program, DEVICE_CARRY_KERNEL, NULL,
                         ((int64_t)c->rows + group - 1) / group, group, args,
                         sizeof args / sizeof *args);
}

/* Room for the products of all entries. */
static spry_status make_room(device_layout *D, const device_form *form, int columns)
{
    if (form->before == 0 || D->products_columns >= columns)
        return SPRY_STATUS_OK;
    device_free(D->products);
    D->products = NULL;
    D->products_columns = 0;
    const spry_status status = device_alloc(
        D->d, D->L->stored * columns * (int64_t)spry_type_size(D->L->type), &D->products);
    if (status == SPRY_STATUS_OK)
        D->products_columns = columns;
    return status;
}

static spry_status prepare(device_layout *D, const device_product *p, instance **in)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(D->L->ctx, find_instance(D, p->conjugate, is_packed(D, p), p->columns, in));
    if (!(*in)->program)
        SPRY_GO(D->L->ctx, build(D, p->conjugate, p->columns, *in, &(*in)->program));
    SPRY_GO(D->L->ctx, device_carries_room(D->d, D->L->type, &D->carries, p->columns));
    SPRY_GO(D->L->ctx, make_room(D, &(*in)->form, p->columns));
done:
    return status;
}

spry_status device_layout_prepare(device_layout *D, const device_product *p)
{
    instance *in;
    return prepare(D, p, &in);
}

spry_status device_layout_multiply(device_layout *D, const device_product *p)
{
    const layout *L = D->L;
    device_arg args[DEVICE_MOST_ARRAYS + DEVICE_MOST_NUMBERS + 9];
    instance *in;
    spry_status status = SPRY_STATUS_OK;
    int count = 0;
    SPRY_GO(L->ctx, prepare(D, p, &in));
    const device_form *form = &in->form;
    const int32_t units = (int32_t)L->units;
    args[count++] = form->by_units ? DEVICE_VALUE(units) : DEVICE_VALUE(form->positions);
    count += format_args(D, form, args + count);
    args[count++] = device_arg_memory(p->x);
    args[count++] = DEVICE_VALUE(p->x_stride);
    if (form->before > 0) {
        args[count] = device_arg_memory(D->products);
        SPRY_GO(L->ctx, device_launch_local(in->program, DEVICE_BEFORE_KERNEL, form->before,
                                            form->group, form->before_local, args, count + 1));
    }
    args[count++] = device_arg_memory(p->y);
    args[count++] = DEVICE_VALUE(p->y_stride);
    args[count++] = factor_arg(L->type, &p->alpha);
    args[count++] = factor_arg(L->type, &p->beta);
    if (form->by_units) {
        args[count++] = device_arg_memory(D->carries.sums);
        if (form->before > 0)
            args[count++] = device_arg_memory(D->products);
        SPRY_GO(L->ctx, device_launch_local(in->program, DEVICE_UNITS_KERNEL, form->positions,
                                            form->group, form->local, args, count));
    } else {
        const int64_t per_group = form->group / (form->lanes * form->spread);
        SPRY_GO(L->ctx, device_launch(in->program, DEVICE_ROWS_KERNEL, NULL,
                                      (form->positions + per_group - 1) / per_group, form->group,
                                      args, count));
    }
    if (D->carries.any)
        SPRY_GO(L->ctx, add_carries(D, in, p));
done:
    return status;
}

/* Of `columns` those that a row makes at once: registers must last for their sums, and where x is
 * read ahead for all that is read of them. */
static int columns_at_once(const layout *L, const device_form *form, int columns)
{
    enum { SUMS_BYTES = 128, AHEAD_BYTES = 32 };
    const int most = (form->at_once ? AHEAD_BYTES : SUMS_BYTES) / (int)spry_type_size(L->type);
    return columns < most ? columns : most;
}

spry_status device_layout_rows(device_layout *D, bool conjugate, const char *prefix, int columns,
                               device_rows *rows)
{
    spry_context *ctx = D->L->ctx;
    instance *in;
    device_form form;
    base_text args = {.ctx = ctx}, pass = {.ctx = ctx}, text = {.ctx = ctx};
    spry_status status = SPRY_STATUS_OK;
    *rows = (device_rows){.rows = D->L->rows};
    SPRY_GO(ctx, find_instance(D, conjugate, true, 1, &in));
    if (in->form.by_units)
        goto done;
    device_put_args(&D->arrays, &in->form, prefix, &args, &pass);
    if (args.status != SPRY_STATUS_OK || pass.status != SPRY_STATUS_OK) {
        status = SPRY_STATUS_NO_MEMORY;
        goto done;
    }
    if (args.used >= sizeof rows->args_text || pass.used >= sizeof rows->pass_text)
        goto done; /* too many arrays for what there is room for: applied whole */
    memcpy(rows->args_text, args.text, args.used + 1);
    memcpy(rows->pass_text, pass.text, pass.used + 1);
    form = in->form;
    rows->columns = columns_at_once(D->L, &form, columns);
    form.apart = rows->columns > 1;
    device_put_format(&text, &D->arrays, &form, rows->columns, conjugates(D, conjugate), prefix,
                      NULL);
    SPRY_GO(ctx, base_text_take(&text, &rows->text));
    rows->positions = in->form.positions;
    rows->lanes = in->form.lanes;
    rows->at_once = in->form.at_once;
    rows->group = in->form.group;
    rows->kind = D->L->kind;
    rows->arg_count = format_args(D, &in->form, rows->args);
done:
    base_free(ctx, args.text);
    base_free(ctx, pass.text);
    return status;
}
