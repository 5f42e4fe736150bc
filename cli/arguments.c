/* The one parser of command lines: every option comes from a table, so does every complaint. */
#include "cli.h"
#include "listing.h"

#include <stdlib.h>
#include <string.h>

/* Options whose words are a list of the library's. */
static const struct {
    const char *option, *first;
    spry_list list;
} lists[] = {{"method", "auto", SPRY_LIST_METHODS},
             {"precon", "auto", SPRY_LIST_PRECONS},
             {"format", "auto csr", SPRY_LIST_FORMATS}, /* csr: in place, layout or not */
             {"scale", "none", SPRY_LIST_SCALINGS}};

bool cli_option_entry(const spry_option *option, int index, spry_entry *entry)
{
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (option->kind == SPRY_OPTION_TEXT && strcmp(option->name, lists[k].option) == 0)
            return spry_list_at(lists[k].list, index, entry);
    return false;
}

void cli_option_choices(const spry_option *option, char words[CLI_WORDS])
{
    snprintf(words, CLI_WORDS, "%s", option->kind == SPRY_OPTION_WORD ? option->words : "");
    if (*words || option->kind != SPRY_OPTION_TEXT)
        return;
    if (strcmp(option->name, "device") == 0)
        snprintf(words, CLI_WORDS, "auto cpu gpu cuda opencl");
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        if (strcmp(option->name, lists[k].option) != 0)
            continue;
        cli_add_word(words, lists[k].first);
        if (option->words)
            cli_add_word(words, option->words);
        listing_words(lists[k].list, words);
    }
}

/* Whether a list has a word exactly as it is written: the library takes names of methods so. */
static bool has_exact_word(const char *words, const char *word)
{
    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (strlen(word) == length && strncmp(p, word, length) == 0)
            return true;
        p += length;
    }
    return false;
}

/* Whether a value is one of the option's words, up to a colon that options of its own follow. */
static int check_name(const spry_option *option, const char *value)
{
    char words[CLI_WORDS], name[CLI_NAME], nearest[CLI_NAME];
    cli_option_choices(option, words);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(value, ":"), value);
    bool exact = option->kind == SPRY_OPTION_TEXT;
    if (exact && *words && strncmp(value, "auto:", 5) == 0 && strcmp(option->name, "format") != 0)
        return cli_fail(EXIT_INPUT, "--%s auto has no options: name a %s to give it some",
                        option->name, option->name);
    if (!*words || (exact ? has_exact_word(words, name) : cli_has_word(words, name)))
        return EXIT_DONE;
    if (spry_nearest(name, words, nearest, sizeof nearest))
        return cli_fail(EXIT_INPUT, "--%s %s: did you mean %s? There are: %s", option->name, value,
                        nearest, words);
    return cli_fail(EXIT_INPUT, "--%s %s is not one of: %s", option->name, value, words);
}

/* The same of devices, of which ranks have one each: cuda:0,cuda:1,cpu. */
static int check_word(const spry_option *option, const char *value)
{
    if (strcmp(option->name, "device") != 0)
        return check_name(option, value);
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char one[CLI_NAME];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ","), at);
        const int status = check_name(option, one);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

/* The same for what may be several words with blanks between: texts that name words of their own.
 */
static int check_choice(const spry_option *option, const char *value)
{
    char word[SPRY_OPTION_TEXT_SIZE];
    if (option->kind != SPRY_OPTION_TEXT || !option->words)
        return check_word(option, value);
    for (const char *p = value + strspn(value, " "); *p; p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, p);
        if (check_word(option, word) != EXIT_DONE)
            return EXIT_INPUT;
        p += length;
    }
    return EXIT_DONE;
}

/* Looks in all groups of the command; the number of the group, or -1. */
static int find_option(const cli_command *command, const char *name, const spry_option **option)
{
    for (int g = 0; command->groups[g].title; g++) {
        *option = spry_options_find(command->groups[g].list(), name);
        if (*option && cli_option_shown(&command->groups[g], *option))
            return g;
    }
    return -1;
}

