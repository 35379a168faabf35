// MEM: which memory is read and written.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

// The rules that have lists, below their length and above it.
void add_factors(CaseList& list, Case c) {
  if (c.source != AngleSource::computed) return;
  for (const Scaling& rule : fourfold_rules({c.spec.head_dim, c.spec.rotary_dim, c.spec.base, 0}, 1000)) {
    if (lists_of(rule).empty()) continue;
    c.spec.scaling = rule;
    for (const std::int64_t length : {1000, 2000}) {
      c.sequence_length = length;
      list.add(c);
    }
  }
}

// Sizes that are not a multiple of any vector: if the last load of a row is a whole vector, it reads past the row.
void edge_cases(CaseList& list) {
  for (int dim : {64, 2, 6, 80, 130}) {
    if (list.level() == Level::quick && dim > 6) continue;
    list.for_each_variant(dim, [&](Case c) {
      c.batch = 1;
      c.seq = 3;
      c.heads = 1;
      c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? 1 : 0;
      list.add(c);
      c.in_place = true;
      list.add(c);
      c.in_place = false;
      add_factors(list, c);
      if (!list.claims().has(ROPE_FEATURE_POSITIONS)) return;
      c.form = PositionForm::shared;
      c.position_dtype = c.full_tables ? DType::i32 : DType::i64;
      list.add(c);
      if (c.spec.rotary_dim < 6) return;
      c.spec.axes.sections = {c.spec.rotary_dim / 2 - 1, 1};
      list.add(c);
    });
  }
}

// Each call runs twice: its tensors end at an inaccessible page, then they begin at one.
Finding within_tensors(const Case& c, Examiner& examiner) {
  Finding finding = examiner.accuracy(c);
  finding.merge(examiner.judge(c, examiner.run_at_start(c)));
  return finding;
}

void input_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    list.give_positions(c);
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    list.add(c);
    c.in_place = true;
    list.add(c);
    if (!list.representative().is_type_of(c) || !list.representative().is_output_type_of(c)) return;
    for (const PositionForm form : {PositionForm::seqlen_offsets, PositionForm::cu_seqlens_and_offsets}) {
      Case counted = c;
      counted.form = form;
      counted.position_dtype = list.claims().position_dtype();
      if (is_packed(form)) counted.batch = 1;
      if (is_packed(form)) counted.sequences = 2;
      list.add(counted);
    }
  });
  list.add_random(60, [](Case&) {});
}

// The first byte in which two tensors differ, as a finding.
void unchanged(Finding& finding, const char* name, const Tensor& before, const Tensor& after) {
  ++finding.compared;
  if (before.bytes == after.bytes || !finding.passed()) return;
  const auto at = static_cast<std::size_t>(
      std::mismatch(before.bytes.begin(), before.bytes.end(), after.bytes.begin()).first - before.bytes.begin());
  finding.kind = FailureKind::misbehaviour;
  finding.use = std::numeric_limits<double>::infinity();
  finding.message =
      fmt::format("wrote to {}, which is an input: byte {} of its memory is 0x{:02x} and was 0x{:02x}", name, at,
                  static_cast<unsigned>(after.bytes[at]), static_cast<unsigned>(before.bytes[at]));
}

Finding inputs_kept(const Case& c, Examiner& examiner) {
  const Call before = examiner.build(c);
  const Trial trial = examiner.run(before);
  if (!trial.ok()) return trial.problem;
  Finding finding;
  if (!c.in_place && examiner.subject().claims().capabilities.overwrites_inputs == 0) {
    unchanged(finding, "q", before.q, trial.call.q);
    if (before.k) unchanged(finding, "k", *before.k, *trial.call.k);
  }
  const auto compare = [&](const char* name, const std::optional<Tensor>& was, const std::optional<Tensor>& is) {
    if (was) unchanged(finding, name, *was, *is);
  };
  compare("positions", before.positions, trial.call.positions);
  compare("cos", before.cos, trial.call.cos);
  compare("sin", before.sin, trial.call.sin);
  compare("theta", before.theta, trial.call.theta);
  compare("axis", before.axis, trial.call.axis);
  compare("seqlen_offsets", before.seqlen_offsets, trial.call.seqlen_offsets);
  compare("cu_seqlens", before.cu_seqlens, trial.call.cu_seqlens);
  return finding;
}

