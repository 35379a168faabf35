// A kernel with few claims as loops over rows, each of whose steps a test replaces by a mistake.
#pragma once

#include <cmath>
#include <vector>

#include "tests/unit/diagnose/subjects.hpp"

namespace rope::test {

// One row in f32, half-split. `out` is `in`, where a call is in place.
struct RowToTurn {
  const float* in;
  float* out;
  std::vector<double> cos, sin;  // of each pair
  bool key = false;

  std::size_t half() const { return cos.size(); }
  void turn(std::size_t first, std::size_t second, std::size_t pair) const {
    const float a = in[first], b = in[second];
    out[first] = static_cast<float>(a * cos[pair] - b * sin[pair]);
    out[second] = static_cast<float>(b * cos[pair] + a * sin[pair]);
  }
  void turn_all() const {
    for (std::size_t p = 0; p < half(); ++p) turn(p, p + half(), p);
  }
};

struct Loops {
  struct Turn {
    double cos, sin;
  };
  std::function<double(const Call&, std::int64_t position, int pair)> theta = [](const Call& call, std::int64_t,
                                                                                 int pair) {
    return std::pow(call.base, -2.0 * pair / static_cast<double>(call.q.shape[3]));
  };
  std::function<Turn(std::int64_t position, double of_pair)> at = [](std::int64_t position, double of_pair) {
    const double angle = static_cast<double>(position) * of_pair;
    return Turn{std::cos(angle), std::sin(angle)};
  };
  std::function<void(const RowToTurn&)> turn_row = [](const RowToTurn& row) { row.turn_all(); };
  std::function<std::int64_t(const Call&, bool key, std::int64_t head)> head_read =
      [](const Call&, bool, std::int64_t head) { return head; };
  std::function<int(const Call&, bool key, std::int64_t head)> turns = [](const Call&, bool, std::int64_t) { return 1; };
  std::uint32_t scalings = ROPE_BIT(ROPE_SCALING_NONE);
  std::int64_t max_position = 1 << 20;

  Fake kernel() const {
    Claims claims = narrow_claims();
    claims.capabilities.scalings = scalings;
    claims.capabilities.max_position = max_position;
    claims.capabilities.features |=
        ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_KEY) | ROPE_BIT(ROPE_FEATURE_GROUPED_HEADS);
    return Fake(claims, [loops = *this](Call& call) { return loops.apply(call); });
  }

 private:
  Reply apply(Call& call) const {
    if (Call checked = call; right(checked).status != ROPE_OK) return right(call);  // a call that no kernel may touch
    for (const bool key : {false, true}) {
      if (key && !call.k) continue;
      const Tensor before = key ? *call.k : call.q;
      Tensor& out = call.in_place ? (key ? *call.k : call.q) : (key ? *call.k_out : *call.q_out);
      for_each_row(out, [&](const RowIndex& row, std::byte* data) {
        const RowIndex from{row.batch, row.seq, head_read(call, key, row.head)};
        auto* to = reinterpret_cast<float*>(data);
        const auto* in = reinterpret_cast<const float*>(row_data(before, from));
        RowToTurn turned{call.in_place && from.head == row.head ? to : in, to, {}, {}, key};
        const std::int64_t position = call.position_offset + row.seq;
        for (int p = 0; p < static_cast<int>(call.q.shape[3]) / 2; ++p) {
          const Turn turn = at(position, theta(call, position, p));
          turned.cos.push_back(turn.cos);
          turned.sin.push_back(turn.sin);
        }
        for (int i = 0; i < turns(call, key, row.head); ++i) turn_row(turned);
      });
    }
    return {};
  }
};

inline std::optional<Diagnosis> diagnosed(const Loops& loops) {
  Fake kernel = loops.kernel();
  return diagnosed(kernel, {"ROT-01", "ROT-07", "ROT-08", "ANG-04"});
}

inline std::string said_of(const Loops& loops) { return first_of(diagnosed(loops)).sentence; }

}  // namespace rope::test
