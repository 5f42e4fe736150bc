A matrix                                                                KEY     
             3             1             1             1
rza                        2             2             1             0
(3I2)           (1I2)           (1P,1E10.2E3)
 1 2 2
 2
1.50E+003
