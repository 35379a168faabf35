// After a hang, what answered calls took tells how long the next one may take.
#include <catch2/catch.hpp>

#include "tools/worker/client/adaptive_deadline.hpp"

namespace rope::worker {
namespace {

using std::chrono::milliseconds;
using Time = AdaptiveDeadline::Time;

constexpr milliseconds usual(10'000);

TEST_CASE("patience: a later call may take 20 times what the slowest one took a byte") {
  AdaptiveDeadline patience;
  patience.learn(false, 1000, Time(0.1));
  patience.learn(false, 1000, Time(0.05));
  CHECK(patience.after_a_hang(false, 1500, usual) == milliseconds(3000));
  CHECK(patience.after_a_hang(false, 100, usual) == milliseconds(1000));  // at least a second
  CHECK(patience.after_a_hang(false, 1'000'000, usual) == usual);
  CHECK(patience.after_a_hang(false, 1500, milliseconds(200)) == milliseconds(200));
}

TEST_CASE("patience: a first call may load code, so only other first calls tell how long it may take") {
  AdaptiveDeadline patience;
  patience.learn(false, 1000, Time(0.000'001));
  CHECK(patience.after_a_hang(true, 1000, usual) == usual);
  patience.learn(true, 1000, Time(0.2));
  CHECK(patience.after_a_hang(true, 1000, usual) == milliseconds(4000));
  CHECK(patience.after_a_hang(false, 1000, usual) == milliseconds(1000));
}

}  // namespace
}  // namespace rope::worker
