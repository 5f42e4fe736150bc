A matrix                                                                KEY     
             3             1             1             1
rua                        2             1             2             0
(2I2)           (2I2)           (2F4.1)
 1 3
 1 1
 1.0 2.0
