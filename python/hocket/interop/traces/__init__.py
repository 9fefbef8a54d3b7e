# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Traces of other tools, read and written: see `importing` and `exporting`."""
