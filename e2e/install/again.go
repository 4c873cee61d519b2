package install

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// ReadyAgain waits until a restarted pod of the controller is ready, as [Prepared.Install]
// does. The limit is controller.ready.timeout.
func (i *Installed) ReadyAgain(ctx context.Context, pod string) error {
	timeout := i.adapter.Controller.Ready.Within()
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	s := &start{Installed: i}
	err := wait.PollUntilContextCancel(limited, askEvery, true, func(ctx context.Context) (bool, error) {
		latest, err := i.clients.typed.CoreV1().Pods(i.Namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			s.answer.Store(new(err.Error()))
			return false, nil //nolint:nilerr // it is asked again; if it never answers, the timeout tells
		}
		s.pod.Store(latest)
		if isReady(latest) {
			return true, nil
		}
		return s.isReady(ctx, client)
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	said := "nothing"
	if answer := s.answer.Load(); answer != nil {
		said = *answer
	}
	return fmt.Errorf("the controller was not ready again within %s of its restart (controller.ready.timeout); what it "+
		"said last: %s", timeout, said)
}

// Restart ends the controller as a rolling update does, and waits until its successor is
// ready. The successor remembers nothing of its cloud.
func (i *Installed) Restart(ctx context.Context) error {
	before := i.Pods(ctx)
	pods := i.clients.typed.CoreV1().Pods(i.Namespace)
	if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: i.selector}); err != nil {
		return fmt.Errorf("restarting the controller: %w", err)
	}
	return i.awaitSuccessor(ctx, before)
}

// awaitSuccessor waits until one pod of the controller is there that is none of those before, and ready.
func (i *Installed) awaitSuccessor(ctx context.Context, before []string) error {
	limited, cancel := context.WithTimeout(ctx, restartWithin)
	defer cancel()
	var next string
	err := wait.PollUntilContextCancel(limited, askEvery, true, func(ctx context.Context) (bool, error) {
		now := i.Pods(ctx)
		if len(now) != 1 || slices.Contains(before, now[0]) {
			return false, nil
		}
		next = now[0]
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("the controller was not replaced within %s of the end of its pod: %w", restartWithin, err)
	}
	return i.ReadyAgain(ctx, next)
}

// restartWithin bounds the time in which the old pods end and their successor is created.
const restartWithin = time.Minute

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
