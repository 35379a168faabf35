// More mistakes of kernels by other hands: what they keep, how they walk over sequences, where ramps end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "reference/scaling/yarn.hpp"
#include "tests/unit/diagnose/subjects.hpp"
#include "tools/judge/case/build_call.hpp"

using namespace rope;
using namespace rope::test;

namespace {

using TokenPosition = std::function<std::int64_t(const Call&, std::int64_t batch, std::int64_t seq)>;

// Gives every token of the call a position of its own, in the place of an offset or of sequences.
void give_positions(Call& call, const TokenPosition& of) {
  const std::int64_t batches = call.q.shape[0], tokens = call.q.shape[1];
  Tensor p = Tensor::contiguous(DType::i64, {1, batches, tokens});
  for (std::int64_t b = 0; b < batches; ++b) {
    for (std::int64_t s = 0; s < tokens; ++s) store_integer(p, b * tokens + s, of(call, b, s));
  }
  call.positions = p;
  call.axes = 1;
  call.axis.reset();
  call.seqlen_offsets.reset();
  call.cu_seqlens.reset();
}

std::int64_t border(const Call& call, std::int64_t i) { return integer_at(*call.cu_seqlens, i); }

std::int64_t position_in(const Call& call, std::int64_t sequence, std::int64_t seq) {
  const std::int64_t start =
      call.seqlen_offsets ? integer_at(*call.seqlen_offsets, sequence) : call.position_offset;
  return start + seq - border(call, sequence);
}

// The sequence of a token, for a kernel that goes on by at most one sequence at each token.
std::int64_t walked_to(const Call& call, std::int64_t seq, bool only_at_borders) {
  std::int64_t i = 0;
  for (std::int64_t s = 0; s <= seq; ++s) {
    if (i + 1 >= call.sequences()) continue;
    if (only_at_borders ? s == border(call, i + 1) : s >= border(call, i + 1)) ++i;
  }
  return i;
}

// A kernel that finds the sequence of each token of a packed row by `sequence_of`.
Fake in_sequences(std::function<std::int64_t(const Call&, std::int64_t seq)> sequence_of) {
  return misled([sequence_of = std::move(sequence_of)](Call& call) {
    if (!call.cu_seqlens) return;
    give_positions(call, [&](const Call& given, std::int64_t, std::int64_t seq) {
      return position_in(given, sequence_of(given, seq), seq);
    });
  });
}

// Replaces every special result of q by what `edit` makes of it.
Fake that_edits(double (*edit)(DType, double)) {
  const std::shared_ptr<Fake> whole(new Fake(misled([](Call&) {})));
  return Fake(whole->claims(), [whole, edit](Call& call) {
    const Reply reply = whole->apply(call);
    if (reply.status != ROPE_OK) return reply;
    Tensor& out = call.in_place ? call.q : *call.q_out;
    for_each_row(out, [&](const RowIndex&, std::byte* data) {
      for (std::int64_t f = 0; f < out.shape[3]; ++f) {
        std::byte* element = data + f * out.strides[3] * static_cast<std::int64_t>(size_of(out.dtype));
        const double y = load(out.dtype, element);
        if (!std::isfinite(y)) store(out.dtype, element, edit(out.dtype, y));
      }
    });
    return reply;
  });
}

}  // namespace

TEST_CASE("What becomes of tokens behind an empty sequence is told apart") {
  Fake stuck = in_sequences([](const Call& call, std::int64_t seq) { return walked_to(call, seq, true); });
  CHECK(first_of(diagnosed(stuck, {"ROT-01", "POS-07"})).sentence ==
        "an empty sequence is never left: the tokens behind it are counted on in it");
  Fake late = in_sequences([](const Call& call, std::int64_t seq) { return walked_to(call, seq, false); });
  CHECK(first_of(diagnosed(late, {"ROT-01", "POS-07"})).sentence ==
        "each token leaves one sequence at most: behind an empty one, the next token is late");
  Fake uncounted = in_sequences([](const Call& call, std::int64_t seq) {
    std::int64_t borders = 0;
    for (std::int64_t i = 1; i < call.sequences(); ++i) {
      borders += border(call, i) <= seq && (i == 1 || border(call, i) != border(call, i - 1)) ? 1 : 0;
    }
    return borders;
  });
  CHECK(
      first_of(diagnosed(uncounted, {"ROT-01", "POS-07"})).sentence ==
      "empty sequences are not counted: a token behind one gets the start and the first token of an earlier sequence");
}

