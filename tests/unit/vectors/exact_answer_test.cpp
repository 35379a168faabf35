#include "tools/vectors/exact_answer.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "tools/judge/call/tensor_walk.hpp"
#include "tools/judge/case/random_case.hpp"
#include "tools/judge/run/examiner.hpp"
#include "tools/vectors/export.hpp"

namespace rope {
namespace {

using vectors::ExactAnswer;

// Answers exactly, plus `times` the bound in each element of q.
class OffBy : public Subject {
 public:
  OffBy(const Case& c, Oracles& oracles, double times) : c_(c), oracles_(oracles), times_(times) {}
  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override {
    const ExactAnswer exact = vectors::answer_exactly(call, c_, oracles_);
    std::size_t i = 0;
    Tensor& out = *call.q_out;
    for_each_row(out, [&](const RowIndex&, std::byte* data) {
      for (std::int64_t j = 0; j < out.shape[3]; ++j, ++i) {
        if (times_ == 0 || exact.q.bound[i] == 0) continue;
        store(out.dtype, data + j * static_cast<std::int64_t>(size_of(out.dtype)),
              exact.q.value[i] + times_ * exact.q.bound[i]);
      }
    });
    return {};
  }

 private:
  std::string name_ = "off by";
  Claims claims_ = vectors::claims_of_files();
  const Case& c_;
  Oracles& oracles_;
  double times_;
};

Finding accuracy(const Case& c, double times) {
  Oracles oracles;
  OffBy subject(c, oracles, times);
  return Examiner(subject, oracles, nullptr).accuracy(c);
}

TEST_CASE("exact answer: it is within every bound, in whatever way a call is made") {
  const Claims claims = vectors::claims_of_files();
  rc::Random random(7);
  for (int i = 0; i < 200; ++i) {
    const std::optional<Case> c = random_case(random, claims, 100'000, [](Case&) {});
    REQUIRE(c);
    CAPTURE(to_text(*c));
    const Finding finding = accuracy(*c, 0);
    CHECK(finding.passed());
    CHECK(finding.use < 1);
  }
}

TEST_CASE("exact answer: its bound is the one that decides") {
  Case c;
  c.spec.head_dim = 16;
  c.spec.rotary_dim = 8;  // with features that are copied
  c.start = 100;
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
      c.source = source;
      c.dtype = dtype;
      c.out_dtype = DType::f64;  // wide enough not to round the added part away
      CAPTURE(to_text(c));
      CHECK(accuracy(c, 0.9).passed());
      CHECK(accuracy(c, -0.9).passed());
      CHECK_FALSE(accuracy(c, 1.1).passed());
      CHECK_FALSE(accuracy(c, -1.1).passed());
    }
  }
}

TEST_CASE("exact answer: a call that a check changed is answered by its own contents") {
  Oracles oracles;
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.source = AngleSource::computed;
  c.start = 5;
  Case other = c;
  other.spec.base = 500000;
  other.spec.pairing = Pairing::interleaved;
  other.spec.attention_factor = 0.5;
  Call own = build_call(other, oracles);
  Call derived = build_call(other, oracles);
  vectors::answer_exactly(own, other, oracles);
  vectors::answer_exactly(derived, c, oracles);
  CHECK(own.q_out->bytes == derived.q_out->bytes);
}

TEST_CASE("exact answer: a NaN has the same bits on every processor") {
  Oracles oracles;
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.dtype = c.out_dtype = DType::f64;
  c.seq = c.heads = 1;
  Call call = build_call(c, oracles);
  const double infinities[] = {INFINITY, INFINITY, -INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, -INFINITY};
  std::memcpy(call.q.data(), infinities, sizeof infinities);
  int count = 0;
  for (const double y : vectors::answer_exactly(call, c, oracles).q.value) {
    if (!std::isnan(y)) continue;
    ++count;
    CHECK(std::bit_cast<std::uint64_t>(y) == 0x7ff8000000000000);
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace rope
