// Where the tests find this repository, its build, and the interpreters that CMake found. The values are compiled into
// one file, so that compiling the other files does not depend on the folder of the checkout.
#pragma once

#include <filesystem>
#include <string>

namespace rope {

std::filesystem::path source_folder();
std::filesystem::path build_folder();

std::string python();             // runs Python's standard library
std::string numpy_python();       // the one that may have numpy; empty: none was found
std::string jsonschema_python();  // the one that has jsonschema; empty: none has

}  // namespace rope
