# Debian's packages; tools/packages.txt lists them for tools/run and tools/test.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(pugixml REQUIRED)
find_package(xtensor REQUIRED)
find_package(xtensor-blas REQUIRED)
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(GMP_LIBRARY gmp REQUIRED)
find_library(OPENBLAS_LIBRARY openblas REQUIRED)

# The only target through which xtensor is used. xtensor 0.24.3 in C++20 with g++ 12 gives results of the wrong rank
# without this flag; tests/unit/reference/naive_matrix_test.cpp fails if it is lost.
add_library(ropecheck_xtensor INTERFACE)
target_link_libraries(ropecheck_xtensor INTERFACE xtensor "${OPENBLAS_LIBRARY}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ropecheck_xtensor INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-new-ttp-matching>)
endif()

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
