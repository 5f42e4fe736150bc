A matrix                                                                KEY     
             3             1             1             1
rua                        3             3             4             0
(4I3)           (4I3)           (4F5.1)
  1  3  4  5
  1  3
