// RopeSpec: what a person writes down about a rope variant. compile() in rotation_plan.hpp turns it into a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/scaling/rules.hpp"

namespace rope {

// The same numeric values as rope_pairing in impls/include/rope_kernel.h.
enum class Pairing : std::int32_t {
  half_split = 0,  // pairs (p, p + rotary_dim/2): GPT-NeoX, Llama in Hugging Face
  interleaved = 1  // pairs (2p, 2p + 1): RoFormer, GPT-J
};
std::string_view name(Pairing pairing);

// Which position coordinate each pair follows. Without sections all follow axis 0.
struct AxisLayout {
  // The same numeric values as rope_axis_order in impls/include/rope_kernel.h, which says what they mean.
  enum class Order { chunked = 0, interleaved = 1, spread = 2, others_first = 3 };
  std::vector<int> sections;  // pairs of each axis; their sum is rotary_dim/2
  Order order = Order::chunked;
  bool restart = false;  // frequencies start again in each section, as if it were a rope of its own: 2-D axial

  int count() const { return sections.empty() ? 1 : static_cast<int>(sections.size()); }
  friend bool operator==(const AxisLayout&, const AxisLayout&) = default;
};

// xPos, arXiv 2212.10554: zeta[p] = (2p/r + gamma) / (1 + gamma).
struct XPos {
  double gamma = 0.4;
  double scale_base = 512;  // positions
  double center = 0;        // position at which the magnitude is 1

  friend bool operator==(const XPos&, const XPos&) = default;
};

struct RopeSpec {
  int head_dim = 128;
  int rotary_dim = 128;   // even, 2 .. head_dim
  int rotary_offset = 0;  // even; features rotary_offset .. rotary_offset + rotary_dim - 1 rotate
  Pairing pairing = Pairing::half_split;
  double base = 10000;
  Scaling scaling;
  AxisLayout axes;
  std::optional<double> attention_factor;  // overrides the scaling rule's factor
  std::optional<XPos> xpos;

  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

// Throws InputError that names the field, its value and what is allowed.
void validate(const RopeSpec& spec);

// Moves the features that rotate back into the head, after a change of its size.
void keep_in_head(RopeSpec& spec);

// The axis of each of the rotary_dim/2 pairs.
std::vector<int> axis_of_pairs(const RopeSpec& spec);

// JSON, schema rope_spec.schema.json. Unknown fields are errors. `where` names the source in messages.
RopeSpec spec_from_json(std::string_view text, std::string_view where);
std::string to_json(const RopeSpec& spec);

// "yarn,factor=4,original_max_position_embeddings=4096" as on the command line; arrays as 1.0:1.5:2.0.
Scaling scaling_from_flag(std::string_view text);

// The command-line flags that make this spec again.
std::string to_flags(const RopeSpec& spec);

}  // namespace rope
