//go:build !linux

package hostnode

import (
	"context"
	"os/exec"
	"syscall"
)

// dieWithParent does nothing: only Linux can end a child with its parent. Elsewhere a killed
// harness leaves its processes to the next start.
func dieWithParent(*syscall.SysProcAttr) {}

// probeIsolation returns None: images are for Linux. Elsewhere a pod runs a binary of this
// machine as it is.
func probeIsolation(context.Context, *starter) Isolation { return None }

func confine(*exec.Cmd, Isolation, string, user) {}

func makeDevices(string) {}
