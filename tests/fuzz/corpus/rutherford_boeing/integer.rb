A matrix                                                                KEY     
             3             1             1             1
iua                        2             2             3             0
(3I2)           (3I2)           (3I4)
 1 3 4
 1 2 2
   1  -2   3
