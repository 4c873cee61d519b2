package hostnode

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// environment is the source of a container's env.
type environment struct {
	client     kubernetes.Interface
	pod        *corev1.Pod
	container  *corev1.Container
	services   map[string]string // environment variables of every container
	configMaps map[string]*corev1.ConfigMap
	secrets    map[string]*corev1.Secret
}

// resolve returns the manifest's env, without the image's, in the kubelet's order: envFrom,
// then env, where each can refer to those before, then services for unused names.
func (e *environment) resolve(ctx context.Context) (map[string]string, error) {
	e.configMaps, e.secrets = map[string]*corev1.ConfigMap{}, map[string]*corev1.Secret{}
	env := map[string]string{}
	for _, from := range e.container.EnvFrom {
		if err := e.addFrom(ctx, from, env); err != nil {
			return nil, fmt.Errorf("envFrom: %w", err)
		}
	}
	for _, v := range e.container.Env {
		value, ok := expand(v.Value, lookupIn(env, e.services)), true
		if v.Value == "" && v.ValueFrom != nil {
			var err error
			if value, ok, err = e.valueFrom(ctx, v.ValueFrom); err != nil {
				return nil, fmt.Errorf("env %s: %w", v.Name, err)
			}
		}
		if ok {
			env[v.Name] = value
		}
	}
	for name, value := range e.services {
		if _, taken := env[name]; !taken {
			env[name] = value
		}
	}
	return env, nil
}

func (e *environment) addFrom(ctx context.Context, from corev1.EnvFromSource, env map[string]string) error {
	switch {
	case from.ConfigMapRef != nil:
		m, err := e.configMap(ctx, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		if err != nil || m == nil {
			return err
		}
		for k, v := range m.Data {
			env[from.Prefix+k] = v
		}
	case from.SecretRef != nil:
		s, err := e.secret(ctx, from.SecretRef.Name, from.SecretRef.Optional)
		if err != nil || s == nil {
			return err
		}
		for k, v := range s.Data {
			env[from.Prefix+k] = string(v)
		}
	}
	return nil
}

// valueFrom returns the value of a reference. ok is false if it is optional and its object or
// key does not exist.
func (e *environment) valueFrom(ctx context.Context, s *corev1.EnvVarSource) (value string, ok bool, err error) {
	switch {
	case s.FieldRef != nil:
		value, err = fieldValue(e.pod, s.FieldRef.FieldPath)
		return value, true, err
	case s.ResourceFieldRef != nil:
		value, err = resourceFieldValue(e.pod, e.container, s.ResourceFieldRef)
		return value, true, err
	case s.ConfigMapKeyRef != nil:
		ref := s.ConfigMapKeyRef
		m, err := e.configMap(ctx, ref.Name, ref.Optional)
		if err != nil || m == nil {
			return "", false, err
		}
		value, ok = m.Data[ref.Key]
		return value, ok, missingKey(ok, ref.Optional, "ConfigMap", e.pod.Namespace, ref.Name, ref.Key)
	case s.SecretKeyRef != nil:
		ref := s.SecretKeyRef
		secret, err := e.secret(ctx, ref.Name, ref.Optional)
		if err != nil || secret == nil {
			return "", false, err
		}
		data, ok := secret.Data[ref.Key]
		return string(data), ok, missingKey(ok, ref.Optional, "Secret", e.pod.Namespace, ref.Name, ref.Key)
	}
	return "", false, fmt.Errorf("this kind of valueFrom is not supported on node %s", Name)
}

func missingKey(found bool, optional *bool, kind, namespace, name, key string) error {
	if found || isTrue(optional) {
		return nil
	}
	return fmt.Errorf("%s %s/%s has no key %q", kind, namespace, name, key)
}

func (e *environment) configMap(ctx context.Context, name string, optional *bool) (*corev1.ConfigMap, error) {
	if m, ok := e.configMaps[name]; ok {
		return m, nil
	}
	m, err := e.client.CoreV1().ConfigMaps(e.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", e.pod.Namespace, name, err)
	}
	e.configMaps[name] = m
	return m, nil
}

func (e *environment) secret(ctx context.Context, name string, optional *bool) (*corev1.Secret, error) {
	if s, ok := e.secrets[name]; ok {
		return s, nil
	}
	s, err := e.client.CoreV1().Secrets(e.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", e.pod.Namespace, name, err)
	}
	e.secrets[name] = s
	return s, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// serviceVariables returns the variables with the API server's address. It leaves out other
// services, because nothing answers at their addresses.
func serviceVariables(host string) (map[string]string, error) {
	u, _, err := rest.DefaultServerURL(host, "", schema.GroupVersion{}, true) // a bare host:port is allowed
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	return map[string]string{
		"KUBERNETES_SERVICE_HOST":       u.Hostname(),
		"KUBERNETES_SERVICE_PORT":       port,
		"KUBERNETES_SERVICE_PORT_HTTPS": port,
	}, nil
}

// mergeEnv returns the sorted env: the manifest's over the image's over the runtime's.
func mergeEnv(runtime map[string]string, image []string, env map[string]string) []string {
	all := maps.Clone(runtime)
	for _, entry := range image {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	maps.Copy(all, env)
	merged := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		merged = append(merged, name+"="+all[name])
	}
	return merged
}

// runtimeEnv returns the variables that container runtimes set. Without HOME, client-go reads
// no kubeconfig at all.
func runtimeEnv(p *corev1.Pod, l *loaded, box sandbox) map[string]string {
	env := map[string]string{
		"PATH":     "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME":     box.pathInside("/"),
		"HOSTNAME": p.Name,
	}
	if box.own {
		if entry := databaseLine(l, "etc/passwd", strconv.FormatInt(box.uid, 10)); len(entry) > 5 && entry[5] != "" {
			env["HOME"] = entry[5]
		}
	}
	return env
}
