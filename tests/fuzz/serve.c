/*
 * Bodies of requests to spry serve: what is taken names files of the folder alone, and becomes
 * words of a command none of which is an option that was not given; a shell reads the command's
 * text as these words.
 */
#include "../../apps/serve/spec.h"
#include "../../cli/output.h"

#include "fuzz.h"

static bool begins(const char *word, const char *with)
{
    return strncmp(word, with, strlen(with)) == 0;
}

/* One word of a text in a shell's quotes: '...', $'\342\200\256', and \' between them. */
static const char *unquote(const char *p, char *word)
{
    char within = '\0';
    for (; *p && (within || *p != ' '); p++) {
        if (!within && *p == '$' && p[1] == '\'') {
            within = *p++;
        } else if (*p == '\'') {
            within = within ? '\0' : *p;
        } else if (within == '$') {
            char *end;
            const char digits[] = {p[1], p[2], p[3], '\0'};
            fuzz_require(*p == '\\');
            *word++ = (char)strtol(digits, &end, 8);
            fuzz_require(end == digits + 3);
            p += 3;
        } else if (!within && *p == '\\') {
            *word++ = *++p;
        } else {
            *word++ = *p;
        }
    }
    fuzz_require(!within);
    *word = '\0';
    return p + (*p == ' ');
}

static void check_printed(const command *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fuzz_require(out != NULL);
    command_print(c, out);
    fuzz_require(fclose(out) == 0);
    char *word = malloc(size + 1);
    const char *p = text;
    for (int k = 0; k < c->count; k++) {
        p = unquote(p, word);
        fuzz_require(strcmp(word, c->words[k]) == 0);
    }
    fuzz_require(!*p);
    for (p = text; *p; p += text_utf8_length((const unsigned char *)p))
        fuzz_require(text_utf8_length((const unsigned char *)p) > 0 &&
                     !text_is_hidden((const unsigned char *)p));
    free(word);
    free(text);
}

/* Files come first; then each word is an option of ours with its value, or a file of ours. */
static void check_command(const spec *s, const spec_place *place)
{
    static const char *const options[] = {"--method=", "--method-file=", "--methods=", "--precon=",
                                          "--tol=",    "--max-iter=",    "--device=",  "--json",
                                          "--report=", "--progress=json"};
    command c = {0};
    spec_command(s, place, &c);
    fuzz_require(!c.bad && c.count >= 3 && !c.words[c.count]);
    fuzz_require(strcmp(c.words[0], "spry") == 0);
    fuzz_require(strcmp(c.words[1], spec_kind_names[s->kind]) == 0);
    int at = 2;
    while (at < c.count && c.words[at][0] != '-') {
        const char *name = begins(c.words[at], "./") ? c.words[at] + 2 : c.words[at];
        fuzz_require(name_is_good(name) && at <= 3);
        at++;
    }
    fuzz_require(at >= 3);
    for (; at < c.count; at++) {
        bool known = strcmp(c.words[at], "-o") == 0;
        for (size_t k = 0; k < sizeof options / sizeof *options; k++)
            known = known || begins(c.words[at], options[k]);
        const char *before = c.words[at - 1];
        if (strcmp(before, "-o") == 0 || strcmp(before, "--json") == 0)
            known = begins(c.words[at], place->folder);
        fuzz_require(known);
    }
    check_printed(&c);
    command_free(&c);
}

static void check_spec(const reader *r)
{
    spec s;
    char fault[FAULT_SIZE] = "";
    if (spec_read(&s, r, r->values, fault)) {
        fuzz_require(name_is_good(s.file) && (!*s.rhs || name_is_good(s.rhs)));
        fuzz_require(!s.text || strlen(s.text) <= TEXT_MOST);
        check_command(&s, &(spec_place){"", "", false});
        check_command(&s, &(spec_place){".spry-serve/jobs/1/", "job-1.json", true});
    } else {
        fuzz_require(*fault);
    }
    spec_free(&s);
    fault[0] = '\0';
    if (spec_read_method(&s, r, r->values, fault))
        fuzz_require(s.text || (*s.method && *s.method != '-'));
    else
        fuzz_require(*fault);
    spec_free(&s);
}

static void check_name(const char *name)
{
    if (name_is_good(name)) {
        fuzz_require(*name && *name != '.' && !strchr(name, '/') && strlen(name) < NAME_SIZE);
        for (const char *p = name; *p; p++)
            fuzz_require((unsigned char)*p >= ' ' && *p != 0x7f);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reader r;
    if (reader_parse(&r, (const char *)data, size))
        check_spec(&r);
    reader_free(&r);
    char *name = malloc(size + 1);
    memcpy(name, data, size);
    name[size] = '\0';
    check_name(name);
    free(name);
    return 0;
}
