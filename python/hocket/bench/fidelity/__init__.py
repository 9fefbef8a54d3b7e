# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Predictions of collectives beside measurements, on emulated networks with real MPIs."""
