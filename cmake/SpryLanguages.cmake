# Fortran and C++: what is installed for them is source (bindings/fortran, bindings/cpp), so that a build needs
# neither compiler. Where there is one the tests compile and run it. A sanitizer's run-time is of one family of compilers: with
# another C compiler than gcc's they are left out of AUTO there.
include(CheckLanguage)
foreach(language Fortran CXX)
    string(TOUPPER ${language} name)
    set(SPRY_BUILD_${name} AUTO CACHE STRING "Compile what is for ${language}, for the tests: ON, OFF, or AUTO, where there is a compiler")
    set(spry_${language} ${SPRY_BUILD_${name}})
    if(spry_${language} STREQUAL AUTO)
        set(spry_${language} OFF)
        if(SPRY_BUILD_TESTS AND (NOT SPRY_SANITIZE OR CMAKE_C_COMPILER_ID STREQUAL GNU))
            check_language(${language})
            if(CMAKE_${language}_COMPILER)
                set(spry_${language} ON)
            endif()
        endif()
    endif()
    if(spry_${language})
        enable_language(${language})
    endif()
endforeach()

# Flags of ours for these languages; spry_flags has some that are for C alone.
set(spry_warnings_Fortran $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-std=f2008 -Wall -Wextra -pedantic>)
set(spry_warnings_CXX -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
foreach(language Fortran CXX)
    add_library(spry_flags_${language} INTERFACE)
    target_compile_options(spry_flags_${language} INTERFACE "${spry_warnings_${language}}" $<$<BOOL:${SPRY_WERROR}>:-Werror>)
    if(CMAKE_C_FLAGS MATCHES "--coverage") # of the library that is linked
        target_link_options(spry_flags_${language} INTERFACE --coverage)
    endif()
    if(SPRY_SANITIZE)
        target_compile_options(spry_flags_${language} INTERFACE -fsanitize=${SPRY_SANITIZE} -fno-omit-frame-pointer
            -fno-sanitize-recover=all)
        target_link_options(spry_flags_${language} INTERFACE -fsanitize=${SPRY_SANITIZE})
    endif()
endforeach()
target_include_directories(spry_flags_CXX INTERFACE ${PROJECT_SOURCE_DIR}/bindings/cpp)
