# ruff: noqa: E701, W191
# fmt: off
"""Tabs: a caret stands below its character, each tab counts one column in both lines."""

import amdjit
from amdjit import f32


def make():
	@amdjit.kernel
	def tabbed(a: f32[:]):
		i = amdjit.grid(1)
		if i < a.size:
			a[i] =	a[i] &	1
		while a[i] > a.length: a[i]	= "text"
	return tabbed


def run():
	make().compile()
