/* Names with summaries and options. */
#include "listing.h"

#include <string.h>

/* "C=8 sigma=1 values=own" */
static void put_defaults(char *text, size_t size, spry_option_list list, const char *common)
{
    text[0] = '\0';
    for (int i = 0; i < list.count; i++) {
        const size_t used = strlen(text);
        const spry_option *option = spry_options_at(list, i);
        if (option->initial && *option->initial && !(common && strcmp(option->name, common) == 0))
            snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", option->name,
                     option->initial);
    }
}

void listing_line(FILE *out, int width, const spry_entry *entry, const char *common)
{
    char options[1024], text[1536];
    put_defaults(options, sizeof options, entry->options, common);
    snprintf(text, sizeof text, "%s%s%s%s", entry->summary, *options ? " (" : "", options,
             *options ? ")" : "");
    fprintf(out, "%-*s", width, entry->name);
    text_wrap(out, width, width, text);
}

static void show_option(FILE *out, const spry_option *option)
{
    enum { COLUMN = 28 };
    char bounds[256], form[CLI_NAME], value[2 * CLI_NAME], text[1024];
    snprintf(value, sizeof value, "%s=%s", option->name, cli_option_value(option, form));
    if (strlen(value) + 3 > COLUMN) /* too long for the same line */
        fprintf(out, "  %s\n%*s", value, COLUMN, "");
    else
        fprintf(out, "  %-*s", COLUMN - 2, value);
    cli_option_bounds(option, bounds);
    snprintf(text, sizeof text, *bounds ? "%s (%s)" : "%s", option->help, bounds);
    text_wrap(out, COLUMN, COLUMN, text);
}

void listing_show(FILE *out, const spry_entry *entry)
{
    fprintf(out, "%s: %s\n", entry->name, entry->summary);
    if (entry->options.count > 0)
        fputs("\noptions, after a colon\n", out);
    for (int i = 0; i < entry->options.count; i++)
        show_option(out, spry_options_at(entry->options, i));
}

static void json_known(json *j, const char *key, const char *text)
{
    if (text)
        json_text(j, key, text);
}

static void json_words(json *j, const char *words)
{
    json_open(j, "words", '[');
    for (const char *p = words; *p; p += strspn(p, " ")) {
        char word[CLI_NAME];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(p, " "), p);
        json_text(j, NULL, word);
        p += strcspn(p, " ");
    }
    json_close(j, ']');
}

static void json_option(json *j, const spry_option *option)
{
    static const char *const kinds[] = {
        [SPRY_OPTION_INT] = "int",   [SPRY_OPTION_REAL] = "real", [SPRY_OPTION_BOOL] = "bool",
        [SPRY_OPTION_WORD] = "word", [SPRY_OPTION_TEXT] = "text", [SPRY_OPTION_PATH] = "path"};
    char name[CLI_NAME];
    json_open(j, cli_option_name(option, name), '{');
    json_text(j, "kind", kinds[option->kind]);
    json_known(j, "default", option->initial);
    if (option->low != 0 || option->high != 0) {
        json_real(j, "low", option->low);
        json_real(j, "high", option->high);
    }
    if (option->kind == SPRY_OPTION_WORD)
        json_words(j, option->words);
    json_text(j, "help", option->help);
    json_close(j, '}');
}

void listing_json(json *j, const spry_entry *entry)
{
    json_text(j, "name", entry->name);
    json_text(j, "summary", entry->summary);
    json_known(j, "purpose", entry->purpose);
    json_known(j, "reference", entry->reference);
    json_open(j, "options", '{');
    for (int i = 0; i < entry->options.count; i++)
        json_option(j, spry_options_at(entry->options, i));
    json_close(j, '}');
}

void listing_json_all(json *j, spry_list list)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    json_open(j, spry_list_name(list), '[');
    for (int i = 0; spry_list_at(list, i, &entry); i++) {
        json_open(j, NULL, '{');
        listing_json(j, &entry);
        if (list == SPRY_LIST_FILES)
            json_text(j, "endings", entry.text);
        if (list == SPRY_LIST_PRECONS || list == SPRY_LIST_FORMATS)
            json_bool(j, "on_devices", entry.on_devices);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void listing_words(spry_list list, char words[CLI_WORDS])
{
    spry_entry entry = SPRY_ENTRY_INIT;
    for (int i = 0; spry_list_at(list, i, &entry); i++)
        if (!cli_has_word(words, entry.name))
            cli_add_word(words, entry.name);
}
