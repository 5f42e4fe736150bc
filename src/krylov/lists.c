/* All lists of the library, walked in one way: each room gives its own. */
#include "choose/precons.h"
#include "choose/tune.h"
#include "device/engine/engine.h"
#include "doctor/doctor.h"
#include "formats/shared/device_formats.h"
#include "io/io.h"
#include "krylov/krylov.h"
#include "krylov/split.h"
#include "matrix/algebra/algebra.h"
#include "matrix/gen/gen.h"
#include "powers/powers.h"

static bool method_at(int index, spry_entry *entry)
{
    for (int i = 0; i <= index; i++)
        if (!krylov_texts[i].name)
            return false;
    *entry = krylov_texts[index];
    return true;
}

static bool format_at(int index, spry_entry *entry)
{
    const layout_class *class = layout_class_at(index);
    if (!class)
        return false;
    entry->name = class->name;
    entry->summary = class->summary;
    entry->options = class->options;
    entry->on_devices = device_format_for(class) != NULL;
    return true;
}

static bool object_at(int index, spry_entry *entry)
{
    static const struct {
        const char *name, *summary;
        spry_option_list (*options)(void);
    } objects[] = {
        {"context", "threads, kernels, memory, messages: spry_context_new()", context_option_list},
        {"solver", "what a solver does: spry_solver_set()", solver_option_list},
        {"read", "reading files: spry_matrix_read()", read_option_list},
        {"generate", "all options of the generators: spry_generate()", generate_option_list},
        {"tune", "choosing a storage format: spry_tune(), format=auto:...", tune_option_list},
        {"diagnose", "what the doctor looks at: spry_diagnose()", diagnose_option_list},
        {"kernel", "kernels of one's own: spry_kernel_new()", kernel_option_list},
        {"powers", "several products with one reading of A: spry_powers_new()", powers_option_list},
        {"split", "solves on ranks that do not wait: spry solve --split", split_option_list},
    };
    if (index >= (int)(sizeof objects / sizeof *objects))
        return false;
    entry->name = objects[index].name;
    entry->summary = objects[index].summary;
    entry->options = objects[index].options();
    return true;
}

spry_option_list spry_options_of(const char *object)
{
    spry_entry entry = {0};
    for (int i = 0; object && object_at(i, &entry); i++)
        if (strcmp(entry.name, object) == 0)
            return entry.options;
    return (spry_option_list){0};
}

spry_status spry_context_set_options(spry_context *ctx, spry_option_list list, const void *fields)
{
    SPRY_NEED(ctx, ctx);
    spry_entry object = {0};
    for (int i = 0; object_at(i, &object); i++)
        if (object.options.options == list.options)
            return context_set_options(ctx, list, fields);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "options are set for lists of SPRY_LIST_OBJECTS; this is none of them");
}

/* Fills an entry that is cleared; false past the last. */
typedef bool (*entry_at)(int index, spry_entry *entry);
static const entry_at lists[] = {
    [SPRY_LIST_METHODS] = method_at,           [SPRY_LIST_PRECONS] = precon_entry_at,
    [SPRY_LIST_FORMATS] = format_at,           [SPRY_LIST_FILES] = io_entry_at,
    [SPRY_LIST_GENERATORS] = gen_entry_at,     [SPRY_LIST_ORDERINGS] = algebra_order_at,
    [SPRY_LIST_SCALINGS] = algebra_scaling_at, [SPRY_LIST_OBJECTS] = object_at,
    [SPRY_LIST_FINDINGS] = doctor_kind_at,
};

static const base_sized sized = BASE_SIZED(spry_entry, flexible);

static bool exists(spry_list list)
{
    return (int)list >= 0 && list < SPRY_LIST_COUNT;
}

static bool at(spry_list list, int index, spry_entry *entry)
{
    *entry = (spry_entry){0};
    return exists(list) && index >= 0 && lists[list](index, entry);
}

bool spry_list_at(spry_list list, int index, spry_entry *entry)
{
    spry_entry found;
    if (!entry || base_blank(NULL, entry, &sized) != SPRY_STATUS_OK || !at(list, index, &found))
        return false;
    base_give(entry, &found, &sized);
    return true;
}

bool spry_list_find(spry_list list, const char *name, spry_entry *entry)
{
    spry_entry found;
    if (!entry || base_blank(NULL, entry, &sized) != SPRY_STATUS_OK || !name)
        return false;
    const size_t length = strcspn(name, ":");
    for (int i = 0; at(list, i, &found); i++) {
        if (strlen(found.name) == length && strncmp(found.name, name, length) == 0) {
            base_give(entry, &found, &sized);
            return true;
        }
    }
    return false;
}

#define LIST_NAME(name, word, text) word,
#define LIST_SUMMARY(name, word, text) text,

const char *spry_list_name(spry_list list)
{
    static const char *const names[] = {SPRY_LIST_LIST(LIST_NAME)};
    return exists(list) ? names[list] : NULL;
}

const char *spry_list_summary(spry_list list)
{
    static const char *const texts[] = {SPRY_LIST_LIST(LIST_SUMMARY)};
    return exists(list) ? texts[list] : NULL;
}
