/* Completion scripts for shells, from the same tables as --help. */
#include "output.h"

#include <string.h>

/* Calls back for every option a command shows. */
typedef void (*option_visitor)(FILE *out, const cli_command *command, const spry_option *option);

static void visit_options(FILE *out, const cli_command *command, option_visitor visit)
{
    for (int g = 0; command->groups[g].title; g++) {
        spry_option_list list = command->groups[g].list();
        for (int i = 0; i < list.count; i++)
            if (cli_option_shown(&command->groups[g], spry_options_at(list, i)))
                visit(out, command, spry_options_at(list, i));
    }
}

static const cli_command *next_shown(int *index)
{
    const cli_command *command;
    while ((command = cli_command_at((*index)++)) && command->hidden)
        ;
    return command;
}

/* A sentence to stand between single quotes: without what ends them or means something to
 * _arguments. */
static void put_plain(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++)
        fputc(strchr("'[]:\\", *p) ? ' ' : *p, out);
}

/* The words of the first operand, "" for files. */
static void operand_words(const cli_command *command, char words[CLI_WORDS])
{
    *words = '\0';
    if (command->choices)
        command->choices(words);
}

/* What may follow a colon, " ilu:level=" for each option of each word, with the colon as a shell
 * wants it. */
static void put_colon_options(FILE *out, const spry_option *option, const char *colon)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    for (int i = 0; cli_option_entry(option, i, &entry); i++)
        for (int k = 0; k < entry.options.count; k++)
            fprintf(out, " %s%s%s=", entry.name, colon, spry_options_at(entry.options, k)->name);
}

/* Applications may come and go: they are asked for at the time, as are their options. */
#define APPLICATIONS "spry help 2>/dev/null | sed -n \"/^Applications/{n;p;}\""
#define ITS_OPTIONS "--help 2>/dev/null | grep -o -e \"--[a-z][-a-z0-9]*\" | sort -u"

static void bash_name(FILE *out, const cli_command *command, const spry_option *option)
{
    char name[CLI_NAME];
    (void)command;
    cli_option_name(option, name);
    fprintf(out, " --%s", name);
    if (option->kind == SPRY_OPTION_BOOL)
        fprintf(out, " --no-%s", name);
}

static void bash_value(FILE *out, const cli_command *command, const spry_option *option)
{
    char name[CLI_NAME], words[CLI_WORDS];
    cli_option_choices(option, words);
    bool switch_on = option->kind == SPRY_OPTION_BOOL;
    if (switch_on || (option->kind == SPRY_OPTION_PATH && option->words))
        return;
    fprintf(out, "    %s:--%s%s) ", command->name, cli_option_name(option, name),
            cli_option_letter(option) == 'o' ? "|*:-o" : "");
    if (cli_option_is_file(option))
        fputs("COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", out);
    else {
        fprintf(out, "_spry_words \"%s", words);
        put_colon_options(out, option, ":");
        fputs("\"; return ;;\n", out);
    }
}

