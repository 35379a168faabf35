#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <random>

#include "tools/certify/block_check.hpp"
#include "tools/certify/certificate.hpp"
#include "tools/command/callable_subject.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/deadline_options.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/sandbox_options.hpp"
#include "tools/command/signature.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope {
namespace {

using certify::Certificate;

struct CheckOptions {
  std::string path;
  std::int64_t spot = 0;
  std::string subject;
  std::optional<std::uint64_t> seed;
  std::string allowed_signers, identity;
  DeadlineOptions deadlines;
  PythonOptions python;
  SandboxOptions sandbox;
};

std::filesystem::path certificate_in(const std::string& path) {
  return std::filesystem::is_directory(path) ? certify::Folder(path).certificate() : std::filesystem::path(path);
}

// A kernel may choose its code by the machine, so its last bits may differ on another one. It may have learned a
// feature since: the certificate is still true of what it names.
void check_subject(const Certificate& certificate, const std::string& named, Subject& subject) {
  Claims claims = subject.claims();
  for (const std::string& feature : certify::features_since(certificate.plan, claims)) {
    claims.capabilities.features &= ~ROPE_BIT(wire::enumerator(feature, wire::features));
  }
  if (const std::string why = certify::claims_difference(certificate.plan, claims); !why.empty()) {
    throw InputError(fmt::format("the certificate is not {}'s: {}", named, why));
  }
  certify::Identity found = identity_of(certificate.plan, named, subject.code_files());
  found.instruction_set = certificate.identity.instruction_set;
  found.version = certificate.identity.version;
  found.subject = certificate.identity.subject;
  if (const std::string why = difference(found, certificate.identity); !why.empty()) {
    throw InputError(fmt::format("the certificate is not {}'s: {}", named, why));
  }
}

struct Spots {
  std::int64_t unlike = 0;  // blocks that do not agree
  std::string text;
};

// Recomputes random blocks.
Spots check_spots(const Certificate& certificate, const CheckOptions& options) {
  const Stop& stop = stop_on_signal();
  WorkerOptions worker = options.deadlines.worker_options();
  options.sandbox.apply_to(worker, {certificate_in(options.path).parent_path()});
  worker.stop = &stop;
  Oracles oracles;
  const std::string named = options.python.named({options.subject}).front();
  const std::unique_ptr<Subject> subject = open_callable(named, worker, oracles, {});
  check_subject(certificate, named, *subject);
  const std::vector<std::string> since = certify::features_since(certificate.plan, subject->claims());
  const bool same_machine = certify::instruction_set() == certificate.identity.instruction_set;
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  std::mt19937_64 draw(seed);
  certify::BlockCheck check(*subject, certificate.plan);
  Spots spots;
  if (!since.empty()) {
    spots.text = fmt::format("  not in the certificate: {}, which the kernel claims now\n", fmt::join(since, ", "));
  }
  for (std::int64_t i = 0; i < options.spot; ++i) {
    const auto block = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(certificate.plan.blocks()));
    const certify::BlockResult again = check.check(block);
    const std::string why = difference(certificate, again);
    if (why.empty() || (!same_machine && !again.failure)) continue;
    ++spots.unlike;
    spots.text += fmt::format("  {}\n", why);
  }
  spots.text += fmt::format("  {} recomputed{}, {} unlike the certificate (seed {})\n", counted(options.spot, "block"),
                            same_machine ? "" : " on another instruction set, so only the bounds count", spots.unlike,
                            seed);
  return spots;
}

int check(const CheckOptions& options) {
  const std::filesystem::path path = certificate_in(options.path);
  if (options.spot > 0 && options.subject.empty()) {
    throw InputError("certificate check: --spot needs the kernel; add --subject SUBJECT");
  }
  if (!options.identity.empty() && options.allowed_signers.empty()) {
    throw InputError("certificate check: --identity needs the file of keys; add --allowed-signers FILE");
  }
  try {
    const Certificate certificate = certify::read_certificate(path);
    // Before any code of the kernel runs.
    std::string signer;
    if (!options.allowed_signers.empty()) {
      signer = signer_of(path, certify::with_digest(certificate.json), options.allowed_signers, options.identity);
    }
    const Spots spots = options.spot > 0 ? check_spots(certificate, options) : Spots{};
    print_text(stdout, "{}: {}, {} elements of {}, all checked; plan {}\n", certificate.identity.subject,
               certificate.conforms ? "conforms" : "does not conform", certify::checked_elements(certificate.json),
               counted(static_cast<std::int64_t>(certificate.plan.sweeps.size()), "sweep"), certificate.identity.plan);
    if (!signer.empty()) print_text(stdout, "  signed by {}\n", signer);
    print_text(stdout, "{}", spots.text);
    return certificate.conforms && spots.unlike == 0 ? exit_conforms : exit_fails;
  } catch (const certify::Incomplete& error) {
    print_text(stderr, "ropecheck: {}\n", error.what());
    return exit_incomplete;
  }
}

}  // namespace

Action add_certificate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("certificate", "Look at a certificate that `certify` made");
  command->require_subcommand(1);
  auto options = std::make_shared<CheckOptions>();
  CLI::App* checking = command->add_subcommand(
      "check", "Check that a certificate is unchanged and complete, and recompute some of it");
  checking->add_option("path", options->path, "the certificate, or the folder that has it")
      ->type_name(kinds::folder)
      ->required();
  checking->add_option("--spot", options->spot, "recompute so many blocks, drawn at random; needs --subject")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->type_name("N");
  checking->add_option("--subject", options->subject, "the kernel, as for verify")->type_name(kinds::subject);
  checking->add_option("--seed", options->seed, "of the drawn blocks; default: another one each time")->type_name("N");
  checking
      ->add_option("--allowed-signers", options->allowed_signers,
                   "the certificate must be signed by a key in this file; see ALLOWED SIGNERS in ssh-keygen(1)")
      ->type_name(kinds::file);
  checking->add_option("--identity", options->identity, "and by this person of that file")->type_name("NAME");
  options->deadlines.add_to(*checking);
  options->python.add_to(*checking);
  options->sandbox.add_to(*checking);
  return [=]() -> int { return checking->parsed() ? check(*options) : -1; };
}

}  // namespace rope
