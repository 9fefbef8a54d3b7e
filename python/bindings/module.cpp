// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// The Python module hocket._core: the C++ core, converted and nothing else. One file a module of the core; a file that
// is not there yet leaves its part out.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "hocket/base/error.hpp"
#include "hocket/base/format_version.hpp"

namespace nb = nanobind;

void bind_blueprint(nb::module_& module);
void bind_network(nb::module_& module);
void bind_circuits(nb::module_& module);
void bind_cost(nb::module_& module);
void bind_simulation(nb::module_& module);
void bind_traffic(nb::module_& module);
void bind_traffic_simulation(nb::module_& module);
void bind_schedule(nb::module_& module);
void bind_interop(nb::module_& module);
void bind_program(nb::module_& module);
void bind_trace(nb::module_& module);
void bind_plan(nb::module_& module);
void bind_decision(nb::module_& module);
void bind_replay(nb::module_& module);
void bind_analysis(nb::module_& module);
void bind_trace_files(nb::module_& module);
void bind_search(nb::module_& module);
void bind_broadcast_forms(nb::module_& module);
void bind_collective_search(nb::module_& module);

namespace {

/// Raises hocket.errors.<name>(what, hint). Looked up when needed: importing hocket._core must not import hocket's
/// Python.
void raise(const char* name, const hocket::Error& error) {
    try {
        const nb::object type = nb::module_::import_("hocket.errors").attr(name);
        const nb::object value = type(error.what(), error.hint());
        PyErr_SetObject(type.ptr(), value.ptr());
    } catch (nb::python_error& other) {  // a signal came, such as the one that made reading a file fail
        other.restore();
    }
}

void translate(const std::exception_ptr& pointer, void* /*payload*/) {
    try {
        std::rethrow_exception(pointer);
    } catch (const hocket::InvalidInput& error) {
        raise("InvalidInput", error);
    } catch (const hocket::Error& error) {
        raise("Error", error);
    }
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "The C++ core of hocket.";
    nb::register_exception_translator(translate);
    module.def("is_newer_format", &hocket::base::is_newer_format, nb::arg("found"), nb::arg("newest"),
               "Whether NAME/4 is a later version than NAME/3 of the same format.");
    module.def("hint_for_format", &hocket::base::hint_for_format, nb::arg("found"), nb::arg("newest"),
               nb::arg("otherwise"), "What to do about a file whose format is refused.");
#ifdef HOCKET_HAVE_BLUEPRINT
    bind_blueprint(module);
#endif
#ifdef HOCKET_HAVE_NETWORK
    bind_network(module);
#endif
#ifdef HOCKET_HAVE_SCHEDULE
    bind_schedule(module);
#endif
#ifdef HOCKET_HAVE_PROGRAM
    bind_program(module);
#endif
#ifdef HOCKET_HAVE_TRAFFIC
    bind_traffic(module);
#endif
#ifdef HOCKET_HAVE_TRAFFIC_SIMULATION
    bind_traffic_simulation(module);
#endif
#ifdef HOCKET_HAVE_CIRCUITS
    bind_circuits(module);
#endif
#ifdef HOCKET_HAVE_COST
    bind_cost(module);
#endif
#ifdef HOCKET_HAVE_SIMULATION
    bind_simulation(module);
#endif
#ifdef HOCKET_HAVE_TRACE
    bind_trace(module);
    bind_interop(module);
#endif
#ifdef HOCKET_HAVE_PLAN
    bind_plan(module);
#endif
#ifdef HOCKET_HAVE_DECISION
    bind_decision(module);
#endif
#ifdef HOCKET_HAVE_REPLAY
    bind_replay(module);
    bind_trace_files(module);
#endif
#ifdef HOCKET_HAVE_ANALYSIS
    bind_analysis(module);
#endif
#ifdef HOCKET_HAVE_SEARCH
    bind_search(module);
#endif
#ifdef HOCKET_HAVE_BROADCAST_FORMS
    bind_broadcast_forms(module);
#endif
#ifdef HOCKET_HAVE_COLLECTIVE_SEARCH
    bind_collective_search(module);
#endif
}
