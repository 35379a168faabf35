#include "tools/report/begun_run.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "reference/input_error.hpp"

namespace rope {
namespace {

using Catch::Contains;

// Sets SOURCE_DATE_EPOCH and leaves it as it was.
class Epoch {
 public:
  explicit Epoch(const char* value) {
    if (const char* set = std::getenv("SOURCE_DATE_EPOCH")) before_ = set;
    setenv("SOURCE_DATE_EPOCH", value, 1);
  }
  ~Epoch() {
    if (before_) {
      setenv("SOURCE_DATE_EPOCH", before_->c_str(), 1);
    } else {
      unsetenv("SOURCE_DATE_EPOCH");
    }
  }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST_CASE("begun run: SOURCE_DATE_EPOCH is the time of the start", "[begun_run]") {
  const Epoch given("86400");
  CHECK(begun_run("0.1.0").started == "1970-01-02T00:00:00Z");
}

TEST_CASE("begun run: a wrong SOURCE_DATE_EPOCH is an input error", "[begun_run]") {
  for (const char* wrong : {"", "yesterday", "12x", " 12", "-1", "1.5", "253402300800", "99999999999999999999"}) {
    INFO(wrong);
    const Epoch given(wrong);
    CHECK_THROWS_AS(begun_run("0.1.0"), InputError);
    CHECK_THROWS_WITH(begun_run("0.1.0"), Contains(fmt::format("SOURCE_DATE_EPOCH is \"{}\"; expected seconds", wrong)));
  }
}

}  // namespace
}  // namespace rope
