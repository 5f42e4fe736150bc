# Prints the first block of a Markdown file that is marked as C.
/^```/ { if (inside) exit; inside = $0 == "```c"; next }
inside
