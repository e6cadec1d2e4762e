// Repetitions in sequences of letters, and in random programs whose steps are known: found exactly,
// or not at all.
#include "analyze/segments/repetition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "support/prng.h"

namespace perflab::analyze {
namespace {

using test::Prng;

/// Work with one kernel per letter, 100 ns each; a space is idle time of 1000 ns.
WorkSequence letters(std::string_view text) {
  WorkSequence work;
  std::int64_t idle = 0;
  for (const char letter : text) {
    if (letter == ' ') {
      idle += 1000;
      continue;
    }
    work.symbol.push_back(static_cast<std::uint32_t>(letter - 'A'));
    work.name.push_back(work.symbol.back());
    work.duration.push_back(100);
    work.idle.push_back(idle);
    idle = 0;
  }
  return work;
}

/// The occurrences as text with a bar between them; "-" when there are none.
std::string split(std::string_view text) {
  const FoundRepetition found = find_repetition(letters(text));
  EXPECT_NE(found.repetition.has_value(), !found.reason.empty());
  if (!found.repetition) return "-";
  std::string plain(text);
  std::erase(plain, ' ');
  std::string out;
  const std::vector<std::size_t>& begins = found.repetition->begins;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : found.repetition->end;
    out += (i > 0 ? "|" : "") + plain.substr(begins[i], end - begins[i]);
  }
  return out;
}

TEST(Repetition, OfWholeSteps) {
  EXPECT_EQ(split("ABCABCABC"), "ABC|ABC|ABC");
  EXPECT_EQ(split("ABABABAB"), "AB|AB|AB|AB");
  EXPECT_EQ(split("AAAA"), "A|A|A|A");
}

TEST(Repetition, LeavesOutWhatComesBeforeAndAfter) {
  EXPECT_EQ(split("XYABCABCABCABCABCABCZ"), "ABC|ABC|ABC|ABC|ABC|ABC");
  // Also when that runs a kernel of the step.
  EXPECT_EQ(split("AX ABC ABC ABC ABC ABC ABCAX"), "ABC|ABC|ABC|ABC|ABC|ABC");
}

TEST(Repetition, BeginsWhereTheGpuWaitedForTheHost) {
  // The recording begins and ends within a step.
  EXPECT_EQ(split("C ABC ABC ABC ABC ABC ABC A"), "ABC|ABC|ABC|ABC|ABC|ABC");
}

TEST(Repetition, OutermostOfNestedLoops) {
  EXPECT_EQ(split("EABABABH EABABABH EABABABH"), "EABABABH|EABABABH|EABABABH");
  // Tokens twice only: the layers are the one period that there is.
  EXPECT_EQ(split("EABABABABABH EABABABABABH").substr(0, 6), "AB|AB|");
}

TEST(Repetition, WithAKernelThatIsNotInEveryStep) {
  EXPECT_EQ(split("ABC ABXC ABC ABC ABXC ABXC ABC ABC ABC ABC"),
            "ABC|ABXC|ABC|ABC|ABXC|ABXC|ABC|ABC|ABC|ABC");
}

TEST(Repetition, WithMoreWorkInTheFirstStep) {
  EXPECT_EQ(split("ATUTUBTUC ABC ABC ABC ABC ABC ABC ABC ABC ABC ABC"),
            "ATUTUBTUC|ABC|ABC|ABC|ABC|ABC|ABC|ABC|ABC|ABC|ABC");
}

TEST(Repetition, NeedsThree) {
  EXPECT_EQ(split("ABCDABCD"), "-");
  EXPECT_EQ(split("AB"), "-");
  EXPECT_EQ(split(""), "-");
  EXPECT_EQ(find_repetition(letters("ABCDEFGH")).reason,
            "the sequence of 8 dispatches shows no repetition: no kernel begins at least 3 similar "
            "stretches that are most of it");
}

TEST(Repetition, OfKernelsWhoseGeometryGrows) {
  WorkSequence work = letters("ABCABCABCABCABC");
  work.symbol.transform(
      [](std::uint32_t, std::size_t row) { return static_cast<std::uint32_t>(row); });
  const FoundRepetition found = find_repetition(work);
  ASSERT_TRUE(found.repetition);
  EXPECT_EQ(found.repetition->begins, (std::vector<std::size_t>{0, 3, 6, 9, 12}));
}

TEST(Repetition, ToldApartByGeometry) {
  // A norm in every layer, and the same kernel with another grid at the begin of a token.
  WorkSequence work = letters("NGNGNGNGNGNGNGNGNGNGNGNG");
  for (std::size_t i = 0; i < work.size(); i += 8) work.symbol.set(i, 30);
  const FoundRepetition found = find_repetition(work);
  ASSERT_TRUE(found.repetition);
  EXPECT_EQ(found.repetition->begins, (std::vector<std::size_t>{0, 8, 16}));
}

/// A random program and where its steps begin.
struct Program {
  WorkSequence work;
  std::vector<std::size_t> begins;
  std::size_t end = 0;
};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  Program write() {
    const bool waits = random_.below(2) == 0;
    const std::int64_t steps = 3 + random_.below(30);
    const std::vector<std::uint32_t> before = body(1 + random_.below(3));
    const std::vector<std::uint32_t> layer = body(1 + random_.below(5));
    const std::vector<std::uint32_t> after = body(1 + random_.below(3));
    const std::int64_t layers = 1 + random_.below(6);
    const bool sometimes = steps > 8 && random_.below(2) == 0;
    for (std::int64_t i = random_.below(6); i > 0; --i) run(20 + random_.below(4));
    idle_ += 5000;
    bool extra = false;
    for (std::int64_t step = 0; step < steps; ++step) {
      // In pairs, since what is in every third step makes three steps one.
      const bool second = extra;
      extra = sometimes && !second && random_.below(6) == 0;
      slow_ = step < 2 ? 3 : 1;  // warm-up
      if (waits) idle_ += random_.spread(20'000, 200);
      program_.begins.push_back(program_.work.size());
      run(30);
      for (const std::uint32_t kernel : before) run(kernel);
      for (std::int64_t i = 0; i < layers; ++i)
        for (const std::uint32_t kernel : layer) run(kernel);
      if (extra || second) run(31);
      for (const std::uint32_t kernel : after) run(kernel);
      // The very first tunes.
      for (std::int64_t i = step == 0 && steps > 10 ? random_.below(20) : 0; i > 0; --i) run(32);
      run(33);
    }
    program_.end = program_.work.size();
    for (std::int64_t i = random_.below(4); i > 0; --i) run(40 + random_.below(3));
    return std::move(program_);
  }

 private:
  std::vector<std::uint32_t> body(std::int64_t size) {
    std::vector<std::uint32_t> kernels;
    for (std::int64_t i = 0; i < size; ++i)
      kernels.push_back(static_cast<std::uint32_t>(random_.below(12)));
    return kernels;
  }
  void run(std::int64_t kernel) {
    program_.work.name.push_back(static_cast<std::uint32_t>(kernel));
    program_.work.symbol.push_back(static_cast<std::uint32_t>(kernel));
    program_.work.idle.push_back(std::exchange(idle_, 0) + random_.spread(900, 300));
    program_.work.duration.push_back(slow_ * random_.spread(5000 + 400 * kernel, 100));
  }

  Prng random_;
  Program program_;
  std::int64_t idle_ = 0;
  std::int64_t slow_ = 1;
};

TEST(Repetition, OfRandomProgramsIsFoundExactly) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = Writer(seed).write();
    const FoundRepetition found = find_repetition(program.work);
    ASSERT_TRUE(found.repetition) << found.reason;
    EXPECT_EQ(found.repetition->begins, program.begins);
    EXPECT_EQ(found.repetition->end, program.end);
  }
}

