// SHP: sizes beyond the limits of launches, blocks and index types.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "tests/conformance/requirements.hpp"
#include "tests/conformance/sizes.hpp"
#include "tools/judge/case/rearrange.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

void batched_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    c.batch = 3;
    c.heads = 4;
    c.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 2 : list.claims().has(ROPE_FEATURE_KEY) ? 4 : 0;
    c.start = 600;
    list.add(c);
    const bool is_usual = list.representative().is_output_type_of(c) && list.representative().is_given_type_of(c);
    if (c.key_heads > 0 && (is_usual || list.level() != Level::quick)) {  // more heads than a warp has threads
      Case wide = c;
      wide.batch = 1;
      wide.heads = wide.key_heads = 40;
      list.add(wide);
    }
    const bool differ = list.claims().has(ROPE_FEATURE_BATCH_POSITIONS);
    c.form = differ ? PositionForm::per_batch : PositionForm::shared;  // counted from an offset they are not scattered
    c.pattern = PositionPattern::scattered;
    c.start = 900;
    list.add(c);
  });
  list.add_random(60, [](Case& c) { c.batch = std::max(c.batch, 2); });
}

struct InBothOrders {
  Trial one;
  Trial other;  // of the same rows, in reverse order

  const Finding& problem() const { return one.ok() ? other.problem : one.problem; }
};

InBothOrders run_in_both_orders(const Case& c, Examiner& examiner) {
  return {examiner.run(c), examiner.run(reversed(examiner.build(c)))};
}

// What has another order in the second call.
std::string reordered(const Case& c) {
  std::vector<std::string> things;
  if (c.batch > 1) things.emplace_back("batches");
  if (c.form != PositionForm::offset && c.seq > 1) things.emplace_back("tokens");
  if (c.heads > 1 || c.key_heads > 1) things.emplace_back("heads");
  return fmt::format("{}", fmt::join(things, ", "));
}

// compare(finding, name, output, row, output of the other order, row there, whether of k) for each row.
template <class Compare>
Finding each_moved_row(const InBothOrders& both, Compare&& compare) {
  Finding finding;
  const auto walk = [&](const char* name, const Tensor& one, const Tensor& other, bool key) {
    for_each_row(one, [&](const RowIndex& row, const std::byte*) {
      compare(finding, name, one, row, other, reversed(row, both.one.call, key), key);
    });
  };
  walk("q", both.one.call.q_result(), both.other.call.q_result(), false);
  if (both.one.k) walk("k", both.one.call.k_result(), both.other.call.k_result(), true);
  return finding;
}

Finding equivariance(const Case& c, Examiner& examiner) {
  const InBothOrders both = run_in_both_orders(c, examiner);
  if (!both.problem().passed()) return both.problem();
  Expectation here = examiner.expectation(c, both.one.call);
  Expectation there = examiner.expectation(c, both.other.call);
  const Finding finding =
      each_moved_row(both, [&](Finding& found, const char* name, const Tensor& one, const RowIndex& row,
                               const Tensor& other, const RowIndex& moved, bool key) {
        const Tensor& input = key ? *both.one.k : both.one.q;
        const Tensor& moved_input = key ? *both.other.k : both.other.q;
        relate_pairs(found, name, row, here, related_row(both.one, input, one, row, here),
                     related_row(both.other, moved_input, other, moved, there));
      });
  return told(finding, "results", fmt::format("the result with another order of {}", reordered(c)),
              "the result as it was");
}

Finding exact_equivariance(const Case& c, Examiner& examiner) {
  const InBothOrders both = run_in_both_orders(c, examiner);
  if (!both.problem().passed()) return both.problem();
  const Finding finding = each_moved_row(
      both, [](Finding& found, const char* name, const Tensor& one, const RowIndex& row, const Tensor& other,
               const RowIndex& moved, bool) { same_row(found, name, one, row, other, moved); });
  return told(finding, fmt::format("two calls whose {} are in another order", reordered(c)));
}

