"""The program: ``python -m copyback``."""

import sys

from copyback import _copyback
from copyback.figures import Package


def main() -> None:
    """Do what the command line says, and exit as the program does."""
    sys.exit(_copyback.main(sys.argv[1:], Package()))


if __name__ == "__main__":
    main()
