// Mistakes of kernels by other hands, which the diagnosis called otherwise.
#include <cmath>

#include "tests/unit/diagnose/loops.hpp"
#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/hypothesis.hpp"
#include "tools/diagnose/other_evidence.hpp"
#include "tools/judge/case/build_call.hpp"

using namespace rope;
using namespace rope::test;

namespace {

template <class Rule>
Fake with_rule(std::function<void(Call&, Rule&)> change) {
  return misled([change = std::move(change)](Call& call) {
    if (auto* rule = std::get_if<Rule>(&call.scaling); rule != nullptr && call.source == AngleSource::computed) {
      change(call, *rule);
    }
  });
}

// Each row of positions whose last is the first plus the number of tokens less one is taken to be consecutive.
void count_on(Call& call) {
  if (!call.positions) return;
  Tensor& p = *call.positions;
  const std::int64_t tokens = p.shape[2];
  for (std::int64_t axis = 0; axis < p.shape[0]; ++axis) {
    for (std::int64_t row = 0; row < p.shape[1] && tokens > 0; ++row) {
      const auto token = [&](std::int64_t s) { return axis * p.strides[0] + row * p.strides[1] + s * p.strides[2]; };
      const std::int64_t from = integer_at(p, token(0));
      if (integer_at(p, token(tokens - 1)) - from != tokens - 1) continue;
      for (std::int64_t s = 0; s < tokens; ++s) store_integer(p, token(s), from + s);
    }
  }
}

// Each token keeps the positions of the token before while the first axis has the same one.
void keep_rows(Call& call) {
  if (!call.positions || call.positions->shape[0] < 2) return;
  Tensor& p = *call.positions;
  for (std::int64_t row = 0; row < p.shape[1]; ++row) {
    for (std::int64_t s = 1; s < p.shape[2]; ++s) {
      const auto at = [&](std::int64_t axis, std::int64_t token) {
        return axis * p.strides[0] + row * p.strides[1] + token * p.strides[2];
      };
      if (integer_at(p, at(0, s)) != integer_at(p, at(0, s - 1))) continue;
      for (std::int64_t axis = 1; axis < p.shape[0]; ++axis) {
        store_integer(p, at(axis, s), integer_at(p, at(axis, s - 1)));
      }
    }
  }
}

// Replaces every element of q's and k's results by what `edit` makes of it.
void edit_results(Call& call, const std::function<double(DType, int feature, double result)>& edit) {
  const auto of = [&](Tensor& out) {
    for_each_row(out, [&](const RowIndex&, std::byte* data) {
      for (std::int64_t f = 0; f < out.shape[3]; ++f) {
        std::byte* element = data + f * out.strides[3] * static_cast<std::int64_t>(size_of(out.dtype));
        store(out.dtype, element, edit(out.dtype, static_cast<int>(f), load(out.dtype, element)));
      }
    });
  };
  of(q_of(call));
  if (call.k) of(k_of(call));
}

}  // namespace

TEST_CASE("Of two causes that fit alike, a case beyond the first tokens tells the right one") {
  Fake subject = with_rule<scaling::LongRope>(
      [](Call& call, scaling::LongRope&) { call.sequence_length = diagnosis::largest_position(call) + 1; });
  const auto found = diagnosed(subject, {"ANG-04", "MEM-01"});
  CHECK(first_of(found).sentence ==
        "longrope: the largest position of the call plus one is used as the sequence length");
  CHECK(found->certain);
  // Beside the cause of one rule, the same of several is not listed.
  for (const Candidate& c : found->candidates) CHECK_THAT(c.sentence, !Catch::Contains("dynamic and longrope"));
}

