# Which tests look for leaks at their end when they are built with the address sanitizer. gcc's search takes four seconds
# a process on arm64, whatever the program does: most of the time of all tests. What the library allocates, it allocates
# through contexts, and contexts count: the tests assert that nothing is left (tests/support/support.c, tests/fuzz/fuzz.h,
# SPRY_CHECK_MEMORY of the program). The search is for the rest: files, folders, streams of zlib, what other libraries
# hold, examples. `make test-all` has it (SPRY_TEST_ALL). Call at the end of a folder that adds tests, with the names of those that search.
function(spry_search_leaks)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(name ${ARGN})
        if(NOT name IN_LIST tests)
            message(FATAL_ERROR "spry_search_leaks: there is no test ${name}")
        endif()
    endforeach()
    foreach(test ${tests})
        set(search 0)
        if(test IN_LIST ARGN AND SPRY_TEST_ALL)
            set(search 1)
            get_property(labels TEST ${test} PROPERTY LABELS) # make test runs it as well, but does not search
            list(REMOVE_ITEM labels sanitized)
            set_property(TEST ${test} PROPERTY LABELS "${labels}")
        endif()
        # A compiler of kernels within the process allocates a million times: a fifth of its time goes into who it was.
        set(brief "")
        if(test MATCHES "^(device|apps|mpi)")
            set(brief ":malloc_context_size=0:quarantine_size_mb=8:thread_local_quarantine_size_kb=64:max_malloc_fill_size=0")
        endif()
        # LLVM within OpenCL gives threads a signal stack of its own, which gcc 12's run-time would unmap at their end.
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "ASAN_OPTIONS=use_sigaltstack=0:detect_leaks=${search}${brief}")
    endforeach()
endfunction()
