# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Circuit-switched networks: closed forms, schedules, circuits that are reused, an independent check of schedules."""
