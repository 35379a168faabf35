#include "tests/conformance/sizes.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <vector>

namespace rope {
namespace {

// One past what the second and third dimension of a CUDA grid hold, as tokens, batches and heads.
constexpr int many = 65537;

// One thread for each pair: more than 65,535 blocks of 256 threads. Only one way, in the smallest type: it takes as
// long as a hundred others, and more memory than all.
void all_pairs_case(CaseList& list) {
  constexpr int threads = (many - 2) * 256;
  if (list.level() == Level::quick || !list.claims().compiled) return;
  std::optional<Case> smallest;
  const auto size = [](const Case& c) { return size_of(c.dtype) + size_of(c.out_dtype); };
  list.for_each_variant(128, [&](const Case& c) {
    if (!list.representative().is_output_type_of(c)) return;
    if (!smallest || size(c) < size(*smallest)) smallest = c;
  });
  if (!smallest) return;
  smallest->batch = 1;
  smallest->seq = 257;
  const int pairs_of_a_head = smallest->seq * smallest->spec.rotary_dim / 2;
  smallest->heads = threads / pairs_of_a_head + 1;
  smallest->input = InputKind::repeated;
  list.add(*smallest);
}

// These cases are large, so each dtype is tested in one way: with tables if they are claimed, else with computed
// angles. Beside tables, computed angles are tested in f32 too, unless `one_source`.
bool is_judged_way(const Case& c, const CaseList& list, bool one_source) {
  const Representative& representative = list.representative();
  const bool tables = (list.claims().capabilities.angle_sources & ROPE_BIT(ROPE_TABLES)) != 0;
  if (c.source == AngleSource::computed && tables && (one_source || c.dtype != DType::f32)) return false;
  return representative.is_output_type_of(c) && representative.is_given_type_of(c) && representative.is_width_of(c) &&
         representative.is_source_of(c);
}

// Applies all changes that the claims cover at once. So a limit shows that only one of their code paths has.
Case with(Case c, const CaseList& list, std::initializer_list<void (*)(Case&)> changes) {
  for (const auto& change : changes) {
    Case next = c;
    change(next);
    if (list.covers(next)) c = std::move(next);
  }
  return c;
}

// At level quick, wider heads have no k in calls of so many rows, and the smallest type: of 1024 features in f64, one
// tensor takes 0.5 GB.
constexpr int widest_with_key = 256;

void two_heads(Case& c) { c.heads = 2; }
void two_tokens(Case& c) { c.seq = 2; }
void two_batches(Case& c) { c.batch = 2; }
void half_turns(Case& c) { turn_half(c.spec); }
void strided(Case& c) { c.layout = Layout::strided; }
void in_place(Case& c) { c.in_place = true; }
void backward(Case& c) { c.direction = Direction::backward; }
void with_key(Case& c) { c.key_heads = c.heads; }
void with_one_key(Case& c) { c.key_heads = 1; }
void scaled_by(Case& c) { c.spec.attention_factor = 0.75; }
void given(Case& c) { c.form = PositionForm::shared; }
void given_by_batch(Case& c) { c.form = PositionForm::per_batch; }

// One way to call the kernel, each time with another dimension that is too large; what matters most comes first.
std::vector<Case> many_rows(Case c, const CaseList& list) {
  const bool has_key = list.claims().has(ROPE_FEATURE_KEY);
  c.batch = c.seq = c.heads = 1;
  Case tokens = c;
  tokens.seq = many;
  if (list.claims().capabilities.max_position < many) {  // then the same positions again and again
    tokens.form = PositionForm::shared;
    tokens.pattern = PositionPattern::scattered;
    tokens.start = list.claims().capabilities.max_position;
  }
  c.start = 5;  // at position 0 nothing turns
  Case heads = c;
  heads.heads = many;
  Case batches = c;
  batches.batch = many;
  Case gradient = tokens;
  gradient.direction = Direction::backward;
  Case key_tokens = tokens, key_heads = heads;
  key_tokens.key_heads = 1;
  key_heads.key_heads = many;
  std::vector<Case> all{tokens, heads, batches, gradient};
  if (has_key && list.level() == Level::quick && c.spec.head_dim <= widest_with_key) {
    all = {key_tokens, key_heads, batches, gradient};  // q has as many tokens and heads in these calls
  } else if (has_key) {
    all.insert(all.end(), {key_tokens, key_heads});
  }
  all.push_back(tokens);
  all.back().form = PositionForm::shared;
  all.push_back(batches);
  all.back().form = PositionForm::per_batch;
  all.push_back(with(tokens, list, {two_heads, half_turns, strided, backward, given, scaled_by}));
  if (list.level() != Level::quick) all.back() = with(all.back(), list, {two_batches});  // 2^20 elements
  all.push_back(with(tokens, list, {two_heads, in_place, with_one_key, with_key}));
  Case rows = batches;  // of several heads and tokens, a strided tensor with so many batches takes 16 MB
  if (list.level() != Level::quick) rows = with(rows, list, {two_heads, two_tokens});
  all.push_back(with(rows, list, {half_turns, strided, given, given_by_batch, with_key}));
  all.push_back(with(heads, list, {two_batches, strided, in_place, given, backward}));
  // Four tokens a thread block.
  if (list.level() != Level::quick && c.dtype == DType::f32 && c.source == AngleSource::computed) {
    all.push_back(tokens);
    all.back().seq = 4 * (many - 1) + 1;
  }
  for (Case& one : all) {  // in a row, the positions of so many batches would need a table of a million rows
    if (list.level() != Level::quick || one.form != PositionForm::per_batch) continue;
    one.pattern = PositionPattern::scattered;
    one.start = std::min<std::int64_t>(1000, list.claims().capabilities.max_position);
  }
  std::erase_if(all, [&](const Case& one) { return !list.covers(one); });
  return all;
}

// A kernel may choose a path by the number of rows and one feature.
std::vector<Case> many_rows_and_one_feature(Case c, const CaseList& list) {
  // Of wide heads fewer, which lie beyond the limits of paths that are known.
  c.seq = c.spec.head_dim > small_head ? 16385 : many;
  c.batch = c.heads = 1;
  std::vector<Case> all;
  if (list.level() == Level::quick && c.spec.head_dim > widest_with_key) return all;
  for (const auto& feature : {half_turns, in_place, strided, with_key, backward}) {
    Case& one = all.emplace_back(c);
    feature(one);
    if (!list.covers(one)) all.pop_back();
  }
  return all;
}

constexpr std::size_t plain = 4;

// The plain calls and one of the others.
std::vector<Case> plain_and_one(const std::vector<Case>& cases, std::size_t turn) {
  if (cases.size() <= plain) return cases;
  std::vector<Case> some(cases.begin(), cases.begin() + plain);
  some.push_back(cases[plain + turn % (cases.size() - plain)]);
  return some;
}

// A plain call and one of the others.
std::vector<Case> one_of_each(const std::vector<Case>& cases, std::size_t turn) {
  if (cases.size() <= plain) return cases;
  return {cases[turn % plain], cases[plain + turn % (cases.size() - plain)]};
}

// At level full the first way has all cases, the first one of each further dtype the plain calls and another one in
// turn, every other way a plain call and another one.
//
// A case of 65,537 rows of 128 features takes half a second. So if no small head is claimed, only the first way has all
// of them (two at level quick). The first way of every other dtype has two, each further way the next one in turn.
std::vector<int> wide_head_dims(Level level) {
  switch (level) {
    case Level::quick: return {1280};
    case Level::full: return {1026, 2048};
    case Level::exhaustive: return {1026, 1280, 2048, 4096};
  }
  return {};
}

// Kernels divide tokens, heads and batches into blocks of a power of two. These sizes fill the last block, leave one of
// it, or lack one.
std::vector<int> sizes_beside_blocks(int least, int most) {
  std::vector<int> sizes;
  for (int block = least; block <= most; block *= 2) {
    for (const int size : {block - 1, block, block + 1}) {
      if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
    }
  }
  return sizes;
}

int smallest_divisor(int n) {
  int divisor = 2;
  while (n % divisor != 0) ++divisor;
  return divisor;
}

// The size as the number of tokens, of heads, of batches, and of the tokens of all batches; in one batch and in two.
std::vector<Case> calls_of_size(int size, Case c, bool only_tokens) {
  c.batch = c.seq = c.heads = 1;
  std::vector<Case> all;
  const auto add = [&](int batch, int seq, int heads) {
    Case& sized = all.emplace_back(c);
    sized.batch = batch;
    sized.seq = seq;
    sized.heads = heads;
  };
  for (const int several : {1, 2}) add(several, size, 1);
  if (only_tokens) return all;
  for (const int several : {1, 2}) {
    add(several, 1, size);
    add(size, several, 1);
  }
  if (const int divisor = smallest_divisor(size); divisor < size) add(divisor, size / divisor, 1);
  return all;
}

}  // namespace

void many_rows_cases(CaseList& list) {
  all_pairs_case(list);
  const bool quick = list.level() == Level::quick;
  std::optional<DType> only;  // at level quick: the first that is claimed, from one source
  list.for_each_variant(4, [&](const Case& c) {
    if (!is_judged_way(c, list, quick)) return;
    const bool is_smaller = only && c.spec.head_dim > widest_with_key && size_of(c.dtype) < size_of(*only);
    if (!only || is_smaller) only = c.dtype;
  });
  std::set<DType> seen;
  std::size_t turn = 0;
  list.for_each_variant(4, [&](Case c) {
    if (!is_judged_way(c, list, quick) || (quick && only != c.dtype)) return;
    std::vector<Case> cases = many_rows(c, list);
    const bool is_first = seen.empty(), is_first_of_dtype = seen.insert(c.dtype).second;
    const bool is_large = c.spec.head_dim > small_head && list.level() != Level::exhaustive;
    if (is_large && !is_first_of_dtype && !cases.empty()) {
      cases = {cases[turn++ % cases.size()]};
    } else if (is_large && (quick || !is_first)) {
      cases.resize(std::min<std::size_t>(cases.size(), 2));
    } else if (list.level() == Level::full && !is_first) {
      cases = is_first_of_dtype ? plain_and_one(cases, turn) : one_of_each(cases, turn);
      ++turn;
    }
    for (const Case& one : cases) list.add(one);
    if (!is_first) return;
    for (const Case& one : many_rows_and_one_feature(c, list)) list.add(one);
  });
}

void wide_head_cases(CaseList& list) {
  for (int dim : wide_head_dims(list.level())) {
    list.for_each_variant(dim, [&](Case c) {
      if (c.spec.head_dim != dim) return;  // not claimed
      if (c.source == AngleSource::tables && !list.representative().is_given_type_of(c)) return;
      const bool of_type_and_width = list.representative().is_type_of(c) && list.representative().is_width_of(c);
      if (list.level() == Level::quick && !of_type_and_width) return;
      c.batch = 1;
      c.seq = 2;
      c.start = 11;
      list.add(c);
      c.batch = 2;
      list.add(with(c, list, {half_turns, strided, backward, given, given_by_batch, scaled_by, with_key}));
      list.add(with(c, list, {in_place, with_key, given, given_by_batch}));
    });
  }
}

// One way for each type and source of angles, in place too. Tokens meet each of them, since these are what kernels
// divide first, in one batch and in two by turns. The rest of the sizes, and interpreted kernels or large heads, take
// the ways in turn.
void block_cases(CaseList& list) {
  const bool quick = list.level() == Level::quick;
  std::vector<Case> ways;
  list.for_each_variant(4, [&](Case c) {
    const Representative& representative = list.representative();
    if (!representative.is_output_type_of(c) || !representative.is_given_type_of(c)) return;
    if (!representative.is_width_of(c)) return;
    c.start = 5;
    ways.push_back(c);
    c.in_place = true;
    if (list.covers(c)) ways.push_back(c);
  });
  std::size_t turn = 0;
  std::vector<int> sizes = quick ? sizes_beside_blocks(32, 256) : sizes_beside_blocks(4, 4096);
  // The smallest n for which n * (1/n) is below 1 in f32: a kernel that divides a row's number so gets the row before.
  sizes.push_back(41);
  // Whole blocks of any usual size: one too many turns the rows behind a sequence, where the next one begins.
  if (quick) sizes.insert(sizes.end(), {512, 1024, 2048, 4096});
  for (const int size : sizes) {
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const bool large = ways[w].spec.head_dim > small_head;
      const bool one_of_many = (turn + w) % ways.size() < 2;  // out of place and in place
      const bool meets_all = !quick && list.claims().compiled && !large;
      if (!meets_all && !one_of_many) continue;
      const std::vector<Case> cases = calls_of_size(size, ways[w], !one_of_many || quick);
      if (one_of_many) {
        for (const Case& c : cases) list.add(c);
      } else {
        list.add(cases[(turn + w) / 2 % cases.size()]);
      }
    }
    turn += 2;
  }
}

}  // namespace rope
