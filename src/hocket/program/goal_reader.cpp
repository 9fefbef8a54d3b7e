// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/program/goal.hpp"

namespace hocket {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Token {
    std::string_view text;  ///< "\n" at the end of a line, empty at the end of the text
    int line;
};

/// Cuts the text into words, whole numbers, signs and ends of lines; "10b" is a number and a word.
class Scanner {
public:
    Scanner(std::string_view text, std::string_view source) : text_(text), source_(source) { advance(); }

    [[nodiscard]] const Token& peek() const { return token_; }
    [[nodiscard]] bool at(std::string_view text) const { return token_.text == text; }
    [[nodiscard]] bool at_word() const { return !token_.text.empty() && is_letter(token_.text[0]); }
    Token take() {
        const Token taken = token_;
        advance();
        return taken;
    }
    /// What a comment right before the current token's line, such as `// reduce 1000b`, makes of a calc.
    [[nodiscard]] std::optional<ProgramOp> take_meaning() { return std::exchange(meaning_, std::nullopt); }
    /// Such a comment of a circuit that names no rank, such as `connect x`; empty: there is none.
    [[nodiscard]] std::string_view take_meaningless() { return std::exchange(meaningless_, {}); }

    [[noreturn]] void refuse(int line, const std::string& what, const std::string& hint = {}) const {
        throw InvalidInput(std::string(source_) + ", line " + std::to_string(line) + ": " + what, hint);
    }
    [[noreturn]] void refuse_token(const std::string& expected) const {
        const std::string found = token_.text.empty()   ? "the end of the file"
                                  : token_.text == "\n" ? "the end of the line"
                                                        : base::quoted(token_.text);
        refuse(token_.line, "expected " + expected + ", found " + found);
    }
    void expect(std::string_view text) {
        if (!at(text)) refuse_token(base::quoted(text));
        advance();
    }
    /// A whole number from 0 to `most`.
    std::int64_t number(const std::string& what, std::int64_t most) {
        std::int64_t value = 0;
        const char* const end = token_.text.data() + token_.text.size();
        if (token_.text.empty() || !is_digit(token_.text[0])) refuse_token(what);
        if (std::from_chars(token_.text.data(), end, value).ec != std::errc() || value > most)
            refuse_token(what + " up to " + std::to_string(most));
        advance();
        return value;
    }
    std::string_view word(const std::string& what) {
        if (!at_word()) refuse_token(what);
        return take().text;
    }
    void end_statement() {
        if (!at("\n") && !at("}") && !at("")) refuse_token("the end of the line");
    }
    void skip_lines() {
        while (at("\n")) advance();
    }

private:
    void advance() {
        while (position_ < text_.size()) {
            const std::string_view rest = text_.substr(position_);
            if (rest.starts_with("//")) {
                const std::size_t length = std::min(rest.find('\n'), rest.size());
                if (token_.text == "\n") read_meaning(rest.substr(2, length - 2));
                position_ += length;
            } else if (rest.starts_with("/*")) {
                const std::size_t end = rest.find("*/", 2);
                if (end == std::string_view::npos) refuse(line_, "the comment /* has no end */");
                line_ +=
                    static_cast<int>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
                position_ += end + 2;
            } else if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r') {
                ++position_;
            } else {
                break;
            }
        }
        const std::string_view rest = text_.substr(position_);
        std::size_t length = rest.empty() ? 0 : 1;
        if (!rest.empty() && is_letter(rest[0]))
            while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]) || rest[length] == '_'))
                ++length;
        if (!rest.empty() && is_digit(rest[0]))
            while (length < rest.size() && is_digit(rest[length])) ++length;
        if (!rest.empty() && (rest[0] & 0x80) != 0)  // a whole character, so that a message that quotes it is text
            while (length < rest.size() && (rest[length] & 0xC0) == 0x80) ++length;
        token_ = {rest.substr(0, length), line_};
        if (token_.text == "\n") ++line_;
        position_ += length;
    }

    /// Remembers `reduce 1000b`, `connect 1` or `disconnect 1`, which to_goal() writes on the line before a calc.
    void read_meaning(std::string_view comment) {
        if (comment.ends_with('\r')) comment.remove_suffix(1);
        for (const ProgramOpKind kind : {ProgramOpKind::reduce, ProgramOpKind::connect, ProgramOpKind::disconnect}) {
            const std::string start = " " + std::string(name_of(kind)) + " ";
            if (!comment.starts_with(start)) continue;
            const bool reduces = kind == ProgramOpKind::reduce;
            if (!reduces && comment.find(' ', start.size()) == std::string_view::npos) meaningless_ = comment.substr(1);
            comment.remove_prefix(start.size());
            if (reduces && !comment.ends_with('b')) return;
            if (reduces) comment.remove_suffix(1);
            std::int64_t number = 0;
            const auto [end, error] = std::from_chars(comment.data(), comment.data() + comment.size(), number);
            const std::int64_t most =
                reduces ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int32_t>::max();
            if (error != std::errc() || end != comment.data() + comment.size() || number < 0 || number > most) return;
            meaning_ = {.kind = kind, .peer = {}};
            meaningless_ = {};
            if (reduces)
                meaning_->bytes = number;
            else
                meaning_->peer = Rank{static_cast<std::int32_t>(number)};
            return;
        }
    }

    std::string_view text_, source_;
    std::size_t position_ = 0;
    int line_ = 1;
    Token token_{};
    std::optional<ProgramOp> meaning_;
    std::string_view meaningless_;
};

