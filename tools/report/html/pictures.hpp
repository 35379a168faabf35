// What the pictures of a page are made of: coordinates, in a square of 340 units a side or lower.
#pragma once

#include <string>
#include <vector>

#include "tools/report/html/model.hpp"

namespace rope::html {

// Pairs of features, those asked for and those that the kernel turns: {"head_dim", "asked", "executed"}.
Json pairs_picture(const Json& pairs);
// Their theta.
Json thetas_picture(const Json& pairs);

// Which rows of a call came out wrong: {"call", "tensors"}.
Json rows_picture(const Json& wrong_rows);

// The mean error of all results: an element of a report whose "what" is "mean".
Json bias_picture(const Json& element);

Json heat_legend();
// `grade`: what the verdict says of the dtype; null if it says none, or nothing.
Json heat_picture(const Json& map, const Json& grade);

// Counts of pairs by their error, from a 2^-(bins - 2) of the bound to beyond the bound.
Json histogram_picture(const Json& counts, const std::string& title);

Json horizon_picture(const Json& horizons);

// The path of a cross in the middle of a cell.
std::string cross(double x, double y, double width, double height);

Json label(double x, double y, const std::string& text, const char* anchor = "middle");

// The powers of ten from `least` to `most` that a logarithmic axis shows, at most about six.
std::vector<int> decades(double least, double most);

// "2^20", "1024", "0": as short as a position can be written.
std::string position_words(double position);

}  // namespace rope::html
