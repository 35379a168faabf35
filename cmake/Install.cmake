# What `cmake --install` copies: the component ropecheck is the command with the files that it needs, the component
# ropecheck_development the contract, its packages for CMake and pkg-config, and the schemas. tools/python has the
# component of the wheel. tools/worker/client/program_files.hpp says where the command looks.
include(CMakePackageConfigHelpers)

set(libraries "${CMAKE_INSTALL_LIBEXECDIR}/ropecheck")
set(data "${CMAKE_INSTALL_DATADIR}/ropecheck")
install(TARGETS ropecheck RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ropecheck)
install(TARGETS ropecheck_host ropecheck_sandbox ropecheck_faults
  RUNTIME DESTINATION "${libraries}" COMPONENT ropecheck
  LIBRARY DESTINATION "${libraries}" COMPONENT ropecheck)
if(TARGET ropecheck_cuda)
  install(TARGETS ropecheck_cuda LIBRARY DESTINATION "${libraries}" COMPONENT ropecheck OPTIONAL)  # all does not need it
endif()
install(FILES golden/manifest.json golden/README.md golden/errors.json golden/verify.py golden/bounds.py
    golden/definition.py golden/seeds.py
  DESTINATION "${data}/golden" COMPONENT ropecheck)
install(DIRECTORY golden/arrays DESTINATION "${data}/golden" COMPONENT ropecheck)
install(FILES tools/python/rope_kernel.py DESTINATION "${data}/python" COMPONENT ropecheck)
install(DIRECTORY tools/python/ropecheck DESTINATION "${data}/python" COMPONENT ropecheck
  PATTERN __pycache__ EXCLUDE)

install(FILES impls/include/rope_kernel.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT ropecheck_development)
foreach(schema IN ITEMS report plan golden_report)
  install(FILES tools/report/${schema}.schema.json DESTINATION "${data}/schemas" COMPONENT ropecheck_development)
endforeach()
install(FILES tools/certify/certificate.schema.json DESTINATION "${data}/schemas" COMPONENT ropecheck_development)
install(FILES reference/rope_spec.schema.json DESTINATION "${data}/schemas" COMPONENT ropecheck_development)
install(FILES golden/manifest.schema.json DESTINATION "${data}/schemas" COMPONENT ropecheck_development
  RENAME golden_manifest.schema.json)
install(FILES tools/vectors/manifest.schema.json DESTINATION "${data}/schemas" COMPONENT ropecheck_development
  RENAME vectors_manifest.schema.json)
install(FILES LICENSE tools/worker/protocol/PROTOCOL.md DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT ropecheck_development)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/ropecheck")
configure_package_config_file(cmake/ropecheckConfig.cmake.in "${PROJECT_BINARY_DIR}/ropecheckConfig.cmake"
  INSTALL_DESTINATION "${package}"
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ropecheckConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ropecheckConfig.cmake" "${PROJECT_BINARY_DIR}/ropecheckConfigVersion.cmake"
  cmake/ropecheck_add_test.cmake DESTINATION "${package}" COMPONENT ropecheck_development)

file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" PREFIX_FROM_PKGCONFIG "${PREFIX_FROM_PKGCONFIG}")
foreach(folder IN ITEMS BINDIR INCLUDEDIR DATADIR)
  file(RELATIVE_PATH ${folder}_FROM_PREFIX "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_${folder}}")
endforeach()
configure_file(cmake/ropecheck.pc.in "${PROJECT_BINARY_DIR}/ropecheck.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ropecheck.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ropecheck_development)
