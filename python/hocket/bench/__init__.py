# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The benchmark suites of `hocket bench`, which measure with real MPIs."""