/* Names what comes nearest: an option the word begins with, then one spelt alike. */
static int unknown_option(const cli_command *command, const char *shown, const char *name)
{
    char names[CLI_WORDS] = "help", one[CLI_NAME], nearest[CLI_NAME] = "";
    for (int g = 0; command->groups[g].title; g++) {
        spry_option_list list = command->groups[g].list();
        for (int i = 0; i < list.count; i++) {
            if (!cli_option_shown(&command->groups[g], spry_options_at(list, i)))
                continue;
            cli_option_name(spry_options_at(list, i), one);
            cli_add_word(names, one);
            if (strlen(one) > strlen(nearest) && strlen(one) >= 3 &&
                strncmp(name, one, strlen(one)) == 0)
                memcpy(nearest, one, sizeof one);
        }
    }
    if (*nearest || spry_nearest(name, names, nearest, sizeof nearest))
        return cli_fail(EXIT_INPUT, "unknown option %s for %s; did you mean --%s?", shown,
                        command->name, nearest);
    return cli_fail(EXIT_INPUT, "unknown option %s for %s; `spry help %s` lists them", shown,
                    command->name, command->name);
}

/* Where the parser is in argv. */
typedef struct reader {
    spry_context *ctx;
    cli_arguments *arguments;
    int argc, next;
    char **argv;
} reader;

static int set_option(reader *r, int group, const spry_option *option, const char *value)
{
    cli_arguments *a = r->arguments;
    spry_option_list list = a->command->groups[group].list();
    char name[CLI_NAME];
    cli_option_name(option, name);
    if (option->kind == SPRY_OPTION_WORD && check_choice(option, value) != EXIT_DONE)
        return EXIT_INPUT;
    spry_status status = spry_options_set(r->ctx, list, a->fields[group], option->name, value);
    if (status != SPRY_STATUS_OK)
        return cli_fail(EXIT_INPUT, "--%s: %s", name, spry_message(r->ctx));
    a->given[a->given_count++] = (cli_given){group, option, value};
    return EXIT_DONE;
}

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

/* The value of an option that was given without '='; NULL after a message. */
static const char *next_value(reader *r, const spry_option *option, const char *shown)
{
    char form[CLI_NAME];
    const char *next = r->next < r->argc ? r->argv[r->next] : NULL;
    if (option->kind == SPRY_OPTION_BOOL)
        return "yes";
    if (option->kind == SPRY_OPTION_PATH && option->words &&
        !(next && ends_in(next, option->words)))
        return "-";
    if (!next)
        cli_fail(EXIT_INPUT, "%s needs a value: %s %s", shown, shown,
                 cli_option_value(option, form));
    r->next++;
    return next;
}

/* --name, --name=value, --no-name */
static int long_option(reader *r, const char *argument)
{
    const cli_command *command = r->arguments->command;
    char shown[CLI_NAME + 2];
    const char *equals = strchr(argument, '=');
    int length = (int)(equals ? equals - argument : (ptrdiff_t)strlen(argument));
    snprintf(shown, sizeof shown, "%.*s", length, argument);
    const char *name = shown + 2, *value = equals ? equals + 1 : NULL;

    const spry_option *option = NULL;
    int group = find_option(command, name, &option);
    if (group < 0 && strcmp(shown, "--help") == 0 && !equals) {
        r->arguments->help = true;
        return EXIT_DONE;
    }
    if (group < 0 && strncmp(name, "no-", 3) == 0) {
        group = find_option(command, name + 3, &option);
        if (group >= 0 && option->kind == SPRY_OPTION_BOOL && !value)
            return set_option(r, group, option, "no");
        group = -1;
    }
    if (group < 0)
        return unknown_option(command, shown, name);
    if (!value)
        value = next_value(r, option, shown);
    return value ? set_option(r, group, option, value) : EXIT_INPUT;
}

/* -o FILE, -oFILE, -q, -h */
static int short_option(reader *r, const char *argument)
{
    const cli_command *command = r->arguments->command;
    if (strcmp(argument, "-h") == 0) {
        r->arguments->help = true;
        return EXIT_DONE;
    }
    const spry_option *option = NULL;
    int group = -1;
    const char *name = cli_letter_name(argument[1]);
    if (name)
        group = find_option(command, name, &option);
    bool is_switch = group >= 0 && option->kind == SPRY_OPTION_BOOL;
    if (group < 0 || (is_switch && argument[2]))
        return unknown_option(command, argument, argument + 1);
    const char shown[] = {'-', argument[1], '\0'};
    const char *value = argument[2] ? argument + 2 : next_value(r, option, shown);
    return value ? set_option(r, group, option, value) : EXIT_INPUT;
}

static int prepare(reader *r)
{
    cli_arguments *a = r->arguments;
    a->operands = cli_alloc(((size_t)r->argc + 1) * sizeof *a->operands);
    a->given = cli_alloc(((size_t)r->argc + 1) * sizeof *a->given);
    for (int g = 0; a->command->groups[g].title; g++) {
        spry_option_list list = a->command->groups[g].list();
        a->fields[g] = cli_alloc(spry_options_size(list) + 1);
        spry_status status = spry_options_default(r->ctx, list, a->fields[g]);
        if (status != SPRY_STATUS_OK)
            return cli_failed(r->ctx, status);
    }
    return EXIT_DONE;
}

