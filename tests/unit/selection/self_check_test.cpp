// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/self_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

using hocket::selection::CallKey;
using hocket::selection::SelfCheck;
using Way = SelfCheck::Way;

namespace {

/// The ranks of a communicator and the calls of one collective that they make, in simulated time.
class Ranks {
public:
    Ranks(std::size_t num_ranks, const std::vector<SelfCheck::Entry>& entries)
        : checks_(num_ranks, SelfCheck(entries)) {}

    std::int64_t exchange_ns = 1000;
    std::int64_t lateness_ns = 0;  ///< of all ranks but the last to come to an exchange
    std::int64_t total_ns = 0, extra_ns = 0;
    int num_exchanges = 0;

    /// One call. `wrong_on`: a rank that finds its arguments wrong and does not know the entry. Returns what the ranks
    /// did.
    Way call(CallKey key, std::int64_t native_ns, std::int64_t schedule_ns, std::size_t wrong_on = ~std::size_t{0}) {
        std::size_t num_due = 0;
        for (std::size_t rank = 0; rank < checks_.size(); ++rank)
            num_due += checks_[rank].count(rank == wrong_on ? -1 : key.entry, key.root) ? 1 : 0;
        if (num_due != 0 && num_due != checks_.size()) FAIL("only some ranks exchange");
        Way way = Way::as_planned;
        if (num_due > 0) way = exchange(key, wrong_on);
        const bool given_up = key.entry >= 0 && checks_.front().entry(key.entry).given_up();
        for (std::size_t rank = 0; rank < checks_.size(); ++rank) {
            if (key.entry >= 0 && checks_[rank].entry(key.entry).given_up() != given_up)
                FAIL("only some ranks fall back");
            const std::int64_t part_ns = static_cast<std::int64_t>(rank) + 1;  // the last rank needs all of the time
            const std::int64_t all_ns = way == Way::time_native ? native_ns : schedule_ns;
            if (way != Way::as_planned)
                checks_[rank].took(all_ns * part_ns / static_cast<std::int64_t>(checks_.size()));
        }
        const std::int64_t planned_ns = given_up ? native_ns : schedule_ns;
        total_ns += planned_ns;
        extra_ns += way == Way::time_native ? std::max<std::int64_t>(0, native_ns - planned_ns) : 0;
        return way;
    }
    void inherit(std::int64_t place, std::int64_t standing) {
        for (SelfCheck& check : checks_) check.inherit(place, standing);
    }
    [[nodiscard]] const SelfCheck::Entry& entry(std::int64_t place) const { return checks_.front().entry(place); }

private:
    Way exchange(CallKey key, std::size_t wrong_on) {
        ++num_exchanges;
        extra_ns += exchange_ns;
        SelfCheck::Statement all{};
        all.fill(std::numeric_limits<std::int64_t>::min());
        for (std::size_t rank = 0; rank < checks_.size(); ++rank) {
            const auto mine = checks_[rank].statement(rank == wrong_on ? CallKey{} : key);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], mine[i]);
        }
        Way way = Way::as_planned;
        for (std::size_t rank = 0; rank < checks_.size(); ++rank) {
            const std::int64_t waited_ns = rank + 1 == checks_.size() ? 0 : lateness_ns;
            const Way own = checks_[rank].conclude(all, exchange_ns + waited_ns);
            if (rank > 0) CHECK(own == way);
            way = own;
        }
        return way;
    }

    std::vector<SelfCheck> checks_;
};

using Entries = std::vector<SelfCheck::Entry>;

constexpr CallKey plain{0, 1000, 0};

/// Calls until the entry is given up, at most `most`.
int calls_until_given_up(Ranks& ranks, std::int64_t native_ns, std::int64_t schedule_ns, int most) {
    for (int i = 1; i <= most; ++i) {
        ranks.call(plain, native_ns, schedule_ns);
        if (ranks.entry(0).given_up()) return i;
    }
    return 0;
}

}  // namespace

