#include "tools/vectors/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "impls/claims.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/report/leftovers.hpp"
#include "tools/report/write_file.hpp"
#include "tools/vectors/export_readme.hpp"
#include "tools/vectors/recorder.hpp"

namespace rope::vectors {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view memory_reason = "where memory is read and written does not show in a file";
constexpr std::string_view refusal_reason = "a status does not show in a file";
constexpr std::string_view time_reason = "whether a call returns does not show in a file";
constexpr std::string_view depends_reason = "a later call holds the answer to an earlier one";

std::string_view reason_against(const Requirement& requirement) {
  switch (requirement.handling.shown_by) {
    case ShownBy::memory: return memory_reason;
    case ShownBy::status: return refusal_reason;
    case ShownBy::time: return time_reason;
    case ShownBy::outputs: break;
  }
  return "";
}

// A folder that does not appear before it is complete.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& folder)
      : folder_(folder.has_filename() ? folder : folder.parent_path()),
        temporary_(temporary_for(folder_)) {
    std::error_code error;
    if (fs::exists(folder_, error) && (!fs::is_directory(folder_, error) || !fs::is_empty(folder_, error))) {
      throw InputError(
          fmt::format("{} exists and is not empty; name a new folder, or remove that one first", folder_.string()));
    }
    mine_.emplace(temporary_, [this] { return make(temporary_), true; });
    for (const char* part : {"arrays", "responses"}) make(temporary_ / part);
    remove_leftovers(folder_.parent_path());
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }

  const fs::path& path() const { return temporary_; }

  void keep() {
    std::error_code error;
    fs::rename(temporary_, folder_, error);
    if (error) throw InputError(fmt::format("{}: cannot be renamed: {}", temporary_.string(), error.message()));
  }

 private:
  static void make(const fs::path& folder) {
    std::error_code error;
    if (fs::create_directories(folder, error); !error) return;
    throw InputError(fmt::format("{}: cannot be made: {}; name a folder in one that exists and can be written to",
                                 folder.string(), error.message()));
  }

  fs::path folder_;
  fs::path temporary_;
  std::optional<InUse> mine_;
};

// Of its inputs: expected values are not part of the call.
std::size_t bytes_of(const DescribedCall& call) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < call.record.inputs.size(); ++i) sum += call.contents[i].bytes.size();
  return sum;
}

class Exporter {
 public:
  Exporter(const fs::path& folder, Oracles& oracles, const ExportOptions& options)
      : options_(options),
        folder_(folder),
        recorder_(options.claims, oracles, options.expected),
        examiner_(recorder_, oracles, options.golden),
        vectors_{{}, options.version, options.selection, options.claims, {}, {}} {}

  Exported run() try {
    struct Task {
      Requirement requirement;
      std::vector<Case> cases;
    };
    std::vector<Task> tasks;
    std::size_t all = 0;
    for (const Requirement& requirement : all_requirements()) {
      if (!options_.selection.wants(requirement.id)) continue;
      CaseList list(requirement.id, recorder_.claims(), options_.selection, options_.golden, options_.stop);
      requirement.cases(list);
      tasks.push_back({requirement, list.take()});
      all += tasks.back().cases.size();
    }
    std::size_t done = 0;
    for (const Task& task : tasks) {
      for (const Case& c : task.cases) {
        if (is_requested(options_.stop)) {
          exported_.interrupted = true;
          return exported_;
        }
        take(task.requirement, c);
        ++done;
        if (options_.progress) options_.progress(std::string(task.requirement.id), done, all);
      }
    }
    if (vectors_.cases.empty()) {
      throw InputError("nothing is left to export; ask for more requirements, types or sources, or claim more");
    }
    finish();
    return exported_;
  } catch (const Interrupted&) {
    exported_.interrupted = true;
    return exported_;
  }

 private:
  void take(const Requirement& requirement, const Case& c) {
    if (const std::string_view reason = reason_against(requirement); !reason.empty()) return leave_out(c, reason);
    std::vector<DescribedCall> calls = recorded(requirement, c, Recorder::Answers::exact);
    if (calls.empty()) return;
    // With other answers, the same check must make the same calls, as far as it gets.
    if (calls.size() > 1) {
      const std::vector<DescribedCall> again = recorded(requirement, c, Recorder::Answers::none);
      for (std::size_t i = 0; i < std::min(calls.size(), again.size()); ++i) {
        if (again[i].record.digest != calls[i].record.digest) return leave_out(c, depends_reason);
      }
    }
    for (const DescribedCall& call : calls) {
      if (options_.most_bytes != 0 && bytes_of(call) > options_.most_bytes) {
        return leave_out(c, fmt::format("a call with more than {} kB of arrays", options_.most_bytes / 1000));
      }
    }
    add(c, std::move(calls));
  }

