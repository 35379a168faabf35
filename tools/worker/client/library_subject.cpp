#include "tools/worker/client/library_subject.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tools/worker/client/first_words.hpp"
#include "tools/worker/client/program_files.hpp"
#include "tools/worker/client/subject_error.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace {

using worker::Launch;

std::string host_program(const WorkerOptions& options) {
  if (!options.host.empty()) return options.host.string();
  const std::filesystem::path host = program_file("ropecheck_host");
  if (!std::filesystem::exists(host)) {
    throw SubjectError(
        fmt::format("{} is missing; it is built and installed with ropecheck (CMake target "
                    "ropecheck_host) and runs kernels of shared libraries",
                    host.string()));
  }
  return host.string();
}

Launch launch_for(const std::filesystem::path& library, const WorkerOptions& options) {
  std::error_code ignored;  // a link to itself does not exist either
  if (!std::filesystem::exists(library, ignored)) {
    throw SubjectError(fmt::format("{} does not exist; give the path of a shared library, as in path/lib.so#kernel",
                                   library.string()));
  }
  if (std::filesystem::is_directory(library)) {
    throw SubjectError(fmt::format("{} is a folder, not a shared library", library.string()));
  }
  Launch launch{{host_program(options), "__worker"},
                // Absolute: a name without a slash would be searched for in the system's folders.
                {"ROPECHECK_LIBRARY=" + std::filesystem::absolute(library).string()}};
  launch.program = worker::WorkerProgram::library_host;
  if (const char* driver = std::getenv("ROPECHECK_CUDA_DRIVER")) {
    launch.environment.push_back(fmt::format("ROPECHECK_CUDA_DRIVER={}", driver));
  }
  return launch;
}

// What `act` returns. If it fails, the error names the library, even if its worker had no time to.
template <class Act>
auto naming(const std::filesystem::path& library, const Act& act) {
  try {
    return act();
  } catch (const SubjectError& error) {
    const std::string message = error.what();
    if (message.find(library.filename().string()) != std::string::npos) throw;
    throw SubjectError(fmt::format("{}: {}", library.string(), message));
  }
}

}  // namespace

KernelList kernel_list_in(const nlohmann::json& words) try {
  KernelList list{words.at("kernels").get<std::vector<std::string>>(), {}};
  for (const std::string& name : list.names) {
    if (wire::shown_name(name) != name) throw std::invalid_argument("a name is not printed as it is");
  }
  for (const nlohmann::json& one : words.value("refused", nlohmann::json::array())) {
    list.refused.push_back({wire::whole<std::size_t>(one.at("index"), "index"),
                            wire::printable(one.at("why").get<std::string>(), 1 << 12)});
  }
  const std::size_t kernels = list.names.size() + list.refused.size();
  if (kernels == 0) throw std::invalid_argument("it names no kernel");
  if (kernels > wire::most_kernels) {
    throw std::invalid_argument(fmt::format("it names {} kernels; a library may hold {}", kernels, wire::most_kernels));
  }
  return list;
} catch (const std::exception& error) {  // from the JSON library, too: a member of another type
  throw SubjectError(fmt::format("the worker's list of kernels cannot be used: {}", error.what()));
}

std::unique_ptr<WorkerSubject> open_library(const std::filesystem::path& library, std::string_view kernel_name,
                                            const WorkerOptions& options) {
  Launch launch = launch_for(library, options);
  launch.environment.push_back(fmt::format("ROPECHECK_KERNEL={}", kernel_name));
  return naming(library,
                [&] { return open_worker(launch, fmt::format("{}#{}", library.string(), kernel_name), options); });
}

KernelList kernels_in(const std::filesystem::path& library, const WorkerOptions& options) {
  Launch launch = launch_for(library, options);
  launch.sandbox = options.sandbox;
  using Use = worker::SharedMemory::Use;
  const worker::SharedMemory inputs("ropecheck-inputs", Use::read_only);  // unused, but a worker expects them
  const worker::SharedMemory outputs("ropecheck-outputs", Use::writable);
  return naming(library, [&] {
    worker::WorkerProcess process(launch, inputs, outputs, options.stop);
    return kernel_list_in(worker::first_words(process, "kernels", options.limits(options.load_deadline)));
  });
}

}  // namespace rope
