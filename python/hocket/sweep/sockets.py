# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Imported by the process that forks workers, which outlives them and the command, in whatever way that ends.

The command removes the folder of the sockets by which it starts workers, but not where it is killed.
"""

import atexit
import os
import shutil

FOLDER = "HOCKET_SWEEP_SOCKETS"

if folder := os.environ.pop(FOLDER, None):  # what workers start has no part in it
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # workers, which are forked, do not end by Python's way
