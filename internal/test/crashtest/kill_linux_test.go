package crashtest_test

import "syscall"

func init() { killWithTests.Pdeathsig = syscall.SIGKILL }
