//go:build !linux

package build

import "syscall"

// Only Linux can end a child with its parent: elsewhere the go command of a
// killed run ends with its build.
func dieWithParent(*syscall.SysProcAttr) {}
