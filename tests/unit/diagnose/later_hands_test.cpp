// Mistakes of kernels of the twelfth to the seventeenth blind set, which the diagnosis called otherwise.
#include <algorithm>
#include <cmath>

#include "tests/unit/diagnose/loops.hpp"
#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/rivals.hpp"
#include "tools/judge/case/build_call.hpp"

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
    mix(after.in_place ? after.q : *after.q_out, forward.q_result());
    if (after.k) mix(after.in_place ? *after.k : *after.k_out, forward.k_result());
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
    multiply(after.in_place ? after.q : *after.q_out, before.attention_factor);
    multiply(after.in_place ? *after.k : *after.k_out, 1 / before.attention_factor);
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
    Tensor& out = after.in_place ? *after.k : *after.k_out;
    const Tensor& held = before.in_place ? *before.k : *before.k_out;
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
    keep(after.in_place ? after.q : *after.q_out, before.in_place ? before.q : *before.q_out);
    if (after.k) keep(after.in_place ? *after.k : *after.k_out, before.in_place ? *before.k : *before.k_out);
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
    copy(after.in_place ? after.q : *after.q_out, before.q);
    if (after.k) copy(after.in_place ? *after.k : *after.k_out, *before.k);
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
    copy(after.in_place ? after.q : *after.q_out, before.q);
    if (after.k) copy(after.in_place ? *after.k : *after.k_out, *before.k);
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "SHP-05"})).sentence ==
        "of three heads left over from blocks of 4, the last is not rotated");
}

TEST_CASE(
    "Positions in the type of q, in runs over batches, and of sequences that are counted without the empty ones") {
  Oracles oracles;
  const auto position = [&](const char* text, std::string_view sentence, std::int64_t batch, std::int64_t seq) {
    const Case c = case_from_text(text);
    const Call call = build_call(c, oracles);
    const diagnosis::Params params = diagnosis::params_of(call);
    const diagnosis::Spot spot{call, params, false, batch, seq, 0};
    const auto right = static_cast<long double>(token_position(call, batch, seq)[0]);
    return static_cast<double>(that_says(sentence).change.position(spot, 0, right));
  };
  constexpr const char* rounded = "positions are rounded to the type of q";
  CHECK(position("ROT-01:head_dim=4,start=2049,dtype=f16,out_dtype=f16,source=computed", rounded, 0, 0) == 2048);
  CHECK(position("ROT-01:head_dim=4,start=2049,dtype=f32,source=computed", rounded, 0, 0) == 2049);
  // Two runs of 5 of 10 tokens: the second begins with the second batch. Of 9 tokens in 3 batches, it begins within
  // one.
  constexpr const char* runs =
      "the tokens of all batches come in 2 runs: positions count on from a run's first token into the next batch";
  CHECK(position("ROT-01:head_dim=4,batch=2,seq=5,start=7", runs, 1, 0) == 7);
  CHECK(position("ROT-01:head_dim=4,batch=3,seq=3,start=7", runs, 1, 0) == 7 + 3);
  CHECK(position("ROT-01:head_dim=4,batch=3,seq=3,start=7", runs, 1, 2) == 7 + 2);
  // Borders 0, 2, 2, 6, 12, 12 and starts 13 apart. Token 6 lies in sequence 3, and behind 2 borders that differ.
  constexpr const char* counted =
      "empty sequences are not counted: a token behind one gets an earlier sequence's value of seqlen_offsets";
  const char* packed = "ROT-01:head_dim=4,seq=20,form=cu_seqlens_and_offsets,sequences=5";
  const Call call = build_call(case_from_text(packed), oracles);
  const auto border = [&](std::int64_t i) { return integer_at(*call.cu_seqlens, i); };
  REQUIRE(border(1) == border(2));
  const auto start = [&](std::int64_t i) { return static_cast<double>(integer_at(*call.seqlen_offsets, i)); };
  CHECK(position(packed, counted, 0, border(3)) == start(2));
  CHECK(position(packed, counted, 0, 0) == start(0));
}