void strided_cases(CaseList& list) {
  for (Layout layout : {Layout::strided, Layout::seq_last, Layout::reversed}) {
    list.for_each_variant(64, [&](Case c) {
      c.layout = layout;
      c.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 1 : list.claims().has(ROPE_FEATURE_KEY) ? 2 : 0;
      list.add(c);
      // q is a part of a product with all three weights; the output is a separate tensor.
      c.output = OutputLayout::contiguous;
      list.add(c);
      c.output = OutputLayout::as_input;
      c.in_place = true;
      list.add(c);
      c.batch = 1;
      list.add(c);
    });
  }
  // A kernel that reads only q's strides uses them for the other tensors too.
  for (Layout layout : {Layout::key_strided, Layout::angles_strided}) {
    list.for_each_variant(64, [&](Case c) {
      c.layout = layout;
      c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
      if (layout == Layout::angles_strided) list.give_positions(c);
      list.add(c);
      c.seq = 1;
      list.add(c);
      c.seq = 3;
      c.in_place = true;
      list.add(c);
      if (layout == Layout::angles_strided) return;
      c.in_place = false;
      c.output = OutputLayout::contiguous;
      list.add(c);
      c.layout = Layout::contiguous;
      c.output = OutputLayout::key_strided;
      list.add(c);
    });
  }
  // The first tokens of a cache that has room for more.
  list.for_each_variant(64, [&](Case c) {
    c.layout = Layout::cached;
    c.batch = 3;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    list.add(c);
    c.in_place = true;
    list.add(c);
    c.in_place = false;
    c.output = OutputLayout::contiguous;
    list.add(c);
  });
  // No strides need to be claimed for these.
  for (int Case::*dimension : {&Case::batch, &Case::seq, &Case::heads}) {
    list.for_each_variant(64, [&](Case c) {
      if (!list.representative().is_output_type_of(c) || !list.representative().is_given_type_of(c)) return;
      c.layout = Layout::loose_strides;
      c.batch = c.heads = 2;
      c.seq = 3;
      c.*dimension = 1;
      c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
      list.add(c);
      c.in_place = true;
      list.add(c);
    });
  }
  // One product gives q, k and v; q and k are written back into it.
  list.for_each_variant(64, [&](Case c) {
    c.layout = Layout::packed;
    for (const int key_heads : {c.heads, 1}) {
      c.key_heads = key_heads;
      c.in_place = false;
      c.output = OutputLayout::contiguous;
      list.add(c);
      c.output = OutputLayout::as_input;
      list.add(c);
      c.in_place = true;
      list.add(c);
    }
  });
  // Like the gradient of a sum, or one head that is repeated for all.
  list.for_each_variant(64, [&](Case c) {
    c.layout = Layout::expanded;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    list.add(c);
    c.direction = Direction::backward;
    list.add(c);
  });
  // Like a row that is written to its place in a cache of keys.
  list.for_each_variant(64, [&](Case c) {
    c.output = OutputLayout::strided;
    list.add(c);
    // Features are apart only in the output: a copy of what does not turn must use both strides.
    c.output = OutputLayout::reversed;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    list.add(c);
    if (turn_half(c.spec)) list.add(c);
  });
  list.add_random(60, [](Case& c) { c.layout = c.seed % 2 == 0 ? Layout::strided : Layout::seq_last; });
}

