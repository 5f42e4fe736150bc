/* The file formats there are, choosing one, and the public way in and out. */
#include "io/finish.h"

#include <private/marks.h>
#include <private/programs.h>

static const io_format *const formats[] = {
    &io_mtx, &io_rutherford_boeing, &io_npz, &io_npy, &io_mat73, &io_mat, &io_native};
enum { FORMATS = sizeof formats / sizeof formats[0], ENDING_SIZE = 32 };

SPRY_OPTION_TABLE(read_option_rows, read_options, READ_OPTIONS(SPRY_OPTION_ROW))

spry_option_list read_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(read_option_rows);
}

/* Copies ending number index of a format's list; false past the last. */
static bool ending_at(const io_format *format, int index, char ending[ENDING_SIZE])
{
    const char *p = format->endings;
    for (; index > 0 && *p; index--) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    snprintf(ending, ENDING_SIZE, "%.*s", (int)strcspn(p, " "), p);
    return ending[0] != '\0';
}

/* The number of the format whose ending a name has, or -1; a file to be read may have .gz after
 * any. */
static int by_name(const char *path, bool reading)
{
    char ending[ENDING_SIZE];
    size_t length = strlen(path);
    for (int pass = 0; pass < 2; pass++) {
        for (int f = 0; f < FORMATS; f++)
            for (int i = 0; ending_at(formats[f], i, ending); i++)
                if (io_ends_with(path, length, ending))
                    return f;
        if (!reading || !io_ends_with(path, length, ".gz"))
            break;
        length -= strlen(".gz");
    }
    return -1;
}

/* What the bytes look like decides; the name only when they look like nothing known. */
spry_status io_choose(spry_context *ctx, const io_bytes *bytes, const io_format **format)
{
    for (int f = 0; f < FORMATS; f++) {
        if (formats[f]->matches(bytes)) {
            *format = formats[f];
            return SPRY_STATUS_OK;
        }
    }
    const char *utf16 = text_is_utf16(bytes->data, bytes->size);
    const int named = by_name(bytes->path, true);
    if (!utf16 && named >= 0) {
        *format = formats[named];
        return SPRY_STATUS_OK;
    }
    return io_fault(ctx, bytes, 0, "%s",
                    utf16 ? utf16
                          : "this is no file format known here, neither by content nor by name");
}

spry_status io_name_binary(spry_context *ctx, const io_bytes *bytes, const io_format *format,
                           spry_status status)
{
    size_t at;
    const char *binary = status == SPRY_STATUS_BAD_INPUT && format->text && bytes->data
                             ? text_is_binary(bytes->data, bytes->size, &at)
                             : NULL;
    return binary ? io_fault(ctx, bytes, at, "%s", binary) : status;
}

static spry_status read_content(spry_context *ctx, io_bytes *bytes, const io_format *format,
                                const char *text, read_options *options, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, options_take(ctx, read_option_list(), options, text));
    SPRY_GO(ctx, io_name_binary(ctx, bytes, format, format->read(ctx, bytes, content)));
done:
    return status;
}

/* Puts the file's name before messages from rooms that know nothing of files. */
static spry_status name_file(spry_context *ctx, const io_bytes *bytes, spry_status status)
{
    const bool named = strncmp(spry_message(ctx), bytes->path, strlen(bytes->path)) == 0;
    if (named || (status != SPRY_STATUS_BAD_INPUT && status != SPRY_STATUS_NO_MEMORY))
        return status;
    return SPRY_CAUSE(ctx, status, "%s", bytes->path);
}

/* Arrays of three dimensions are columns, and nothing else. */
static spry_status check_planes(spry_context *ctx, const io_bytes *bytes, const io_dense *dense)
{
    return dense->planes == 0
               ? SPRY_STATUS_OK
               : SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                           "%s: the array has 3 dimensions, a vector has 1 and a matrix 2",
                           bytes->path);
}

