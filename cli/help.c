/* --help: what the command does, examples, then every option of its tables. */
#include "output.h"

#include <string.h>

enum { OPTION_COLUMN = 30 };

static void print_option(FILE *out, const spry_option *option)
{
    char name[CLI_NAME], value[CLI_NAME], left[192], bounds[256], text[768];
    char letter = cli_option_letter(option);
    cli_option_value(option, value);
    const char short_name[] = {letter ? '-' : ' ', letter ? letter : ' ', letter ? ',' : ' ', 0};
    bool starts_on =
        option->kind == SPRY_OPTION_BOOL && option->initial && strcmp(option->initial, "yes") == 0;
    snprintf(left, sizeof left, "  %s --%s%s%s%s", short_name, starts_on ? "[no-]" : "",
             cli_option_name(option, name), *value ? " " : "", value);
    cli_option_bounds(option, bounds);
    snprintf(text, sizeof text, "%s%s%s%s", option->help, *bounds ? " (" : "", bounds,
             *bounds ? ")" : "");
    int column = fprintf(out, "%s", left);
    if (column > OPTION_COLUMN - 1)
        fprintf(out, "\n%*s", OPTION_COLUMN, "");
    else
        fprintf(out, "%*s", OPTION_COLUMN - column, "");
    text_wrap(out, OPTION_COLUMN, OPTION_COLUMN, text);
}

static void print_groups(FILE *out, const cli_command *command)
{
    for (int g = 0; command->groups[g].title; g++) {
        const cli_group *group = &command->groups[g];
        spry_option_list list = group->list();
        fprintf(out, "\n%s:\n", group->title);
        for (int i = 0; i < list.count; i++)
            if (cli_option_shown(group, spry_options_at(list, i)))
                print_option(out, spry_options_at(list, i));
    }
}

void cli_help(FILE *out, const cli_command *command)
{
    fprintf(out, "spry %s: %s\n\nUsage: spry %s%s%s%s\n", command->name, command->summary,
            command->name, *command->synopsis ? " " : "", command->synopsis,
            command->groups[0].title ? " [OPTIONS]" : "");
    if (command->examples[0].command)
        fputs("\nExamples:\n", out);
    for (const cli_example *e = command->examples; e->command; e++) {
        fprintf(out, "  %s\n      ", e->command);
        text_wrap(out, 6, 6, e->what);
    }
    fputc('\n', out);
    text_wrap(out, 0, 0, command->description);
    print_groups(out, command);
}
