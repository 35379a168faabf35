#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

using Catch::Contains;

std::string refusal(const std::string& text) {
  try {
    case_from_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST_CASE("the text of a case reads as the same case", "[case_text]") {
  rc::prop("for random cases", [] {
    Case c = test::any_case();
    if (!c.spec.axes.sections.empty() && c.spec.axes.order == AxisLayout::Order::chunked) {
      c.spec.axes.restart = test::coin();
    }
    c.tool = test::any_of({SanitizerTool::none, SanitizerTool::memcheck, SanitizerTool::initcheck});
    if (test::coin()) c.golden = "huggingface/llama/yarn-f32";
    const std::string text = to_text(c);
    RC_LOG() << text;
    RC_ASSERT(case_from_text(text) == c);
  });
}

TEST_CASE("numbers with an exponent survive", "[case_text]") {
  Case c;
  c.requirement = "ANG-01";
  c.spec.scaling = scaling::Dynamic{{}, 1e21, 1e16};
  c.spec.base = 1e22;
  c.spec.attention_factor = 1e-7;
  CHECK(case_from_text(to_text(c)) == c);
}

TEST_CASE("a default case's text is only its requirement, and other fields are named", "[case_text]") {
  Case c;
  c.requirement = "ROT-01";
  CHECK(to_text(c) == "ROT-01:");
  CHECK(case_from_text("ROT-01:") == c);
  c.spec.head_dim = c.spec.rotary_dim = 64;
  c.dtype = DType::bf16;
  c.in_place = true;
  CHECK(to_text(c) == "ROT-01:head_dim=64,dtype=bf16,in_place=1");
  CHECK(case_from_text("ROT-01:head_dim=64,rotary_dim=32").spec.rotary_dim == 32);
  const Case scaled = case_from_text("ANG-01:scaling=linear+factor=2");
  CHECK(std::get<scaling::Linear>(scaled.spec.scaling).factor == 2);
}

TEST_CASE("calls before the case's own are written as dtype, tokens and first position", "[case_text]") {
  Case c;
  c.requirement = "STA-02";
  c.before = {{DType::f32, 3, 0}, {DType::bf16, 300, 5000}};
  CHECK(to_text(c) == "STA-02:before=f32:3:0+bf16:300:5000");
  CHECK(case_from_text(to_text(c)) == c);
  CHECK_THAT(refusal("STA-02:before=bf16"), Contains("before: \"bf16\" is not a call before; expected DTYPE:TOKENS"));
  CHECK_THAT(refusal("STA-02:before=bf16:3:0:1"), Contains("is not a call before"));
  CHECK_THAT(refusal("STA-02:before=f8:3:0"), Contains("before: \"f8\" is not one of f64, f32, f16, bf16"));
  CHECK_THAT(refusal("STA-02:before=f32:x:0"), Contains("before: \"x\" is not a number"));
  CHECK_THAT(refusal("STA-02:before=i32:3:0"), Contains("must be floating"));
  CHECK_THAT(refusal("STA-02:before=f32:-1:0"), Contains("seq=-1 is out of range"));
  CHECK_THAT(refusal("STA-02:before=f32:1:0+f32:1:-1"), Contains("start=-1 is out of range"));
}

TEST_CASE("invalid text is refused, and the field is named", "[case_text]") {
  CHECK_THAT(refusal("ROT-01"), Contains("case \"ROT-01\": expected REQUIREMENT:field=value"));
  CHECK_THAT(refusal("ROT-01:sqe=3"), Contains("case \"ROT-01:sqe=3\": \"sqe=3\" is not field=value of a known field"));
  CHECK_THAT(refusal("ROT-01:seq"), Contains("\"seq\" is not field=value of a known field; the fields are head_dim"));
  CHECK_THAT(refusal("ROT-01:batch=two"), Contains("batch: \"two\" is not a number"));
  CHECK_THAT(refusal("ROT-01:batch=2x"), Contains("batch: \"2x\" is not a number"));
  CHECK_THAT(refusal("ROT-01:batch=99999999999"), Contains("batch: \"99999999999\" is not a number"));
  CHECK_THAT(refusal("ROT-01:dtype=f8"), Contains("dtype: \"f8\" is not one of f64, f32, f16, bf16"));
  CHECK_THAT(refusal("ROT-01:layout=diagonal"), Contains("layout: \"diagonal\" is not one of contiguous, shifted"));
  CHECK_THAT(refusal("ROT-01:scaling=linear"), Contains("scaling: --scaling.factor: missing"));
  CHECK_THAT(refusal("ROT-01:axes=8:x:8"), Contains("axes: \"x\" is not a number"));
  CHECK_THAT(refusal("ROT-01:dtype=i32"), Contains("dtype") && Contains("must be floating"));
  CHECK_THAT(refusal("ROT-01:position_dtype=f32"), Contains("position_dtype i32 or i64"));
  CHECK_THAT(refusal("ROT-01:rotary_dim=63"), Contains("rotary_dim is 63"));
  CHECK_THAT(refusal("ROT-01:base=nan"), Contains("base is nan"));
  CHECK_THAT(refusal("ROT-01:head_dim=0"), Contains("head_dim=0 is out of range; it must be 1 to"));
  CHECK_THAT(refusal("ROT-01:seq=-1"), Contains("seq=-1 is out of range; it must be 0 to"));
  CHECK_THAT(refusal("ROT-01:start=-5"), Contains("start=-5 is out of range; it must be 0 to"));
  CHECK_THAT(refusal("ROT-01:start=9223372036854775807"), Contains("start=9223372036854775807 is out of range"));
}

TEST_CASE("shapes whose size does not fit an integer are refused too", "[case_text]") {
  CHECK_THAT(refusal("ROT-01:batch=32768,seq=32768,heads=2,head_dim=2"), Contains("elements=") && Contains("range"));
  CHECK_THAT(refusal("ROT-01:batch=131072,seq=1048576,heads=131072,head_dim=32768"),
             Contains("tokens="));  // 2^69 elements
  CHECK_THAT(refusal("ROT-01:batch=65536,seq=1048576,heads=0,key_heads=0"), Contains("tokens="));
}

}  // namespace
}  // namespace rope
