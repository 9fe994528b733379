package crashtest_test

import "syscall"

func init() { leash.Pdeathsig = syscall.SIGKILL }
