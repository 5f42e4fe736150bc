/* Manual pages in mdoc, from the same tables as --help: the build calls `spry manual COMMAND`. */
#include "output.h"

#include <ctype.h>
#include <string.h>

/* Of the last change to the text of the pages. */
static const char page_date[] = "November 15, 2026";

/* Text as roff wants it: backslashes and hyphens escaped, no control character first on a line. */
static void put_text(FILE *out, const char *text)
{
    bool line_start = true;
    for (const char *p = text; *p; p++) {
        if (line_start && (*p == '.' || *p == '\''))
            fputs("\\&", out);
        if (*p == '\\')
            fputs("\\e", out);
        else if (*p == '-')
            fputs("\\-", out);
        else if (*p == '`' || *p == '"') /* quotes of a command: as typed */
            fputs("\\(dq", out);
        else
            fputc(*p, out);
        line_start = *p == '\n';
    }
}

/* Running text: a sentence per line, as mdoc wants it; a newline in the text is a paragraph. */
static void put_sentences(FILE *out, const char *text)
{
    char sentence[1024];
    while (*text) {
        size_t length = 0;
        while (text[length] && text[length] != '\n' &&
               !(text[length] == ' ' && length && text[length - 1] == '.' && length < 1000 &&
                 isupper((unsigned char)text[length + 1])))
            length++;
        snprintf(sentence, sizeof sentence, "%.*s", (int)length, text);
        put_text(out, sentence);
        fputc('\n', out);
        text += length;
        if (*text == '\n')
            fputs(".Pp\n", out);
        text += *text != '\0';
    }
}

static void put_option(FILE *out, const spry_option *option)
{
    char name[CLI_NAME], value[CLI_NAME], bounds[256];
    char letter = cli_option_letter(option);
    cli_option_value(option, value);
    bool starts_on =
        option->kind == SPRY_OPTION_BOOL && option->initial && strcmp(option->initial, "yes") == 0;
    fputs(".It ", out);
    if (letter)
        fprintf(out, "Fl %c , ", letter);
    fprintf(out, "Fl \\-%s%s", starts_on ? "no\\-" : "", "");
    put_text(out, cli_option_name(option, name));
    if (strcmp(value, "[FILE]") == 0)
        fputs(" Op Ar FILE", out);
    else if (*value)
        fprintf(out, " Ar %s", value);
    fputc('\n', out);
    put_sentences(out, option->help);
    cli_option_bounds(option, bounds);
    if (*bounds) {
        fputs(".Pq ", out);
        put_text(out, bounds);
        fputc('\n', out);
    }
}

static void put_options(FILE *out, const cli_command *command)
{
    for (int g = 0; command->groups[g].title; g++) {
        const cli_group *group = &command->groups[g];
        spry_option_list list = group->list();
        fprintf(out, ".Ss %s\n.Bl -tag -width Ds\n", group->title);
        for (int i = 0; i < list.count; i++)
            if (cli_option_shown(group, spry_options_at(list, i)))
                put_option(out, spry_options_at(list, i));
        fputs(".El\n", out);
    }
}

static void put_exit_status(FILE *out)
{
    fputs(".Sh EXIT STATUS\n.Bl -tag -width Ds\n", out);
    for (int i = 0; i < EXIT_COUNT; i++) {
        fprintf(out, ".It %d\n", i);
        put_sentences(out, cli_exit_texts[i]);
    }
    fputs(".El\n", out);
}

static void put_head(FILE *out, const char *name, const char *summary)
{
    fprintf(out, ".Dd %s\n.Dt ", page_date);
    for (const char *p = name; *p; p++)
        fputc(toupper((unsigned char)*p), out);
    fprintf(out, " 1\n.Os spry %s\n.Sh NAME\n.Nm %s\n.Nd %s\n", spry_version(), name, summary);
}

/* All pages but that of the command ("": the overview), separated by commas. */
static void put_see_also(FILE *out, const char *self)
{
    const char *pages[32];
    const cli_command *command;
    int count = 0;
    for (int i = 0; (command = cli_command_at(i)); i++)
        if (!command->hidden && command->groups[0].title && strcmp(command->name, self) != 0)
            pages[count++] = command->name;
    fputs(".Sh SEE ALSO\n", out);
    if (*self)
        fprintf(out, ".Xr spry 1%s\n", count ? " ," : "");
    /* mandoc wants them sorted */
    for (int printed = 0; printed < count; printed++) {
        int least = 0;
        for (int i = 0; i < count; i++)
            if (pages[i] && (!pages[least] || strcmp(pages[i], pages[least]) < 0))
                least = i;
        fprintf(out, ".Xr spry-%s 1%s\n", pages[least], printed + 1 < count ? " ," : "");
        pages[least] = NULL;
    }
}

static void put_overview(FILE *out)
{
    put_head(out, "spry", "solve large sparse linear systems");
    fputs(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar arguments\n.Op Ar options\n"
          ".Sh DESCRIPTION\n.Nm\n"
          "solves large sparse linear systems A x = b with Krylov methods.\n"
          "The commands are:\n.Bl -tag -width completion\n",
          out);
    const cli_command *command;
    for (int i = 0; (command = cli_command_at(i)); i++) {
        if (command->hidden)
            continue;
        fprintf(out, ".It Cm %s\n", command->name);
        put_sentences(out, command->summary);
    }
    fputs(".El\n.Pp\nEach has its examples and options in\n.Nm Cm help Ar command .\n", out);
    put_exit_status(out);
    fputs(".Sh EXAMPLES\nMake a system, look at it, solve it:\n.Bd -literal -offset indent\n"
          "spry gen poisson3d \\-\\-size 64 \\-o p.mtx\nspry info p.mtx\n"
          "spry solve p.mtx \\-o x.mtx\n.Ed\n",
          out);
    put_see_also(out, "");
}

void cli_manual(FILE *out, const cli_command *command)
{
    if (!command) {
        put_overview(out);
        return;
    }
    char name[CLI_NAME];
    snprintf(name, sizeof name, "spry-%s", command->name);
    put_head(out, name, command->summary);
    fprintf(out, ".Sh SYNOPSIS\n.Nm spry %s\n", command->name);
    if (*command->synopsis)
        fprintf(out, "%s\n", command->synopsis);
    if (command->groups[0].title)
        fputs(".Op Ar options\n", out);
    fputs(".Sh DESCRIPTION\n", out);
    put_sentences(out, command->description);
    put_options(out, command);
    put_exit_status(out);
    fputs(".Sh EXAMPLES\n", out);
    for (const cli_example *e = command->examples; e->command; e++) {
        if (e != command->examples)
            fputs(".Pp\n", out);
        put_sentences(out, e->what);
        fputs(".Dl ", out);
        put_text(out, e->command);
        fputc('\n', out);
    }
    put_see_also(out, command->name);
}

static int run_manual(spry_context *ctx, const cli_arguments *arguments)
{
    (void)ctx;
    const cli_command *command = NULL;
    if (arguments->count > 0 && !(command = cli_command_find(arguments->operands[0])))
        return cli_fail(EXIT_INPUT, "unknown command %s", arguments->operands[0]);
    cli_manual(stdout, command);
    return EXIT_DONE;
}

const cli_command command_manual = {
    .name = "manual",
    .summary = "print a manual page in mdoc",
    .synopsis = "[COMMAND]",
    .description = "For the build, which installs spry.1 and spry-solve.1 and so on.",
    .groups = (const cli_group[]){{0}},
    .examples = (const cli_example[]){{"spry manual solve > spry-solve.1", "One page."}, {0}},
    .most = 1,
    .hidden = true,
    .run = run_manual,
};
