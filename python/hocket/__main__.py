# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from hocket.cli.main import main

main()
