/*
 * The mechanism of the command-line programs: of spry, and of its applications (apps/). A command
 * is one table entry: its words, options and examples feed the parser, --help, the manual pages and
 * the completion scripts. Only spry's public headers are used in this folder.
 */
#ifndef SPRY_CLI_H
#define SPRY_CLI_H

#include <private/programs.h>
#include <spry/spry.h>
#include <stdio.h>

/* Exit status; cli_exit_texts says what they mean, in this order. EXIT_STOPPED is what a shell
 * makes of a program that Ctrl-C ended. */
enum {
    EXIT_DONE,
    EXIT_UNCONVERGED,
    EXIT_INPUT,
    EXIT_RESOURCES,
    EXIT_COUNT,
    EXIT_LEAK = 99,
    EXIT_STOPPED = 130
};
extern const char *const cli_exit_texts[EXIT_COUNT];

enum { CLI_GROUPS = 4, CLI_WORDS = 1024, CLI_NAME = 64 };

/*
 * Options under one heading. A PATH option with words (".json") takes the next argument only when
 * it ends in that; alone it stands for "-".
 */
typedef struct cli_group {
    const char *title;
    spry_option_list (*list)(void);
    const char *skip; /* names this command does not take, separated by spaces; or NULL */
} cli_group;

typedef struct cli_example {
    const char *command, *what;
} cli_example;

typedef struct cli_command cli_command;

/* An option as given on the command line. */
typedef struct cli_given {
    int group;
    const spry_option *option;
    const char *value;
} cli_given;

/* A command line taken apart. */
typedef struct cli_arguments {
    const cli_command *command;
    void *fields[CLI_GROUPS]; /* the groups' structs; a command's own is the first, the others are
                                 of the library's lists */
    cli_given *given;         /* in the order of the command line */
    int given_count;
    const char **operands;
    int count; /* of operands */
    bool help; /* --help was among them */
} cli_arguments;

struct cli_command {
    const char *name, *summary;
    const char *synopsis;        /* "A [b]": what follows the name; "" for nothing */
    const char *description;     /* paragraphs, a newline between them */
    const cli_group *groups;     /* until a NULL title, CLI_GROUPS at most */
    const cli_example *examples; /* until a NULL command */
    int least, most;             /* operands */
    bool hidden;                 /* from the overview, the manual and the completion */
    bool ranks;                  /* it knows what to do with the ranks of MPI */
    /* Words the first operand can be ("" when it is a file), for the completion; NULL: files only.
     */
    void (*choices)(char words[CLI_WORDS]);
    int (*run)(spry_context *ctx, const cli_arguments *arguments);
};

extern const cli_command command_solve, command_plan, command_info, command_doctor, command_gen,
    command_convert, command_bench, command_devices, command_tune, command_plot, command_report,
    command_explain, command_help, command_version, command_completion, command_manual;
/* The commands of the program in the order of the overview, until a NULL, are handed over before
 * anything else; then by index, NULL past the last, and by name, or NULL. */
void cli_use_commands(const cli_command *const *all);
const cli_command *cli_command_at(int index);
const cli_command *cli_command_find(const char *name);

/* A whole program: prepares streams, signals and the stack, and calls body, whose exit status it
 * gives. */
int cli_start(int (*body)(int argc, char **argv), int argc, char **argv);
/* Runs a command with the arguments after its name. */
int cli_run(const cli_command *command, int argc, char **argv);

/*
 * Applications (apps.c): programs spry-NAME next to this one, in libexec/spry, or in PATH.
 * apps_find gives the path of the one of a name. apps_start becomes it, with the arguments that
 * follow it, or with --help; it comes back where there is none. apps_names adds the names of all;
 * apps_unknown says that neither a command nor an application has a name, suggests the nearest, and
 * gives the exit status.
 */
bool apps_find(const char *name, char *path, size_t size);
void apps_start(const char *name, bool asks, char **argv);
void apps_names(char words[CLI_WORDS]);
int apps_unknown(const char *name);

/* Own options that several commands have. */
#define CLI_JSON(item, what) \
    item(PATH, json, NULL, 0, 0, ".json", what " as JSON on the standard output, or in FILE")
#define CLI_LIST(rows) ((spry_option_list)SPRY_OPTION_LIST(rows))

/* Takes a command line apart. EXIT_DONE, or another exit status after a message. */
int cli_parse(spry_context *ctx, const cli_command *command, int argc, char **argv,
              cli_arguments *arguments);
