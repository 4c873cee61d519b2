package install

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// Configure restarts the controller with other settings, by the names of their environment
// variables, and waits until it is ready. Restore restarts it with those from before; it is
// never nil.
func (i *Installed) Configure(ctx context.Context, settings map[string]string) (
	restore func(context.Context) error, err error,
) {
	var before []corev1.EnvVar
	err = i.restartWith(ctx, func(c *corev1.Container) {
		before = c.Env
		c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(e corev1.EnvVar) bool {
			_, other := settings[e.Name]
			return other
		})
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: settings[name]})
		}
	})
	return func(ctx context.Context) error {
		return i.restartWith(ctx, func(c *corev1.Container) { c.Env = before })
	}, err
}

// restartWith ends the controller, changes its container, and waits until its successor is ready.
// Nothing runs in between: the ports of a host can't be shared, and nobody else must lead.
func (i *Installed) restartWith(ctx context.Context, change func(*corev1.Container)) error {
	before := i.Pods(ctx)
	if err := i.Stop(ctx); err != nil {
		return err
	}
	err := i.update(ctx, func(d *appsv1.Deployment) {
		d.Spec.Replicas = new(int32(1))
		for n := range d.Spec.Template.Spec.Containers {
			if c := &d.Spec.Template.Spec.Containers[n]; c.Name == i.container.Name {
				change(c)
			}
		}
	})
	if err != nil {
		return err
	}
	return i.awaitSuccessor(ctx, before)
}

// Stop ends the controller, as `kubectl scale --replicas=0` does, and waits until it is gone.
func (i *Installed) Stop(ctx context.Context) error {
	if err := i.update(ctx, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, restartWithin)
	defer cancel()
	err := wait.PollUntilContextCancel(limited, askEvery, true, func(ctx context.Context) (bool, error) {
		return len(i.Pods(ctx)) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("the controller did not end within %s: %w", restartWithin, err)
	}
	return nil
}

// update changes the controller's Deployment.
func (i *Installed) update(ctx context.Context, change func(*appsv1.Deployment)) error {
	deployments := i.clients.typed.AppsV1().Deployments(i.Namespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d, err := deployments.Get(ctx, i.Deployment, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(d)
		_, err = deployments.Update(ctx, d, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("changing the controller's Deployment: %w", err)
	}
	return nil
}
