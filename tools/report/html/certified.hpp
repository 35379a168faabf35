// The page of a certificate.
#pragma once

#include <string>

#include "tools/report/html/model.hpp"

namespace rope::html {

// `certificate` as certificate.schema.json has it. The same certificate gives the same page.
std::string page_of_certificate(const Json& certificate);

}  // namespace rope::html
