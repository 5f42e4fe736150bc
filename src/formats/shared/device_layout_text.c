/* From a layout to the text of a program: what device_formats.h promises a format's text. */
#include "formats/shared/device_layout.h"

#include "formats/shared/device_layout_text.h"

spry_status device_arrays_open(const layout *L, device_arrays *a)
{
    const device_format *format = device_format_for(L->class);
    *a = (device_arrays){.ctx = L->ctx};
    if (!format)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format %s has no kernels for devices; take csr or sell", L->class->name);
    if (format->arrays) {
        const spry_status status = format->arrays(L, a->array);
        if (status != SPRY_STATUS_OK) {
            device_arrays_close(a);
            return status;
        }
    } else {
        for (int i = 0, to = 0; i < LAYOUT_MOST_ARRAYS; i++)
            if (L->array[i].name && !L->array[i].aside)
                a->array[to++] = L->array[i];
    }
    while (a->count < DEVICE_MOST_ARRAYS && a->array[a->count].name)
        a->count++;
    return SPRY_STATUS_OK;
}

void device_arrays_close(device_arrays *a)
{
    for (int i = 0; i < DEVICE_MOST_ARRAYS; i++)
        if (a->array[i].aside)
            base_free(a->ctx, a->array[i].data);
    *a = (device_arrays){.ctx = a->ctx};
}

static const char *element_type(const layout_array *array, int index)
{
    return index == 0         ? "stored"
           : array->size == 1 ? "sp_u8"
           : array->size == 2 ? "sp_u16"
           : array->size == 8 ? "offset"
                              : "int";
}

void device_put_args(const device_arrays *a, const device_form *form, const char *prefix,
                     base_text *args, base_text *pass)
{
    const char *between = "";
    for (int i = 0; i < a->count; i++, between = ", ") {
        base_text_put(args, "%sSP_GLOBAL const %s *SP_RESTRICT %s%s", between,
                      element_type(&a->array[i], i), prefix, a->array[i].name);
        base_text_put(pass, "%s%s%s", between, prefix, a->array[i].name);
    }
    for (int i = 0; i < DEVICE_MOST_NUMBERS && form->number[i].name; i++, between = ", ") {
        base_text_put(args, "%sconst offset %s%s", between, prefix, form->number[i].name);
        base_text_put(pass, "%s%s%s", between, prefix, form->number[i].name);
    }
}

/* "SLICE=32 WIDE=1" as lines; `define` or the end of them. */
static void put_defines(base_text *t, const char *defines, bool define)
{
    for (const char *p = defines + strspn(defines, " "); *p; p += strspn(p, " ")) {
        const size_t word = strcspn(p, " "), name = strcspn(p, "= ");
        if (define)
            base_text_put(t, "#define %.*s %.*s\n", (int)name, p,
                          (int)(word > name ? word - name - 1 : 0),
                          p + (word > name ? name + 1 : name));
        else
            base_text_put(t, "#undef %.*s\n", (int)name, p);
        p += word;
    }
}

/* A text of ours into t; what is missing is a fault of the build. */
static void put_text(base_text *t, const char *name)
{
    const char *text = device_text(name);
    if (text)
        base_text_put(t, "%s\n", text);
    else if (t->status == SPRY_STATUS_OK)
        t->status = SPRY_FAIL(t->ctx, SPRY_STATUS_UNSUPPORTED, "there is no kernel text %s", name);
}

static const char *const words[] = {
    "SP_F",   "FORMAT_ARGS",  "FORMAT_PASS",   "FORMAT_LANES",    "COLUMNS",     "SP_X",  "SP_AT",
    "SP_PUT", "FORMAT_VALUE", "FORMAT_SPREAD", "FORMAT_VALUE_BY", "FORMAT_CONJ", "SP_ADD"};

