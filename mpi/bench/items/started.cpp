// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/started.hpp"

#include <array>
#include <utility>

#include "bench/items/medians.hpp"
#include "bench/items/outcome.hpp"
#include "common/clock.hpp"

namespace hocket::bench {

namespace {

constexpr int calibrating_runs = 5;
constexpr double least_trial_ns = 20e3;

/// Work for a core, in its first cache: not a loop until a time is over, which would hide what others take of the core.
class Work {
public:
    /// So much that it takes `ns` on this rank; returns what it takes.
    double set(double ns) {
        double took_ns = 0;
        for (num_ = 16; (took_ns = timed()) < least_trial_ns;) num_ *= 2;
        num_ = static_cast<std::int64_t>(static_cast<double>(num_) * ns / took_ns) + 1;
        return timed();
    }
    void run() {
        for (std::int64_t i = 0; i < num_; ++i) {
            for (double& value : values_) value = value * 0.5 + 1;
            asm volatile("" ::: "memory");  // nothing of it is left out
        }
    }

private:
    double timed() {
        Medians times;
        for (int i = 0; i < calibrating_runs; ++i) {
            const std::int64_t begin_ns = now_ns();
            run();
            times.add(now_ns() - begin_ns);
        }
        return times.median();
    }

    std::array<double, 64> values_{};
    std::int64_t num_ = 1;
};

class Overlapped : public Pattern {
public:
    Overlapped(std::unique_ptr<Started> pattern, const Setting& setting)
        : pattern_(std::move(pattern)), comm_(setting.comm), computes_(setting.option("overlap") == "compute") {}

    void prepare(std::uint64_t seed) override {
        if (computes_ && pure_ns_ == 0) {
            pattern_->prepare(seed);
            Medians times;
            for (int i = 0; i <= calibrating_runs; ++i) {
                pattern_->before();
                call(MPI_Barrier(comm_), "MPI_Barrier");
                const std::int64_t begin_ns = now_ns();
                pattern_->run();
                if (i > 0) times.add(now_ns() - begin_ns);
            }
            const double own_ns = times.median();
            call(MPI_Allreduce(&own_ns, &pure_ns_, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
            compute_ns_ = work_.set(pure_ns_);
        }
        pattern_->prepare(seed);
    }
    void before() override { pattern_->before(); }
    void run() override {
        const std::int64_t begin_ns = now_ns();
        pattern_->start();
        post_.add(now_ns() - begin_ns);
        if (computes_) work_.run();
        const std::int64_t computed_ns = now_ns();
        pattern_->complete();
        wait_.add(now_ns() - computed_ns);
    }
    void verify() override { pattern_->verify(); }
    void finish() override { pattern_->finish(); }

    [[nodiscard]] Arrival arrival() const override { return pattern_->arrival(); }
    [[nodiscard]] std::vector<Part> parts() const override {
        std::vector<Part> all{{"post", post_.median()}, {"wait", wait_.median()}};
        if (computes_) all.insert(all.end(), {{"pure", pure_ns_}, {"compute", compute_ns_}});
        return all;
    }
    [[nodiscard]] std::int64_t bytes_moved() const override { return pattern_->bytes_moved(); }
    [[nodiscard]] int operations() const override { return pattern_->operations(); }

private:
    std::unique_ptr<Started> pattern_;
    MPI_Comm comm_;
    bool computes_;
    Work work_;
    double pure_ns_ = 0, compute_ns_ = 0;
    Medians post_, wait_;
};

}  // namespace

std::unique_ptr<Pattern> overlapped(std::unique_ptr<Started> pattern, const Setting& setting) {
    if (setting.option("overlap") == "none") return pattern;
    return std::make_unique<Overlapped>(std::move(pattern), setting);
}

}  // namespace hocket::bench
