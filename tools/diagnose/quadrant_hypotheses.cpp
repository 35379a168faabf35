// Sine and cosine by quadrants: an angle less a number of quarter turns, then one of four cases.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

constexpr long double quarter = std::numbers::pi_v<long double> / 2;

void add(Hypotheses& all, BugClass bug_class, std::string sentence, Change change) {
  const auto own_angles = [](const Call& call) { return call.source != AngleSource::tables; };
  all.push_back({bug_class, std::move(sentence), std::move(change), 0, own_angles, false});
}

// What a case makes of the cosine and the sine.
struct Mistake {
  const char* words;
  void (*apply)(double& cos, double& sin);
};
constexpr Mistake mistakes[] = {
    {"sin has the wrong sign", [](double&, double& sin) { sin = -sin; }},
    {"cos has the wrong sign", [](double& cos, double&) { cos = -cos; }},
    {"cos and sin are exchanged", [](double& cos, double& sin) { std::swap(cos, sin); }},
};

// In one of four cases. Quadrants begin at multiples of a quarter turn, or an eighth before, if the number of quarter
// turns is rounded to nearest.
void add_cases(Hypotheses& all) {
  for (const Mistake& mistake : mistakes) {
    for (int begin = -1; begin < 7; ++begin) {  // in eighths of a turn
      Change change;
      change.row = [=](const RowContext&, const PairList&, Row& row) {
        for (std::size_t i = 0; i < row.phi.size(); ++i) {
          const double eighths = row.phi[i] / static_cast<double>(quarter) * 2;
          const double place = eighths - begin - 8 * std::floor((eighths - begin) / 8);
          if (place < 2) mistake.apply(row.cos[i], row.sin[i]);
        }
      };
      add(all, BugClass::sign_direction,
          fmt::format("{} where an angle, less its whole turns, is from {} to {} pi", mistake.words, begin / 4.0,
                      (begin + 2) / 4.0),
          change);
    }
  }
}

void add_limits(Hypotheses& all) {
  for (const int bits : {7, 8, 15, 16}) {
    const long double most = std::ldexp(1.0L, bits) - 1;
    Change change;
    change.angle = [=](const RowContext&, long double, long double, long double phi) {
      const long double quarters = std::nearbyint(phi / quarter);
      return phi - (quarters - std::clamp(quarters, -most - 1, most)) * quarter;
    };
    add(all, BugClass::precision, fmt::format("from quarter turn {} on, all angles have its quadrant", most), change);
  }
}

// Near whole half turns the difference of two numbers near 1 has few digits.
void add_roots(Hypotheses& all) {
  for (const bool sine : {true, false}) {
    Change change;
    change.row = [sine](const RowContext&, const PairList&, Row& row) {
      for (std::size_t i = 0; i < row.phi.size(); ++i) {
        const auto from = static_cast<float>(sine ? row.cos[i] : row.sin[i]);
        double& to = sine ? row.sin[i] : row.cos[i];
        to = std::copysign(std::sqrt(std::max(0.0F, 1 - from * from)), to);
      }
    };
    add(all, BugClass::precision,
        fmt::format("{} is computed in f32 as sqrt(1 - {}^2), which is inexact where it is small", sine ? "sin" : "cos",
                    sine ? "cos" : "sin"),
        change);
  }
}

}  // namespace

void add_quadrant_hypotheses(Hypotheses& all) {
  add_cases(all);
  add_limits(all);
  add_roots(all);
}

}  // namespace rope::diagnosis
