# What doxygen sees of a header. Its first comment tells what the header is for; a comment behind several members of a struct
# is that of each: doxygen would take the first for nothing, and the second for the last member alone. Lines keep their numbers.
NR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/^\/\*/, "/** @file " name " @brief")
    print
    next
}
# type, members, and the comment's beginning
match($0, /^ +[a-z][a-z0-9_ ]* \**[a-z_]+(\[[A-Za-z0-9_]+\])?(, \**[a-z_]+(\[[A-Za-z0-9_]+\])?)+;/) && /\/\*\*</ {
    members = substr($0, 1, RLENGTH - 1)
    comment = substr($0, RLENGTH + 1)
    lines = 0
    while (comment !~ /\*\/ *$/ && (getline more) > 0) {
        comment = comment " " more
        lines++
    }
    first = members
    sub(/,.*/, "", first)
    sub(/\**[a-z_]+(\[[A-Za-z0-9_]+\])?$/, "", first)
    rest = substr(members, length(first) + 1)
    count = split(rest, names, /, /)
    for (i = 1; i <= count; i++)
        printf "%s%s; %s", first, names[i], comment
    print ""
    while (lines-- > 0)
        print ""
    next
}
{ print }
