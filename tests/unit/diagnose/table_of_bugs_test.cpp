// Each row of the table of bugs has two executors, which share no arithmetic: a kernel over rope_call, and a change of
// the model. They must agree in every element.
#include "tools/bugs/table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "tests/kernels/mutants/edited.hpp"
#include "tests/unit/diagnose/modelled_call.hpp"
#include "tests/unit/judge/case/any_case.hpp"
#include "tools/diagnose/edit_change.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/random_case.hpp"
#include "tools/judge/run/kernel_subject.hpp"

using namespace rope;
using namespace rope::test;

namespace {

const mutants::Edited* edited_kernel = nullptr;  // a kernel is a function without arguments of its own

Reply answer_of(const mutants::Edited& edited, Call& call) {
  edited_kernel = &edited;
  static const rope_kernel kernel{sizeof(rope_kernel),
                                  ROPE_KERNEL_ABI,
                                  "edited",
                                  "a row of the table of bugs",
                                  [](const rope_call* asked) { return edited_kernel->apply(asked); },
                                  mutants::claims()};
  return KernelSubject(kernel).apply(call);
}

// So that a wrong stride finds numbers, too: copies of the tensor's memory before it and behind it.
void surround(Tensor& tensor) {
  const std::size_t size = tensor.bytes.size();
  const std::vector<std::byte> own(tensor.bytes.data(), tensor.bytes.data() + size);
  SharedBytes wide;
  std::byte* to = wide.renew(3 * size);
  for (std::size_t i = 0; i < 3; ++i) std::copy(own.begin(), own.end(), to + i * size);
  tensor.bytes = std::move(wide);
  tensor.origin += static_cast<std::int64_t>(size / size_of(tensor.dtype));
}

Call surrounded(Call call) {
  surround(call.q);
  for (std::optional<Tensor>* tensor : {&call.k, &call.q_out, &call.k_out}) {
    if (*tensor) surround(**tensor);
  }
  return call;
}

std::vector<std::unique_ptr<ModelledCall>> asked(Oracles& oracles) {
  std::vector<Case> cases;
  rc::Random random(20261128);
  Claims claims = all_claims();
  claims.far_tensors = claims.packed_tensors = false;  // the model has memory of its own for each tensor
  for (int i = 0; i < 120; ++i) {
    cases.push_back(*random_case(random, claims, 20'000,
                                 [](Case& c) { c.start %= c.source == AngleSource::tables ? 500 : 1 << 20; }));
  }
  // Whatever has a limit of its own: many tokens, batches and heads, far positions.
  const auto add = [&](auto change) {
    Case c;
    c.source = AngleSource::computed;
    c.spec.head_dim = c.spec.rotary_dim = 8;
    c.seq = 3;
    change(c);
    cases.push_back(c);
  };
  for (const auto form : {PositionForm::shared, PositionForm::per_batch}) {
    add([=](Case& c) { c.seq = 1030, c.heads = 1, c.form = form, c.start = 7; });
    add([=](Case& c) { c.batch = 1030, c.seq = 1, c.heads = 1, c.form = PositionForm::per_batch; });
  }
  add([](Case& c) { c.heads = 24, c.key_heads = 24; });
  add([](Case& c) { c.start = (std::int64_t{1} << 33) + 3; });
  add([](Case& c) { c.start = (std::int64_t{1} << 31) + 3; });
  add([](Case& c) { c.start = (std::int64_t{1} << 25) + 1; });
  add([](Case& c) { c.spec.base = 12345.5, c.spec.rotary_dim = 4; });
  std::vector<std::unique_ptr<ModelledCall>> all;
  for (const Case& c : cases)
    all.push_back(std::make_unique<ModelledCall>(c, surrounded(build_call(c, oracles)), oracles));
  return all;
}

// The elements of q's result, then of k's, in the order of a prediction.
std::vector<double> elements_of(const Call& call) {
  std::vector<double> all;
  const auto add = [&](const Tensor& tensor) {
    for_each_row(tensor, [&](const RowIndex& row, const std::byte*) {
      for (int f = 0; f < tensor.shape[3]; ++f) all.push_back(value_at(tensor, row, f));
    });
  };
  add(call.q_result());
  if (call.k) add(call.k_result());
  return all;
}

// Both may err by the bound, which is the right result's: the kernel's may be twice as large.
bool is_within(double actual, double said, double bound) {
  if (std::isinf(bound) || actual == said || (std::isnan(actual) && std::isnan(said))) return true;
  return std::fabs(actual - said) <= 3 * bound;
}

// A sum with what the output held is rounded once more.
bool adds(const bugs::Edit& edit) {
  const auto* write = std::get_if<bugs::Write>(&edit);
  return write != nullptr && write->fate == bugs::Write::Fate::added;
}

double step_of(const bugs::Grid& to) {
  const bool is_of_bits = to.bits > 0;
  return is_of_bits ? std::exp2(-to.bits) : to.kind == bugs::Grid::Kind::tf32 ? 0x1p-10 : 2 * unit_roundoff(to.type);
}

// The mutant cannot make it: given lists have no values for other widths.
bool needs_other_lists(const bugs::Edit& edit, const Call& call) {
  const auto* set = std::get_if<bugs::Set>(&edit);
  return set != nullptr && set->what == bugs::Set::What::rotary_dim &&
         (call.source != AngleSource::computed || call.axis || std::holds_alternative<scaling::LongRope>(call.scaling));
}

}  // namespace

