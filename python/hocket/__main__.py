# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Where the command `hocket` begins, and ends."""

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    # Ctrl-C ends the imports without Python's traceback. `hocket.cli.main` takes over; an ignored one stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hocket.cli.main import main

    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # one more than have been obeyed
        status = end.code if isinstance(end, SystemExit) else 130
        # After a second Ctrl-C threads may still be simulating. Python's own end would wait for them, or, interrupted
        # by a third one, end them inside the core, which aborts the process.
        if isinstance(status, int) and threading.active_count() > 1:
            with suppress(OSError):
                sys.stdout.flush()
            os._exit(status)
        sys.exit(status)


if __name__ == "__main__":
    main()
