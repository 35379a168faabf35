// Two mutants in one kernel: each stage of the loop comes from the mutant that overrides it.
#include <cstdlib>
#include <string>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {

class Combined : public Kernel {
 public:
  Combined(const Mutant& first, const Mutant& second) : first_(first), second_(second) {}

 protected:
  rope_status check(const rope_call* call) const override {
    const Kernel* owner = of(stage_check);
    return owner ? owner->check(call) : Kernel::check(call);
  }
  rope_call understood(const rope_call& call) const override {
    const Kernel* owner = of(stage_understood);
    return owner ? owner->understood(call) : Kernel::understood(call);
  }
  std::vector<double> theta(const rope_call& call) const override {
    const Kernel* owner = of(stage_theta);
    return owner ? owner->theta(call) : Kernel::theta(call);
  }
  std::int64_t position(const Place& at, int axis) const override {
    const Kernel* owner = of(stage_position);
    return owner ? owner->position(at, axis) : Kernel::position(at, axis);
  }
  int axis(const rope_call& call, int pair) const override {
    const Kernel* owner = of(stage_axis);
    return owner ? owner->axis(call, pair) : Kernel::axis(call, pair);
  }
  Pair pair(const rope_call& call, int index) const override {
    const Kernel* owner = of(stage_pair);
    return owner ? owner->pair(call, index) : Kernel::pair(call, index);
  }
  int pair_of(const rope_call& call, int feature) const override {
    const Kernel* owner = of(stage_pair_of);
    return owner ? owner->pair_of(call, feature) : Kernel::pair_of(call, feature);
  }
  double angle(const rope_call& call, double position, double theta) const override {
    const Kernel* owner = of(stage_angle);
    return owner ? owner->angle(call, position, theta) : Kernel::angle(call, position, theta);
  }
  Turn turn(const rope_call& call, double angle) const override {
    const Kernel* owner = of(stage_turn);
    return owner ? owner->turn(call, angle) : Kernel::turn(call, angle);
  }
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const Kernel* owner = of(stage_row);
    return owner ? owner->row(at, theta) : Kernel::row(at, theta);
  }
  void direct(const rope_call& call, Row& row) const override {
    const Kernel* owner = of(stage_direct);
    owner ? owner->direct(call, row) : Kernel::direct(call, row);
  }
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const Kernel* owner = of(stage_element);
    return owner ? owner->element(at, tensor, feature) : Kernel::element(at, tensor, feature);
  }
  double load(const Place& at, int feature) const override {
    const Kernel* owner = of(stage_load);
    return owner ? owner->load(at, feature) : Kernel::load(at, feature);
  }
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Kernel* owner = of(stage_rotate);
    owner ? owner->rotate(at, pair, row) : Kernel::rotate(at, pair, row);
  }
  void store(const Place& at, int feature, double value) const override {
    const Kernel* owner = of(stage_store);
    owner ? owner->store(at, feature, value) : Kernel::store(at, feature, value);
  }
  void pass(const Place& at, int feature) const override {
    const Kernel* owner = of(stage_pass);
    owner ? owner->pass(at, feature) : Kernel::pass(at, feature);
  }

 private:
  const Kernel* of(Stage stage) const {
    if ((first_.stages >> stage & 1U) != 0) return &first_.kernel();
    if ((second_.stages >> stage & 1U) != 0) return &second_.kernel();
    return nullptr;
  }

  const Mutant& first_;
  const Mutant& second_;
};

namespace {

const Mutant* called(std::span<const Mutant> all, const std::string& id) {
  for (const Mutant& m : all) {
    if (m.id == id) return &m;
  }
  return nullptr;
}

const Combined* combination = nullptr;

}  // namespace

const rope_kernel* combined_kernel(std::span<const Mutant> all) {
  static std::string name, description;
  static rope_kernel kernel{};
  const char* wanted = std::getenv("MUTANT_PAIR");
  if (wanted == nullptr) return nullptr;
  name = wanted;
  const std::size_t plus = name.find('+');
  if (plus == std::string::npos) return nullptr;
  const Mutant* first = called(all, name.substr(0, plus));
  const Mutant* second = called(all, name.substr(plus + 1));
  if (first == nullptr || second == nullptr || (first->stages & second->stages) != 0) return nullptr;
  static const Combined both(*first, *second);
  combination = &both;
  description =
      std::string(first->bug_class) + ": " + first->sentence + "; " + second->bug_class + ": " + second->sentence;
  const auto apply = [](const rope_call* call) { return combination->apply(call); };
  kernel = {sizeof(rope_kernel), ROPE_KERNEL_ABI, name.c_str(), description.c_str(), apply, claims()};
  return &kernel;
}

}  // namespace rope::mutants
