# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

# How the MPI parts are compiled, those of one MPI (CMakeLists.txt) and those of all (core/CMakeLists.txt).

set(HOCKET_OUTPUT ${PROJECT_BINARY_DIR}/output CACHE PATH "Where lib/, bin/ and include/ are made")
option(HOCKET_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
set(HOCKET_SANITIZE "" CACHE STRING "Sanitizers to compile with, for instance address,undefined")
set(HOCKET_WARNINGS -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${HOCKET_WARNINGS_AS_ERRORS}>:-Werror>)

# The user waits for this build. The headers of C++ and MPI cost more of it than our code: the sources of a target are
# compiled as one file; -DCMAKE_UNITY_BUILD=OFF compiles each alone, for whoever works on one of them.
option(CMAKE_UNITY_BUILD "Compile the sources of a target as one file" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# -O3 and debug information would cost a third more and nothing here is bound by the compiler.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
# For what a call passes through on its way to hocket_runtime and hocket_mpi_calls: -O2 takes half as long again to
# compile it, and a rerouted call has no fewer instructions with it (perf/call_instructions.py).
set(HOCKET_QUICKLY_COMPILED -O1
    "$<$<CXX_COMPILER_ID:GNU>:-finline-functions;-finline-small-functions;-fpartial-inlining;-findirect-inlining>")
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A preloaded library must show the program its MPI_ functions and nothing else.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(HOCKET_SANITIZE)
    add_compile_options(-fsanitize=${HOCKET_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g)
    add_link_options(-fsanitize=${HOCKET_SANITIZE})
endif()
