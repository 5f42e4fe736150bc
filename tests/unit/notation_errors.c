/* Texts that are no method: each is refused with the place and what is wrong there. */
#include "support/notation.h"

#include <stdio.h>
#include <string.h>

static void refused(spry_context *ctx, const char *text, size_t size, const char *message)
{
    program *p = (program *)1;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, program_parse(ctx, "t", text, size, &p));
    assert_null(p);
    assert_string_equal(spry_message(ctx), message);
}

#define LOOP "start:\nloop: residual |b|\n"

#define BLOCK \
    "method m \"s\"\nblock\nscalars G[columns], H[2, columns]\nvectors V[2]\nstart:\nr = b\n"

/* Whole texts. */
static const struct {
    const char *text, *message;
} texts[] = {
    {"", "t:1:1: method is needed here, not the end of the text"},
    {"\n\n cg", "t:3:2: method is needed here, not cg"},
    {"method", "t:1:7: a name is needed here, not the end of the text"},
    {"method 3", "t:1:8: a name is needed here, not 3"},
    {"method cg\n", "t:1:10: a summary in quotes is needed here, not the "
                    "end of the line"},
    {"method cg \"\"", "t:1:11: the text is empty"},
    {"method a234567890123456789012345678901-3 \"s\"",
     "t:1:8: the name a234567890123456789012345678901... is longer than 31 characters"},
    {"method cg \"s\" \"t\"", "t:1:15: the end of the line is needed here, not a text in quotes"},
    {"method m \"s\"\nfoo\n", "t:2:1: a section or a declaration is needed here, not foo"},
    {"method m \"s\"\nfor 3\n", "t:2:5: a text in quotes is needed here, not 3"},
    {"method m \"s\"\nfor \"a\"\nfor \"b\"\n", "t:3:1: this was said before"},
    {"method m \"s\"\nreference \"a\"\nreference \"b\"\n", "t:3:1: this was said before"},
    {"method m \"s\"\nprecon a\nprecon b\n", "t:3:1: this was said before"},
    {"method m \"s\"\nneeds\n",
     "t:2:6: hermitian, symmetric or definite is needed here, not the end of the line"},
    {"method m \"s\"\nneeds hermitian square\n",
     "t:2:17: hermitian, symmetric or definite is needed here, not square"},
    {"method m \"s\"\nneeds definite definite\n", "t:2:16: this was said before"},
    {"method m \"s\"\nneeds definite\nneeds definite\n", "t:3:7: this was said before"},
    {"method m \"s\"\nneeds hermitian symmetric\n",
     "t:2:17: a method needs hermitian or symmetric, not both"},
    {"method m \"s\"\nkeeps V\n", "t:2:7: V is no array that was declared"},
    {"method m \"s\"\nvectors V[2], w\nkeeps V, w\n", "t:3:10: w is no array that was declared"},
    {"method m \"s\"\nflexible\nflexible\n", "t:3:1: this was said before"},
    {"method m \"s\"\nflexible yes\n", "t:2:10: the end of the line is needed here, not yes"},
    {"method m \"s\"\nblock\nblock\n", "t:3:1: this was said before"},
    {"method m \"s\"\nvectors V[2]\nblock\n",
     "t:3:1: block stands before options and declarations"},
    {"method m \"s\"\nblock\nscalars columns\n",
     "t:3:9: columns belongs to the notation and cannot be a name"},
    {"method m \"s\"\nscalars G[columns]\n",
     "t:2:11: columns is unknown: nothing is assigned to it before this"},
    {"method m \"s\"\nstart:\nr = b\nx = [r] r\n",
     "t:4:5: [ ] stands for the vectors of all right-hand sides, in methods with the line block"},
    {BLOCK "G = ([V], r)\n", "t:7:7: V is an array: an index is needed"},
    {BLOCK "G = ([V[0..1]], r)\n", "t:7:10: ] is needed here, not .."},
    {BLOCK "G = ([V[r]], r)\n", "t:7:9: r is a vector, a scalar is needed here"},
    {BLOCK "G = H\n", "t:7:5: only several inner products, or a column of a small matrix, can be "
                      "assigned to a run of scalars"},
    {BLOCK "H = G\n", "t:7:5: only what a function makes can be assigned to a matrix"},
    {BLOCK "G = orth(H)\n", "t:7:10: H is a matrix, a run of scalars is needed here"},
    {BLOCK "G = least(G, G)\n", "t:7:11: G[0..15] is a run of scalars, a matrix is needed here"},
    {BLOCK "G = eig(H)\n", "t:7:5: eig(H) is a matrix, a run of scalars is needed here"},
    {BLOCK "s = H\n", "t:7:5: H is a matrix, a scalar is needed here"},
    {"method m \"s\"\nscalars H[2, 2]\nstart:\nH = 3\n",
     "t:4:1: H is an array: an index is needed"},
    {"method m \"s\"\nscalars H[2, 2]\nstart:\ns = H\n",
     "t:4:5: H is an array: an index is needed"},
    {"method m \"s\"\nscalars H[2, 2]\nstart:\nH = eig(3)\n",
     "t:4:9: 3 is a scalar, a matrix is needed here"},
    {"method m \"s\"\nscalars H[2, 2]\nstart:\nH = orth(H)\n",
     "t:4:5: orth is unknown: nothing is assigned to it before this"},
    {"method m \"s\"\n" LOOP "part a:\n", "t:4:1: the part has no end"},
    {"method m \"s\"\n" LOOP "part a\nend\n", "t:4:7: : is needed here, not the end of the line"},
    {"method m \"s\"\n" LOOP "part a:\nend\npart a:\nend\n",
     "t:6:6: the part a is defined already"},
    {"method m \"s\"\nstart:\nuse a\n", "t:3:5: there is no part a"},
    {"method m \"s\"\nstart:\nuse a\npart a:\nuse b\nend\npart b:\nend\n",
     "t:5:1: a part cannot use another"},
    {"method m \"s\"\nstart:\nuse a\npart a:\nr = s\nend\n",
     "t:5:5: s is unknown: nothing is assigned to it before this"},
    {"method m \"s\"\nstart:\nuse a b\npart a:\nend\n",
     "t:3:7: the end of the statement is needed here, not b"},
    {BLOCK "G = ([x], r)\n", "t:7:7: x is no vector of the method's own that has a value here"},
    {BLOCK "G = ([zz], r)\n", "t:7:7: zz is unknown: nothing is assigned to it before this"},
    {BLOCK "G = ([r + r], r)\n", "t:7:9: ] is needed here, not +"},
    {BLOCK "r = [r]\n", "t:7:5: [r] is a run of vectors, a vector is needed here"},
    {BLOCK "r = A [r]\n", "t:7:7: [r] is a run of vectors, a vector is needed here"},
    {BLOCK "G = G\n", "t:7:5: only several inner products, or a column of a small matrix, can be "
                      "assigned to a run of scalars"},
    {BLOCK "G = solve(G)\n", "t:7:12: , and another argument is needed here, not )"},
    {BLOCK "G = solve(G, r)\n", "t:7:14: r is a vector, a run of scalars is needed here"},
    {BLOCK "G = solve(G, ([r], r))\n", "t:7:14: an array of numbers is needed here"},
    {BLOCK "G = times(G, G, G)\n", "t:7:15: ) is needed here, not ,"},
    {BLOCK "s = (G, r)\n", "t:7:9: r is a vector, a run of scalars is needed here"},
    {BLOCK "s = (G, orth(G))\n", "t:7:5: arrays of numbers are needed here"},
    {BLOCK "s = G\n", "t:7:5: G[0..15] is a run of scalars, a scalar is needed here"},
    {BLOCK "s = solve(G, G)\n",
     "t:7:5: solve(G[0..15], G[0..15]) is a run of scalars, a scalar is needed here"},
    {BLOCK "solve = 3\n", "t:7:1: solve belongs to the notation and cannot be assigned to"},
    {BLOCK "H = ([r], r)\n", "t:7:5: only what a function makes can be assigned to a matrix"},
    {"method m \"s\nt\"", "t:1:10: the text has no closing quote in its line"},
    {"method m \"s", "t:1:10: the text has no closing quote in its line"},
    {"method m \"s\tt\"", "t:1:12: byte 9 cannot stand in a text"},
    {"method m \"s\"\n\x01", "t:2:1: byte 1 has no meaning here"},
    {"method m \"s\"\n\xc3\xa4", "t:2:1: byte 195 has no meaning here"},
    {"method m \"s\"\n$", "t:2:1: $ has no meaning here"},
    {"method m \"s\"\noption", "t:2:7: a name is needed here, not the end of the text"},
    {"method m \"s\"\noption a 3", "t:2:10: = is needed here, not 3"},
    {"method m \"s\"\noption a = \"x\"", "t:2:12: a number is needed here, not a text in quotes"},
    {"method m \"s\"\noption a = 3\n", "t:2:13: a number is needed here, not the end of the line"},
    {"method m \"s\"\noption a = 3 4\n", "t:2:15: .. is needed here, not the end of the line"},
    {"method m \"s\"\noption a = 3 4..5 \"h\"", "t:2:12: 3 is outside 4..5"},
    {"method m \"s\"\noption a = -3 -2..-inf \"h\"", "t:2:12: -3 is outside -2..-inf"},
    {"method m \"s\"\noption a = 3 0..5\n",
     "t:2:18: a help text in quotes is needed here, not the end of the "
     "line"},
    {"method m \"s\"\noption a = b\n", "t:2:13: ( is needed here, not the end of the line"},
    {"method m \"s\"\noption a = b ()", "t:2:12: b is none of: "},
    {"method m \"s\"\noption a = b (c d) \"h\"", "t:2:12: b is none of: c d"},
    {"method m \"s\"\noption a = c (c d c) \"h\"", "t:2:19: c is defined already"},
    {"method m \"s\"\noption a = c (c 3) \"h\"", "t:2:17: a word or ) is needed here, not 3"},
    {"method m \"s\"\noption x = 1 0..2 \"h\"", "t:2:8: x is defined already"},
    {"method m \"s\"\noption A = 1 0..2 \"h\"",
     "t:2:8: A belongs to the notation and cannot be a name"},
    {"method m \"s\"\noption loop = 1 0..2 \"h\"",
     "t:2:8: loop belongs to the notation and cannot be a name"},
    {"method m \"s\"\nvectors 3", "t:2:9: a name is needed here, not 3"},
    {"method m \"s\"\nvectors V[3, 4]", "t:2:12: ] is needed here, not ,"},
    {"method m \"s\"\nvectors V[x]", "t:2:11: x is a vector, a scalar is needed here"},
    {"method m \"s\"\nvectors V[n]", "t:2:11: n is unknown: nothing is assigned to it before this"},
    {"method m \"s\"\nscalars s, H[s]",
     "t:2:14: s has no value yet: nothing is assigned to it before this"},
    {"method m \"s\"\nscalars g[2], h[g[0]]\n" LOOP,
     "t:2:17: g[0] depends on the data: the size of an array is made of numbers, options, counters "
     "and variables of loops"},
    {"method m \"s\"\nvectors V[|b|]\n" LOOP,
     "t:2:11: |b| depends on the data: the size of an array is made of numbers, options, counters "
     "and variables of loops"},
    {"method m \"s\"\nvectors sqrt", "t:2:9: sqrt belongs to the notation and cannot be a name"},
    {"method m \"s\"\nscalars s[3], s", "t:2:15: s is defined already"},
    {"method m \"s\"\n", "t:2:1: the section start is missing"},
    {"method m \"s\"\nstart:\n", "t:3:1: the section loop is missing"},
    {"method m \"s\"\nloop: residual |b|\n", "t:3:1: the section start is missing"},
    {"method m \"s\"\nstart:\nloop:\n", "t:4:1: there is no residual and no estimate in loop"},
    {"method m \"s\"\nstart: residual |b|\nloop: a = 1",
     "t:3:12: there is no residual and no estimate in loop"},
    {"method m \"s\"\n" LOOP "start:\n",
     "t:4:1: the sections are start, loop, finish in this order"},
    {"method m \"s\"\n" LOOP "loop:\n",
     "t:4:1: the sections are start, loop, finish in this order"},
    {"method m \"s\"\nstart\n", "t:2:6: : is needed here, not the end of the line"},
    {"method m \"s\"\nstart:\nloop:\n  estimate 1\n",
     "t:4:3: estimate needs the section finish, which makes x"},
    {"method m \"s\"\nstart: restart if 1\n", "t:2:8: restart can only stand in loop"},
    {"method m \"s\"\n" LOOP "finish: residual 1",
     "t:4:9: residual can only stand in start and loop"},
    {"method m \"s\"\n" LOOP "finish: estimate 1",
     "t:4:9: estimate can only stand in start and loop"},
    {"method m \"s\"\n" LOOP "finish: gradient 1",
     "t:4:9: gradient can only stand in start and loop"},
    {"method m \"s\"\n" LOOP "finish: restart if 1", "t:4:9: restart can only stand in loop"},
    {"method m \"s\"\n" LOOP "finish: accept if 1 \"t\"",
     "t:4:9: accept can only stand in start and loop"},
    {"method m \"s\"\n" LOOP "finish: breakdown if 1 \"t\"",
     "t:4:9: breakdown can only stand in start and loop"},
    {"method m \"s\"\n" LOOP "end\n", "t:4:1: a statement is needed here, not end"},
    {"method m \"s\"\n" LOOP "else: end", "t:4:1: a statement is needed here, not else"},
};

