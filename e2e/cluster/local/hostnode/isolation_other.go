//go:build !linux

package hostnode

import (
	"context"
	"os/exec"
	"syscall"
)

// Only Linux can end a child with its parent; elsewhere a killed harness
// leaves its processes to the next start.
func dieWithParent(*syscall.SysProcAttr) {}

// Images are for Linux: elsewhere a pod runs a binary of this machine as it is.
func probeIsolation(context.Context, *starter) Isolation { return None }

func confine(*exec.Cmd, Isolation, string, user) {}

func makeDevices(string) {}