static int check_count(const cli_arguments *a)
{
    const cli_command *command = a->command;
    if (a->count > command->most)
        return cli_fail(EXIT_INPUT, "%s takes %s; \"%s\" is too many", command->name,
                        *command->synopsis ? command->synopsis : "no arguments",
                        a->operands[command->most]);
    if (a->count < command->least)
        return cli_fail(EXIT_INPUT, "%s needs %s; `spry help %s` shows examples", command->name,
                        command->synopsis, command->name);
    return EXIT_DONE;
}

/* Names of methods and preconditioners. What a file has for a method is the library's to find. */
static int check_names(const cli_arguments *a)
{
    const char *file = cli_field(a, cli_solver_options, "method_file");
    for (int g = 0; a->command->groups[g].title; g++) {
        spry_option_list list = a->command->groups[g].list();
        for (int i = 0; i < list.count; i++) {
            const spry_option *option = spry_options_at(list, i);
            bool by_file = file && *file && strcmp(option->name, "method") == 0;
            if (option->kind != SPRY_OPTION_TEXT || by_file)
                continue;
            if (check_choice(option, (const char *)a->fields[g] + option->offset) != EXIT_DONE)
                return EXIT_INPUT;
        }
    }
    return EXIT_DONE;
}

int cli_parse(spry_context *ctx, const cli_command *command, int argc, char **argv,
              cli_arguments *arguments)
{
    *arguments = (cli_arguments){.command = command};
    reader r = {ctx, arguments, argc, 0, argv};
    int status = prepare(&r);
    bool ended = false;
    while (status == EXIT_DONE && r.next < argc) {
        const char *argument = argv[r.next++];
        if (ended || argument[0] != '-' || !argument[1])
            arguments->operands[arguments->count++] = argument;
        else if (strcmp(argument, "--") == 0)
            ended = true;
        else if (argument[1] == '-')
            status = long_option(&r, argument);
        else
            status = short_option(&r, argument);
    }
    if (status == EXIT_DONE)
        status = check_names(arguments);
    if (status == EXIT_DONE && !arguments->help)
        status = check_count(arguments);
    return status;
}

void cli_arguments_free(cli_arguments *arguments)
{
    for (int g = 0; g < CLI_GROUPS; g++)
        free(arguments->fields[g]);
    free(arguments->operands);
    free(arguments->given);
    *arguments = (cli_arguments){0};
}

spry_option_list cli_context_options(void)
{
    return spry_options_of("context");
}

spry_option_list cli_solver_options(void)
{
    return spry_options_of("solver");
}

spry_option_list cli_read_options(void)
{
    return spry_options_of("read");
}

spry_option_list cli_generate_options(void)
{
    return spry_options_of("generate");
}

spry_option_list cli_tune_options(void)
{
    return spry_options_of("tune");
}

spry_option_list cli_diagnose_options(void)
{
    return spry_options_of("diagnose");
}

/* The group that has one of the library's lists. */
static int group_of(const cli_arguments *arguments, spry_option_list (*list)(void))
{
    int g = 0;
    while (arguments->command->groups[g].title && arguments->command->groups[g].list != list)
        g++;
    return arguments->command->groups[g].title ? g : -1;
}

const cli_given *cli_next_given(const cli_arguments *arguments, spry_option_list (*list)(void),
                                const cli_given *before)
{
    const cli_given *end = arguments->given + arguments->given_count;
    const int group = group_of(arguments, list);
    for (const cli_given *one = before ? before + 1 : arguments->given; one < end; one++)
        if (one->group == group)
            return one;
    return NULL;
}

spry_status cli_set_options(const cli_arguments *arguments, spry_context *ctx)
{
    spry_status status = SPRY_STATUS_OK;
    const cli_group *groups = arguments->command->groups;
    for (int g = 0; status == SPRY_STATUS_OK && groups[g].title; g++)
        if (g > 0)
            status = spry_context_set_options(ctx, groups[g].list(), arguments->fields[g]);
    return status;
}

const void *cli_field(const cli_arguments *arguments, spry_option_list (*list)(void),
                      const char *name)
{
    int g = group_of(arguments, list);
    const spry_option *option = g < 0 ? NULL : spry_options_find(list(), name);
    return option ? (const char *)arguments->fields[g] + option->offset : NULL;
}
