# What a portable program is made of: the packages that tools/portable/packages.py unpacked into ROPECHECK_PACKAGES.
# Everything is a header or a static library. The targets have the names that Dependencies.cmake gives them.
set(libraries "${ROPECHECK_PACKAGES}/lib")
find_package(Threads REQUIRED)
foreach(package IN ITEMS nlohmann_json::nlohmann_json fmt::fmt fmt::fmt-header-only CLI11::CLI11 pugixml::pugixml rapidcheck
    xtensor Catch2::Catch2)
  add_library(${package} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${package} SYSTEM INTERFACE "${ROPECHECK_PACKAGES}/include")
endforeach()
set_property(TARGET fmt::fmt fmt::fmt-header-only PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
target_link_libraries(pugixml::pugixml INTERFACE "${libraries}/libpugixml.a")
target_link_libraries(rapidcheck INTERFACE "${libraries}/librapidcheck.a")
include_directories(SYSTEM "${ROPECHECK_PACKAGES}/include")  # mpfr.h and gmp.h belong to no target
set(MUSTACHE_INCLUDES "${ROPECHECK_PACKAGES}/include")
set(MPFR_LIBRARY "${libraries}/libmpfr.a")
set(GMP_LIBRARY "${libraries}/libgmp.a")
if(EXISTS "${libraries}/cpuinfo.o")
  add_link_options("${libraries}/cpuinfo.o")  # target_clones ask it; see packages.py
endif()
set(Catch2_VERSION 2)
add_link_options(-s)
