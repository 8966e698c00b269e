"""The program: ``python -m copyback``."""

import sys

from copyback import _copyback
from copyback.figures import Package


def main() -> None:
    """Execute the command line, and exit with the program's exit code."""
    sys.exit(_copyback.main(sys.argv[1:], Package()))


if __name__ == "__main__":
    main()
