# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Benchmarks of `hocket bench` beside the fidelity suite."""