TEST_CASE("A length that is kept from an earlier call is named") {
  const auto kept = [](std::function<std::int64_t(std::int64_t kept, std::int64_t own)> next, bool compiled = true) {
    auto length = std::make_shared<std::int64_t>(0);
    Fake subject = misled(
        [=](Call& call) {
          if (!std::holds_alternative<scaling::Dynamic>(call.scaling)) return;
          *length = next(*length, call.sequence_length);
          call.sequence_length = *length;
        },
        compiled);
    subject.forget = [=] { *length = 0; };
    return first_of(diagnosed(subject, {"ROT-01", "ANG-04", "STA-01"})).sentence;
  };
  CHECK(kept([](std::int64_t longest, std::int64_t own) { return std::max(longest, own); }) ==
        "dynamic: the longest sequence_length of all calls so far is used, not this call's");
  const auto first = [](std::int64_t of_first, std::int64_t own) { return of_first == 0 ? own : of_first; };
  // Where processes start slowly, the calls that spoiled the case are not looked for.
  for (const bool compiled : {true, false}) {
    CHECK(kept(first, compiled) == "dynamic: the sequence_length of the first call is used, not this call's");
  }
}

TEST_CASE("Frequencies whose wavelengths are mixed are named") {
  scaling::Llama3 rule;
  rule.factor = 4;
  diagnosis::Params params;
  params.rotary_dim = 4;
  params.source = AngleSource::computed;
  params.scaling = rule;
  const Call call;
  const auto plain = scaling::unscaled<long double>(params.base, params.rotary_dim);
  const auto changed = [&](long double weight) {
    std::vector<long double> theta = plain;
    for (long double& each : theta) each *= weight + (1 - weight) / 4;
    that_says("llama3: between its limits, wavelengths are mixed, not frequencies").change.theta({call, params}, theta);
    return static_cast<double>(theta[1] / plain[1]);
  };
  CHECK(changed(1) == Approx(1));
  CHECK(changed(0) == Approx(0.25));
  CHECK(changed(0.5) == Approx(1 / 2.5));  // half of a wavelength and half of one four times as long
}

TEST_CASE("A rule that counts the call's tokens is told from one that is ignored") {
  Fake subject = misled([](Call& call) {
    if (std::holds_alternative<scaling::Dynamic>(call.scaling)) call.sequence_length = call.q.shape[1];
  });
  const auto found = diagnosed(subject, {"ANG-04"});
  CHECK(first_of(found).sentence == "dynamic: the number of tokens in the call is used as the sequence length");
}

TEST_CASE("An attention factor that is rounded with the tables changes only calls that have both") {
  const diagnosis::Hypothesis& h = that_says(
      "the attention factor multiplies cos and sin, and the products are rounded to the type of the tables");
  Call call;
  call.cos = Tensor::contiguous(DType::f16, {1, 1});
  call.attention_factor = 0.7;
  CHECK(h.applies(call));
  diagnosis::Params params;
  h.change.params(call, params);
  CHECK(params.lambda == 1);
  diagnosis::Row row{{0.3}, {0.4}, {0}, false};
  h.change.row({call, params}, {}, row);
  CHECK(row.cos[0] == diagnosis::rounded(DType::f16, 0.7 * 0.3));
  CHECK(row.sin[0] == diagnosis::rounded(DType::f16, 0.7 * 0.4));
  call.attention_factor = 1;
  CHECK_FALSE(h.applies(call));
  call.attention_factor = 0.7;
  call.cos->dtype = DType::f64;
  CHECK_FALSE(h.applies(call));
}