TEST(Repetition, OfRandomSequencesIsNone) {
  std::size_t wrong = 0;
  constexpr std::size_t kRounds = 3000;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    Prng random(seed);
    const std::int64_t kernels = 2 + random.below(19);
    const std::int64_t size = 20 + random.below(1000);
    std::string text;
    // Kernels are not equally frequent: the draw is squared.
    for (std::int64_t i = 0; i < size; ++i)
      text += static_cast<char>('A' + random.below(1 + random.below(kernels)));
    wrong += split(text) != "-" ? 1U : 0U;
  }

  EXPECT_LE(wrong, kRounds / 200);  // by chance
}

/// Independent draws of kernels whose frequency falls with a power of their rank (0: uniform).
class Draws {
 public:
  Draws(std::uint64_t seed, std::size_t kernels, double power) : random_(seed) {
    double sum = 0;
    for (std::size_t i = 0; i < kernels; ++i)
      below_.push_back(sum += std::pow(static_cast<double>(i + 1), -power));
    for (double& limit : below_) limit /= sum;
  }

  /// `every`: one dispatch in so many is `helper`, at regular distances; 0: none.
  WorkSequence write(std::size_t size, std::size_t every = 0) {
    WorkSequence work;
    for (std::size_t i = 0; i < size; ++i) {
      const double draw = static_cast<double>(random_.below(1LL << 40)) / (1LL << 40);
      const auto kernel =
          static_cast<std::size_t>(std::ranges::upper_bound(below_, draw) - below_.begin());
      const bool helper = every > 0 && i % every == every - 1;
      work.name.push_back(
          static_cast<std::uint32_t>(helper ? below_.size() : std::min(kernel, below_.size() - 1)));
      work.symbol.push_back(work.name.back());
      work.duration.push_back(100 + random_.below(50));
      work.idle.push_back(random_.below(20));
    }
    return work;
  }

