# Whether a text stands in a Markdown file as it is, indented by four: awk -f in_docs.awk TEXT PAGE
FNR == NR { text[++size] = $0 == "" ? "" : "    " $0; next }
{ page[++lines] = $0 }
END {
    for (i = 1; i + size - 1 <= lines; i++) {
        for (k = 1; k <= size && page[i + k - 1] == text[k]; k++)
            ;
        if (k > size)
            exit 0
    }
    print ARGV[1] " is not in " ARGV[2] " as it is"
    exit 1
}
