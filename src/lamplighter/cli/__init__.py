"""The command line: arguments in, one call, lines or JSON out; decides nothing."""
