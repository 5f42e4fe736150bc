# METIS (libmetis-dev), used for the order nd and for parts of matrices when it is installed. Out come the
# target spry_orders, with what the compiler must know, spry_order_libraries and pc_orders, the same for
# pkg-config.
add_library(spry_orders INTERFACE)
set(spry_order_libraries)
set(pc_orders)
option(SPRY_METIS "Use METIS where it is installed" ON)


if(SPRY_METIS)
    find_path(METIS_INCLUDE metis.h)
    find_library(METIS_LIBRARY metis)
    mark_as_advanced(METIS_INCLUDE METIS_LIBRARY)
    if(METIS_INCLUDE AND METIS_LIBRARY)
        target_include_directories(spry_orders SYSTEM INTERFACE ${METIS_INCLUDE})
        target_compile_definitions(spry_orders INTERFACE SPRY_HAVE_METIS)
        set(spry_order_libraries ${METIS_LIBRARY})
        set(pc_orders " -lmetis")
    else()
        message(STATUS "Orders: METIS was not found")
    endif()
endif()
