// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// SimGrid on a case, by its C++ interface S4U. Options:
//   style=callbacks   each message is started by the callback of the one before: no actors, hence no stacks
//                     (the leanest)
//   style=actors      one actor a source, which sends and waits (how its users write it)
//   platform=routes   a zone of our own that computes the routes (builds fast)
//   platform=shipped  SimGrid's own fat tree zone
//   user_limit=S      stop after so many seconds of user CPU time
// Model CM02 without factors: what is left is max-min sharing of full-duplex links, which is what hocket computes.

#include <memory>
#include <vector>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include "driver.hpp"
#include "fat_tree.hpp"

namespace sg = simgrid::s4u;

namespace {

/// A zone that knows its routes by arithmetic. Its hosts come first, so that their numbers are those of the case.
class ComputedZone : public simgrid::kernel::routing::NetZoneImpl {
public:
    ComputedZone(const peers::Case& c, std::vector<sg::Host*>& hosts, sg::NetZone& parent)
        : NetZoneImpl("fat-tree"), tree_(c.children) {
        set_parent(parent.get_impl());
        for (std::int32_t h = 0; h < tree_.num_hosts(); ++h)
            hosts.push_back(add_host("h" + std::to_string(h), {1e9})->seal());
        for (std::int32_t l = 0; l < 2 * tree_.num_cables(); ++l) {
            sg::Link* const link = add_link("l" + std::to_string(l), {c.bandwidth_bytes_per_s});
            links_.push_back(link->set_latency(c.latency_s)->seal()->get_impl());
        }
        latency_s_ = c.latency_s;
    }
    void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                         simgrid::kernel::routing::Route* into, double* latency_s) override {
        tree_.route(static_cast<std::int32_t>(from->id()), static_cast<std::int32_t>(to->id()), hops_);
        for (const auto& hop : hops_)
            into->link_list_.push_back(links_[static_cast<std::size_t>(2 * hop.cable + (hop.upwards ? 0 : 1))]);
        if (latency_s != nullptr) *latency_s += latency_s_ * static_cast<double>(hops_.size());
    }

private:
    peers::FatTree tree_;
    std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
    std::vector<peers::FatTree::Hop> hops_;
    double latency_s_;
};

void add_shipped_zone(const peers::Case& c, std::vector<sg::Host*>& hosts, sg::NetZone& parent) {
    const auto size = [&](std::size_t level) { return static_cast<unsigned>(c.children[level]); };
    auto* const zone =
        parent.add_netzone_fatTree("fat-tree", 3, {size(0), size(1), size(2)}, {1, size(0), size(1)}, {1, 1, 1},
                                   c.bandwidth_bytes_per_s, c.latency_s, sg::Link::SharingPolicy::SPLITDUPLEX);
    hosts.resize(static_cast<std::size_t>(c.num_hosts()));
    zone->set_host_cb([&](sg::NetZone* of, const std::vector<unsigned long>&, unsigned long id) {
        return hosts[id] = of->add_host("h" + std::to_string(id), {1e9})->seal();
    });
    zone->seal();
}

class Run {
public:
    Run(const peers::Case& c, double user_limit_s, std::vector<sg::Host*> hosts)
        : c_(c), user_limit_s_(user_limit_s), hosts_(std::move(hosts)) {
        outcome_.finish_s.resize(hosts_.size());
    }

    void with_actors() {
        for (std::size_t s = 0; s < hosts_.size(); ++s)
            hosts_[s]->add_actor("a", [this, s] {
                const hocket::Rank source{static_cast<std::int32_t>(s)};
                for (std::int64_t i = 0; i < c_.traffic->num_messages(source); ++i) {
                    const auto message = c_.traffic->message(source, i);
                    sg::Comm::sendto_async(hosts_[s], hosts_[message.target.at()],
                                           static_cast<std::uint64_t>(message.bytes))
                        ->wait();
                    arrived(s);
                }
            });
        outcome_.setup_done();
        sg::Engine::get_instance()->run();
    }

    void with_callbacks() {
        comms_.resize(hosts_.size());
        next_.resize(hosts_.size());
        outcome_.setup_done();
        for (std::size_t s = 0; s < hosts_.size(); ++s) start_next(s);
        sg::Engine::get_instance()->run();
    }

    const peers::Outcome& outcome() const { return outcome_; }

private:
    void start_next(std::size_t s) {
        const hocket::Rank source{static_cast<std::int32_t>(s)};
        if (next_[s] == c_.traffic->num_messages(source)) return;
        const auto message = c_.traffic->message(source, next_[s]++);
        ended_ = comms_[s];  // its callback runs just now, so that it must outlive this call
        comms_[s] = sg::Comm::sendto_init(hosts_[s], hosts_[message.target.at()]);
        comms_[s]->set_payload_size(static_cast<std::uint64_t>(message.bytes));
        comms_[s]->on_this_completion_cb([this, s](const sg::Comm&) {
            arrived(s);
            start_next(s);
        });
        comms_[s]->start();
    }

    void arrived(std::size_t s) {
        outcome_.finish_s[s] = sg::Engine::get_clock();
        if (++outcome_.num_messages % 256 == 0 && peers::user_s() > user_limit_s_) {
            outcome_.cut_off = true;
            peers::print(c_, outcome_);
            std::_Exit(0);
        }
    }

    const peers::Case& c_;
    double user_limit_s_;
    std::vector<sg::Host*> hosts_;
    std::vector<sg::CommPtr> comms_;  // [source] on its way
    sg::CommPtr ended_;
    std::vector<std::int64_t> next_;  // [source] message
    peers::Outcome outcome_;
};

}  // namespace

int main(int argc, char** argv) {
    return peers::run_driver([&] {
        peers::Case c = peers::read_case(argc, argv);
        const std::string style = c.option("style", "callbacks"), platform = c.option("platform", "routes");
        const double user_limit_s = peers::number(c, "user_limit", "1e9");
        c.refuse_others();
        if (style != "callbacks" && style != "actors") throw std::invalid_argument("style=" + style);
        if (platform != "routes" && platform != "shipped") throw std::invalid_argument("platform=" + platform);
        int no_arguments = 1;
        sg::Engine engine(&no_arguments, argv);
        sg::Engine::set_config("network/model:CM02");
        sg::Engine::set_config("network/TCP-gamma:0");
        sg::Engine::set_config("network/crosstraffic:0");
        sg::Engine::set_config("contexts/factory:raw");
        sg::Engine::set_config("contexts/stack-size:16");
        // A guard page splits the mapping of each stack: 65,536 actors would exceed vm.max_map_count.
        sg::Engine::set_config("contexts/guard-size:0");
        std::vector<sg::Host*> hosts;
        sg::NetZone& root = *engine.get_netzone_root();
        if (platform == "routes") {
            new ComputedZone(c, hosts, root);  // the engine deletes it
        } else {
            add_shipped_zone(c, hosts, root);
        }
        engine.seal_platform();
        Run run(c, user_limit_s, std::move(hosts));
        style == "actors" ? run.with_actors() : run.with_callbacks();
        peers::print(c, run.outcome());
        std::_Exit(0);  // taking the platform down is not what is measured
    });
}
