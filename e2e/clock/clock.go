// Package clock bends the time of clusters: every process of a cluster, the
// provider as it was released among them, and this process with its specs, lives
// by one clock, which can run many times faster than the machine's.
//
// Left to itself ([Clock.Govern]) it runs at speed 1 while anything works, and is
// moved to the end of the first wait when everything waits: Karpenter's timeouts of
// minutes pass in seconds, and what takes a CPU gets the time that it takes. How
// late processes were ([Clock.Lag]) says whether what was seen can be trusted.
//
// The packages below do the work: page is the memory from which the time is
// told, inject makes a program tell its time from there, waits ends what programs
// wait for in the kernel, keep says when the clock is moved, and bend is the
// program that does all that: it starts others, and keeps the clock.
//
// Clocks are bent on Linux only, on amd64 and arm64. Elsewhere, and where a
// kernel forbids it, [New] says why, and everything goes on at speed 1.
package clock

import (
	"errors"
	"time"
)

// ErrSystem is why no clock is bent on other systems than Linux.
var ErrSystem = errors.New("clocks are bent on Linux only, on amd64 and arm64")

// Trusted is the lag up to which verdicts count, in the cluster's time: less than
// what any of Kubernetes' or Karpenter's periods would notice, the shortest of
// which are renewals every two seconds.
const Trusted = 2 * time.Second

// Lag is how late the latest process was.
type Lag struct {
	Late    time.Duration // in the cluster's time
	Process string        // such as kube-apiserver
}
