# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Fills a scope from the declarations of a program unit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from hocket.rewrite.fixed_form import to_free
from hocket.rewrite.included import find_included
from hocket.rewrite.symbols import MPI_MODULES, DerivedType, Scope, Symbol, Unseen, Use
from hocket.rewrite.syntax import Node, Source, child_of, children, error_in, line_of, named, text_of, walk

#: Lower and upper bound of each dimension; None for one that is not there.
Bounds = tuple[tuple[Node | None, Node | None], ...]

DECLARATORS = (
    "identifier sized_declarator init_declarator pointer_init_declarator coarray_declarator data_declarator".split()
)


def declare(scope: Scope, nodes: Iterable[Node], source: Source) -> None:
    """Adds the declarations among `nodes`; what is not understood becomes `scope.problem`."""
    for node in nodes:
        wrong = error_in(node)
        if wrong is not None:
            scope.problem = scope.problem or f"line {line_of(wrong)}: the declaration is not understood"
        elif node.type in _READERS:
            _READERS[node.type](scope, node, source)


def symbol_in(scope: Scope, name: str) -> Symbol:
    if name not in scope.symbols:
        scope.symbols[name] = Symbol(name, f"{scope.name}::{name}", home=scope)
        if not any(one.has_implicit for one in scope.chain()):
            scope.symbols[name].type = "integer" if name[:1] in "ijklmn" else "real"
    return scope.symbols[name]


def _variables(scope: Scope, node: Node, source: Source) -> None:
    (type_name, kind), attributes, bounds = type_of(node), set[str](), None
    for qualifier in node.children:
        if qualifier.type in ("type_qualifier", "procedure_attribute"):
            word = text_of(qualifier)
            attributes.add(re.split(r"[(\[]", word)[0])
            if word.startswith("intent"):
                attributes.add(word)
            if word.startswith("dimension"):
                bounds = _bounds(qualifier)
                if any(one.type == "assumed_size" for one in walk(qualifier)):
                    attributes.add("assumed-size")
    if child_of(node, "procedure") is not None:
        attributes.add("procedure")
    for declarator in node.children:
        if declarator.type in DECLARATORS:
            symbol = _declarator(scope, declarator, type_name, attributes, bounds)
            if symbol is not None:
                symbol.kind = kind


def type_of(node: Node) -> tuple[str, str]:
    """Type and kind that a declaration or a function's statement gives."""
    found = child_of(node, "intrinsic_type", "derived_type")
    if found is None:
        return "", ""
    text = text_of(found).replace(" ", "")
    if found.type == "derived_type":
        return text, ""
    if text.startswith("double"):
        return ("real" if text == "doubleprecision" else "complex"), "double"
    name, _, kind = text.replace("*", "(").partition("(")
    return name, kind.rstrip(")").removeprefix("kind=").lstrip("(")


def _declarator(
    scope: Scope,
    node: Node,
    type_name: str,
    attributes: set[str],
    bounds: Bounds | None,
) -> Symbol | None:
    name_node, value, is_coarray = node, None, "codimension" in attributes
    while name_node.type != "identifier":
        if name_node.type in ("init_declarator", "pointer_init_declarator"):
            value = named(name_node)[-1]
        if name_node.type == "coarray_declarator":
            is_coarray = True
        size = child_of(name_node, "size")
        if size is not None:
            bounds = _bounds(size)
        inner = child_of(name_node, *DECLARATORS)
        if inner is None:
            scope.problem = scope.problem or f"line {line_of(node)}: the declaration is not understood"
            return None
        name_node = inner
    name = text_of(name_node)
    symbol = symbol_in(scope, name)
    if "assumed-size" not in attributes and any(one.type == "assumed_size" for one in walk(node)):
        symbol.attributes.add("assumed-size")
    if symbol.bounds is not None and bounds is not None:
        symbol.conflict = f"{name} is declared twice"  # in branches of the preprocessor
    if type_name:
        symbol.type = type_name
    symbol.attributes |= attributes
    symbol.bounds = bounds if bounds is not None else symbol.bounds
    symbol.is_coarray = symbol.is_coarray or is_coarray
    _set_value(symbol, value if "parameter" in attributes else None)
    if value is not None and "parameter" not in attributes:
        symbol.attributes.add("save")
        symbol.is_initialised = True
    return symbol


