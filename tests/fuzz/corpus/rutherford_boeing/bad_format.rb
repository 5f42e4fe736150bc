A matrix                                                                KEY     
             3             1             1             1
rua                        3             3             4             0
(99999(99999()))
  1  3  4  5
