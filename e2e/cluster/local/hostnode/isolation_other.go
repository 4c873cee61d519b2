//go:build !linux

package hostnode

import (
	"context"
	"os/exec"
	"syscall"
)

// dieWithParent does nothing: only Linux can end a child with its parent. Elsewhere the next
// start ends the processes of a killed harness.
func dieWithParent(*syscall.SysProcAttr) {}

// probeIsolation returns None: images are for Linux only.
func probeIsolation(context.Context, *starter) Isolation { return None }

func confine(*exec.Cmd, Isolation, string, user) {}

func makeDevices(string) {}
