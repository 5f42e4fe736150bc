/* Every list of the library is walked: each entry has its words, each option its help, bounds that
 * make sense, and a default that its own parser takes. */
#include "krylov/krylov.h"
#include "program/program.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 1 << 16 };

/* Whether a word stands in a list with blanks between. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strncmp(p, word, length) == 0 && (p[length] == ' ' || !p[length]))
            return true;
    return false;
}

static void check_default(spry_context *ctx, spry_option_list list, const spry_option *option)
{
    static _Alignas(16) char fields[FIELDS];
    memset(fields, 0, sizeof fields);
    if (!option->initial)
        return;
    assert_ok(ctx, spry_options_set(ctx, list, fields, option->name, option->initial));
    if (option->kind == SPRY_OPTION_WORD)
        assert_true(has_word(option->words, option->initial));
}

/* Numbers just outside the bounds are refused. */
static void check_bounds(spry_context *ctx, spry_option_list list, const spry_option *option)
{
    static _Alignas(16) char fields[FIELDS];
    char text[64];
    assert_true(option->low <= option->high);
    if (option->low == 0 && option->high == 0)
        return;
    assert_true(option->kind == SPRY_OPTION_INT || option->kind == SPRY_OPTION_REAL);
    if (fabs(option->low) < 1e15) {
        snprintf(text, sizeof text, "%.17g", option->low - 1);
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_options_set(ctx, list, fields, option->name, text));
    }
    if (fabs(option->high) < 1e15) {
        snprintf(text, sizeof text, "%.17g", option->high + 1);
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_options_set(ctx, list, fields, option->name, text));
    }
}

static void check_options(spry_context *ctx, const char *owner, spry_option_list list)
{
    assert_true(list.count == 0 || list.row_size >= sizeof(spry_option));
    for (int i = 0; i < list.count; i++) {
        const spry_option *option = spry_options_at(list, i);
        if (!option->help || strlen(option->help) < 5)
            fail_msg("%s: option %s has no help", owner, option->name);
        assert_true(option->name[0] && option->offset < FIELDS - SPRY_OPTION_TEXT_SIZE);
        assert_true(option->kind <= SPRY_OPTION_PATH);
        assert_true((option->kind == SPRY_OPTION_WORD) <= (option->words != NULL));
        assert_ptr_equal(spry_options_find(list, option->name), option); /* names are unique */
        check_default(ctx, list, option);
        check_bounds(ctx, list, option);
    }
}

static void every_entry_is_described(void **state)
{
    int entries = 0, options = 0;
    for (int l = 0; l < SPRY_LIST_COUNT; l++) {
        const spry_list list = (spry_list)l;
        spry_entry entry = SPRY_ENTRY_INIT, found = SPRY_ENTRY_INIT;
        int count = 0;
        assert_true(strlen(spry_list_name(list)) > 3 && strlen(spry_list_summary(list)) > 10);
        for (; spry_list_at(list, count, &entry); count++) {
            char spec[128];
            assert_true(entry.name[0] && !strpbrk(entry.name, " :,"));
            assert_true(strlen(entry.summary) > 5 && !strchr(entry.summary, '\n'));
            assert_true(spry_list_find(list, entry.name, &found));
            if (found.name != entry.name || found.summary != entry.summary)
                fail_msg("%s is in the list of %s twice", entry.name, spry_list_name(list));
            snprintf(spec, sizeof spec, "%s:some=1", entry.name);
            assert_true(spry_list_find(list, spec, &found));
            assert_ptr_equal(found.name, entry.name);
            check_options(*state, entry.name, entry.options);
            options += entry.options.count;
        }
        assert_true(count >= 4);
        assert_null(entry.name); /* past the last it is cleared */
        assert_null(entry.options.options);
        assert_int_equal(entry.size, sizeof entry);
        assert_false(spry_list_find(list, "nonsense", &found));
        assert_false(spry_list_find(list, "", &found));
        assert_null(found.name);
        entries += count;
    }
    assert_true(entries > 90 && options > 150);
    print_message("%d entries, %d options\n", entries, options);
}

static void lists_that_do_not_exist(void **state)
{
    (void)state;
    spry_entry entry = SPRY_ENTRY_INIT;
    for (int l = -1; l <= SPRY_LIST_COUNT; l += SPRY_LIST_COUNT + 1) {
        assert_false(spry_list_at((spry_list)l, 0, &entry));
        assert_false(spry_list_find((spry_list)l, "cg", &entry));
        assert_null(spry_list_name((spry_list)l));
        assert_null(spry_list_summary((spry_list)l));
    }
    assert_false(spry_list_at(SPRY_LIST_METHODS, -1, &entry));
    assert_false(spry_list_at(SPRY_LIST_METHODS, 10000, &entry));
    assert_false(spry_list_at(SPRY_LIST_METHODS, 0, NULL));
    assert_false(spry_list_find(SPRY_LIST_METHODS, NULL, &entry));
}

/* What the build read in the texts of methods is what the parser makes of them. */
static void options_of_methods_are_those_of_their_texts(void **state)
{
    spry_context *ctx = *state;
    spry_entry method = SPRY_ENTRY_INIT;
    for (int i = 0; spry_list_at(SPRY_LIST_METHODS, i, &method); i++) {
        program *p = NULL;
        int count = 0;
        assert_ok(ctx, program_parse(ctx, method.name, method.text, strlen(method.text), &p));
        for (int k = 0; k < p->name_count; k++) {
            const program_name *name = &p->names[k];
            if (name->kind != NAME_OPTION)
                continue;
            const spry_option *option = spry_options_at(method.options, count);
            assert_non_null(option);
            assert_string_equal(option->name, name->text);
            assert_string_equal(option->help, name->help);
            assert_int_equal(option->offset, 8 * count++);
            if (name->words[0]) {
                assert_int_equal(option->kind, SPRY_OPTION_WORD);
                assert_string_equal(option->words, name->words);
                assert_true(strncmp(name->words, option->initial, strlen(option->initial)) == 0 ||
                            name->value > 0);
            } else {
                assert_int_equal(option->kind, name->whole ? SPRY_OPTION_INT : SPRY_OPTION_REAL);
                assert_true(strtod(option->initial, NULL) == name->value);
                assert_true(option->low == name->low && option->high == name->high);
            }
        }
        assert_int_equal(count, method.options.count);
        program_free(p);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_entry_is_described),
        TEST(lists_that_do_not_exist),
        TEST(options_of_methods_are_those_of_their_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
