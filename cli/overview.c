/* What there is: the overview, and the commands that show it and the help of others. */
#include "cli.h"

static void print_overview(FILE *out)
{
    fputs("spry solves large sparse linear systems A x = b at the speed of memory.\n\n"
          "Usage: spry COMMAND [ARGUMENTS] [OPTIONS]\n\n"
          "Begin with:\n"
          "  spry gen poisson3d --size 64 -o p.mtx    make a system\n"
          "  spry info p.mtx                          look at it\n"
          "  spry solve p.mtx -o x.mtx                solve it for b = ones\n\n"
          "Commands:\n",
          out);
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)); i++)
        if (!command->hidden)
            fprintf(out, "  %-12s%s\n", command->name, command->summary);
    char names[CLI_WORDS] = "";
    apps_names(names);
    if (*names)
        fprintf(out, "\nApplications, each with its own --help:\n  %s\n", names);
    fputs("\n`spry help COMMAND` shows examples and every option. Exit status:\n", out);
    for (int i = 0; i < EXIT_COUNT; i++)
        fprintf(out, "  %d  %s\n", i, cli_exit_texts[i]);
}

static const cli_group no_groups[] = {{0}};

static int run_help(spry_context *ctx, const cli_arguments *arguments)
{
    (void)ctx;
    const cli_command *command = NULL;
    if (arguments->count > 0 && !(command = cli_command_find(arguments->operands[0])))
        return apps_unknown(arguments->operands[0]);
    if (command)
        cli_help(stdout, command);
    else
        print_overview(stdout);
    return EXIT_DONE;
}

static void command_names(char words[CLI_WORDS])
{
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)); i++)
        if (!command->hidden)
            cli_add_word(words, command->name);
}

const cli_command command_help = {
    .name = "help",
    .summary = "show examples and every option of a command",
    .synopsis = "[COMMAND]",
    .description = "Without a command: the overview. The same as `spry COMMAND --help`.",
    .groups = no_groups,
    .examples = (const cli_example[]){{"spry help solve", "Everything about solving."},
                                      {"spry help gen", "The generators' options."},
                                      {0}},
    .most = 1,
    .choices = command_names,
    .run = run_help,
};

static int run_version(spry_context *ctx, const cli_arguments *arguments)
{
    (void)ctx;
    (void)arguments;
    printf("spry %s\n", spry_version());
    return EXIT_DONE;
}

const cli_command command_version = {
    .name = "version",
    .summary = "print the version",
    .synopsis = "",
    .description = "The same as `spry --version`.",
    .groups = no_groups,
    .examples = (const cli_example[]){{"spry version", "Prints the name and the version."}, {0}},
    .run = run_version,
};
