A matrix                                                                KEY     
             3             1             1             1
cha                        2             2             3             0
(3I2)           (3I2)           (6F3.0)
 1 3 4
 1 2 2
 1  0 -2  7  3  0
