# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket simulate` does: programs, traffic and several jobs at once on a network."""
