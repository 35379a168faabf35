// Caches whose key lacks a parameter: the diagnosis names it.
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/kept_parameters.hpp"

namespace rope {
namespace {

using namespace test;

// A kernel that looks up a value in a map and takes the first one that was kept under the key.
template <class Key, class Value>
std::unique_ptr<Fake> keeping(std::function<Key(const Call&)> key, Value& (*value)(Call&),
                              std::function<bool(const Call&)> takes_part) {
  auto kept = std::make_shared<std::map<Key, Value>>();
  std::unique_ptr<Fake> subject(new Fake(with_modified_call([=](Call& call) {
    if (takes_part(call)) value(call) = kept->try_emplace(key(call), value(call)).first->second;
  })));
  subject->forget = [=] { kept->clear(); };
  return subject;
}

bool is_computed(const Call& call) { return call.source == AngleSource::computed; }

std::string sentence_of(Fake& subject, std::vector<std::string> only) {
  return first_of(diagnosed(subject, std::move(only))).sentence;
}

TEST_CASE("kept parameters: a factor that the key lacks is named") {
  using Key = std::pair<double, int>;
  const auto subject = keeping<Key, double>(
      [](const Call& call) { return Key(call.base, call.rotary_dim); },
      [](Call& call) -> double& { return std::get<scaling::Linear>(call.scaling).factor; },
      [](const Call& call) { return is_computed(call) && std::holds_alternative<scaling::Linear>(call.scaling); });
  CHECK(sentence_of(*subject, {"ROT-01", "ANG-04", "STA-01"}) ==
        "the factor of an earlier call is used, not this call's");
}

TEST_CASE("kept parameters: all parameters that the key lacks are named, choices too") {
  using Key = std::tuple<double, int, double>;
  const auto subject = keeping<Key, Scaling>(
      [](const Call& call) { return Key(call.base, call.rotary_dim, std::get<scaling::Yarn>(call.scaling).factor); },
      [](Call& call) -> Scaling& { return call.scaling; },
      [](const Call& call) { return is_computed(call) && std::holds_alternative<scaling::Yarn>(call.scaling); });
  const std::string said = sentence_of(*subject, {"ROT-01", "ANG-04", "STA-01"});
  CHECK_THAT(said, Catch::StartsWith("the original_max_position_embeddings and beta_fast and beta_slow"));
  CHECK_THAT(said, Catch::Contains("truncate") && Catch::EndsWith("of an earlier call are used, not this call's"));
}

TEST_CASE("kept parameters: what differs only behind the decimal point is told from what differs more") {
  const auto subject = keeping<std::pair<double, int>, double>(
      [](const Call& call) { return std::pair(std::floor(call.base), call.rotary_dim); },
      [](Call& call) -> double& { return call.base; }, is_computed);
  Oracles oracles;
  Examiner examiner(*subject, oracles, nullptr);
  CHECK(diagnosis::words_of_kept_parameters(case_from_text("ROT-01:source=computed,head_dim=64"), examiner) ==
        "the base of an earlier call is used, not this call's, if they differ only behind the decimal point");
}

TEST_CASE("kept parameters: tables that are known by their shape are named") {
  using Shape = std::pair<std::int64_t, std::int64_t>;
  const auto subject =
      keeping<Shape, Tensor>([](const Call& call) { return Shape(call.cos->shape[0], call.cos->shape[1]); },
                             [](Call& call) -> Tensor& { return *call.cos; },
                             [](const Call& call) { return call.source == AngleSource::tables; });
  Oracles oracles;
  Examiner examiner(*subject, oracles, nullptr);
  // Of cos only: the result is not the one of the earlier tables.
  CHECK(diagnosis::words_of_kept_parameters(case_from_text("ROT-01:head_dim=64"), examiner) ==
        "the result depends on what an earlier call with other values of the tables left behind");
}

TEST_CASE("kept parameters: a kernel that keeps nothing, or fails by itself, has none") {
  Oracles oracles;
  const Case c = case_from_text("ROT-01:source=computed,head_dim=64");
  Fake right = with_modified_call([](Call&) {});
  Examiner of_right(right, oracles, nullptr);
  CHECK_FALSE(diagnosis::words_of_kept_parameters(c, of_right));
  CHECK_FALSE(diagnosis::words_of_added_rows(c, of_right));
  Fake wrong = with_modified_call([](Call& call) { call.base += 1; });
  Examiner of_wrong(wrong, oracles, nullptr);
  CHECK_FALSE(diagnosis::words_of_kept_parameters(c, of_wrong));
  CHECK_FALSE(diagnosis::words_of_added_rows(c, of_wrong));
}

TEST_CASE("kept parameters: a kernel whose every later call is wrong depends on no parameter") {
  std::int64_t calls = 0;
  Fake subject = with_modified_call([&](Call& call) { call.base += ++calls > 1 ? 1 : 0; });
  subject.forget = [&] { calls = 0; };
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  CHECK_FALSE(diagnosis::words_of_kept_parameters(case_from_text("ROT-01:source=computed,head_dim=64"), examiner));
}

// A table of 64 rows or as many as the first call needs; what is added later is made by `position_of`.
std::unique_ptr<Fake> growing(std::function<std::int64_t(std::int64_t position, std::int64_t rows)> position_of) {
  auto rows = std::make_shared<std::int64_t>(0);
  std::unique_ptr<Fake> subject(new Fake(with_modified_call([=](Call& call) {
    if (!is_computed(call) || call.positions || call.seqlen_offsets || call.cu_seqlens) return;
    const std::int64_t needed = call.position_offset + call.q.shape[1];
    if (*rows == 0) *rows = std::max<std::int64_t>(needed, 64);
    if (call.position_offset >= *rows) call.position_offset = position_of(call.position_offset, *rows);
  })));
  subject->forget = [=] { *rows = 0; };
  return subject;
}

TEST_CASE("kept parameters: the positions of rows that are added to a table are named") {
  const auto late = growing([](std::int64_t position, std::int64_t) { return position - 1; });
  CHECK(sentence_of(*late, {"ANG-02", "STA-01", "STA-02"}) ==
        "rows that are added to a kept table are of wrong positions: after a call at position 0, position 300 gets the "
        "angles of 299");
  const auto from_zero = growing([](std::int64_t position, std::int64_t rows) { return position - rows; });
  CHECK(sentence_of(*from_zero, {"ANG-02", "STA-01", "STA-02"}) ==
        "rows that are added to a kept table are of wrong positions: after a call at position 0, position 300 gets the "
        "angles of 236");
}

}  // namespace
}  // namespace rope