spry_status io_read_bytes(spry_context *ctx, io_bytes *bytes, const io_format *format,
                          const char *options, spry_matrix **A)
{
    spry_status status = SPRY_STATUS_OK;
    read_options parsed;
    io_content content = {0};
    *A = NULL;
    SPRY_GO(ctx, read_content(ctx, bytes, format, options, &parsed, &content));
    SPRY_GO(ctx, check_planes(ctx, bytes, &content.dense));
    if (!content.matrix)
        SPRY_GO(ctx, io_dense_to_matrix(ctx, &content.dense, &content.matrix));
    SPRY_GO(ctx, io_finish_matrix(bytes, format, &parsed, &content.matrix));
    *A = content.matrix;
    content.matrix = NULL;
done:
    spry_matrix_free(content.matrix);
    base_free(ctx, content.dense.values);
    return name_file(ctx, bytes, status);
}

spry_status io_read_vector_bytes(spry_context *ctx, io_bytes *bytes, const io_format *format,
                                 const char *options, spry_vector **v, int64_t *cols)
{
    spry_status status = SPRY_STATUS_OK;
    read_options parsed;
    io_content content = {0};
    SPRY_GO(ctx, read_content(ctx, bytes, format, options, &parsed, &content));
    if (!cols)
        SPRY_GO(ctx, check_planes(ctx, bytes, &content.dense));
    if (content.matrix) {
        const matrix_arrays a = content.matrix->a;
        parsed.expand = true;
        SPRY_GO(ctx, io_finish_matrix(bytes, format, &parsed, &content.matrix));
        if (a.rows == 1 || a.cols == 1) { /* others are refused below, without filling them up */
            SPRY_GO(ctx, io_matrix_to_dense(content.matrix, &content.dense));
        } else if (cols) {
            *cols = 1;
            cols = NULL;
        }
        content.dense.type = content.matrix->a.type;
        content.dense.rows = a.rows;
        content.dense.cols = a.cols;
    }
    SPRY_GO(ctx, io_finish_vector(ctx, bytes, format, &parsed, &content.dense, v, cols));
done:
    spry_matrix_free(content.matrix);
    base_free(ctx, content.dense.values);
    return name_file(ctx, bytes, status);
}

static spry_status check_arguments(spry_context *ctx, const char *path)
{
    return *path ? SPRY_STATUS_OK : SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "no file name is given");
}

/* Reads a matrix, or where A is NULL a vector, of one column where cols is NULL. */
static spry_status read_file(spry_context *ctx, const char *path, const char *options,
                             spry_matrix **A, spry_vector **v, int64_t *cols)
{
    io_bytes bytes = {0};
    const io_format *format = NULL;
    spry_status status = check_arguments(ctx, path);
    if (status != SPRY_STATUS_OK)
        return status;
    SPRY_GO(ctx, io_open(ctx, path, &bytes));
    SPRY_GO(ctx, io_choose(ctx, &bytes, &format));
    SPRY_GO(ctx, io_go_on(ctx, path));
    SPRY_GO(ctx, A ? io_read_bytes(ctx, &bytes, format, options, A)
                   : io_read_vector_bytes(ctx, &bytes, format, options, v, cols));
done:
    io_close(ctx, &bytes);
    if (status == SPRY_STATUS_INTERRUPTED)
        base_stopped(ctx);
    return status;
}

spry_status spry_matrix_read(spry_context *ctx, const char *path, const char *options,
                             spry_matrix **A)
{
    SPRY_NEED(ctx, ctx, path, A);
    *A = NULL;
    return read_file(ctx, path, options, A, NULL, NULL);
}

spry_status spry_vector_read(spry_context *ctx, const char *path, const char *options,
                             spry_vector **v)
{
    SPRY_NEED(ctx, ctx, path, v);
    *v = NULL;
    return read_file(ctx, path, options, NULL, v, NULL);
}

spry_status spry_columns_read(spry_context *ctx, const char *path, const char *options,
                              spry_vector **v, int64_t *cols)
{
    SPRY_NEED(ctx, ctx, path, v, cols);
    *v = NULL;
    *cols = 0;
    return read_file(ctx, path, options, NULL, v, cols);
}

