// Mistakes of kernels of the twelfth to the seventeenth blind set, which the diagnosis called otherwise.
#include <algorithm>
#include <cmath>

#include "tests/unit/diagnose/loops.hpp"
#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// Its results are what `edit` makes of right ones.
Fake with_results(std::function<void(const Call& before, Call& after)> edit) {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  return Fake(claims, [edit = std::move(edit)](Call& call) {
    const Call before = call;
    const Reply reply = computed(call);
    if (reply.status == ROPE_OK) edit(before, call);
    return reply;
  });
}

// Replaces each element of a result.
void replace(Tensor& out, const std::function<double(const RowIndex&, std::int64_t feature, double y)>& by) {
  for_each_row(out, [&](const RowIndex& row, std::byte* data) {
    for (std::int64_t f = 0; f < out.shape[3]; ++f) {
      std::byte* element = data + f * feature_step(out);
      store(out.dtype, element, by(row, f, load(out.dtype, element)));
    }
  });
}

// Changes the given positions of each run of so many tokens, on each axis.
void for_each_run(Call& call, std::int64_t block, const std::function<void(std::vector<std::int64_t>&)>& change) {
  if (!call.positions) return;
  Tensor& p = *call.positions;
  for (std::int64_t axis = 0; axis < p.shape[0]; ++axis) {
    for (std::int64_t row = 0; row < p.shape[1]; ++row) {
      for (std::int64_t first = 0; first < p.shape[2]; first += block) {
        const auto at = [&](std::int64_t s) {
          return axis * p.strides[0] + row * p.strides[1] + (first + s) * p.strides[2];
        };
        std::vector<std::int64_t> run;
        for (std::int64_t s = 0; s < std::min(block, p.shape[2] - first); ++s) run.push_back(integer_at(p, at(s)));
        change(run);
        for (std::int64_t s = 0; s < std::ssize(run); ++s) {
          store_integer(p, at(s), run[static_cast<std::size_t>(s)]);
        }
      }
    }
  }
}

void count_from(std::int64_t first, std::vector<std::int64_t>& run) {
  for (std::int64_t& m : run) m = first++;
}

}  // namespace

TEST_CASE("Runs of positions that are taken to count on are found, with what decides it and their length") {
  Fake by_second = misled([](Call& call) {
    for_each_run(call, 16, [](std::vector<std::int64_t>& run) {
      if (run.size() > 1 && run[1] == run[0] + 1) count_from(run[0], run);
    });
  });
  CHECK(first_of(diagnosed(by_second, {"ROT-01", "POS-03"})).sentence ==
        "in each block of 16 tokens, positions are taken to count on from the first if the second does");
  Fake by_span = misled([](Call& call) {
    for_each_run(call, 1 << 20, [](std::vector<std::int64_t>& run) {
      const auto [least, most] = std::ranges::minmax(run);
      if (most - least == std::ssize(run) - 1) count_from(least, run);
    });
  });
  CHECK(first_of(diagnosed(by_span, {"ROT-01", "POS-03"})).sentence ==
        "positions are taken to count on from the smallest if the largest is as far away as then, in any order");
}

TEST_CASE("A token that is taken for text by two of its axes is found with the two") {
  Fake subject = misled([](Call& call) {
    if (!call.positions || call.positions->shape[0] < 3) return;
    Tensor& p = *call.positions;
    for (std::int64_t row = 0; row < p.shape[1]; ++row) {
      for (std::int64_t s = 0; s < p.shape[2]; ++s) {
        const auto at = [&](std::int64_t axis) { return axis * p.strides[0] + row * p.strides[1] + s * p.strides[2]; };
        if (integer_at(p, at(1)) != integer_at(p, at(2))) continue;
        const std::int64_t first = integer_at(p, at(0));
        for (const std::int64_t axis : {1, 2}) store_integer(p, at(axis), first);
      }
    }
  });
  const auto found = diagnosed(subject, {"ROT-01", "ANG-07"});
  CHECK(first_of(found).sentence ==
        "a token with the same position on axes 1 and 2 is taken for text: all pairs follow axis 0");
  CHECK(found->certain);
}