static void bash(FILE *out)
{
    char words[CLI_WORDS] = "";
    const cli_command *command;
    for (int i = 0; (command = next_shown(&i));)
        cli_add_word(words, command->name);
    fprintf(
        out,
        "# bash completion for spry; made by `spry completion bash`\n"
        "_spry_words() { # the words that go on from $word, also behind a colon and commas\n"
        "  local list=\"\" one start=\"\"\n"
        "  for one in $1; do\n"
        "    case \"$word\" in\n"
        "      *:*,*) [[ $one == \"${word%%%%:*}\":* ]] && list+=\" ${word%%,*},${one#*:}\" ;;\n"
        "      *:*) list+=\" $one\" ;;\n"
        "      *) [[ $one == *:* ]] || list+=\" $one\" ;;\n"
        "    esac\n"
        "  done\n"
        "  COMPREPLY=($(compgen -W \"$list\" -- \"$word\"))\n"
        "  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
        "  [[ $COMP_WORDBREAKS == *:* ]] && start=\"${word%%\"${word##*[:=]}\"}\"\n"
        "  COMPREPLY=(\"${COMPREPLY[@]#\"$start\"}\")\n"
        "  compopt +o filenames 2>/dev/null # whose quoting would put \\ before = and :\n"
        "}\n"
        "_spry() {\n"
        "  local line=\"${COMP_LINE:0:COMP_POINT}\" words\n"
        "  read -ra words <<<\"$line\" # as blanks part them, not colons\n"
        "  [[ $line == *[[:space:]] ]] && words+=(\"\")\n"
        "  local count=$((${#words[@]} - 1))\n"
        "  local word=\"${words[count]}\" before=\"${words[count-1]}\"\n"
        "  [[ $word == --*=* ]] && before=\"${word%%%%=*}\" word=\"${word#*=}\"\n"
        "  local command=\"${words[1]}\" options=\"\" operands=\"\"\n"
        "  if [ \"$count\" -eq 1 ]; then\n"
        "    COMPREPLY=($(compgen -W \"%s --help --version $(" APPLICATIONS
        ")\" -- \"$word\")); return\n"
        "  fi\n"
        "  case \"$command:$before\" in\n",
        words);
    for (int i = 0; (command = next_shown(&i));)
        visit_options(out, command, bash_value);
    fputs("  esac\n  case \"$command\" in\n", out);
    for (int i = 0; (command = next_shown(&i));) {
        operand_words(command, words);
        fprintf(out, "    %s) operands=\"%s\" options=\"--help", command->name, words);
        visit_options(out, command, bash_name);
        fputs("\" ;;\n", out);
    }
    fputs("    *) options=\"$(spry \"$command\" " ITS_OPTIONS ")\" ;;\n"
          "  esac\n"
          "  if [ \"${word#-}\" != \"$word\" ]; then\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "  elif [ -n \"$operands\" ] && [ \"$count\" -eq 2 ]; then\n"
          "    COMPREPLY=($(compgen -W \"$operands\" -- \"$word\"))\n"
          "  else\n"
          "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
          "  fi\n"
          "}\n"
          "complete -o filenames -F _spry spry\n",
          out);
}

static void zsh_option(FILE *out, const cli_command *command, const spry_option *option)
{
    char name[CLI_NAME], words[CLI_WORDS];
    (void)command;
    cli_option_name(option, name);
    cli_option_choices(option, words);
    char letter = cli_option_letter(option);
    fputs(" \\\n        ", out);
    if (letter)
        fprintf(out, "{-%c,--%s}'[", letter, name);
    else
        fprintf(out, "'--%s[", name);
    put_plain(out, option->help);
    fputc(']', out);
    if (cli_option_is_file(option))
        fputs(option->words ? "::file:_files" : ":file:_files", out);
    else if (option->kind != SPRY_OPTION_BOOL && *words) {
        fprintf(out, ":value:(%s", words);
        put_colon_options(out, option, "\\:");
        fputc(')', out);
    } else if (option->kind != SPRY_OPTION_BOOL)
        fputs(":value: ", out);
    fputc('\'', out);
}

static void zsh(FILE *out)
{
    const cli_command *command;
    char words[CLI_WORDS];
    fputs("#compdef spry\n# zsh completion for spry; made by `spry completion zsh`\n_spry() {\n"
          "  local -a commands=(\n",
          out);
    for (int i = 0; (command = next_shown(&i));) {
        fprintf(out, "    '%s:", command->name);
        put_plain(out, command->summary);
        fputs("'\n", out);
    }
    fputs("  )\n  if (( CURRENT == 2 )); then\n    commands+=($(" APPLICATIONS ")"
          ")\n    _describe command commands\n    return\n  fi\n"
          "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n",
          out);
    for (int i = 0; (command = next_shown(&i));) {
        fprintf(out, "    %s) _arguments '--help[show help]'", command->name);
        visit_options(out, command, zsh_option);
        operand_words(command, words);
        if (*words)
            fprintf(out, " \\\n        '1:first:(%s)'", words);
        fputs(" \\\n        '*:file:_files' ;;\n", out);
    }
    fputs("    *) compadd -- $(spry $words[1] " ITS_OPTIONS "); _files ;;\n", out);
    fputs("  esac\n}\nif [ \"$funcstack[1]\" = _spry ]; then _spry \"$@\"; else compdef _spry "
          "spry; fi\n",
          out);
}

static void fish_option(FILE *out, const cli_command *command, const spry_option *option)
{
    char name[CLI_NAME], words[CLI_WORDS];
    cli_option_choices(option, words);
    fprintf(out, "complete -c spry -n '__fish_seen_subcommand_from %s' -l %s", command->name,
            cli_option_name(option, name));
    if (cli_option_letter(option))
        fprintf(out, " -s %c", cli_option_letter(option));
    if (*words) {
        fprintf(out, " -x -a '%s", words);
        put_colon_options(out, option, ":");
        fputc('\'', out);
    } else if (cli_option_is_file(option))
        fputs(option->words ? "" : " -r -F", out);
    else if (option->kind != SPRY_OPTION_BOOL)
        fputs(" -x", out);
    fputs(" -d '", out);
    put_plain(out, option->help);
    fputs("'\n", out);
}

static void fish(FILE *out)
{
    const cli_command *command;
    char words[CLI_WORDS];
    fputs("# fish completion for spry; made by `spry completion fish`\n"
          "complete -c spry -n __fish_use_subcommand -f -a '(" APPLICATIONS
          " | string split -n \" \")'\n"
          "complete -c spry -n '__fish_seen_subcommand_from (" APPLICATIONS
          " | string split -n \" \")' -a '(set -l w (commandline -opc); spry $w[2] " ITS_OPTIONS
          ")'\n",
          out);
    for (int i = 0; (command = next_shown(&i));) {
        fprintf(out, "complete -c spry -n __fish_use_subcommand -f -a %s -d '", command->name);
        put_plain(out, command->summary);
        fputs("'\n", out);
        operand_words(command, words);
        if (*words)
            fprintf(out, "complete -c spry -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                    command->name, words);
        visit_options(out, command, fish_option);
    }
}

static const struct {
    const char *name;
    void (*print)(FILE *out);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
enum { SHELLS = sizeof shells / sizeof *shells };

static void shell_names(char words[CLI_WORDS])
{
    for (int i = 0; i < SHELLS; i++)
        cli_add_word(words, shells[i].name);
}

static int run_completion(spry_context *ctx, const cli_arguments *arguments)
{
    (void)ctx;
    for (int i = 0; i < SHELLS; i++) {
        if (strcmp(arguments->operands[0], shells[i].name) == 0) {
            shells[i].print(stdout);
            return EXIT_DONE;
        }
    }
    return cli_fail(EXIT_INPUT, "no completion for %s; there are: bash zsh fish",
                    arguments->operands[0]);
}

const cli_command command_completion = {
    .name = "completion",
    .summary = "print a completion script for a shell",
    .synopsis = "bash|zsh|fish",
    .description = "Completes commands, options and the words that options take.",
    .groups = (const cli_group[]){{0}},
    .examples =
        (const cli_example[]){{". <(spry completion bash)", "For this shell."},
                              {"spry completion fish > ~/.config/fish/completions/spry.fish",
                               "For every fish from now on."},
                              {0}},
    .least = 1,
    .most = 1,
    .choices = shell_names,
    .run = run_completion,
};
