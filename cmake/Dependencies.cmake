# The packages of Debian; tools/packages.txt lists them for tools/run and tools/test.
set(ROPECHECK_PACKAGES "" CACHE PATH "A folder made by tools/portable/packages.py, whose packages are linked statically")
if(ROPECHECK_PACKAGES)
  include(cmake/PortableDependencies.cmake)
else()
  find_package(Threads REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(fmt REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(pugixml REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(xtensor REQUIRED)
  find_package(xtensor-blas REQUIRED)
  find_path(MUSTACHE_INCLUDES kainjow/mustache.hpp REQUIRED)
  find_library(MPFR_LIBRARY mpfr REQUIRED)
  find_library(GMP_LIBRARY gmp REQUIRED)
  if(ROPECHECK_TESTS)
    find_package(Catch2 REQUIRED)
  endif()
endif()

# The only target through which xtensor is used. xtensor 0.24.3 gives results of the wrong rank where templates match as
# in C++17 and later (P0522): in g++ 12 and clang 19. tests/unit/reference/naive_matrix_test.cpp fails if a flag is lost.
add_library(ropecheck_xtensor INTERFACE)
target_link_libraries(ropecheck_xtensor INTERFACE xtensor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ropecheck_xtensor INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-new-ttp-matching>)
  # g++ 14 takes xtensor's copy of a shape of one dimension for a read past its end; g++ 12 checks the same code.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(ropecheck_xtensor INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>)
  endif()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
  include(CheckCXXCompilerFlag)
  set(old_matching -fno-relaxed-template-template-args -Wno-deprecated-no-relaxed-template-template-args)
  check_cxx_compiler_flag("${old_matching}" ROPECHECK_HAS_OLD_MATCHING)  # zig's driver does not have it
  if(ROPECHECK_HAS_OLD_MATCHING)
    target_compile_options(ropecheck_xtensor INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${old_matching}>")
  endif()
endif()
# Products by the generic code in xtensor-blas's headers, which has no state. Debian's OpenBLAS for one thread hands two
# threads the same buffer: on a CPU without AVX-512 their products are wrong. Its builds with threads start some.
target_compile_definitions(ropecheck_xtensor INTERFACE XTENSOR_USE_FLENS_BLAS)

# Some tests are written in Python and need only its standard library. If jsonschema is installed, they also check
# reports against their schema; the python3 in PATH may lack it.
if(ROPECHECK_TESTS)
  find_program(ROPECHECK_PYTHON python3 REQUIRED)
  set(ROPECHECK_JSONSCHEMA_PYTHON "")
  foreach(candidate IN ITEMS "${ROPECHECK_PYTHON}" /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import jsonschema" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(ROPECHECK_JSONSCHEMA_PYTHON ${candidate})
      break()
    endif()
  endforeach()
endif()
