# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Rewrites Fortran programs so that communication runs beside independent computation, with a proof of each change."""