void in_place_cases(CaseList& list) {
  if (list.claims().always(ROPE_FEATURE_IN_PLACE)) return;  // there is nothing to compare with
  list.for_each_variant(64, [&](Case c) {
    c.in_place = true;
    c.start = 19;
    list.add(c);
    Case gradient = c;
    gradient.direction = Direction::backward;
    list.add(gradient);
    c.layout = Layout::strided;
    list.add(c);
    c.seq = 1;
    list.add(c);
  });
  // A quarter of each head turns, as in GPT-NeoX, in more heads than a block of threads takes at once.
  list.for_each_variant(64, [&](Case c) {
    const Representative& representative = list.representative();
    if (!representative.is_output_type_of(c) || !representative.is_given_type_of(c)) return;
    if (list.level() == Level::quick && !(representative.is_type_of(c) && representative.is_width_of(c))) return;
    c.in_place = true;
    c.spec.rotary_dim = std::max(c.spec.head_dim / 8 * 2, 2);
    c.seq = 10;
    c.heads = 65;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    list.add(c);
  });
  list.add_random(60, [](Case& c) {
    c.out_dtype = c.dtype;
    c.in_place = true;
  });
}

struct InBothWays {
  Trial in_place;
  Trial apart;
};

InBothWays run_in_both_ways(const Case& c, Examiner& examiner) {
  Case apart = c;
  apart.in_place = false;
  return {examiner.run(c), examiner.run(apart)};
}

Finding like_out_of_place(const Case& c, Examiner& examiner) {
  const InBothWays both = run_in_both_ways(c, examiner);
  if (!both.in_place.ok()) return both.in_place.problem;
  if (!both.apart.ok()) return both.apart.problem;
  Expectation expected = examiner.expectation(c, both.in_place.call);
  Finding finding;
  const auto compare = [&](const char* name, const Tensor& input, const Tensor& in_place, const Tensor& apart) {
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const RelatedRow one = related_row(both.in_place, input, in_place, row, expected);
      const RelatedRow two = related_row(both.apart, input, apart, row, expected);
      relate_pairs(finding, name, row, expected, two, one);
    });
  };
  compare("q", both.in_place.q, both.in_place.call.q_result(), both.apart.call.q_result());
  if (both.in_place.k) compare("k", *both.in_place.k, both.in_place.call.k_result(), both.apart.call.k_result());
  return told(finding, "results", "the result in place", "the result out of place");
}

Finding exactly_like_out_of_place(const Case& c, Examiner& examiner) {
  const InBothWays both = run_in_both_ways(c, examiner);
  if (!both.in_place.ok()) return both.in_place.problem;
  if (!both.apart.ok()) return both.apart.problem;
  return told(same_bits(both.apart, both.in_place), "a call out of place and the same in place");
}

void far_cases(CaseList& list) {
  const struct {
    Layout layout;
    int Case::*dimension;
  } layouts[] = {{Layout::distant_batches, &Case::batch},
                 {Layout::distant_tokens, &Case::seq},
                 {Layout::distant_heads, &Case::heads}};
  for (const auto& [layout, dimension] : layouts) {
    list.for_each_variant(64, [&, far = layout, many = dimension](Case c) {
      if (!list.representative().is_given_type_of(c) || !list.representative().is_width_of(c)) return;
      if (!list.representative().is_source_of(c)) return;
      c.layout = far;
      c.*many = 3;
      c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
      list.add(c);
      c.in_place = true;
      list.add(c);
    });
  }
  list.for_each_variant(64, [&](Case c) {
    if (!list.representative().is_output_type_of(c)) return;
    c.layout = Layout::distant_rows;
    c.seq = 3;
    list.add(c);
  });
}

void shifted_cases(CaseList& list) {
  // The halves of a head fit vectors of any usual width.
  list.for_each_variant(128, [&](Case c) {
    if (!list.representative().is_given_type_of(c) && list.level() == Level::quick) return;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
    c.output = OutputLayout::shifted;  // while the input begins at an aligned address
    list.add(c);
    c.output = OutputLayout::as_input;
    c.layout = Layout::shifted;
    list.add(c);
    c.direction = Direction::backward;
    list.add(c);
    c.direction = Direction::forward;
    c.in_place = true;
    list.add(c);
    c.seq = 1;
    list.add(c);
  });
}

