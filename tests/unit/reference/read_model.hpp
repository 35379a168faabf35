// Reads a config.json that a test has written.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "reference/model_config.hpp"

namespace rope::of_config {

inline ModelConfig read(const std::string& text) { return read_model_config(text, "config.json"); }

inline ModelConfig guessed(const std::string& text) {
  return read_model_config(text, "config.json", {.accepts_guesses = true});
}

inline std::string said(const ModelConfig& model) { return fmt::format("{}", fmt::join(model.assumed, "\n")); }

inline RopeSpec only(const std::string& text) {
  const ModelConfig model = read(text);
  REQUIRE(model.ropes.size() == 1);
  return model.ropes[0].spec;
}

}  // namespace rope::of_config