TEST_CASE("A mistake in what several rules share is named for all of them") {
  Fake lengths = misled([](Call& call) {
    if (original_length(call.scaling) > 0) call.sequence_length = diagnosis::largest_position(call) + 1;
  });
  const auto found = diagnosed(lengths, {"ANG-04", "MEM-01"});
  CHECK(first_of(found).sentence ==
        "dynamic and longrope: the largest position of the call plus one is used as the sequence length");
  CHECK(found->certain);

  Fake exponents = misled([](Call& call) {
    const double dim = static_cast<double>(call.q.shape[3]), ratio = dim / (dim - 2);
    double stretch = 1;
    if (const auto* ntk = std::get_if<scaling::Ntk>(&call.scaling)) {
      stretch = ntk->factor;
    } else if (const auto* dynamic = std::get_if<scaling::Dynamic>(&call.scaling)) {
      const double length = static_cast<double>(call.sequence_length);
      const double original = dynamic->original_max_position_embeddings;
      if (length > original) stretch = dynamic->factor * length / original - (dynamic->factor - 1);
    } else {
      return;
    }
    if (call.source != AngleSource::computed || dim <= 2) return;
    call.base *= std::pow(stretch, ratio);
    call.scaling = scaling::None{};
  });
  CHECK(first_of(diagnosed(exponents, {"ROT-01", "ANG-04"})).sentence ==
        "ntk and dynamic: the exponent of the factor uses head_dim, not rotary_dim");
}

TEST_CASE("What is wrong only of sin is named so") {
  Loops loops;
  loops.at = [](std::int64_t position, double theta) {
    const auto m = static_cast<double>(position);
    return Loops::Turn{std::cos(m * theta), std::sin((m + 1) * theta)};
  };
  CHECK(said_of(loops) == "position p + 1 is used, not p; in sin, while cos is right");
}

TEST_CASE("Features that follow the axes of the other pairing's pairs are found") {
  Fake subject(misled([](Call&) {}).claims(), [](Call& call) {
    const Call before = call;
    const Reply reply = computed(call);
    const bool plain = call.source == AngleSource::computed && std::holds_alternative<scaling::None>(call.scaling);
    if (reply.status != ROPE_OK || !plain || !call.axis || call.pairing == Pairing::half_split ||
        call.direction == Direction::backward) {
      return reply;
    }
    const int half = static_cast<int>(call.rotary_dim) / 2;
    const auto turn = [&](const Tensor& in, Tensor& out) {
      for_each_row(in, [&](const RowIndex& row, const std::byte* x) {
        const std::vector<std::int64_t> at = token_position(before, row.batch, row.seq);
        const auto value = [&](int f) { return load(in.dtype, x + f * feature_step(in)); };
        const auto angle = [&](int f) {
          const auto axis = static_cast<std::size_t>(integer_at(*before.axis, f % half));
          return static_cast<double>(at[axis]) * std::pow(call.base, -2.0 * (f / 2) / call.rotary_dim);
        };
        std::byte* y = row_data(out, row);
        for (int f = 0; f < 2 * half; ++f) {
          const double across = f % 2 == 0 ? -value(f + 1) : value(f - 1);
          const double turned = call.attention_factor * (value(f) * std::cos(angle(f)) + across * std::sin(angle(f)));
          store(out.dtype, y + f * feature_step(out), turned);
        }
      });
    };
    turn(before.q, q_of(call));
    if (call.k) turn(*before.k, k_of(call));
    return reply;
  });
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-07"})).sentence ==
        "each feature follows the axis of the pair that it would belong to in the other pairing, half_split or "
        "interleaved");
}

TEST_CASE("A result that is read again too early in the pairs left over from blocks is found") {
  const auto said = [](int block) {
    Loops loops;
    loops.turn_row = [block](const RowToTurn& row) {
      const auto whole = row.half() / static_cast<std::size_t>(block) * static_cast<std::size_t>(block);
      for (std::size_t p = 0; p < row.half(); ++p) {
        if (p < whole) {
          row.turn(p, p + row.half(), p);
        } else {
          row.out[p] = static_cast<float>(row.in[p] * row.cos[p] - row.in[p + row.half()] * row.sin[p]);
          row.out[p + row.half()] = static_cast<float>(row.in[p + row.half()] * row.cos[p] + row.in[p] * row.sin[p]);
        }
      }
    };
    Fake kernel = loops.kernel();
    return diagnosed(kernel, {"ROT-01", "MEM-04"});
  };
  const auto of_eight = said(8);
  CHECK(with_condition(of_eight) ==
        "the second result is made from the first one that was just written, only pairs left over from blocks of 8, in "
        "place");
  CHECK(of_eight->certain);
}

