// What a report says of the place and the time of its run.
#pragma once

#include <string_view>

#include "tools/report/words.hpp"

namespace rope {

// A report that begins now, here; it has no subjects yet. Throws InputError for a wrong SOURCE_DATE_EPOCH.
RunReport begun_run(std::string_view version);

}  // namespace rope
