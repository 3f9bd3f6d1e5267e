"""Settings of Hypothesis: few examples by default, many in a campaign."""

from hypothesis import settings

settings.register_profile("default", max_examples=15, deadline=None, database=None)
settings.register_profile("long", max_examples=2000, deadline=None, database=None)
settings.load_profile("default")