TEST_CASE("A turn of 6.28319 is named with its digits") {
  Loops loops;
  loops.at = [](std::int64_t position, double theta) {
    const double angle = std::remainder(static_cast<double>(position) * theta, 6.28319);
    return Loops::Turn{std::cos(angle), std::sin(angle)};
  };
  CHECK(said_of(loops) == "angles are reduced by 6.28319, not by 2 pi");
}

TEST_CASE("Angles that are in another order within vectors are named") {
  Loops loops;
  loops.theta = [](const Call& call, std::int64_t, int pair) {
    const int whole = static_cast<int>(call.q.shape[3]) / 8 * 4;
    const int other = pair < whole && (pair % 4 == 1 || pair % 4 == 2) ? pair ^ 3 : pair;
    return std::pow(call.base, -2.0 * other / static_cast<double>(call.q.shape[3]));
  };
  CHECK(said_of(loops) == "in each 4 pairs, the second and the third are turned by each other's angle");
}

TEST_CASE("A sign that is wrong only backward is told by what backward should compute") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (before.direction != Direction::backward || before.source != AngleSource::computed) return;
    Call forward = before;
    forward.direction = Direction::forward;
    REQUIRE(computed(forward).status == ROPE_OK);
    const auto is_second = [&](std::int64_t f) {
      if (f >= before.rotary_dim) return false;
      return before.pairing == Pairing::interleaved ? f % 2 == 1 : f >= before.rotary_dim / 2;
    };
    const auto mix = [&](Tensor& to, const Tensor& from) {
      replace(to, [&](const RowIndex& row, std::int64_t f, double y) {
        return is_second(f) ? value_at(from, row, static_cast<int>(f)) : y;
      });
    };
    mix(q_of(after), forward.q_result());
    if (after.k) mix(k_of(after), forward.k_result());
  });
  const Candidate first = first_of(diagnosed(subject, {"ROT-01", "BWD-01"}));
  CHECK(first.sentence ==
        "backward (a, b) becomes (a cos + b sin, b cos + a sin), but should become (a cos + b sin, b cos - a sin)");
  CHECK(first.bug_class == BugClass::backward);
}

TEST_CASE("A factor that only one of q and k gets is named for both") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (!before.k || before.attention_factor == 1) return;
    const auto multiply = [&](Tensor& out, double by) {
      replace(out, [&](const RowIndex&, std::int64_t f, double y) { return f < before.rotary_dim ? y * by : y; });
    };
    multiply(q_of(after), before.attention_factor);
    multiply(k_of(after), 1 / before.attention_factor);
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-05"})).sentence ==
        "with k in the call, the attention factor is applied twice to q and not to k");
}

TEST_CASE("Results that are added to what the output held are found, also where it held NaN") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (before.direction != Direction::backward || before.in_place) return;
    const auto add = [](Tensor& out, const Tensor& held) {
      replace(out, [&](const RowIndex& row, std::int64_t f, double y) {
        return y + load(held.dtype, row_data(held, row) + f * feature_step(held));
      });
    };
    add(*after.q_out, *before.q_out);
    if (after.k) add(*after.k_out, *before.k_out);
  });
  const Candidate first = first_of(diagnosed(subject, {"ROT-01", "BWD-01"}));
  CHECK(first.sentence == "results are added to what the output held, which should be overwritten");
  CHECK(first.condition == "only backward, out of place");
}

TEST_CASE("Heads of k that lie in a tile of q are named, with the tile") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (!before.k) return;
    const std::int64_t of_q = before.q.shape[2], until = (of_q + 3) / 4 * 4;
    Tensor& out = k_of(after);
    const Tensor& held = before.k_result();
    for_each_row(out, [&](const RowIndex& row, std::byte*) {
      if (of_q + row.head < until) copy_row(out, row, held, row);
    });
  });
  CHECK(first_of(diagnosed(subject)).sentence ==
        "heads come in tiles of 4, q's and then k's: k's heads in the last tile of q are not written");
}

