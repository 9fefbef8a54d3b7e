// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include <functional>
#include <optional>
#include <vector>

#include "hocket/simulation/simulate.hpp"

namespace bindings {

namespace nb = nanobind;

using Vector = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;

using Bytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;
/// The rows as raw bytes that belong to `owner`; Python looks at them through a dtype.
template <class Row>
Bytes rows_of(const std::vector<Row>& rows, nb::handle owner) {
    return {reinterpret_cast<const std::uint8_t*>(rows.data()), {rows.size() * sizeof(Row)}, owner};
}

/// Views into the object `self`, which they keep alive.
inline Vector view(nb::handle self, const std::vector<double>& values) {
    return Vector(values.data(), {values.size()}, self);
}
/// Rows of links, columns of time.
inline Matrix view(nb::handle self, const hocket::LinkBins& bins) {
    return Matrix(bins.bytes.data(), {static_cast<std::size_t>(bins.num_rows), static_cast<std::size_t>(bins.num_bins)},
                  self, {1, bins.num_rows});
}

using LinkRows = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
inline hocket::LinkBinOptions link_bin_options(std::int32_t num_bins, const std::optional<LinkRows>& rows) {
    hocket::LinkBinOptions options;
    options.num_bins = num_bins;
    if (rows) options.row_of_link.assign(rows->data(), rows->data() + rows->size());
    return options;
}

/// Whether a Python function that gets the progress wants to go on: a function that only reports something returns
/// None, or anything else.
inline bool wants_to_go_on(const nb::object& answer) {
    if (answer.is_none()) return true;
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) nb::raise_python_error();
    return truth != 0;
}

/// A Python function of (done, total, simulated_s) that stops the simulation where it returns a false value that is not
/// None. Other threads run between its calls.
using PythonProgress = std::function<nb::object(std::int64_t, std::int64_t, double)>;
inline hocket::OnProgress on_progress(const std::optional<PythonProgress>& function) {
    if (!function) return {};
    return [&function](const hocket::SimulationProgress& progress) {
        const nb::gil_scoped_acquire acquire;  // also while the answer is read and released
        return wants_to_go_on((*function)(progress.num_done, progress.num_total, progress.simulated_s));
    };
}

}  // namespace bindings