TEST_CASE("What a block beyond rotary_dim, another tensor's offset and another stride of axes give") {
  Oracles oracles;
  {
    const Call call =
        build_call(case_from_text("ROT-01:head_dim=16,rotary_dim=6,attention_factor=0.5,source=computed"), oracles);
    const diagnosis::Params params = diagnosis::params_of(call);
    const diagnosis::Spot spot{call, params, false, 0, 0, 0};
    const auto& h = that_says(
        "the last block of 4 pairs goes beyond rotary_dim: features there are multiplied by the attention factor");
    CHECK(h.change.pass(spot, 6, 3) == 1.5);
    CHECK(h.change.pass(spot, 7, 3) == 1.5);
    CHECK(h.change.pass(spot, 8, 3) == 3);
  }
  {
    const Call call = build_call(
        case_from_text("ROT-01:head_dim=8,rotary_dim=4,batch=2,seq=3,layout=strided,output=contiguous"), oracles);
    const diagnosis::Params params = diagnosis::params_of(call);
    const diagnosis::Spot spot{call, params, false, 1, 2, 1};
    const auto& h = that_says("pass-through features are read from the input with the output's strides");
    CHECK(h.change.index(spot, false, 3, 100) == 100);
    CHECK(h.change.index(spot, true, 5, 100) == 100);
    CHECK(h.change.index(spot, false, 5, 100) == row_offset(*call.q_out, {1, 2, 1}) + 5);
  }
  {
    const Call call =
        build_call(case_from_text("ROT-01:head_dim=8,axes=2:2,batch=2,seq=3,form=per_batch,start=5"), oracles);
    const diagnosis::Params params = diagnosis::params_of(call);
    const diagnosis::Spot spot{call, params, false, 0, 1, 0};
    const auto& h = that_says("the axis_stride of the positions is taken to be tokens * seq_stride");
    // Behind the three positions of axis 0 in batch 0 lie the positions of batch 1.
    CHECK(h.change.position(spot, 1, 0) == static_cast<long double>(token_position(call, 1, 1)[0]));
    CHECK(h.change.position(spot, 0, 0) == static_cast<long double>(token_position(call, 0, 1)[0]));
  }
}

TEST_CASE("What tiles of rows, rolled sines and a read of the next row give") {
  Oracles oracles;
  const Call call =
      build_call(case_from_text("ROT-01:head_dim=8,batch=2,seq=2,heads=3,form=per_batch,start=5"), oracles);
  const diagnosis::Params params = diagnosis::params_of(call);
  const auto& tiles =
      that_says("rows (batch, token and head) come in tiles of 4: all of one get the position of its first row");
  const auto position = [&](std::int64_t batch, std::int64_t seq, std::int64_t head) {
    return tiles.change.position({call, params, false, batch, seq, head}, 0, 0);
  };
  const auto of = [&](std::int64_t batch, std::int64_t seq) {
    return static_cast<long double>(token_position(call, batch, seq)[0]);
  };
  // Rows 3, 4 and 5 are of token 1. The second tile begins with row 4, the third with row 8, of token 0 in batch 1.
  CHECK(position(0, 1, 0) == of(0, 0));
  CHECK(position(0, 1, 2) == of(0, 1));
  CHECK(position(1, 0, 1) == of(0, 1));
  CHECK(position(1, 1, 2) == of(1, 0));

  diagnosis::Row row{{}, {1, 2, 3, 4}, {}, false};
  diagnosis::Params of_four;
  of_four.rotary_dim = 4;
  that_says("backward takes the sine of the feature rotary_dim/2 further on, in both pairings")
      .change.direct(of_four, {}, row);
  CHECK(row.sin == std::vector<double>{-3, -4, -1, -2});

  const auto& next = that_says("the row of cos for the next position is read, too");
  const auto outside_at = [&](const char* text) {
    const Call given = build_call(case_from_text(text), oracles);
    const diagnosis::Params its = diagnosis::params_of(given);
    std::optional<OutsideAccess> outside;
    next.change.beside({given, its, false, 0, 0, 0, &outside});
    return outside ? outside->element : -1;
  };
  CHECK(outside_at("ROT-01:head_dim=4,seq=1,start=2") == 6);
  CHECK(outside_at("ROT-01:head_dim=4,seq=1,start=2,spare_rows=1") == -1);
}

TEST_CASE("A mistake of one type of output is told by it, not by sizes") {
  Fake subject = with_results([](const Call& before, Call& after) {
    if (before.q_result().dtype != DType::f16) return;
    const auto halve = [&](Tensor& out) {
      replace(out, [&](const RowIndex&, std::int64_t f, double y) { return f < before.rotary_dim ? y / 2 : y; });
    };
    halve(after.in_place ? after.q : *after.q_out);
    if (after.k) halve(after.in_place ? *after.k : *after.k_out);
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

TEST_CASE("A limit that no case shows exactly keeps a diagnosis from being certain") {
  using namespace diagnosis;
  Weighed cause;
  const auto at_most = [](std::int64_t limit) {
    return Condition{{Quantity::sequence_length, Comparison::at_most, limit}};
  };
  cause.condition = at_most(1024);
  CHECK_FALSE(Rivals::has_open_limit(cause));
  cause.other_conditions = {at_most(1025)};
  CHECK_FALSE(Rivals::has_open_limit(cause));
  cause.other_conditions = {{{Circumstance::in_place}}, at_most(2000)};
  CHECK(Rivals::has_open_limit(cause));
}