/// One `rank r { ... }`: ops as they come, dependencies by label, joined at the end.
class RankReader {
public:
    RankReader(Scanner& scanner, std::int32_t num_ranks) : scanner_(scanner), num_ranks_(num_ranks) {}

    RankProgram read() {
        scanner_.expect("{");
        for (scanner_.skip_lines(); !scanner_.at("}"); scanner_.skip_lines()) {
            statement();
            scanner_.end_statement();
        }
        scanner_.expect("}");
        return join();
    }
    /// [op] where it stands in the text.
    [[nodiscard]] const std::vector<int>& lines() const { return lines_; }

private:
    struct Dependency {
        std::string_view of, on;
        bool on_start;
        int line;
    };

    void statement() {
        const Token first = scanner_.peek();
        std::string_view word = scanner_.word("an operation, a label or \"}\"");
        if (scanner_.at(":")) {
            scanner_.take();
            if (!labels_.emplace(word, static_cast<std::int32_t>(ops_.size())).second)
                scanner_.refuse(first.line, "label " + base::quoted(word) + " is used twice in this rank");
            word = scanner_.word("send, recv or calc");
        } else if (scanner_.at("requires") || scanner_.at("irequires")) {
            const bool on_start = scanner_.take().text == "irequires";
            dependencies_.push_back({word, scanner_.word("a label"), on_start, first.line});
            return;
        }
        const std::optional<ProgramOp> meaning = scanner_.take_meaning();
        const std::string_view meaningless = scanner_.take_meaningless();
        // to_goal() writes a circuit as a calc of 0 behind its comment.
        if (word == "calc" && !meaningless.empty() && scanner_.at("0"))
            scanner_.refuse(first.line,
                            "the comment before this calc is " + base::quoted(meaningless) + ": it names no rank",
                            "name the rank of the circuit's other end, such as // connect 1");
        if (word == "calc")
            ops_.push_back(calc(meaning));
        else if (word == "send" || word == "recv")
            ops_.push_back(message(word == "send"));
        else
            scanner_.refuse(first.line, "unknown operation " + base::quoted(word), "accepted: send, recv, calc");
        lines_.push_back(first.line);
    }

    ProgramOp calc(const std::optional<ProgramOp>& meaning) {
        ProgramOp op{.kind = ProgramOpKind::compute, .peer = {}};
        op.seconds = static_cast<double>(scanner_.number("a time in ns", most)) * 1e-9;
        options(false);
        return meaning.value_or(op);
    }

    ProgramOp message(bool sends) {
        ProgramOp op{.kind = sends ? ProgramOpKind::send : ProgramOpKind::recv, .peer = {}};
        op.bytes = scanner_.number("a size", most);
        scanner_.expect("b");
        scanner_.expect(sends ? "to" : "from");
        refuse_wildcard("any rank");
        op.peer = Rank{static_cast<std::int32_t>(scanner_.number("a rank", num_ranks_ - 1))};
        op.tag = options(true);
        return op;
    }

