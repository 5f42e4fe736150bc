/*
 * spry serve: a page for a folder of matrices.
 *
 * Two threads. One speaks HTTP and never waits for anything (http.c, reply.c, answers.c, events.c,
 * guard.c); the program's own starts processes, follows them and writes records (watch.c, jobs.c).
 * What takes a while is a task: the connection sleeps until the watch has run it. All work on
 * matrices is done by processes of their own, `spry solve` and its like (child.c), with limits.
 *
 * Whoever touches jobs, tasks or streams holds the lock.
 */
#ifndef SPRY_SERVE_H
#define SPRY_SERVE_H

#include "common/app.h"
#include "serve/spec.h"

#include <microhttpd.h>
#include <pthread.h>
#include <sys/types.h>

#define SERVE_OPTIONS(item)                                                                        \
    item(INT, port, "8017", 0, 65535, NULL, "of the page; 0 takes one that is free")               \
    item(TEXT, listen, "127.0.0.1", 0, 0, NULL,                                                    \
         "address to listen at; one that other machines reach needs --key")                        \
    item(                                                                                          \
        PATH, key, NULL, 0, 0, NULL,                                                               \
        "file with a secret of 22 letters and digits or more, which is asked for in the place of " \
        "the URL's token")                                                                         \
    item(TEXT, host, "", 0, 0, NULL,                                                               \
         "name that browsers reach it by, where that is not the address")                          \
    item(INT, jobs, "1", 1, 64, NULL, "jobs that run side by side; others wait")                   \
    item(INT, waiting, "100", 1, 10000, NULL, "jobs that may wait")                                \
    item(INT, memory, "0", 0, 9e18, NULL, "bytes that a job may take; 0: as spry decides itself")  \
    item(INT, seconds, "86400", 1, 9e9, NULL, "of processor time that a job may take")             \
    item(INT, file_bytes, "68719476736", 1e6, 9e18, NULL, "that a file of a job may have")         \
    item(INT, upload_bytes, "8589934592", 1, 9e18, NULL, "that a file which is sent may have")     \
    item(INT, nice, "5", 0, 19, NULL, "nice value of jobs")                                        \
    item(BOOL, quiet, "no", 0, 0, NULL, "print nothing but the URL and errors")

typedef struct serve_options {
    SERVE_OPTIONS(SPRY_OPTION_FIELD)
} serve_options;

typedef struct server server;

#define STATE_FOLDER ".spry-serve"
#define JOBS_FOLDER STATE_FOLDER "/jobs"

enum { BODY_MOST = 256 << 10, RESULT_MOST = 64 << 20, LINE_MOST = 1024, PATH_MOST = 128 };

/* --- child.c: processes ------------------------------------------------------------------------*/

typedef struct child {
    pid_t pid;   /* 0: none */
    int door;    /* becomes readable when it ends; -1: the system has no such thing */
    bool ended;  /* and was waited for */
    int status;  /* of waitpid() */
    double used; /* seconds of processor time */
    double most; /* that it may take; 0: any */
} child;

typedef struct child_limits {
    int64_t memory, seconds, file_bytes; /* 0: none */
    int nice;
} child_limits;

/* What it gets: a process that is made with `text` has that as its descriptor 3, one with `mark`
 * writes its number there before anything else. -1: nothing. */
typedef struct child_files {
    int out, err, text, mark;
} child_files;

/* The program `spry` itself; false after a message. */
bool child_find_program(server *s);
bool child_start(const server *s, const command *c, const child_limits *limits,
                 const child_files *files, child *one);
/* Whether it has ended. */
bool child_poll(child *one);
/* A file in memory; -1: there is none to be had. */
int child_memory(const char *text, size_t size);

/* --- folder.c: files of the folder -------------------------------------------------------------*/

/* Opens the folder and what the server keeps in it; an exit status, after a message. */
int folder_open(server *s, const char *path);
void folder_close(server *s);
/* A regular file by its good name, no link; -1: there is none. */
int folder_file(const server *s, const char *name);
void folder_list(const server *s, json *j);

typedef struct upload {
    int fd; /* -1: none */
    char place[PATH_MOST];
    char name[NAME_SIZE];
    bool replace;
    int64_t bytes;
    unsigned fault; /* HTTP's number for what went wrong; 0: nothing */
} upload;

void upload_begin(server *s, upload *u);
void upload_take(const server *s, upload *u, const char *bytes, size_t size);
/* On the disk, and by its name in the folder. */
void upload_end(const server *s, upload *u);
void upload_drop(
    upload *u); /* one that did not end well leaves nothing; cleared ones are allowed */

/* --- jobs.c: jobs and their records ------------------------------------------------------------*/

#define JOB_STATES(item) \
    item(queued)         \
    item(running)        \
    item(done)           \
    item(failed)         \
    item(cancelled)
