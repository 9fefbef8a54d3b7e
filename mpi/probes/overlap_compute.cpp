// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/overlap_compute.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "hocket/base/error.hpp"
#include "probes/measuring.hpp"

namespace hocket::probes {

namespace {

constexpr int most_iterations = 200;
constexpr double least_iteration_s = 50e-6;  // of less, a nap is mostly the system's part of it
constexpr int calibrating_runs = 5;

class FreeCore final : public Compute {
public:
    void set(double seconds, MPI_Comm comm) override {
        Compute::set(seconds, comm);
        seconds_ = seconds;
    }

    void run(const std::function<void()>& after_each) override {
        double slept_s = 0;
        for (int i = 1; i <= num_iterations(); ++i) {
            const double nap_s = seconds_ * i / num_iterations() - slept_s;
            if (nap_s > 0) {
                const double begin_s = now_s(), whole_s = std::floor(nap_s);
                const timespec nap{static_cast<time_t>(whole_s), static_cast<long>((nap_s - whole_s) * 1e9)};
                clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
                slept_s += now_s() - begin_s;
            }
            after_each();
        }
    }

private:
    double seconds_ = 0;
};

/// A rank's block of rows, 32 MB, which no cache of a core holds; the product goes over it as often as it takes.
class MatrixVector final : public Compute {
public:
    MatrixVector() : matrix_(rows * columns, 1.0), vector_(columns, 1.0), result_(rows) {}

    void set(double seconds, MPI_Comm comm) override {
        Compute::set(seconds, comm);
        num_rows_ = rows;
        run([] {});
        adjust(seconds, run_s(comm));
        std::array<double, calibrating_runs> times{};  // now as long as it will be
        for (double& time_s : times) time_s = run_s(comm);
        std::sort(times.begin(), times.end());
        adjust(seconds, times[times.size() / 2]);
    }

    void run(const std::function<void()>& after_each) override {
        for (int i = 0; i < num_iterations(); ++i) {
            const std::ptrdiff_t first = num_rows_ * i / num_iterations();
            const std::ptrdiff_t last = num_rows_ * (i + 1) / num_iterations();
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
            for (std::ptrdiff_t row = first; row < last; ++row) {
                const double* const factors = matrix_.data() + row % rows * columns;
                double sum = 0;
#ifdef _OPENMP
#pragma omp simd reduction(+ : sum)
#endif
                for (std::ptrdiff_t column = 0; column < columns; ++column) {
                    sum += factors[column] * vector_[static_cast<std::size_t>(column)];
                }
                result_[static_cast<std::size_t>(row % rows)] = sum;
            }
            after_each();
        }
    }

private:
    /// Of the slowest rank.
    double run_s(MPI_Comm comm) {
        require(PMPI_Barrier(comm), "MPI_Barrier");
        const double begin_s = now_s();
        run([] {});
        double took_s = now_s() - begin_s, longest_s = 0;
        require(PMPI_Allreduce(&took_s, &longest_s, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
        return longest_s;
    }
    void adjust(double wanted_s, double measured_s) {
        num_rows_ = std::max<std::ptrdiff_t>(1, std::lround(wanted_s / measured_s * static_cast<double>(num_rows_)));
    }

    static constexpr std::ptrdiff_t rows = 1000, columns = 4000;
    std::vector<double> matrix_, vector_, result_;
    std::ptrdiff_t num_rows_ = 0;
};

}  // namespace

void Compute::set(double seconds, MPI_Comm) {
    num_iterations_ = static_cast<int>(std::clamp(seconds / least_iteration_s, 1.0, double{most_iterations}));
}

std::unique_ptr<Compute> make_compute(std::string_view model) {
    if (model == "free-core") return std::make_unique<FreeCore>();
    if (model == "real") return std::make_unique<MatrixVector>();
    throw InvalidInput("--compute is \"" + std::string(model) + "\"; accepted: free-core, real");
}

int num_compute_threads() {
#ifdef _OPENMP
    // Ranks share the cores of their host: one thread for each core would be too many.
    if (std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(1);
    return omp_get_max_threads();
#else
    return 1;
#endif
}

}  // namespace hocket::probes