    /// tag, cpu and nic; returns the tag.
    std::int32_t options(bool of_message) {
        constexpr std::int64_t most_option = std::numeric_limits<std::int32_t>::max();
        std::int64_t tag = 0;
        while (scanner_.at("tag") || scanner_.at("cpu") || scanner_.at("nic")) {
            const std::string_view option = scanner_.take().text;
            if (option == "tag") refuse_wildcard("any tag");
            const std::int64_t value = scanner_.number("a number", most_option);
            if (option == "tag") tag = value;
            if (option == "tag" && !of_message) scanner_.refuse(scanner_.peek().line, "a calc has no tag");
        }
        return static_cast<std::int32_t>(tag);
    }

    void refuse_wildcard(const std::string& meaning) const {
        if (scanner_.at("-"))
            scanner_.refuse(scanner_.peek().line,
                            "-1 (" + meaning + ") is not supported: a program names the sender of each message");
    }

    std::int32_t op_of(std::string_view label, int line) const {
        const auto found = labels_.find(label);
        if (found == labels_.end()) scanner_.refuse(line, "label " + base::quoted(label) + " is not in this rank");
        return found->second;
    }

    RankProgram join() {
        std::vector<std::vector<std::int32_t>> after(ops_.size());
        std::map<std::int32_t, std::int32_t> starts;  // op that an irequires names -> the op that stands for its start
        for (const Dependency& dependency : dependencies_) {
            const std::int32_t of = op_of(dependency.of, dependency.line);
            std::int32_t on = op_of(dependency.on, dependency.line);
            if (dependency.on_start) {
                const auto [start, is_new] = starts.try_emplace(on, static_cast<std::int32_t>(ops_.size()));
                if (is_new) {
                    ops_.push_back({.kind = ProgramOpKind::compute, .peer = {}});
                    lines_.push_back(dependency.line);
                    after.emplace_back();
                }
                on = start->second;
            }
            after[static_cast<std::size_t>(of)].push_back(on);
        }
        for (const auto& [op, start] : starts) {
            after[static_cast<std::size_t>(start)] = std::move(after[static_cast<std::size_t>(op)]);
            after[static_cast<std::size_t>(op)] = {start};
        }
        RankProgram rank;
        for (std::size_t i = 0; i < ops_.size(); ++i) rank.add(ops_[i], after[i]);
        return rank;
    }

    static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

    Scanner& scanner_;
    std::int32_t num_ranks_;
    std::vector<ProgramOp> ops_;
    std::vector<int> lines_;
    std::map<std::string_view, std::int32_t> labels_;
    std::vector<Dependency> dependencies_;
};

}  // namespace

Program program_from_goal(std::string_view text, std::string_view source_name) {
    Scanner scanner(text, source_name);
    scanner.skip_lines();
    scanner.expect("num_ranks");
    const int first_line = scanner.peek().line;
    const auto num_ranks =
        static_cast<std::int32_t>(scanner.number("the number of ranks", std::numeric_limits<std::int32_t>::max()));
    if (num_ranks == 0) scanner.refuse(first_line, "num_ranks is 0: expected at least 1");

    // Read into a map first, so that a large number of ranks alone does not take memory.
    struct Read {
        RankProgram program;
        std::vector<int> lines;
    };
    std::map<std::int64_t, Read> ranks;
    for (scanner.skip_lines(); !scanner.at(""); scanner.skip_lines()) {
        scanner.expect("rank");
        const int line = scanner.peek().line;
        const std::int64_t rank = scanner.number("a rank", num_ranks - 1);
        if (ranks.contains(rank)) scanner.refuse(line, "rank " + std::to_string(rank) + " comes twice");
        RankReader reader(scanner, num_ranks);
        RankProgram program = reader.read();
        ranks.emplace(rank, Read{std::move(program), reader.lines()});
    }
    Program program;
    for (auto& [rank, read] : ranks) {
        if (rank != static_cast<std::int64_t>(program.ranks.size())) break;
        program.ranks.push_back(std::move(read.program));
    }
    if (program.ranks.size() != static_cast<std::size_t>(num_ranks))
        scanner.refuse(scanner.peek().line, "rank " + std::to_string(program.ranks.size()) +
                                                " is missing: num_ranks is " + std::to_string(num_ranks));
    if (const auto fault = first_fault(program))
        scanner.refuse(ranks[fault->rank.value].lines[static_cast<std::size_t>(fault->op)], fault->what);
    return program;
}

}  // namespace hocket
