/*
 * The folder where choices are kept. Everything here may fail without harm: the tuner then works
 * without a memory. A file is believed only after its checksum was found right.
 */
#include "choose/tune.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

bool tune_folder(spry_context *ctx, char *path, size_t size)
{
    char text[128];
    if (!base_cache_folder(path, size)) {
        base_log(ctx, SPRY_LOG_INFO,
                 "no folder to remember choices in: SPRY_CACHE, XDG_CACHE_HOME or HOME would "
                 "name one");
        return false;
    }
    const int error = base_make_folders(path);
    if (error != 0)
        base_log(ctx, SPRY_LOG_INFO, "%s: %s; choices are not remembered", path,
                 base_error_text(error, text, sizeof text));
    return error == 0;
}

int64_t tune_file_read(spry_context *ctx, const char *path, char text[TUNE_FILE_SIZE])
{
    char reason[128];
    int64_t size = 0;
    const int file = base_file_open(path, TUNE_FILE_SIZE, &size);
    size = file < 0 ? file : base_file_fill(file, text, size);
    if (size < 0 && size != -1 - ENOENT)
        base_log(ctx, SPRY_LOG_WARNING, "%s: %s; ignored", path,
                 base_error_text((int)(-1 - size), reason, sizeof reason));
    return size < 0 ? -1 : size;
}

bool tune_file_write(spry_context *ctx, const char *path, const char *text, size_t size)
{
    char reason[128];
    const int error = base_file_replace(path, text, size);
    if (error != 0)
        base_log(ctx, SPRY_LOG_INFO, "%s: %s; the choice is not remembered", path,
                 base_error_text(error, reason, sizeof reason));
    return error == 0;
}

/* Steps over DIGITS hex digits; NULL when there are others. */
static const char *after_hash(const char *name)
{
    enum { DIGITS = 16 };
    return name && strspn(name, "0123456789abcdef") == DIGITS ? name + DIGITS : NULL;
}

/* The name of a choice or of what was learned of a machine, as tune.c writes them, and no other. */
static bool is_ours(const char *name, const char *prefix)
{
    const bool machine = strncmp(name, "machine-", 8) == 0;
    const char *p = after_hash(machine ? name + 8 : name);
    if (p && !machine) {
        p = *p == '-' ? after_hash(p + 1) : NULL;
        const size_t digits = p && *p == '-' ? strspn(p + 1, "0123456789") : 0;
        p = digits > 0 ? p + 1 + digits : NULL;
    }
    return p && strcmp(p, ".tune") == 0 && strncmp(name, prefix, strlen(prefix)) == 0;
}

int64_t tune_files_drop(const char *folder, const char *prefix)
{
    int64_t count = 0;
    DIR *all = opendir(folder);
    if (!all)
        return 0;
    for (const struct dirent *entry; (entry = readdir(all));)
        if (is_ours(entry->d_name, prefix))
            count += unlinkat(dirfd(all), entry->d_name, 0) == 0;
    closedir(all);
    return count;
}
