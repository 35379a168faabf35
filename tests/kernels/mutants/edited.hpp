// A row of the table of bugs as a kernel: the right loop with one edit, under a guard. Its arithmetic is its own; the
// diagnosis has another (tools/diagnose/edit_change.cpp), and tests/unit/diagnose/table_of_bugs_test.cpp compares them.
#pragma once

#include "tests/kernels/mutants/guard.hpp"
#include "tests/kernels/mutants/mutant.hpp"
#include "tools/bugs/edit.hpp"

namespace rope::mutants {

class Edited : public Kernel {
 public:
  explicit Edited(bugs::Edit edit, Guard guard = {}) : edit_(std::move(edit)), guard_(std::move(guard)) {}

  Stages stages() const;  // those that the edit changes

 protected:
  rope_call understood(const rope_call& call) const override;
  std::vector<double> theta(const rope_call& call) const override;
  std::int64_t position(const Place& at, int axis) const override;
  double angle(const rope_call& call, double position, double theta) const override;
  Turn turn(const rope_call& call, double angle) const override;
  Row row(const Place& at, const std::vector<double>& theta) const override;
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override;
  double load(const Place& at, int feature) const override;
  void rotate(const Place& at, Pair pair, const Row& row) const override;
  void store(const Place& at, int feature, double value) const override;
  void pass(const Place& at, int feature) const override;

 private:
  template <class Operator>
  const Operator* edit_if() const {
    return std::get_if<Operator>(&edit_);
  }
  unsigned rounded() const;  // the stages that are rounded
  double on_grid(const rope_call& call, double value) const;
  std::int64_t restrided(const Place& at, const rope_tensor& tensor, int feature) const;
  Place moved(const Place& at, const rope_tensor& of) const;
  Row with_factor(const Place& at, const std::vector<double>& theta, double factor) const;

  bugs::Edit edit_;
  Guard guard_;
};

}  // namespace rope::mutants