def _bounds(node: Node) -> Bounds:
    """Of each dimension, as nodes: None for a bound that is not there."""
    inside = child_of(node, "argument_list") or node
    found: list[tuple[Node | None, Node | None]] = []
    for part in children(inside):
        if part.type in "(),":
            continue
        if part.type == "extent_specifier":
            texts = children(part)
            at = next(i for i, one in enumerate(texts) if one.type == ":")
            lower = texts[0] if at > 0 else None
            upper = texts[at + 1] if at + 1 < len(texts) else None
            found.append((lower, upper))
        elif part.type == "assumed_size":
            found.append((None, None))
        elif part.is_named and part.type != "type_qualifier":
            found.append((None, part))
    return tuple(found)


def _modification(scope: Scope, node: Node, source: Source) -> None:
    qualifier = child_of(node, "type_qualifier")
    word = re.split(r"[(\[]", text_of(qualifier))[0] if qualifier is not None else ""
    for declarator in node.children:
        if declarator.type in DECLARATORS and word in ("asynchronous", "volatile"):
            scope.added.setdefault(text_of(declarator), set()).add(word)  # it may be a name of the host or of a module
        elif declarator.type in DECLARATORS:
            _declarator(scope, declarator, "", {word} - {"dimension"}, None)


def _parameter(scope: Scope, node: Node, source: Source) -> None:
    for assignment in node.children:
        if assignment.type == "parameter_assignment":
            parts = named(assignment)
            symbol = symbol_in(scope, text_of(parts[0]))
            symbol.attributes.add("parameter")
            _set_value(symbol, parts[-1])


def _set_value(symbol: Symbol, value: Node | None) -> None:
    """Of a named constant: in branches of the preprocessor it may have several."""
    if symbol.value is not None and (value is None or text_of(value) != text_of(symbol.value)):
        symbol.conflict = f"{symbol.name} is declared twice"
    symbol.value = None if symbol.conflict else value


def _common(scope: Scope, node: Node, source: Source) -> None:
    for group in [child for child in node.children if child.type == "variable_group"] or [node]:
        block = child_of(group, "name")
        for declarator in group.children:
            if declarator.type in DECLARATORS:
                _declarator(scope, declarator, "", set(), None)
                name = next(text_of(one) for one in walk(declarator) if one.type == "identifier")
                symbol_in(scope, name).common = text_of(block) if block is not None else "(blank)"
    _join_equivalenced(scope)


def _equivalence(scope: Scope, node: Node, source: Source) -> None:
    for found in walk(node):
        if found.type == "equivalence_set":
            for member in named(found):
                symbol_in(
                    scope, next(text_of(one) for one in walk(member) if one.type == "identifier")
                ).is_equivalenced = True
    _join_equivalenced(scope)


def _join_equivalenced(scope: Scope) -> None:
    """Other procedures may reach by a common block what shares storage with one of its variables."""
    members = [symbol for symbol in scope.symbols.values() if symbol.is_equivalenced]
    blocks = {symbol.common for symbol in members if symbol.common}
    for symbol in members:
        if len(blocks) == 1:
            (symbol.common,) = blocks
        elif blocks:
            symbol.conflict = f"{symbol.name} may share storage with several common blocks"


def _save(scope: Scope, node: Node, source: Source) -> None:
    names = [text_of(one) for one in walk(node) if one.type == "identifier"]
    scope.saves_all = scope.saves_all or not names
    for name in names:
        symbol_in(scope, name).attributes.add("save")


def _data(scope: Scope, node: Node, source: Source) -> None:
    for one in walk(node):
        if one.type == "identifier":
            symbol_in(scope, text_of(one)).attributes.add("save")


def _access(scope: Scope, node: Node, source: Source) -> None:
    names = [text_of(one) for one in node.children if one.is_named and one.type in ("identifier", "name")]
    for name in names or [""]:
        scope.access[name] = node.type.removesuffix("_statement")


def _implicit(scope: Scope, node: Node, source: Source) -> None:
    if child_of(node, "none") is None:
        scope.has_implicit = True
    else:
        scope.is_explicit = True
        scope.wants_external = "external" in text_of(node)


def _use(scope: Scope, node: Node, source: Source) -> None:
    module_node = child_of(node, "module_name")
    module = text_of(module_node) if module_node is not None else ""
    items = child_of(node, "included_items")
    if module in MPI_MODULES:
        scope.binding = module
        scope.binding_only, scope.binding_file = items, source.path
    names: dict[str, str] = {}
    for part in [*(items.children if items is not None else ()), *node.children]:
        if part.type == "use_alias":
            own = child_of(part, "local_name")
            its = child_of(part, "identifier", "name")
            if own is not None and its is not None:
                names[text_of(own)] = text_of(its)
        elif part.type == "identifier":
            names[text_of(part)] = text_of(part)
    if module in MPI_MODULES and any(own != its for own, its in names.items()):
        scope.problem = scope.problem or f"line {line_of(node)}: a name of MPI is renamed"
    scope.used.append(Use(module, names, items is not None))


