# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The MPIs of this machine: find them, build hocket's MPI parts for each, launch programs with them."""
