A matrix                                                                KEY     
             3             1             1             1
rua                        1             1             1             0
(2I2)           (1I2)           (E12.4)
 1 2
 1
     1.5-103