// Every even head_dim, in types for which a kernel may have separate code for each head_dim.
void every_head_dim_cases(CaseList& list) {
  const bool quick = list.level() == Level::quick;
  std::vector<int> dims;
  for (int dim = 2; dim <= (quick ? 32 : 256); dim += 2) dims.push_back(dim);
  if (quick) dims.insert(dims.end(), {96, 128, 256});  // head_dims of models
  if (!quick) dims.insert(dims.end(), {258, 288, 320, 384, 448, 512, 576, 640, 768, 1000, 1024});
  if (!list.claims().head_dims.empty()) dims.assign(list.claims().head_dims.begin(), list.claims().head_dims.end());
  for (int dim : dims) {
    list.for_each_variant(dim, [&](Case c) {
      const Representative& representative = list.representative();
      if (!representative.is_output_type_of(c) || !representative.is_given_type_of(c)) return;
      if (!representative.is_width_of(c) || !representative.is_source_of(c)) return;
      c.batch = c.heads = 1;
      c.seq = 2;
      c.start = 3;
      if (list.claims().has(ROPE_FEATURE_KEY)) c.key_heads = 1;  // a kernel may dispatch k separately
      list.add(c);
      if (!quick || dim < 96) return;
      // Far enough for narrow angles to show. With both pairings: level quick gives only one.
      if (c.start > 0) c.start = 1000;
      list.add(c);
      c.spec.pairing = c.spec.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
      list.add(c);
    });
  }
}

void head_count_cases(CaseList& list) {
  const struct { int heads, key_heads; } counts[] = {{1, 1}, {8, 1}, {4, 2}, {6, 2}, {9, 3}, {12, 4}, {5, 5}};
  int way = 0;
  for (const auto& [heads, key_heads] : counts) {
    ++way;  // shifts the turn: the ways are an even number, so each pairing would meet only one of both
    list.for_each_variant(64, [&, q = heads, k = key_heads](Case c) {
      if (!list.representative().is_output_type_of(c)) return;
      if (!list.representative().is_given_type_of(c) && c.given != c.dtype) return;
      c.heads = q;
      c.key_heads = k;
      c.start = 70;
      // Level quick takes in place and out of place in turn if a kernel claims both.
      const bool in_turn = list.level() == Level::quick && list.claims().has(ROPE_FEATURE_IN_PLACE);
      if (!in_turn || way % 2 == 0) list.add(c);
      c.in_place = true;
      if (!in_turn || way % 2 == 1) list.add(c);
      ++way;
    });
  }
}

void empty_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    if (!list.representative().is_output_type_of(c)) return;
    for (int Case::*dimension : {&Case::batch, &Case::seq, &Case::heads}) {
      Case empty = c;
      empty.*dimension = 0;
      list.add(empty);
    }
  });
}

}  // namespace

std::span<const Requirement> shape_requirements() {
  static constexpr Requirement requirements[] = {
      {"SHP-01",
       "Calls with more than 65,535 tokens, batches or heads, or more than 2^24 pairs, MUST be rotated completely.",
       "LIM-01",
       "element offsets beyond 2^31; more than 2^24 pairs in kernels that are not compiled; some dtypes if no head_dim "
       "up to 16 is claimed; at level quick, k if none up to 256 is",
       many_rows_cases, accuracy},
      {"SHP-02", "Heads of more than 1024 features MUST be rotated if they are claimed.", "LIM-03",
       "head_dims above 4096; at levels quick and full, above 2048", wide_head_cases, accuracy},
      {"SHP-03", "If batches, heads or tokens are reordered, their results MUST stay the same, within the bound.",
       "HEAD-07, POS-07, POS-05, VAR-01, TAB-07", "differences within the bound: see SHP-07", batched_cases,
       equivariance, 0, nullptr, with_calls(2)},
      {"SHP-04", "Every claimed head_dim MUST be rotated in every claimed type.", "PREC-11, TAB-03, PAIR-09",
       "head_dims above 32 at level quick, except 96, 128 and 256; most head_dims above 256", every_head_dim_cases,
       accuracy},
      {"SHP-05", "k MUST be rotated like q, also if it has fewer heads.", "HEAD-01, HEAD-03, PIPE-03, MEM-13",
       "kernels that claim no k", head_count_cases, accuracy},
      {"SHP-06", "A call without batches, tokens or heads SHOULD return ok and write nothing.", "VAR-05",
       "empty tensors whose pointers are NULL", empty_cases, accuracy, mask(Demand::robust)},
      {"SHP-07", "If batches, heads or tokens are reordered, their results SHOULD stay the same, bit for bit.",
       "HEAD-07, PREC", "which of the two is right", batched_cases, exact_equivariance,
       Demand::bitwise | Demand::batch_invariant, nullptr, with_calls(2)},
      {"SHP-08",
       "Calls with about as many tokens, heads or batches as fill a block of up to 4096 MUST be rotated completely.",
       "LIM-01, HEAD-07", "blocks of more than 4096, or of no power of two; at level quick, of more than 256",
       block_cases, accuracy},
  };
  return requirements;
}

}  // namespace rope
