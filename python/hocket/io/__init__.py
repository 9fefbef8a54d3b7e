# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Reading and writing: files that appear whole, JSON, matrices, a terminal, folders that vanish."""
