"""Instagram's publishing API on one loopback port: its wire form, its rules, its lies and its faults.

Owns what a client may see of Meta (both Graph hosts, the code exchange, the sign-in page) and what really is on the
profile. It is written from what Meta documents and what others saw it do, and never imports lamplighter, so that a
publisher is not tested against its own idea of Instagram. Start with `simulator.InstagramSimulator` and
`media.MediaHost`; by hand `python -m tests.simulators.instagram`.
"""