TEST_CASE("an entry that is slower is given up after five comparisons and one that does not count, before 30 calls") {
    for (const std::size_t num_ranks : {1, 2, 3, 5, 8}) {
        Ranks ranks(num_ranks, Entries(1));
        const int call = calls_until_given_up(ranks, 1'000'000, 2'000'000, 1000);
        CHECK(call > 0);
        CHECK(call < 30);
        CHECK(ranks.entry(0).num_compared == 1 + SelfCheck::policy.lost_comparisons);
        const int before = ranks.num_exchanges;
        for (int i = 0; i < 10'000; ++i) CHECK(ranks.call(plain, 1, 1) == Way::as_planned);
        CHECK(ranks.num_exchanges == before);
    }
}

TEST_CASE("an entry that is only predicted to be faster is given up after few calls, and kept if it is") {
    const Entries on_trial(2, SelfCheck::Entry::on_trial());
    Ranks slower(3, on_trial), much_slower(3, on_trial), faster(3, on_trial);
    const int call = calls_until_given_up(slower, 1'000'000, 1'200'000, 1000);
    CHECK(call > 0);
    CHECK(call <= 12);
    CHECK(calls_until_given_up(much_slower, 1'000'000, 4'000'000, 1000) < call);
    CHECK(slower.entry(0).num_slower() == SelfCheck::trial_policy.lost_comparisons);
    CHECK(calls_until_given_up(faster, 1'500'000, 1'000'000, 2000) == 0);
    CHECK(faster.entry(0).num_compared > 5);
}

TEST_CASE("comparisons cost as little where one entry of many is in use") {
    for (const bool is_on_trial : {false, true}) {
        const Entries entries(8, is_on_trial ? SelfCheck::Entry::on_trial() : SelfCheck::Entry{});
        Ranks ranks(3, entries);
        int num_native = 0;
        for (int call = 0; call < 10'000; ++call)
            num_native += ranks.call({5, 1000, 0}, 3'000'000, 1'000'000) == Way::time_native ? 1 : 0;
        CHECK(num_native >= 20);  // 200 calls pay for one
        CHECK(num_native <= 60);
        CHECK(ranks.num_exchanges <= 10 * num_native);
    }
    Entries waiting(8);
    for (SelfCheck::Entry& entry : waiting) entry.wait = 100;  // by what was measured
    Ranks ranks(3, waiting);
    for (int call = 0; call < 100; ++call) CHECK(ranks.call({5, 1000, 0}, 3'000'000, 1'000'000) == Way::as_planned);
}

TEST_CASE("an entry on trial that gains much costs one native call in a program of few calls") {
    const Entries on_trial(1, SelfCheck::Entry::on_trial());
    const auto num_native = [&](std::int64_t native_ns) {
        Ranks ranks(3, on_trial);
        int num = 0;
        for (int call = 0; call < 16; ++call)
            num += ranks.call(plain, native_ns, 1'000'000) == Way::time_native ? 1 : 0;
        return num;
    };
    CHECK(num_native(3'000'000) == 1);
    CHECK(num_native(1'200'000) == 2);
}

TEST_CASE("a first native call that sets the communicator up hides nothing of an entry on trial") {
    const Entries on_trial(1, SelfCheck::Entry::on_trial());
    for (const std::int64_t num_roots : {1, 3, 8}) {
        Ranks ranks(3, on_trial);
        int call = 0;
        for (bool set_up = false; call < 100 && !ranks.entry(0).given_up(); ++call) {
            const CallKey key{0, 1000, call % num_roots};
            set_up = ranks.call(key, set_up ? 1'000'000 : 500'000'000, 2'000'000) == Way::time_native || set_up;
        }
        CHECK_MESSAGE(call < 64, "roots: ", num_roots);
    }
    // On communicators of few calls each, too.
    std::int64_t standing = SelfCheck::unknown;
    int num_slow = 0, num_communicators = 0;
    for (; num_communicators < 20 && standing < SelfCheck::trial_policy.lost_comparisons; ++num_communicators) {
        Ranks ranks(3, on_trial);
        ranks.inherit(0, standing);
        bool set_up = false;
        for (int call = 0; call < 10; ++call) {
            const Way way = ranks.call(plain, set_up ? 1'000'000 : 500'000'000, 2'000'000);
            set_up = set_up || way == Way::time_native;
            num_slow += way != Way::time_native && !ranks.entry(0).given_up() ? 1 : 0;
        }
        standing = ranks.entry(0).standing();
    }
    CHECK(num_communicators < 5);
    CHECK(num_slow < 25);
}

/// Not served until a comparison shows it to be clearly faster.
SelfCheck::Entry contender() {
    SelfCheck::Entry entry = SelfCheck::Entry::on_trial();
    entry.native_first = true;
    return entry;
}

TEST_CASE("a contender is native until its first comparison, which decides") {
    for (const auto& [schedule_ns, is_faster] : {std::pair{700'000, true}, {850'000, false}, {2'000'000, false}}) {
        Ranks ranks(3, Entries(2, contender()));
        std::vector<Way> ways;
        int decided_at = 0;
        for (int call = 1; call <= 100; ++call) {
            ways.push_back(ranks.call(plain, 1'000'000, schedule_ns));
            if (decided_at == 0 && ranks.entry(0).num_compared > 0) decided_at = call;
        }
        CHECK(ways[0] == Way::as_planned);
        CHECK(std::count(ways.begin(), ways.begin() + decided_at, Way::time_native) == 1);
        CHECK(std::count(ways.begin(), ways.begin() + decided_at, Way::time_schedule) == 1);
        CHECK(decided_at <= 4);  // programs make few calls
        CHECK(ranks.entry(0).native_first == !is_faster);
        CHECK(ranks.entry(0).is_refused() == !is_faster);
        if (!is_faster) {
            CHECK(std::count(ways.begin(), ways.end(), Way::time_schedule) == 1);
            CHECK(ranks.num_exchanges <= 4 + 10);  // the other contender is never called
        } else {
            CHECK(ranks.entry(0).num_compared > 1);
            CHECK_FALSE(ranks.entry(0).given_up());
        }
    }
}

TEST_CASE("a contender that wins once and loses later is given up as any entry on trial") {
    Ranks ranks(2, Entries(1, contender()));
    for (int call = 0; call < 4; ++call) ranks.call(plain, 2'000'000, 1'000'000);
    CHECK_FALSE(ranks.entry(0).native_first);
    CHECK(calls_until_given_up(ranks, 1'000'000, 2'000'000, 100) > 0);
}

TEST_CASE("what communicators have found of a contender holds on the next one") {
    Ranks first(2, Entries(1, contender())), second(2, Entries(1, contender()));
    for (int call = 0; call < 10; ++call) first.call(plain, 1'000'000, 1'000'000);
    second.inherit(0, first.entry(0).standing());
    CHECK(second.entry(0).is_refused());
    for (int call = 0; call < 100; ++call) CHECK(second.call(plain, 1'000'000, 1) == Way::as_planned);
    CHECK(second.num_exchanges == 0);
    Ranks third(2, Entries(1, contender())), fourth(2, Entries(1, contender())), fifth(2, Entries(1, contender()));
    for (int call = 0; call < 4; ++call) third.call(plain, 2'000'000, 1'000'000);
    CHECK(third.entry(0).standing() == SelfCheck::seemed_faster);
    for (Ranks* const next : {&fourth, &fifth}) {
        next->inherit(0, next == &fourth ? SelfCheck::seemed_faster : SelfCheck::shown_faster);
        CHECK_FALSE(next->entry(0).native_first);
        for (int call = 0; call < 50; ++call) next->call(plain, 2'000'000, 1'000'000);
        CHECK_FALSE(next->entry(0).given_up());
    }
}

TEST_CASE("a contender that nothing compares stays native") {
    Entries entries(1, contender());
    entries[0].watched = false;
    Ranks ranks(2, entries);
    for (int call = 0; call < 50; ++call) CHECK(ranks.call(plain, 2, 1) == Way::as_planned);
    CHECK(ranks.num_exchanges == 0);
    CHECK(ranks.entry(0).is_refused());
}

TEST_CASE("one entry in use among many that are not is given up as soon as if it were alone") {
    for (const std::int64_t used : {0, 3, 7}) {
        Ranks ranks(3, Entries(8));
        int call = 0;
        while (call < 1000 && !ranks.entry(used).given_up()) {
            ranks.call({used, 1000, 0}, 1'000'000, 2'000'000);
            ++call;
        }
        CHECK(call < 45);
        for (std::int64_t other = 0; other < 8; ++other)
            if (other != used) CHECK(ranks.entry(other).num_compared == 0);
    }
}

TEST_CASE(
    "a comparison follows at once when the schedule has lost the one before, also where other calls lie between") {
    for (const int distance : {1, 2, 3, 7}) {
        Ranks ranks(3, Entries(1));
        std::vector<int> timed;
        int call = 0;  // of the entry
        for (int i = 0; i < 1000 && !ranks.entry(0).given_up(); ++i) {
            if (i % distance != 0) {
                CHECK(ranks.call({-1, 8, 0}, 1, 1) == Way::as_planned);
                continue;
            }
            ++call;
            if (ranks.call(plain, 1'000'000, 1'500'000) != Way::as_planned) timed.push_back(call);
        }
        REQUIRE(timed.size() == 2 * (1 + SelfCheck::policy.lost_comparisons));
        CHECK(timed[3] + 2 * (SelfCheck::policy.lost_comparisons - 1) == timed.back());
        CHECK(ranks.entry(0).given_up());
    }
}

TEST_CASE("slower by 5 % is not enough, by 6 % it is") {
    Ranks equal(4, Entries(1)), slower(4, Entries(1));
    CHECK(calls_until_given_up(equal, 1'000'000, 1'050'000, 100'000) == 0);
    CHECK(equal.entry(0).num_compared > 100);
    CHECK(calls_until_given_up(slower, 1'000'000, 1'060'000, 100'000) > 0);
}

TEST_CASE("a first native call that sets the communicator up hides nothing") {
    Ranks ranks(3, Entries(1));
    int call = 0;
    for (bool set_up = false; call < 100 && !ranks.entry(0).given_up(); ++call)
        set_up = ranks.call(plain, set_up ? 1'000'000 : 500'000'000, 2'000'000) == Way::time_native || set_up;
    CHECK(call < 60);
}

TEST_CASE("four slightly slower comparisons and a faster one start again") {
    Ranks ranks(3, Entries(1));
    for (int i = 0, compared = 0; i < 5000; ++i) {
        const Way way = ranks.call(plain, 1'000'000, compared % 5 != 4 ? 1'100'000 : 500'000);
        compared += way == Way::time_schedule ? 1 : 0;
    }
    CHECK(ranks.entry(0).num_compared > 50);
    CHECK_FALSE(ranks.entry(0).given_up());
}

TEST_CASE("an entry that wins most comparisons and loses far more in the others is given up") {
    for (const int every : {2, 3, 4}) {
        Ranks ranks(3, Entries(1));
        int compared = 0;
        for (int i = 0; i < 5000 && !ranks.entry(0).given_up(); ++i) {
            const Way way = ranks.call(plain, 1'000'000, compared % every == 0 ? 4'000'000 : 950'000);
            compared += way == Way::time_schedule ? 1 : 0;
        }
        CHECK_MESSAGE(ranks.entry(0).given_up(), "one slow call in ", every);
        CHECK(ranks.entry(0).num_compared < 60);
    }
}

TEST_CASE("an entry that gains 10 % is kept though one comparison in twenty is spoilt") {
    std::mt19937 random(11);
    for (int program = 0; program < 100; ++program) {
        Ranks ranks(3, Entries(1));
        for (int i = 0; i < 3000; ++i) {
            const auto time = [&](std::int64_t ns) {
                return ns * (900 + static_cast<std::int64_t>(random() % 200)) / 1000 * (random() % 20 == 0 ? 5 : 1);
            };
            const std::int64_t native_ns = time(1'100'000), schedule_ns = time(1'000'000);
            ranks.call(plain, native_ns, schedule_ns);
        }
        CHECK_FALSE(ranks.entry(0).given_up());
    }
}

TEST_CASE("an entry that becomes slower later is given up") {
    Ranks ranks(3, Entries(1));
    CHECK(calls_until_given_up(ranks, 2'000'000, 1'000'000, 20'000) == 0);
    CHECK(ranks.entry(0).num_compared > 5);
    CHECK(calls_until_given_up(ranks, 2'000'000, 3'000'000, 1000) > 0);
}

TEST_CASE("comparisons cost at most 1 % of the time") {
    for (const std::int64_t factor : {1, 2, 7, 50}) {
        for (const std::int64_t exchange_ns : {1000, 100'000, 5'000'000}) {
            Entries entries(1);
            entries[0].wait = 100 * (factor - 1);  // as in the plan's evidence
            Ranks ranks(4, entries);
            ranks.exchange_ns = exchange_ns;
            ranks.lateness_ns = 1'000'000'000;  // of others is no cost
            for (int i = 0; i < 200'000; ++i) ranks.call(plain, factor * 1'000'000, 1'000'000);
            CHECK(ranks.entry(0).num_compared >= 20);
            // The first two comparisons come before they are paid for.
            CHECK_MESSAGE(ranks.extra_ns <= ranks.total_ns / 100 + 7 * exchange_ns, "factor ", factor, ", exchange ",
                          exchange_ns);
        }
    }
}

TEST_CASE("with few calls nothing is compared") {
    Ranks ranks(3, Entries(1));
    for (std::uint64_t i = 1; i < SelfCheck::first_position; ++i) ranks.call(plain, 1, 100);
    CHECK(ranks.num_exchanges == 0);
}

TEST_CASE("each goes first in every other comparison") {
    Ranks ranks(2, Entries(1));
    std::vector<Way> ways;
    for (int i = 0; i < 1000; ++i) {
        const Way way = ranks.call(plain, 1'000'000, 1'000'000);
        if (way != Way::as_planned) ways.push_back(way);
    }
    REQUIRE(ways.size() >= 8);
    for (std::size_t i = 0; i + 3 < ways.size(); i += 4) {
        CHECK(ways[i] == Way::time_native);
        CHECK(ways[i + 1] == Way::time_schedule);
        CHECK(ways[i + 2] == Way::time_schedule);
        CHECK(ways[i + 3] == Way::time_native);
    }
}

TEST_CASE("a program whose every other call is slow by itself misleads nobody") {
    Ranks ranks(3, Entries(1));
    for (int i = 0; i < 50'000; ++i) {
        const std::int64_t factor = i % 2 == 0 ? 3 : 1;
        ranks.call(plain, factor * 1'100'000, factor * 1'000'000);
    }
    CHECK(ranks.entry(0).num_compared > 10);
    CHECK_FALSE(ranks.entry(0).given_up());
}

TEST_CASE("a rare entry among many calls is found, and others are let alone") {
    Ranks ranks(3, Entries(2));
    for (int i = 0; i < 100'000 && !ranks.entry(1).given_up(); ++i) {
        if (i % 100 == 57)
            ranks.call({1, 8'000'000, 0}, 1'000'000, 4'000'000);
        else if (i % 10 == 3)
            ranks.call({0, 1000, i % 3}, 3'000'000, 2'000'000);
        else
            ranks.call({-1, 8, 0}, 10'000, 10'000);
    }
    CHECK(ranks.entry(1).given_up());
    CHECK_FALSE(ranks.entry(0).given_up());
    CHECK(ranks.num_exchanges < 200);
}

TEST_CASE("an entry that is not watched is never compared") {
    Entries entries(2);
    entries[0].watched = false;
    Ranks ranks(3, entries);
    for (int i = 0; i < 10'000; ++i) {
        const Way way = ranks.call({i % 2, 1000, 0}, 1'000'000, 9'000'000);
        CHECK((i % 2 == 1 || way == Way::as_planned));
    }
    CHECK(ranks.entry(0).num_compared == 0);
    CHECK_FALSE(ranks.entry(0).given_up());
    CHECK(ranks.entry(1).given_up());
}

TEST_CASE("calls that only one rank finds wrong do not part the ranks") {
    std::mt19937 random(7);
    for (int program = 0; program < 200; ++program) {
        const std::size_t num_ranks = 1 + random() % 7;
        const auto num_entries = static_cast<std::int64_t>(1 + random() % 3);
        Ranks ranks(num_ranks, Entries(static_cast<std::size_t>(num_entries)));
        ranks.lateness_ns = static_cast<std::int64_t>(random() % 10'000'000);
        for (int i = 0; i < 500; ++i) {  // Ranks::call checks that all do the same
            const auto entry = static_cast<std::int64_t>(random() % static_cast<unsigned>(num_entries + 1)) - 1;
            const CallKey key{entry, static_cast<std::int64_t>(random() % 2), static_cast<std::int64_t>(random() % 2)};
            const std::size_t wrong_on = random() % 5 == 0 ? random() % num_ranks : ~std::size_t{0};
            ranks.call(key, 1 + random() % 1'000'000, 1 + random() % 2'000'000, wrong_on);
        }
    }
}

TEST_CASE("what other communicators have found") {
    const CallKey key{0, 1000, 0};
    int num_communicators = 0;
    for (std::int64_t num_slower = 0; num_slower < SelfCheck::policy.lost_comparisons; ++num_communicators) {
        REQUIRE(num_communicators < 5);
        Ranks ranks(3, Entries(1));
        ranks.inherit(0, num_slower);
        for (int call = 0; call < 20; ++call) ranks.call(key, 1000, 2000);
        num_slower = ranks.entry(0).num_slower();
    }
    // Shown to be faster elsewhere, an entry is on trial no more; one that only seems so is compared twice at once.
    const Entries on_trial(1, SelfCheck::Entry::on_trial());
    Ranks first(3, on_trial), second(3, on_trial), third(3, on_trial);
    for (int call = 0; call < 10; ++call) first.call(key, 3000, 1000);
    CHECK(first.entry(0).standing() == SelfCheck::seemed_faster);
    second.inherit(0, SelfCheck::seemed_faster);
    for (int call = 0; call < 10; ++call) second.call(key, 3000, 1000);
    CHECK(second.entry(0).standing() <= SelfCheck::shown_faster);
    third.inherit(0, second.entry(0).standing());
    for (std::uint64_t call = 1; call < SelfCheck::first_position; ++call) third.call(key, 3000, 1000);
    CHECK(third.num_exchanges == 0);
    Entries waiting(1);
    waiting[0].wait = 200;  // by what was measured a comparison is expensive
    Ranks suspects(3, waiting);
    suspects.inherit(0, 1);
    for (int call = 0; call < 20; ++call) suspects.call(key, 1000, 2000);
    CHECK(suspects.entry(0).num_slower() > 1);
    Ranks ranks(3, Entries(2));
    ranks.inherit(0, SelfCheck::policy.lost_comparisons);
    CHECK(ranks.entry(0).given_up());
    for (int call = 0; call < 200; ++call) {
        CHECK(ranks.call(key, 1000, 2000) == Way::as_planned);
        ranks.call({1, 1000, 0}, 1000, 500);
    }
    CHECK(ranks.entry(1).num_compared > 1);
    CHECK_FALSE(ranks.entry(1).given_up());
    Ranks all_given_up(2, Entries(1));
    all_given_up.inherit(0, SelfCheck::policy.lost_comparisons);
    for (int call = 0; call < 50; ++call) all_given_up.call(key, 1000, 2000);
    CHECK(all_given_up.num_exchanges == 0);
}

// As in a factorisation: each call is a little smaller than the one before, and the roots take turns.
TEST_CASE("calls of shrinking size whose roots take turns are compared") {
    Ranks slower(4, Entries(1)), faster(4, Entries(1));
    std::int64_t bytes = 1'000'000;
    for (int i = 0; i < 400; ++i, bytes -= bytes / 400) {
        const CallKey key{0, bytes, i % 4};
        slower.call(key, bytes, bytes * 6 / 5);
        faster.call(key, bytes, bytes * 5 / 6);
    }
    CHECK(slower.entry(0).given_up());
    CHECK_FALSE(faster.entry(0).given_up());
    CHECK(faster.entry(0).num_compared > 1);
}

TEST_CASE("calls of very different sizes are not compared") {
    Ranks ranks(2, Entries(1));
    for (int i = 0; i < 400; ++i) ranks.call({0, i % 2 == 0 ? 1000 : 2000, 0}, i % 2 == 0 ? 1 : 100, 50);
    CHECK_FALSE(ranks.entry(0).given_up());
}
