"""Settings of Hypothesis: few examples by default, many in a campaign. What a test
compiles is not taken from the user's cache."""

import os

from hypothesis import settings

os.environ["SPARSE_AUTOGRAD_CACHE"] = "off"
settings.register_profile("default", max_examples=15, deadline=None, database=None)
settings.register_profile("long", max_examples=2000, deadline=None, database=None)
settings.load_profile("default")
