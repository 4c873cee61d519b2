// Package clock bends the time of clusters: all processes of a cluster, this process with its
// specs, and the provider as it was released live by one clock. It can run many times faster
// than the machine's.
//
// Left to itself ([Clock.Govern]) it runs at speed 1 while anything works. When everything
// waits, it is moved to the end of the first wait. So Karpenter's timeouts of minutes pass in
// seconds, and work takes as long as elsewhere. How late processes were ([Clock.Lag]) says
// whether verdicts can be trusted.
//
// The packages below do the work. Package shm holds the memory that tells the time, ptrace
// makes a program take its time from there, governor moves the clock and ends what programs
// wait for in the kernel, and shim is the program that starts others and runs the governor.
//
// Clocks are bent on Linux only, on amd64 and arm64. Elsewhere, and where a kernel forbids it,
// [New] says why, and everything goes on at speed 1.
package clock

import (
	"errors"
	"time"
)

// ErrSystem says that this system's clocks can't be bent.
var ErrSystem = errors.New("clocks are bent on Linux only, on amd64 and arm64")

// MaxLag is the lag up to which verdicts count, in the cluster's time. The shortest periods of
// Kubernetes and Karpenter are renewals every two seconds.
const MaxLag = 2 * time.Second

// Lag is how late the latest process was.
type Lag struct {
	Late    time.Duration // in the cluster's time
	Process string        // such as kube-apiserver
}