static bool can_write(const io_format *format, bool vector)
{
    return vector ? format->write_vector != NULL : format->write_matrix != NULL;
}

/* Appends the endings that can be written, the first of each format and those with .gz. */
static void known_endings(bool vector, char *list, size_t size)
{
    list[0] = '\0';
    for (int f = 0; f < FORMATS; f++) {
        char ending[ENDING_SIZE];
        for (int i = 0; can_write(formats[f], vector) && ending_at(formats[f], i, ending); i++)
            if (i == 0 || io_ends_with(ending, strlen(ending), ".gz"))
                snprintf(list + strlen(list), size - strlen(list), " %s", ending);
    }
}

/* The format to write path in, or NULL and a message; standard output and devices get text. */
static const io_format *choose_for_writing(spry_context *ctx, const char *path, bool vector)
{
    if (check_arguments(ctx, path) != SPRY_STATUS_OK)
        return NULL;
    const bool device = strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0;
    const int named = by_name(path, false);
    if (named < 0 && device)
        return &io_mtx;
    if (named >= 0 && can_write(formats[named], vector))
        return formats[named];
    char list[256];
    known_endings(vector, list, sizeof list);
    SPRY_FAIL(
        ctx, SPRY_STATUS_BAD_USAGE,
        "%s: the name's ending names no format that a %s can be written in; those known are%s",
        path, vector ? "vector" : "matrix", list);
    return NULL;
}

spry_status spry_file_check_name(spry_context *ctx, const char *path, bool vector)
{
    SPRY_NEED(ctx, ctx, path);
    return choose_for_writing(ctx, path, vector) ? SPRY_STATUS_OK : SPRY_STATUS_BAD_USAGE;
}

spry_status spry_file_check_place(spry_context *ctx, const char *path)
{
    SPRY_NEED(ctx, ctx, path);
    const spry_status status = check_arguments(ctx, path);
    return status == SPRY_STATUS_OK ? io_check_place(ctx, path) : status;
}

spry_status spry_text_write(spry_context *ctx, const char *text, size_t size, const char *path)
{
    SPRY_NEED(ctx, ctx, path);
    if (size > 0)
        SPRY_NEED(ctx, text);
    io_writer *writer = NULL;
    spry_status status = check_arguments(ctx, path);
    if (status == SPRY_STATUS_OK)
        status = io_create(ctx, path, &writer);
    if (status != SPRY_STATUS_OK)
        return status;
    io_write(writer, text, size);
    return io_commit(ctx, writer);
}

spry_status spry_matrix_write(const spry_matrix *A, const char *path)
{
    SPRY_NEED(CTX_OF(A), A, path);
    matrix_follow(A);
    const io_format *format = choose_for_writing(A->ctx, path, false);
    return format ? format->write_matrix(A, path) : SPRY_STATUS_BAD_USAGE;
}

spry_status spry_columns_write(const spry_vector *v, int64_t cols, const char *path)
{
    SPRY_NEED(CTX_OF(v), v, path);
    const io_format *format = choose_for_writing(v->ctx, path, true);
    if (!format)
        return SPRY_STATUS_BAD_USAGE;
    if (cols < 1 || v->n % cols != 0)
        return SPRY_FAIL(v->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: %" PRId64 " numbers make no %" PRId64 " columns", path, v->n, cols);
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    spry_status status = vector_on_host(v, &on_host, &copy);
    if (status == SPRY_STATUS_OK)
        status = format->write_vector(on_host, v->n == 0 ? 1 : cols, path);
    spry_vector_free(copy);
    return status;
}

spry_status spry_vector_write(const spry_vector *v, const char *path)
{
    SPRY_NEED(CTX_OF(v), v, path);
    return spry_columns_write(v, 1, path);
}

bool io_entry_at(int index, spry_entry *entry)
{
    if (index >= FORMATS)
        return false;
    entry->name = formats[index]->name;
    entry->summary = formats[index]->summary;
    entry->text = formats[index]->endings;
    return true;
}