#define JOB_STATE_ENUM(name) STATE_##name,
enum { JOB_STATES(JOB_STATE_ENUM) STATE_COUNT };

typedef struct job {
    int64_t id;
    int state;
    spec spec;
    char *command;                  /* as a person would type it */
    double created, started, ended; /* seconds since 1970; 0: not yet */
    child process;
    bool ours;       /* a process that can be waited for */
    bool asked;      /* to stop */
    double asked_at; /* cli_clock() */
    int log;         /* to read; -1: not open */
    int64_t log_size;
    char progress[LINE_MOST]; /* the last line of it, "" before */
    char *summary;            /* of the result, as JSON; or NULL */
    char message[LINE_MOST];  /* why it failed; "" */
    bool dirty;               /* the record on disk is older */
    bool gone;                /* to be removed */
} job;

bool job_is_over(const job *j);
/* Reads what is kept of earlier runs. */
void jobs_load(server *s);
job *jobs_find(const server *s, int64_t id);
/* Takes the spec over. NULL: there is no memory. */
job *jobs_add(server *s, spec *asked);
int jobs_count(const server *s, int state);
void jobs_free(server *s);
/* Removes those that are gone, with their files. */
void jobs_sweep(server *s);
/* Whether its process lives, whoever has started it. */
bool job_lives(const job *j);
void job_signal(const job *j, int number);
/* Asks it to stop; one that waits is over at once. */
void job_cancel(job *j);
/* Writes the records of those that have changed; lets the lock go meanwhile. */
void jobs_save(server *s);
/* A process has ended: what it left decides. */
void job_judge(job *j, bool status_known);
/* Looks at the end of its output. Whether there is more. */
bool job_poll_log(job *j);

/* --- record.c: what is shown and kept of a job -------------------------------------------------*/

extern const char *const job_states[STATE_COUNT];
/* A file of a job; the text lives until the next call of its thread. */
const char *job_path(const job *j, const char *file);
double job_time(void); /* seconds since 1970 */
void job_result_name(const job *j, char name[64]);
bool job_has_file(const job *j, const char *file);
/* A whole file, in memory of malloc's with a 0 behind it; NULL: it cannot be read, or is larger. */
char *job_read(const job *j, const char *file, size_t most, size_t *size);
/* What a list shows of a result or of a record's summary, as JSON of malloc's; NULL: nothing. */
char *job_summarise(const reader *r, const reader_value *from);
/* The summary of the result that was written. */
void job_take_result(job *j);
/* As it is kept, in memory of malloc's; NULL: there is none. */
char *job_record(const job *j, size_t *size);
void job_json(json *out, const char *key, const job *j);
/* The same with what it came to, as a whole. */
void job_json_all(json *out, const job *j);

/* --- tasks.c: commands for a request ---------------------------------------------------------*/

enum { TASK_COMMANDS = 2 };

typedef struct task {
    struct task *next;
    struct MHD_Connection *connection; /* sleeps until it is done; NULL: no client waits */
    command commands[TASK_COMMANDS];
    int count;
    char *text;     /* of a method, for all commands; or NULL */
    upload *upload; /* to be ended; or NULL */
    double at;      /* not before, by cli_clock() */
    bool begun, done;
    child children[TASK_COMMANDS];
    int out[TASK_COMMANDS], err[TASK_COMMANDS];
    double since;
} task;

task *task_new(void); /* or NULL */
void task_free(task *e);
/* Has it run; the connection sleeps. False: too many wait. */
bool task_send(server *s, task *e, struct MHD_Connection *connection);
bool task_good(const task *e, int at); /* exit status 0 */
/* What it printed, and what it complained of, in memory of malloc's; NULL: no memory. */
char *task_output(const task *e, int at, size_t *size);
char *task_complaint(const task *e, int at);

/* Kills what of it still runs. */
void task_stop(task *e);
/* Wakes the watch. */
void server_wake(server *s);

/* --- watch.c: tasks and jobs run -------------------------------------------------------------*/

/* Follows jobs and tasks until a signal asks to stop. */
int watch_run(server *s);

/* --- guard.c: who may come in ------------------------------------------------------------------*/

enum { SECRET_BYTES = 16, SECRET_SIZE = 2 * SECRET_BYTES + 1, KEY_MOST = 256 };

typedef struct guard {
    char token[SECRET_SIZE], session[SECRET_SIZE], cookie[32];
    char key[KEY_MOST]; /* "": the token is asked for */
    char hosts[3][NAME_SIZE + 16];
    int host_count;
    int failures, slowed; /* guesses of late, and of these who still wait */
    double last_failure;
} guard;

