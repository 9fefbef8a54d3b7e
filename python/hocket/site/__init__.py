# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""One installation for all users of a cluster: libraries built once, a site file, modulefiles."""