TEST_CASE("A cause whose condition leaves wrong rows out is not certain, however well it fits") {
  const auto said = [](bool has_other_fault) {
    Claims claims = narrow_claims();
    claims.capabilities.features |= ROPE_BIT(ROPE_FEATURE_IN_PLACE);
    Fake subject(claims, [=](Call& call) {
      const bool is_other = has_other_fault && !call.in_place && call.q.shape[3] == 96 && call.q.shape[1] > 3;
      if (call.in_place) ++call.position_offset;
      const Reply reply = right(call);
      if (call.in_place) --call.position_offset;
      if (is_other && reply.status == ROPE_OK) {  // one row of many
        std::byte* last = row_data(*call.q_out, {call.q.shape[0] - 1, call.q.shape[1] - 1, call.q.shape[2] - 1});
        for (int f = 0; f < 96; ++f) {
          std::byte* element = last + f * feature_step(*call.q_out);
          store(DType::f32, element, load(DType::f32, element) + 0.1 * (f % 5));
        }
      }
      return reply;
    });
    return diagnosed(subject, {"ROT-01"});
  };
  for (const bool has_other_fault : {false, true}) {
    const auto found = said(has_other_fault);
    CHECK(first_of(found).sentence == "position p + 1 is used, not p");
    CHECK(first_of(found).condition == "only in place");
    CHECK(first_of(found).fit > 0.9);
    CHECK(found->certain == !has_other_fault);
  }
}

TEST_CASE("A call that changes what the next one uses is called state, not a race") {
  int factors = 0;
  Fake whole = misled([](Call&) {});
  Fake subject(whole.claims(), [&](Call& call) {
    const Reply reply = whole.apply(call);
    if (reply.status != ROPE_OK || call.attention_factor == 1) return reply;
    ++factors;
    edit_results(call, [&](DType, int, double y) { return y * (1 + factors % 5); });
    return reply;
  });
  subject.forget = [&] { factors = 0; };
  const auto found = diagnosed(subject, {"ROT-01", "ANG-05"});
  CHECK(first_of(found).sentence == diagnosis::changed_by_each_call);
  CHECK(first_of(found).bug_class == BugClass::table_cache);
  // Without a new process to try, nobody can tell.
  subject.forget = nullptr;
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-05"})).sentence == diagnosis::different_each_time);
}

TEST_CASE("Rows that are kept while one axis stands still are not called a tile's") {
  Fake subject = misled(keep_rows);
  const auto found = diagnosed(subject);
  CHECK_THAT(first_of(found).sentence,
             Catch::Contains("the row of the token before is kept while the position on axis 0 is the same"));
}

TEST_CASE("A wrong cause that fits the cases seen by chance is not certain") {
  // One of three tokens is turned twice as far, which no hypothesis says.
  Fake subject = misled([](Call& call) {
    if (!call.positions) return;
    Tensor& p = *call.positions;
    for (std::int64_t s = 0; s < p.shape[2]; s += 3) {
      const std::int64_t at = s * p.strides[2];
      if (!call.cos) store_integer(p, at, integer_at(p, at) * 3 / 2);
    }
  });
  CHECK_FALSE(diagnosed(subject)->certain);
}

TEST_CASE("A carry that is lost in rounding is named") {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  Fake subject(claims, [](Call& call) {
    const Reply reply = computed(call);
    // Every result that is a power of two was rounded up to it, as far as the test can know.
    edit_results(call, [&](DType dtype, int feature, double y) {
      int exponent = 0;
      const bool is_narrow = dtype == DType::f16 || dtype == DType::bf16;
      const bool is_power = y != 0 && std::isfinite(y) && std::fabs(std::frexp(y, &exponent)) == 0.5;
      return is_narrow && is_power && feature < call.rotary_dim ? y / 2 : y;
    });
    return reply;
  });
  CHECK_THAT(first_of(diagnosed(subject)).sentence, Catch::Contains("the carry is lost"));
}

