# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""New patterns for hocket-bench, from templates that compile."""
