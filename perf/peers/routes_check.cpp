// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Whether the fat tree that the peers are told of is hocket's: routes_check network=2x3x4 compares, for all pairs of
// hosts, the cables of hocket's route with those of fat_tree.hpp, end by end. Prints the number of pairs.

#include "driver.hpp"
#include "fat_tree.hpp"
#include "hocket/network/regular.hpp"

int main(int argc, char** argv) {
    return peers::run_driver([&] {
        const peers::Case c = peers::read_case(argc, argv);
        c.refuse_others();
        const peers::FatTree tree(c.children);
        const auto regular = hocket::network::make_regular("fat-tree:" + c.shape(), {});
        std::vector<hocket::LinkId> links;
        std::vector<peers::FatTree::Hop> hops;
        long long pairs = 0;
        for (std::int32_t a = 0; a < tree.num_hosts(); ++a) {
            for (std::int32_t b = 0; b < tree.num_hosts(); ++b) {
                links.clear();
                if (a != b) regular->route(hocket::NodeId{a}, hocket::NodeId{b}, links);
                tree.route(a, b, hops);
                bool same = links.size() == hops.size();
                for (std::size_t i = 0; same && i < links.size(); ++i) {
                    const auto ours = regular->cable(links[i].value / 2);
                    const auto theirs = tree.cable(hops[i].cable);
                    same = ours.first == theirs.below && ours.second == theirs.above &&
                           (links[i].value % 2 == 0) == hops[i].upwards;
                }
                if (!same)
                    throw std::runtime_error("the routes from host " + std::to_string(a) + " to host " +
                                             std::to_string(b) + " differ");
                ++pairs;
            }
        }
        std::printf("%lld\n", pairs);
    });
}
