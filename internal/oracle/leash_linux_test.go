package oracle_test

import "syscall"

func init() { leash.Pdeathsig = syscall.SIGKILL }
