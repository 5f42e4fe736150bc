# usage: awk [-v mode=MODE] -f module.awk HEADERS_PREPROCESSED TEMPLATE
# Makes the Fortran module's source of what `cc -E include/spry/grid.h` gives, and of spry.f90.in: the module spry_c with
# every type, constant and function that the headers declare, and behind it the template, with its blocks repeated for the
# types of numbers and of indices. A new name in a header needs nothing here. Plain awk, so that a build needs no more.
#   mode=module    (default) that source
#   mode=layout_c  functions in C that give sizes, offsets and constants, for the tests
#   mode=layout_f  the same in Fortran; the tests compare
#
# How arguments are passed (docs/fortran.md says it to users):
#   numbers, enums, structs        by value
#   const char *                   character(kind=c_char) :: text(*), ended by c_null_char
#   char *                         the same, to be written
#   number *, struct *             by reference; struct * named as the struct with an s: an array
#   anything *const *, const others *, void *, objects   type(c_ptr), value
#   anything **                    type(c_ptr), by reference
#   functions                      type(c_funptr), value

function fail(text) { print "module.awk: " text >"/dev/stderr"; bad = 1; exit 1 }
function trim(s) { gsub(/[ \t\n]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }

# The names of a module are the same in capitals: functions have theirs first, constants that meet one get a _k.
function fresh(name, tail,    low) {
    low = tolower(name)
    if (low in taken) { name = name tail; low = low tail }
    if (low in taken) fail(name " is there twice")
    if (length(name) > 63) fail(name " is too long for Fortran")
    taken[low] = 1
    return name
}

# A C type without stars as Fortran writes it; "" for one that has no members here.
function plain(type) {
    sub(/^const /, "", type); sub(/ const$/, "", type)
    if (type in number) return number[type]
    if (type in is_enum) return "integer(c_int)"
    if (type in members) return "type(" type ")"
    return ""
}
function zero(fortran) {
    if (fortran ~ /^integer/) return "0"
    if (fortran ~ /^real/) return "0"
    if (fortran ~ /^logical/) return ".false."
    if (fortran ~ /^character/) return "c_null_char"
    if (fortran == "type(c_ptr)") return "c_null_ptr"
    if (fortran == "type(c_funptr)") return "c_null_funptr"
    return ""
}

# Cuts a list at the commas that stand in no parentheses.
function cut(text, parts,    i, c, depth, count, start) {
    count = 0; depth = 0; start = 1
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(" || c == "{" || c == "[") depth++
        if (c == ")" || c == "}" || c == "]") depth--
        if (c == "," && depth == 0) { parts[++count] = trim(substr(text, start, i - start)); start = i + 1 }
    }
    if (trim(substr(text, start)) != "") parts[++count] = trim(substr(text, start))
    return count
}

# Enumerators: those without a number follow the one before.
function take_enum(body,    parts, count, i, name, value, at) {
    count = cut(body, parts)
    value = -1
    for (i = 1; i <= count; i++) {
        at = index(parts[i], "=")
        name = at ? trim(substr(parts[i], 1, at - 1)) : parts[i]
        value = at ? trim(substr(parts[i], at + 1)) : value + 1
        if (value !~ /^-?[0-9]+$/) fail(name " = " value ": only plain numbers are understood")
        value += 0
        constant[++constants] = name; constant_value[name] = value
    }
}

# Members of a struct: "double re, im" and "char *warnings" and "void *(*allocate)(...)".
function take_struct(name, body,    statements, count, i, parts, k, n, base, item, size, type) {
    structs[++struct_count] = name
    count = split(body, statements, ";")
    for (i = 1; i <= count; i++) {
        item = trim(statements[i])
        if (item == "") continue
        if (item ~ /\(\*/) {
            sub(/^.*\(\*/, "", item); sub(/\).*$/, "", item)
            add_member(name, item, "type(c_funptr)", "", "function")
            continue
        }
        n = cut(item, parts)
        base = parts[1]
        sub(/[ *]*[A-Za-z_0-9]+ *(\[[^]]*\])?$/, "", base)
        parts[1] = substr(parts[1], length(base) + 1)
        for (k = 1; k <= n; k++) {
            item = parts[k]; size = ""
            if (match(item, /\[[^]]*\]/)) {
                size = substr(item, RSTART + 1, RLENGTH - 2)
                item = substr(item, 1, RSTART - 1)
                if (size in constant_value) size = constant_value[size]
                if (size !~ /^[0-9]+$/) fail(name ": the size of " item " is no plain number")
            }
            type = item ~ /\*/ ? "type(c_ptr)" : plain(base)
            if (type == "") fail(name ": what is " base "?")
            c_type = item ~ /\*/ ? base " *" : base
            gsub(/[ *]/, "", item)
            add_member(name, item, type, size, c_type)
        }
    }
}
function add_member(name, item, type, size, c_type,    n) {
    n = ++members[name]
    member[name, n] = item; member_type[name, n] = type; member_size[name, n] = size; member_c[name, n] = c_type
}

function take_function(text, kind,    at, name, head, args) {
    if (kind == "pointer") { # typedef bool (*spry_monitor_fn)(void *data, ...)
        at = index(text, "(*")
        head = trim(substr(text, 1, at - 1))
        text = substr(text, at + 2)
        at = index(text, ")")
        name = substr(text, 1, at - 1)
        args = substr(text, at + 1)
    } else {
        at = index(text, "(")
        head = trim(substr(text, 1, at - 1))
        match(head, /[A-Za-z_0-9]+$/)
        name = substr(head, RSTART)
        head = trim(substr(head, 1, RSTART - 1))
        args = substr(text, at)
    }
    args = trim(args)
    args = trim(substr(args, 2, length(args) - 2))
    if (args ~ /\.\.\./) return # none has them
    functions[++function_count] = name
    function_kind[name] = kind; returns[name] = head; arguments[name] = args == "void" ? "" : args
}

function take(text) {
    text = trim(text)
    gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\) */, "", text)
    text = trim(text)
    if (text == "" || text ~ /^struct [A-Za-z_]+$/) return
    if (text ~ /^(typedef )?enum /) {
        if (match(text, /\} *[a-z_0-9]+$/)) is_enum[trim(substr(text, RSTART + 1))] = 1
        sub(/^[^{]*\{/, "", text); sub(/\}[^}]*$/, "", text)
        take_enum(text)
    } else if (text ~ /^typedef struct [a-z_0-9]+ *\{/) {
        name = text; sub(/^typedef struct /, "", name); sub(/[ {].*$/, "", name)
        sub(/^[^{]*\{/, "", text); sub(/\}[^}]*$/, "", text)
        take_struct(name, text)
    } else if (text ~ /^typedef struct [a-z_0-9]+ [a-z_0-9]+$/) {
        return # an object: a type(c_ptr)
    } else if (text ~ /^typedef .*\(\* *[a-z_0-9]+\) *\(/) {
        sub(/^typedef /, "", text)
        take_function(text, "pointer")
        is_function[functions[function_count]] = 1
    } else if (text ~ /^typedef /) {
        return # fields of options: programs have none of them here
    } else if (text ~ /^[a-z_].*spry_[a-z_0-9]+ *\(/) {
        take_function(text, "function")
    } else
        fail("what is \"" substr(text, 1, 80) "\"?")
}

BEGIN {
    if (mode == "") mode = "module"
    number["int"] = "integer(c_int)"; number["int32_t"] = "integer(c_int32_t)"; number["int64_t"] = "integer(c_int64_t)"
    number["size_t"] = "integer(c_size_t)"; number["double"] = "real(c_double)"; number["float"] = "real(c_float)"
    number["_Bool"] = "logical(c_bool)"; number["bool"] = "logical(c_bool)"; number["char"] = "character(kind=c_char)"
}

# The headers: what comes from include/spry, up to a semicolon outside of braces.
FNR == 1 { file++ }
file == 1 && /^#/ { ours = $0 ~ /[\/"]spry\/(grid\/)?[a-z_]+\.h"/; next }
file == 1 && ours {
    line = $0 " "
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "{") deep++
        if (c == "}") deep--
        if (c == ";" && !deep) { take(statement); statement = "" } else statement = statement c
    }
    next
}
file == 1 { next }
file == 2 { template[++template_lines] = $0 }

# One argument as a declaration of Fortran; sets `dummy`, its name.
function declare(arg, seen,    type, stars, low) {
    if (arg ~ /\(\*/) {
        sub(/^.*\(\*/, "", arg); sub(/\).*$/, "", arg)
        dummy = arg
        return "type(c_funptr), value :: "
    }
    match(arg, /[A-Za-z_0-9]+$/)
    dummy = substr(arg, RSTART)
    type = trim(substr(arg, 1, RSTART - 1))
    low = tolower(dummy)
    if (low in seen) dummy = dummy "2"
    seen[low] = 1
    stars = gsub(/\*/, "*", type)
    gsub(/ *\* */, "*", type)
    if (stars == 0) {
        if (type in is_function) return "type(c_funptr), value :: "
        if (plain(type) == "") fail("what is " type " " dummy "?")
        return plain(type) ", value :: "
    }
    if (stars == 2 && type !~ /\*const\*$/) return "type(c_ptr), intent(inout) :: "
    if (type == "const char*") { dummy = dummy "(*)"; return "character(kind=c_char), intent(in) :: " }
    if (stars == 2 || type ~ /^const /) return "type(c_ptr), value :: "
    sub(/\*$/, "", type)
    if (type == "char") { dummy = dummy "(*)"; return "character(kind=c_char), intent(inout) :: " }
    if (plain(type) == "") return "type(c_ptr), value :: "
    if (dummy == substr(type, 6) "s") dummy = dummy "(*)"
    return plain(type) ", intent(inout) :: "
}

function print_function(name,    parts, count, i, lines, list, kind, head, seen, result) {
    count = cut(arguments[name], parts)
    lines = ""; list = ""
    split("", seen)
    for (i = 1; i <= count; i++) {
        kind = declare(parts[i], seen)
        lines = lines "            " kind dummy "\n"
        sub(/\(\*\)$/, "", dummy)
        list = list (i > 1 ? ", &\n                " : "") dummy
    }
    head = returns[name]
    result = head ~ /\*/ ? "type(c_ptr)" : head == "void" ? "" : plain(head)
    if (head != "void" && result == "") fail(name " gives back a " head)
    kind = result == "" ? "subroutine" : "function"
    printf "        %s %s(%s) &\n            bind(c%s)\n            import\n", kind, name, list,
           function_kind[name] == "function" ? ", name=\"" name "\"" : ""
    printf "%s", lines
    if (result != "") print "            " result " :: " name
    print "        end " kind " " name
}

function print_structs(    i, k, name, init) {
    for (i = 1; i <= struct_count; i++) {
        name = structs[i]
        print "    type, bind(c) :: " name
        for (k = 1; k <= members[name]; k++) {
            init = zero(member_type[name, k])
            printf "        %s :: %s%s%s\n", member_type[name, k], member[name, k],
                   member_size[name, k] == "" ? "" : "(" member_size[name, k] ")", init == "" ? "" : " = " init
        }
        print "    end type " name
    }
}

function print_module(    i, name) {
    print "! Made by bindings/fortran/module.awk of the headers of spry; not to be changed by hand."
    print "!"
    print "! Module spry_c: the C interface as it is, every name as in C. Texts end in c_null_char; what the functions do, the"
    print "! headers say. Module spry, below, is the same for Fortran's own arrays, texts and procedures."
    print "module spry_c"
    print "    use, intrinsic :: iso_c_binding"
    print "    implicit none"
    print "    public"
    print ""
    for (i = 1; i <= function_count; i++) fresh(functions[i], "_f")
    for (i = 1; i <= struct_count; i++) fresh(structs[i], "_t")
    for (i = 1; i <= constants; i++) {
        name = fresh(constant[i], "_k")
        printf "    integer(c_int), parameter :: %s = %d\n", name, constant_value[constant[i]]
    }
    print ""
    print_structs()
    print ""
    print "    !> Makes a struct that begins with its size ready to be handed over: its size set, all else 0."
    print "    interface spry_init"
    for (i = 1; i <= struct_count; i++)
        if (member[structs[i], 1] == "size") print "        module procedure init_" substr(structs[i], 6)
    print "    end interface"
    for (i = 1; i <= struct_count; i++)
        if (member[structs[i], 1] == "size") print "    private :: init_" substr(structs[i], 6)
    print ""
    print "    abstract interface"
    for (i = 1; i <= function_count; i++)
        if (function_kind[functions[i]] == "pointer") print_function(functions[i])
    print "    end interface"
    print ""
    print "    interface"
    for (i = 1; i <= function_count; i++)
        if (function_kind[functions[i]] == "function") print_function(functions[i])
    print "    end interface"
    print ""
    print "contains"
    for (i = 1; i <= struct_count; i++) {
        if (member[structs[i], 1] != "size") continue
        name = substr(structs[i], 6)
        print "    subroutine init_" name "(it)"
        print "        type(" structs[i] "), intent(out) :: it"
        print ""
        print "        it%size = c_sizeof(it)"
        print "    end subroutine init_" name
    }
    print "end module spry_c"
    print ""
}

# Blocks of the template: "!for t", "!for t i" to "!end" once for each type of numbers (and of indices).
function substitute(line, t, i) {
    gsub(/\{t\}/, letter[t], line); gsub(/\{type\}/, type_name[t], line); gsub(/\{T\}/, toupper(letter[t]), line)
    gsub(/\{i\}/, i, line); gsub(/\{offset\}/, substr(i, 1, 2), line); gsub(/\{index\}/, substr(i, 3, 2), line)
    return line
}
function repeat(block, with_indices,    t, i, pairs, count) {
    count = with_indices ? split("3232 6432 6464", pairs, " ") : 1
    for (t = 1; t <= 4; t++)
        for (i = 1; i <= count; i++)
            printf "%s", substitute(block, t, pairs[i])
}

# The members of a struct as Fortran likes them, and the lines that fill them from the struct: texts of any length, logicals,
# arrays; "X *name" with a member name_size is an array of that length, other pointers to numbers are left out.
function friendly(name, how,    k, item, type, size, c_type) {
    for (k = 2; k <= members[name]; k++) {
        item = member[name, k]; type = member_type[name, k]; size = member_size[name, k]; c_type = member_c[name, k]
        if (item ~ /_size$/) continue
        if (type ~ /^character/ || c_type ~ /char \*$/) {
            if (how == "members") print "        character(:), allocatable :: " item
            else if (type ~ /^character/) print "        to%" item " = from_chars(from%" item ")"
            else print "        to%" item " = from_c(from%" item ")"
        } else if (c_type ~ /^double \*/) {
            if (how == "members") print "        real(c_double), allocatable :: " item "(:)"
            else print "        to%" item " = from_reals(from%" item ", from%" item "_size)"
        } else if (type ~ /^logical/) {
            if (how == "members") print "        logical :: " item " = .false."
            else print "        to%" item " = from%" item
        } else if (type !~ /^type/ && size == "") {
            if (how == "members") print "        " type " :: " item " = " zero(type)
            else print "        to%" item " = from%" item
        }
    }
}

function print_template(    k, line, block, inside, words) {
    split("s d c z", letter, " ")
    type_name[1] = "real(c_float)"; type_name[2] = "real(c_double)"
    type_name[3] = "complex(c_float_complex)"; type_name[4] = "complex(c_double_complex)"
    for (k = 1; k <= template_lines; k++) {
        line = template[k]
        if (line ~ /^ *!for t/) { inside = 1; block = ""; both = line ~ /!for t i/ }
        else if (line ~ /^ *!end$/) { inside = 0; repeat(block, both) }
        else if (inside) block = block line "\n"
        else if (line ~ /^ *!(members|copies) /) { split(trim(line), words, " "); friendly(words[2], substr(words[1], 2)) }
        else print line
    }
}

# What the tests compare: sizes of structs, offsets of members, constants; in one order for both languages.
function print_layout_c(    i, k) {
    print "#include <spry/grid.h>\n"
    print "int64_t layout_c(int index);\nconst char *layout_name(int index);\n"
    print "static const struct {\n    const char *name;\n    int64_t value;\n} rows[] = {"
    for (i = 1; i <= struct_count; i++) {
        printf "    {\"sizeof %s\", (int64_t)sizeof(%s)},\n", structs[i], structs[i]
        for (k = 1; k <= members[structs[i]]; k++)
            printf "    {\"%s.%s\", (int64_t)offsetof(%s, %s)},\n", structs[i], member[structs[i], k], structs[i], member[structs[i], k]
    }
    for (i = 1; i <= constants; i++) printf "    {\"%s\", %s},\n", constant[i], constant[i]
    print "};\n"
    print "int64_t layout_c(int index)\n{\n    return rows[index].value;\n}\n"
    print "const char *layout_name(int index)\n{\n    return index < (int)(sizeof rows / sizeof *rows) ? rows[index].name : NULL;\n}"
}
function print_layout_f(    i, k, n) {
    print "subroutine layout_f(row)"
    print "    use spry_c\n    implicit none"
    print "    interface\n        subroutine row(value)\n            import\n            integer(c_int64_t), intent(in) :: value\n        end subroutine row\n    end interface"
    for (i = 1; i <= struct_count; i++) print "    type(" structs[i] "), target :: s" i
    print ""
    for (i = 1; i <= struct_count; i++) {
        print "    call row(int(c_sizeof(s" i "), c_int64_t))"
        for (k = 1; k <= members[structs[i]]; k++)
            printf "    call row(at(c_loc(s%d%%%s)) - at(c_loc(s%d)))\n", i, member[structs[i], k], i
    }
    for (i = 1; i <= function_count; i++) fresh(functions[i], "_f")
    for (i = 1; i <= struct_count; i++) fresh(structs[i], "_t")
    for (i = 1; i <= constants; i++) print "    call row(int(" fresh(constant[i], "_k") ", c_int64_t))"
    print "contains\n    integer(c_int64_t) function at(address)\n        type(c_ptr), intent(in) :: address\n"
    print "        at = transfer(address, at)\n    end function at\nend subroutine layout_f"
}

END {
    if (bad) exit 1
    if (trim(statement) != "") fail("the headers end within \"" substr(trim(statement), 1, 60) "\"")
    if (function_count < 100) fail("only " function_count + 0 " functions: is this the output of cc -E?")
    if (mode == "layout_c") print_layout_c()
    else if (mode == "layout_f") print_layout_f()
    else { print_module(); print_template() }
}