static void put_words(base_text *t, const device_arrays *a, const device_form *form, int columns,
                      bool conjugate, const char *prefix)
{
    base_text args = {.ctx = t->ctx}, pass = {.ctx = t->ctx};
    device_put_args(a, form, "", &args, &pass);
    if (args.status != SPRY_STATUS_OK || pass.status != SPRY_STATUS_OK)
        t->status = SPRY_STATUS_NO_MEMORY;
    base_text_put(t, "#define SP_F(name) %s##name\n", prefix);
    base_text_put(t, "#define FORMAT_ARGS %s\n", args.text ? args.text : "");
    base_text_put(t, "#define FORMAT_PASS %s\n", pass.text ? pass.text : "");
    base_text_put(t, "#define FORMAT_LANES %d\n", form->lanes > 0 ? form->lanes : 1);
    base_text_put(t, "#define FORMAT_SPREAD %d\n", form->spread);
    base_text_put(t, "#define COLUMNS %d\n", columns / form->spread);
    base_text_put(t, "%s",
                  "#ifdef SP_RESIDENT\n"
                  "#define SP_X SP_GLOBAL const scalar *x, const offset x_stride\n"
                  "#else\n"
                  "#define SP_X SP_GLOBAL const scalar *SP_RESTRICT x, const offset x_stride\n"
                  "#endif\n");
    if (columns == 1)
        base_text_put(t, "%s",
                      "#define SP_AT(j, c) sp_often(x + (j))\n"
                      "#define SP_PUT(row, c, sum) sp_put(y + (row), sum, alpha, beta)\n");
    else if (form->apart)
        base_text_put(t, "%s",
                      "#define SP_AT(j, c) sp_often(x + ((offset)(c) * x_stride + (j)))\n");
    else
        base_text_put(t, "%s",
                      "#define SP_AT(j, c) sp_often(x + ((offset)(j) * x_stride + (c)))\n"
                      "#define SP_PUT(row, c, sum) "
                      "sp_put(y + ((offset)(row) * y_stride + (c)), sum, alpha, beta)\n");
    base_text_put(t, "#define FORMAT_CONJ(a) %s(a)\n", conjugate ? "sp_conj" : "");
    base_text_put(t,
                  "#define FORMAT_VALUE(place) FORMAT_VALUE_BY(once, place)\n"
                  "#define FORMAT_VALUE_BY(word, place) FORMAT_CONJ(sp_value_##word(%s, place))\n",
                  a->count > 0 ? a->array[0].name : "values");
    put_text(t, form->wide ? "add_wide" : "add");
    base_text_put(t, "%s", "#define SP_ADD(a, j, sum) SP_F(add)(x, x_stride, a, j, sum)\n");
    base_free(t->ctx, args.text);
    base_free(t->ctx, pass.text);
}

void device_put_format(base_text *t, const device_arrays *a, const device_form *form, int columns,
                       bool conjugate, const char *prefix, const char *kernel)
{
    put_words(t, a, form, columns, conjugate, prefix);
    put_defines(t, form->defines, true);
    put_text(t, form->text);
    if (kernel)
        put_text(t, kernel);
    put_defines(t, form->defines, false);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        base_text_put(t, "#undef %s\n", words[i]);
}

/* Columns are shared so that a work-item has 32 bytes of a row: neighbours then read what is side
 * by side, and registers last. */
static void share_columns(const layout *L, int columns, bool packed, device_form *form)
{
    enum { PART = 32, VECTOR = 16 };
    const int size = (int)spry_type_size(L->type), row = columns * size;
    form->spread = 1;
    if (columns == 1 || form->by_units)
        return;
    while (row % (2 * form->spread * size) == 0 && row / form->spread > PART &&
           form->lanes * form->spread * 2 <= form->group)
        form->spread *= 2;
    form->wide = packed && row / form->spread % VECTOR == 0;
}

spry_status device_form_open(const spry_device *d, const layout *L, int columns, bool packed,
                             device_form *form)
{
    enum { GROUP = 256 };
    const device_format *format = device_format_for(L->class);
    *form = (device_form){.lanes = 1, .spread = 1};
    if (!format)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format %s has no kernels for devices; take csr or sell", L->class->name);
    if (!type_is_single(L->type) && !d->facts.has_double)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "device %s has no double precision; take type s or c", d->facts.name);
    const spry_status status = format->open(d, L, columns, form);
    if (status == SPRY_STATUS_OK && form->group == 0)
        form->group = d->facts.most_group < GROUP ? d->facts.most_group : GROUP;
    share_columns(L, columns, packed, form);
    return status;
}

spry_status device_program_text(const layout *L, const device_arrays *arrays,
                                const device_form *form, int columns, bool conjugate, bool carries,
                                char **text)
{
    base_text t = {.ctx = L->ctx};
    put_text(&t, "put");
    device_put_format(&t, arrays, form, columns, conjugate, "a_", form->by_units ? NULL : "rows");
    if (carries) {
        base_text_put(&t, "#define COLUMNS %d\n", columns);
        put_text(&t, "carry");
    }
    return base_text_take(&t, text);
}

void device_layout_options(const layout *L, const device_form *form,
                           char options[DEVICE_OPTIONS_SIZE])
{
    static const int types[] = {
        [SPRY_TYPE_S] = 0, [SPRY_TYPE_D] = 1, [SPRY_TYPE_C] = 2, [SPRY_TYPE_Z] = 3};
    snprintf(options, DEVICE_OPTIONS_SIZE, "-DSP_TYPE=%d -DSP_KIND=%d -DSP_GROUP=%d",
             types[L->type], (int)L->kind, form->group);
}