def _include(scope: Scope, node: Node, source: Source) -> None:
    name = re.sub(r"^#?include", "", text_of(node)).strip("'\"<>")
    if name.lower() == "mpif.h":
        scope.binding = "mpif.h"
        return
    included = find_included(name, source.folders)
    around = (*source.included_by, os.path.realpath(source.path))
    if included is None:
        # It may also say more of names that are declared here.
        scope.unseen.append(Unseen(f"the included file {name}"))
        scope.problem = scope.problem or f"line {line_of(node)}: {name} is not found beside the file or by --compile -I"
    elif os.path.realpath(included) in around:
        scope.problem = scope.problem or f"line {line_of(node)}: {name} includes itself"
    else:
        # A part of a program unit; alone it would be no program.
        inner = included.read_bytes() if source.original is None else to_free(included.read_bytes())
        text = b"subroutine included\n" + inner + b"\nend subroutine included\n"
        inside = Source(included, text, source.original, around, include_folders=source.include_folders)
        unit = inside.root.children[0]
        statements = unit.children[1:-1]
        if inside.root.child_count > 1 or unit.has_error or not all(map(is_specification, statements)):
            scope.problem = scope.problem or f"line {line_of(node)}: {name} has more than declarations"
        declare(scope, statements, inside)


def _derived_type(scope: Scope, node: Node, source: Source) -> None:
    name_node = next((one for one in walk(node) if one.type == "type_name"), None)
    if name_node is None:
        return
    inside = Scope(f"{scope.name}::{text_of(name_node)}")
    kinds = {child.type for child in node.children}
    declare(inside, [child for child in node.children if child.type == "variable_declaration"], source)
    simple = {"derived_type_statement", "variable_declaration", "end_type_statement", "comment", "sequence_statement"}
    is_complete = kinds <= simple and "extends" not in text_of(node.children[0])
    access = child_of(node.children[0], "access_specifier")
    if access is not None:
        scope.access[text_of(name_node)] = text_of(access)
    scope.types[text_of(name_node)] = DerivedType(text_of(name_node), inside.symbols, is_complete)


def _interface(scope: Scope, node: Node, source: Source) -> None:
    statement = child_of(node, "interface_statement")
    name = text_of(statement).removeprefix("abstract").removeprefix("interface") if statement is not None else ""
    if name:
        scope.generics.add(name)
    for one in node.children:
        if one.type in ("subroutine", "function") and not name and (known := child_of(one.children[0], "name")):
            symbol_in(scope, text_of(known)).attributes.add("external")


def _enumeration(scope: Scope, node: Node, source: Source) -> None:
    for one in walk(node):
        if one.type == "identifier" and one.parent is not None and one.parent.type != "language_binding":
            symbol_in(scope, text_of(one)).attributes.add("parameter")


def _preprocessor(scope: Scope, node: Node, source: Source) -> None:
    if child_of(node, "private_statement", "public_statement") is not None:
        scope.problem = scope.problem or f"line {line_of(node)}: which names are private depends on the preprocessor"
    declare(scope, node.children, source)


_READERS: dict[str, Callable[[Scope, Node, Source], None]] = {
    "variable_declaration": _variables,
    "variable_modification": _modification,
    "parameter_statement": _parameter,
    "common_statement": _common,
    "equivalence_statement": _equivalence,
    "save_statement": _save,
    "data_statement": _data,
    "implicit_statement": _implicit,
    "use_statement": _use,
    "private_statement": _access,
    "public_statement": _access,
    "include_statement": _include,
    "preproc_include": _include,
    "derived_type_definition": _derived_type,
    "interface": _interface,
    "enum": _enumeration,
    "preproc_ifdef": _preprocessor,
    "preproc_if": _preprocessor,
    "preproc_else": _preprocessor,
    "preproc_elif": _preprocessor,
}
#: Statements of the specification part. A program unit begins with them.
SPECIFICATIONS = frozenset(_READERS) | frozenset(
    "namelist_statement import_statement comment preproc_def preproc_function_def "
    "preproc_call format_statement procedure_statement bind_statement".split()
) - {"preproc_ifdef", "preproc_if"}


def is_specification(node: Node) -> bool:
    """A conditional part belongs to the declarations if nothing in it is executable."""
    if node.type in ("preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif"):
        inside = [child for child in named(node) if child.type not in ("identifier", "preproc_defined")]
        return all(is_specification(child) for child in inside if "expression" not in child.type)
    return node.type in SPECIFICATIONS