TEST_CASE("An output that a reshape would copy is named by its strides") {
  Fake subject = with_results([](const Call& before, Call& after) {
    const auto keep = [&](Tensor& out, const Tensor& held) {
      const bool is_view = out.shape[0] < 2 || out.shape[1] < 2 || out.strides[0] == out.shape[1] * out.strides[1];
      if (is_view) return;
      for_each_row(out, [&](const RowIndex& row, std::byte*) { copy_row(out, row, held, row); });
    };
    keep(q_of(after), before.q_result());
    if (after.k) keep(k_of(after), before.k_result());
  });
  const Candidate first = first_of(diagnosed(subject, {"ROT-01", "MEM-03"}));
  CHECK(first.sentence == "the output is never written");
  CHECK(first.condition == "only outputs whose tokens of all batches have no common stride");
}

TEST_CASE("Pairs that do not turn, and do not get the factor, are named") {
  Fake subject = with_results([](const Call& before, Call& after) {
    const auto* rule = std::get_if<scaling::Proportional>(&before.scaling);
    if (rule == nullptr || before.source != AngleSource::computed || before.attention_factor == 1) return;
    const int half = before.rotary_dim / 2;
    const int turning = static_cast<int>(std::floor(rule->proportion * half));
    const auto copy = [&](Tensor& out, const Tensor& in) {
      replace(out, [&](const RowIndex& row, std::int64_t f, double y) {
        if (f >= before.rotary_dim) return y;
        const std::int64_t pair = before.pairing == Pairing::interleaved ? f / 2 : f % half;
        return pair < turning ? y : value_at(in, row, static_cast<int>(f));
      });
    };
    copy(q_of(after), before.q);
    if (after.k) copy(k_of(after), *before.k);
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-05"})).sentence ==
        "pairs whose theta is 0 are left as they are, and not multiplied by the attention factor");
}

TEST_CASE("The last of three heads left over is named, and not called one of two") {
  Fake subject = with_results([](const Call& before, Call& after) {
    const auto copy = [](Tensor& out, const Tensor& in) {
      const std::int64_t last = out.shape[2] - 1;
      if (last % 4 != 2) return;
      replace(out, [&](const RowIndex& row, std::int64_t f, double y) {
        return row.head == last ? value_at(in, row, static_cast<int>(f)) : y;
      });
    };
    copy(q_of(after), before.q);
    if (after.k) copy(k_of(after), *before.k);
  });
  CHECK(with_condition(diagnosed(subject, {"ROT-01", "SHP-05"})) ==
        "the output is the input, unrotated, only heads left over from blocks of 2, number of heads modulo 4 is 3");
}

TEST_CASE("A mistake of one type of output is told by it, not by sizes") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (before.q_result().dtype != DType::f16) return;
    const auto halve = [&](Tensor& out) {
      replace(out, [&](const RowIndex&, std::int64_t f, double y) { return f < before.rotary_dim ? y / 2 : y; });
    };
    halve(q_of(after));
    if (after.k) halve(k_of(after));
  });
  const Candidate first = first_of(diagnosed(subject));
  CHECK(first.sentence == "the result is halved");
  CHECK(first.condition == "only an output in f16");
}

TEST_CASE("A read of whole blocks is told from a read beyond every row") {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  Fake subject(claims, [](Call& call) {
    const Tensor* cos = call.cos ? &*call.cos : nullptr;
    if (cos != nullptr && !cos->null && cos->shape[1] % 4 != 0 && call.q.count() > 0) {
      const auto held = static_cast<std::int64_t>(cos->bytes.size() / size_of(cos->dtype));
      for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
        for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
          const std::int64_t row = token_position(call, b, s)[0] * cos->strides[0];
          if (row + (cos->shape[1] + 3) / 4 * 4 > held) {
            return Reply{ReplyKind::misbehaved, ROPE_FAILED, "read past the end of cos", 0,
                         OutsideAccess{"cos", false, held}};
          }
        }
      }
    }
    return computed(call);
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "MEM-01"})).sentence ==
        "rows of cos are read in whole blocks of 4, so the last one goes beyond the end");
}