void cli_arguments_free(cli_arguments *arguments); /* cleared ones are allowed */
/* Hands the options of the library's lists to a context, which must end before the arguments. */
spry_status cli_set_options(const cli_arguments *arguments, spry_context *ctx);
/* The library's lists, as groups name them. */
spry_option_list cli_context_options(void);
spry_option_list cli_solver_options(void);
spry_option_list cli_read_options(void);
spry_option_list cli_generate_options(void);
spry_option_list cli_tune_options(void);
spry_option_list cli_diagnose_options(void);
/* What was given for one of the library's lists, one after the other: after `before`, NULL being
 * before the first; NULL past the last. */
const cli_given *cli_next_given(const cli_arguments *arguments, spry_option_list (*list)(void),
                                const cli_given *before);
/* A field of one of the library's lists; NULL when there is no such option. */
const void *cli_field(const cli_arguments *arguments, spry_option_list (*list)(void),
                      const char *name);

/* A message of the library with its options as the command line takes them: --method lsqr in the
 * place of method=lsqr. The text lives until the fourth call after its own. */
void cli_spell_for(const cli_command *command);
const char *cli_spell(const char *text);

/* Options as people see them. The name with '-', what follows it ("FILE", "error|sum",
 * "" for switches), the
 * letter that is short for it (0: none), the words its value can be ("" when free), and whether a
 * command shows it at all. */
const char *cli_option_name(const spry_option *option, char name[CLI_NAME]);
const char *cli_option_value(const spry_option *option, char value[CLI_NAME]);
char cli_option_letter(const spry_option *option);
const char *cli_letter_name(char letter); /* the option that it is short for; or NULL */
/* Entry number index of the list that an option's words are of; false past the last, or where there
 * is no list. */
bool cli_option_entry(const spry_option *option, int index, spry_entry *entry);
void cli_option_choices(const spry_option *option, char words[CLI_WORDS]);
bool cli_option_shown(const cli_group *group, const spry_option *option);
bool cli_option_is_file(const spry_option *option);
/* A name from a space-separated list. */
bool cli_has_word(const char *words, const char *word);
void cli_add_word(char words[CLI_WORDS], const char *word);

/* Prints the help of a command; its manual page, or that of the program for NULL. */
void cli_help(FILE *out, const cli_command *command);
void cli_manual(FILE *out, const cli_command *command);
/* Sentences from the table that help and manual share: "default 1e-6, from 0 to 1". */
void cli_option_bounds(const spry_option *option, char text[256]);

/* Complaints, to the standard error; both return the exit status. */
int cli_fail(int exit_status, const char *format, ...) SPRY_PRINTF(2, 3);
int cli_failed(spry_context *ctx, spry_status status);
/* Watches for libraries that end the program; cli_leave(): from here on it ends itself. */
void cli_watch_exit(void);
void cli_leave(void);
/* Memory, or the end of the program with EXIT_RESOURCES. */
void *cli_alloc(size_t bytes);
/* Prints the library's log, as a spry_log_fn. */
void cli_log(void *data, spry_log_level level, const char *text);
/* Seconds of a steady clock. */
double cli_clock(void);

/* How many processes mpirun, mpiexec or srun has started; -1: none of them did. */
int ranks_started(void);
/* Ranks of MPI (ranks.c), where the program was started by mpirun, or --mpi was given: the team for
 * a context, or NULL. An exit status. */
int ranks_open(const cli_arguments *arguments, spry_team **team);
/* After it, with a team: fails on all ranks where one has failed, where they do not find each
 * other, or were started with different words. An exit status. */
int ranks_begin(spry_context *ctx, const cli_arguments *arguments, int exit_status);
/* Before a command line is read: the first process reports what is wrong with it. */
void ranks_hush(const cli_command *command);
/* Whether another rank prints in the place of this one. */
bool ranks_silent(void);
void ranks_silence(bool is_silent);
/* One exit status for all ranks; the first one reports what others have failed with. */
int ranks_agree(spry_context *ctx, int exit_status);

/* Calls it on a stack that is large enough, whatever `ulimit -s` says; gives what it gives. */
int stack_run(int (*body)(int argc, char **argv), int argc, char **argv);

/* The first Ctrl-C (or SIGTERM, SIGHUP, SIGXCPU) asks the context's solve, or the writing of a
 * file, to stop, the second ends the program. */
void signals_watch(spry_context *ctx);
void signals_unwatch(void);
/* While they are watched: who is asked to stop by the first of them (NULL: none, as what is being
 * written is the answer to it), and whether one came. */
void signals_target(spry_context *ctx);
bool signals_pending(void);
/* A reader that went away and a limit on the size of files show as write errors instead of signals;
 * a mapped file that someone cut short ends the program with a message. */
void signals_prepare(void);

#endif
