// Package clock gives clusters a clock of their own, which can run many times faster than the
// machine's. All processes of a cluster use it, also this process and the released provider.
//
// With [Clock.Govern] it runs at speed 1 while any process works. When all processes wait, it
// moves to the end of the first wait. So Karpenter's timeouts of minutes pass in seconds, and
// work takes as long as elsewhere. [Clock.Lag] shows whether verdicts can be trusted.
//
// Package shm holds the shared memory with the time. Package ptrace makes a program take its
// time from there. Package governor moves the clock and ends waits in the kernel. Program shim
// starts other programs and runs the governor.
//
// Bent clocks need Linux on amd64 or arm64. Elsewhere, and where a kernel forbids it, [New]
// returns the reason, and everything runs at speed 1.
package clock

import (
	"errors"
	"time"
)

// ErrSystem is the error of systems whose clocks can't be bent.
var ErrSystem = errors.New("clocks are bent on Linux only, on amd64 and arm64")

// MaxLag is the largest lag with which verdicts count, in the cluster's time. The shortest
// periods of Kubernetes and Karpenter are renewals every two seconds.
const MaxLag = 2 * time.Second

// Lag is how late the latest process was.
type Lag struct {
	Late    time.Duration // in the cluster's time
	Process string        // such as kube-apiserver
}
