# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Schedules on an emulated circuit switch, run by real MPIs: measured times beside predicted ones."""