TEST_CASE("The kernel of each row of the table of bugs computes what its hypothesis predicts", "[takes_long]") {
  Oracles oracles;
  const auto calls = asked(oracles);
  for (const bugs::Row& row : bugs::table()) {
    INFO(row.words);
    const auto* round = std::get_if<bugs::Round>(&row.edit);
    const mutants::Edited kernel(row.edit);
    const diagnosis::Change change = diagnosis::change_by(row.edit);
    int differing = 0, compared = 0;
    for (const auto& one : calls) {
      const diagnosis::Prediction said = one->model.predict(change);
      if (said.outside || needs_other_lists(row.edit, one->before)) continue;  // outside, a kernel would be stopped
      // The model rounds no result. In place, one that overflows may be read again.
      const DType dtype = one->before.q_result().dtype;
      if (std::ranges::any_of(said.value, [&](double y) { return std::fabs(y) > largest_finite(dtype); })) continue;
      Call after = one->before;
      REQUIRE(answer_of(kernel, after).status == ROPE_OK);
      const std::vector<double> actual = elements_of(after), held = elements_of(one->before);
      REQUIRE(actual.size() == said.value.size());
      ++compared;
      differing += said.value != one->right.value || said.written != one->right.written ? 1 : 0;
      // In f64 the kernel works in double and the model in more digits, so an angle of 2^20 differs by 2^-33. Numbers of
      // f32 are 2^-24 apart: one value of 512 is so near to a middle that it falls to the other side. Then it is off by
      // one step of the grid, of a value as large as the largest one.
      std::size_t may_fall = round != nullptr && dtype == DType::f64 ? 1 + actual.size() / 512 : 0;
      const auto reach =
          std::fabs(*std::ranges::max_element(one->right.value, {}, [](double y) { return std::fabs(y); }));
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const double expected = said.written[i] != 0 ? said.value[i] : held[i];
        const double sum = adds(row.edit) ? unit_roundoff(dtype) * std::fabs(expected) : 0;
        if (is_within(actual[i], expected, said.bound[i] + sum)) continue;
        if (may_fall > 0 && std::fabs(actual[i] - expected) <= 2 * reach * step_of(round->to)) {
          --may_fall;
          continue;
        }
        INFO(to_text(one->c) << "\nelement " << i << ": the kernel has " << actual[i] << ", predicted was " << expected
                             << ", right is " << one->right.value[i]);
        FAIL_CHECK("the executors differ");
        break;
      }
    }
    const bool is_of_narrow_output = round != nullptr && round->to.kind == bugs::Grid::Kind::output_cut_off;
    CHECK((differing >= 1 || is_of_narrow_output));  // no mutant claims an output that is narrower than its input
    CHECK(compared >= 40);
  }
}

TEST_CASE("No two rows of the table of bugs have the same edit or the same words") {
  std::set<std::string> words;
  for (const bugs::Row& row : bugs::table()) {
    INFO(row.words);
    CHECK(words.insert(row.words).second);
    CHECK(&bugs::row_of(row.edit) == &row);
  }
}
