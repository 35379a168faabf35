option(ROPECHECK_WARNINGS_ARE_ERRORS "Off where a compiler that nobody has tried must not stop the build"
  ${PROJECT_IS_TOP_LEVEL})
set(warnings_are_errors $<$<BOOL:${ROPECHECK_WARNINGS_ARE_ERRORS}>:-Werror>)

# The compiler options of every target of the project.
add_library(ropecheck_options INTERFACE)
target_include_directories(ropecheck_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(ropecheck_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wconversion -Wshadow ${warnings_are_errors}>
  $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)  # error-free transformations and bit-for-bit comparisons need every rounding where it is written

# In g++ 12 contraction is not off everywhere: when it vectorises straight-line code, a*c - b*s beside b*c + a*s becomes
# one fmaddsub.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ropecheck_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-tree-slp-vectorize>)
endif()

# g++ 12 warns about writes in fmt and std::string that cannot happen (GCC bugs 105329, 105762); clang checks the same code.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ropecheck_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow -Wno-restrict -Wno-maybe-uninitialized>)
endif()

# Notes about what changed in the ABI of aarch64 before g++ 10 would fill the log.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  target_compile_options(ropecheck_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
endif()

# From 19 on clang warns about what libstdc++ 12's std::stable_sort itself calls; other compilers check our own calls.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-Werror=deprecated-declarations")
  check_cxx_source_compiles("
    #include <algorithm>
    int main() { int x[2] = {}; std::stable_sort(x, x + 2); }" ROPECHECK_STABLE_SORT_WITHOUT_WARNING)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT ROPECHECK_STABLE_SORT_WITHOUT_WARNING)
    target_compile_options(ropecheck_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
  endif()
endif()

# A second clone or worktree takes from ccache what the first one compiled: no object holds the path of the clone.
if(PROJECT_IS_TOP_LEVEL)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    # With the second setting it also keeps what is compiled with precompiled headers.
    set(CMAKE_C_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
      "CCACHE_SLOPPINESS=pch_defines,time_macros" "${CCACHE_PROGRAM}")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  endif()
  find_program(MOLD_PROGRAM mold)
  if(MOLD_PROGRAM AND NOT CMAKE_TOOLCHAIN_FILE)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)

option(ROPECHECK_FUZZ "Build the fuzz targets with libFuzzer, which needs clang" OFF)
option(ROPECHECK_SANITIZE "Compile with sanitizers" ${ROPECHECK_FUZZ})
set(ROPECHECK_SANITIZERS "address,undefined" CACHE STRING "Which ones; `thread` stands alone")
if(ROPECHECK_SANITIZE)
  add_compile_options(-fsanitize=${ROPECHECK_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ROPECHECK_SANITIZERS})
  # Between their checks no loop can be vectorized.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>)
endif()

option(ROPECHECK_UNOPTIMIZED "Compile most code without optimization, in half of the time: for programs that run once" OFF)
# Of a target that takes little of a run's time (with -O3 it would take half as long again to compile), and of one that
# takes most of it.
add_library(ropecheck_runs_once INTERFACE)
add_library(ropecheck_runs_often INTERFACE)
if(ROPECHECK_UNOPTIMIZED)
  add_compile_options(-O0)
  target_compile_options(ropecheck_runs_often INTERFACE -O1)
  if(ROPECHECK_SANITIZE)
    # These checks take a tenth of the time to compile. They find what AddressSanitizer finds, and pointers to an object
    # of another class. tests/nightly has them.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
  endif()
else()
  target_compile_options(ropecheck_runs_once INTERFACE $<$<CONFIG:Release>:-O1>)
endif()

# Headers take most of the compile time of a file. In a unity build, names of neighbouring files must not clash; the
# preset `debug` compiles each file by itself.
option(ROPECHECK_UNITY "Compile several files of a folder at once: a first build takes less than half of the CPU time" ON)
set(ROPECHECK_UNITY_BATCH 16 CACHE STRING "How many at most; 0, all of a target, where nobody will change one of them")
set(CMAKE_UNITY_BUILD ${ROPECHECK_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE ${ROPECHECK_UNITY_BATCH})