TEST_CASE("Tokens at position 0 are left as they are only where there is a factor") {
  const diagnosis::Hypothesis& h =
      that_says("tokens at position 0 are left as they are, and not multiplied by the attention factor");
  Call call;
  call.q = Tensor::contiguous(DType::f32, {1, 2, 1, 4});
  CHECK_FALSE(h.applies(call));
  call.attention_factor = 0.5;
  CHECK(h.applies(call));
  const diagnosis::Params params;
  diagnosis::Spot spot{call, params};
  CHECK(h.change.write(spot) == diagnosis::Write::copied);
  spot.seq = 1;
  CHECK(h.change.write(spot) == diagnosis::Write::rotated);
}

TEST_CASE("A ramp of yarn that is never narrower than a pair is told apart where its ends meet") {
  scaling::Yarn rule;
  rule.factor = 8;
  rule.original_max_position_embeddings = 4096;
  rule.truncate = false;
  rule.beta_fast = rule.beta_slow = 4;
  diagnosis::Params params;
  params.rotary_dim = params.head_dim = 64;
  params.source = AngleSource::computed;
  params.scaling = rule;
  const Call call;
  const auto plain = scaling::unscaled<long double>(params.base, 64);
  const auto between = [&](const std::string& sentence) {
    std::vector<long double> theta(32);
    that_says(sentence).change.theta({call, params}, theta);
    std::int64_t count = 0;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      count += theta[p] < plain[p] * 0.999L && theta[p] > plain[p] / 8 * 1.001L ? 1 : 0;
    }
    return count;
  };
  CHECK(between("yarn: the ramp is at least one pair wide") == 1);
  CHECK(between("yarn: the ends of the ramp are computed with base 10000, not the given one") == 0);
}

TEST_CASE("Ends of yarn's ramp by another base are named, and only there") {
  scaling::Yarn rule;
  rule.factor = 8;
  rule.original_max_position_embeddings = 4096;
  diagnosis::Params params;
  params.rotary_dim = params.head_dim = 64;
  params.source = AngleSource::computed;
  params.scaling = rule;
  const Call call;
  const auto theta_of = [&](double base) {
    params.base = base;
    std::vector<long double> theta(32);
    that_says("yarn: the ends of the ramp are computed with base 10000, not the given one")
        .change.theta({call, params}, theta);
    return theta;
  };
  // The share of the plain frequency, by pair, does not depend on the base.
  const auto of_default = theta_of(10000), of_other = theta_of(500000);
  const auto plain = scaling::unscaled<long double>(10000, 64), other = scaling::unscaled<long double>(500000, 64);
  for (std::size_t p = 0; p < plain.size(); ++p) {
    CHECK(static_cast<double>(of_default[p] / plain[p]) == Approx(static_cast<double>(of_other[p] / other[p])));
  }
  // With the base 10000 it is the rule itself.
  const auto right = rule.theta<long double>({.head_dim = 64, .rotary_dim = 64, .base = 10000, .sequence_length = 1});
  for (std::size_t p = 0; p < plain.size(); ++p) {
    CHECK(static_cast<double>(of_default[p]) == Approx(static_cast<double>(right[p])));
  }
}

TEST_CASE("A batch_stride of positions that is computed from the seq_stride is named") {
  Oracles oracles;
  Call call = build_call(case_from_text("ROT-01:head_dim=4,batch=2,seq=3,form=shared"), oracles);
  REQUIRE(call.positions);
  Tensor& p = *call.positions = Tensor::contiguous(DType::i64, {16});
  p.shape = {1, 2, 3};
  p.strides = {16, 8, 2};
  for (std::int64_t i = 0; i < 16; ++i) store_integer(p, i, 100 + i);
  const diagnosis::Params params = diagnosis::params_of(call);
  const auto& h = that_says("the batch_stride of the positions is taken to be tokens * seq_stride");
  CHECK(h.change.position({call, params, false, 1, 1, 0}, 0, 110) == 108);  // element (3 + 1) * 2
  CHECK(h.change.position({call, params, false, 0, 2, 0}, 0, 104) == 104);
}

