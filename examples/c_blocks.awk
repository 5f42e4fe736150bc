# Prints the first block of a Markdown file that is marked as C; with -v all=1 all of them, one after the other.
/^```/ {
    if (inside && !all)
        exit
    inside = !inside && $0 == "```c"
    next
}
inside
