"""python -m ropecheck: the command."""

from ropecheck.command import main

main()
