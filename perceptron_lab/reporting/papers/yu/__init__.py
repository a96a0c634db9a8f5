"""The results of YuKilincCarbonell2014: Tables 1 and 2, Figures 1 and 2."""