TEST_CASE("A row index of k that is divided by the heads of q is named, over all batches") {
  for (const diagnosis::Hypothesis& h : diagnosis::all_hypotheses()) {
    if (!h.sentence.starts_with("in k, the row index counted over all batches is divided by")) continue;
    Case c = case_from_text("ROT-01:head_dim=4,batch=2,seq=3,heads=4,key_heads=2,start=10");
    Oracles oracles;
    const Call call = build_call(c, oracles);
    const diagnosis::Params params = diagnosis::params_of(call);
    // Row (1, 2, 1) of k is row 11; 11 / 4 is token 2 of batch 0.
    CHECK(h.change.position({call, params, true, 1, 2, 1}, 0, 12) == 12);
    CHECK(h.change.position({call, params, true, 1, 0, 0}, 0, 10) == 11);
    CHECK(h.change.position({call, params, false, 1, 0, 0}, 0, 10) == 10);
    return;
  }
  FAIL("no such hypothesis");
}

TEST_CASE("A flag of yarn that is ignored is not called inverted, though one of its values was seen") {
  Fake clamped = with_rule<scaling::Yarn>([](Call&, scaling::Yarn& rule) { rule.clamp = scaling::Yarn::Clamp::pairs; });
  CHECK(first_of(diagnosed(clamped, {"ANG-04", "ROT-01"})).sentence ==
        "yarn: the flag yarn_clamp_pairs is ignored: the upper end is always at most rotary_dim/2 - 1");
  Fake subject = with_rule<scaling::Yarn>([](Call&, scaling::Yarn& rule) { rule.truncate = true; });
  const auto found = diagnosed(subject, {"ANG-04", "ROT-01"});
  CHECK(first_of(found).sentence == "yarn: the flag yarn_truncate is ignored: the ramp's ends are always whole pairs");
  for (const diagnosis::Hypothesis& h : diagnosis::all_hypotheses()) {
    if (h.sentence != first_of(found).sentence) continue;
    for (const bool given : {true, false}) {
      scaling::Yarn rule;
      rule.truncate = given;
      diagnosis::Params params;
      params.scaling = rule;
      h.change.params(Call{}, params);
      CHECK(std::get<scaling::Yarn>(params.scaling).truncate);  // an inverted flag would be false where it is given
    }
  }
}

TEST_CASE("The number of pairs of the proportional rule may be rounded wrongly") {
  Fake subject = with_rule<scaling::Proportional>([](Call& call, scaling::Proportional& rule) {
    const double pairs = static_cast<double>(call.q.shape[3]) / 2;
    rule.proportion = std::min((std::round(rule.proportion * pairs) + 0.5) / pairs, 1.0);
  });
  CHECK(first_of(diagnosed(subject, {"ANG-04", "ROT-01"})).sentence ==
        "proportional: the number of pairs that turn is rounded to nearest, not down");
}

TEST_CASE("Positions that end as if they counted on are not called a tile's") {
  Fake subject = misled(count_on);
  CHECK(first_of(diagnosed(subject, {"ROT-01", "POS-03"})).sentence ==
        "positions are taken to count on from the first if the last is as far away as then, whatever lies between");
}

TEST_CASE("A read past the end that other calls do not make has a condition") {
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;
  Fake subject(claims, [](Call& call) {
    if (call.positions && call.q.shape[0] > 1 && call.positions->strides[1] == 0 && call.positions->count() > 0) {
      const std::int64_t count = call.positions->shape[2] * call.positions->strides[2];
      return Reply{ReplyKind::misbehaved, ROPE_FAILED, "read past the end of positions", 0,
                   OutsideAccess{"positions", false, count}};
    }
    return computed(call);
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).condition == "only positions shared by the batches, several batches");
}
