# The compilers for ROPECHECK_ARCH. For portable programs it is ziglang from PyPI, which is clang with libc++ linked in.
# What it links runs with any glibc from 2.28 on. tools/wheel sets ROPECHECK_ZIG, a folder with the scripts `cc`, `c++`,
# `ar` and `ranlib`. Without it, it is Debian's cross compiler: tests/portable/other_machine.py builds the unit tests.
if(ROPECHECK_ZIG)
  set(CMAKE_C_COMPILER "${ROPECHECK_ZIG}/cc")
  set(CMAKE_CXX_COMPILER "${ROPECHECK_ZIG}/c++")
  set(CMAKE_AR "${ROPECHECK_ZIG}/ar" CACHE FILEPATH "")
  set(CMAKE_RANLIB "${ROPECHECK_ZIG}/ranlib" CACHE FILEPATH "")
else()
  set(CMAKE_C_COMPILER "${ROPECHECK_ARCH}-linux-gnu-gcc")
  set(CMAKE_CXX_COMPILER "${ROPECHECK_ARCH}-linux-gnu-g++")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROPECHECK_ZIG ROPECHECK_ARCH)
if(NOT ROPECHECK_ARCH STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(CMAKE_SYSTEM_NAME Linux)  # makes CMake cross-compile
  set(CMAKE_SYSTEM_PROCESSOR "${ROPECHECK_ARCH}")
  set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-${ROPECHECK_ARCH};-L;/usr/${ROPECHECK_ARCH}-linux-gnu")
endif()
