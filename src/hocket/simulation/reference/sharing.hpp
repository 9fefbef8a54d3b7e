// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hocket/cost/cost_model.hpp"
#include "hocket/simulation/sharing/sharing_model.hpp"

namespace hocket::simulation {

/// Asked now and then in an update that takes long; where it returns false, the update ends at once, reports no
/// change, and rates are wrong.
using GoesOn = std::function<bool()>;

/// The plain rules, which the incremental models are compared with. They do not look at Passage::delays_s but for
/// reserve.
std::unique_ptr<SharingModel> make_reference(Sharing, std::vector<double> bandwidths, GoesOn = {});
std::unique_ptr<SharingModel> make_reference_equal(std::vector<double> bandwidths);
std::unique_ptr<SharingModel> make_reference_maxmin(std::vector<double> bandwidths, GoesOn = {});
std::unique_ptr<SharingModel> make_reference_reserve(std::vector<double> bandwidths);

}  // namespace hocket::simulation
