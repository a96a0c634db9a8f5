* A diet: energy and protein at least, weight in a range, milk by the bread; it can be kept.
NAME          DIET
ROWS
 N  COST
 G  ENERGY
 G  PROTEIN
 L  WEIGHT
 E  MIX
COLUMNS
    BREAD     COST           0.3   ENERGY         2.4
    BREAD     PROTEIN      0.085   WEIGHT           1
    BREAD     MIX              1
    MILK      COST           0.1   ENERGY        0.64
    MILK      PROTEIN      0.034   WEIGHT           1
    MILK      MIX             -3
    CHEESE    COST           1.1   ENERGY           4
    CHEESE    PROTEIN       0.25   WEIGHT           1
RHS
    RHS       ENERGY          20   PROTEIN        0.9
    RHS       WEIGHT           9
RANGES
    RNG       WEIGHT         1.5
BOUNDS
 UP BND       CHEESE           2
ENDATA