 private:
  Prng random_;
  std::vector<double> below_;
};

TEST(Repetition, OfIndependentDrawsIsNone) {
  std::size_t round = 0;
  for (const std::size_t kernels : {2U, 3U, 5U, 10U, 40U, 200U, 3000U})
    for (const double power : {0.0, 0.7, 1.0, 2.0})
      for (const std::size_t size : {50U, 200U, 1000U, 5000U})
        for (std::uint64_t seed = 0; seed < 25; ++seed) {
          SCOPED_TRACE(testing::Message() << kernels << " kernels, power " << power << ", size "
                                          << size << ", seed " << seed);
          EXPECT_FALSE(find_repetition(Draws(++round, kernels, power).write(size)).repetition);
        }
}

TEST(Repetition, OfLongIndependentDrawsIsNone) {
  std::size_t round = 1'000'000;
  for (const std::size_t kernels : {2U, 64U, 1000U, 50'000U})
    for (const double power : {0.0, 1.0, 1.5}) {
      SCOPED_TRACE(testing::Message() << kernels << " kernels, power " << power);
      EXPECT_FALSE(find_repetition(Draws(++round, kernels, power).write(200'000)).repetition);
    }
}

TEST(Repetition, OfRandomWorkBetweenRegularHelpersIsNone) {
  std::size_t round = 2'000'000;
  for (const std::size_t kernels : {4U, 64U, 500U})
    for (const double power : {0.0, 1.0})
      for (const std::size_t every : {30U, 512U, 5000U}) {
        SCOPED_TRACE(testing::Message()
                     << kernels << " kernels, power " << power << ", every " << every);
        for (int seed = 0; seed < 5; ++seed)
          EXPECT_FALSE(
              find_repetition(Draws(++round, kernels, power).write(every * 20, every)).repetition);
      }
}

TEST(Repetition, OfAMillionDispatchesEndsSoon) {
  WorkSequence work;
  Prng random(7);
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    // Steps of 1000 with layers of 10; and kernels of their own, which occur thrice, everywhere.
    const std::uint32_t in_step = i % 1000;
    std::uint32_t kernel = in_step < 5 ? 10 + in_step : in_step % 10;
    if (random.below(20) == 0) kernel = 100 + static_cast<std::uint32_t>(random.below(15'000));
    work.symbol.push_back(kernel);
    work.name.push_back(kernel);
    work.duration.push_back(90);
    work.idle.push_back(10);
  }
  const FoundRepetition found = find_repetition(work);
  ASSERT_TRUE(found.repetition) << found.reason;
  EXPECT_NEAR(static_cast<double>(found.repetition->begins.size()), 950, 60);
}

}  // namespace
}  // namespace perflab::analyze