int guard_open(server *s, const serve_options *o); /* an exit status */
bool guard_renew(guard *g);                        /* another token */
/* Prints the address that opens the page. */
void guard_announce(const server *s);
/* A request's head: 0, or the status to refuse it with. */
unsigned guard_head(const server *s, struct MHD_Connection *connection, const char *method,
                    const char **why);
bool guard_knows(const server *s, struct MHD_Connection *connection);
bool guard_secret_is(const server *s, const char *given);
/* Seconds that a wrong guess has to wait; below 0: too many wait. */
double guard_slow(server *s);

/* --- http.c, reply.c, answers.c, answers_jobs.c, events.c --------------------------------------*/

typedef struct request {
    char *body; /* of JSON or a form */
    size_t size;
    bool too_large, lost; /* more than is taken, or than there is memory for */
    upload up;
    task *task;
    bool stranger; /* with a cookie that is none */
    bool slow;     /* a wrong guess, which waits */
} request;

/* --- door.c: who is not let in is asked for the secret, programs are refused -------------------*/

enum MHD_Result door_refuse(const server *s, const request *q, struct MHD_Connection *connection,
                            const char *path);
/* A wrong guess sleeps before it hears so. */
enum MHD_Result door_slow(server *s, request *q, struct MHD_Connection *connection,
                          const char *path);
/* By the address's token, and by the form. */
enum MHD_Result door_sign_in(server *s, request *q, struct MHD_Connection *connection,
                             const char *given);
enum MHD_Result door_form(server *s, request *q, struct MHD_Connection *connection);

int http_listen(server *s, const serve_options *o); /* an exit status */
bool http_start(server *s);
void http_stop(server *s);

/* Which policy a page of an answer is under. */
enum { POLICY_PAGE, POLICY_PICTURE, POLICY_REPORT, POLICY_LOGIN };
/* Takes the response over; NULL is reported as a lack of memory. */
enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                       int policy, struct MHD_Response *response);
enum MHD_Result answer_fault(struct MHD_Connection *connection, unsigned status, const char *format,
                             ...) SPRY_PRINTF(3, 4);
/* Takes a text of malloc's over. */
enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status, const char *type,
                            int policy, char *text, size_t size);

/* A text of JSON that is being made. */
typedef struct draft {
    char *text;
    size_t size;
    json j;
} draft;
bool draft_begin(draft *d);
enum MHD_Result draft_send(draft *d, struct MHD_Connection *connection, unsigned status);
/* One command, to which words are added; NULL: no memory. */
task *answer_task(const char *first, const char *second);
/* Has it run for the request (NULL is reported as a lack of memory); its end calls the same answer
 * once more, which sends what the command has printed. */
enum MHD_Result answer_by_task(server *s, request *q, task *e, struct MHD_Connection *connection);
/* Refuses with what a command has complained of. */
enum MHD_Result answer_complaint(const task *e, int at, struct MHD_Connection *connection);
enum MHD_Result answer_output(const request *q, const char *type, int policy,
                              struct MHD_Connection *connection);
/* Takes a body of JSON apart by one of spec.h's functions; false after the request was refused. */
bool answer_take_spec(const request *q, spec *asked, struct MHD_Connection *connection,
                      bool (*take)(spec *s, const reader *r, const reader_value *from,
                                   char fault[FAULT_SIZE]),
                      enum MHD_Result *refused);
enum MHD_Result answer_jobs(server *s, request *q, struct MHD_Connection *connection,
                            const char *method, const char *path);
/* All below /api/. */
enum MHD_Result answer_api(server *s, request *q, struct MHD_Connection *connection,
                           const char *method, const char *path);
/* A file is about to be sent. */
enum MHD_Result answer_upload_begin(server *s, request *q, struct MHD_Connection *connection);
const char *answer_parameter(struct MHD_Connection *connection, const char *name); /* or "" */

typedef struct stream stream;
enum MHD_Result answer_events(server *s, const job *j, struct MHD_Connection *connection);
/* Wakes streams of a job that have something to send; all, with j NULL. */
void streams_wake(server *s, const job *j);

struct server {
    spry_context *ctx;
    const serve_options *o;
    pthread_mutex_t lock;
    char program[4096]; /* spry */
    int folder, state;  /* descriptors */
    int held;           /* the lock on the state's folder */
    const char *name;   /* of the folder */
    child_limits limits;
    job **jobs; /* by number */
    int job_count, job_room;
    int64_t last_id;
    task *tasks;
    int task_count;
    stream *streams;
    bool stopping;
    int wake[2]; /* a pipe */
    char *lists; /* the answer to /api/lists, once it is known */
    size_t lists_size;
    guard guard;
    int listener;
    char address[NAME_SIZE + 16]; /* host and port */
    int port;
    bool exposed; /* to other machines */
    struct MHD_Daemon *daemon;
};

#endif
