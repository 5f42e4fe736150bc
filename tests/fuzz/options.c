/*
 * Texts of options, for all lists there are, and specs of preconditioners, formats and methods:
 * what is taken is shown as it would be given, what is refused says why and leaves nothing.
 */
#include "fuzz.h"

#include "choose/precons.h"
#include "formats/shared/layout.h"
#include "krylov/krylov.h"

#include <spry/doctor.h>
#include <spry/generate.h>
#include <spry/solver.h>
#include <spry/tune.h>

enum { FIELDS_SIZE = 1 << 14, LONGEST = 4096 };

/* All options of a list that was parsed, as text and back. */
static void show_and_set(spry_context *ctx, spry_option_list list, void *fields)
{
    const spry_option *option;
    for (int k = 0; (option = spry_options_at(list, k)); k++) {
        char first[SPRY_OPTION_TEXT_SIZE], again[SPRY_OPTION_TEXT_SIZE];
        if (option->kind == SPRY_OPTION_PATH)
            continue;
        fuzz_require(options_get_text(ctx, list, fields, option->name, first, sizeof first) ==
                     SPRY_STATUS_OK);
        fuzz_require(spry_options_set(ctx, list, fields, option->name, first) == SPRY_STATUS_OK);
        fuzz_require(options_get_text(ctx, list, fields, option->name, again, sizeof again) ==
                     SPRY_STATUS_OK);
        fuzz_require(strcmp(first, again) == 0);
    }
}

static void parse(spry_context *ctx, spry_option_list list, const char *text)
{
    static _Alignas(16) char fields[FIELDS_SIZE];
    fuzz_require(spry_options_size(list) <= sizeof fields);
    memset(fields, 0, sizeof fields);
    fuzz_require(spry_options_default(ctx, list, fields) == SPRY_STATUS_OK);
    const spry_status status = spry_options_parse(ctx, list, fields, text);
    fuzz_require(status == SPRY_STATUS_OK ||
                 (status == SPRY_STATUS_BAD_USAGE && spry_message(ctx)[0] != '\0'));
    show_and_set(ctx, list, fields);
}

static void parse_all(spry_context *ctx, const char *text)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    for (int k = 0; spry_list_at(SPRY_LIST_OBJECTS, k, &entry); k++)
        parse(ctx, entry.options, text);
    for (int k = 0; spry_list_at(SPRY_LIST_PRECONS, k, &entry); k++)
        parse(ctx, precon_options(entry.name), text);
}

/* A preconditioner of a small matrix, a format, a method. */
static void take_spec(spry_context *ctx, const char *spec)
{
    static const int64_t offsets[] = {0, 2, 4};
    static const int32_t columns[] = {0, 1, 0, 1};
    static const double values[] = {4, 1, 1, 3};
    static _Alignas(16) char options[LAYOUT_OPTIONS_SIZE];
    const layout_class *class = NULL;
    spry_matrix *A = NULL;
    spry_operator *M = NULL;
    program *p = NULL;
    if (spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 2, offsets, columns, values, SPRY_OWN_COPY, &A) ==
        SPRY_STATUS_OK)
        fuzz_require(spry_precon_new(A, NULL, spec, &M) == SPRY_STATUS_OK ||
                     (!M && spry_message(ctx)[0] != '\0'));
    spry_operator_free(M);
    spry_matrix_free(A);
    (void)layout_parse(ctx, spec, &class, options);
    (void)krylov_parse(ctx, spec, NULL, "", 0, &p);
    program_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST];
    int64_t memory = 0;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    spry_context *ctx = fuzz_begin(&memory);
    parse_all(ctx, text);
    take_spec(ctx, text);
    fuzz_end(ctx, memory);
    return 0;
}
