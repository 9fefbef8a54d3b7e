# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Runs MPI programs where they are measured, and the programs of hocket that measure an MPI."""