// On a device each way to call may be separate code. With 67 tokens, threads of the last block have no work.
void sanitized_cases(CaseList& list) {
  const auto add = [&](Case c) {
    if (c.source == AngleSource::tables && !list.representative().is_given_type_of(c)) return;
    list.add(c);
    c.batch = 1;
    c.seq = 67;
    c.heads = 3;
    c.key_heads = list.claims().has(ROPE_FEATURE_GROUPED_HEADS) ? 1 : list.claims().has(ROPE_FEATURE_KEY) ? 3 : 0;
    list.give_positions(c);
    list.add(c);
    c.in_place = true;
    list.add(c);
  };
  for (const SanitizerTool tool : sanitizer_tools) {
    for (const int dim : {64, 6, 80}) {
      if (list.level() == Level::quick && (tool != SanitizerTool::memcheck || dim != 64)) continue;
      list.for_each_variant(dim, [&](Case c) {
        c.tool = tool;
        add(c);
      });
    }
  }
}

void will_sanitize(std::span<const Case> cases, Examiner& examiner) { examiner.will_sanitize(cases); }

Finding under_sanitizer(const Case& c, Examiner& examiner) { return examiner.sanitized(c); }

constexpr RunnerTraits in_memory{.shown_by = ShownBy::memory};
constexpr RunnerTraits twice_in_memory{.shown_by = ShownBy::memory, .calls = 2};

}  // namespace

std::span<const Requirement> memory_requirements() {
  static constexpr Requirement requirements[] = {
      {"MEM-01", "The kernel MUST NOT read or write outside the tensors of the call.",
       "MEM-07, TAB-05, FREQ-11, AXIS-05",
       "accesses within the padding, or to the kernel's own memory; built-ins, which run in our process", edge_cases,
       within_tensors, 0, nullptr, twice_in_memory},
      {"MEM-02", "Inputs, positions, tables and frequencies MUST NOT be modified.", "POS-09, MEM-05",
       "inputs that are written and restored before the call ends, if the subject runs in our process", input_cases,
       inputs_kept, 0, nullptr, in_memory},
      {"MEM-03", "Strides MUST be followed, and the gaps between rows MUST NOT be written.", "MEM-01, HEAD-03, HEAD-05",
       "kernels that claim no strides, but for those along extents of 1", strided_cases, accuracy, 0, nullptr,
       in_memory},
      {"MEM-04", "A call in place MUST equal the same call out of place, within the bound.", "MEM-03, MEM-05, HEAD-05",
       "differences within the bound: see MEM-05", in_place_cases, like_out_of_place, 0, nullptr, twice_in_memory},
      {"MEM-05", "A call in place SHOULD equal the same call out of place, bit for bit.", "MEM-03",
       "which of the two is right", in_place_cases, exactly_like_out_of_place, mask(Demand::bitwise), nullptr,
       twice_in_memory},
      {"MEM-06", "Elements and table rows at offsets of 2^31, 2^32 and more MUST be addressed correctly.",
       "MEM-09, LIM-01",
       "kernels that claim no strides; tensors with that many elements: only strides reach these offsets", far_cases,
       accuracy, 0, nullptr, in_memory},
      {"MEM-07",
       "On a CUDA device compute-sanitizer MUST report nothing: no access outside a tensor, no race in shared memory, "
       "no divergent barrier, no uninitialised read.",
       "MEM-05, MEM-07, TAB-05",
       "kernels that are not in a shared library; machines without compute-sanitizer; strided "
       "tensors; races in global memory and within a warp",
       sanitized_cases, under_sanitizer, 0, will_sanitize, in_memory},
      {"MEM-08", "Results MUST be right at every tensor address that the claimed alignment allows.",
       "MEM-ALIGNED-DOWN, CUDA-UNALIGNED-START", "tables, frequencies and positions, which are aligned", shifted_cases,
       accuracy, 0, nullptr, in_memory},
  };
  return requirements;
}

}  // namespace rope
