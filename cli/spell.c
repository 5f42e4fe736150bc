/* Messages of the library name its options as callers give them (method=lsqr); here they are
 * written as the command line takes them (--method lsqr). */
#include "output.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS = 4, SIZE = 4 * CLI_WORDS };

static const cli_command *current; /* whose options are meant */

void cli_spell_for(const cli_command *command)
{
    current = command;
}

/* The option of the command that a text of `length` letters names. */
static const spry_option *find(const char *text, size_t length)
{
    char word[CLI_NAME];
    if (!current || length == 0 || length >= sizeof word)
        return NULL;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    for (const cli_group *g = current->groups; g && g->title; g++) {
        const spry_option *option = spry_options_find(g->list(), word);
        if (option && cli_option_shown(g, option))
            return option;
    }
    return NULL;
}

/* How long a value is: up to a space, without the marks of the sentence around it. */
static size_t value_length(const char *value)
{
    size_t length = strcspn(value, " \n");
    while (length > 0 && strchr(",;.:)", value[length - 1]))
        length--;
    return length;
}

/* A job of spry serve has its limits from that one's options (apps/serve/serve.c). */
static bool is_job(void)
{
    return getenv("SPRY_SERVE_JOB") != NULL;
}

/* "name=value" at p as the command line has it; gives what was read, 0 where it is something else.
 */
static size_t spell_one(const char *p, char *out, size_t room)
{
    char name[CLI_NAME];
    const size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyz_-");
    const spry_option *option = p[length] == '=' ? find(p, length) : NULL;
    if (!option)
        return 0;
    const char *value = p + length + 1;
    const size_t size = value_length(value);
    if (size == 0 || value[size] == ':') /* what was given is repeated */
        return 0;
    const bool limit = is_job() && strcmp(option->name, "memory_limit") == 0;
    cli_option_name(option, name);
    if (option->kind == SPRY_OPTION_BOOL)
        snprintf(out, room, "--%s%s", strncmp(value, "no", size) == 0 ? "no-" : "", name);
    else
        snprintf(out, room, "%s%s %.*s", limit ? "spry serve --memory" : "--", limit ? "" : name,
                 (int)size, value);
    return length + 1 + size;
}

const char *cli_spell(const char *text)
{
    static char texts[TEXTS][SIZE];
    static int turn;
    static const char of_system[] = "ulimit -d and "; /* which follows from that of the server */
    turn = (turn + 1) % TEXTS;
    char *out = texts[turn];
    size_t used = 0;
    out[0] = '\0';
    const bool named = strncmp(text, "--", 2) == 0; /* which option it is about */
    for (const char *p = text; *p && used + 1 < SIZE;) {
        const bool begins = !named && (p == text || strchr(" (\n", p[-1]));
        if (begins && is_job() && strncmp(p, of_system, sizeof of_system - 1) == 0)
            p += sizeof of_system - 1;
        const size_t read = begins ? spell_one(p, out + used, SIZE - used) : 0;
        if (read > 0) {
            used += strlen(out + used);
            p += read;
        } else {
            out[used++] = *p++;
        }
        out[used] = '\0';
    }
    return out;
}
