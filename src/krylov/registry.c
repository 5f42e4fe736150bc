/* The methods there are, and the words of a result. */
#include "krylov/krylov.h"

#include <private/programs.h>
#include <stdlib.h>

/* A whole file, at most as large as a method may be. */
static spry_status read_text(spry_context *ctx, const char *path, char **text, size_t *size)
{
    enum { MOST = (1 << 20) + 1 };
    FILE *file = fopen(path, "rb");
    spry_status status = SPRY_STATUS_OK;
    *text = NULL;
    if (!file)
        return SPRY_FAIL(ctx, SPRY_STATUS_IO, "%s: cannot be opened", path);
    SPRY_GO(ctx, base_alloc(ctx, MOST, 1, text));
    *size = fread(*text, 1, MOST, file);
    if (ferror(file))
        status = SPRY_FAIL(ctx, SPRY_STATUS_IO, "%s: cannot be read", path);
done:
    fclose(file);
    return status;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A copy of a text, and after it those of the library's parts that it may use and does not have. */
static spry_status add_parts(spry_context *ctx, const char *text, size_t *size, char **out)
{
    size_t most = *size + 1;
    for (const krylov_part *part = krylov_parts; part->name; part++)
        most += strlen(part->text);
    const spry_status status = base_alloc(ctx, (int64_t)most, 1, out);
    if (status != SPRY_STATUS_OK)
        return status;
    memcpy(*out, text, *size);
    (*out)[*size] = '\0';
    for (const krylov_part *part = krylov_parts; part->name; part++) {
        char own[64], used[64];
        snprintf(own, sizeof own, "\npart %s:", part->name);
        snprintf(used, sizeof used, "use %s", part->name);
        if (!strstr(*out, used) || strstr(*out, own))
            continue;
        memcpy(*out + *size, part->text, strlen(part->text) + 1);
        *size += strlen(part->text);
    }
    return SPRY_STATUS_OK;
}

/* A method of the caller's, from the text or else the file; `name` must be its name or auto. */
static spry_status parse_own(spry_context *ctx, const char *name, const char *text,
                             const char *file, program **p)
{
    const char *source = text ? "method" : last_part(file);
    char *read = NULL, *whole = NULL;
    size_t size = text ? strlen(text) : 0;
    spry_status status = SPRY_STATUS_OK;
    if (!text)
        SPRY_GO(ctx, read_text(ctx, file, &read, &size));
    SPRY_GO(ctx, add_parts(ctx, text ? text : read, &size, &whole));
    SPRY_GO(ctx, program_parse(ctx, source, whole, size, p));
    if (strcmp(name, "auto") != 0 && strcmp(name, (*p)->method) != 0) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s has method %s, not %s",
                           text ? "the text" : file, (*p)->method, name);
        program_free(*p);
        *p = NULL;
    }
done:
    base_free(ctx, read);
    base_free(ctx, whole);
    return status;
}

/* The library's method of a name. */
static spry_status parse_known(spry_context *ctx, const char *name, program **p)
{
    char names[1024] = "auto", source[64];
    for (int i = 0; krylov_texts[i].name; i++) {
        if (strcmp(name, krylov_texts[i].name) != 0)
            continue;
        snprintf(source, sizeof source, "%.40s.krylov", name);
        return program_parse(ctx, source, krylov_texts[i].text, strlen(krylov_texts[i].text), p);
    }
    for (int i = 0; krylov_texts[i].name; i++)
        base_add_word(names, sizeof names, krylov_texts[i].name);
    return base_unknown_word(ctx, "method", name, names);
}

spry_status krylov_parse(spry_context *ctx, const char *spec, const char *text, const char *file,
                         int64_t restart, program **out)
{
    char name[64];
    const size_t length = strcspn(spec, ":");
    program *p = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, spec);
    if (text || file[0])
        SPRY_GO(ctx, parse_own(ctx, name, text, file, &p));
    else
        SPRY_GO(ctx, parse_known(ctx, name, &p));
    if (restart > 0 && program_find_option(p, "restart") != NONE)
        SPRY_GO(ctx, program_set_number(p, "restart", (double)restart));
    SPRY_GO(ctx, program_set_options(p, spec[length] ? spec + length + 1 : NULL));
    *out = p;
    p = NULL;
done:
    program_free(p);
    return status;
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

const base_sized krylov_result_sized = BASE_SIZED(spry_result, energy_error);

void spry_result_clear(spry_context *ctx, spry_result *result)
{
    if (!result || base_size(result, &krylov_result_sized) == 0)
        return;
    base_free(ctx, result->history);
    base_free(ctx, result->warnings);
    base_free(ctx, result->tried);
    base_blank(ctx, result, &krylov_result_sized);
}
