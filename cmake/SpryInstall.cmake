# What `cmake --install` and CPack carry: program, libraries, headers, CMake package, pkg-config, man pages,
# shell completion. The program writes its own man pages and completion from the option lists.
include(CMakePackageConfigHelpers)

install(TARGETS spry spry_shared spry_static EXPORT spry-targets)
install(DIRECTORY include/spry DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES bindings/cpp/spry/spry.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spry)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spry)
install(EXPORT spry-targets NAMESPACE spry:: DESTINATION ${package_dir})
configure_package_config_file(cmake/spry-config.cmake.in spry-config.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(spry-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/spry-config.cmake ${PROJECT_BINARY_DIR}/spry-config-version.cmake
        DESTINATION ${package_dir})

# Where the prefix is follows from where spry.pc lies: it is chosen at installing, and by the .deb once more.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${pc_dir})
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
    string(REGEX REPLACE "[^/]+" ".." up ${pc_dir})
    set(pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(name LIBDIR INCLUDEDIR DATADIR)
    string(TOLOWER pc_${name} dir)
    cmake_path(APPEND ${dir} "\${prefix}" ${CMAKE_INSTALL_${name}}) # an absolute one stands for itself
endforeach()
configure_file(cmake/spry.pc.in spry.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/spry.pc DESTINATION ${pc_dir})

if(NOT CMAKE_CROSSCOMPILING AND NOT SPRY_SANITIZE)
    set(texts ${PROJECT_BINARY_DIR}/texts)
    set(text_files)
    file(MAKE_DIRECTORY ${texts})
    foreach(command "" solve info gen convert bench devices tune explain)
        if(command)
            set(name spry-${command}.1)
        else()
            set(name spry.1)
        endif()
        add_custom_command(OUTPUT ${texts}/${name} COMMAND spry manual ${command} > ${texts}/${name}
                           DEPENDS spry VERBATIM)
        list(APPEND text_files ${texts}/${name})
        install(FILES ${texts}/${name} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endforeach()
    foreach(shell bash zsh fish)
        add_custom_command(OUTPUT ${texts}/${shell} COMMAND spry completion ${shell} > ${texts}/${shell}
                           DEPENDS spry VERBATIM)
        list(APPEND text_files ${texts}/${shell})
    endforeach()
    install(FILES ${texts}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME spry)
    install(FILES ${texts}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _spry)
    install(FILES ${texts}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME spry.fish)
    add_custom_target(spry_texts ALL DEPENDS ${text_files})
endif()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.c" PATTERN "*.krylov" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.f90" PATTERN "*.cpp")

set(CPACK_PACKAGE_NAME spry)
set(CPACK_PACKAGE_CONTACT "The spry developers <spry@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "${spry_factor_packages}")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
include(CPack)
