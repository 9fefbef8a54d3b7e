# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What messages cost: where a request has the costs from, and the table of closed forms and bounds."""
