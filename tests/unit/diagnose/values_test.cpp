// Diagnoses of what becomes of special values and of results of one type.
#include <limits>

#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

namespace {

DType type_of_output(const ResultElement& e) { return e.call.q_result().dtype; }

double flushed(DType dtype, double x) {
  const double smallest_normal = smallest_subnormal(dtype) / (2 * unit_roundoff(dtype));
  return std::fabs(x) < smallest_normal ? std::copysign(0.0, x) : x;
}

void flush(Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  for (std::byte* at = tensor.bytes.begin(); at + size <= tensor.bytes.end(); at += size) {
    store(tensor.dtype, at, flushed(tensor.dtype, load(tensor.dtype, at)));
  }
}

const std::vector<std::string> special{"SPC-01"};

}  // namespace

TEST_CASE("What becomes of special values is said") {
  expect("NaN", altered([](const ResultElement& e) { return !e.key && std::isnan(e.y) ? 0 : e.y; }),
         {"NaN is replaced by 0", {}, {}, special});
  expect("infinities", altered([](const ResultElement& e) {
           const double most = type_of_output(e) == DType::f16 ? 65504.0 : 1e30;
           return !e.key && std::isinf(e.y) ? std::copysign(most, e.y) : e.y;
         }),
         {"infinities are replaced by a finite number, 1e+30", {}, {}, special});
  expect("in pass-through features", altered([](const ResultElement& e) {
           return !e.key && !e.is_rotary() && std::isinf(e.y) ? std::numeric_limits<double>::quiet_NaN() : e.y;
         }),
         {"pass-through features are not copied bit for bit: they are computed with", {}, {}, special});
  expect("one type of output", altered([](const ResultElement& e) {
           return type_of_output(e) == DType::f16 && e.is_rotary() ? e.y / 2 : e.y;
         }),
         {"the result is halved", "only an output in f16"});
}

TEST_CASE("A carry that is lost in rounding is named") {
  Fake subject = altered([](const ResultElement& e) {
    // Every result that is a power of two was rounded up to it, as far as the test can know.
    int exponent = 0;
    const bool is_narrow = type_of_output(e) == DType::f16 || type_of_output(e) == DType::bf16;
    const bool is_power = e.y != 0 && std::isfinite(e.y) && std::fabs(std::frexp(e.y, &exponent)) == 0.5;
    return is_narrow && is_power && e.is_rotary() ? e.y / 2 : e.y;
  });
  CHECK_THAT(first_of(diagnosed(subject)).sentence, Catch::Contains("the carry is lost"));
}

TEST_CASE("Results that are kept in the range of their type are told from infinities that are lost") {
  Claims claims = plain_claims();
  claims.capabilities.out_dtypes[ROPE_F32] |= ROPE_BIT(ROPE_F16);
  Fake saturates(claims, [](Call& call) {
    if (call.in_place || call.q.dtype != DType::f32 || call.q_out->dtype != DType::f16) return computed(call);
    Call wide = call;
    for (std::optional<Tensor> Call::*out : {&Call::q_out, &Call::k_out}) {
      if (wide.*out) wide.*out = Tensor::contiguous(DType::f32, (wide.*out)->shape);
    }
    const Reply reply = computed(wide);
    for (std::optional<Tensor> Call::*out : {&Call::q_out, &Call::k_out}) {
      if (!(call.*out)) continue;
      Tensor& narrow = *(call.*out);
      for_each_row(narrow, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = 0; f < narrow.shape[3]; ++f) {
          const double y = value_at(*(wide.*out), row, f);
          store(DType::f16, data + f * feature_step(narrow), std::isinf(y) ? y : std::clamp(y, -65504.0, 65504.0));
        }
      });
    }
    return reply;
  });
  CHECK(first_of(diagnosed(saturates, {"ROT-09"})).sentence ==
        "results beyond the range of f16 come out as 65504, not as infinities");
}

TEST_CASE("Subnormal entries of tables that are taken for zeros are named beside the inputs") {
  Fake subject(plain_claims(), [](Call& call) {
    const Call before = call;
    for (Tensor* tensor :
         {&call.q, call.k ? &*call.k : nullptr, call.cos ? &*call.cos : nullptr, call.sin ? &*call.sin : nullptr}) {
      if (tensor != nullptr && tensor->dtype == DType::f16) flush(*tensor);
    }
    const Reply reply = computed(call);
    if (reply.status != ROPE_OK) return reply;
    const auto copy_others = [&](const Tensor& in, Tensor& out) {
      for_each_row(out, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = before.rotary_dim; f < out.shape[3]; ++f) {
          store(out.dtype, data + f * feature_step(out), value_at(in, row, f));
        }
      });
    };
    copy_others(before.q, q_of(call));
    if (call.k) copy_others(*before.k, k_of(call));
    if (!call.in_place) call.q = before.q, call.k = before.k;
    call.cos = before.cos;
    call.sin = before.sin;
    return reply;
  });
  CHECK(first_of(diagnosed(subject, {"ANG-01", "SPC-04"})).sentence ==
        "subnormal inputs and entries of tables are taken for zeros");
}