static void test_texts(void **state)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refused(*state, texts[i].text, strlen(texts[i].text), texts[i].message);
    refused(*state, "method m \"s\"\n\0", 14, "t:2:1: byte 0 has no meaning here");
    refused(*state, "method m \"\0\"", 12, "t:1:11: byte 0 cannot stand in a text");
}

/* Lines at the end of the frame's loop. */
static const struct {
    const char *lines, *message;
} lines[] = {
    /* names */
    {"q = s", "10:5: s is unknown: nothing is assigned to it before this"},
    {"first = 1; q = frist", "10:16: frist is unknown here; did you mean first?"},
    {"q = sqr(rho)", "10:5: sqr is unknown here; did you mean sqrt?"},
    {"q = q + 1", "10:5: q is unknown: nothing is assigned to it before this"},
    {"q = u", "10:5: u has no value yet: nothing is assigned to it before this"},
    {"a234567890123456789012345678901x = 1",
     "10:1: the name a234567890123456789012345678901... is longer than 31 characters"},
    {"b = r", "10:1: b is the right-hand side and cannot be assigned to"},
    {"m = 3", "10:1: m is an option and cannot be assigned to"},
    {"A = 3", "10:1: A belongs to the notation and cannot be assigned to"},
    {"eps = 3", "10:1: eps belongs to the notation and cannot be assigned to"},
    {"vectors W[3]", "10:1: vectors belongs to the notation and cannot be assigned to"},
    {"W[0] = r", "10:1: W is not declared; arrays are, before the sections"},
    {"V = r", "10:1: V is an array: an index is needed"},
    {"q = V", "10:5: V is an array: an index is needed"},
    {"q = r[1]", "10:5: r is not an array"},
    {"rho[1] = 1", "10:1: rho is not an array"},
    {"for i = 0 .. 2: i = 1; end",
     "10:17: i is the variable of this loop and cannot be assigned to"},
    {"for i = 0 .. 2: for i = 0 .. 1: end; end",
     "10:21: i is the variable of this loop and cannot be assigned to"},
    {"for m = 0 .. 2: end", "10:5: m is an option and cannot be assigned to"},
    {"for r = 0 .. 2: end", "10:5: r is not a scalar"},
    {"for h = 0 .. 2: end", "10:5: h is not a scalar"},
    /* shapes */
    {"rho = p", "10:7: p is a vector, a scalar is needed here"},
    {"p = rho", "10:5: rho is a scalar, a vector is needed here"},
    {"p = 1", "10:5: 1 is a scalar, a vector is needed here"},
    {"q = r + rho", "10:9: rho is a scalar, a vector is needed here"},
    {"q = rho + 2 r", "10:5: rho is a scalar, a vector is needed here"},
    {"q = 2 / r", "10:9: r is a vector, a scalar is needed here"},
    {"q = p r",
     "10:7: two vectors have no product: u .* v multiplies their elements, (u, v) is the inner "
     "product"},
    {"q = rho .* r", "10:5: rho is a scalar, a vector is needed here"},
    {"q = r ./ rho", "10:10: rho is a scalar, a vector is needed here"},
    {"q = A rho", "10:7: rho is a scalar, a vector is needed here"},
    {"q = (r, rho)", "10:9: rho is a scalar, a vector is needed here"},
    {"q = (rho, r)", "10:6: rho is a scalar, a vector is needed here"},
    {"q = sqrt(r)", "10:10: r is a vector, a scalar is needed here"},
    {"q = random(r)", "10:12: r is a vector, a scalar is needed here"},
    {"q = not r", "10:9: r is a vector, a scalar is needed here"},
    {"q = r < 1", "10:5: r is a vector, a scalar is needed here"},
    {"q = k and (p + r)", "10:12: p + r is a vector, a scalar is needed here"},
    {"q = 2^r", "10:7: r is a vector, a scalar is needed here"},
    {"q = h[r]", "10:7: r is a vector, a scalar is needed here"},
    {"residual r", "10:10: r is a vector, a scalar is needed here"},
    {"if r: end", "10:4: r is a vector, a scalar is needed here"},
    {"for i = r .. 3: end", "10:9: r is a vector, a scalar is needed here"},
    {"breakdown if r \"m\"", "10:14: r is a vector, a scalar is needed here"},
    {"restart if r", "10:12: r is a vector, a scalar is needed here"},
    /* runs */
    {"q = V[0..k]", "10:5: V[0..k] is a run of vectors, a scalar is needed here"},
    {"q = -V[0..k]", "10:6: V[0..k] is a run of vectors, a scalar is needed here"},
    {"q = V[0..k] rho", "10:13: rho is a scalar, a run of scalars is needed here"},
    {"q = V[0..k] (V[0..k], r)", "10:5: V[0..k] is a run of vectors, a scalar is needed here"},
    {"q = V[0..k] * (V[0..k], r)",
     "10:15: several inner products can only be assigned to a run of scalars"},
    {"q = h[0..k]", "10:5: h[0..k] is a run of scalars, a scalar is needed here"},
    {"q = 2 h[0..k]", "10:7: h[0..k] is a run of scalars, a scalar is needed here"},
    {"q = |V[0..k]|", "10:6: V[0..k] is a run of vectors, a scalar is needed here"},
    {"q = (V[0..k], r)", "10:5: (V[0..k], r) is a run of scalars, a scalar is needed here"},
    {"h[0..k] = 2 (V[0..k], r)",
     "10:13: (V[0..k], r) is a run of scalars, a scalar is needed here"},
    {"h[0..k] = (p, r)", "10:11: (p, r) is a scalar, a run of scalars is needed here"},
    {"h[0..k] = h[0..k]", "10:11: only several inner products can be assigned to a run of scalars"},
    {"h[0..k] = 0", "10:11: only several inner products can be assigned to a run of scalars"},
    {"V[0..k] = r", "10:1: vectors can only be assigned to one by one, or by powers()"},
    {"V[1..k] = powers(r, H)", "10:18: an operator is needed here, not r"},
    {"V[1..k] = powers(A)", "10:19: , and the steps is needed here, not )"},
    {"V[1..k] = powers(A, h)", "10:21: h is no array of scalars with two indices"},
    {"V[1..k] = powers(A, 3)", "10:21: the name of an array is needed here, not 3"},
    {"q = powers(A, H)", "10:5: powers is unknown: nothing is assigned to it before this"},
    {"H = newton(h, H)", "10:12: h[0..m + 1 - 1] is a run of scalars, a matrix is needed here"},
    {"H = newton(H)", "10:13: , and another argument is needed here, not )"},
    {"H = 3", "10:1: H is an array: an index is needed"},
    {"h[0..1] = newton(H, H)", "10:11: newton(H, H) is a matrix, a run of scalars is needed here"},
    {"q = newton(H, H)", "10:5: newton(H, H) is a matrix, a scalar is needed here"},
    {"V[1..k] = powers(A, H, h)", "10:24: h is no array of vectors"},
    {"V[1..k] = powers(A M, H, V)",
     "10:11: products that are kept are those with A: it comes last"},
    {"V[1..k] = powers(A, H, V)", "10:11: products need an array of their own"},
    {"q = share(1)", "10:12: , and the number of shares is needed here, not )"},
    {"q = V[0..k] * V[0..k]^T r", "10:15: V[0..k] is a run of vectors, a run of scalars is needed "
                                  "here"},
    {"q = H[0, 0..k]", "10:11: only the first index can be a run"},
    {"q = H[0]", "10:8: , and a second index is needed here, not ]"},
    {"q = h[0, 1]", "10:8: h has one index"},
    {"q = H[0, 1, 2]", "10:11: H has two indices"},
    /* signs */
    {"q = ", "11:1: a name or a number is needed here, not the end of the text"},
    {"q", "10:2: = is needed here, not the end of the line"},
    {"3 = q", "10:1: a statement is needed here, not 3"},
    {"q = rho rho 2", "10:13: a sign is missing before the number"},
    {"q = (rho", "11:1: ) is needed here, not the end of the text"},
    {"q = (rho;", "10:9: ) is needed here, not ;"},
    {"q = |rho", "11:1: | is needed here, not the end of the text"},
    {"q = rho)", "10:8: the end of the statement is needed here, not )"},
    {"q = rho residual |r|", "10:9: the end of the statement is needed here, not residual"},
    {"q = + rho", "10:5: a name or a number is needed here, not +"},
    {"q = rho - -rho", "10:11: a name or a number is needed here, not -"},
    {"q = rho < 1 < 2", "10:13: the end of the statement is needed here, not <"},
    {"q = if", "10:5: a name or a number is needed here, not if"},
    {"q = A^2 r", "10:7: T or H is needed here, not 2"},
    {"q = r^2", "10:7: T or H is needed here, not 2"},
    {"q = A", "10:6: a name or a number is needed here, not the end of the line"},
    {"q = A -r", "10:7: a name or a number is needed here, not -"},
    {"q = max(rho)", "10:12: , and another argument is needed here, not )"},
    {"q = max(rho, 1, 2)", "10:15: ) is needed here, not ,"},
    {"q = sqrt rho", "10:10: ( is needed here, not rho"},
    {"q = random 3", "10:12: ( is needed here, not 3"},
    {"q = 1e999", "10:5: the number is too large"},
    {"q = 1.rho", "10:6: . has no meaning here"},
    {"q = rho ! 2", "10:9: ! has no meaning here"},
    {"if k: q = 1", "11:1: end is needed here, not the end of the text"},
    {"if k; q = 1; end", "10:5: : is needed here, not ;"},
    {"if k: q = 1; else q = 2; end", "10:19: : is needed here, not q"},
    {"if k: q = 1 end", "10:13: the end of the statement is needed here, not end"},
    {"for i: end", "10:6: = is needed here, not :"},
    {"for i = 0: end", "10:10: .. or down to is needed here, not :"},
    {"for i = 3 down 0: end", "10:16: to is needed here, not 0"},
    {"for 3 = 0 .. 2: end", "10:5: a name is needed here, not 3"},
    {"for i = 0 .. 2\nq = 1; end", "10:15: : is needed here, not the end of the line"},
    {"for i = 0 .. 2: q = 1\nfinish:", "11:1: end is needed here, not finish"},
    {"breakdown k", "10:11: if is needed here, not k"},
    {"breakdown if k", "10:15: a message in quotes is needed here, not the end of the line"},
    {"restart = 3", "10:9: if is needed here, not ="},
    /* words of options */
    {"q = side", "10:5: side is a word (left right): compare it by == or !="},
    {"q = side < left", "10:5: side is a word (left right): compare it by == or !="},
    {"q = side == lift", "10:13: one of left right is needed here, not lift"},
    {"q = side == 1", "10:13: one of left right is needed here, not 1"},
    {"q = left == side", "10:5: left is unknown: nothing is assigned to it before this"},
    /* messages */
    {"breakdown if k \"a {rho} {p}\"", "10:25: {p} is not a scalar that has a value here"},
    {"breakdown if k \"a {new}\"", "10:19: {new} is not a scalar that has a value here"},
    {"breakdown if k \"a {h}\"", "10:19: {h} is not a scalar that has a value here"},
    {"breakdown if k \"a {}\"", "10:19: {} is not a scalar that has a value here"},
    {"breakdown if k \"a {rho\"", "10:19: } is missing"},
    /* indices */
    {"q = h[rho]", "10:7: rho depends on the data: an index is made of numbers, options, counters "
                   "and variables of loops"},
    {"h[k + rho] = 1", "10:3: k + rho depends on the data: an index is made of numbers, options, "
                       "counters and variables of loops"},
    {"q = H[h[0], 0]", "10:7: h[0] depends on the data: an index is made of numbers, options, "
                       "counters and variables of loops"},
    {"q = V[0..|r|] h[0..1]", "10:10: |r| depends on the data: an index is made of numbers, "
                              "options, counters and variables of loops"},
    {"for i = 0 .. rho: end", "10:14: rho depends on the data: an end of a loop is made of "
                              "numbers, options, counters and variables of loops"},
    {"q = h[k]; if rho > 1: k = k + 1; end",
     "10:7: k depends on the data: an index is made of numbers, options, counters and variables of "
     "loops"},
    {"if rho > 1: for i = 0 .. 2: h[i] = 1; end; end; q = h[i]",
     "10:55: i depends on the data: an index is made of numbers, options, counters and variables "
     "of loops"},
};

