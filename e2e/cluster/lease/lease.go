// Package lease says which runs live: on a cluster that several share, each renews a Lease as long as it does.
package lease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// A run renews its lease every renewEvery, and loses it if that fails for renewWithin. Others
// may take it holds after the last renewal.
const (
	holds       = 30 * time.Second
	renewWithin = 20 * time.Second
	renewEvery  = 5 * time.Second
)

// Name of the Lease of a run that has a namespace of its own.
const Name = "run"

// ErrLost ends a run whose lease is taken by others or can't be renewed.
var ErrLost = errors.New("the run's lease on the cluster is lost")

// identity returns the name of this process in the lease: host/pid.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "/" + strconv.Itoa(os.Getpid())
}

// Holder returns the living run that has a Lease; "" if none, or if it may not be read.
func Holder(ctx context.Context, client coordinationclient.CoordinationV1Interface, namespace, name string) (string,
	error,
) {
	lease, err := client.Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("asking for the lease of another run: %w", err)
	}
	return liveHolder(lease, time.Now()), nil
}

// liveHolder returns a lease's holder; "" if the lease has expired, or its process no longer
// runs on this machine.
func liveHolder(lease *coordinationv1.Lease, now time.Time) string {
	who, renewed := lease.Spec.HolderIdentity, lease.Spec.RenewTime
	if who == nil || *who == "" || renewed == nil || now.Sub(renewed.Time) > holds {
		return ""
	}
	ourHost, _, _ := strings.Cut(identity(), "/")
	host, process, _ := strings.Cut(*who, "/")
	if pid, err := strconv.Atoi(process); err == nil && host == ourHost && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return ""
	}
	return fmt.Sprintf("process %s on %s", process, host)
}

// Hold takes a free Lease and renews it until release is called. It calls lost on failure.
func Hold(ctx context.Context, client coordinationclient.CoordinationV1Interface, namespace, name string,
	lost func(error),
) (release func(), err error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	taken, ended := make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
			Client:     client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity()},
		},
		LeaseDuration: holds, RenewDeadline: renewWithin, RetryPeriod: renewEvery,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(taken) },
			OnStoppedLeading: func() {
				if ctx.Err() == nil {
					lost(ErrLost)
				}
			},
		},
	})
	if err != nil {
		stop()
		return nil, err
	}
	quiet := klog.NewContext(ctx, logr.Discard()) // the harness reports what matters
	go func() { defer close(ended); elector.Run(quiet) }()
	release = func() { stop(); <-ended }
	select {
	case <-taken:
		return release, nil
	case <-ended:
		return nil, ErrLost
	case <-time.After(renewWithin):
		release()
		return nil, fmt.Errorf("the lease %s in namespace %s can't be had", name, namespace)
	}
}
