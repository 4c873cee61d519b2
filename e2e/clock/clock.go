// Package clock bends the time of clusters: every process of a cluster, the
// provider as it was released among them, and this process with its specs, lives
// by one clock, which can run many times faster than the machine's.
//
// It runs fast while everything waits, and slowly while something works
// ([Clock.Govern]): Karpenter's timeouts of minutes pass in seconds, and what takes a
// CPU still gets its time. How late processes were ([Clock.Lag]) says whether
// what was seen at that speed can be trusted.
//
// The packages below do the work: page is the memory from which the time is
// told, inject makes a program tell its time from there, waits ends what
// programs wait for in the kernel, and bend is a program that starts others so.
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

// Bounds of lag, in the cluster's time.
const (
	// Tolerable is the lag at which a clock that is governed slows down.
	Tolerable = 500 * time.Millisecond
	// Trusted is the lag up to which verdicts count: less than what any of
	// Kubernetes' or Karpenter's periods would notice, the shortest of which are
	// renewals every two seconds.
	Trusted = 2 * time.Second
)

// stride is the longest step of a jump: what is renewed all the time must not
// be over before it can be. A node's lease is the shortest of that, with 200
// seconds on clusters that kwokctl makes.
const stride = 2 * time.Minute

// Lag is how late the latest process was.
type Lag struct {
	Late    time.Duration // in the cluster's time
	Process string        // such as kube-apiserver
}
