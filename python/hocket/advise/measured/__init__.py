# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""From measured times of collectives on clusters to the fastest algorithms of other jobs."""
