A matrix                                                                KEY     
             3             1             1             1
rua                        1             1             1             0
(2I2)           (1I2)           (F4.1)
 1 2
 1
 NaN
