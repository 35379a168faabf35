// One of our own kernels as a subject, called in this process because it is trusted.
#pragma once

#include "tools/judge/call/stop.hpp"
#include "tools/judge/run/subject.hpp"

namespace rope {

// A kernel's claims in the suite's form. Copies the kernel's arrays.
Claims claims_of(const rope_capabilities& capabilities);

class KernelSubject : public Subject {
 public:
  // Once `stop` is requested, each call throws Interrupted instead.
  explicit KernelSubject(const rope_kernel& kernel, const Stop* stop = nullptr);

  const std::string& name() const override { return name_; }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override;
  Opener opener() const override;
  std::optional<Reply> apply_concurrently(Call& call, Call& companion) override;

 private:
  const rope_kernel& kernel_;
  const Stop* stop_;
  std::string name_;
  Claims claims_;
};

}  // namespace rope