static void test_lines(void **state)
{
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        program *p = notation_parse(ctx, lines[i].lines);
        char expected[512];
        if (p)
            fail_msg("taken: %s", lines[i].lines);
        snprintf(expected, sizeof expected, "test:%s", lines[i].message);
        assert_string_equal(spry_message(ctx), expected);
    }
}

/* count times `piece` between two ends, in the frame. */
static program *repeated(spry_context *ctx, const char *begin, const char *piece, int count,
                         const char *end)
{
    static char text[1 << 17];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", begin);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, piece, i, i);
    snprintf(text + used, sizeof text - used, "%s", end);
    return notation_parse(ctx, text);
}

/* What is within a bound is taken, and one more is refused. */
static void bounded(spry_context *ctx, const char *begin, const char *piece, int most,
                    const char *end, const char *message)
{
    program *p = repeated(ctx, begin, piece, most, end);
    if (!p)
        fail_msg("%s", spry_message(ctx));
    program_free(p);
    assert_null(repeated(ctx, begin, piece, most + 1, end));
    support_message_has(ctx, message);
}

static void test_bounds(void **state)
{
    spry_context *ctx = *state;
    /* The terms of a sum hang below each other: the last but 64 would be 65 deep. */
    bounded(ctx, "q = k", " + k", 64, "", "the expression is too long");
    /* A block has a level already; `not` has one each, and so has what it stands before. */
    bounded(ctx, "q = ", "not ", 61, "k", "more than 64 levels of nesting");
    bounded(ctx, "q = k", "^k", 61, "", "more than 64 levels of nesting");
    bounded(ctx, "q = ", "A ", 61, "p", "more than 64 levels of nesting");
    assert_null(repeated(ctx, "q = ", "(", 50000, ""));
    support_message_has(ctx, "more than 64 levels of nesting");
    assert_null(repeated(ctx, "q = ", "|", 50000, ""));
    support_message_has(ctx, "more than 64 levels of nesting");
    assert_null(repeated(ctx, "q = ", "h[", 30000, ""));
    support_message_has(ctx, "more than 64 levels of nesting");
    assert_null(repeated(ctx, "", "if k: ", 20000, ""));
    support_message_has(ctx, "more than 64 levels of nesting");
    assert_null(repeated(ctx, "q = k", "^\n-k", 20000, ""));
    support_message_has(ctx, "more than 64 levels of nesting");
    /* x b m w side V u H h r p rho k are there already. */
    bounded(ctx, "", "a%d = k\n", 256 - 13, "", "there are more than 256 names");
    /* The frame has 5 statements. */
    bounded(ctx, "", "k = 1\n", 4096 - 5, "", "there are more than 4096 statements");
}

