# Libraries that factor sparse matrices for direct:kind=suitesparse: UMFPACK and CHOLMOD's supernodal part are under the GPL, so
# that a program with them is, too. They are used where that is asked for (SPRY_WITH_GPL) and their headers are installed
# (libsuitesparse-dev). They are loaded while the program runs, where they are first needed
# (src/direct/library.h), as LAPACK is, which has no headers; so nothing is linked. Out come the target spry_factors,
# with what the compiler must know, and spry_factor_packages, which the .deb recommends.
add_library(spry_factors INTERFACE)
set(spry_factor_packages "libopenblas0 | liblapack3")
option(SPRY_WITH_GPL "Use CHOLMOD and UMFPACK, which are under the GPL, where they are installed" OFF)

function(spry_find_factor name versions)
    string(TOUPPER ${name} upper)
    if(NOT SPRY_WITH_GPL)
        return()
    endif()
    find_path(SPRY_${upper}_INCLUDE ${name}.h PATH_SUFFIXES suitesparse)
    mark_as_advanced(SPRY_${upper}_INCLUDE)
    if(NOT SPRY_${upper}_INCLUDE)
        message(STATUS "Factors: ${name} was not found")
        return()
    endif()
    target_include_directories(spry_factors SYSTEM INTERFACE ${SPRY_${upper}_INCLUDE})
    target_compile_definitions(spry_factors INTERFACE SPRY_HAVE_${upper})
    foreach(header ${versions}) # which of them has it changed over time
        if(EXISTS ${SPRY_${upper}_INCLUDE}/${header})
            file(STRINGS ${SPRY_${upper}_INCLUDE}/${header} line REGEX "define ${upper}_MAIN_VERSION +[0-9]+")
            if(line MATCHES "([0-9]+)")
                set(spry_factor_packages "${spry_factor_packages}, lib${name}${CMAKE_MATCH_1}" PARENT_SCOPE)
            endif()
        endif()
    endforeach()
endfunction()
spry_find_factor(cholmod "cholmod.h;cholmod_core.h")
spry_find_factor(umfpack umfpack.h)
