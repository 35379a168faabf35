# In another project ropecheck is a tool that judges kernels: built only where something asks for it, optimized, and not
# with what the project asks of its own code. Everything set here holds for this folder and those below.
set_property(DIRECTORY PROPERTY EXCLUDE_FROM_ALL ON)
set_directory_properties(PROPERTIES COMPILE_DEFINITIONS "" COMPILE_OPTIONS "" INCLUDE_DIRECTORIES "" LINK_OPTIONS "")
set(CMAKE_BUILD_TYPE Release)
# The judge's sums need every rounding, whatever CMAKE_CXX_FLAGS says.
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fno-fast-math>)
add_link_options(-fno-fast-math)
foreach(checker IN ITEMS CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE)
  unset(CMAKE_C_${checker})
  unset(CMAKE_CXX_${checker})
endforeach()

# The program's files lie in one folder and have these names.
foreach(config IN ITEMS DEBUG RELEASE RELWITHDEBINFO MINSIZEREL)
  unset(CMAKE_LIBRARY_OUTPUT_DIRECTORY_${config})
  unset(CMAKE_RUNTIME_OUTPUT_DIRECTORY_${config})
  unset(CMAKE_${config}_POSTFIX)
endforeach()
