"""What a fragment is, and where its elements are.

`parameters` are the values that a fragment is declared with, `kinds` checks them, `blocks` says how
the elements lie in registers, `schedules` which waves share them. `maps` says where the waves of a
launch stand, and serves the host, as `packing` does. Start with `kinds`. The modules here import
the namespaces `wave` and `workitem` and the layouts in `models`, and no other room of fragments.
"""
