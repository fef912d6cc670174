"""Reads result directories and nothing else: tables, intervals, figures, the report."""

import signal
import sys

# While a command's imports last, which is seconds, Ctrl-C ends it as it ends any program; then
# command.carry_out has it raise KeyboardInterrupt again.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
