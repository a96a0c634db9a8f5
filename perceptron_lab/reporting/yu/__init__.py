"""Table 2 and Figure 2 of `YuKilincCarbonell2014`."""
