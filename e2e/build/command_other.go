//go:build !linux

package build

import "syscall"

// dieWithParent does nothing: only Linux can kill a child with its parent.
func dieWithParent(*syscall.SysProcAttr) {}