TEST_CASE("What is not rotated in calls with one token is not called a token's index") {
  Fake subject = misled([](Call& call) {
    if (call.q.shape[0] < 2 || call.q.shape[1] != 1 || call.positions) return;
    const bool in_sequences = call.seqlen_offsets || call.cu_seqlens;
    if (in_sequences) return;
    give_positions(call, [](const Call& given, std::int64_t batch, std::int64_t) {
      return batch == 0 ? given.position_offset : 0;
    });
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "POS-01", "POS-02"})).sentence ==
        "the position is always 0: nothing is rotated");
}

TEST_CASE("What becomes of special values is said") {
  Fake zeroed = that_edits([](DType, double y) { return std::isnan(y) ? 0 : y; });
  CHECK(first_of(diagnosed(zeroed, {"SPC-01"})).sentence == "NaN is replaced by 0");
  Fake clipped = that_edits([](DType dtype, double y) {
    return std::isinf(y) ? std::copysign(dtype == DType::f16 ? 65504.0 : 1e30, y) : y;
  });
  CHECK_THAT(first_of(diagnosed(clipped, {"SPC-01"})).sentence,
             Catch::Contains("infinities are replaced by a finite number"));
}

TEST_CASE("Results that are kept in the range of their type are told from infinities that are lost") {
  const std::shared_ptr<Fake> whole(new Fake(misled([](Call&) {})));
  Claims claims = whole->claims();
  claims.capabilities.out_dtypes[ROPE_F32] |= ROPE_BIT(ROPE_F16);
  Fake saturates(claims, [whole](Call& call) {
    if (call.in_place || call.q.dtype != DType::f32 || call.q_out->dtype != DType::f16) return whole->apply(call);
    Call wide = call;
    for (std::optional<Tensor> Call::*out : {&Call::q_out, &Call::k_out}) {
      if (wide.*out) wide.*out = Tensor::contiguous(DType::f32, (wide.*out)->shape);
    }
    const Reply reply = whole->apply(wide);
    for (std::optional<Tensor> Call::*out : {&Call::q_out, &Call::k_out}) {
      if (!(call.*out)) continue;
      Tensor& narrow = *(call.*out);
      for_each_row(narrow, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = 0; f < narrow.shape[3]; ++f) {
          const double y = value_at(*(wide.*out), row, f);
          store(DType::f16, data + f * narrow.strides[3] * 2, std::isinf(y) ? y : std::clamp(y, -65504.0, 65504.0));
        }
      });
    }
    return reply;
  });
  CHECK(first_of(diagnosed(saturates, {"ROT-09"})).sentence ==
        "results beyond the range of f16 come out as 65504, not as infinities");
}

TEST_CASE("What a kept table is kept for is said where one change of the earlier call tells") {
  // Keeps the position_offset of the first call of each length.
  std::map<std::int64_t, std::int64_t> kept;
  Fake by_length = misled([&](Call& call) {
    if (!counts_from_offset(call) || call.source == AngleSource::tables) return;
    call.position_offset = kept.try_emplace(call.q.shape[1], call.position_offset).first->second;
  });
  by_length.forget = [&] { kept.clear(); };
  CHECK(first_of(diagnosed(by_length, {"ROT-01", "STA-01", "STA-02"})).sentence ==
        "the positions of an earlier call are used, not this call's");
}

TEST_CASE("Pass-through features that are computed with are named") {
  const std::shared_ptr<Fake> whole(new Fake(misled([](Call&) {})));
  Fake subject(whole->claims(), [whole](Call& call) {
    const Reply reply = whole->apply(call);
    if (reply.status != ROPE_OK) return reply;
    Tensor& out = call.in_place ? call.q : *call.q_out;
    for_each_row(out, [&](const RowIndex&, std::byte* data) {
      for (std::int64_t f = call.rotary_dim; f < out.shape[3]; ++f) {
        std::byte* element = data + f * out.strides[3] * static_cast<std::int64_t>(size_of(out.dtype));
        const double y = load(out.dtype, element);
        if (std::isinf(y)) store(out.dtype, element, std::numeric_limits<double>::quiet_NaN());
      }
    });
    return reply;
  });
  CHECK_THAT(first_of(diagnosed(subject, {"SPC-01"})).sentence,
             Catch::Contains("pass-through features are not copied bit for bit"));
}
