/* Choices of one matrix on this machine or a device, and what was learned of the machine, as they
 * are kept in files. Memory that is short is not worth a failure. */
#include "choose/tune.h"

void tune_memory_open(const spry_device *d, const spry_matrix *A, int64_t class, bool remember,
                      tune_memory *m)
{
    *m = (tune_memory){.device = d != NULL,
                       .matrix = tune_fingerprint(A),
                       .machine = tune_machine_fingerprint(A->ctx, d),
                       .class = class};
    m->usable = remember && tune_folder(A->ctx, m->folder, sizeof m->folder);
    snprintf(m->path, sizeof m->path, "%s/%016" PRIx64 "-%016" PRIx64 "-%" PRId64 ".tune",
             m->folder, m->matrix, m->machine, m->class);
    snprintf(m->machine_path, sizeof m->machine_path, "%s/machine-%016" PRIx64 ".tune", m->folder,
             m->machine);
}

static bool text_room(const tune_memory *m, spry_context *ctx, char **text)
{
    *text = NULL;
    return m->usable && base_alloc(ctx, TUNE_FILE_SIZE, 1, text) == SPRY_STATUS_OK;
}

static void warn_damaged(spry_context *ctx, const char *path)
{
    base_log(ctx, SPRY_LOG_WARNING, "%s: not a file of the tuner, or damaged; ignored", path);
}

/* The text of a file, which is to be freed, with its size; NULL: there is none. */
static char *recall_text(spry_context *ctx, const tune_memory *m, const char *path, size_t *size)
{
    char *text;
    if (!text_room(m, ctx, &text))
        return NULL;
    const int64_t found = tune_file_read(ctx, path, text);
    *size = found >= 0 ? (size_t)found : 0;
    if (found >= 0)
        return text;
    base_free(ctx, text);
    return NULL;
}

/* Frees the text; whether what was read of it is good. */
static bool end_recall(spry_context *ctx, const char *path, char *text, bool good)
{
    if (!good)
        warn_damaged(ctx, path);
    base_free(ctx, text);
    return good;
}

bool tune_recall(spry_context *ctx, const tune_memory *m, tune_entry *entry)
{
    size_t size;
    char *text = recall_text(ctx, m, m->path, &size);
    return text && end_recall(ctx, m->path, text,
                              tune_entry_read(text, size, entry) && entry->matrix == m->matrix &&
                                  entry->machine == m->machine && entry->class == m->class);
}

void tune_keep(spry_context *ctx, const tune_memory *m, tune_entry *entry)
{
    char *text;
    if (!text_room(m, ctx, &text))
        return;
    entry->matrix = m->matrix;
    entry->machine = m->machine;
    entry->class = m->class;
    tune_file_write(ctx, m->path, text, tune_entry_write(entry, text));
    base_free(ctx, text);
}

bool tune_recall_solved(spry_context *ctx, const tune_memory *m, tune_solved *solved)
{
    size_t size;
    char *text = recall_text(ctx, m, m->path, &size);
    return text && end_recall(ctx, m->path, text,
                              tune_solved_read(text, size, solved) && solved->matrix == m->matrix &&
                                  solved->machine == m->machine);
}

void tune_keep_solved(spry_context *ctx, const tune_memory *m, tune_solved *solved)
{
    char *text;
    if (!text_room(m, ctx, &text))
        return;
    solved->matrix = m->matrix;
    solved->machine = m->machine;
    tune_file_write(ctx, m->path, text, tune_solved_write(solved, text));
    base_free(ctx, text);
}

void tune_recall_machine(spry_context *ctx, const tune_memory *m, tune_machine *machine)
{
    size_t size;
    char *text = recall_text(ctx, m, m->machine_path, &size);
    if (!text ||
        !end_recall(ctx, m->machine_path, text,
                    tune_machine_read(text, size, machine) && machine->machine == m->machine))
        *machine = (tune_machine){.machine = m->machine};
}

void tune_keep_machine(spry_context *ctx, const tune_memory *m, const tune_machine *machine)
{
    char *text;
    if (!text_room(m, ctx, &text))
        return;
    tune_file_write(ctx, m->machine_path, text, tune_machine_write(machine, text));
    base_free(ctx, text);
}