static void test_size(void **state)
{
    spry_context *ctx = *state;
    enum { MOST = 1 << 20 };
    program *p = NULL;
    char *text = test_malloc(MOST + 1), frame[2048];
    notation_text("#", frame, sizeof frame);
    memset(text, '-', MOST + 1);
    memcpy(text, frame, strlen(frame) - 1);
    assert_ok(ctx, program_parse(ctx, "t", text, MOST, &p)); /* a long comment */
    program_free(p);
    refused(ctx, text, MOST + 1, "t: the text has 1048577 bytes, at most 1048576 are taken");
    /* The most expressions a text can hold: as many pairs as fit, 64 in a sum. */
    memset(text, ' ', MOST);
    memcpy(text, frame, strlen(frame) - 2);
    size_t used = strlen(frame) - 2;
    for (int i = 0; i < 1100; i++) {
        memcpy(text + used, "q=0", 3);
        used += 3;
        for (int k = 0; k < 60; k++, used += 2)
            memcpy(text + used, "+1", 2);
        text[used++] = '\n';
    }
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, program_parse(ctx, "t", text, used, &p));
    support_message_has(ctx, "there are more than 65536 expressions");
    test_free(text);
}

static void test_long_texts(void **state)
{
    spry_context *ctx = *state;
    char text[1024], help[256];
    memset(help, 'h', sizeof help);
    help[127] = '\0';
    snprintf(text, sizeof text, "method m \"s\"\noption a = 1 0..2 \"%s\"\n" LOOP, help);
    program *p = NULL;
    assert_ok(ctx, program_parse(ctx, "t", text, strlen(text), &p));
    assert_string_equal(p->names[2].help, help);
    program_free(p);
    help[127] = 'h';
    help[128] = '\0';
    snprintf(text, sizeof text, "method m \"s\"\noption a = 1 0..2 \"%s\"\n" LOOP, help);
    refused(ctx, text, strlen(text), "t:2:19: the text is longer than 127 characters");
    char words[512] = "";
    for (int i = 0; i < 10; i++) /* 9 words of 13 and a blank are 125 */
        snprintf(words + strlen(words), sizeof words - strlen(words), "w123456789ab%d ", i);
    snprintf(text, sizeof text, "method m \"s\"\noption a = w (%s) \"h\"\n" LOOP, words);
    refused(ctx, text, strlen(text), "t:2:141: the words are longer than 127 characters together");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_texts), CASE(test_lines),      CASE(test_bounds),
        CASE(test_size),  CASE(test_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
