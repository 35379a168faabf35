#include "tools/judge/run/task.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

namespace rope {
namespace {

constexpr Requirement four_requirements[] = {{"ROT-01", "", "", "", nullptr, nullptr},
                                             {"POS-01", "", "", "", nullptr, nullptr},
                                             {"SHP-01", "", "", "", nullptr, nullptr},
                                             {"ANG-03", "", "", "", nullptr, nullptr}};

Case of_size(int seq, int heads) {
  Case c;
  c.seq = seq;
  c.heads = heads;
  c.key_heads = 0;
  return c;
}

TEST_CASE("the wanted requirements come in their order with their cases, by any number of threads", "[task]") {
  Selection selection;
  selection.only = {"ROT-01", "SHP", "ANG-03"};
  for (const std::size_t jobs : {std::size_t{1}, std::size_t{4}}) {
    const std::vector<Task> tasks = tasks_of(four_requirements, selection, jobs, [](const Requirement& requirement) {
      return std::vector<Case>(requirement.id == "SHP-01" ? 5 : 2);
    });
    REQUIRE(tasks.size() == 3);
    for (std::size_t i = 0; i < tasks.size(); ++i) CHECK(tasks[i].index == i);
    CHECK(tasks[0].requirement.id == "ROT-01");
    CHECK(tasks[1].requirement.id == "SHP-01");
    CHECK(tasks[2].requirement.id == "ANG-03");
    CHECK(tasks[1].cases.size() == 5);
    CHECK(tasks[2].cases.size() == 2);
    const auto failing = [](const Requirement& requirement) -> std::vector<Case> {
      if (requirement.id != "ROT-01") throw std::runtime_error(std::string(requirement.id));
      return {};
    };
    CHECK_THROWS_WITH(tasks_of(four_requirements, selection, jobs, failing), "SHP-01");
  }
}

// The lanes that have the tasks `one` and `other`.
bool share_a_lane(const std::vector<Task>& tasks, std::size_t one, std::size_t other) {
  const Lanes lanes = share_out(tasks, Processes::several, false);
  CHECK(lanes.size() > 1);
  return std::ranges::any_of(lanes, [&](const std::vector<std::size_t>& lane) {
    CHECK(std::ranges::is_sorted(lane));
    return std::ranges::count(lane, one) + std::ranges::count(lane, other) == 2;
  });
}

TEST_CASE("requirements whose calls take much memory share a lane", "[task]") {
  std::vector<Task> tasks = tasks_of(four_requirements, {}, 1, [](const Requirement& requirement) {
    std::vector<Case> cases(100, of_size(8, 2));
    if (requirement.id == "SHP-01") cases.front() = of_size(1 << 12, 1 << 7);  // 2^26 elements
    if (requirement.id == "ANG-03") {
      cases.front().source = AngleSource::tables;
      cases.front().start = 1 << 20;  // 2^26 numbers
    }
    return cases;
  });
  CHECK(share_a_lane(tasks, 2, 3));
  tasks[2].cases.front() = of_size(1 << 12, 1);
  CHECK_FALSE(share_a_lane(tasks, 2, 3));
}

TEST_CASE("a case takes the memory of all its calls whose results are compared", "[task]") {
  std::vector<Task> tasks = tasks_of(four_requirements, {}, 1, [](const Requirement& requirement) {
    std::vector<Case> cases(100, of_size(8, 2));
    if (requirement.id == "SHP-01") cases.front() = of_size(1 << 12, 3);  // 6 MiB
    if (requirement.id == "ANG-03") cases.front() = of_size(1 << 12, 1 << 7);
    return cases;
  });
  CHECK_FALSE(share_a_lane(tasks, 2, 3));
  tasks[2].requirement.handling.calls = 3;
  CHECK(share_a_lane(tasks, 2, 3));
}

TEST_CASE("a task that is done keeps its first case", "[task]") {
  Task task;
  give_back_cases(task);
  CHECK(task.cases.empty());
  task.cases = {of_size(7, 2), of_size(8, 2), of_size(9, 2)};
  give_back_cases(task);
  REQUIRE(task.cases.size() == 1);
  CHECK(task.cases[0].seq == 7);
}

TEST_CASE("a requirement whose cases make many calls has a lane of its own", "[task]") {
  std::vector<Task> tasks(8);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].index = i;
    tasks[i].cases.assign(100, of_size(8, 2));
  }
  const auto has_own_lane = [&] {
    const Lanes lanes = share_out(tasks, Processes::several, false);
    CHECK(lanes.size() == 4);
    return std::ranges::find(lanes, std::vector<std::size_t>{1}) != lanes.end();
  };
  CHECK_FALSE(has_own_lane());
  tasks[1].requirement.handling.calls = 50;
  CHECK(has_own_lane());
}

TEST_CASE("where a call is slow, elements are worth no further process", "[task]") {
  std::vector<Task> tasks(2);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].index = i;
    tasks[i].cases.assign(100, of_size(32, 2));  // 2^13 elements each
  }
  CHECK(share_out(tasks, Processes::several, false).size() == 2);
  CHECK(share_out(tasks, Processes::few, false).size() == 1);
  for (Task& task : tasks) task.requirement.handling.calls = 10;
  CHECK(share_out(tasks, Processes::few, false).size() == 2);
}

}  // namespace
}  // namespace rope
