/*
 * Rates that were measured once are kept in the folder for what is remembered: a file for each,
 * named after what was measured and on what. The number is stored as text with a checksum; a file
 * that is not whole is ignored.
 */
#include "base/kept_rate.h"

enum { FILE_MOST = 512, PATH_MOST = 4200 };

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = base_random(hash, (unsigned char)*text);
    return base_random(hash, 256);
}

static bool file_name(const char *what, const char *about, bool make, char *path)
{
    char folder[4000];
    if (!base_cache_folder(folder, sizeof folder) || (make && base_make_folders(folder) != 0))
        return false;
    const int length =
        snprintf(path, PATH_MOST, "%s/%s-%016" PRIx64 ".rate", folder, what, hash_text(1, about));
    return length > 0 && length < PATH_MOST;
}

static void write_record(const char *what, const char *about, double rate, char text[FILE_MOST])
{
    char line[FILE_MOST - 64];
    snprintf(line, sizeof line, "spry %s 1\n%.400s\n%.0f bytes per second\n", what, about, rate);
    snprintf(text, FILE_MOST, "%s%016" PRIx64 "\n", line, hash_text(2, line));
}

double base_kept_rate(const char *what, const char *about)
{
    char path[PATH_MOST], text[FILE_MOST + 1] = "", again[FILE_MOST];
    int64_t size = 0;
    double rate = 0;
    if (!file_name(what, about, false, path))
        return 0;
    const int file = base_file_open(path, FILE_MOST, &size);
    if (file < 0 || base_file_fill(file, text, size) != size)
        return 0;
    const char *line = strchr(text, '\n');
    line = line ? strchr(line + 1, '\n') : NULL;
    if (!line || !base_parse_double(line + 1, text + strlen(text), &rate))
        return 0;
    /* Whole is what would be written again. */
    write_record(what, about, rate, again);
    return strcmp(text, again) == 0 && rate > 0 ? rate : 0;
}

void base_keep_rate(spry_context *ctx, const char *what, const char *about, double rate)
{
    char path[PATH_MOST], text[FILE_MOST], reason[128];
    if (!file_name(what, about, true, path))
        return;
    write_record(what, about, rate, text);
    const int error = base_file_replace(path, text, strlen(text));
    if (error != 0)
        base_log(ctx, SPRY_LOG_INFO, "%s: %s; what was measured is not remembered", path,
                 base_error_text(error, reason, sizeof reason));
}
