# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Records a program, chooses schedules, measures, and runs the program with and without them."""