  std::vector<DescribedCall> recorded(const Requirement& requirement, const Case& c, Recorder::Answers answers) {
    recorder_.begin(c, answers);
    const Finding finding = checked(requirement, c, examiner_);
    if (answers == Recorder::Answers::exact && !finding.passed()) {
      throw std::logic_error("the exact answers do not hold in the case " + to_text(c));
    }
    return recorder_.take();
  }

  void add(const Case& c, std::vector<DescribedCall> calls) {
    const int number = ++numbers_[c.requirement];
    CaseRecord record{c, {}};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (const Content& content : calls[i].contents) store(content);
      name_call(calls[i].record, fmt::format("{}.{:04}.{}", c.requirement, number, i + 1));
      record.calls.push_back(std::move(calls[i].record));
    }
    exported_.calls += static_cast<std::int64_t>(calls.size());
    ++exported_.cases;
    vectors_.cases.push_back(std::move(record));
  }

  void store(const Content& content) {
    if (stored_.insert(content.file).second)
      write(content.file, {reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size()});
  }

  void write(const std::string& file, std::string_view bytes) {
    write_file(folder_ / file, bytes);
    ++exported_.files;
    exported_.bytes += bytes.size();
  }

  void leave_out(const Case& c, std::string_view reason) {
    for (LeftOut& left : vectors_.left_out) {
      if (left.requirement != c.requirement || left.reason != reason) continue;
      ++left.cases;
      return;
    }
    vectors_.left_out.push_back({c.requirement, 1, std::string(reason)});
  }

  void finish() {
    write("manifest.json", to_json(vectors_));
    write("README.md", readme_of(vectors_));
    exported_.left_out = vectors_.left_out;
  }

  const ExportOptions& options_;
  const fs::path& folder_;
  Recorder recorder_;
  Examiner examiner_;
  Vectors vectors_;
  Exported exported_;
  std::map<std::string, int> numbers_;
  std::set<std::string> stored_;
};

}  // namespace

Claims without_memory(Claims claims) {
  for (const rope_feature feature :
       {ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_ANY_STRIDES, ROPE_FEATURE_ROBUST,
        ROPE_FEATURE_SEQLEN_OFFSETS, ROPE_FEATURE_CU_SEQLENS}) {
    claims.capabilities.features &= ~ROPE_BIT(feature);
  }
  claims.shifted_tensors = claims.far_tensors = claims.packed_tensors = claims.concurrent_calls = claims.compiled =
      false;
  return claims;
}

Claims claims_of_files() {
  Claims claims;
  claims.capabilities = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED));
  return without_memory(claims);
}

Claims narrowed(Claims claims, const Selection& selection) {
  rope_capabilities& can = claims.capabilities;
  if (selection.pairing) can.pairings &= ROPE_BIT(static_cast<int>(*selection.pairing));
  const std::vector<std::int32_t>& dims = claims.head_dims;
  const auto claims_dim = [&](std::int32_t dim) { return dims.empty() || std::ranges::find(dims, dim) != dims.end(); };
  // g++ 14 takes an assignment of {x} for a read past its end.
  if (selection.spec && claims_dim(selection.spec->head_dim)) claims.head_dims.assign(1, selection.spec->head_dim);
  if (selection.dtypes.empty()) return claims;
  std::uint32_t selected = 0;
  for (const DType dtype : selection.dtypes) selected |= ROPE_BIT(static_cast<int>(dtype));
  for (std::size_t in = 0; in < std::size(can.out_dtypes); ++in) {
    can.out_dtypes[in] &= (selected >> in & 1u) != 0 ? selected : 0;
  }
  return claims;
}

Exported export_vectors(const fs::path& folder, Oracles& oracles, const ExportOptions& options) {
  NewFolder made(folder);
  Exported exported = Exporter(made.path(), oracles, options).run();
  if (!exported.interrupted) made.keep();
  return exported;
}

}  // namespace rope::vectors
