#include "reference/running_error.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "reference/real.hpp"
#include "tests/unit/property.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

TEST_CASE("a parameter is exact if a float holds it, else rounded once", "[running_error]") {
  CHECK(RunningError(0.5).error == 0);
  CHECK(RunningError(-3).error == 0);
  CHECK(RunningError(1 << 24).error == 0);
  CHECK(RunningError((1 << 24) + 1).error == 16777217);
  CHECK(RunningError(0.1).error == 0.1);
  CHECK(RunningError(-0.1).error == 0.1);
}

TEST_CASE("each operation inherits and adds one rounding, pow, exp and log add two", "[running_error]") {
  const RunningError a{8, 3}, b{2, 0.5};
  CHECK((a + b).error == 3.5 + 10);
  CHECK((a - b).error == 3.5 + 6);
  CHECK((a * b).error == 3 * 2 + 0.5 * 8 + 16);
  CHECK((a / b).error == (3 + 0.5 * 4) / 2 + 4);
  CHECK((-a).error == 3);
  CHECK((-a).value == -8);
  CHECK(pow(a, b).value == 64);
  CHECK(pow(a, b).error == Approx(64 * (2.0 * 3 / 8 + std::log(8.0) * 0.5 + 2)));
  CHECK(log(a).error == Approx(3.0 / 8 + 2 * std::log(8.0)));
  CHECK(exp(a).error == Approx(std::exp(8.0) * (3 + 2)));
  CHECK(sqrt(RunningError{16, 4}).error == 4.0 / 8 + 4);
  CHECK(floor(RunningError{2.5, 1}).value == 2);
  CHECK(floor(RunningError{2.5, 1}).error == 0);
  CHECK(ceil(RunningError{2.5, 1}).value == 3);
}

TEST_CASE("numbers compare by value, whatever their errors", "[running_error]") {
  const RunningError one{1, 7}, same{1, 0}, two{2, 0};
  CHECK(one == same);
  CHECK((one < two && two > one && one <= same && one >= same));
  CHECK_FALSE(two <= one);
}

// One chain of operations in three kinds of number.
struct Chain {
  float rounded;
  Real exact;
  RunningError tracked;

  explicit Chain(double start) : rounded(static_cast<float>(start)), exact(start), tracked(start) {}

  template <class Operation>
  void apply(Operation&& operation) {
    rounded = operation(rounded);
    exact = operation(exact);
    tracked = operation(tracked);
  }
  // In units of 2^-24.
  double error() const { return std::fabs((Real(static_cast<double>(rounded)) - exact).to_double()) * 0x1p24; }
};

// A chain of random operations. None if the bound, which is of first order, leaves out more than 2^-13 of itself: its
// terms of second order are about (error/value)^2 u^2.
std::optional<Chain> any_chain() {
  using std::log, std::pow, std::sqrt;
  Chain chain(test::between(0.01, 100));
  const int steps = *rc::gen::inRange(1, 9);
  for (int i = 0; i < steps; ++i) {
    const double other = test::between(0.1, 10);
    switch (*rc::gen::inRange(0, 8)) {
      case 0: chain.apply([&]<class T>(const T& x) { return x + T(other); }); break;
      case 1: chain.apply([&]<class T>(const T& x) { return x - T(other); }); break;
      case 2: chain.apply([&]<class T>(const T& x) { return x * T(other); }); break;
      case 3: chain.apply([&]<class T>(const T& x) { return x / T(other); }); break;
      case 4: chain.apply([&]<class T>(const T& x) { return T(other) / x; }); break;
      case 5: chain.apply([&]<class T>(const T& x) { return pow(x, T(other / 4)); }); break;
      case 6: chain.apply([]<class T>(const T& x) { return sqrt(x); }); break;
      default: chain.apply([]<class T>(const T& x) { return log(x); }); break;
    }
    const double value = chain.tracked.value;
    if (!(value > 1e-3 && value < 1e6 && chain.tracked.error < 500 * value)) return std::nullopt;
  }
  return chain;
}

TEST_CASE("the loss of float in a chain of operations is within the running error", "[running_error]") {
  double worst = 0;
  const auto refuted = test::counterexample(
      [&] {
        const std::optional<Chain> chain = any_chain();
        RC_PRE(chain.has_value());
        const double share = chain->error() == 0 ? 0 : chain->error() / chain->tracked.error;
        RC_ASSERT(share <= 1);
        worst = std::max(worst, share);
      },
      3000);
  INFO(refuted.value_or(""));
  CHECK_FALSE(refuted.has_value());
  CHECK(worst > 0.5);  // half the bound would be refuted
}

}  // namespace
}  // namespace rope
