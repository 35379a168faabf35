// CLI11's types for headers: to read CLI11 itself takes a compiler four seconds.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
