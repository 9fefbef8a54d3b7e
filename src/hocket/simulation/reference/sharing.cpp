// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/simulation/reference/sharing.hpp"

#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/simulation/sharing/incremental.hpp"

namespace hocket::simulation {

std::unique_ptr<SharingModel> make_reference(Sharing sharing, std::vector<double> bandwidths, GoesOn goes_on) {
    switch (sharing) {
        case Sharing::none:
            return make_incremental(sharing, Bandwidths(bandwidths), false);  // nothing is there to be computed again
        case Sharing::equal:
            return make_reference_equal(std::move(bandwidths));
        case Sharing::maxmin:
            return make_reference_maxmin(std::move(bandwidths), std::move(goes_on));
        case Sharing::reserve:
            return make_reference_reserve(std::move(bandwidths));
    }
    throw InvalidInput("sharing is not one of none, equal, maxmin, reserve");
}

}  // namespace hocket::simulation
