"""`python -m amdjit` is the `amdjit` command."""

from __future__ import annotations

import sys

from amdjit.command_line import main

sys.exit(main())
