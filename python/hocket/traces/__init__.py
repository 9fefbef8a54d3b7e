# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of real MPI programs: recorded, read, summarised, and replayed as Programs."""
