# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where the command `hocket` begins."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    # Ctrl-C ends the imports without Python's traceback. `hocket.cli.main` takes over; an ignored one stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hocket.cli.main import main

    main()


if __name__ == "__main__":
    main()
