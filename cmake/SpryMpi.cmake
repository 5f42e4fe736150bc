# libspry_mpi: the ranks of MPI, where it is installed. libspry knows nothing of it.
option(SPRY_MPI "Build libspry_mpi where MPI is installed" ON)
if(SPRY_MPI)
    find_package(MPI COMPONENTS C)
endif()
if(MPI_C_FOUND)
    file(GLOB mpi_sources CONFIGURE_DEPENDS src/dist/*.c)
    add_library(spry_mpi SHARED ${mpi_sources})
    # libspry's names are looked up in the program, which may have it within: see src/dist/mpi.c.
    target_include_directories(spry_mpi PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> PRIVATE src)
    target_link_libraries(spry_mpi PUBLIC MPI::MPI_C PRIVATE $<BUILD_INTERFACE:spry_flags>)
    # MPICH's MPI_STATUSES_IGNORE is the address 1, which gcc takes for an array without room.
    set(spry_mpi_warnings $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
    if(MPI_C_LIBRARIES MATCHES mpich)
        target_compile_options(spry_mpi PRIVATE ${spry_mpi_warnings})
    endif()
    set_target_properties(spry_mpi PROPERTIES VERSION ${spry_abi}.${PROJECT_VERSION} SOVERSION ${spry_abi}
                          EXPORT_NAME mpi)
    add_library(spry::mpi ALIAS spry_mpi)
else()
    message(STATUS "Ranks: MPI was not found, libspry_mpi is left out")
endif()
