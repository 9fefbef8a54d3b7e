# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Benchmarks of MPI functions: launches of hocket-bench, their results, and what follows from them."""
