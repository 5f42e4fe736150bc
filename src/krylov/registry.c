/* The methods there are, one line each, and the words of a result. */
#include "krylov/krylov.h"

static const krylov_method *const methods[] = {&krylov_cg};
enum { METHODS = sizeof methods / sizeof *methods };

bool spry_method_describe(int index, const char **name, const char **summary)
{
    if (index < 0 || index >= METHODS)
        return false;
    *name = methods[index]->name;
    *summary = methods[index]->summary;
    return true;
}

spry_status krylov_find(spry_context *ctx, const char *name, const krylov_method **method)
{
    char names[512] = "auto";
    *method = NULL;
    if (strcmp(name, "auto") == 0)
        name = krylov_cg.name;
    for (int i = 0; i < METHODS; i++) {
        if (strcmp(name, methods[i]->name) == 0) {
            *method = methods[i];
            return SPRY_OK;
        }
        base_add_word(names, sizeof names, methods[i]->name);
    }
    return base_unknown_word(ctx, "method", name, names);
}

#define REASON_NAME(name, word, text) word,
#define REASON_TEXT(name, word, text) text,

const char *spry_reason_name(spry_reason reason)
{
    static const char *const words[] = {SPRY_REASON_LIST(REASON_NAME)};
    return reason >= 0 && reason < SPRY_REASON_COUNT ? words[reason] : "unknown";
}

const char *spry_reason_text(spry_reason reason)
{
    static const char *const texts[] = {SPRY_REASON_LIST(REASON_TEXT)};
    return reason >= 0 && reason < SPRY_REASON_COUNT ? texts[reason] : "unknown reason";
}

void spry_result_clear(spry_context *ctx, spry_result *result)
{
    if (!result)
        return;
    base_free(ctx, result->history);
    base_free(ctx, result->warnings);
    memset(result, 0, sizeof *result);
}
