"""Fragments made of fragments.

`transforms` transposes and reinterprets, `conversions` changes the type, `elements` finds and
reduces the elements of a lane, `cooperation` shares loads and stores between waves. Start with
`transforms`. The modules here stand over all other rooms of fragments.
"""
