package build

import "syscall"

// dieWithParent ends the go command when this process is killed, so that
// nothing goes on building for nobody.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
