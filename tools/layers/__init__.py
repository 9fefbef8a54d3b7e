# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The parts of tools/check_layers.py: `tables` holds the rules, the other modules hold what checks them."""
