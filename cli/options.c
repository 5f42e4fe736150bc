/* Options as people see them: names, letters, values, bounds. */
#include "cli.h"

#include <ctype.h>
#include <string.h>

enum { SHORT_LIST = 20 }; /* letters of words that are shown in place of WORD */

static const struct {
    char letter;
    const char *name;
} letters[] = {{'o', "output"}, {'q', "quiet"}};

const char *cli_letter_name(char letter)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].name;
    return NULL;
}

static char fold(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

const char *cli_option_name(const spry_option *option, char name[CLI_NAME])
{
    snprintf(name, CLI_NAME, "%s", option->name);
    for (char *c = name; *c; c++)
        *c = fold(*c);
    return name;
}

char cli_option_letter(const spry_option *option)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (strcmp(option->name, letters[i].name) == 0)
            return letters[i].letter;
    return 0;
}

bool cli_option_is_file(const spry_option *option)
{
    static const char ending[] = "_file"; /* the library's own: texts that it copies */
    size_t length = strlen(option->name), tail = sizeof ending - 1;
    return option->kind == SPRY_OPTION_PATH || (option->kind == SPRY_OPTION_TEXT && length > tail &&
                                                strcmp(option->name + length - tail, ending) == 0);
}

const char *cli_option_value(const spry_option *option, char value[CLI_NAME])
{
    static const char *const names[] = {
        [SPRY_OPTION_INT] = "N",     [SPRY_OPTION_REAL] = "X",    [SPRY_OPTION_BOOL] = "",
        [SPRY_OPTION_WORD] = "WORD", [SPRY_OPTION_TEXT] = "WORD", [SPRY_OPTION_PATH] = "FILE"};
    bool optional = option->kind == SPRY_OPTION_PATH && option->words;
    bool file = cli_option_is_file(option);
    snprintf(value, CLI_NAME, "%s", optional ? "[FILE]" : file ? "FILE" : names[option->kind]);
    if (option->kind == SPRY_OPTION_WORD && strlen(option->words) < SHORT_LIST) {
        snprintf(value, CLI_NAME, "%s", option->words);
        for (char *c = value; *c; c++)
            *c = *c == ' ' ? '|' : *c;
    }
    return value;
}

bool cli_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = words ? words : ""; *p; p += *p == ' ') {
        size_t size = strcspn(p, " "), i = 0;
        while (i < size && i < length && fold(p[i]) == fold(word[i]))
            i++;
        if (size == length && i == length)
            return true;
        p += size;
    }
    return false;
}

void cli_add_word(char words[CLI_WORDS], const char *word)
{
    size_t used = strlen(words);
    snprintf(words + used, CLI_WORDS - used, "%s%s", used ? " " : "", word);
}

bool cli_option_shown(const cli_group *group, const spry_option *option)
{
    return !cli_has_word(group->skip, option->name);
}

/* The bounds of a number, where they are near enough to be of interest. */
static void number_bounds(const spry_option *option, char text[64])
{
    enum { FAR = 1000000000 };
    *text = '\0';
    if (option->low == 0 && option->high == 0)
        return;
    if (option->high < FAR)
        snprintf(text, 64, ", %.7g to %.7g", option->low, option->high);
    else if (option->low != 0)
        snprintf(text, 64, ", at least %.7g", option->low);
}

void cli_option_bounds(const spry_option *option, char text[256])
{
    char value[CLI_NAME], bounds[64] = "";
    *text = '\0';
    if (option->kind == SPRY_OPTION_BOOL || !option->initial || !*option->initial)
        return;
    if (option->kind == SPRY_OPTION_INT || option->kind == SPRY_OPTION_REAL)
        number_bounds(option, bounds);
    bool listed =
        option->kind == SPRY_OPTION_WORD && strcmp(cli_option_value(option, value), "WORD") == 0;
    snprintf(text, 256, "%s%s%sdefault %s%s", listed ? "one of " : "", listed ? option->words : "",
             listed ? "; " : "", option->initial, bounds);
}
