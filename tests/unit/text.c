/* Texts of the command line for people: what a thread was given stays while others ask for theirs.
 */
#include "output.h"
#include "support/support.h"

#include <pthread.h>
#include <string.h>

enum { ASKED = 64 };

/* Asks for more names than there is room for at a time. */
static void *ask(void *data)
{
    (void)data;
    for (int k = 0; k < ASKED; k++)
        (void)text_name("the other thread's name");
    return NULL;
}

static void names_are_of_a_thread(void **state)
{
    (void)state;
    pthread_t other;
    const char *first = text_name("A\x1b[1m.mtx"), *second = text_name("b.mtx");
    assert_int_equal(pthread_create(&other, NULL, ask, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_string_equal(first, "A\\x1b[1m.mtx");
    assert_string_equal(second, "b.mtx");
}

/* Those that are not seen, or turn others around, are shown as their bytes; letters stay. */
static void hidden_characters_are_shown(void **state)
{
    (void)state;
    assert_string_equal(text_name("a\u202egpj.mtx"), "a\\xe2\\x80\\xaegpj.mtx");
    assert_string_equal(text_name("\ufeff\u200b\u00ad\U000e0041"),
                        "\\xef\\xbb\\xbf\\xe2\\x80\\x8b\\xc2\\xad\\xf3\\xa0\\x81\\x81");
    assert_string_equal(text_name("\u00e4\u05d0\u65e5\U0001f600"), "\u00e4\u05d0\u65e5\U0001f600");
    assert_true(text_is_hidden((const unsigned char *)"\u2066"));
    assert_false(text_is_hidden((const unsigned char *)"\u2070"));
}

static void words_are_those_of_a_shell(void **state)
{
    static const char *const words[][2] = {
        {"A.mtx", "A.mtx"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"'", "\\'"},
        {"\u202egpj", "$'\\342\\200\\256''gpj'"},
        {"a\x1b'\xff", "'a'$'\\033'\\'$'\\377'"},
        {"$(\u00e4)", "'$(\u00e4)'"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        char text[80];
        FILE *out = fmemopen(text, sizeof text, "w");
        assert_non_null(out);
        text_word(out, words[k][0]);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, words[k][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_of_a_thread),
                                       cmocka_unit_test(hidden_characters_are_shown),
                                       cmocka_unit_test(words_are_those_of_a_shell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
